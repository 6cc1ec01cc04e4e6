//! Proportionally fair rates (Kelly, Maulloo and Tan 1998): those with the largest sum of logarithms that fit the links.
//!
//! Each link has a price, a flow pays the sum over its links, and its rate is one over that. The dual problem,
//! whose unknowns are the prices, is smooth and convex: one price after the other is set to where its link is just full,
//! or to 0 where it is not full even for nothing, until all agree.

/// What a flow uses of a hop: so much of its rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Use {
    /// The hop.
    pub hop: usize,
    /// Part of the flow's rate that this hop carries.
    pub share: f64,
}

/// Links are filled, and unused links are free, to this relative precision.
const PRECISION: f64 = 1e-11;
/// More rounds than any network of a few hops takes.
const MAX_ROUNDS: usize = 100_000;

/// Flows and links.
#[derive(Clone, Debug)]
pub struct Fair {
    /// By flow.
    uses: Vec<Vec<Use>>,
    /// By hop, Mbit/s.
    capacities: Vec<f64>,
    /// By hop; kept from one call to the next, since they seldom change much.
    prices: Vec<f64>,
}

impl Fair {
    /// Flows that use hops, and the capacities of those, Mbit/s.
    pub fn new(uses: Vec<Vec<Use>>, capacities: Vec<f64>) -> Fair {
        let prices = vec![0.0; capacities.len()];
        Fair { uses, capacities, prices }
    }

    /// The rates of those that are on, Mbit/s; 0 for the others.
    pub fn rates(&mut self, on: &[bool], rates: &mut [f64]) {
        for _ in 0..MAX_ROUNDS {
            (0..self.prices.len()).for_each(|hop| self.prices[hop] = self.price(hop, on));
            if self.is_settled(on) {
                break;
            }
        }
        for (i, rate) in rates.iter_mut().enumerate() {
            *rate = if on[i] { 1.0 / self.pays(i, None) } else { 0.0 };
        }
    }

    /// What a flow pays for all its hops but one.
    fn pays(&self, flow: usize, but: Option<usize>) -> f64 {
        self.uses[flow].iter().filter(|u| Some(u.hop) != but).map(|u| u.share * self.prices[u.hop]).sum()
    }

    /// The flows that are on at a hop: the share of the rate that it carries of each, and what each pays elsewhere.
    fn at(&self, hop: usize, on: &[bool]) -> Vec<(f64, f64)> {
        let share = |i: usize| self.uses[i].iter().find(|u| u.hop == hop).map(|u| u.share);
        let flows = (0..self.uses.len()).filter(|&i| on[i]);
        flows.filter_map(|i| share(i).map(|s| (s, self.pays(i, Some(hop))))).collect()
    }

    /// The price at which a hop is just full, the others' prices as they are.
    fn price(&self, hop: usize, on: &[bool]) -> f64 {
        let (flows, capacity) = (self.at(hop, on), self.capacities[hop]);
        // Those that pay nothing elsewhere take one capacity over the price each: that much the price is at least.
        let captive = flows.iter().filter(|f| f.1 == 0.0).count();
        let mut price = captive as f64 / capacity;
        // The load falls with the price and is convex, so that Newton's steps from below never go too far.
        for _ in 0..100 {
            let rate = |&(share, elsewhere): &(f64, f64)| share / (elsewhere + share * price);
            let excess = flows.iter().map(rate).sum::<f64>() - capacity;
            let slope: f64 = flows.iter().map(|f| rate(f) * rate(f)).sum();
            if excess.is_nan() || excess <= 1e-15 * capacity || slope == 0.0 {
                break;
            }
            price += excess / slope;
        }
        price
    }

