//! Laws: their numbers by name, as a `dict` of Python. `exmachina.Law` says what they mean.

use exmachina_rules::{self as rules, LEVELS};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::input_error;

macro_rules! numbers {
    ($($number:ident: $kind:ty),+ $(,)?) => {
        /// A law; shares, multiples and packets are in 2^-16.
        #[derive(IntoPyObject)]
        pub struct Law {
            $($number: $kind,)+
        }

        impl Law {
            /// The law of these numbers by name: all of them, and no others.
            pub fn of(numbers: &Bound<'_, PyDict>) -> PyResult<Law> {
                const NAMES: &[&str] = &[$(stringify!($number)),+];
                for name in numbers.keys() {
                    if !NAMES.contains(&&*name.to_string()) {
                        return Err(input_error(format!("law: there is no {name}; expected {}", NAMES.join(", "))));
                    }
                }
                Ok(Law { $($number: number(numbers, stringify!($number))?,)+ })
            }
        }

        impl From<Law> for rules::Law {
            fn from(law: Law) -> rules::Law {
                rules::Law { $($number: law.$number,)+ }
            }
        }

        impl From<rules::Law> for Law {
            fn from(law: rules::Law) -> Law {
                Law { $($number: law.$number,)+ }
            }
        }
    };
}

numbers! {
    target_of_rtt: u32,
    target_of_root: u32,
    target_of_fourth: u32,
    target_of_gap: u32,
    target_of_spread: u32,
    silence_most: u32,
    silence_packets: u32,
    silence_adds: u32,
    loss_most: u32,
    growth: [i32; LEVELS],
    packets: [u32; LEVELS],
    pace: [u32; LEVELS],
    most: [u32; LEVELS],
    most_of_path: u32,
    delivered_keeps: u32,
    min_rtt_keeps: u32,
    least_packets: u32,
    again_rtts: u32,
    faster: u32,
    fastest: u32,
    first_window: u32,
    first_rate: u32,
    first_most: u32,
    first_train: u32,
    first_train_ns: u32,
    first_pause_ns: u32,
    first_growth: u32,
    first_pace: u32,
    first_until: u32,
    then_window: u32,
    room: u32,
    shared_below: u32,
    shared_scale: u32,
    shared_cut: u32,
    shared_rtts: u32,
}

/// One of a law's numbers, or those of its levels.
fn number<T: for<'py> FromPyObject<'py, 'py>>(numbers: &Bound<'_, PyDict>, name: &str) -> PyResult<T> {
    let Some(value) = numbers.get_item(name)? else { return Err(input_error(format!("law: {name} is missing"))) };
    let what = format!("a whole number within 32 bits, or {LEVELS} for the levels, as in Table.law");
    value.extract().map_err(|_| input_error(format!("law: {name} is {value}, expected {what}")))
}
