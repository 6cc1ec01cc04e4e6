//! The time of a run, by the clock on the wall.

use std::time;

use exmachina_net::time::{Duration, Instant};

/// Time since a run began.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    began: time::Instant,
}

impl Clock {
    /// A run that begins in so long.
    pub fn starting_in(lead: Duration) -> Clock {
        Clock { began: time::Instant::now() + time::Duration::from_nanos(lead.as_nanos()) }
    }

    /// The time now; none before the run begins.
    pub fn now(self) -> Option<Instant> {
        let since = time::Instant::now().checked_duration_since(self.began)?;
        Some(Instant::from_nanos(since.as_nanos() as u64))
    }

    /// How long it is until then.
    pub fn until(self, then: Instant) -> Duration {
        let then = self.began + time::Duration::from_nanos(then.as_nanos());
        Duration::from_nanos(then.saturating_duration_since(time::Instant::now()).as_nanos() as u64)
    }
}
