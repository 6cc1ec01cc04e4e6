//! What ends a first slow start before a loss does.

use super::Ack;
use super::hystart::{Hystart, Module};
use super::hystart_plus_plus::HystartPlusPlus;

/// What ends it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SlowStartEnd {
    /// Nothing.
    #[default]
    Loss,
    /// HyStart++ (RFC 9406).
    HystartPlusPlus,
    /// HyStart as Linux 6 has it.
    Hystart,
}

/// The same at work.
#[derive(Clone, Debug)]
pub(super) enum Ending {
    Loss,
    HystartPlusPlus(HystartPlusPlus),
    Hystart(Hystart),
}

impl Ending {
    pub fn new(end: SlowStartEnd) -> Ending {
        match end {
            SlowStartEnd::Loss => Ending::Loss,
            SlowStartEnd::HystartPlusPlus => Ending::HystartPlusPlus(HystartPlusPlus::default()),
            SlowStartEnd::Hystart => Ending::Hystart(Hystart::of(Module::Linux6)),
        }
    }

    /// An ACK of the first slow start: packets by which the window grows, `limit` at most where there is no other; none: it is
    /// over.
    pub fn growth(&mut self, ack: &Ack, cwnd: f64, limit: u32) -> Option<f64> {
        match self {
            Ending::Loss => Some(f64::from(ack.acked.min(limit))),
            Ending::HystartPlusPlus(hystart) => hystart.growth(ack),
            Ending::Hystart(hystart) => (!hystart.full(ack, cwnd as u32)).then_some(f64::from(ack.acked)),
        }
    }
}

#[cfg(test)]
mod tests {
    use exmachina_net::time::{Duration, Instant};

    use super::super::driver::Driver;
    use super::super::{Cubic, CubicSettings, Scheme};
    use super::*;

    /// The window where the first slow start ended, of a path with a BDP of 100 packets, and that so many RTTs later.
    fn ended(slow_start_end: SlowStartEnd, least_growth: f64, rtts: u32) -> (f64, u32) {
        let mut cubic = Cubic::new(CubicSettings { slow_start_end, least_growth, ..CubicSettings::default() });
        let rtt = Duration::from_ms(100.0);
        let mut path = Driver::new(rtt, Duration::from_ms(1.0));
        let mut now = Instant::START;
        while cubic.ssthresh().is_infinite() && now < Instant::from_s(8.0) {
            now += Duration::from_millis(10);
            path.run(&mut cubic, now);
        }
        path.run(&mut cubic, now + rtt * u64::from(rtts));
        (cubic.ssthresh(), cubic.window())
    }

    #[test]
    fn hystart_ends_it_at_once_and_its_successor_some_rounds_later() {
        let [(linux, _), (rfc, _)] =
            [SlowStartEnd::Hystart, SlowStartEnd::HystartPlusPlus].map(|end| ended(end, 0.0, 0));
        assert!(linux < 0.7 * rfc, "{linux} {rfc}");
        assert!(ended(SlowStartEnd::Loss, 0.0, 0).0.is_infinite());
    }

    #[test]
    fn before_the_first_loss_the_window_grows_by_a_twentieth_in_an_rtt() {
        let (from, slow) = ended(SlowStartEnd::Hystart, 0.0, 10);
        let (_, fast) = ended(SlowStartEnd::Hystart, 0.05, 10);
        // RTTs are longer by then, and fewer.
        assert!(f64::from(slow) < 1.1 * from && f64::from(fast) > 1.3 * from, "{from} {slow} {fast}");
    }
}
