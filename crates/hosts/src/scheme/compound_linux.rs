//! Compound as the module of Linux 2.6.22 that ns-2.35 carries (Castellani and Hemminger): Reno's window, and beside it one
//! that grows with the square root of the square root of the cube of the window while the path holds no queue.
//!
//! What the paper of Compound (Tan et al. 2006) does not have: the second window grows in slow start too, it is a whole
//! number, and it is what is left where the sum is lowered behind the module's back.

use exmachina_net::time::{Duration, Instant};

use super::linux::LinuxWindow;
use super::rounds_linux::{HALVES, Rounds};
use super::{Ack, Congestion, Scheme};

/// An eighth of the power of the window is what an RTT adds (`TCP_COMPOUND_ALPHA`).
const ALPHA_SHIFT: u32 = 3;
/// Packets in the queue at which the second window yields.
const GAMMA: u32 = 30;

/// Linux's Compound.
#[derive(Clone, Debug)]
pub struct LinuxCompound {
    initial_window: u32,
    window: LinuxWindow,
    /// Reno's window.
    reno: u32,
    /// The delay-based one.
    dwnd: u32,
    rounds: Rounds,
}

impl LinuxCompound {
    /// A sender that has not started; connections, and what follows a pause, begin with this window.
    #[must_use]
    pub fn new(initial_window: u32) -> LinuxCompound {
        LinuxCompound {
            initial_window,
            window: LinuxWindow::new(initial_window),
            reno: initial_window.max(1),
            dwnd: 0,
            rounds: Rounds::new(),
        }
    }

    /// The sum was lowered behind the back of its parts: Reno's gives way, and the other one if it must.
    fn divide(&mut self) {
        let cwnd = self.window.cwnd;
        if self.reno.saturating_add(self.dwnd) <= cwnd {
            return;
        }
        if self.reno > cwnd || self.dwnd > cwnd {
            (self.reno, self.dwnd) = (cwnd, 0);
        } else {
            self.reno = cwnd - self.dwnd;
        }
    }

    fn grow_reno(&mut self) {
        let mut grows = self.reno <= self.window.ssthresh;
        if !grows && self.window.count < self.window.cwnd {
            self.window.count += 1;
        }
        if self.window.count >= self.window.cwnd {
            grows = true;
            self.window.count = 0;
        }
        self.reno = self.reno.saturating_add(u32::from(grows));
    }

    /// Once per RTT: packets sent in it, and those of them that the path would hold, in half packets.
    fn adjust(&mut self, packets: u32, target: u32) {
        let queued = (packets << HALVES).wrapping_sub(target);
        if queued < GAMMA << HALVES {
            let power = libm::pow(f64::from(packets), 0.75).floor() as u32 >> ALPHA_SHIFT;
            // One packet is Reno's.
            self.dwnd = self.dwnd.saturating_add(power.saturating_sub(1));
        } else {
            self.dwnd = (self.dwnd << HALVES).saturating_sub(queued) >> HALVES;
        }
    }
}

impl Scheme for LinuxCompound {
    fn start(&mut self, _now: Instant) {
        *self = LinuxCompound::new(self.initial_window);
    }

    fn on_ack(&mut self, ack: &Ack) {
        if ack.acked == 0 {
            return;
        }
        self.rounds.sample(ack);
        if ack.in_recovery {
            return;
        }
        self.divide();
        if !ack.window_limited {
            return;
        }
        self.grow_reno();
        if let Some(round) = self.rounds.ended(ack, self.window.cwnd)
            && let Some(target) = round.target
        {
            self.adjust(round.packets, target);
        }
        self.window.cwnd = self.reno.saturating_add(self.dwnd);
    }

    fn on_loss(&mut self, _loss: &Congestion) {
        self.rounds.disable();
        self.window.lose(self.window.half(), true);
    }

    fn on_ecn(&mut self, mark: &Congestion) {
        self.on_loss(mark);
    }

    fn on_rto(&mut self, timeout: &Congestion) {
        if !timeout.idle {
            self.rounds.disable();
        }
        self.window.time_out(timeout, self.window.half(), self.initial_window);
    }

    fn on_recovered(&mut self, _now: Instant, limit: Option<u32>) {
        self.window.recovered(limit);
        self.rounds.resume();
    }

    fn window(&self) -> u32 {
        self.window.cwnd
    }

    fn intersend(&self) -> Duration {
        Duration::ZERO
    }

    fn ssthresh(&self) -> f64 {
        self.window.ssthresh()
    }
}

#[cfg(test)]
mod tests {
    use exmachina_net::time::Duration;

    use super::super::driver::Driver;
    use super::*;

    #[test]
    fn the_second_window_grows_by_the_power_of_the_window_while_no_queue_stands() {
        // 100 packets: 100^0.75 = 31, an eighth of it is 3, of which one is Reno's.
        let mut compound = LinuxCompound { window: LinuxWindow::new(100), reno: 100, ..LinuxCompound::new(2) };
        compound.window.ssthresh = 50;
        let mut path = Driver::new(Duration::from_ms(100.0), Duration::from_ms(0.1));
        (0..3).for_each(|_| path.round(&mut compound));
        let (window, dwnd) = (compound.window(), compound.dwnd);
        (0..10).for_each(|_| path.round(&mut compound));
        let (grown, gained) = (compound.window() - window, compound.dwnd - dwnd);
        // Towards 140 packets it is one more.
        assert!((20..=33).contains(&gained) && (9..=11).contains(&(grown - gained)), "{gained} of {grown}");
    }

    #[test]
    fn what_a_pause_left_of_it_counts_when_sending_begins_again() {
        let mut compound = LinuxCompound::new(2);
        (compound.reno, compound.dwnd) = (40, 1);
        compound.on_rto(&Congestion { idle: true, ..Congestion::default() });
        assert_eq!((compound.window(), compound.reno, compound.dwnd), (2, 40, 1));
        compound.divide();
        assert_eq!((compound.reno, compound.dwnd), (2, 0), "Reno's part alone is above the window");
        compound.dwnd = 1;
        compound.divide();
        assert_eq!((compound.reno, compound.dwnd), (1, 1));
    }

    #[test]
    fn a_queue_of_thirty_packets_takes_the_second_window_back() {
        let mut compound = LinuxCompound { dwnd: 50, ..LinuxCompound::new(2) };
        // 100 packets, of which the path holds 60: 40 wait.
        compound.adjust(100, 60 << HALVES);
        assert_eq!(compound.dwnd, 10);
        compound.adjust(100, 60 << HALVES);
        assert_eq!(compound.dwnd, 0);
        compound.adjust(100, 71 << HALVES);
        assert_eq!(compound.dwnd, 2);
    }
}
