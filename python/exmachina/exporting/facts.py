"""What templates are filled in with: all of it follows from the table and from what every table means alike."""

import re
from typing import Any

from exmachina import _core
from exmachina.errors import OptionError
from exmachina.exporting.rounding import Moved
from exmachina.schemes import Table

__all__ = ["facts_of", "kernel_name", "moved_of", "plain"]

MOST_KERNEL_LETTERS = 13
"""Linux has room for 15 in the name of a congestion control, and in that of its map, which has two before it."""
TIME_BITS = 20
"""Bits below a nanosecond of the averages of exported controllers, as `templates/shared/exm.c` has it."""
FAR_BITS = 62
"""A power of two beyond every split that leaves room for a difference."""
SHOWN_KERNEL_NAME = re.compile(rf"[A-Za-z0-9_]{{1,{MOST_KERNEL_LETTERS}}}")


def plain(name: str) -> str:
    """A name that may stand in a comment, a string and a file's name of any language."""
    return re.sub(r"[^A-Za-z0-9._-]", "_", name) or "table"


def kernel_name(name: str, *, given: bool) -> str:
    """What Linux calls it. A name that was given is taken as it is, that of a file is shortened.

    Raises:
        OptionError: If Linux would not take the name that was given.
    """
    if given:
        if not SHOWN_KERNEL_NAME.fullmatch(name):
            raise OptionError(
                f"name: expected at most {MOST_KERNEL_LETTERS} letters, digits and _ for Linux, got {name}"
            )
        return name
    return re.sub(r"[^A-Za-z0-9_]", "_", name)[:MOST_KERNEL_LETTERS].rstrip("_") or "table"


def moved_of(quantised: _core.Quantised) -> tuple[Moved, ...]:
    """How far splits moved, signal by signal."""
    unit = dict(zip(_core.SIGNALS, _core.SIGNAL_UNITS, strict=True))
    return tuple(Moved(one.signal, one.splits, one.farthest, unit[one.signal]) for one in quantised.moved)


def facts_of(table: Table, quantised: _core.Quantised, *, name: str, kernel: str) -> dict[str, Any]:
    """Whatever a template may want to know."""
    ours = _core.SEMANTICS
    crate = re.sub(r"[^a-z0-9-]", "-", name.lower()).strip("-")
    looks_at = f"{len(quantised.actions)} rules that look at {', '.join(table.signals)}"
    return {
        "kind": "law" if table.law else "table",
        "summary": "a law of how long the queue is on the flow's own path" if table.law else looks_at,
        "law": table.law,
        "name": name,
        "kernel_name": kernel,
        "map_name": f"x_{kernel}",
        "library": re.sub(r"[^a-z0-9]", "_", name.lower()),
        "stem": f"tcp-{crate}",
        "class": _camel(crate),
        "crate": crate if crate[:1].isalpha() else f"table-{crate}".rstrip("-"),
        "dna": f"{name}-quantised.dna",
        "version": _core.__version__,
        "signals": table.signals,
        "looks_further": any(_core.SIGNALS.index(signal) >= _core.FIRST_SIGNALS for signal in table.signals),
        "looks_at_losses": not table.law and "loss_rate" in table.signals,
        "fast_shift": _shift(ours.fast_weight),
        "slow_shift": _shift(ours.slow_weight),
        "loss_shift": _shift(ours.loss_weight),
        "multiple_bits": _shift(1 / ours.multiple_units),
        "most_in_one": ours.most_in_one,
        "max_window": ours.max_window,
        "far_bits": FAR_BITS,
        "root": quantised.root,
        "depth": quantised.depth,
        "planes_room": _room(len(quantised.planes)),
        "rules_room": _room(len(quantised.actions)),
        "planes": [_plane(plane) for plane in quantised.planes],
        "rules": [
            {"multiple": a.multiple, "increment": a.increment_packets, "intersend_ns": a.intersend_ns}
            for a in quantised.actions
        ],
        "moved": moved_of(quantised),
        "closed_rules": quantised.closed_rules,
        "multiple": quantised.multiple,
        "intersend_ms": quantised.intersend_ms,
    }


def _camel(name: str) -> str:
    """A class of ns-3: `TcpGeneral0_1Robust`."""
    parts = [part.capitalize() for part in f"tcp-{name}".split("-") if part]
    return re.sub(r"(?<=\d) (?=\d)", "_", " ".join(parts)).replace(" ", "")


def _room(count: int) -> int:
    """The least power of two that is no less."""
    return 1 << max(count - 1, 0).bit_length()


def _shift(weight: float) -> int:
    """The number of bits of a weight that is a power of two."""
    bits = round(1 / weight).bit_length() - 1
    assert weight == 2.0**-bits, f"expected a power of two, got {weight}"
    return bits


def _plane(plane: _core.Plane) -> dict[str, Any]:
    """A split, in the units of the exported memory: 2^-20 ns, and 2^-16 of ratios."""
    signal, ours = _core.SIGNALS[plane.axis], _core.SEMANTICS
    if not _core.SIGNAL_UNITS[plane.axis]:
        at, words = plane.at, f"from {plane.at / ours.ratio_units:.9g} on"
    else:
        ns = (plane.at << TIME_BITS) * 1_000_000
        at, rest = divmod(ns, round(ours.time_units_per_ms))
        assert rest == 0, "expected a unit of splits that is a whole number of those of averages"
        words = f"from {plane.at / ours.time_units_per_ms:.9g} ms on"
    return {
        "axis": plane.axis,
        "signal": signal,
        "at": min(at, 1 << FAR_BITS),
        "words": words,
        "below": plane.below,
        "from_it_on": plane.from_it_on,
    }
