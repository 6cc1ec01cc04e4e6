//! The search for a policy to begin with, or for a law: some anywhere, raced, and from the best of them on by evolution (CMA-ES).
//!
//! What a generation learns is the order of its candidates on networks that no other generation has. The table is that of the
//! distribution's centre, which luck has the least part in.

use exmachina_rules::{FlatTable, Law, RuleTable};
use exmachina_run::worth::Score;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::clearance::clear_table;
use super::evaluator::Stopped;
use super::evolution::Evolution;
use super::laws;
use super::policies::{self, Tables, rate_signal};
use super::race::fresh;
use super::{Bench, Done};
use crate::model::{Form, Model};

/// Policies anywhere; networks that they begin on, and the share of them that goes on, on twice as many.
const ANYWHERE: usize = 96;
const FIRST_NETWORKS: usize = 4;
const GO_ON: usize = 4;
/// How far from the middle of its range a number is at most, there.
const FARTHEST: f64 = 0.45;
/// Candidates of a generation, and the networks that they run on: more candidates get further than more networks, and than several
/// evolutions of which the better go on, but with four networks luck has too much.
const GENERATION: usize = 32;
const NETWORKS: usize = 8;
/// The same where networks are rough, and differ in many ways: before this generation, and from it on, when luck moves the
/// distribution farther than what is left to gain.
const ROUGH_NETWORKS: [usize; 2] = [16, 48];
const LATE_GENERATION: u32 = 100;
/// A sender that starves counts as if it had e to this power less of its share.
const STARVING: f64 = 5.0;
/// Sizes of the distribution: at first, and when it has come to rest.
const FIRST_SIZE: f64 = 0.2;
/// Around a law to begin with.
const START_SIZE: f64 = 0.1;
const LAST_SIZE: f64 = 0.03;
/// Generations at most.
const LAST_GENERATION: u32 = 400;

/// Its state.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PolicySearch {
    /// None before the first step.
    evolution: Option<Evolution>,
}

impl PolicySearch {
    /// Whether it has anything to offer: where all networks are known in advance a table for just these is found sooner.
    pub fn suits(model: &Model) -> bool {
        model.design.form == Form::Law || model.scenario.grid().is_none() && rate_signal(model).is_some()
    }

    /// One step: the beginning, or a generation. Returns whether it was the last, too.
    pub fn step(&mut self, bench: &Bench) -> Result<(Done, bool), Stopped> {
        let family = Family::of(bench.model, bench.table.law.as_ref());
        let (evolution, doing) = match self.evolution.take() {
            None => match &bench.table.law {
                Some(law) => begin_with(law, &family),
                None => begin(bench, &family)?,
            },
            Some(evolution) => evolve(evolution, bench, &family)?,
        };
        // Of a law nothing but its numbers can be searched.
        let may_rest = bench.model.design.form == Form::Table;
        let at_rest = may_rest && (evolution.size < LAST_SIZE || evolution.generation >= LAST_GENERATION);
        let done = Done { table: Some((family.table)(&evolution.mean)), doing };
        self.evolution = Some(evolution);
        Ok((done, at_rest))
    }
}

type TableOf<'a> = dyn Fn(&Vec<f64>) -> RuleTable + Sync + 'a;

/// What places say.
struct Family<'a> {
    /// In words.
    name: &'static str,
    numbers: usize,
    table: Box<TableOf<'a>>,
}

impl Family<'_> {
    /// Of the form that a model asks for, from some law on.
    fn of<'a>(model: &'a Model, begun: Option<&'a Law>) -> Family<'a> {
        let signals = &model.design.signals;
        match model.design.form {
            Form::Law => {
                let table = move |places: &Vec<f64>| RuleTable::of_law(signals, laws::law_at(places, begun));
                Family { name: "laws", numbers: laws::numbers_for(model), table: Box::new(table) }
            }
            Form::Table => {
                let tables = Tables::of(model, rate_signal(model).expect("a model that policies suit"));
                let table = move |places: &Vec<f64>| clear_table(&tables.at(places), model);
                Family { name: "policies", numbers: policies::NUMBERS, table: Box::new(table) }
            }
        }
    }
}

/// A law to begin with.
fn begin_with(law: &Law, family: &Family) -> (Evolution, String) {
    let places = laws::places_of(law)[..family.numbers].to_vec();
    (Evolution::around(places, START_SIZE), format!("{}: around the one to begin with", family.name))
}

/// The best of many policies anywhere, to begin with.
fn begin(bench: &Bench, family: &Family) -> Result<(Evolution, String), Stopped> {
    let stream = &mut bench.stream();
    let mut place = || stream.between(0.5 - FARTHEST, 0.5 + FARTHEST);
    let mut left: Vec<Vec<f64>> = (0..ANYWHERE).map(|_| (0..family.numbers).map(|_| place()).collect()).collect();
    let (mut from, mut networks) = (0, FIRST_NETWORKS);
    let mut worth = 0.0;
    while left.len() > 1 {
        let (order, best) = ranked(bench, &left, &family.table, from, networks)?;
        left = order.iter().take(left.len().div_ceil(GO_ON)).map(|&k| left[k].clone()).collect();
        (from, networks, worth) = (from + networks, 2 * networks, best);
    }
    let evolution = Evolution::around(left.swap_remove(0), FIRST_SIZE);
    Ok((evolution, format!("{}: the best of {ANYWHERE} has {worth:.4}", family.name)))
}

/// A generation.
fn evolve(mut evolution: Evolution, bench: &Bench, family: &Family) -> Result<(Evolution, String), Stopped> {
    let draws = evolution.draw(GENERATION, &mut bench.stream());
    let [early, late] = if bench.model.is_rough() { ROUGH_NETWORKS } else { [NETWORKS; 2] };
    let networks = if evolution.generation < LATE_GENERATION { early } else { late };
    let (order, best) = ranked(bench, &draws.candidates, &family.table, 0, networks)?;
    evolution.learn(&draws, &order);
    let Evolution { generation, size, .. } = evolution;
    Ok((evolution, format!("{}: generation {generation}, size {size:.3}, its best {best:.4}", family.name)))
}

/// What a network is worth on which some senders starve, maybe through no fault of any policy: it is on for a moment, or the room is for a
/// packet. If that came before all else, as between tables (`measure.rs`), luck would rank policies on rough networks.
fn worth(score: &Score) -> f64 {
    score.mean.unwrap_or(0.0) - STARVING * score.starved_share()
}

/// Numbers of policies from better to worse, on so many networks of this step; and what the best is worth there.
fn ranked(
    bench: &Bench,
    policies: &[Vec<f64>],
    table: &TableOf,
    from: usize,
    networks: usize,
) -> Result<(Vec<usize>, f64), Stopped> {
    let group = bench.model.group();
    let set = fresh(bench.model, bench.root, from * group, networks.next_multiple_of(group));
    let flat = |places: &Vec<f64>| FlatTable::new(&table(places)).expect("policies make usable tables");
    let flats = || policies.par_iter().map(flat).collect::<Vec<FlatTable>>();
    let flats = bench.evaluator.meter.batch(policies.len(), flats);
    let scores = bench.evaluator.scores(&flats, &set, bench.model.design.duration_s, |_, _| None)?;
    let totals: Vec<f64> = scores.iter().map(|scores| scores.iter().map(worth).sum()).collect();
    let mut order: Vec<usize> = (0..totals.len()).collect();
    order.sort_by(|&a, &b| totals[b].total_cmp(&totals[a]));
    let best = totals[order[0]] / set.specimens.len() as f64;
    Ok((order, best))
}
