//! The receiver: puts packets in order, and decides when to acknowledge (RFC 1122 §4.2.3.2, RFC 5681 §4.2).

use std::collections::VecDeque;

use exmachina_net::packet::{Ecn, Packet};
use exmachina_net::time::{Duration, Instant};

use super::Settings;

/// What an ACK says.
#[derive(Clone, Debug, Default)]
pub struct Feedback {
    /// All packets before this one arrived.
    pub next: u32,
    /// The time stamp that it echoes: when the last packet was sent that left no gap (RFC 7323 §4.3, TS.Recent).
    pub echo: Instant,
    /// Packets that arrived since the last ACK, in order of arrival: number and time sent (what SACK and the time
    /// stamps tell the sender).
    pub arrived: Vec<(u32, Instant)>,
    /// How many of them carried an ECN mark.
    pub marked: u32,
    /// The packet among them that had arrived before: it is the last (DSACK, RFC 2883).
    pub duplicate: Option<u32>,
    /// Sum of the window changes that XCP's routers left in them, bytes.
    pub xcp_feedback_bytes: f64,
}

/// The receiver's state.
#[derive(Clone, Debug)]
pub struct Receiver {
    /// The first packet of the connection.
    first: u32,
    /// All packets before this one arrived.
    next: u32,
    /// Whether `next + 1 + i` has arrived already.
    beyond: VecDeque<bool>,
    /// The last ACK was for all packets before this one (RFC 7323 §4.3, Last.ACK.sent).
    acknowledged: u32,
    /// ACKs to come that are not delayed.
    quick_acks: u32,
    /// What the next ACK will say.
    pending: Feedback,
    /// When it is sent at the latest.
    pub deadline: Instant,
}

impl Receiver {
    /// A receiver that expects this packet first.
    #[must_use]
    pub fn new(next: u32) -> Receiver {
        Receiver {
            first: next,
            next,
            beyond: VecDeque::new(),
            acknowledged: next,
            quick_acks: 0,
            pending: Feedback::default(),
            deadline: Instant::NEVER,
        }
    }

    /// The same, which sends so many ACKs at once before it delays any: the sender's window is small yet.
    #[must_use]
    pub fn quick(self, acks: u32) -> Receiver {
        Receiver { quick_acks: acks, ..self }
    }

    /// All packets before this one arrived.
    #[must_use]
    pub fn next(&self) -> u32 {
        self.next
    }

    /// One past the largest packet that arrived.
    #[must_use]
    pub fn edge(&self) -> u32 {
        self.next + if self.beyond.is_empty() { 0 } else { 1 + self.beyond.len() as u32 }
    }

    /// Whether a packet of this connection has arrived.
    #[must_use]
    pub fn has(&self, seq: u32) -> bool {
        seq < self.next || seq > self.next && self.beyond.get((seq - self.next - 1) as usize).is_some_and(|&has| has)
    }

    /// A packet arrives: whether it is one that had not arrived before, and whether it is acknowledged at once.
    pub fn receive(&mut self, packet: &Packet, now: Instant, settings: &Settings) -> (bool, bool) {
        let in_order = packet.seq == self.next;
        let had_gaps = !self.beyond.is_empty();
        let new = self.store(packet.seq);
        let pending = &mut self.pending;
        if !new {
            pending.duplicate = Some(packet.seq);
            // The sender lacks news of what arrived (Linux: `tcp_enter_quickack_mode`).
            self.quick_acks = settings.quick_acks;
        }
        // Before one arrived in order there is none to echo but this one's: a handshake's would be there (RFC 7323 §3.2).
        if packet.seq <= self.acknowledged || pending.echo == Instant::START {
            pending.echo = packet.sent;
        }
        pending.arrived.push((packet.seq, packet.sent));
        pending.marked += u32::from(packet.ecn == Ecn::Marked);
        pending.xcp_feedback_bytes += packet.xcp.feedback_bytes;
        // RFC 5681 §4.2, "Generating Acknowledgments": at once for every second packet (here: for every so many), and for all that show or fill a gap.
        let due = pending.arrived.len() >= settings.ack_packets as usize || !in_order || had_gaps;
        let at_once = settings.delayed_ack == Duration::ZERO || due || self.quick_acks > 0;
        if !at_once && self.deadline == Instant::NEVER {
            self.deadline = now + settings.delayed_ack;
        }
        (new, at_once)
    }

    /// The ACK, sent now. Hand it back to [`Receiver::recycle`].
    pub fn acknowledge(&mut self) -> Feedback {
        self.deadline = Instant::NEVER;
        self.quick_acks = self.quick_acks.saturating_sub(1);
        self.acknowledged = self.next;
        self.pending.next = self.next;
        let echo = self.pending.echo;
        std::mem::replace(&mut self.pending, Feedback { echo, ..Feedback::default() })
    }

    /// Takes back an ACK that has been dealt with, to save its allocation.
    pub fn recycle(&mut self, mut feedback: Feedback) {
        feedback.arrived.clear();
        self.pending.arrived = feedback.arrived;
    }

    /// Takes a packet that nobody acknowledges any more: whether it is one that had not arrived before. Those of
    /// connections even before this one are taken for new.
    pub fn takes(&mut self, seq: u32) -> bool {
        seq < self.first || self.store(seq)
    }

