//! The event loop: ACKs, sends and on/off switches of one network, one at a time and in order.
//!
//! Guarantees: simulated time never runs back; packets of a lane stay in order; every packet sent is delivered, lost or
//! still in flight; the same arguments give the same results bit for bit. At one instant switches come first, then ACKs,
//! then sends.

use crate::flight::{Lane, Packet};
use crate::link::Link;
use crate::network::{Buffer, Network};
use crate::observe::Observer;
use crate::outcome::{Flow, Outcome};
use crate::random::{Purpose, Stream};
use crate::schedule::{MAX_SENDERS, MAX_TIME, Schedule};
use crate::scheme::Scheme;
use crate::sender::Sender;
use crate::time::{NEVER, Time, from_ms, to_s};
use crate::traffic::Traffic;

/// Which random numbers a run draws: streams are named by these and by sender and purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seed {
    /// Root seed.
    pub root: u64,
    /// Number of the specimen.
    pub specimen: u64,
}

/// What a packet meets beside the queue.
#[derive(Clone, Debug)]
struct Path {
    loss: f64,
    jitter: f64,
    clock: Time,
    streams: Vec<PathStreams>,
}

#[derive(Clone, Debug)]
struct PathStreams {
    loss: Stream,
    jitter: Stream,
}

/// Time on, and time on shared equally with all who are on at the moment.
#[derive(Clone, Copy, Debug, Default)]
struct OnTime {
    /// Seconds on so far.
    on_s: f64,
    /// Sum of dt / (senders on at the time), seconds.
    share_s: f64,
    since: Time,
    share_at_start: f64,
}

/// A network in motion. A clone is a saved state: both go on alike.
#[derive(Clone, Debug)]
pub struct Engine<S> {
    now: Time,
    link: Link,
    /// The first lane, the only one in the plain case, and the others.
    lane: Lane,
    lanes: Vec<Lane>,
    /// Delay of the first sender: everybody's in the plain case.
    rtt: Time,
    schedule: Schedule,
    senders: Vec<Sender<S>>,
    traffic: Vec<Traffic>,
    next_switch: Time,
    /// The next switch or the end of the run: no other event comes at it or after.
    bound: Time,
    on_time: Vec<OnTime>,
    on_count: usize,
    share: f64,
    share_since: Time,
    path: Path,
    /// Nothing but a constant-rate infinite queue and one RTT: the case that the search lives on.
    plain: bool,
    lost: u64,
    network: Network,
}

impl<S: Scheme> Engine<S> {
    /// The network at time 0, every sender off; `scheme(i)` is the scheme of sender i.
    ///
    /// # Panics
    /// If there are more senders than a schedule has room for (scenario files are checked for that).
    pub fn new(network: &Network, seed: Seed, scheme: impl Fn(usize) -> S) -> Engine<S> {
        let n = network.senders();
        assert!(n <= MAX_SENDERS, "{n} senders: at most {MAX_SENDERS}");
        let delays: Vec<Time> = network.rtt_ms.iter().map(|&ms| from_ms(ms)).collect();
        let mut distinct = delays.clone();
        distinct.sort_unstable();
        distinct.dedup();
        let lane = |d: &Time| distinct.binary_search(d).expect("every delay is among the distinct ones");
        let stream = |sender, purpose| Stream::new(seed.root, seed.specimen, sender as u64, purpose);
        let traffic: Vec<Traffic> =
            (0..n).map(|i| Traffic::new(network.workload.clone(), seed.root, seed.specimen, i)).collect();
        Engine {
            now: 0,
            link: Link::new(network),
            lane: Lane::default(),
            lanes: vec![Lane::default(); distinct.len() - 1],
            rtt: delays[0],
            schedule: Schedule::new(n),
            senders: (0..n).map(|i| Sender::new(scheme(i), delays[i], lane(&delays[i]) as u16)).collect(),
            next_switch: traffic.iter().map(|t| t.next).min().unwrap_or(NEVER),
            traffic,
            bound: 0,
            on_time: vec![OnTime::default(); n],
            on_count: 0,
            share: 0.0,
            share_since: 0,
            path: Path {
                loss: network.loss,
                jitter: network.jitter_ms * 1e6,
                clock: from_ms(network.clock_ms),
                streams: (0..n)
                    .map(|i| PathStreams { loss: stream(i, Purpose::Loss), jitter: stream(i, Purpose::Jitter) })
                    .collect(),
            },
            plain: distinct.len() == 1
                && network.buffer == Buffer::Infinite
                && network.loss == 0.0
                && network.jitter_ms == 0.0
                && network.clock_ms == 0.0,
            lost: 0,
            network: network.clone(),
        }
    }

