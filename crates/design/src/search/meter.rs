//! What a search simulates: how much, and, for whoever wants to know, how long each run takes.

use std::sync::Mutex;
use std::sync::atomic::AtomicU64;

use cpu_time::ThreadTime;

/// What has been simulated, to be read while a step is under way.
#[derive(Debug, Default)]
pub struct Meter {
    /// Packets delivered.
    pub packets: AtomicU64,
    /// Runs finished.
    pub runs: AtomicU64,
    /// CPU time that others spent on runs, ns.
    pub elsewhere_ns: AtomicU64,
    /// How long runs here take, where it is asked for. Nothing that a search does depends on it.
    pub times: Option<Times>,
}

/// CPU times of runs, and of what else is done side by side, s, batch by batch. Those of a batch do not wait for each other; a batch
/// waits for the one before it.
#[derive(Debug, Default)]
pub struct Times(Mutex<Vec<Vec<f64>>>);

impl Times {
    /// The batches since the last time.
    ///
    /// # Panics
    /// If a thread that had it has panicked.
    pub fn take(&self) -> Vec<Vec<f64>> {
        std::mem::take(&mut self.0.lock().expect("nobody panics with it"))
    }

    fn begin(&self) {
        self.0.lock().expect("nobody panics with it").push(Vec::new());
    }

    fn add(&self, seconds: f64) {
        let mut batches = self.0.lock().expect("nobody panics with it");
        batches.last_mut().expect("a run is of a batch").push(seconds);
    }
}

impl Meter {
    /// Begins a batch.
    pub(super) fn begin(&self) {
        self.times.iter().for_each(Times::begin);
    }

    /// Makes one run of a batch.
    pub(super) fn run<T>(&self, run: impl FnOnce() -> T) -> T {
        let Some(times) = &self.times else { return run() };
        let clock = ThreadTime::now();
        let made = run();
        times.add(clock.elapsed().as_secs_f64());
        made
    }

    /// Makes a batch of so many pieces of work as a whole: on one thread, where each counts as taking as long as the others.
    pub(super) fn batch<T>(&self, count: usize, work: impl FnOnce() -> T) -> T {
        let Some(times) = &self.times else { return work() };
        let clock = ThreadTime::now();
        let made = work();
        let each = clock.elapsed().as_secs_f64() / count as f64;
        times.begin();
        (0..count).for_each(|_| times.add(each));
        made
    }
}
