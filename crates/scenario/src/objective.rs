//! The objective of a design: how much throughput is worth against delay (Remy'13 §3.3).

use serde::de::{Deserialize, Deserializer, Error};

/// How a sender's throughput and delay are measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ThroughputBasis {
    /// Throughput: packets received, over the integral of (packets the link carries / senders on) while this
    /// sender was on; 1 is an equal share of the link. Delay: mean RTT / minimum RTT. This is how the authors'
    /// code scores, and how their published tables were designed.
    #[default]
    Share,
    /// Throughput: Mbit/s over the time this sender was on. Delay: mean RTT in ms. This is Remy'13's text.
    OnTime,
}

/// Which deliveries count. Time counts while a sender is on, and never else.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Deliveries {
    /// All of them, whenever they are, as in the authors' code. A sender that parks a queue when it is switched off has it
    /// delivered in time that nobody is charged for; so an algorithm can be ahead of the omniscient reference, which never
    /// has a queue to park.
    #[default]
    All,
    /// Those at times when the sender was on.
    WhileOn,
}

/// What a design strives for: the mean over senders of `U_alpha(throughput) - delta * U_beta(delay)`.
#[derive(Clone, Copy, Debug, PartialEq, serde::Deserialize)]
#[serde(try_from = "ObjectiveTable")]
pub struct Objective {
    /// Fairness of throughput: 0 counts the sum only, 1 is proportional fairness, 2 minimum potential delay.
    pub alpha: f64,
    /// The same for delay.
    pub beta: f64,
    /// Weight of delay.
    pub delta: f64,
    /// How throughput and delay are measured.
    pub throughput: ThroughputBasis,
    /// What lost packets cost: throughput counts times (packets delivered / sent) to this power. Neither paper has it: in
    /// the design simulator, where nothing is sent again, a loss costs a sender nothing, and one that sends ten packets
    /// for each that arrives does as well as one that sends one. Of a transport that sends again, packets sent are all
    /// transmissions, repeated ones included, and packets delivered count once each.
    pub loss_weight: f64,
    /// Which deliveries count.
    pub deliveries: Deliveries,
}

impl Default for Objective {
    fn default() -> Self {
        Self {
            alpha: 1.0,
            beta: 1.0,
            delta: 1.0,
            throughput: ThroughputBasis::default(),
            loss_weight: 0.0,
            deliveries: Deliveries::default(),
        }
    }
}

impl Objective {
    /// The utility of a sender with this throughput and this mean delay, in the units of its basis; none for one that
    /// received nothing, or so little that it has no finite utility. A sender that was never on has no part in this.
    #[must_use]
    pub fn utility(&self, throughput: f64, delay: f64) -> Option<f64> {
        if throughput.is_nan() || throughput <= 0.0 {
            return None;
        }
        // With delta = 0 the delay does not count, not even an infinite one.
        let cost = if self.delta == 0.0 { 0.0 } else { self.delta * fair(self.beta, delay) };
        Some(fair(self.alpha, throughput) - cost).filter(|utility| utility.is_finite())
    }
}

/// The alpha-fair utility, with the logarithm to base 2, as in the authors' code.
fn fair(alpha: f64, x: f64) -> f64 {
    if alpha == 1.0 { libm::log2(x) } else { libm::pow(x, 1.0 - alpha) / (1.0 - alpha) }
}

/// `[objective]` as it is written.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct ObjectiveTable {
    preset: Option<Preset>,
    #[serde(default, deserialize_with = "exponent")]
    alpha: Option<f64>,
    #[serde(default, deserialize_with = "exponent")]
    beta: Option<f64>,
    #[serde(default, deserialize_with = "weight")]
    delta: Option<f64>,
    #[serde(default)]
    throughput: ThroughputBasis,
    #[serde(default, deserialize_with = "weight")]
    loss_weight: Option<f64>,
    #[serde(default)]
    deliveries: Deliveries,
}

#[derive(Clone, Copy, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Preset {
    Proportional,
    MinimumPotentialDelay,
}

impl TryFrom<ObjectiveTable> for Objective {
    type Error = &'static str;

