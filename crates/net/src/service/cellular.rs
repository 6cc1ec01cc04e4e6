//! A synthetic cellular link: delivery opportunities at random, at a rate that wanders and at times is zero.
//!
//! After the model by which Sprout forecasts such links (Winstein et al., NSDI 2013, §3.1): opportunities are a Poisson
//! process whose rate is itself random and changes every 20 ms, and an outage lasts until it happens to end. Sprout's
//! rate is a Brownian motion; here its logarithm is one that is drawn back to its mean, so that the link has a long-term
//! average, and outages begin at any rate.

use super::opportunities_per_s;
use crate::normal;
use crate::random::{Purpose, Stream};
use crate::time::{Duration, Instant};

/// Time between two changes of the rate (Sprout §3.1), ns.
const STEP: Duration = Duration::from_millis(20);
const STEP_S: f64 = STEP.as_nanos() as f64 * 1e-9;
/// The link gives no opportunities from here on: 70 days.
const END: Instant = Instant::from_millis(6000000000);

/// What a synthetic cellular link is like.
///
/// The default is an LTE downlink, the average of three traces that come with mahimahi: Verizon-LTE-short (140 s),
/// TMobile-LTE-short (140 s) and ATT-LTE-driving (786 s). Those have 5.0, 16.7 and 5.2 Mbit/s on average; the standard
/// deviation of their rates over 1 s is 0.64, 0.59 and 0.56 of that, and the correlation of such a rate with the
/// next is 0.83, 0.70 and 0.92; of bins of 100 ms, 1.6 %, 3.6 % and 5.1 % are empty.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cellular {
    /// Long-term average of the rate with outages counted in, Mbit/s.
    pub mean_mbps: f64,
    /// The rate never exceeds this, Mbit/s.
    pub max_mbps: f64,
    /// Standard deviation of the natural logarithm of the rate, before it is cut off at the maximum.
    pub spread: f64,
    /// Time after which the logarithm of the rate has forgotten all but 1/e of where it was, s.
    pub memory_s: f64,
    /// Outages that begin per second of no outage; several within 20 ms are one.
    pub outage_per_s: f64,
    /// Mean duration of an outage, s.
    pub outage_mean_s: f64,
}

impl Default for Cellular {
    fn default() -> Self {
        Cellular { mean_mbps: 9.0, max_mbps: 50.0, spread: 0.54, memory_s: 5.0, outage_per_s: 0.2, outage_mean_s: 0.25 }
    }
}

impl Cellular {
    /// Long-term average of the rate, Mbit/s: as near to the mean as the maximum and the outages allow.
    #[must_use]
    pub fn attained_mbps(&self) -> f64 {
        let settings = self.bounded();
        settings.mean_while_up(settings.log_median()) * settings.availability()
    }

    /// The same, each value brought into the range in which a link goes on for ever.
    fn bounded(&self) -> Cellular {
        // Not f64::clamp, which lets through what is not a number.
        let bounded = |x: f64, lo: f64, hi: f64| if x > lo { x.min(hi) } else { lo };
        let max_mbps = bounded(self.max_mbps, 0.01, 1e5);
        Cellular {
            mean_mbps: bounded(self.mean_mbps, 0.001, max_mbps),
            max_mbps,
            spread: bounded(self.spread, 0.0, 3.0),
            memory_s: bounded(self.memory_s, STEP_S, 1e6),
            outage_per_s: bounded(self.outage_per_s, 0.0, 10.0),
            outage_mean_s: bounded(self.outage_mean_s, STEP_S, 600.0),
        }
    }

    /// Probabilities that a step without outage is followed by one with, and the other way round.
    fn turns(&self) -> (f64, f64) {
        (-libm::expm1(-self.outage_per_s * STEP_S), -libm::expm1(-STEP_S / self.outage_mean_s))
    }

    /// Share of the time that is no outage.
    fn availability(&self) -> f64 {
        let (begins, ends) = self.turns();
        ends / (begins + ends)
    }

    /// Mean rate while there is no outage, Mbit/s, where `log_median` is the median of the rate's logarithm: the mean
    /// of a log-normal distribution that is cut off at the maximum.
    fn mean_while_up(&self, log_median: f64) -> f64 {
        let (s, log_max) = (self.spread.max(1e-9), libm::log(self.max_mbps));
        let below = libm::exp(log_median + 0.5 * s * s) * normal::cdf((log_max - log_median) / s - s);
        below + self.max_mbps * normal::cdf((log_median - log_max) / s)
    }

