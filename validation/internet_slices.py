"""Among which networks of `internet.py` a table is ahead: with little room, short RTTs, few senders, and the like."""

from collections.abc import Callable
from math import inf
from operator import attrgetter

import polars as pl
from internet_networks import Network, network
from internet_runs import HUMAN
from internet_summary import WHERE, Share, compare

RANGES: list[tuple[str, str, float, float]] = [
    ("below 1 BDP", "buffer_bdp", 0, 1),
    ("1 to 2 BDP", "buffer_bdp", 1, 2),
    ("above 2 BDP", "buffer_bdp", 2, inf),
    ("below 2 ms", "link.rtt_ms", 0, 2),
    ("2 to 20 ms", "link.rtt_ms", 2, 20),
    ("20 to 100 ms", "link.rtt_ms", 20, 100),
    ("above 100 ms", "link.rtt_ms", 100, inf),
    ("below 30 Mbit/s", "link.rate_mbps", 0, 30),
    ("30 to 100 Mbit/s", "link.rate_mbps", 30, 100),
    ("above 100 Mbit/s", "link.rate_mbps", 100, inf),
    ("jitter above 1 ms", "link.jitter_ms", 1, inf),
    ("loss above 0.1 %", "link.loss", 1e-3, inf),
    ("1 sender", "senders", 1, 2),
    ("2 to 4 senders", "senders", 2, 5),
    ("more senders", "senders", 5, inf),
]
"""What is looked at, from where, and up to where."""
SORTS = {"on for a time": "seconds", "until so much is sent": "bytes", "as on the Web": "web", "always on": "forever"}


def choices() -> dict[str, Callable[[Network], bool]]:
    """Which networks there are to look at."""

    def within(field: str, low: float, high: float) -> Callable[[Network], bool]:
        return lambda one: low <= attrgetter(field)(one) < high

    def of_sort(sort: str) -> Callable[[Network], bool]:
        return lambda one: one.sort == sort

    ranges = {words: within(*limits) for words, *limits in RANGES}  # type: ignore[arg-type]
    sorts = {words: of_sort(sort) for words, sort in SORTS.items()}
    return ranges | sorts | {"in batches": lambda one: bool(one.link.files)}


def slices(rows: pl.DataFrame, name: str) -> dict[str, list[Share]]:
    """The networks on which a table is ahead, rival by rival, among some of them; those that there are."""
    found = {}
    for words, chosen in choices().items():
        held = [chosen(network(*where)) for where in rows.select(WHERE).iter_rows()]
        some = rows.filter(pl.Series(held, dtype=pl.Boolean))
        ahead = [compare(some, name, rival).ahead for rival in HUMAN]
        if ahead[0].of:
            found[words] = ahead
    return found
