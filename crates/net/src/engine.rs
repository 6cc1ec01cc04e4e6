//! The event loop: ACKs, sends and on/off switches of one network, one at a time and in order. Design and evaluation run
//! in this one engine, with other senders on other paths.
//!
//! Guarantees: simulated time never runs back; packets of a delay line stay in order; every packet sent is delivered, lost or
//! still in flight; the same arguments give the same results bit for bit. At one instant switches come first, then ACKs,
//! then sends.

use crate::endpoint::Endpoint;
use crate::network::Network;
use crate::observe::Observer;
use crate::on_time::OnTimes;
use crate::outcome::{Flow, Outcome};
use crate::packet::Packet;
use crate::path::Path;
use crate::random::Seed;
use crate::schedule::{LONGEST_RUN, MAX_SENDERS, Schedule};
use crate::time::Instant;
use crate::traffic::Traffic;

/// Events between two looks at whether anybody still wants the run: a few ms.
const EVENTS_PER_LOOK: u32 = 1 << 16;

/// A network in motion: senders of one kind on a path of one kind. A clone is a saved state: both go on alike.
#[derive(Clone, Debug)]
pub struct Engine<E, P> {
    now: Instant,
    path: P,
    schedule: Schedule,
    senders: Vec<E>,
    traffic: Vec<Traffic>,
    next_switch: Instant,
    /// The next switch or the end of the run: no other event comes at it or after.
    bound: Instant,
    on_times: OnTimes,
    /// For outcomes: the rate of the link (of the slowest, where there are several), and every sender's minimum RTT.
    rate_mbps: f64,
    min_rtt_ms: Vec<f64>,
}

impl<E: Endpoint, P: Path> Engine<E, P> {
    /// These senders, with a network's traffic, on its path, at time 0.
    ///
    /// # Panics
    /// If there are more senders than a schedule has room for (scenario files are checked for that).
    pub fn new(network: &Network, seed: Seed, path: P, senders: Vec<E>) -> Self {
        let n = senders.len();
        let traffic = Traffic::of(network, seed);
        assert!(n <= MAX_SENDERS, "{n} senders: at most {MAX_SENDERS}");
        Engine {
            now: Instant::START,
            path,
            schedule: Schedule::new(n),
            senders,
            next_switch: traffic.iter().map(|t| t.next).min().unwrap_or(Instant::NEVER),
            traffic,
            bound: Instant::START,
            on_times: OnTimes::new(n),
            rate_mbps: network.rate_mbps(),
            min_rtt_ms: network.rtts_ms().collect(),
        }
    }

    /// Runs until `until`, or until the observer pauses it (the answer is then `true`, and another call goes on), or
    /// abandons it.
    ///
    /// # Panics
    /// If `until` is past [`LONGEST_RUN`].
    pub fn run(&mut self, until: Instant, observer: &mut impl Observer<E>) -> bool {
        assert!(until <= LONGEST_RUN, "a run of {} s: at most {} s", until.as_s(), LONGEST_RUN.as_s());
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("bmi2") {
            // SAFETY: the processor has these features.
            return unsafe { self.run_avx2(until, observer) };
        }
        self.run_anywhere(until, observer)
    }

