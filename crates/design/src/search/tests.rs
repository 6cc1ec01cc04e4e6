//! Whole searches on a small model: they repeat, resume, stop without a trace, and find what there is to find.

use std::sync::atomic::AtomicBool;

use super::*;
use crate::model::LONGER;

const SMALL: &str = r#"
[link]
rate_mbps = 8
[path]
rtt_ms = 60
[senders]
count = { list = [1, 2] }
[workload]
on = { seconds = 1 }
off = { seconds = 1 }
[design]
duration_s = 6
increment = { max = 64, largest = 4 }
multiple = { largest = 0.04 }
intersend_ms = { largest = 0.2 }
"#;

fn designer(search: Search, seed: u64) -> Designer {
    let model = Model::parse(SMALL, "small.toml").unwrap();
    Designer::new(model, Settings { search, seed: Some(seed), ..Settings::default() })
}

fn run(designer: &mut Designer, steps: u32) {
    let (go_on, meter) = (AtomicBool::new(false), Meter::default());
    (0..steps).for_each(|_| designer.step(&go_on, &meter, None).unwrap());
}

/// Everything but the CPU time.
fn state(designer: &Designer) -> String {
    let mut designer = designer.clone();
    designer.cpu_s = 0.0;
    designer.history.iter_mut().for_each(|h| h.cpu_s = 0.0);
    designer.checkpoint()
}

/// What it would hand over now.
fn answer(designer: &Designer) -> f64 {
    designer.answer(&AtomicBool::new(false)).1.unwrap().score.unwrap()
}

/// The score at a point of the time-to-score curve.
fn score(designer: &Designer, point: usize) -> f64 {
    designer.history()[point].measure.score.unwrap()
}

#[test]
fn a_search_repeats_at_any_number_of_threads_and_after_any_interruption() {
    for search in [Search::Default, Search::Paper] {
        let mut whole = designer(search, 1);
        run(&mut whole, 24);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(5).build().unwrap();
        let mut parts = designer(search, 1);
        pool.install(|| {
            for _ in 0..8 {
                run(&mut parts, 3);
                parts = Designer::resume(&parts.checkpoint()).unwrap();
            }
        });
        assert_eq!(state(&whole), state(&parts));
        assert_eq!(whole.table().to_dna(), parts.table().to_dna());
        assert_ne!(
            state(&whole),
            state(&{
                let mut other = designer(search, 2);
                run(&mut other, 24);
                other
            })
        );
    }
}

#[test]
fn a_stopped_step_leaves_no_trace() {
    let mut designer = designer(Search::Default, 1);
    run(&mut designer, 3);
    let before = designer.checkpoint();
    assert_eq!(designer.step(&AtomicBool::new(true), &Meter::default(), None), Err(Stopped));
    assert_eq!(designer.checkpoint(), before);
}

#[test]
fn every_run_is_timed_where_that_is_asked_for_and_the_search_is_the_same() {
    let (mut plain, mut timed) = (designer(Search::Default, 1), designer(Search::Default, 1));
    run(&mut plain, 6);
    let meter = Meter { times: Some(Times::default()), ..Meter::default() };
    let (mut runs, mut batches) = (0, 0);
    for _ in 0..6 {
        timed.step(&AtomicBool::new(false), &meter, None).unwrap();
        let taken = meter.times.as_ref().unwrap().take();
        batches += taken.len();
        runs += taken.iter().map(Vec::len).sum::<usize>();
        assert!(taken.iter().flatten().all(|&seconds| seconds > 0.0));
    }
    assert_eq!(state(&plain), state(&timed));
    assert_eq!(runs as u64, meter.runs.load(Ordering::Relaxed));
    assert!(batches > 6, "a race has several: {batches}");
}

#[test]
fn both_searches_improve_on_the_first_rule() {
    for (search, steps) in [(Search::Default, 40), (Search::Paper, 12)] {
        let mut designer = designer(search, 1);
        let first = answer(&designer);
        run(&mut designer, steps);
        let last = answer(&designer);
        assert!(last > first + 0.3, "{search:?}: {first} to {last}");
    }
}

