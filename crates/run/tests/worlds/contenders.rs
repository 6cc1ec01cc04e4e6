//! Every scheme and every queue, with names.

use std::sync::OnceLock;

use exmachina_hosts::scheme::{
    Ack, Aimd, AnyScheme, Bbr1, Bbr3, Compound, CompoundSettings, Congestion, ConstantRate, ConstantWindow, Copa,
    Cubic, CubicSettings, Dctcp, Ledbat, LinuxCubic, LinuxCubicSettings, LinuxReno, LinuxVegas, NewReno, NewRenoNs2,
    NewRenoSettings, Remy, Scheme, SlowStartEnd, Vegas, VegasNs2, VegasSettings, Xcp,
};
use exmachina_hosts::transport::Settings;
use exmachina_net::queue::{
    CoDelSettings, CobaltSettings, FqCoDelSettings, PieSettings, QueueKind, RedSettings, SfqCoDelSettings,
    StepSettings, XcpSettings,
};
use exmachina_net::random::{Purpose, Stream};
use exmachina_net::time::{Duration, Instant};
use exmachina_rules::{Action, FlatTable, Point, RuleTable, SIGNALS, Signal, first_signals};

/// Small tables with rules that differ, none of which stops for good: one that looks at all signals (found by planes), one at
/// the usual four (found by the grid, with bounds enough for several groups), and one that is never the same for long.
pub fn tables() -> &'static [&'static FlatTable] {
    static TABLES: OnceLock<Vec<&'static FlatTable>> = OnceLock::new();
    TABLES.get_or_init(|| {
        let table = |signals: &[Signal], intersend_ms, splits: &[Point]| {
            let action = Action { multiple: 0.8, increment: 6, intersend_ms };
            let mut table = RuleTable::single(signals, action);
            splits.iter().for_each(|at| _ = table.split(table.len() - 1, at, &signals[1..]));
            for rule in 0..table.len() {
                let increment = 2 + (rule as i32 * 5) % 11;
                table.set_action(rule, Action { increment, multiple: 0.9 - 0.1 * (rule % 4) as f64, intersend_ms });
            }
            &*Box::leak(Box::new(FlatTable::new(&table).expect("a sound table")))
        };
        let ladder: Vec<Point> = (0..7).map(|i| [1.0 + 3.0 * f64::from(i); SIGNALS]).collect();
        vec![
            table(&Signal::ALL, 0.5, &[first_signals(&[1.0, 1.0, 1.2, 1.0, 10.0, 10.0])]),
            table(&Signal::ALL[..4], 0.5, &ladder),
            table(&Signal::ALL[..4], 0.0, &[first_signals(&[1.0, 1.0, 1.000_001, 1.0])]),
        ]
    })
}

/// Every scheme.
pub fn schemes(transport: &Settings) -> Vec<(&'static str, AnyScheme<'static>)> {
    let initial = transport.initial_window;
    let luck = || Stream::new(1, 0, 0, Purpose::Candidates);
    vec![
        ("remy", AnyScheme::Remy(Remy::new(tables()[0]))),
        ("aimd", AnyScheme::Aimd(Aimd::default())),
        ("newreno-ns2", AnyScheme::NewRenoNs2(NewRenoNs2::new(initial, false))),
        (
            "newreno",
            AnyScheme::NewReno(NewReno::new(NewRenoSettings {
                restart_after: Duration::SECOND,
                ..NewRenoSettings::new(initial)
            })),
        ),
        ("reno-linux", AnyScheme::LinuxReno(LinuxReno::new(initial, false))),
        ("cubic", AnyScheme::Cubic(Cubic::new(CubicSettings::default()))),
        (
            "cubic-linux-6",
            AnyScheme::Cubic(Cubic::new(CubicSettings {
                slow_start_end: SlowStartEnd::Hystart,
                least_growth: 0.05,
                ..CubicSettings::default()
            })),
        ),
        ("cubic-linux", AnyScheme::LinuxCubic(LinuxCubic::new(LinuxCubicSettings::linux_2_6()))),
        ("cubic-linux-2.6.22", AnyScheme::LinuxCubic(LinuxCubic::new(LinuxCubicSettings::linux_2_6_22()))),
        ("compound", AnyScheme::Compound(Compound::new(CompoundSettings::linux_2_6_22()))),
        ("compound-paper", AnyScheme::Compound(Compound::new(CompoundSettings::paper()))),
        ("vegas", AnyScheme::Vegas(Vegas::new(VegasSettings::linux()))),
        ("vegas-2.6.22", AnyScheme::LinuxVegas(LinuxVegas::new(initial))),
        ("vegas-ns2", AnyScheme::VegasNs2(VegasNs2::default())),
        ("dctcp", AnyScheme::Dctcp(Dctcp::new(initial))),
        ("xcp", AnyScheme::Xcp(Xcp::new(initial))),
        ("bbr1", AnyScheme::Bbr1(Bbr1::new(initial, transport.packet_bytes, luck()))),
        ("bbr3", AnyScheme::Bbr3(Bbr3::new(initial, luck()))),
        ("copa", AnyScheme::Copa(Copa::new(initial))),
        ("ledbat", AnyScheme::Ledbat(Ledbat::default())),
        ("window", AnyScheme::ConstantWindow(ConstantWindow { packets: 20 })),
        ("rate", AnyScheme::ConstantRate(ConstantRate::mbps(2.5, 1250))),
    ]
}

