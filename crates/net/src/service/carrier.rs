//! Which packets a delivery opportunity carries.

use crate::packet::Packet;

/// The packet that a link has begun to carry and has not finished.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Carrier {
    packet: Option<Packet>,
    /// Bytes of it that wait for the next opportunity; above 0 while there is one.
    left: u32,
}

impl Carrier {
    /// Uses one opportunity of `budget` bytes, by mahimahi's rules: a packet leaves once its last byte is carried, one
    /// that does not fit goes on in the next opportunity, and what is left over when `next` has no packet is lost.
    pub fn deliver(&mut self, budget: u32, mut next: impl FnMut() -> Option<Packet>, mut out: impl FnMut(Packet)) {
        let mut budget = budget;
        while budget > 0 {
            let Some(packet) = self.packet.or_else(&mut next) else { return };
            if self.packet.is_none() {
                // A packet of no bytes would let one opportunity carry a queue without end.
                self.left = u32::from(packet.bytes).max(1);
            }
            let carried = budget.min(self.left);
            budget -= carried;
            self.left -= carried;
            self.packet = (self.left > 0).then_some(packet);
            if self.left == 0 {
                out(packet);
            }
        }
    }

    /// The packet that is partly carried: it has left the queue and not yet arrived.
    #[must_use]
    pub fn in_transit(&self) -> Option<&Packet> {
        self.packet.as_ref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::VecDeque;

    fn queue(sizes: &[u16]) -> VecDeque<Packet> {
        let packet = |(seq, &bytes): (usize, &u16)| Packet { seq: seq as u32, bytes, ..Packet::default() };
        sizes.iter().enumerate().map(packet).collect()
    }

    fn deliver(carrier: &mut Carrier, waiting: &mut VecDeque<Packet>) -> Vec<u32> {
        let mut out = Vec::new();
        carrier.deliver(1500, || waiting.pop_front(), |p| out.push(p.seq));
        out
    }

    #[test]
    fn packets_of_1250_bytes_leave_six_in_five_opportunities() {
        let (mut carrier, mut waiting) = (Carrier::default(), queue(&[1250; 12]));
        // 250 bytes of each opportunity start the next packet; the fifth ends two.
        let left: Vec<usize> = (0..5).map(|_| deliver(&mut carrier, &mut waiting).len()).collect();
        assert_eq!(left, [1, 1, 1, 1, 2]);
        assert_eq!((carrier, waiting.len()), (Carrier::default(), 6));
    }

    #[test]
    fn a_large_packet_takes_as_many_opportunities_as_it_needs() {
        let (mut carrier, mut waiting) = (Carrier::default(), queue(&[4000, 500, 40]));
        assert_eq!(deliver(&mut carrier, &mut waiting), []);
        assert_eq!(carrier.in_transit().map(|p| p.seq), Some(0));
        assert_eq!(deliver(&mut carrier, &mut waiting), []);
        // 1000 bytes end the large one and 500 are the second; nothing of the third is begun.
        assert_eq!(deliver(&mut carrier, &mut waiting), [0, 1]);
        assert_eq!((carrier.in_transit(), waiting.len()), (None, 1));
    }

    #[test]
    fn bytes_that_nobody_uses_are_lost() {
        let (mut carrier, mut waiting) = (Carrier::default(), queue(&[100]));
        assert_eq!(deliver(&mut carrier, &mut waiting), [0]);
        assert_eq!(deliver(&mut carrier, &mut waiting), []);
        // The 1400 and 1500 bytes before it do not help a packet that comes later.
        waiting = queue(&[1501]);
        assert_eq!(deliver(&mut carrier, &mut waiting), []);
        assert_eq!(deliver(&mut carrier, &mut waiting), [0]);
    }

    #[test]
    fn empty_packets_do_not_leave_without_end() {
        let mut carrier = Carrier::default();
        let mut out = 0;
        carrier.deliver(1500, || Some(Packet::default()), |_| out += 1);
        assert_eq!(out, 1500);
    }
}