    /// Runs until `until`, or until the observer pauses it (the answer is then `true`, and another call goes on).
    ///
    /// # Panics
    /// If `until` is past [`MAX_TIME`].
    pub fn run(&mut self, until: Time, observer: &mut impl Observer<S>) -> bool {
        assert!(until <= MAX_TIME, "a run of {} s: at most {} s", to_s(until), to_s(MAX_TIME));
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
    unsafe fn run_avx2(&mut self, until: Time, observer: &mut impl Observer<S>) -> bool {
        self.run_anywhere(until, observer)
    }

    #[inline(always)]
    fn run_anywhere(&mut self, until: Time, observer: &mut impl Observer<S>) -> bool {
        if self.plain { self.events::<true>(until, observer) } else { self.events::<false>(until, observer) }
    }

    #[inline(always)]
    fn events<const PLAIN: bool>(&mut self, until: Time, observer: &mut impl Observer<S>) -> bool {
        self.bound = self.next_switch.min(until);
        loop {
            let (lane, ack) = self.next_ack::<PLAIN>();
            let send = self.schedule.next();
            if ack.min(send) >= self.bound {
                if self.next_switch > until {
                    self.now = until;
                    return false;
                }
                self.switch(observer);
                self.bound = self.next_switch.min(until);
            } else if ack <= send {
                self.acknowledge::<PLAIN>(lane, ack, observer);
            } else {
                self.send::<PLAIN>(self.schedule.sender(), send, observer);
            }
            if observer.pause() {
                return true;
            }
        }
    }

    #[inline(always)]
    fn next_ack<const PLAIN: bool>(&self) -> (usize, Time) {
        if PLAIN {
            return (0, self.lane.next());
        }
        let times = self.lanes.iter().map(Lane::next).zip(1..);
        times.fold((0, self.lane.next()), |first, (t, lane)| if t < first.1 { (lane, t) } else { first })
    }

    #[inline(always)]
    fn acknowledge<const PLAIN: bool>(&mut self, lane: usize, now: Time, observer: &mut impl Observer<S>) {
        let packet = if PLAIN || lane == 0 { self.lane.pop() } else { self.lanes[lane - 1].pop() };
        let i = usize::from(packet.sender);
        let sender = &mut self.senders[i];
        if !PLAIN && packet.lost {
            sender.lose(packet.seq);
        } else {
            let clock = if PLAIN { 0 } else { self.path.clock };
            sender.acknowledge(packet.seq, packet.sent, now, clock);
            observer.acked(now, i, now - packet.sent, sender);
        }
        if sender.finished() {
            self.now = now;
            self.switch_off(i, observer);
            return;
        }
        let at = sender.ready();
        if at <= now {
            self.send::<PLAIN>(i, now, observer);
        } else if at != sender.planned {
            sender.planned = at;
            self.schedule.set(i, at, 0);
        }
    }

    /// Sends one packet of a sender, and plans its next.
    #[inline(always)]
    fn send<const PLAIN: bool>(&mut self, i: usize, now: Time, observer: &mut impl Observer<S>) {
        let sender = &mut self.senders[i];
        let (lane, delay) = if PLAIN { (0, self.rtt) } else { (usize::from(sender.lane), sender.rtt) };
        let (seq, next, turn) = sender.send(now);
        let mut packet = Packet { received: 0, sent: now, seq, sender: i as u16, lost: false };
        if !PLAIN && self.link.is_full(now) {
            // It leaves a gap where it would have stood, so that a transfer by bytes learns of it.
            packet.lost = true;
            packet.received = self.link.free() + delay;
        } else {
            packet.received = self.link.accept(now) + delay;
        }
        observer.sent(now, i, (!packet.lost).then(|| packet.received - delay));
        let lane = if PLAIN || lane == 0 { &mut self.lane } else { &mut self.lanes[lane - 1] };
        if !PLAIN {
            Self::perturb(&mut self.path, lane.newest(), &mut packet);
            self.lost += u64::from(packet.lost);
        }
        lane.push(packet);
        self.schedule.set(i, next, turn);
    }

    /// Stochastic loss and jitter, after the queue.
    fn perturb(path: &mut Path, newest: Time, packet: &mut Packet) {
        let streams = &mut path.streams[usize::from(packet.sender)];
        if path.loss > 0.0 {
            packet.lost |= streams.loss.uniform() < path.loss;
        }
        if path.jitter > 0.0 {
            packet.received += (streams.jitter.uniform() * path.jitter) as Time;
        }
        // Jitter holds packets back; it does not let them overtake.
        packet.received = packet.received.max(newest);
    }

    /// Plans the next packet of a sender that was switched.
    fn plan(&mut self, i: usize) {
        let sender = &mut self.senders[i];
        sender.planned = sender.ready();
        self.schedule.set(i, sender.planned, 0);
    }

    /// Switches one sender whose time has come.
    #[cold]
    #[inline(never)]
    fn switch(&mut self, observer: &mut impl Observer<S>) {
        self.now = self.next_switch;
        let i = self.traffic.iter().position(|t| t.next == self.next_switch).expect("next_switch is somebody's");
        if self.senders[i].is_on() {
            self.switch_off(i, observer);
            return;
        }
        self.advance_share();
        self.on_count += 1;
        let packets = self.traffic[i].begin_on_period(self.now);
        self.senders[i].start(self.now, packets);
        self.on_time[i].since = self.now;
        self.on_time[i].share_at_start = self.share;
        self.find_next_switch();
        observer.started(self.now, i, &self.senders[i]);
        self.plan(i);
    }

    #[cold]
    #[inline(never)]
    fn switch_off(&mut self, i: usize, observer: &mut impl Observer<S>) {
        self.advance_share();
        self.on_count -= 1;
        self.senders[i].stop();
        self.on_time[i] = self.on_time(i);
        self.traffic[i].end_on_period(self.now);
        self.find_next_switch();
        observer.stopped(self.now, i);
        self.plan(i);
    }

    fn find_next_switch(&mut self) {
        self.next_switch = self.traffic.iter().map(|t| t.next).min().unwrap_or(NEVER);
        self.bound = self.bound.min(self.next_switch);
    }

    fn advance_share(&mut self) {
        self.share = self.share_now();
        self.share_since = self.now;
    }

    fn share_now(&self) -> f64 {
        self.share + to_s(self.now - self.share_since) / self.on_count.max(1) as f64
    }

    /// A sender's times on, up to now.
    fn on_time(&self, i: usize) -> OnTime {
        let mut t = self.on_time[i];
        t.on_s += to_s(self.now - t.since);
        t.share_s += self.share_now() - t.share_at_start;
        t
    }

    /// What each sender got so far.
    pub fn outcome(&self) -> Outcome {
        let flow = |(i, s): (usize, &Sender<S>)| {
            let t = if s.is_on() { self.on_time(i) } else { self.on_time[i] };
            Flow {
                delivered: s.delivered,
                sent: u64::from(s.sent()),
                delay_ns: s.delay,
                on_s: t.on_s,
                share_s: t.share_s,
                min_rtt_ms: self.network.rtt_ms[i],
            }
        };
        let flows = self.senders.iter().enumerate().map(flow).collect();
        let lanes = self.lanes.iter().chain([&self.lane]);
        let in_flight = lanes.map(|l| l.iter().filter(|p| !p.lost).count() as u64).sum();
        Outcome { flows, lost: self.lost, in_flight, rate_mbps: self.network.rate_mbps }
    }

    /// The senders, to look at or to change their schemes.
    pub fn senders_mut(&mut self) -> &mut [Sender<S>] {
        &mut self.senders
    }

    /// Packets in the bottleneck's queue and on its link.
    pub fn backlog(&self) -> u64 {
        self.link.backlog(self.now)
    }

    /// The present instant.
    pub fn now(&self) -> Time {
        self.now
    }
}
