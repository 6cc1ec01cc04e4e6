//! `make fuzz`: short runs of random worlds, from tame to absurd, of evaluations and of designs. Nothing may panic, stand still,
//! fall silent, storm, or lose count, and what is sent gets into order where nothing is in its way.
//!
//! `FUZZ_WORLDS` is how many (100,000 by default), `FUZZ_THREADS` on how many threads (2), `FUZZ_FROM` the first. When one
//! fails its seed is printed, and `FUZZ_SEED` runs that one world again and prints it.

mod worlds;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};

use exmachina_net::endpoint::Endpoint;
use exmachina_net::random::Seed;
use exmachina_net::time::Instant;
use worlds::Checker;

/// Events of a run at most, so that fast links do not take all the time.
const EVENTS: u64 = 30_000;

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().and_then(|text| text.parse().ok())
}

/// Every third world is the design simulator's, and of the others every tenth a lone sender's.
enum Kind {
    Design,
    Lone,
    Wild,
}

fn kind(seed: u64) -> Kind {
    match (seed % 3, seed % 10) {
        (0, _) => Kind::Design,
        (_, 0) => Kind::Lone,
        _ => Kind::Wild,
    }
}

/// Runs one world and checks it: events, packets sent, and whether it got to its end.
fn run(seed: u64) -> (u64, u64, bool) {
    let ((world, seconds), budget) = match kind(seed) {
        Kind::Design => return worlds::design::run(seed, EVENTS),
        // Long enough for what goes wrong slowly.
        Kind::Lone => (worlds::lone_world(seed), 10 * EVENTS),
        Kind::Wild => (worlds::wild_world(seed), EVENTS),
    };
    let mut engine = world.engine(Seed { root: seed, specimen: 0 });
    let mut checker = Checker::new(&world, budget);
    let paused = engine.run(Instant::from_s(seconds), &mut checker);
    let events = checker.verdict(&engine);
    let outcome = engine.outcome();
    (events, outcome.flows.iter().map(|f| f.sent).sum(), !paused)
}

/// Prints a world.
fn show(seed: u64) {
    match kind(seed) {
        Kind::Design => println!("{:#?}", worlds::design::world(seed)),
        Kind::Lone => println!("{:#?}", worlds::lone_world(seed)),
        Kind::Wild => println!("{:#?}", worlds::wild_world(seed)),
    }
}

#[test]
#[ignore = "minutes; make fuzz"]
fn random_worlds() {
    if let Some(seed) = number("FUZZ_SEED") {
        show(seed);
        println!("{:?}", run(seed));
        return;
    }
    let (from, count) = (number("FUZZ_FROM").unwrap_or(0), number("FUZZ_WORLDS").unwrap_or(100_000));
    let [next, events, packets, whole, failed] = std::array::from_fn(|_| AtomicU64::new(0));
    let work = || {
        loop {
            let seed = from + next.fetch_add(1, Ordering::Relaxed);
            if seed >= from + count || failed.load(Ordering::Relaxed) >= 20 {
                return;
            }
            match catch_unwind(AssertUnwindSafe(|| run(seed))) {
                Ok((e, p, w)) => {
                    events.fetch_add(e, Ordering::Relaxed);
                    packets.fetch_add(p, Ordering::Relaxed);
                    whole.fetch_add(u64::from(w), Ordering::Relaxed);
                }
                Err(_) => {
                    failed.fetch_add(1, Ordering::Relaxed);
                    println!("failed: FUZZ_SEED={seed}");
                }
            }
        }
    };
    std::thread::scope(|scope| (0..number("FUZZ_THREADS").unwrap_or(2)).for_each(|_| drop(scope.spawn(work))));
    let [events, packets, whole, failed] = [events, packets, whole, failed].map(AtomicU64::into_inner);
    println!("{count} worlds, {whole} to their end: {events} events, {packets} packets sent, {failed} failed");
    assert_eq!(failed, 0);
}

/// A few, for every test run; in the first, ns-2's Cubic drowns its own repairs.
#[test]
fn some_random_worlds() {
    std::iter::once(104_330).chain(1_000_000_000..1_000_000_300).for_each(|seed| _ = run(seed));
}

/// Every scheme that answers to losses, on a recording of constant rate and room for few packets or many: Cubic under today's
/// preset once never left recovery there, and a sixtieth of what it delivered was in order.
#[test]
fn what_is_sent_gets_into_order_on_a_steady_recording() {
    for room in [20, 100, 500] {
        for (name, world) in worlds::steady(room) {
            let mut engine = world.engine(Seed { root: 1, specimen: 0 });
            let mut checker = Checker::new(&world, u64::MAX);
            engine.run(Instant::from_s(30.0), &mut checker);
            checker.verdict(&engine);
            let totals = engine.senders()[0].totals();
            let share = totals.in_order as f64 / totals.delivered as f64;
            assert!(share > 0.9 && totals.delivered > 5000, "{name}, {room} packets: {totals:?}");
        }
    }
}
