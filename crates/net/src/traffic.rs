//! When senders are on and off (Remy'13 §5.1): off-periods, and on-periods by time, by bytes or at given instants.
//!
//! Each sender draws from its own stream, so that every candidate algorithm meets the same traffic.

use crate::network::{Arrival, Draw, FirstOff, FlowPlan, Network, On, Stop, Workload};
use crate::random::{Purpose, Seed, Stream};
use crate::time::{Duration, Instant};

/// The distribution of flow lengths that Remy'13 §5.1 fits to a trace of ICSI (Allman 2013): the length and
/// `ICSI_SHIFT` bytes together have a Pareto distribution with this minimum and with alpha = 1/2.
const ICSI_MINIMUM: f64 = 147.0;
const ICSI_SHIFT: f64 = 40.0;
/// No flow is longer than this, bytes; longer draws are cut to it. Without such an end the distribution has no mean.
const ICSI_LONGEST: f64 = 3.3e9;

/// The switching process of one sender. Senders begin off.
#[derive(Clone, Debug)]
pub struct Traffic {
    stream: Stream,
    workload: Workload,
    /// On-periods so far.
    begun: usize,
    /// When it switches next by itself (`Instant::NEVER` while a transfer by bytes is under way).
    pub next: Instant,
}

impl Traffic {
    /// The process of sender number `sender`.
    #[must_use]
    pub fn new(workload: Workload, root_seed: u64, specimen: u64, sender: usize) -> Traffic {
        let stream = Stream::new(root_seed, specimen, sender as u64, Purpose::Workload);
        let mut traffic = Traffic { stream, workload, begun: 0, next: Instant::START };
        traffic.next = traffic.first_on_period();
        traffic
    }

    /// The processes of all senders of a network.
    #[must_use]
    pub fn of(network: &Network, seed: Seed) -> Vec<Traffic> {
        let of = |(i, flow): (usize, &FlowPlan)| Traffic::new(flow.workload.clone(), seed.root, seed.specimen, i);
        network.flows.iter().enumerate().map(of).collect()
    }

    fn first_on_period(&mut self) -> Instant {
        if let On::At(_) | On::After(_) = self.workload.on {
            return self.next_arrival(Instant::START);
        }
        let mean = self.workload.off_s;
        Instant::from_s(match self.workload.first_off {
            FirstOff::Exponential => self.stream.exponential(mean),
            FirstOff::HalfExponential => 0.5 * self.stream.exponential(mean),
            FirstOff::At(s) => s,
        })
    }

    /// An on-period begins: returns how many packets it has (`u32::MAX`: it ends by time, or never).
    pub fn begin_on_period(&mut self, now: Instant) -> u32 {
        let stop = match &self.workload.on {
            On::Seconds(mean) => Stop::Seconds(self.stream.exponential(*mean)),
            On::Bytes(mean) => Stop::Bytes(self.stream.exponential(*mean)),
            On::FixedSeconds(s) => Stop::Seconds(*s),
            On::Icsi { extra_bytes } => Stop::Bytes(icsi_bytes(self.stream.uniform()) + extra_bytes),
            On::Forever => Stop::Never,
            On::At(arrivals) | On::After(arrivals) => {
                arrivals.get(self.begun).map_or(Stop::Never, |arrival| arrival.stop)
            }
        };
        self.begun += 1;
        let (next, packets) = match stop {
            Stop::Seconds(s) => (now.saturating_add(Duration::from_s(s)), u32::MAX),
            Stop::Bytes(bytes) => {
                let packets = (bytes / self.workload.bytes_per_packet).ceil();
                (Instant::NEVER, packets.max(1.0).min(f64::from(u32::MAX - 1)) as u32)
            }
            Stop::Never => (Instant::NEVER, u32::MAX),
        };
        self.next = next;
        packets
    }

    /// An on-period ends.
    pub fn end_on_period(&mut self, now: Instant) {
        if let On::At(_) | On::After(_) = self.workload.on {
            self.next = self.next_arrival(now);
            return;
        }
        let mean = self.workload.off_s;
        self.next = now.saturating_add(Duration::from_s(match self.workload.off {
            Draw::Exponential => self.stream.exponential(mean),
            Draw::Fixed => mean,
        }));
    }

    /// When the next of the given on-periods begins.
    fn next_arrival(&self, now: Instant) -> Instant {
        let next = |arrivals: &[Arrival]| arrivals.get(self.begun).map(|arrival| arrival.start_s);
        match &self.workload.on {
            On::At(arrivals) => next(arrivals).map_or(Instant::NEVER, |start_s| Instant::from_s(start_s).max(now)),
            On::After(arrivals) => {
                next(arrivals).map_or(Instant::NEVER, |pause_s| now.saturating_add(Duration::from_s(pause_s)))
            }
            _ => Instant::NEVER,
        }
    }
}