/// Remy'13 §4.3: all rules reach the end of four epochs before the most used one is split, into 2^signals.
#[test]
fn the_paper_splits_every_fourth_epoch() {
    let mut designer = designer(Search::Paper, 1);
    let mut epochs = Vec::new();
    while designer.parts[0].table.len() == 1 {
        run(&mut designer, 1);
        let Method::Paper(paper) = &designer.parts[0].method else { unreachable!() };
        let state = serde_json::to_value(paper).unwrap();
        epochs.push(state["epoch"].as_u64().unwrap());
    }
    epochs.dedup();
    assert_eq!(epochs, [0, 1, 2, 3, 4]);
    assert_eq!(designer.parts[0].table.len(), 16);
}

/// A table that has grown is not begun again: its first step is one of a confirmed race.
#[test]
fn a_grown_table_is_worked_on_as_it_is() {
    let mut grown = designer(Search::Default, 1).table();
    while grown.len() < 12 {
        let at = [0.5 * grown.len() as f64; exmachina_rules::SIGNALS];
        grown.split(grown.len() - 1, &at, &[exmachina_rules::Signal::AckEwma]);
    }
    let model =
        Model::parse(&SMALL.replace("rate_mbps = 8", "rate_mbps = { uniform = [7, 9] }"), "small.toml").unwrap();
    let mut search = Designer::with_start(model, Settings::default(), &[grown.clone()]).unwrap();
    let level = |search: &Designer| {
        let Method::Default(ours) = &search.parts[0].method else { unreachable!() };
        let state = serde_json::to_value(ours).unwrap();
        assert!(state["policy"].is_null(), "no policy takes its place");
        state["level"].as_u64().unwrap()
    };
    assert_eq!(level(&search), 1);
    run(&mut search, 3);
    assert_eq!(level(&search), 1);
    assert!(search.table().len() >= 12);
}

/// Policies take the place of the program's own first rule, not of one that somebody gave.
#[test]
fn a_rule_to_begin_with_is_begun_with() {
    let model = || Model::parse(TWO_LINKS, "x.toml").unwrap();
    let without = Settings { tuning: Tuning { policies: false, ..Tuning::default() }, ..Settings::default() };
    let ours = search_on(TWO_LINKS, Search::Default);
    let given = Designer::with_start(model(), Settings::default(), &[ours.parts[0].table.clone()]).unwrap();
    for (mut search, begins) in [(ours, true), (given, false), (Designer::new(model(), without), false)] {
        run(&mut search, 1);
        let doing = search.progress().doing;
        assert_eq!(doing.starts_with("policies: "), begins, "{doing}");
    }
}

#[test]
fn a_damaged_checkpoint_is_an_error() {
    let text = designer(Search::Default, 1).checkpoint();
    let message = |text: &str| Designer::resume(text).unwrap_err().to_string();
    assert!(message("{}").starts_with("not a checkpoint of this program: missing field"));
    assert!(message(&text[..text.len() / 2]).starts_with("not a checkpoint of this program"));
    let other = text.replacen(env!("CARGO_PKG_VERSION"), "0.0.0", 1);
    assert!(message(&other).contains("was written by version 0.0.0"));
    let table = text.replacen("\"table\":\"0a", "\"table\":\"0g", 1);
    assert!(message(&table).contains("no hexadecimal text"));
    assert!(message(&text.replacen("\"step\":0", "\"step\":7", 1)).starts_with("damaged: "));
    assert!(message(text.lines().next().unwrap()).starts_with("damaged: "));
}

#[test]
fn held_out_specimens_are_nobodys() {
    for step in 0..1000 {
        assert_eq!(root(1, step) % 2, 0);
    }
}

const TWO_KINDS: &str = r#"
[link]
rate_mbps = 8
[path]
rtt_ms = 60
[[senders]]
name = "fast"
count = { list = [0, 1] }
objective = { delta = 0.1 }
[[senders]]
name = "calm"
count = { list = [0, 1] }
objective = { delta = 10 }
[workload]
on = { seconds = 1 }
off = { seconds = 1 }
[design]
duration_s = 6
"#;

