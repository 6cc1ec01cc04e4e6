//! Changes to an action that a search tries.

use exmachina_net::random::Stream;
use exmachina_rules::Action;

use crate::model::{DesignTable, StepRange};

/// Keeps an action within what the model allows, in round numbers that a person can read, and such that it mutes nobody.
pub fn legal(action: Action, design: &DesignTable) -> Action {
    let clamp = |x: f64, r: &StepRange| x.clamp(r.min, r.max);
    let action = Action {
        multiple: round_to(clamp(action.multiple, &design.multiple), 4),
        increment: clamp(f64::from(action.increment), &design.increment) as i32,
        intersend_ms: round_to(clamp(action.intersend_ms, &design.intersend_ms), 4),
    };
    speaking(action, design)
}

/// The action, with an increment that leaves a window of one packet at least that (where the model allows it). A flow
/// whose window is taken to 0 sends nothing, hears nothing, and so is mute until it ends: in short flows nearly for free, in long
/// ones for ever. One packet always comes back.
pub fn speaking(action: Action, design: &DesignTable) -> Action {
    let least = libm::ceil(1.0 - action.multiple).min(design.increment.max) as i32;
    Action { increment: action.increment.max(least), ..action }
}

/// Rounds to this many significant decimal digits.
fn round_to(x: f64, digits: i32) -> f64 {
    if x == 0.0 {
        return 0.0;
    }
    let scale = libm::pow(10.0, f64::from(digits - 1) - libm::floor(libm::log10(x.abs())));
    // Dividing by a power of ten rounds once; multiplying by its inverse would round twice.
    if scale >= 1.0 { (x * scale).round() / scale } else { (x * scale).round() * (1.0 / scale) }
}

/// The action of the first rule.
pub fn first_action(design: &DesignTable) -> Action {
    let action = Action {
        multiple: design.multiple.start,
        increment: design.increment.start as i32,
        intersend_ms: design.intersend_ms.start,
    };
    legal(action, design)
}

/// `value` and `value ± smallest * mult^k`, as far as the range allows.
fn ladder(value: f64, range: &StepRange) -> Vec<f64> {
    let mut values = vec![value];
    let mut step = range.smallest;
    while step <= range.largest {
        values.extend([value + step, value - step]);
        step *= range.mult;
    }
    values.retain(|v| (range.min..=range.max).contains(v));
    values
}

/// The Cartesian product of the alternatives for m, b and r, less the action itself (Remy'13 §4.3 step 3).
pub fn product(action: Action, design: &DesignTable) -> Vec<Action> {
    let mut out = Vec::new();
    for &multiple in &ladder(action.multiple, &design.multiple) {
        for &b in &ladder(f64::from(action.increment), &design.increment) {
            for &intersend_ms in &ladder(action.intersend_ms, &design.intersend_ms) {
                out.push(Action { multiple, increment: b as i32, intersend_ms });
            }
        }
    }
    out.retain(|&a| a != action);
    out
}

/// Steps along m, b and r and along what a flow feels of them, `step_size` = 1 being bold:
///
/// - r by a factor;
/// - b alone, by a share of itself;
/// - m alone;
/// - m and b together such that the window at which the rule rests, b / (1 - m), stays: how fast the window gets there
///   is then all that changes;
/// - the resting window alone, and with r against it (the same rate in a different shape).
pub fn steps(action: Action, step_size: f64, design: &DesignTable) -> Vec<Action> {
    let Action { multiple: m, increment: b, intersend_ms: r } = action;
    let mut out = Vec::new();
    let mut push = |multiple: f64, increment: f64, intersend_ms: f64| {
        out.push(legal(Action { multiple, increment: increment.round() as i32, intersend_ms }, design));
    };
    let b = f64::from(b);
    let factor = libm::exp2(step_size);
    let jump = (b.abs() * (factor - 1.0)).max(libm::ceil(8.0 * step_size * step_size)).max(1.0);
    let bend = 0.4 * step_size;
    for sign in [-1.0, 1.0] {
        let by = if sign > 0.0 { factor } else { 1.0 / factor };
        push(m, b, r * by);
        push(m, b + sign * jump, r);
        push(m + sign * bend, b, r);
        push(m + sign * bend, b - sign * jump, r);
        push(m, b + sign * jump, r * by);
        push(m, b + sign * jump, r / by);
        if m < 1.0 {
            let rest = b / (1.0 - m);
            // Towards 1 by a share of what is left, away from it by a share too.
            let m2 = 1.0 - (1.0 - m) * by;
            push(m2, rest * (1.0 - m2), r);
        } else if sign < 0.0 {
            push(1.0 - 0.1 * step_size, b + jump, r);
        }
    }
    out.retain(|&a| a != action);
    out.dedup();
    let mut unique: Vec<Action> = Vec::new();
    for a in out {
        if !unique.contains(&a) {
            unique.push(a);
        }
    }
    unique
}

/// Steps in all three parts at once, in random directions: what a step along one part at a time cannot get to.
pub fn leaps(action: Action, step_size: f64, count: usize, design: &DesignTable, stream: &mut Stream) -> Vec<Action> {
    let leap = |_| {
        let step_size = step_size * stream.log_between(0.2, 1.0);
        let factor = |stream: &mut Stream| libm::exp2(step_size * stream.between(-1.5, 1.5));
        let rest_share = (1.0 - action.multiple).clamp(0.004, 1.0);
        let rest = f64::from(action.increment) / rest_share * factor(stream);
        let by = factor(stream);
        let share = (rest_share * by * by).min(1.0);
        let intersend_ms = action.intersend_ms * factor(stream);
        let increment = (rest * share).round() as i32;
        legal(Action { multiple: 1.0 - share, increment, intersend_ms }, design)
    };
    (0..count).map(leap).filter(|&a| a != action).collect()
}