    fn try_from(table: ObjectiveTable) -> Result<Self, Self::Error> {
        let ObjectiveTable { preset, alpha, beta, delta, throughput, loss_weight, deliveries } = table;
        let loss_weight = loss_weight.unwrap_or(0.0);
        match preset {
            Some(Preset::Proportional) if alpha.or(beta).is_some() => {
                Err("expected neither alpha nor beta beside preset = \"proportional\", which sets both to 1")
            }
            Some(Preset::MinimumPotentialDelay) if alpha.or(beta).or(delta).is_some() => {
                Err("expected no alpha, beta or delta beside preset = \"minimum-potential-delay\", \
                 which sets alpha = 2 and delta = 0")
            }
            Some(Preset::MinimumPotentialDelay) => {
                Ok(Self { alpha: 2.0, beta: 1.0, delta: 0.0, throughput, loss_weight, deliveries })
            }
            _ => Ok(Self {
                alpha: alpha.unwrap_or(1.0),
                beta: beta.unwrap_or(1.0),
                delta: delta.unwrap_or(1.0),
                throughput,
                loss_weight,
                deliveries,
            }),
        }
    }
}

/// Within these bounds a utility is a number that sums of many stay finite with.
const MAX_EXPONENT: f64 = 10.0;
const MAX_WEIGHT: f64 = 1e6;

fn exponent<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
    from_0_to(MAX_EXPONENT, deserializer)
}

fn weight<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
    from_0_to(MAX_WEIGHT, deserializer)
}

fn from_0_to<'de, D: Deserializer<'de>>(most: f64, deserializer: D) -> Result<Option<f64>, D::Error> {
    match f64::deserialize(deserializer)? {
        value if (0.0..=most).contains(&value) => Ok(Some(value)),
        value => Err(D::Error::custom(format!("expected a number from 0 to {most} (scores stay finite), got {value}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Objective, String> {
        toml::from_str(text).map_err(|error: toml::de::Error| error.message().to_owned())
    }

    #[test]
    fn known_values() {
        let proportional = Objective::default();
        assert_eq!(proportional.utility(1.0, 1.0), Some(0.0));
        assert_eq!(proportional.utility(0.5, 2.0), Some(-2.0));
        assert_eq!(Objective { delta: 0.1, ..proportional }.utility(0.25, 4.0), Some(-2.2));
        assert_eq!(parse("preset = 'minimum-potential-delay'").unwrap().utility(0.5, 9.0), Some(-2.0));
        let linear = Objective { alpha: 0.0, beta: 0.0, ..proportional };
        assert_eq!(linear.utility(0.5, 1.0), Some(-0.5));
    }

    #[test]
    fn a_finite_number_or_none() {
        for alpha in [0.0, 0.5, 1.0, 2.0, 1000.0] {
            for delta in [0.0, 1.0] {
                let objective = Objective { alpha, beta: alpha, delta, ..Objective::default() };
                assert_eq!(objective.utility(0.0, f64::NAN), None);
                assert_eq!(objective.utility(f64::NAN, 1.0), None);
                for (throughput, delay) in [(1e-300, 1.0), (1.0, f64::INFINITY), (1.0, f64::NAN), (1e-9, 1e9)] {
                    assert!(objective.utility(throughput, delay).is_none_or(f64::is_finite));
                }
            }
        }
        // However bad, what has a utility keeps it.
        let potential = Objective { alpha: 2.0, delta: 0.0, ..Objective::default() };
        assert!((potential.utility(1e-9, 1.0).unwrap() / -1e9 - 1.0).abs() < 1e-9);
    }

    #[test]
    fn tables() {
        assert_eq!(parse(""), Ok(Objective::default()));
        assert_eq!(parse("preset = 'proportional'\ndelta = 10").unwrap().delta, 10.0);
        assert_eq!(parse("preset = 'minimum-potential-delay'\nloss_weight = 2").unwrap().loss_weight, 2.0);
        assert_eq!(parse("throughput = 'on-time'").unwrap().throughput, ThroughputBasis::OnTime);
        assert_eq!(parse("deliveries = 'while-on'").unwrap().deliveries, Deliveries::WhileOn);
        let message = |text: &str| parse(text).unwrap_err();
        assert_eq!(message("delta = -1"), "expected a number from 0 to 1000000 (scores stay finite), got -1");
        assert_eq!(message("alpha = nan"), "expected a number from 0 to 10 (scores stay finite), got NaN");
        assert!(message("preset = 'proportional'\nbeta = 2").contains("neither alpha nor beta"));
        assert!(message("preset = 'minimum-potential-delay'\ndelta = 1").contains("no alpha, beta or delta"));
        assert!(message("weight = 1").contains("unknown field"));
    }
}