    /// The median of the rate's logarithm that gives the link its mean, by bisection. Where outages leave no such
    /// rate below the maximum, the link is all but always at its maximum.
    fn log_median(&self) -> f64 {
        let target = self.mean_mbps / self.availability();
        // At the lower end the mean is below any target: exp(-12 + 3 * 3 / 2) < 0.001.
        let (mut lo, mut hi) = (-12.0, libm::log(self.max_mbps) + 10.0 * self.spread);
        for _ in 0..60 {
            let middle = 0.5 * (lo + hi);
            if self.mean_while_up(middle) < target {
                lo = middle;
            } else {
                hi = middle;
            }
        }
        hi
    }
}

/// A synthetic cellular link in motion. Its opportunities depend on its name and settings alone, not on their use.
#[derive(Clone, Debug)]
pub struct CellularLink {
    stream: Stream,
    settings: Cellular,
    log_median: f64,
    /// What is kept of the logarithm's distance to its median in a step, and the deviation of what is added.
    kept: f64,
    added: f64,
    /// End of the present step.
    step_end: Instant,
    /// Distance of the logarithm of the rate to its median.
    log: f64,
    outage: bool,
    /// Opportunities per ns, 0 in an outage.
    rate: f64,
    /// The next opportunity.
    next: Instant,
}

impl CellularLink {
    /// A link that is anywhere in its long-term course. Settings that no link can have, such as a mean that is not
    /// above 0, are brought to the nearest that one can.
    ///
    /// `link` tells the links of one specimen apart.
    #[must_use]
    pub fn new(settings: Cellular, root_seed: u64, specimen: u64, link: u64) -> CellularLink {
        let settings = settings.bounded();
        let mut stream = Stream::new(root_seed, specimen, link, Purpose::Cellular);
        let kept = libm::exp(-STEP_S / settings.memory_s);
        let log = stream.normal(0.0, settings.spread);
        let outage = stream.uniform() >= settings.availability();
        let mut link = CellularLink {
            stream,
            settings,
            log_median: settings.log_median(),
            kept,
            added: settings.spread * (1.0 - kept * kept).sqrt(),
            step_end: Instant::START + STEP,
            log,
            outage,
            rate: 0.0,
            next: Instant::START,
        };
        link.rate = link.rate_now();
        link.advance();
        link
    }

    /// The first delivery opportunity at or after `after` that is neither consumed nor passed over; `Instant::NEVER` after 70
    /// days.
    pub fn next_opportunity(&mut self, after: Instant) -> Instant {
        if after >= END {
            return Instant::NEVER;
        }
        // Each is generated, needed or not, so that all users of the link meet the same ones.
        while self.next < after {
            self.advance();
        }
        self.next
    }

    /// Consumes the next opportunity.
    pub fn advance(&mut self) {
        // The integral of the rate from one opportunity to the next is exponential with mean 1.
        let mut due = self.stream.exponential(1.0);
        let mut now = self.next;
        while now < END {
            let in_step = self.rate * (self.step_end - now).as_nanos_f64();
            if due < in_step {
                // Rounded down, so that it stays within its step; the rate is above 0 here.
                self.next = now + Duration::from_nanos_f64(due / self.rate);
                return;
            }
            due -= in_step;
            now = self.step_end;
            self.step();
        }
        self.next = Instant::NEVER;
    }

    /// The next step of 20 ms begins.
    fn step(&mut self) {
        self.step_end += STEP;
        self.log = self.kept * self.log + self.stream.normal(0.0, self.added);
        let (begins, ends) = self.settings.turns();
        let turn = self.stream.uniform();
        self.outage = if self.outage { turn >= ends } else { turn < begins };
        self.rate = self.rate_now();
    }

    fn rate_now(&self) -> f64 {
        if self.outage {
            return 0.0;
        }
        let rate_mbps = libm::exp(self.log_median + self.log).min(self.settings.max_mbps);
        opportunities_per_s(rate_mbps) * 1e-9
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Trace, mbps};
    use super::*;
    use crate::time::{Duration, Instant};

