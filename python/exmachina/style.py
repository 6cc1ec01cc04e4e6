"""Colours and words that pictures and pages share."""

from exmachina.scoring import AIMD, AIMD_BDP, BOUND

__all__ = ["GRID", "INK", "MUTED", "SENDERS", "colour_of", "network_words", "signal_words"]

INK = "#1b2430"
MUTED = "#667085"
GRID = "#e6e9ef"
FIXED = {BOUND: "#1b2430", AIMD: "#b42318", AIMD_BDP: "#e07a5f"}
SCHEMES = ("#0f6fde", "#d98a00", "#12876f", "#8e44ad", "#c2427a", "#5b6b7f")
SENDERS = ("#0f6fde", "#d98a00", "#12876f", "#8e44ad", "#c2427a", "#5b6b7f", "#7aa6de", "#b5a642")

SIGNALS = {
    "send_ewma": "the time between sends, averaged",
    "ack_ewma": "the time between ACKs, averaged",
    "rtt_ratio": "RTT over minimum RTT",
    "slow_ack_ewma": "the time between ACKs, averaged slowly",
    "rtt_diff": "RTT less minimum RTT",
    "queueing_delay": "an estimate of the queueing delay",
}


def colour_of(scheme: str, index: int) -> str:
    """The colour of a scheme; `index` is its place among those that have no fixed one."""
    return FIXED.get(scheme, SCHEMES[index % len(SCHEMES)])


def signal_words(signal: str) -> str:
    """What a signal is."""
    return f"{signal}, {SIGNALS[signal]}"


def network_words(network: dict[str, object]) -> str:
    """A network in a line."""
    rtts = network["rtt_ms"]
    assert isinstance(rtts, list)
    rtt = f"{rtts[0]:g}" if len(set(rtts)) == 1 else "/".join(f"{r:g}" for r in rtts)
    buffer = network["buffer_packets"]
    on = f"{network['on_s']:g} s" if network["on_s"] is not None else f"{network['on_bytes']:g} bytes"
    words = [
        f"{network['rate_mbps']:.4g} Mbit/s",
        f"{rtt} ms",
        f"{len(rtts)} sender{'s' * (len(rtts) != 1)}",
        f"on {on} / off {network['off_s']:g} s",
        "infinite buffer" if buffer is None else f"{buffer} packets of buffer",
    ]
    return ", ".join(words)
