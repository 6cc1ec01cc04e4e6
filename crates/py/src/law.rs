//! Laws: their numbers by name, as a `dict` of Python. `exmachina.Law` says what they mean.

use exmachina_rules::{self as rules, LEVELS};
use pyo3::prelude::*;

macro_rules! numbers {
    ($($number:ident: $kind:ty),+ $(,)?) => {
        /// A law; shares, multiples and packets are in 2^-16.
        #[derive(FromPyObject, IntoPyObject)]
        #[pyo3(from_item_all)]
        pub struct Law {
            $($number: $kind,)+
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
    target_of_gap: u32,
    target_of_spread: u32,
    growth: [i32; LEVELS],
    packets: [u32; LEVELS],
    pace: [u32; LEVELS],
    most: [u32; LEVELS],
    least_packets: u32,
    again_rtts: u32,
    faster: u32,
    fastest: u32,
    first_window: u32,
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
