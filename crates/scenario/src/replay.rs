//! The on and off times of the authors' ns-2 runs, drawn again: which of its random numbers go to whom, in what order.
//!
//! Facts read in their scripts (`apps/onoffapp.cc` of Tao'14's tree, `remy2.tcl` of Remy'13's); known answers of both are
//! tests.

use std::sync::Arc;

use exmachina_net::network::{Arrival, Stop};

use crate::mrg32k3a::Mrg32k3a;

/// Tao'14's: `-run` is the only thing that varies, on-periods end by time, and all senders draw from one stream in the
/// order of events. `means_s` are each sender's means of on- and off-periods. By sender: its on-periods up to `end_s`,
/// each with the pause before it.
#[must_use]
pub fn tao14(run: u32, means_s: &[[f64; 2]], end_s: f64) -> Vec<Arc<[Arrival]>> {
    let mut draws = Mrg32k3a::new(1, 0);
    let first_off = |[_, off_s]: &[f64; 2]| {
        // Each application has three random variables, and each of them goes on by `run` substreams.
        (0..3 * u64::from(run)).for_each(|_| draws.next_substream());
        draws.exponential(*off_s)
    };
    let mut pauses: Vec<f64> = means_s.iter().map(first_off).collect();
    // The clock phase of each sender.
    means_s.iter().for_each(|_| _ = draws.uniform());
    let mut next_s = pauses.clone();
    let mut on = vec![false; means_s.len()];
    let mut periods = vec![Vec::new(); means_s.len()];
    while let Some(i) = (0..next_s.len()).min_by(|&i, &j| next_s[i].total_cmp(&next_s[j])) {
        if next_s[i] > end_s {
            break;
        }
        on[i] = !on[i];
        let drawn_s = draws.exponential(means_s[i][usize::from(!on[i])]);
        next_s[i] += drawn_s;
        if on[i] {
            periods[i].push(Arrival { start_s: pauses[i], stop: Stop::Seconds(drawn_s) });
        } else {
            pauses[i] = drawn_s;
        }
    }
    periods.into_iter().map(Arc::from).collect()
}

/// Remy'13's, with `-seed` above 0: each sender has streams of its own, for bytes and for pauses, and its first transfer
/// begins after half a pause. As many transfers as there can be before `end_s`, each with the pause before it.
#[must_use]
pub fn remy13(seed: u32, sender: u32, [on_bytes, off_s]: [f64; 2], end_s: f64) -> Arc<[Arrival]> {
    let stream = |number| {
        let mut draws = Mrg32k3a::new(seed, number);
        (0..=seed).for_each(|_| draws.next_substream());
        draws
    };
    let (mut sizes, mut pauses) = (stream(2 * sender + 1), stream(2 * sender + 2));
    let (mut transfers, mut paused_s) = (Vec::new(), 0.0);
    while paused_s <= end_s {
        let share = if transfers.is_empty() { 0.5 } else { 1.0 };
        let start_s = share * pauses.exponential(off_s);
        paused_s += start_s;
        transfers.push(Arrival { start_s, stop: Stop::Bytes(sizes.exponential(on_bytes).trunc()) });
    }
    transfers.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(arrival: &Arrival) -> f64 {
        match arrival.stop {
            Stop::Seconds(s) => s,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn two_senders_of_tao14_are_on_as_long_as_in_the_authors_files() {
        let on_s = |periods: &Arc<[Arrival]>| {
            let (mut now, mut on_s) = (0.0, 0.0);
            for period in periods.iter() {
                now += period.start_s;
                on_s += seconds(period).min(100.0 - now);
                now += seconds(period);
            }
            on_s
        };
        let periods = tao14(1, &[[5.0; 2]; 2], 100.0);
        assert!((on_s(&periods[0]) - 51.999_308).abs() < 1e-6);
        assert!((on_s(&periods[1]) - 49.529_532).abs() < 1e-6);
    }

    #[test]
    fn the_first_transfers_of_remy13() {
        let [first, second] = remy13(1, 0, [100e3, 0.5], 100.0)[..2] else { unreachable!() };
        assert!((first.start_s - 0.825_545_871 / 2.0).abs() < 1e-9 && (second.start_s - 0.163_741_928).abs() < 1e-9);
        assert_eq!((first.stop, second.stop), (Stop::Bytes(25_729.0), Stop::Bytes(10_775.0)));
    }

    /// The rows of a file of what the authors' ns-2 drew, where it is at hand.
    fn rows(name: &str) -> Option<Vec<Vec<String>>> {
        let text = std::fs::read_to_string(exmachina_reference::reference(&format!("ns2/{name}"))?).unwrap();
        let rows = text.lines().filter(|line| !line.starts_with('#')).skip(1);
        Some(rows.map(|row| row.split(',').map(str::to_owned).collect()).collect())
    }

    #[test]
    fn on_and_off_times_of_tao14_to_the_microsecond() {
        let Some(rows) = rows("onoff_first20_tao14.csv") else { return };
        let number = |row: &[String], i: usize| row[i].parse::<f64>().unwrap();
        let mut seen = 0;
        for run in [1, 2] {
            let periods = tao14(run, &[[1.0; 2]; 8], 100.0);
            for (sender, periods) in periods.iter().enumerate() {
                let of = |row: &&Vec<String>| row[0] == run.to_string() && row[2] == sender.to_string();
                let (mut now, mut expected) = (0.0, Vec::new());
                for (i, period) in periods.iter().enumerate() {
                    now += period.start_s;
                    expected.push((now, "on", seconds(period)));
                    now += seconds(period);
                    expected.push((now, "off", periods.get(i + 1).map_or(f64::NAN, |next| next.start_s)));
                }
                for (row, (time, event, duration)) in rows.iter().filter(of).zip(expected) {
                    assert_eq!(row[3], event);
                    assert!((number(row, 1) - time).abs() < 1e-6, "{row:?}: {time}");
                    assert!((number(row, 4) - duration).abs() < 1e-6, "{row:?}: {duration}");
                    seen += 1;
                }
            }
        }
        assert_eq!(seen, rows.len());
    }

    #[test]
    fn transfers_and_pauses_of_remy13_to_the_microsecond() {
        let Some(rows) = rows("onoff_first20_remy13.csv") else { return };
        for row in &rows {
            let number = |i: usize| row[i].parse::<f64>().unwrap();
            let transfer = remy13(number(1) as u32, number(2) as u32, [100e3, 0.5], 100.0)[number(3) as usize - 1];
            assert_eq!(transfer.stop, Stop::Bytes(number(4).trunc()), "{row:?}");
            let share = if row[3] == "1" { 0.5 } else { 1.0 };
            assert!((transfer.start_s - share * number(5)).abs() < 1e-6, "{row:?}");
        }
        assert!(!rows.is_empty());
    }
}
