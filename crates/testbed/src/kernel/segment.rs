//! What the link reads of a packet: whose it is, and which bytes of its connection.

/// A segment of TCP over IPv4.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// The port that it comes from, which tells connections of a flow apart.
    pub from: u16,
    /// The port that it goes to, which tells flows apart.
    pub to: u16,
    /// The number of its first byte.
    pub number: u32,
    /// Bytes of data.
    pub data_bytes: u16,
    /// It opens a connection.
    pub syn: bool,
}

impl Segment {
    /// Reads a packet; none if it is anything else.
    pub fn of(packet: &[u8]) -> Option<Segment> {
        const TCP: u8 = 6;
        let (&first, &protocol) = (packet.first()?, packet.get(9)?);
        if first >> 4 != 4 || protocol != TCP {
            return None;
        }
        let total = usize::from(u16::from_be_bytes([packet[2], packet[3]]));
        let tcp = packet.get(usize::from(first & 15) * 4..total)?;
        let word = |at: usize| Some(u16::from_be_bytes([*tcp.get(at)?, *tcp.get(at + 1)?]));
        let number = u32::from_be_bytes(tcp.get(4..8)?.try_into().ok()?);
        let (offset, flags) = (*tcp.get(12)?, *tcp.get(13)?);
        let data_bytes = tcp.len().checked_sub(usize::from(offset >> 4) * 4)? as u16;
        Some(Segment { from: word(0)?, to: word(2)?, number, data_bytes, syn: flags & 2 != 0 })
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// A packet without checksums.
    pub fn packet(segment: Segment) -> Vec<u8> {
        let mut bytes = vec![0; 40 + usize::from(segment.data_bytes)];
        let total = bytes.len() as u16;
        bytes[0] = 0x45;
        bytes[2..4].copy_from_slice(&total.to_be_bytes());
        bytes[9] = 6;
        bytes[20..22].copy_from_slice(&segment.from.to_be_bytes());
        bytes[22..24].copy_from_slice(&segment.to.to_be_bytes());
        bytes[24..28].copy_from_slice(&segment.number.to_be_bytes());
        bytes[32] = 0x50;
        bytes[33] = u8::from(segment.syn) * 2;
        bytes
    }

    #[test]
    fn a_segment_is_read_as_it_was_written() {
        let segment = Segment { from: 40_000, to: 7001, number: 0xfeed_beef, data_bytes: 1198, syn: false };
        assert_eq!(Segment::of(&packet(segment)), Some(segment));
        let syn = Segment { data_bytes: 0, syn: true, ..segment };
        assert_eq!(Segment::of(&packet(syn)), Some(syn));
    }

    #[test]
    fn what_is_no_tcp_over_ipv4_or_is_cut_short_is_none() {
        let whole = packet(Segment { from: 1, to: 2, number: 3, data_bytes: 10, syn: false });
        assert!((0..whole.len()).all(|bytes| Segment::of(&whole[..bytes]).is_none()));
        for (at, value) in [(0, 0x60), (9, 17), (0, 0x4f), (32, 0xf0)] {
            let mut other = whole.clone();
            other[at] = value;
            assert_eq!(Segment::of(&other), None, "byte {at}");
        }
    }
}