const WITH_AIMD: &str = r#"
[link]
rate_mbps = { uniform = [7, 9] }
buffer = { bdp = 2 }
[path]
rtt_ms = 60
[senders]
count = 2
aimd = { list = [0, 1] }
[workload]
on = { seconds = 1 }
off = { seconds = 1 }
[design]
duration_s = 6
"#;

const TWO_LINKS: &str = r#"
[[links]]
name = "A"
rate_mbps = { log_uniform = [5, 10] }
delay_ms = 20
[[links]]
name = "B"
rate_mbps = { log_uniform = [5, 10] }
delay_ms = 20
[[senders]]
count = 1
[[senders]]
count = 1
links = ["A"]
[[senders]]
count = 1
links = ["B"]
[workload]
on = { seconds = 1 }
off = { seconds = 1 }
[design]
duration_s = 6
"#;

fn search_on(text: &str, search: Search) -> Designer {
    Designer::new(Model::parse(text, "x.toml").unwrap(), Settings { search, ..Settings::default() })
}

/// A search on a model, whole, and in parts on five threads.
fn whole_and_in_parts(text: &str, search: Search, steps: u32) -> Designer {
    let mut whole = search_on(text, search);
    run(&mut whole, steps);
    let mut parts = search_on(text, search);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(5).build().unwrap();
    pool.install(|| {
        for _ in 0..steps / 3 {
            run(&mut parts, 3);
            parts = Designer::resume(&parts.checkpoint()).unwrap();
        }
    });
    run(&mut parts, steps % 3);
    assert_eq!(state(&whole), state(&parts));
    whole
}

