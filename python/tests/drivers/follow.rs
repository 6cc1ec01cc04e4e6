// Reads ACKs, losses and restarts (records of acks.py), and writes the rule, the window and the pace after each.

pub fn follow(records: &[u8]) -> Vec<u8> {
    let mut flow = exported::Flow::start();
    let mut out = Vec::new();
    for record in records.chunks_exact(40) {
        let long = |at: usize| u64::from_le_bytes(record[at..at + 8].try_into().unwrap());
        let short = |at: usize| u32::from_le_bytes(record[at..at + 4].try_into().unwrap());
        let (advance, packets) = (short(24), short(28));
        match short(32) {
            0 => flow.on_ack(&exported::Ack {
                sent_ns: long(0),
                received_ns: long(8),
                tick_ns: long(16),
                advance,
                packets,
            }),
            1 => flow.on_loss(packets),
            _ => flow = exported::Flow::start(),
        }
        assert_eq!(flow.window(), flow.window_of_rules().max(1));
        out.extend(flow.intersend_ns().to_le_bytes());
        out.extend((flow.rule() as u32).to_le_bytes());
        out.extend(flow.window_of_rules().to_le_bytes());
    }
    out
}