/// The steps that matter most, for where many places are tried: pace, resting window, and pace against window.
pub fn few_steps(action: Action, step_size: f64, design: &DesignTable) -> Vec<Action> {
    let Action { multiple: m, increment: b, intersend_ms: r } = action;
    let factor = libm::exp2(step_size);
    let jump = (f64::from(b).abs() * (factor - 1.0)).max(libm::ceil(8.0 * step_size * step_size)).max(1.0);
    let mut out = Vec::new();
    for (by, jump) in [(factor, jump), (1.0 / factor, -jump)] {
        let b2 = (f64::from(b) + jump).round() as i32;
        out.push(Action { multiple: m, increment: b, intersend_ms: r * by });
        out.push(Action { multiple: m, increment: b2, intersend_ms: r });
        out.push(Action { multiple: m, increment: b2, intersend_ms: r / by });
        out.push(Action { multiple: m / by, increment: b, intersend_ms: r });
    }
    let mut out: Vec<Action> = out.into_iter().map(|a| legal(a, design)).filter(|&a| a != action).collect();
    out.dedup();
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Model;

    fn design() -> DesignTable {
        let text = "[link]\nrate_mbps = 10\n[path]\nrtt_ms = 100\n[senders]\ncount = 1\n[workload]\non = { seconds = 1 }\noff = { seconds = 1 }";
        Model::parse(text, "test.toml").unwrap().design
    }

    #[test]
    fn rounding_keeps_four_digits() {
        assert_eq!(round_to(0.006_666_666, 4), 0.006667);
        assert_eq!(round_to(123.456, 4), 123.5);
        assert_eq!(round_to(0.0, 4), 0.0);
    }

    /// The authors' step sizes: 1, 4, 16; 0.01, 0.04, 0.16; 0.05, 0.2, 0.8 either way, in every combination.
    #[test]
    fn the_papers_candidates() {
        let action = Action { multiple: 0.5, increment: 100, intersend_ms: 1.5 };
        let all = product(action, &design());
        assert_eq!(all.len(), 7 * 7 * 7 - 1);
        assert!(all.contains(&Action { multiple: 0.5 - 0.16, increment: 116, intersend_ms: 1.5 + 0.05 }));
        // At the edge of a range one side is missing.
        assert_eq!(product(first_action(&design()), &design()).len(), 4 * 5 * 4 - 1);
    }

    #[test]
    fn nobody_is_muted() {
        let speaks =
            |multiple, increment| speaking(Action { multiple, increment, intersend_ms: 1.0 }, &design()).increment;
        assert_eq!([speaks(0.98, 0), speaks(0.0, 0), speaks(1.0, 0), speaks(0.5, 7)], [1, 1, 0, 7]);
        let shrinking = DesignTable { increment: StepRange { min: -8.0, ..design().increment }, ..design() };
        let legal =
            |multiple, increment| legal(Action { multiple, increment, intersend_ms: 1.0 }, &shrinking).increment;
        assert_eq!([legal(1.0, -3), legal(0.5, -8)], [0, 1]);
    }

    /// The window that a rule rests at, packets.
    fn rest(action: Action) -> f64 {
        f64::from(action.increment) / (1.0 - action.multiple)
    }

    #[test]
    fn a_step_of_the_pace_keeps_the_window_that_a_rule_rests_at() {
        for (multiple, increment, intersend_ms) in [(0.9, 40, 1.4), (0.5, 100, 0.7), (0.0, 200, 1.0)] {
            let action = Action { multiple, increment, intersend_ms };
            for step_size in [1.0, 0.3, 0.06] {
                for all in [steps(action, step_size, &design()), few_steps(action, step_size, &design())] {
                    let paces = all.iter().filter(|a| (a.multiple, a.increment) == (multiple, increment));
                    assert_eq!(paces.count(), 2, "slower and faster, and nothing else: {action:?}, {step_size}");
                }
            }
        }
    }

    #[test]
    fn a_step_of_how_fast_the_window_gets_there_keeps_it_too() {
        for (multiple, increment) in [(0.9, 40), (0.5, 100), (0.8, 64)] {
            let action = Action { multiple, increment, intersend_ms: 1.0 };
            for step_size in [0.5, 0.3, 0.06] {
                // All that a whole packet more or less in the increment makes of it.
                let kept = |a: &&Action| (rest(**a) - rest(action)).abs() <= 0.51 / (1.0 - a.multiple);
                let all = steps(action, step_size, &design());
                let speeds: Vec<_> =
                    all.iter().filter(|a| a.intersend_ms == 1.0 && a.multiple != multiple).filter(kept).collect();
                let faster = speeds.iter().any(|a| a.multiple < multiple);
                assert!(faster && speeds.iter().any(|a| a.multiple > multiple), "{action:?}, {step_size}: {all:?}");
            }
        }
    }

    #[test]
    fn every_step_is_legal_and_is_one() {
        let design = design();
        let mut stream = Stream::new(1, 2, 3, exmachina_net::random::Purpose::Candidates);
        for (multiple, increment, intersend_ms) in [(1.0, 1, 3.0), (0.0, 0, 0.25), (0.93, 256, 0.7)] {
            let action = Action { multiple, increment, intersend_ms };
            for step_size in [1.0, 0.3, 0.06] {
                let leaps = leaps(action, step_size, 50, &design, &mut stream);
                for a in [steps(action, step_size, &design), few_steps(action, step_size, &design), leaps].concat() {
                    assert!(a != action && a == legal(a, &design), "{a:?}");
                }
            }
        }
    }
}
