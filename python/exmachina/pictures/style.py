"""Colours and words that pictures and pages share."""

from collections.abc import Iterable

from exmachina import _core
from exmachina.scoring import AIMD, AIMD_BDP, REFERENCE

__all__ = ["GRID", "INK", "MUTED", "SENDERS", "colour_of", "family_colours", "network_words", "signal_words"]

INK = "#1b2430"
MUTED = "#667085"
GRID = "#e6e9ef"
FIXED = {REFERENCE: "#1b2430", AIMD: "#b42318", AIMD_BDP: "#e07a5f"}
SCHEMES = ("#0f6fde", "#d98a00", "#12876f", "#8e44ad", "#c2427a", "#5b6b7f")
SENDERS = ("#0f6fde", "#d98a00", "#12876f", "#8e44ad", "#c2427a", "#5b6b7f", "#7aa6de", "#b5a642")

HUMAN = {
    "newreno": "#8a8f98",
    "reno-linux": "#a5a9b0",
    "vegas": "#c9a227",
    "vegas-ns2": "#ddc15f",
    "compound": "#d98a00",
    "cubic": "#c8381a",
    "cubic-linux": "#c8381a",
    "cubic-linux-2.6.22": "#a32f16",
    "cubic-rfc9438": "#e0583c",
    "aimd": "#e07a5f",
    "bbr1": "#a0623a",
    "bbr3": "#7a4526",
    "copa": "#5f5a55",
    "ledbat": "#b9a88f",
}
"""Schemes that people wrote and that run in end hosts alone: warm colours and greys."""
ROUTERS = {"xcp": "#6b2fa0", "dctcp": "#a64ac9", "cubic/sfqcodel": "#c2427a"}
MORE_ROUTERS = ("#8e44ad", "#b5578f", "#5e4fa2", "#d177b4")
"""Schemes that the routers help, over a queue of their own: purples."""
MACHINES = ("#0f6fde", "#12876f", "#1aa3b8", "#2b4fa8", "#3fb58b", "#0b5f7a", "#6aa5e8", "#0a7d3c")
"""Everything else, most of it designed by a machine: blues and greens."""
QUEUES = ("red", "step", "codel", "sfqcodel", "fqcodel", "pie", "xcp")


def colour_of(scheme: str, index: int) -> str:
    """The colour of a scheme; `index` is its place among those that have no fixed one."""
    return FIXED.get(scheme, SCHEMES[index % len(SCHEMES)])


def family_colours(labels: Iterable[str]) -> dict[str, str]:
    """A colour for each contender of an evaluation: its hue says what kind of scheme it is, and is always the same."""
    colours: dict[str, str] = {}
    routers = machines = 0
    for label in labels:
        scheme = label.split(" beside ", maxsplit=1)[0]
        if label == REFERENCE or scheme == "omniscient":
            colours[label] = FIXED[REFERENCE]
        elif scheme in HUMAN or scheme in ROUTERS:
            colours[label] = HUMAN.get(scheme) or ROUTERS[scheme]
        elif scheme.rpartition("/")[2] in QUEUES and "/" in scheme:
            colours[label] = MORE_ROUTERS[routers % len(MORE_ROUTERS)]
            routers += 1
        else:
            colours[label] = MACHINES[machines % len(MACHINES)]
            machines += 1
    return colours


def signal_words(signal: str) -> str:
    """What a signal is."""
    return f"{signal}, {_core.SIGNAL_WORDS[signal]}"


def network_words(network: dict[str, object]) -> str:
    """A network in a line."""
    rtts = network["rtt_ms"]
    assert isinstance(rtts, list)
    rtt = f"{rtts[0]:g}" if len(set(rtts)) == 1 else "/".join(f"{r:g}" for r in rtts)
    buffer = network["buffer_packets"]
    words_on = {
        "seconds": f"on {network['on_s'] or 0:g} s",
        "bytes": f"on {network['on_bytes'] or 0:g} bytes",
        "icsi": "on as long as flows of ICSI",
        "forever": "on for ever",
        "given": "on at given instants",
    }
    on = words_on[str(network["on"])]
    if network["on"] not in ("forever", "given"):
        on += f" / off {network['off_s']:g} s"
    words = [
        f"{network['rate_mbps']:.4g} Mbit/s",
        f"{rtt} ms",
        f"{len(rtts)} sender{'s' * (len(rtts) != 1)}",
        on,
        "infinite buffer" if buffer is None else f"{buffer} packets of buffer",
    ]
    return ", ".join(words)