    fn store(&mut self, seq: u32) -> bool {
        if seq < self.next {
            return false;
        }
        if seq == self.next {
            self.next += 1;
            while let Some(arrived) = self.beyond.pop_front() {
                if !arrived {
                    // It is the one expected next: only what follows it is kept.
                    break;
                }
                self.next += 1;
            }
            return true;
        }
        let i = (seq - self.next - 1) as usize;
        if i >= self.beyond.len() {
            self.beyond.resize(i + 1, false);
        }
        !std::mem::replace(&mut self.beyond[i], true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{at, ns};

    fn packet(seq: u32) -> Packet {
        Packet { seq, ..Packet::default() }
    }

    #[test]
    fn puts_packets_in_order() {
        let mut receiver = Receiver::new(10);
        let order = [11, 13, 10, 13, 12, 9, 14, 17, 15, 16];
        let next: Vec<(bool, u32)> = order
            .iter()
            .map(|&seq| {
                let (new, at_once) = receiver.receive(&packet(seq), Instant::START, &Settings::tao14());
                assert!(at_once);
                (new, receiver.acknowledge().next)
            })
            .collect();
        let expected = [10, 10, 12, 12, 14, 14, 15, 15, 16, 18];
        assert!(next.iter().map(|n| n.1).eq(expected), "{next:?}");
        assert!(next.iter().map(|n| n.0).eq([true, true, true, false, true, false, true, true, true, true]));
    }

    #[test]
    fn echoes_the_packet_before_the_gap_rfc_7323_4_3() {
        let mut receiver = Receiver::new(0);
        let mut echo = |seq, sent| {
            receiver.receive(&Packet { sent, ..packet(seq) }, Instant::START, &Settings::tao14());
            receiver.acknowledge().echo
        };
        assert_eq!((echo(0, at(5)), echo(1, at(6))), (at(5), at(6)));
        assert_eq!((echo(3, at(8)), echo(4, at(9))), (at(6), at(6)), "2 is missing");
        assert_eq!(echo(1, at(10)), at(10), "sent again for nothing");
        assert_eq!((echo(2, at(11)), echo(5, at(12))), (at(11), at(12)));
        // Nothing has arrived in order yet.
        let mut late = Receiver::new(0);
        late.receive(&Packet { sent: at(50), ..packet(1) }, Instant::START, &Settings::tao14());
        assert_eq!(late.acknowledge().echo, at(50));
        // The first of two that one ACK answers.
        let delayed = Settings { delayed_ack: ns(40), ..Settings::tao14() };
        let mut receiver = Receiver::new(0);
        (0..2).for_each(|i| {
            _ = receiver.receive(&Packet { sent: at(5 + u64::from(i)), ..packet(i) }, Instant::START, &delayed)
        });
        assert_eq!(receiver.acknowledge().echo, at(5));
    }

    #[test]
    fn the_first_acks_and_those_after_a_duplicate_are_quick() {
        let settings = Settings { delayed_ack: ns(40), quick_acks: 3, ..Settings::tao14() };
        let mut receiver = Receiver::new(0).quick(3);
        let mut quick = |seq| {
            let at_once = receiver.receive(&packet(seq), at(5), &settings).1;
            (at_once, at_once.then(|| receiver.acknowledge().duplicate))
        };
        assert!([0, 1, 2].into_iter().all(|seq| quick(seq) == (true, Some(None))));
        assert_eq!((quick(3).0, quick(4).0, quick(5).0), (false, true, false), "every second");
        assert_eq!(quick(2), (true, Some(Some(2))));
        assert_eq!((quick(6).0, quick(7).0, quick(8).0), (true, true, false));
    }

    #[test]
    fn acknowledges_as_many_packets_at_once_as_it_is_told() {
        let settings = Settings { delayed_ack: ns(40), ack_packets: 4, ..Settings::tao14() };
        let mut receiver = Receiver::new(0);
        for seq in 0..8 {
            let at_once = receiver.receive(&packet(seq), at(5), &settings).1;
            assert_eq!(at_once, seq % 4 == 3, "{seq}");
            if at_once {
                assert_eq!(receiver.acknowledge().arrived.len(), 4);
            }
        }
        assert!(receiver.receive(&packet(9), at(6), &settings).1, "a gap is shown at once");
    }

    #[test]
    fn delays_acks_of_every_other_packet_and_no_others() {
        let settings = Settings { delayed_ack: ns(40), ..Settings::tao14() };
        let mut receiver = Receiver::new(0);
        assert!(!receiver.receive(&packet(0), at(5), &settings).1);
        assert_eq!(receiver.deadline, at(45));
        assert!(receiver.receive(&packet(1), at(6), &settings).1);
        assert_eq!((receiver.acknowledge().arrived.len(), receiver.deadline), (2, Instant::NEVER));
        // A gap, what fills it, and then in order again.
        assert!(receiver.receive(&packet(3), at(7), &settings).1);
        receiver.acknowledge();
        assert!(receiver.receive(&packet(2), at(7), &settings).1);
        assert_eq!(receiver.acknowledge().next, 4);
        assert!(!receiver.receive(&packet(4), at(8), &settings).1);
    }
}
