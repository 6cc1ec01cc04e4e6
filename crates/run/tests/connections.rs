//! Tests of whole connections on a clean network.

use exmachina_hosts::library::Library;
use exmachina_hosts::scheme::{Ack, Scheme};
use exmachina_hosts::transport::{Connection, Modular, Settings};
use exmachina_net::endpoint::{Endpoint, Totals};
use exmachina_net::observe::Unwatched;
use exmachina_net::packet::Packet;
use exmachina_net::time::{Duration, Instant};
use exmachina_scenario::Evaluation;

/// What one sender did in 100 s with this traffic and transport: 15 Mbit/s, 150 ms, a window of 20 packets that no queue ever
/// forms for.
fn totals(on: &str, settings: &str) -> Totals {
    let text = format!(
        "schemes = ['window:20']\n[link]\nrate_mbps = 15\n[path]\nrtt_ms = 150\n[senders]\ncount = 1\n[workload]\n\
         on = {on}\noff = {{ seconds = 0.2 }}\n[transport]\n{settings}\n"
    );
    let evaluation = Evaluation::parse(&text, "x.toml").unwrap_or_else(|error| panic!("{error}"));
    let library = Library::default();
    let mut engine = evaluation.world(0, 0, &library).unwrap().world.engine(evaluation.run_seed(0));
    engine.run(Instant::from_s(100.0), &mut Unwatched);
    engine.senders()[0].totals()
}

/// The same of short transfers.
fn transfers(settings: &str) -> Totals {
    totals("{ bytes = 100_000 }", settings)
}

/// A whole window is on its way when the only on-period ends, and arrives.
#[test]
fn what_arrives_after_switch_off_is_late_in_every_transport() {
    let stacks = ["go-back-n", "newreno", "tcp-linux", "reno", "proportional", "rack"];
    for recovery in stacks.iter().chain(&["rational-tao14", "rational-remy13"]) {
        for preset in ["remy13", "tao14", "today"] {
            let settings = format!("preset = '{preset}'\nrecovery = '{recovery}'");
            let found = totals("{ at = [{ start_s = 0, seconds = 1 }] }", &settings);
            assert!(found.late == 20 && found.late_delay >= 20 * Duration::from_ms(150.0), "{settings}: {found:?}");
            assert_eq!(found.delivered, found.in_order, "{settings}");
        }
    }
}

#[test]
fn a_syn_goes_ahead_of_the_data_and_holds_none() {
    let [none, beside, ahead] =
        ["data", "syn-and-data", "syn"].map(|o| transfers(&format!("preset = 'tao14'\nopening = '{o}'")));
    assert_eq!((none.delivered, none.in_order, none.sent), (beside.delivered, beside.in_order, beside.sent - 1));
    // With a connection for each transfer, each begins an RTT later: there is time for fewer.
    let fresh = |o: &str| transfers(&format!("preset = 'tao14'\nopening = '{o}'\nconnections = 'fresh'"));
    let (at_once, later) = (fresh("data"), fresh("syn"));
    assert!(ahead.delivered <= none.delivered && later.delivered < 9 * at_once.delivered / 10, "{later:?} {at_once:?}");
    assert_eq!((later.delivered, later.retransmitted), (later.in_order, 0));
    assert!(later.sent > later.delivered + 50);
}

#[test]
fn nothing_times_out_where_nothing_is_late_rfc_6298_5() {
    // ns-2's timer runs on through the pauses, 200 ms from the last ACK: a transfer that begins shortly before it
    // would expire has as long as any other.
    for settings in
        ["preset = 'remy13'", "preset = 'tao14'", "preset = 'today'", "preset = 'tao14'\nrtt_samples = 'timed'"]
    {
        let totals = transfers(settings);
        assert!(totals.delivered > 1000, "{settings}: {totals:?}");
        assert_eq!((totals.timeouts, totals.retransmitted), (0, 0), "{settings}");
    }
}

/// Remembers the RTT and the smallest RTT that the last ACK told.
#[derive(Clone, Default)]
struct Listener(Duration, Duration);

impl Scheme for Listener {
    fn start(&mut self, _now: Instant) {}

    fn on_ack(&mut self, ack: &Ack) {
        (self.0, self.1) = (ack.rtt, ack.min_rtt);
    }

    fn window(&self) -> u32 {
        10
    }

    fn intersend(&self) -> Duration {
        Duration::ZERO
    }
}

#[test]
fn the_wait_of_a_delayed_ack_is_the_timers_and_not_the_schemes() {
    // draft-ietf-ccwg-bbr-06 §5.5.7.1: the RTT of the packet sent last; RFC 7323 §4.3: for the timer, of the first.
    let transport = Settings { quick_acks: 0, ..Settings::today() };
    let mut sender = Connection::new(Listener::default(), 0, transport, Modular::TODAY);
    sender.start(Instant::START, 2);
    let mut sent: Vec<Packet> = Vec::new();
    for now in [0, 5].map(Instant::from_millis) {
        sent.extend(sender.act(now).0);
    }
    assert_eq!(sent.len(), 2);
    for (packet, at) in sent.iter().zip([40.0, 45.0]) {
        sender.receive(packet, Instant::from_ms(at), Duration::ZERO);
    }
    assert_eq!(
        (sender.scheme.0, sender.scheme.1, sender.srtt()),
        (Duration::from_ms(40.0), Duration::from_ms(40.0), Duration::from_ms(45.0))
    );
}