#[test]
fn two_tables_designed_together_both_change() {
    let search = whole_and_in_parts(TWO_KINDS, Search::Default, 42);
    let tables = search.answer(&AtomicBool::new(false)).0;
    assert_eq!(tables.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), ["fast", "calm"]);
    let actions = |table: &RuleTable| table.rules().into_iter().map(|(_, action)| action).collect::<Vec<_>>();
    let start = actions(&search_on(TWO_KINDS, Search::Default).parts[0].table);
    let [fast, calm] = [0, 1].map(|class| actions(&tables[class].1));
    assert!(fast != start && calm != start && fast != calm);
    let (first, last) = (score(&search, 0), answer(&search));
    assert!(last > first + 0.3, "{first} to {last}");
    assert_eq!(search.progress().rules, fast.len() + calm.len());
    // Each file says which of the tables it is.
    let says = |class: usize| tables[class].1.provenance.as_ref().unwrap().search.clone();
    assert!(says(0).contains(r#""table":"fast""#) && says(1).contains(r#""table":"calm""#));
    assert!(whole_and_in_parts(TWO_KINDS, Search::Paper, 6).progress().doing.starts_with("calm: "));
}

#[test]
fn tables_to_start_from_are_one_or_as_many_as_names() {
    let model = || Model::parse(TWO_KINDS, "x.toml").unwrap();
    let table = |increment| {
        let action = exmachina_rules::Action { multiple: 1.0, increment, intersend_ms: 3.0 };
        RuleTable::single(&model().design.signals, action)
    };
    let begin = |tables: &[RuleTable]| Designer::with_start(model(), Settings::default(), tables);
    let starts = |tables: &[RuleTable]| begin(tables).unwrap().parts.into_iter().map(|p| p.table).collect::<Vec<_>>();
    assert_eq!(starts(&[table(1)]), [table(1), table(1)]);
    assert_eq!(starts(&[table(1), table(2)]), [table(1), table(2)]);
    let message = begin(&[table(1), table(2), table(3)]).unwrap_err().to_string();
    assert_eq!(message, "expected one table to start from, or one for each name of senders (2); got 3");
}

/// Beside the AIMD sender of some of the networks there may be one of each kind that people run.
const NEIGHBOURS: &str =
    "[design.world]\ncubic = { list = [0, 1] }\nnewreno = { list = [0, 1] }\nbbr = { list = [0, 1] }\n";

#[test]
fn designs_among_others_and_on_two_links_repeat_and_improve() {
    // Among as many others there is less to gain.
    let among = format!("{WITH_AIMD}{NEIGHBOURS}");
    for (text, gain) in [(WITH_AIMD, 0.3), (TWO_LINKS, 0.3), (&among, 0.05)] {
        let search = whole_and_in_parts(text, Search::Default, 12);
        let history = search.history();
        let start = search.measure(&[&search_on(text, Search::Default).parts[0].table], &AtomicBool::new(false));
        let start = start.unwrap().score.unwrap();
        assert!(answer(&search) > start + gain, "from {start}: {history:?}");
        assert_eq!(search.answer(&AtomicBool::new(false)).0[0].0, "");
    }
}

/// What a design says of its table is what scoring says of it on the same networks: those of the model itself.
#[test]
fn the_score_of_a_design_is_that_of_its_table() {
    use exmachina_run::scoring::{Scorable, mean, scores};

    let also = "[[also]]\nworkload = { on = { bytes = 100_000 }, off = { seconds = 0.5 } }\nobjective = { delta = 14 }\n\
                weight = 0.3\n";
    for text in [WITH_AIMD, &format!("{WITH_AIMD}{also}")] {
        let model = Model::parse(text, "x.toml").unwrap();
        let mut set = model.specimens(root(1, 0), evaluator::VALIDATION.next_multiple_of(model.group()));
        set.specimens.retain(|specimen| model.is_own(specimen));
        assert_eq!(set.specimens.len(), evaluator::VALIDATION / model.group());
        let score_of = |table: &RuleTable| {
            let contender = Scorable::Table(Box::new(FlatTable::new(table).unwrap()));
            mean(&scores(&contender, &set, &model.objective, LONGER * model.design.duration_s))
        };
        let mut search = Designer::new(model.clone(), Settings { seed: Some(1), ..Settings::default() });
        for _ in 0..6 {
            run(&mut search, 1);
            let (tables, measure) = search.answer(&AtomicBool::new(false));
            let measure = measure.unwrap();
            let [(_, table)] = &tables[..] else { panic!("one table") };
            assert!(measure.score.is_some() && measure.score == score_of(table), "of the table that is handed over");
            assert_eq!(table.provenance.as_ref().map(|made| made.score), measure.score, "the file says it, too");
        }
    }
}

fn for_a_law() -> Designer {
    let text = SMALL.replace("[design]", "[design]\nform = \"law\"");
    Designer::new(Model::parse(&text, "small.toml").unwrap(), Settings::default())
}

#[test]
fn a_search_for_a_law_repeats_and_gets_better() {
    let (mut one, mut other) = (for_a_law(), for_a_law());
    run(&mut one, 12);
    run(&mut other, 5);
    let mut other = Designer::resume(&other.checkpoint()).unwrap();
    run(&mut other, 7);
    assert_eq!(state(&one), state(&other));
    assert!(one.table().law.is_some() && one.table().len() == 1);
    assert!(answer(&one) > answer(&designer(Search::Paper, 1)), "{}", answer(&one));
}

#[test]
fn laws_begin_with_laws_and_tables_with_tables() {
    let mut found = for_a_law();
    run(&mut found, 12);
    let from = |model: Model, table| Designer::with_start(model, Settings::default(), &[table]);
    let mut further = from(found.model.clone(), found.table()).unwrap();
    run(&mut further, 1);
    // Its numbers are shares of 2^16, and some are shares of others.
    let (law, again) = (found.table().law.unwrap(), further.table().law.unwrap());
    assert!(again.pace.iter().zip(law.pace).all(|(a, b)| a.abs_diff(b) <= 1), "{law:?} {again:?}");
    let table = designer(Search::Default, 1);
    let errors = [from(found.model.clone(), table.table()), from(table.model.clone(), found.table())]
        .map(|one| one.unwrap_err());
    assert_eq!(
        errors.map(|error| error.to_string()),
        [
            "to start from, expected a law: the model says form = \"law\"",
            "to start from, expected a table that is no law: the model says form = \"table\"",
        ]
    );
}
