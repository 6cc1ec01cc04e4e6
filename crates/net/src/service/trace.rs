//! Recorded links: mahimahi's packet-delivery traces (Netravali et al., USENIX ATC 2015).
//!
//! A trace is text, one whole number on each line: the ms, since the trace began, of a chance to deliver 1500 bytes.
//! Several chances may share a ms. The trace repeats without end, and the last line's time is its period.

use std::sync::Arc;

use super::mbps;
use crate::file_error::FileError;
use crate::time::{Duration, Instant};

const MS: Duration = Duration::from_millis(1);

/// A recorded link. A clone shares its data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    /// Never empty, never decreasing, and the last is above 0.
    opportunities_ms: Arc<[u32]>,
}

impl Trace {
    /// Reads the text of a trace; `file` names it in errors.
    ///
    /// # Errors
    /// Where a line is not a whole number of ms, where time runs back, and where the trace has no duration.
    pub fn parse(text: &str, file: &str) -> Result<Trace, FileError> {
        let error = |line, message| FileError { file: file.to_owned(), line, field: String::new(), message };
        let mut opportunities_ms: Vec<u32> = Vec::with_capacity(text.len() / 6);
        for (line, number) in text.lines().zip(1..) {
            let ms = number_of_ms(line).map_err(|message| error(Some(number), message))?;
            match opportunities_ms.last() {
                Some(&last) if ms < last => {
                    let message = format!("expected a time of at least {last} ms, the line before; found {ms}");
                    return Err(error(Some(number), message));
                }
                _ => opportunities_ms.push(ms),
            }
        }
        match opportunities_ms.last() {
            None => Err(error(None, "expected at least one line with a time in ms; the file is empty".to_owned())),
            Some(0) => {
                let message = "expected a last time above 0 ms, which is the trace's period; found 0".to_owned();
                Err(error(Some(opportunities_ms.len()), message))
            }
            Some(_) => Ok(Trace { opportunities_ms: opportunities_ms.into() }),
        }
    }

    /// The delivery opportunities of one period, ms.
    #[must_use]
    pub fn opportunities_ms(&self) -> &[u32] {
        &self.opportunities_ms
    }

    /// After this time the trace repeats, ms.
    #[must_use]
    pub fn period_ms(&self) -> u32 {
        self.opportunities_ms[self.opportunities_ms.len() - 1]
    }

    /// Average of the rate, Mbit/s.
    #[must_use]
    pub fn mean_mbps(&self) -> f64 {
        mbps(1e3 * self.opportunities_ms.len() as f64 / f64::from(self.period_ms()))
    }
}

fn number_of_ms(line: &str) -> Result<u32, String> {
    let word = line.trim();
    word.parse().map_err(|_| {
        let longest = u32::MAX;
        let found = if word.is_empty() { "an empty line".to_owned() } else { format!("`{word}`") };
        format!("expected a time in ms, a whole number from 0 to {longest}; found {found}")
    })
}

/// A recorded link in motion.
#[derive(Clone, Debug)]
pub struct TraceLink {
    trace: Trace,
    /// Time in the trace at the start of the run, ms.
    offset_ms: u64,
    /// Periods that are over.
    lap: u64,
    /// The next opportunity of this period.
    index: usize,
}

impl TraceLink {
    /// A link that starts `offset_ms` into the trace, so that runs can start at different places.
    #[must_use]
    pub fn new(trace: Trace, offset_ms: u64) -> TraceLink {
        let offset_ms = offset_ms % u64::from(trace.period_ms());
        let mut link = TraceLink { trace, offset_ms, lap: 0, index: 0 };
        link.skip_to(offset_ms);
        link
    }

    /// The first delivery opportunity at or after `after` that is neither consumed nor passed over.
    pub fn next_opportunity(&mut self, after: Instant) -> Instant {
        if self.time() < after {
            self.skip_to(after.since(Instant::START).div_ceil(MS).saturating_add(self.offset_ms));
        }
        self.time()
    }

    /// Consumes the next opportunity.
    pub fn advance(&mut self) {
        self.index += 1;
        if self.index == self.trace.opportunities_ms.len() {
            // mahimahi: the period's last opportunity and the next period's time 0 are one instant.
            self.index = 0;
            self.lap += 1;
        }
    }

    fn time(&self) -> Instant {
        let ms = u64::from(self.trace.opportunities_ms[self.index]);
        let lap = self.lap.saturating_mul(u64::from(self.trace.period_ms()));
        // Opportunities before the offset were passed over in `new`.
        Instant::START.saturating_add(MS.saturating_mul(lap.saturating_add(ms).saturating_sub(self.offset_ms)))
    }