    /// No hop carries too much, and each that has a price is full.
    fn is_settled(&self, on: &[bool]) -> bool {
        (0..self.prices.len()).all(|hop| {
            let price = self.prices[hop];
            let load: f64 = self.at(hop, on).iter().map(|&(s, elsewhere)| s / (elsewhere + s * price)).sum();
            let excess = load / self.capacities[hop] - 1.0;
            excess.abs() <= PRECISION || price == 0.0 && (excess.is_nan() || excess <= 0.0)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fair(routes: &[&[usize]], capacities: &[f64]) -> Vec<f64> {
        let uses = routes.iter().map(|r| r.iter().map(|&hop| Use { hop, share: 1.0 }).collect()).collect();
        let mut rates = vec![0.0; routes.len()];
        Fair::new(uses, capacities.to_vec()).rates(&vec![true; routes.len()], &mut rates);
        rates
    }

    #[track_caller]
    fn close(rates: &[f64], expected: &[f64]) {
        let off = rates.iter().zip(expected).map(|(a, b)| (a / b - 1.0).abs()).fold(0.0, f64::max);
        assert!(off < 1e-9 && rates.len() == expected.len(), "{rates:?}, expected {expected:?}");
    }

    #[test]
    fn one_link_is_shared_equally() {
        close(&fair(&[&[0][..]; 7], &[10.0]), &[10.0 / 7.0; 7]);
    }

    #[test]
    fn a_long_flow_gets_a_third_of_two_equal_links() {
        // x + y = 10 on both links: log x + 2 log (10 - x) is largest at x = 10/3.
        close(&fair(&[&[0, 1], &[0], &[1]], &[10.0, 10.0]), &[10.0 / 3.0, 20.0 / 3.0, 20.0 / 3.0]);
        // Four links: 1/(n+1).
        let many = fair(&[&[0, 1, 2, 3], &[0], &[1], &[2], &[3]], &[10.0; 4]);
        close(&many, &[2.0, 8.0, 8.0, 8.0, 8.0]);
    }

    #[test]
    fn unequal_links_solve_the_quadratic() {
        // 1/x = 1/(a - x) + 1/(b - x): 3 x^2 - 2 (a + b) x + a b = 0.
        let (a, b): (f64, f64) = (10.0, 25.0);
        let x = ((a + b) - ((a + b) * (a + b) - 3.0 * a * b).sqrt()) / 3.0;
        close(&fair(&[&[0, 1], &[0], &[1]], &[a, b]), &[x, a - x, b - x]);
    }

    #[test]
    fn a_link_that_is_not_full_is_free() {
        close(&fair(&[&[0, 1], &[0]], &[10.0, 100.0]), &[5.0, 5.0]);
        close(&fair(&[&[0, 1], &[0, 1]], &[10.0, 10.0]), &[5.0, 5.0]);
        close(&fair(&[&[0, 1, 2]], &[10.0, 7.0, 8.0]), &[7.0]);
    }

    #[test]
    fn nobody_on_gets_nothing_and_the_next_call_recovers() {
        let mut fair = Fair::new(vec![vec![Use { hop: 0, share: 1.0 }]; 2], vec![4.0]);
        let mut rates = [1.0; 2];
        fair.rates(&[false, false], &mut rates);
        assert_eq!(rates, [0.0, 0.0]);
        fair.rates(&[false, true], &mut rates);
        close(&rates[1..], &[4.0]);
    }

    /// The conditions of Karush, Kuhn and Tucker, on networks drawn at random.
    #[test]
    fn no_other_rates_are_fairer() {
        use exmachina_net::random::{Purpose, Stream};
        let mut dice = Stream::new(7, 0, 0, Purpose::Candidates);
        for _ in 0..300 {
            let (hops, flows) = (1 + dice.below(5) as usize, 1 + dice.below(8) as usize);
            let capacities: Vec<f64> = (0..hops).map(|_| dice.log_between(0.1, 1000.0)).collect();
            let route = |dice: &mut Stream| {
                let first = dice.below(hops as u64) as usize;
                (first..hops).filter(|&h| h == first || dice.uniform() < 0.5).collect::<Vec<_>>()
            };
            let routes: Vec<Vec<usize>> = (0..flows).map(|_| route(&mut dice)).collect();
            let rates = fair(&routes.iter().map(Vec::as_slice).collect::<Vec<_>>(), &capacities);
            // Any feasible y has sum (y - x) / x <= 0: try each link's equal shares, and blends with one flow alone.
            let feasible = |y: &[f64]| {
                let load = |h: usize| (0..flows).filter(|&i| routes[i].contains(&h)).map(|i| y[i]).sum::<f64>();
                (0..hops).all(|h| load(h) <= capacities[h] * (1.0 + 1e-9))
            };
            assert!(feasible(&rates), "{rates:?}");
            for _ in 0..50 {
                let mut y: Vec<f64> = rates.iter().map(|x| x * dice.log_between(0.5, 2.0)).collect();
                while !feasible(&y) {
                    y.iter_mut().for_each(|v| *v *= 0.98);
                }
                let gain: f64 = y.iter().zip(&rates).map(|(y, x)| y / x - 1.0).sum();
                assert!(gain <= 1e-8, "{gain}: {y:?} against {rates:?}");
            }
        }
    }
}
