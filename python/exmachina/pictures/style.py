"""Colours, marks and words that pictures and pages share.

A scheme's hue says what kind of scheme it is, and so does the shape of its mark. Within a chart no two colours are near
each other for anybody, those who do not see red, green or blue included: `python/tests/test_colours.py` measures it.
"""

from collections.abc import Iterable
from typing import Literal

from exmachina import _core
from exmachina.scoring import AIMD, AIMD_BDP, REFERENCE

__all__ = [
    "CROSS",
    "FIXED",
    "GRID",
    "GROUND",
    "INK",
    "MACHINES",
    "MARKS",
    "MUTED",
    "ON_DARK",
    "PUBLISHED",
    "SENDERS",
    "Kind",
    "family_colours",
    "kind_of",
    "network_words",
    "signal_words",
]

GROUND = "#ffffff"
"""What charts stand on."""
INK = "#1b2430"
MUTED = "#5d6778"
GRID = "#e6e9ef"
FIXED = {REFERENCE: INK, AIMD: "#741c19", AIMD_BDP: "#c38074"}
HUMAN = {
    "newreno": "#96929e",
    "reno-linux": "#707f7f",
    "vegas": "#888251",
    "vegas-ns2": "#b88c45",
    "compound": "#fa6513",
    "cubic": "#d40303",
    "cubic-linux": "#cd7369",
    "cubic-linux-2.6.22": "#ae386a",
    "cubic-rfc9438": "#863a23",
    "cubic-linux-6": "#3f0a18",
    "aimd": "#741c19",
    "bbr1": "#ab8c82",
    "bbr3": "#5d3030",
    "copa": "#66643f",
    "ledbat": "#846420",
}
"""Schemes that people wrote and that run in end hosts alone: warm colours and greys."""
ROUTERS = {"xcp": "#a2306f", "dctcp": "#822b4d", "cubic/sfqcodel": "#966595"}
MORE_ROUTERS = ("#674cb0", "#611f6c", "#fa35c2")
"""Schemes that the routers help, over a queue of their own: purples."""
MACHINES = ("#5e79ff", "#3701be", "#5e34fb", "#8f8fc6", "#453367", "#04549e")
"""Everything else, most of it designed by a machine: blues."""
PUBLISHED = ("#6c9f81", "#0e4f3f", "#52745e")
"""What the authors of the papers designed: greens."""
SENDERS = ("#5e79ff", "#fa6513", "#0e4f3f", "#a2306f", "#d40303", "#96929e", "#3701be", "#888251")
"""Flows of one run: colours of all kinds, as they are all of one scheme."""
ON_DARK = {
    GROUND: "#171e28",
    INK: "#e6eaf0",
    MUTED: "#a0abba",
    GRID: "#2c3644",
    "#5e79ff": "#6847fa",
    "#3701be": "#7a7efe",
    "#5e34fb": "#aba9ff",
    "#8f8fc6": "#8071aa",
    "#453367": "#e6cdfe",
    "#6c9f81": "#6c856e",
    "#0e4f3f": "#73b79c",
    "#52745e": "#bfe7c7",
    "#96929e": "#bfbaca",
    "#888251": "#b4ae6c",
    "#fa6513": "#f87e06",
    "#d40303": "#d34a07",
    "#5d3030": "#e5a5a9",
    "#66643f": "#e6e1ac",
    "#966595": "#997d8f",
    "#a2306f": "#d575ba",
    "#674cb0": "#796ca2",
    "#611f6c": "#dcb8ec",
    "#fa35c2": "#b9367f",
    "#822b4d": "#c891a9",
    "#741c19": "#b88f8a",
    "#c38074": "#f0c0af",
    "#707f7f": "#687777",
    "#b88c45": "#a67744",
    "#cd7369": "#8c665f",
    "#ae386a": "#b67b95",
    "#863a23": "#b04833",
    "#ab8c82": "#fbdbce",
    "#846420": "#f7ca6f",
    "#04549e": "#4d6d87",
    "#3f0a18": "#987f6c",
}
"""By the colour on white; whatever is not here is the same on both."""

Kind = Literal["reference", "human", "router", "machine", "published"]
MARKS: dict[Kind, str] = {
    "reference": "cross",
    "human": "square",
    "router": "triangle-up",
    "machine": "circle",
    "published": "diamond",
}
"""The shape of a mark, by the kind of scheme."""
CROSS = "M-0.7,-0.7L0.7,0.7M-0.7,0.7L0.7,-0.7"
"""Another shape: two lines."""
QUEUES = ("red", "step", "codel", "sfqcodel", "fqcodel", "pie", "xcp")


def kind_of(label: str) -> Kind:
    """What kind of scheme a contender has; nothing in its name says that a table was published."""
    scheme = _scheme(label)
    if label == REFERENCE or scheme == "omniscient":
        return "reference"
    if scheme in ROUTERS or ("/" in scheme and scheme.rpartition("/")[2] in QUEUES):
        return "router"
    return "human" if scheme in HUMAN or label in (AIMD, AIMD_BDP) else "machine"


def family_colours(labels: Iterable[str]) -> dict[str, str]:
    """A colour for each contender: its hue says what kind of scheme it is, and is always the same."""
    colours: dict[str, str] = {}
    routers = machines = 0
    for label in labels:
        scheme, kind = _scheme(label), kind_of(label)
        if kind == "reference":
            colours[label] = FIXED[REFERENCE]
        elif known := FIXED.get(label) or HUMAN.get(scheme) or ROUTERS.get(scheme):
            colours[label] = known
        elif kind == "router":
            colours[label] = MORE_ROUTERS[routers % len(MORE_ROUTERS)]
            routers += 1
        else:
            colours[label] = MACHINES[machines % len(MACHINES)]
            machines += 1
    return colours


def _scheme(label: str) -> str:
    """Of a sender in a mix: its own."""
    return label.split(" beside ", maxsplit=1)[0]


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
