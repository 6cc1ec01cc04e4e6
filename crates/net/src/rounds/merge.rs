//! What all senders send in a round, through the bottleneck in the order of sending.

use super::{Desk, Light};
use crate::endpoint::Endpoint;
use crate::path::{Bottleneck, Passage};
use crate::schedule::MAX_SENDERS;
use crate::time::Time;
use crate::tournament::{IDLE, Tournament};

/// Where a sender's number has its place in a key.
const SENDER_BITS: u32 = MAX_SENDERS.trailing_zeros();
/// Bits of a turn's number.
const LEAST_BITS: u32 = 6;

/// A packet that is sent, and its place among those of all senders: the smaller key goes first.
#[derive(Clone, Copy, Debug)]
pub struct Send {
    pub key: u64,
    pub seq: u32,
}

/// How the keys of a round are made: `time since it began, answer or not, order or turn, sender`. At one instant, packets
/// that answer an ACK go first, in the order in which those of the ACKs went; then those whose pause is over, in turn.
#[derive(Clone, Copy, Debug)]
pub struct Keys {
    begin: Time,
    /// The oldest order there is, and the bits that an order since then needs.
    oldest: u32,
    bits: u32,
}

impl Keys {
    /// The instant after the last that they have room for.
    pub fn end(&self) -> Time {
        self.begin + (1 << (63 - SENDER_BITS - self.bits))
    }

    #[inline(always)]
    fn key(&self, now: Time, paced: u64, place: u64) -> u64 {
        (((now - self.begin) << 1 | paced) << self.bits | place) << SENDER_BITS
    }

    /// That of a packet sent when an ACK came, of the packet that had this order.
    #[inline(always)]
    pub fn answer(&self, now: Time, order: u32) -> u64 {
        self.key(now, 0, u64::from(order.wrapping_sub(self.oldest)))
    }

    /// That of a packet whose pause is over, after so many of the sender's own at that instant.
    #[inline(always)]
    pub fn turn(&self, now: Time, number: u64) -> u64 {
        self.key(now, 1, number)
    }

    /// The instant of a key.
    #[inline(always)]
    fn time(&self, key: u64) -> Time {
        self.begin + (key >> (1 + self.bits + SENDER_BITS))
    }
}

/// Who has sent in a round, and how many packets went before.
#[derive(Clone, Debug)]
pub struct Departures {
    /// The next packet's order.
    order: u32,
    senders: Vec<usize>,
    /// Which packet of each is next.
    next: Vec<usize>,
    tournament: Tournament,
}

impl Departures {
    /// Of so many senders at most.
    pub fn new(senders: usize) -> Departures {
        Departures {
            order: 0,
            senders: Vec::with_capacity(senders),
            next: vec![0; senders],
            tournament: Tournament::new(senders),
        }
    }

    /// The keys of a round that begins then, with the orders of the oldest packets that may be answered in it.
    pub fn keys(&self, begin: Time, oldest: impl Iterator<Item = u32>) -> Keys {
        let span = oldest.map(|order| self.order.wrapping_sub(order)).max().unwrap_or(0);
        let bits = (u32::BITS - span.leading_zeros()).max(LEAST_BITS);
        Keys { begin, oldest: self.order.wrapping_sub(span), bits }
    }

    /// A sender has sent something.
    pub fn expect(&mut self, sender: usize) {
        self.senders.push(sender);
    }

    /// Lets all go, in order; returns how many.
    #[inline(always)]
    pub fn depart<const PLAIN: bool, E: Endpoint>(
        &mut self,
        keys: &Keys,
        bottleneck: &mut Bottleneck,
        desks: &mut [Desk<E>],
    ) -> u32 {
        let before = self.order;
        match self.senders[..] {
            [] => {}
            [one] => {
                for k in 0..desks[one].sends.len() {
                    let send = desks[one].sends[k];
                    self.send::<PLAIN, E>(keys, send, one, bottleneck, desks);
                }
            }
            _ => {
                let mut first = IDLE;
                for k in 0..self.senders.len() {
                    let sender = self.senders[k];
                    self.next[sender] = 0;
                    first = self.set(sender, &desks[sender].sends);
                }
                while first != IDLE {
                    let sender = first as usize & (MAX_SENDERS - 1);
                    let send = desks[sender].sends[self.next[sender]];
                    self.send::<PLAIN, E>(keys, send, sender, bottleneck, desks);
                    self.next[sender] += 1;
                    first = self.set(sender, &desks[sender].sends);
                }
            }
        }
        for sender in self.senders.drain(..) {
            let desk = &mut desks[sender];
            desk.sends.clear();
            desk.wakes = desk.wakes.min(desk.inbox.next());
        }
        self.order.wrapping_sub(before)
    }

    /// Sets the next packet of a sender; returns the first key of all.
    #[inline(always)]
    fn set(&mut self, sender: usize, sends: &[Send]) -> u64 {
        let key = sends.get(self.next[sender]).map_or(IDLE, |send| send.key | sender as u64);
        // SAFETY: there are as many leaves as senders.
        unsafe { self.tournament.set(sender, key) }
    }

    #[inline(always)]
    fn send<const PLAIN: bool, E: Endpoint>(
        &mut self,
        keys: &Keys,
        Send { key, seq }: Send,
        sender: usize,
        bottleneck: &mut Bottleneck,
        desks: &mut [Desk<E>],
    ) {
        let sent = keys.time(key);
        let Passage { back, lost, .. } = bottleneck.take::<PLAIN>(sender, sent);
        desks[sender].inbox.push(back, Light { sent, seq, order: self.order, lost });
        self.order = self.order.wrapping_add(1);
    }
}