    /// What the model is calibrated by.
    #[derive(Debug)]
    struct Statistics {
        mean_mbps: f64,
        /// Standard deviation of the rates over 1 s, over their mean.
        variation: f64,
        /// Correlation of the rate over 1 s with that over the next.
        correlation: f64,
        /// Share of bins of 100 ms without an opportunity.
        empty: f64,
    }

    fn counts(opportunities: &[Instant], bin: Duration, bins: usize) -> Vec<f64> {
        let mut counts = vec![0.0; bins];
        for t in opportunities {
            if let Some(count) = counts.get_mut((*t / bin) as usize) {
                *count += 1.0;
            }
        }
        counts
    }

    fn statistics(opportunities: &[Instant], seconds: usize) -> Statistics {
        let rates = counts(opportunities, Duration::SECOND, seconds);
        let mean = rates.iter().sum::<f64>() / seconds as f64;
        let variance = rates.iter().map(|r| (r - mean) * (r - mean)).sum::<f64>() / seconds as f64;
        let pairs = rates.windows(2).map(|w| (w[0] - mean) * (w[1] - mean)).sum::<f64>();
        let short = counts(opportunities, Duration::SECOND / 10, 10 * seconds);
        Statistics {
            mean_mbps: mbps(mean),
            variation: variance.sqrt() / mean,
            correlation: pairs / (seconds as f64 * variance),
            empty: short.iter().filter(|&&count| count == 0.0).count() as f64 / short.len() as f64,
        }
    }

    fn opportunities(settings: Cellular, specimen: u64, seconds: usize) -> Vec<Instant> {
        let mut link = CellularLink::new(settings, 1, specimen, 0);
        let until = Instant::from_s(seconds as f64);
        let one = || {
            let t = link.next_opportunity(Instant::START);
            link.advance();
            (t < until).then_some(t)
        };
        std::iter::from_fn(one).collect()
    }

    /// Downlink traces: their mean in Mbit/s, variation, correlation and share of empty bins.
    const MEASURED: [(&str, [f64; 4]); 3] = [
        ("Verizon-LTE-short.down", [5.03, 0.635, 0.83, 0.0164]),
        ("TMobile-LTE-short.down", [16.65, 0.591, 0.70, 0.0365]),
        ("ATT-LTE-driving.down", [5.17, 0.557, 0.92, 0.0514]),
    ];

    fn assert_near(found: &Statistics, wanted: [f64; 4], tolerance: [f64; 4]) {
        let found = [found.mean_mbps, found.variation, found.correlation, found.empty];
        let near = (0..4).all(|i| (found[i] - wanted[i]).abs() <= tolerance[i]);
        assert!(near, "{found:?}, wanted {wanted:?}");
    }

    #[test]
    fn the_default_is_like_the_mean_of_three_lte_downlinks() {
        let found = statistics(&opportunities(Cellular::default(), 0, 20_000), 20_000);
        let mean = std::array::from_fn(|i| MEASURED.iter().map(|(_, all)| all[i]).sum::<f64>() / 3.0);
        println!("{found:?}, wanted {mean:?}");
        assert_near(&found, mean, [0.4, 0.03, 0.03, 0.003]);
    }

    #[test]
    fn the_measurements_are_those_of_the_traces() {
        for (file, measured) in MEASURED {
            let Some(path) = exmachina_reference::reference(&format!("traces/{file}")) else { return };
            let trace = Trace::parse(&std::fs::read_to_string(path).unwrap(), file).unwrap();
            let times = trace.opportunities_ms().iter().map(|&ms| Instant::from_millis(ms.into()));
            let times: Vec<Instant> = times.collect();
            let found = statistics(&times, trace.period_ms() as usize / 1000);
            assert_near(&found, measured, [0.01, 0.001, 0.006, 0.0003]);
        }
    }

    #[test]
    fn the_mean_is_what_was_asked_for() {
        let quiet = Cellular { outage_per_s: 0.0, ..Cellular::default() };
        let cut = Cellular { mean_mbps: 20.0, max_mbps: 25.0, memory_s: 1.0, ..Cellular::default() };
        let broken = Cellular { outage_per_s: 0.5, outage_mean_s: 1.0, memory_s: 1.0, ..Cellular::default() };
        for settings in [quiet, cut, broken] {
            let said = settings.attained_mbps();
            assert!((said / settings.mean_mbps - 1.0).abs() < 1e-9, "{said}");
            let found = statistics(&opportunities(settings, 0, 10_000), 10_000);
            assert!((found.mean_mbps / settings.mean_mbps - 1.0).abs() < 0.05, "{found:?} of {settings:?}");
        }
        // Outages take half of the time: 20 Mbit/s is out of reach, and the link says what it has.
        let reach = Cellular { mean_mbps: 20.0, max_mbps: 25.0, outage_per_s: 1.0, outage_mean_s: 1.0, ..quiet };
        let said = reach.attained_mbps();
        assert!((12.0..12.8).contains(&said), "{said}");
    }