/// Every queue discipline, with and without ECN where it has a choice.
pub fn queues() -> Vec<(&'static str, QueueKind)> {
    let ecn = CoDelSettings { ecn: true, ..CoDelSettings::default() };
    vec![
        ("droptail", QueueKind::DropTail),
        ("step", QueueKind::Step(StepSettings { threshold: 20 })),
        ("red", QueueKind::Red(RedSettings::default())),
        ("red-ecn", QueueKind::Red(RedSettings { ecn: true, gentle: false, wait: false, ..RedSettings::default() })),
        ("codel", QueueKind::CoDel(CoDelSettings::default())),
        ("codel-ecn", QueueKind::CoDel(ecn)),
        ("cobalt", QueueKind::Cobalt(CobaltSettings { codel: ecn })),
        ("sfqcodel", QueueKind::SfqCoDel(SfqCoDelSettings::default())),
        ("fqcodel", QueueKind::FqCoDel(FqCoDelSettings::default())),
        ("fqcodel-4", QueueKind::FqCoDel(FqCoDelSettings { queues: 4, codel: ecn, ..FqCoDelSettings::default() })),
        ("pie", QueueKind::Pie(PieSettings::default())),
        ("pie-ecn", QueueKind::Pie(PieSettings { ecn: true, ..PieSettings::default() })),
        ("xcp", QueueKind::Xcp(XcpSettings::default())),
    ]
}

/// A scheme of somebody's own that does as it pleases, in the wildest numbers.
#[derive(Clone)]
pub struct Erratic {
    stream: Stream,
    window: u32,
    intersend: Duration,
}

impl Erratic {
    pub fn new(seed: u64) -> Erratic {
        Erratic { stream: Stream::new(seed, 0, 0, Purpose::Candidates), window: 1, intersend: Duration::ZERO }
    }

    fn draw(&mut self) {
        let windows = [0, 1, 2, 100, 1 << 20, u32::MAX - 1, u32::MAX];
        let paces = [0, 1, 1000, 1_000_000, 10_000_000_000, u64::MAX / 2, u64::MAX - 1, u64::MAX];
        self.window = windows[self.stream.below(windows.len() as u64) as usize];
        self.intersend = Duration::from_nanos(paces[self.stream.below(paces.len() as u64) as usize]);
    }
}

impl Scheme for Erratic {
    fn start(&mut self, _now: Instant) {
        self.draw();
    }

    fn resume(&mut self, _now: Instant, _idle: Duration) {
        self.draw();
    }

    fn on_ack(&mut self, _ack: &Ack) {
        self.draw();
    }

    fn on_loss(&mut self, _loss: &Congestion) {
        self.draw();
    }

    fn on_ecn(&mut self, _mark: &Congestion) {
        self.draw();
    }

    fn on_rto(&mut self, _timeout: &Congestion) {
        self.draw();
    }

    fn window(&self) -> u32 {
        self.window
    }

    fn intersend(&self) -> Duration {
        self.intersend
    }
}
