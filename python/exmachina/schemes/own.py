"""Congestion control of one's own, as a Python class: what the simulator tells it, and what it asks."""

from exmachina._core import Ack, Congestion

__all__ = ["Ack", "Congestion", "Scheme"]


class Scheme:
    """What a congestion-control scheme of one's own derives from, and overrides what it needs of.

    The simulator makes an object of the class for each connection: `__init__`, which is called with nothing, is the
    connection's beginning. After every call it reads `window` and `intersend_ms`, which may be attributes or
    properties. What was lost and what is sent again is the transport's business, not the scheme's. For example,
    additive increase and multiplicative decrease:

    >>> class Halving(exmachina.Scheme):
    ...     def __init__(self):
    ...         self.window = 10.0
    ...
    ...     def on_ack(self, ack):
    ...         if ack.window_limited and not ack.in_recovery:
    ...             self.window += ack.newly_delivered / self.window
    ...
    ...     def on_loss(self, loss):
    ...         self.window /= 2
    >>> flows = exmachina.evaluate("t7", ["cubic", Halving], runs=2, duration_s=5).flows

    A class runs some five times slower than what is built in, and one run at a time, whatever the threads.
    """

    window: float = 1.0
    """Packets that may be in flight; what is below 1 counts as 1, and fractions are dropped."""
    intersend_ms: float = 0.0
    """Least time between two sends, ms."""
    ecn: bool = False
    """Its packets may be marked instead of dropped, where queues mark (RFC 3168 §5). Read when a connection begins."""
    owns_recovery: bool = False
    """Its window holds while losses are repaired, where else the transport lowers it (RFC 9937). Read as `ecn` is."""

    def on_ack(self, ack: Ack) -> None:
        """An ACK arrived. Windows are to grow on those that are `window_limited` and not `in_recovery` only."""

    def on_loss(self, loss: Congestion) -> None:
        """Packets were lost: told once per window, before the ACK that showed it."""

    def on_ecn(self, mark: Congestion) -> None:
        """The receiver echoes an ECN mark: told once per window (RFC 3168 §6.1.2), before the ACK that showed it.

        Only with `ecn`. As a loss, if not overridden.
        """
        self.on_loss(mark)

    def on_rto(self, timeout: Congestion) -> None:
        """The retransmission timer expired (RFC 5681 §3.1). As a loss, if not overridden."""
        self.on_loss(timeout)
