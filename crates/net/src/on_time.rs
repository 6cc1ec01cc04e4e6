//! How long senders were on, and how much of a link was theirs meanwhile if all who were on had shared it equally.

use crate::time::Instant;

/// One sender's time.
#[derive(Clone, Copy, Debug, Default)]
pub struct OnTime {
    /// Seconds on so far.
    pub on_s: f64,
    /// Sum of dt / (senders on at the time), seconds.
    pub share_s: f64,
    /// When it was last switched on, and what `share` was then.
    since: Instant,
    share_at_start: f64,
}

/// That of all senders. To be told of switches in the order of time.
#[derive(Clone, Debug)]
pub struct OnTimes {
    each: Vec<OnTime>,
    /// Senders that are on.
    on: usize,
    /// What one who was on all the time had by the latest switch, and when that was.
    share: f64,
    share_since: Instant,
}

impl OnTimes {
    /// So many senders, off.
    #[must_use]
    pub fn new(senders: usize) -> OnTimes {
        OnTimes { each: vec![OnTime::default(); senders], on: 0, share: 0.0, share_since: Instant::START }
    }

    /// A sender's on-period begins.
    pub fn start(&mut self, sender: usize, now: Instant) {
        self.advance(now);
        self.on += 1;
        self.each[sender].since = now;
        self.each[sender].share_at_start = self.share;
    }

    /// A sender's on-period ends.
    pub fn stop(&mut self, sender: usize, now: Instant) {
        self.advance(now);
        self.on -= 1;
        self.each[sender] = self.up_to(sender, now);
    }

    /// A sender's time up to its latest switch.
    #[must_use]
    pub fn of(&self, sender: usize) -> OnTime {
        self.each[sender]
    }

    /// The time up to now of a sender that is on.
    #[must_use]
    pub fn up_to(&self, sender: usize, now: Instant) -> OnTime {
        let mut t = self.each[sender];
        t.on_s += (now - t.since).as_s();
        t.share_s += self.share_at(now) - t.share_at_start;
        t
    }

    fn advance(&mut self, now: Instant) {
        self.share = self.share_at(now);
        self.share_since = now;
    }

    fn share_at(&self, now: Instant) -> f64 {
        self.share + (now - self.share_since).as_s() / self.on.max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_alone_and_two_with_another() {
        let mut times = OnTimes::new(2);
        times.start(0, Instant::from_s(1.0));
        times.start(1, Instant::from_s(2.0));
        times.stop(0, Instant::from_s(4.0));
        let (first, second) = (times.of(0), times.up_to(1, Instant::from_s(5.0)));
        assert_eq!([first.on_s, first.share_s, second.on_s, second.share_s], [3.0, 2.0, 3.0, 2.0]);
    }
}