    /// The same code with wider registers. No fused multiply-add: it would round differently.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    unsafe fn run_avx2(&mut self, until: Instant, observer: &mut impl Observer<E>) -> bool {
        self.run_anywhere(until, observer)
    }

    #[inline(always)]
    fn run_anywhere(&mut self, until: Instant, observer: &mut impl Observer<E>) -> bool {
        if self.path.is_plain() { self.events::<true>(until, observer) } else { self.events::<false>(until, observer) }
    }

    #[inline(always)]
    fn events<const PLAIN: bool>(&mut self, until: Instant, observer: &mut impl Observer<E>) -> bool {
        self.bound = self.next_switch.min(until);
        loop {
            for _ in 0..EVENTS_PER_LOOK {
                let arrival = self.path.next::<PLAIN>();
                let send = self.schedule.next();
                if arrival.min(send) >= self.bound {
                    if self.next_switch > until {
                        self.now = until;
                        return false;
                    }
                    self.switch(observer);
                    self.bound = self.next_switch.min(until);
                } else if arrival <= send {
                    if let Some(packet) = self.path.step::<PLAIN>(arrival) {
                        self.receive::<PLAIN>(&packet, arrival, observer);
                    }
                } else {
                    self.act::<PLAIN>(self.schedule.sender(), send, observer);
                }
                if observer.pause() {
                    return true;
                }
            }
            if observer.abandoned() {
                return true;
            }
        }
    }

    #[inline(always)]
    fn receive<const PLAIN: bool>(&mut self, packet: &Packet, now: Instant, observer: &mut impl Observer<E>) {
        let i = usize::from(packet.sender);
        let sender = &mut self.senders[i];
        sender.receive(packet, now, self.path.clock::<PLAIN>());
        if PLAIN || !packet.lost {
            observer.acked(now, i, packet, sender);
        }
        self.follow_up::<PLAIN>(i, now, observer);
    }

    /// After a sender learned something: ends its on-period, lets it act at once, or plans when it does.
    #[inline(always)]
    fn follow_up<const PLAIN: bool>(&mut self, i: usize, now: Instant, observer: &mut impl Observer<E>) {
        let sender = &mut self.senders[i];
        if sender.finished() {
            self.now = now;
            self.switch_off(i, observer);
            return;
        }
        let at = sender.ready();
        if at <= now {
            self.act::<PLAIN>(i, now, observer);
        } else if at != sender.planned() {
            sender.plan(at);
            self.schedule.set(i, at, 0);
        }
    }

    /// Lets a sender act, most often by sending one packet, and plans when it does next.
    #[inline(always)]
    fn act<const PLAIN: bool>(&mut self, i: usize, now: Instant, observer: &mut impl Observer<E>) {
        let sender = &mut self.senders[i];
        let (packet, next, turn) = sender.act(now);
        if let Some(packet) = packet {
            let departs = self.path.send::<PLAIN>(packet, now);
            observer.sent(now, i, &packet, departs, sender);
        } else if sender.finished() {
            // A delayed ACK was the last.
            self.now = now;
            self.switch_off(i, observer);
            return;
        }
        self.schedule.set(i, next, turn);
    }

    /// Plans the next packet of a sender that was switched: what a pause held back is due now, not in the past.
    fn plan(&mut self, i: usize) {
        let sender = &mut self.senders[i];
        let at = sender.ready().max(self.now);
        sender.plan(at);
        self.schedule.set(i, at, 0);
    }

    /// Switches one sender whose time has come.
    #[cold]
    #[inline(never)]
    fn switch(&mut self, observer: &mut impl Observer<E>) {
        self.now = self.next_switch;
        let i = self.traffic.iter().position(|t| t.next == self.next_switch).expect("next_switch is somebody's");
        if self.senders[i].is_on() {
            self.switch_off(i, observer);
            return;
        }
        self.on_times.start(i, self.now);
        let packets = self.traffic[i].begin_on_period(self.now);
        self.senders[i].start(self.now, packets);
        self.find_next_switch();
        observer.started(self.now, i, &self.senders[i]);
        self.plan(i);
    }

    #[cold]
    #[inline(never)]
    fn switch_off(&mut self, i: usize, observer: &mut impl Observer<E>) {
        self.on_times.stop(i, self.now);
        self.senders[i].stop(self.now);
        self.traffic[i].end_on_period(self.now);
        self.find_next_switch();
        observer.stopped(self.now, i);
        self.plan(i);
    }

    fn find_next_switch(&mut self) {
        self.next_switch = self.traffic.iter().map(|t| t.next).min().unwrap_or(Instant::NEVER);
        self.bound = self.bound.min(self.next_switch);
    }

    /// What each sender got so far.
    pub fn outcome(&self) -> Outcome {
        let flow = |(i, s): (usize, &E)| {
            let time = if s.is_on() { self.on_times.up_to(i, self.now) } else { self.on_times.of(i) };
            Flow::new(s.totals(), time, self.min_rtt_ms[i])
        };
        let flows = self.senders.iter().enumerate().map(flow).collect();
        Outcome { flows, lost: self.path.lost(), in_flight: self.path.in_flight(), rate_mbps: self.rate_mbps }
    }

    /// The senders.
    pub fn senders(&self) -> &[E] {
        &self.senders
    }

    /// The senders, to change their schemes.
    pub fn senders_mut(&mut self) -> &mut [E] {
        &mut self.senders
    }

    /// What lies between the senders and their ACKs.
    pub fn path(&self) -> &P {
        &self.path
    }

    /// What lies between the senders and their ACKs, to keep and take journals.
    pub fn path_mut(&mut self) -> &mut P {
        &mut self.path
    }

    /// Packets in the first bottleneck's queue and on its link.
    pub fn backlog(&self) -> u64 {
        self.path.backlog(self.now)
    }

    /// The present instant.
    pub fn now(&self) -> Instant {
        self.now
    }
}