/// The flow length that a share `u` of the flows of ICSI stays below, bytes.
fn icsi_bytes(u: f64) -> f64 {
    // 1 - (minimum / (x + shift))^(1/2) = u, solved for x.
    let rest = 1.0 - u;
    (ICSI_MINIMUM / (rest * rest) - ICSI_SHIFT).min(ICSI_LONGEST)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::ICSI_EXTRA_BYTES;

    fn traffic(workload: Workload, sender: usize) -> Traffic {
        Traffic::new(workload, 1, 2, sender)
    }

    fn mean(n: usize, draw: impl FnMut(usize) -> f64) -> f64 {
        (0..n).map(draw).sum::<f64>() / n as f64
    }

    #[test]
    fn the_numbers_are_the_same_in_every_version() {
        let mut by_time = traffic(Workload::new(On::Seconds(5.0), 3.0), 3);
        let first = by_time.next;
        assert_eq!(by_time.begin_on_period(first), u32::MAX);
        let second = by_time.next;
        by_time.end_on_period(second);
        assert_eq!([first, second, by_time.next].map(Instant::as_nanos), [380_598_952, 418_361_683, 5_750_723_555]);
        let mut by_bytes = traffic(Workload::new(On::Bytes(1e8), 3.0), 3);
        // The same draw: 0.0377627 s of 5 s.
        assert_eq!((by_bytes.begin_on_period(Instant::START), by_bytes.next), (605, Instant::NEVER));
    }

    #[test]
    fn icsi_flows_have_the_published_quantiles() {
        // Remy'13 Fig 3: 1 - (147 / (x + 40))^0.5.
        for (u, bytes) in [(0.0, 107.0), (0.5, 548.0), (0.9, 14_660.0), (0.99, 1_469_960.0)] {
            assert!((icsi_bytes(u) / bytes - 1.0).abs() < 1e-9, "{u}: {}", icsi_bytes(u));
        }
        assert_eq!(icsi_bytes(1.0 - 1e-9), 3.3e9);
        assert_eq!(icsi_bytes(1.0), 3.3e9);
        let workload = Workload::new(On::Icsi { extra_bytes: ICSI_EXTRA_BYTES }, 0.2);
        let mut traffic = traffic(Workload { bytes_per_packet: 1210.0, ..workload }, 0);
        let mut packets: Vec<u32> = (0..100_001).map(|_| traffic.begin_on_period(Instant::START)).collect();
        packets.sort_unstable();
        // 16384 + 107 and 16384 + 548 bytes are 14 packets; 16384 + 14660 are 25.7.
        assert_eq!((packets[0], packets[50_000]), (14, 14));
        assert!((25..=27).contains(&packets[90_000]), "{}", packets[90_000]);
        // 99 %: 1228 packets; the sampling error is 2 sqrt(0.01 * 0.99 / 1e5) / 0.01 = 6 %.
        assert!((f64::from(packets[99_000]) / 1228.4 - 1.0).abs() < 0.2, "{}", packets[99_000]);
        assert!(packets[100_000] <= 2_727_287);
    }

    #[test]
    fn given_arrivals_begin_at_their_time_or_after_the_one_before() {
        let arrival = |start_s, stop| Arrival { start_s, stop };
        let arrivals = [
            arrival(1.0, Stop::Seconds(2.0)),
            arrival(2.0, Stop::Bytes(12_501.0)),
            arrival(4.0, Stop::Bytes(1.0)),
            arrival(10.0, Stop::Never),
        ];
        let mut traffic = traffic(Workload::new(On::At(arrivals.into()), 5.0), 0);
        let s = Instant::from_s;
        assert_eq!(traffic.next, s(1.0));
        assert_eq!((traffic.begin_on_period(s(1.0)), traffic.next), (u32::MAX, s(3.0)));
        // The second should have begun at 2 s.
        traffic.end_on_period(s(3.0));
        assert_eq!(traffic.next, s(3.0));
        assert_eq!((traffic.begin_on_period(s(3.0)), traffic.next), (11, Instant::NEVER));
        traffic.end_on_period(s(3.5));
        assert_eq!(traffic.next, s(4.0));
        assert_eq!((traffic.begin_on_period(s(4.0)), traffic.next), (1, Instant::NEVER));
        traffic.end_on_period(s(4.1));
        assert_eq!(traffic.next, s(10.0));
        assert_eq!((traffic.begin_on_period(s(10.0)), traffic.next), (u32::MAX, Instant::NEVER));
        traffic.end_on_period(s(11.0));
        assert_eq!(traffic.next, Instant::NEVER);
        assert_eq!(self::traffic(Workload::new(On::At([].into()), 5.0), 0).next, Instant::NEVER);
    }

    #[test]
    fn given_pauses_begin_where_the_on_period_before_ended() {
        let transfers = [(1.0, Stop::Bytes(2500.0)), (0.5, Stop::Seconds(2.0)), (0.25, Stop::Never)];
        let transfers = transfers.map(|(start_s, stop)| Arrival { start_s, stop });
        let mut traffic = traffic(Workload::new(On::After(transfers.into()), 5.0), 0);
        assert_eq!(traffic.next, Instant::from_s(1.0));
        assert_eq!((traffic.begin_on_period(Instant::from_s(1.0)), traffic.next), (2, Instant::NEVER));
        traffic.end_on_period(Instant::from_s(3.0));
        assert_eq!(traffic.next, Instant::from_s(3.5));
        assert_eq!((traffic.begin_on_period(Instant::from_s(3.5)), traffic.next), (u32::MAX, Instant::from_s(5.5)));
        traffic.end_on_period(Instant::from_s(5.5));
        assert_eq!(traffic.next, Instant::from_s(5.75));
        assert_eq!((traffic.begin_on_period(Instant::from_s(5.75)), traffic.next), (u32::MAX, Instant::NEVER));
        traffic.end_on_period(Instant::from_s(6.0));
        assert_eq!(traffic.next, Instant::NEVER);
    }

    #[test]
    fn a_flow_for_ever_never_ends() {
        let workload = Workload { first_off: FirstOff::At(2.5), ..Workload::new(On::Forever, 1.0) };
        let mut traffic = traffic(workload, 0);
        assert_eq!(traffic.next, Instant::from_s(2.5));
        assert_eq!((traffic.begin_on_period(traffic.next), traffic.next), (u32::MAX, Instant::NEVER));
    }

    #[test]
    fn the_first_on_period_begins_by_its_rule() {
        let first = |first_off, sender| {
            let workload = Workload { first_off, off: Draw::Fixed, ..Workload::new(On::Seconds(1.0), 4.0) };
            traffic(workload, sender).next.as_nanos() as f64 * 1e-9
        };
        assert!((mean(20_000, |i| first(FirstOff::Exponential, i)) - 4.0).abs() < 0.12);
        assert!((mean(20_000, |i| first(FirstOff::HalfExponential, i)) - 2.0).abs() < 0.06);
        assert!((0..100).all(|i| first(FirstOff::At(0.0), i) == 0.0));
        // Half a draw is half of the same draw: the rest of the traffic stays as it was.
        assert!((first(FirstOff::Exponential, 7) - 2.0 * first(FirstOff::HalfExponential, 7)).abs() < 1e-8);
    }

    #[test]
    fn fixed_periods_do_not_vary() {
        let fixed =
            Workload { off: Draw::Fixed, first_off: FirstOff::At(1.0), ..Workload::new(On::FixedSeconds(5.0), 3.0) };
        let mut traffic = traffic(fixed, 0);
        let mut switches = Vec::new();
        for _ in 0..3 {
            switches.push(traffic.next);
            traffic.begin_on_period(traffic.next);
            switches.push(traffic.next);
            traffic.end_on_period(traffic.next);
        }
        assert_eq!(switches, [1.0, 6.0, 9.0, 14.0, 17.0, 22.0].map(Instant::from_s));
    }

    #[test]
    fn a_transfer_has_whole_packets() {
        let packets = |bytes, bytes_per_packet| {
            let stop = Stop::Bytes(bytes);
            let on = On::At([Arrival { start_s: 0.0, stop }].into());
            traffic(Workload { bytes_per_packet, ..Workload::new(on, 1.0) }, 0).begin_on_period(Instant::START)
        };
        assert_eq!([packets(12_500.0, 1250.0), packets(12_501.0, 1250.0), packets(12_500.0, 1210.0)], [10, 11, 11]);
        // At least one, and never the mark of a flow that ends by time.
        assert_eq!([packets(0.0, 1250.0), packets(f64::NAN, 1250.0)], [1, 1]);
        assert_eq!([packets(1e30, 1250.0), packets(1.0, 0.0)], [u32::MAX - 1; 2]);
    }
}
