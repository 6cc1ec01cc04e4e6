//! What the link counts of a flow: the same that a simulated transport does, as far as packets tell it.

use exmachina_net::endpoint::Totals;
use exmachina_net::time::Duration;

use super::segment::Segment;

/// A flow's packets.
#[derive(Debug, Default)]
pub struct Account {
    totals: Totals,
    connections: Vec<Connection>,
}

/// One of its connections.
#[derive(Debug)]
struct Connection {
    port: u16,
    /// The number of the first byte.
    first: u32,
    /// Bytes sent so far, from the first to the last.
    sent_bytes: u64,
    /// Which packets have arrived, by the place of their first byte in packets.
    arrived: Vec<bool>,
}

impl Connection {
    /// The place of a segment's first byte in the stream: near what was sent last, as numbers begin anew after 4 GiB.
    fn offset(&self, segment: &Segment) -> u64 {
        let latest = self.first.wrapping_add(self.sent_bytes as u32);
        self.sent_bytes.saturating_add_signed(i64::from(segment.number.wrapping_sub(latest) as i32))
    }
}

impl Account {
    /// A packet entered the path.
    pub fn sent(&mut self, segment: &Segment) {
        if segment.syn && self.connection(segment.from).is_none_or(|c| c.sent_bytes > 0) {
            let first = segment.number.wrapping_add(1);
            self.connections.push(Connection { port: segment.from, first, sent_bytes: 0, arrived: Vec::new() });
        }
        if segment.data_bytes == 0 {
            return;
        }
        self.totals.sent += 1;
        let Some(connection) = self.connection(segment.from) else { return };
        let (offset, before) = (connection.offset(segment), connection.sent_bytes);
        connection.sent_bytes = before.max(offset + u64::from(segment.data_bytes));
        self.totals.retransmitted += u64::from(offset < before);
    }

    /// A packet left the path so long after it entered, with `payload_bytes` of data if it is a whole one.
    pub fn arrived(&mut self, segment: &Segment, rtt: Duration, is_on: bool, payload_bytes: u16) {
        if segment.data_bytes == 0 {
            return;
        }
        let Some(connection) = self.connection(segment.from) else { return };
        let place = (connection.offset(segment) / u64::from(payload_bytes)) as usize;
        if connection.arrived.len() <= place {
            connection.arrived.resize(place + 1, false);
        }
        if !std::mem::replace(&mut connection.arrived[place], true) {
            self.totals.deliver(rtt, is_on);
        }
    }

    /// What was counted.
    pub fn totals(&self) -> Totals {
        self.totals
    }

    /// The latest connection from a port.
    fn connection(&mut self, port: u16) -> Option<&mut Connection> {
        self.connections.iter_mut().rev().find(|connection| connection.port == port)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAYLOAD: u16 = 1000;
    const RTT: Duration = Duration::from_millis(50);

    fn data(number: u32) -> Segment {
        Segment { from: 1, to: 2, number, data_bytes: PAYLOAD, syn: false }
    }

    /// One connection whose first byte has this number.
    fn opened(first: u32) -> Account {
        let mut account = Account::default();
        let syn = Segment { data_bytes: 0, syn: true, ..data(first.wrapping_sub(1)) };
        account.sent(&syn);
        account.arrived(&syn, RTT, false, PAYLOAD);
        account
    }

    #[test]
    fn packets_count_once_when_they_arrive_and_each_time_when_they_are_sent() {
        // Numbers go past their end here.
        let first = u32::MAX - 1500;
        let mut account = opened(first);
        let packets: Vec<Segment> = (0..4).map(|k| data(first.wrapping_add(k * u32::from(PAYLOAD)))).collect();
        packets.iter().for_each(|packet| account.sent(packet));
        for packet in [packets[0], packets[2], packets[3]] {
            account.arrived(&packet, RTT, true, PAYLOAD);
        }
        for again in [packets[1], packets[3]] {
            account.sent(&again);
            account.arrived(&again, RTT * 2, false, PAYLOAD);
        }
        let totals = account.totals();
        assert_eq!([totals.sent, totals.retransmitted, totals.delivered, totals.late], [6, 2, 4, 1]);
        assert_eq!(totals.delay, RTT * 5);
    }

    #[test]
    fn packets_of_a_connection_that_is_gone_count_beside_those_of_the_next() {
        let mut account = opened(100);
        account.sent(&data(100));
        let syn = Segment { from: 7, data_bytes: 0, syn: true, ..data(4999) };
        account.sent(&syn);
        account.sent(&Segment { from: 7, ..data(5000) });
        account.arrived(&data(100), RTT, false, PAYLOAD);
        account.arrived(&Segment { from: 7, ..data(5000) }, RTT, true, PAYLOAD);
        let totals = account.totals();
        assert_eq!([totals.sent, totals.retransmitted, totals.delivered, totals.late], [2, 0, 2, 1]);
    }
}
