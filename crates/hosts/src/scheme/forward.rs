//! What wraps a scheme passes on all that it is told and asked: the methods of [`Scheme`](super::Scheme) in one list, and what
//! is made of it. That the list has all of them, `cargo clippy` checks at each `impl` that is made of it.

/// Hands the list of methods to another macro, behind what that is given.
macro_rules! each_method {
    ($then:ident $given:tt) => {
        $then! {
            $given
            told {
                start(self, now: Instant);
                resume(self, now: Instant, idle: Duration);
                on_ack(self, ack: &Ack);
                on_loss(self, loss: &Congestion);
                on_lost(self, packets: u32);
                upset(self, window: f64, averages: f64);
                collapse(self);
                on_ecn(self, mark: &Congestion);
                on_rto(self, timeout: &Congestion);
                on_recovered(self, now: Instant, limit: Option<u32>);
                on_partial_ack(self, deflate: u32);
                keep(self);
                on_spurious(self, now: Instant);
                after_idle(self, timeouts: u32, initial_window: u32);
                on_stale_ack(self);
            }
            asked {
                window(self) -> u32;
                intersend(self) -> Duration;
                ssthresh(self) -> f64;
                capabilities(self) -> Capabilities;
            }
            lent {
                flow(self) -> Option<(&FlatTable, &mut Controller)>;
            }
        }
    };
}

/// An enum whose variants hold schemes, and is a scheme itself: whichever it is, without pointers.
macro_rules! enum_of_schemes {
    ($(#[$of:meta])* $any:ident { $($(#[$doc:meta])* $variant:ident($scheme:ty),)* }) => {
        $(#[$of])*
        #[derive(Clone, Debug)]
        pub enum $any<'t> {
            $($(#[$doc])* $variant($scheme),)*
        }

        each_method! { whichever_scheme [$any { $($variant)* }] }
    };
}

/// `impl Scheme` for it.
macro_rules! whichever_scheme {
    ([$any:ident $variants:tt]
     told { $($told:ident($me:ident $(, $name:ident: $type:ty)*);)* }
     asked { $($asked:ident($my:ident) -> $answer:ty;)* }
     lent { $($lent:ident($mine:ident) -> $loan:ty;)* }) => {
        #[deny(clippy::missing_trait_methods)]
        impl Scheme for $any<'_> {
            $(
                #[inline]
                fn $told(&mut $me $(, $name: $type)*) {
                    of_variant!($me $any $variants scheme => { Scheme::$told(scheme $(, $name)*) })
                }
            )*
            $(
                #[inline]
                fn $asked(&$my) -> $answer {
                    of_variant!($my $any $variants scheme => { Scheme::$asked(scheme) })
                }
            )*
            $(
                #[inline]
                fn $lent(&mut $mine) -> $loan {
                    of_variant!($mine $any $variants scheme => { Scheme::$lent(scheme) })
                }
            )*
        }
    };
}

macro_rules! of_variant {
    ($me:ident $any:ident { $($variant:ident)* } $scheme:ident => $answer:tt) => {
        match $me { $($any::$variant($scheme) => $answer,)* }
    };
}

/// [`OwnScheme`](super::OwnScheme), which is [`Scheme`](super::Scheme) behind a pointer: the trait, its `impl` for every scheme,
/// and `impl Scheme` for what holds the pointer.
macro_rules! scheme_behind_a_pointer {
    ([$(#[$doc:meta])* $pointed:ident $holder:ident]
     told { $($told:ident($me:ident $(, $name:ident: $type:ty)*);)* }
     asked { $($asked:ident($my:ident) -> $answer:ty;)* }
     lent { $($lent:ident($mine:ident) -> $loan:ty;)* }) => {
        $(#[$doc])*
        pub trait $pointed: Send {
            $(
                #[doc = concat!("As [`Scheme::", stringify!($told), "`].")]
                fn $told(&mut $me $(, $name: $type)*);
            )*
            $(
                #[doc = concat!("As [`Scheme::", stringify!($asked), "`].")]
                fn $asked(&$my) -> $answer;
            )*
            $(
                #[doc = concat!("As [`Scheme::", stringify!($lent), "`].")]
                fn $lent(&mut $mine) -> $loan;
            )*
            /// A copy in the same state.
            fn copy(&self) -> Box<dyn $pointed>;
        }

        impl<S: Scheme + Send + 'static> $pointed for S {
            $(
                fn $told(&mut $me $(, $name: $type)*) {
                    Scheme::$told($me $(, $name)*);
                }
            )*
            $(
                fn $asked(&$my) -> $answer {
                    Scheme::$asked($my)
                }
            )*
            $(
                fn $lent(&mut $mine) -> $loan {
                    Scheme::$lent($mine)
                }
            )*
            fn copy(&self) -> Box<dyn $pointed> {
                Box::new(self.clone())
            }
        }

        #[deny(clippy::missing_trait_methods)]
        impl Scheme for $holder {
            $(
                fn $told(&mut $me $(, $name: $type)*) {
                    $me.0.$told($($name),*);
                }
            )*
            $(
                fn $asked(&$my) -> $answer {
                    $my.0.$asked()
                }
            )*
            $(
                fn $lent(&mut $mine) -> $loan {
                    $mine.0.$lent()
                }
            )*
        }
    };
}
