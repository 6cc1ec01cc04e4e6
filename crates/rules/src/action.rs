//! What a rule does: change the window and pace the sends (Remy'13 §4.2).

/// The largest window that an action can set, in packets.
pub const MAX_WINDOW: u32 = 1_000_000;

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

impl Action {
    /// The window after this action, in packets: `clamp(int(m * window + b), 0, 1e6)`.
    #[must_use]
    #[inline]
    pub fn window(&self, window: u32) -> u32 {
        let wanted = self.multiple * f64::from(window) + f64::from(self.increment);
        // The conversion truncates, and saturates below at 0.
        (wanted.min(f64::from(MAX_WINDOW))) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn window_truncates_and_clamps() {
        let action = |multiple, increment| Action { multiple, increment, intersend_ms: 1.0 };
        assert_eq!(action(0.5, 2).window(5), 4);
        assert_eq!(action(1.0, -7).window(5), 0);
        assert_eq!(action(1.0, 256).window(999_900), MAX_WINDOW);
        assert_eq!(action(0.0, 3).window(MAX_WINDOW), 3);
    }
}