    /// Passes over what comes before this ms, counted from the start of the first period.
    fn skip_to(&mut self, ms: u64) {
        let Some(before) = ms.checked_sub(1) else { return };
        let period = u64::from(self.trace.period_ms());
        // The end of one period, rather than the start of the next, so that no opportunity of this ms is missed.
        let (lap, rest) = (before / period, before % period + 1);
        let index = self.trace.opportunities_ms.partition_point(|&t| u64::from(t) < rest);
        (self.lap, self.index) = (self.lap, self.index).max((lap, index));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trace(text: &str) -> Trace {
        Trace::parse(text, "test").unwrap()
    }

    /// The next `n` opportunities in ms, each consumed.
    fn take(link: &mut TraceLink, n: usize) -> Vec<u64> {
        let one = |_| {
            let t = link.next_opportunity(Instant::START);
            link.advance();
            t / MS
        };
        (0..n).map(one).collect()
    }

    #[test]
    fn repeats_with_the_last_time_as_its_period() {
        // As mahimahi does: 10 is the end of one period and 0 the beginning of the next, at one instant.
        let mut link = TraceLink::new(trace("0\n3\n3\n10\n"), 0);
        assert_eq!(take(&mut link, 10), [0, 3, 3, 10, 10, 13, 13, 20, 20, 23]);
        let mut link = TraceLink::new(trace("5\n"), 0);
        assert_eq!(take(&mut link, 3), [5, 10, 15]);
    }

    #[test]
    fn an_offset_starts_elsewhere_in_the_trace() {
        let text = "0\n3\n3\n10\n";
        assert_eq!(take(&mut TraceLink::new(trace(text), 3), 6), [0, 0, 7, 7, 10, 10]);
        assert_eq!(take(&mut TraceLink::new(trace(text), 4), 4), [6, 6, 9, 9]);
        assert_eq!(take(&mut TraceLink::new(trace(text), 20), 3), [0, 3, 3]);
        assert_eq!(take(&mut TraceLink::new(trace(text), 33), 3), [0, 0, 7]);
    }

    #[test]
    fn unused_opportunities_are_passed_over_for_good() {
        let mut link = TraceLink::new(trace("0\n3\n3\n10\n"), 0);
        assert_eq!(link.next_opportunity(Instant::from_nanos(1)), Instant::from_millis(3));
        assert_eq!(link.next_opportunity(Instant::from_millis(3)), Instant::from_millis(3));
        link.advance();
        assert_eq!(link.next_opportunity(Instant::START), Instant::from_millis(3));
        link.advance();
        assert_eq!(link.next_opportunity(Instant::START), Instant::from_millis(10));
        // Both that share the instant at which the trace wraps are there, and a jump of many periods finds them too.
        assert_eq!(take(&mut link, 2), [10, 10]);
        assert_eq!(link.next_opportunity(Instant::from_nanos(999_999_999_999)), Instant::from_millis(1_000_000));
        assert_eq!(take(&mut link, 3), [1_000_000, 1_000_000, 1_000_003]);
        assert_eq!(link.next_opportunity(Instant::START), Instant::from_millis(1_000_003));
    }

    #[test]
    fn a_jump_finds_what_single_steps_find() {
        let trace = trace("1\n1\n4\n9\n9\n13\n");
        let all = take(&mut TraceLink::new(trace.clone(), 5), 200);
        for after in 0..300 {
            let first = Instant::from_millis(*all.iter().find(|&&t| t * 2 >= after).unwrap());
            assert_eq!(
                TraceLink::new(trace.clone(), 5)
                    .next_opportunity(Instant::from_nanos(Instant::from_millis(after) / Duration::from_nanos(2))),
                first,
                "after {after} / 2 ms"
            );
        }
    }

    #[test]
    fn the_end_of_time_does_no_harm() {
        let mut link = TraceLink::new(trace("0\n10\n"), 7);
        assert_eq!(link.next_opportunity(Instant::NEVER), Instant::NEVER);
        link.advance();
        assert_eq!(link.next_opportunity(Instant::NEVER), Instant::NEVER);
    }

    #[test]
    fn the_mean_counts_1500_bytes_for_each_line() {
        // 4 opportunities in 10 ms are 400 in a second, of 12 kbit each.
        let trace = trace("0\n3\n3\n10");
        assert!((trace.mean_mbps() - 4.8).abs() < 1e-12);
        assert_eq!((trace.opportunities_ms(), trace.period_ms()), (&[0, 3, 3, 10][..], 10));
    }

    #[test]
    fn errors_name_the_file_the_line_and_what_was_expected() {
        let error = |text| Trace::parse(text, "a.down").unwrap_err().to_string();
        assert_eq!(error(""), "a.down: expected at least one line with a time in ms; the file is empty");
        assert_eq!(
            error("1\n-2\n"),
            "a.down:2: expected a time in ms, a whole number from 0 to 4294967295; found `-2`"
        );
        assert!(error("1\n2.5\n").contains(":2: ") && error("1\nx\n").contains("found `x`"));
        assert!(error("1\n\n3\n").ends_with("found an empty line"));
        assert!(error("1\n99999999999\n").contains(":2: "));
        assert_eq!(error("1\n5\n4\n"), "a.down:3: expected a time of at least 5 ms, the line before; found 4");
        assert!(error("0\n0\n").starts_with("a.down:2: expected a last time above 0 ms"));
    }

    #[test]
    fn real_traces_are_read_and_repeat() {
        let Some(folder) = exmachina_reference::reference("traces") else { return };
        for file in std::fs::read_dir(folder).unwrap() {
            let path = file.unwrap().path();
            let trace = Trace::parse(&std::fs::read_to_string(&path).unwrap(), &path.to_string_lossy()).unwrap();
            assert!((3.0..20.0).contains(&trace.mean_mbps()), "{path:?}: {} Mbit/s", trace.mean_mbps());
            let (n, period) = (trace.opportunities_ms().len(), u64::from(trace.period_ms()));
            let times = take(&mut TraceLink::new(trace, 0), 2 * n);
            assert!((0..n).all(|i| times[i] + period == times[n + i]), "{path:?}");
        }
    }
}
