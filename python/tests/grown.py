"""Tables of our own making in the authors' format, of the shape of the published ones: boxes in boxes."""

import struct
from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np

import exmachina

TOP = 163_840.0
AXES = {
    "send_ewma": 0,
    "ack_ewma": 1,
    "rtt_ratio": 2,
    "slow_ack_ewma": 3,
    "rtt_diff": 4,
    "queueing_delay": 5,
    "loss_rate": 1027,
}
FIELDS = {name: 21 + axis if axis < 6 else axis for name, axis in AXES.items()}

Box = dict[str, tuple[float, float]]


def grown(seed: int, signals: Sequence[str], splits: int) -> exmachina.Table:
    """A table that so many splits made, along all signals at once, of one rule after another."""
    rng = np.random.default_rng(seed)
    leaves: list[Box] = [dict.fromkeys(signals, (0.0, TOP))]
    for _ in range(splits):
        # The box nearest to the origin is where memories are, and what a search splits most often.
        box = leaves.pop(0 if rng.random() < 0.5 else int(rng.integers(len(leaves))))
        leaves[:0] = list(parts(box, {name: place(rng, name, *box[name]) for name in signals}))
    tree = message(1, memory_range(dict.fromkeys(signals, (0.0, TOP))))
    for box in leaves:
        whole = memory_range(box)
        tree += message(2, message(1, whole) + message(3, action(rng) + message(34, whole)))
    return exmachina.Table(tree, f"grown-{seed}.dna")


def place(rng: np.random.Generator, name: str, low: float, high: float) -> float:
    """Somewhere in a range, where memories are: also a hair above an RTT ratio of 1, as in published tables."""
    if name == "rtt_ratio":
        at = 1 + 10 ** rng.uniform(-13, 0.7)
    elif name == "loss_rate":
        at = 10 ** rng.uniform(-4, -0.5)
    else:
        at = 10 ** rng.uniform(-3, 2.5)
    return float(at) if low < at < high else (low + min(high, 4 * low + 1)) / 2


def parts(box: Box, at: dict[str, float]) -> Iterator[Box]:
    """The boxes that planes through a point make of one."""
    sides = [[(low, at[name]), (at[name], high)] for name, (low, high) in box.items()]
    return (dict(zip(box, some, strict=True)) for some in product(*sides))


def action(rng: np.random.Generator) -> bytes:
    """Mostly windows that stay within bounds; some that vanish, some that hit the ceiling."""
    multiple = rng.choice(
        [0.0, 1.0, 1.5, rng.uniform(0, 1), round(rng.uniform(0, 1), 2)], p=[0.05, 0.1, 0.05, 0.4, 0.4]
    )
    increment = int(rng.integers(-30, 60))
    intersend = rng.choice([0.0, 0.01, 10 ** rng.uniform(-3, 2)])
    zigzag = 2 * increment if increment >= 0 else -2 * increment - 1
    return key(31, 0) + varint(zigzag) + double(32, multiple) + double(33, intersend)


def memory_range(box: Box) -> bytes:
    lower = b"".join(double(FIELDS[name], low) for name, (low, _) in box.items())
    upper = b"".join(double(FIELDS[name], high) for name, (_, high) in box.items())
    return message(11, lower) + message(12, upper) + b"".join(key(13, 0) + varint(AXES[name]) for name in box)


def key(field: int, kind: int) -> bytes:
    return varint(field << 3 | kind)


def double(field: int, value: float) -> bytes:
    return key(field, 1) + struct.pack("<d", value)


def message(field: int, content: bytes) -> bytes:
    return key(field, 2) + varint(len(content)) + content


def varint(value: int) -> bytes:
    out = b""
    while value > 0x7F:
        out += bytes([value & 0x7F | 0x80])
        value >>= 7
    return out + bytes([value])