    #[test]
    fn a_constant_rate_is_a_poisson_process() {
        let settings = Cellular { mean_mbps: 12.0, spread: 0.0, outage_per_s: 0.0, ..Cellular::default() };
        let times = opportunities(settings, 0, 1000);
        // 1000 in a second on average; the variance of a Poisson count is its mean.
        let per_bin = counts(&times, Duration::SECOND / 10, 10_000);
        let mean = per_bin.iter().sum::<f64>() / 10_000.0;
        let variance = per_bin.iter().map(|c| (c - mean) * (c - mean)).sum::<f64>() / 10_000.0;
        assert!((mean - 100.0).abs() < 0.5 && (variance - 100.0).abs() < 6.0, "{mean}, {variance}");
    }

    #[test]
    fn never_faster_than_the_maximum() {
        let settings = Cellular { mean_mbps: 20.0, max_mbps: 25.0, spread: 1.0, ..Cellular::default() };
        let most = counts(&opportunities(settings, 3, 1000), Duration::SECOND, 1000).into_iter().fold(0.0, f64::max);
        // Five standard deviations of a Poisson count at 25 Mbit/s: 2083 in a second.
        assert!((2000.0..2083.0 + 5.0 * 45.7).contains(&most), "{most}");
    }

    #[test]
    fn outages_last_as_long_as_they_should() {
        let settings = Cellular {
            mean_mbps: 40.0,
            spread: 0.0,
            max_mbps: 100.0,
            outage_per_s: 0.5,
            outage_mean_s: 1.0,
            ..Cellular::default()
        };
        let times = opportunities(settings, 0, 10_000);
        // At 5000 opportunities in a second, a gap of 10 ms is an outage; steps of 20 ms add half of one to its mean.
        let gaps: Vec<f64> =
            times.windows(2).map(|w| (w[1] - w[0]).as_nanos_f64() * 1e-9).filter(|&g| g > 0.01).collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        assert!((mean - 1.01).abs() < 0.06, "{mean}");
        assert!((gaps.len() as f64 / (10_000.0 / 3.0) - 1.0).abs() < 0.06, "{}", gaps.len());
    }

    #[test]
    fn opportunities_do_not_depend_on_their_use() {
        let all = opportunities(Cellular::default(), 5, 100);
        let mut link = CellularLink::new(Cellular::default(), 1, 5, 0);
        let mut after = Instant::START;
        while after < Instant::from_s(90.0) {
            let first = all.iter().copied().find(|&t| t >= after).unwrap();
            assert_eq!(link.next_opportunity(after), first);
            assert_eq!(link.next_opportunity(Instant::START), first);
            after = first + Duration::from_s(0.37);
        }
        assert_ne!(opportunities(Cellular::default(), 6, 1), opportunities(Cellular::default(), 5, 1));
    }

    #[test]
    fn a_named_link_is_the_same_in_every_version() {
        let times = opportunities(Cellular::default(), 2, 1);
        assert_eq!((times.len(), times[0].as_nanos(), times[100].as_nanos()), (969, 198_116, 93_052_617));
    }

    #[test]
    fn settings_without_sense_do_no_harm() {
        for x in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, -1.0, 1e300] {
            let nonsense =
                Cellular { mean_mbps: x, max_mbps: x, spread: x, memory_s: x, outage_per_s: x, outage_mean_s: x };
            let mut link = CellularLink::new(nonsense, 1, 0, 0);
            let mean = nonsense.attained_mbps();
            assert!(mean > 0.0 && mean.is_finite(), "{x}: {mean}");
            assert!(link.next_opportunity(Instant::from_s(1.0)) >= Instant::from_s(1.0));
            assert_eq!(link.next_opportunity(Instant::NEVER), Instant::NEVER);
        }
    }
}
