//! Vegas as the module of Linux 2.6.22 that ns-2.35 carries, by which Remy'13 measured it: alpha 2, beta 4, gamma 1. It looks at
//! the packets sent in an RTT, in steps of half a packet, leaves slow start with a threshold of 2, and asks for no full window.

use exmachina_net::time::{Duration, Instant};

use super::linux::LinuxWindow;
use super::rounds_linux::{HALVES, Round, Rounds};
use super::{Ack, Congestion, Scheme};

/// Below so many packets queued it adds one per RTT, above so many it takes one away, and above so many slow start ends; in
/// half packets.
const ALPHA: u32 = 2 << HALVES;
const BETA: u32 = 4 << HALVES;
const GAMMA: u32 = 1 << HALVES;

/// Linux's Vegas.
#[derive(Clone, Debug)]
pub struct LinuxVegas {
    initial_window: u32,
    window: LinuxWindow,
    rounds: Rounds,
}

impl LinuxVegas {
    /// A sender that has not started; connections, and what follows a pause, begin with this window.
    #[must_use]
    pub fn new(initial_window: u32) -> LinuxVegas {
        LinuxVegas { initial_window, window: LinuxWindow::new(initial_window), rounds: Rounds::new() }
    }

    /// Once per RTT.
    fn adjust(&mut self, round: Round, target: u32) {
        let queued = (round.packets << HALVES).wrapping_sub(target);
        let window = &mut self.window;
        if window.in_slow_start() {
            if queued > GAMMA {
                window.ssthresh = 2;
                // A packet more for what was rounded off.
                window.cwnd = window.cwnd.min((target >> HALVES) + 1);
            }
            window.slow_start();
        } else {
            let wanted = if queued > BETA {
                round.began_with.wrapping_sub(1)
            } else if queued < ALPHA {
                round.began_with.wrapping_add(1)
            } else {
                round.began_with
            };
            // One step at most, whatever slow start or recovery did to the window since.
            if wanted > window.cwnd {
                window.cwnd += 1;
            } else if wanted < window.cwnd {
                window.cwnd -= 1;
            }
        }
        window.cwnd = window.cwnd.max(2);
    }

    /// Reno, which grows where the window was full.
    fn reno(&mut self, ack: &Ack) {
        if ack.window_limited {
            self.window.reno();
        }
    }
}

impl Scheme for LinuxVegas {
    fn start(&mut self, _now: Instant) {
        *self = LinuxVegas::new(self.initial_window);
    }

    fn on_ack(&mut self, ack: &Ack) {
        if ack.acked == 0 {
            return;
        }
        self.rounds.sample(ack);
        if ack.in_recovery {
            return;
        }
        if !self.rounds.enabled() {
            self.reno(ack);
            return;
        }
        match self.rounds.ended(ack, self.window.cwnd) {
            Some(round) => match round.target {
                Some(target) => self.adjust(round, target),
                None => self.reno(ack),
            },
            None if self.window.in_slow_start() => self.window.slow_start(),
            None => {}
        }
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
    use exmachina_net::time::{Duration, Instant};

    use super::super::driver::Driver;
    use super::*;

    /// 1 packet/ms and 100 ms: the path holds 101 packets without a queue.
    #[test]
    fn holds_two_to_four_packets_in_the_queue() {
        let (mut vegas, mut path) = (LinuxVegas::new(2), Driver::new(Duration::from_ms(100.0), Duration::from_ms(1.0)));
        path.run(&mut vegas, Instant::from_s(120.0));
        let settled = vegas.window();
        assert!((102..=106).contains(&settled), "{settled}");
        assert_eq!(vegas.ssthresh(), 2.0, "slow start ended by gamma");
        path.run(&mut vegas, Instant::from_s(140.0));
        assert!(vegas.window().abs_diff(settled) <= 1, "it stays there");
    }

    #[test]
    fn a_step_is_one_packet_from_the_window_that_the_round_began_with() {
        let round = |queued: u32| (Round { packets: 50, began_with: 50, target: None }, (50 - queued) << HALVES);
        let mut vegas = LinuxVegas::new(2);
        vegas.window.ssthresh = 2;
        for (queued, window) in [(1, 51), (2, 50), (3, 50), (4, 50), (5, 49)] {
            vegas.window.cwnd = 50;
            let (round, target) = round(queued);
            vegas.adjust(round, target);
            assert_eq!(vegas.window(), window, "{queued} queued");
        }
    }

    #[test]
    fn a_pause_leaves_the_threshold() {
        let mut vegas = LinuxVegas::new(2);
        vegas.window.ssthresh = 7;
        vegas.on_rto(&Congestion { idle: true, ..Congestion::default() });
        assert_eq!((vegas.window(), vegas.ssthresh()), (2, 7.0));
        vegas.start(Instant::START);
        assert!(vegas.ssthresh().is_infinite());
    }
}
