//! Schemes that are not compiled in.

use exmachina_net::time::{Duration, Instant};
use exmachina_rules::{Controller, FlatTable};

use super::{Ack, Capabilities, Congestion, Scheme};

each_method! {
    scheme_behind_a_pointer [
        /// A scheme that is not compiled in: a researcher's own, in Python for one. Every [`Scheme`] is one.
        OwnScheme Own
    ]
}

/// An [`OwnScheme`] as a [`Scheme`].
pub struct Own(pub Box<dyn OwnScheme>);

impl Clone for Own {
    fn clone(&self) -> Self {
        Own(self.0.copy())
    }
}

impl std::fmt::Debug for Own {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Own")
    }
}

#[cfg(test)]
mod tests {
    use exmachina_net::time::{Duration, Instant};

    use super::Own;
    use crate::scheme::{Ack, Capabilities, Scheme};

    /// Marked, and with all else that a transport may have to know.
    #[derive(Clone)]
    struct Odd(u32);

    impl Scheme for Odd {
        fn start(&mut self, _now: Instant) {
            self.0 = 1;
        }

        fn on_ack(&mut self, _ack: &Ack) {
            self.0 += 1;
        }

        fn on_recovered(&mut self, _now: Instant, limit: Option<u32>) {
            self.0 = limit.unwrap_or(0);
        }

        fn window(&self) -> u32 {
            self.0
        }

        fn intersend(&self) -> Duration {
            Duration::from_nanos(7)
        }

        fn capabilities(&self) -> Capabilities {
            Capabilities { ecn: true, owns_recovery: true, xcp: false, forgets: true }
        }
    }

    #[test]
    fn behind_a_pointer_it_is_the_scheme_that_it_was() {
        let mut own = Own(Box::new(Odd(0)));
        own.start(Instant::START);
        let mut copy = own.clone();
        own.on_ack(&Ack::default());
        copy.on_recovered(Instant::START, Some(40));
        assert_eq!((own.window(), copy.window(), own.intersend()), (2, 40, Duration::from_nanos(7)));
        assert_eq!(own.capabilities(), Odd(0).capabilities());
        assert!(own.ssthresh().is_nan());
    }
}
