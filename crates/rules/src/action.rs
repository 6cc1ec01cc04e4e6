//! What a rule does: change the window and pace the sends (Remy'13 §4.2).

/// The largest window that an action can set, in packets.
pub const MAX_WINDOW: u32 = 1_000_000;

/// The largest multiple: it takes a window of one packet to [`MAX_WINDOW`].
pub const MAX_MULTIPLE: f64 = 1e6;

/// The longest time between two sends that an action can set, in ms: 2.8 hours, which leaves room beside any run's length.
pub const MAX_INTERSEND_MS: f64 = 1e7;

/// An action `<m, b, r>`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Action {
    /// m: multiple of the present window.
    pub multiple: f64,
    /// b: packets added to the window; may be negative.
    pub increment: i32,
    /// r: least time between two sends, ms.
    pub intersend_ms: f64,
}
