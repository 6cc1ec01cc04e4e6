//! The packets that a sender's host would see, as a file that Wireshark and tcpdump read (pcap with nanoseconds, LINKTYPE_RAW).

use std::time::{SystemTime, UNIX_EPOCH};

/// Bytes that are kept of a packet: its headers.
const KEPT_BYTES: usize = 96;

/// A recording.
#[derive(Debug)]
pub struct Capture {
    file: Vec<u8>,
}

impl Capture {
    /// An empty recording.
    pub fn new() -> Capture {
        const NANOSECONDS: u32 = 0xa1b2_3c4d;
        const RAW: u32 = 101;
        let mut file = Vec::new();
        file.extend(NANOSECONDS.to_le_bytes());
        file.extend([2_u16, 4].map(u16::to_le_bytes).concat());
        file.extend([0, 0, KEPT_BYTES as u32, RAW].map(u32::to_le_bytes).concat());
        Capture { file }
    }

    /// A packet passes.
    pub fn take(&mut self, packet: &[u8]) {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let kept = &packet[..packet.len().min(KEPT_BYTES)];
        let head = [now.as_secs() as u32, now.subsec_nanos(), kept.len() as u32, packet.len() as u32];
        self.file.extend(head.map(u32::to_le_bytes).concat());
        self.file.extend(kept);
    }

    /// The file.
    pub fn into_file(self) -> Vec<u8> {
        self.file
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_is_kept_with_its_length_and_the_beginning_of_its_bytes() {
        let mut capture = Capture::new();
        capture.take(&[7; 1250]);
        capture.take(&[9; 52]);
        let file = capture.into_file();
        assert_eq!(file.len(), 24 + 16 + 96 + 16 + 52);
        assert_eq!(file[24 + 8..24 + 16], [96, 0, 0, 0, 0xe2, 4, 0, 0]);
        assert_eq!((file[24 + 16], file[file.len() - 1]), (7, 9));
    }
}
