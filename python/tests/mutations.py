"""Changes at random to files: to bits and bytes, and to the words and numbers of text."""

import random
import re
import struct

__all__ = ["mutated"]

WORDS = b"""
nan inf -inf 0 -1 1 -0.0 1e308 -1e308 1e-300 1e-20 1.0000001 1e7 1e10 65536 4294967296 9223372036854775807
18446744073709551616 true "" "x" {} [] [1] [0,0] [1,2,3] {list=[]} {uniform=[0,1e308]}
{log_uniform=[1e-300,1e300]} {grid=[1,9],points=10000} 'omniscient' 'window:1000000' 'rate:0.001' 'forever'
"infinite" {bdp=1e308} {seconds=1e-6} {icsi={}} {at=[{start_s=1e308}]} null
""".split()
"""What numbers become."""
DOUBLE = re.compile(rb"[\x81\x89\xa9\xb1\xb9\xc1\xc9\xd1][\x01\x02].{8}", re.DOTALL)
"""A double of a rule table, after the key of its field."""
DOUBLES = (float("nan"), float("inf"), -float("inf"), 0.0, -0.0, -1.0, 1.0, 3.0, 5e-324, 1e6, 1e9, 163840.0, 1e308)
NUMBER = re.compile(rb"-?\d[\d_]*(\.\d+)?([eE][-+]?\d+)?")
TOKEN = re.compile(rb"[\w.+-]+|\"[^\"\n]*\"|'[^'\n]*'")


def mutated(data: bytes, others: list[bytes], luck: random.Random, *, text: bool) -> bytes:
    """Some changes to a file: to its words if it is text, or else to its bytes."""
    for _ in range(luck.choice((1, 1, 1, 2, 3, 5))):
        change = luck.choice(TEXTUAL if text and luck.random() < 0.8 else BINARY)
        data = change(data, luck.choice(others), luck)
    return data


def spot(data: bytes, luck: random.Random) -> int:
    return luck.randrange(len(data) + 1)


def flip(data: bytes, _: bytes, luck: random.Random) -> bytes:
    at = spot(data, luck)
    return data[:at] + bytes(b ^ (1 << luck.randrange(8)) for b in data[at : at + 1]) + data[at + 1 :]


def cut(data: bytes, _: bytes, luck: random.Random) -> bytes:
    return data[: spot(data, luck)]


def remove(data: bytes, _: bytes, luck: random.Random) -> bytes:
    at = spot(data, luck)
    return data[:at] + data[at + luck.choice((1, 2, 8, 100)) :]


def repeat(data: bytes, _: bytes, luck: random.Random) -> bytes:
    at = spot(data, luck)
    return data[:at] + data[at : at + luck.choice((1, 8, 100))] * luck.choice((2, 3, 50)) + data[at:]


def insert(data: bytes, _: bytes, luck: random.Random) -> bytes:
    at = spot(data, luck)
    return data[:at] + luck.randbytes(luck.choice((1, 2, 8))) + data[at:]


def double(data: bytes, _: bytes, luck: random.Random) -> bytes:
    by = struct.pack("<d", luck.choice(DOUBLES))
    place = some(DOUBLE, data, luck)
    return data if place is None else replaced(data, place, place.group()[:2] + by)


def splice(data: bytes, other: bytes, luck: random.Random) -> bytes:
    return data[: spot(data, luck)] + other[spot(other, luck) :]


def replaced(data: bytes, place: re.Match[bytes] | None, by: bytes) -> bytes:
    return data if place is None else data[: place.start()] + by + data[place.end() :]


def some(pattern: re.Pattern[bytes], data: bytes, luck: random.Random) -> re.Match[bytes] | None:
    found = list(pattern.finditer(data))
    return luck.choice(found) if found else None


def number(data: bytes, _: bytes, luck: random.Random) -> bytes:
    return replaced(data, some(NUMBER, data, luck), luck.choice(WORDS))


def scaled(data: bytes, _: bytes, luck: random.Random) -> bytes:
    place = some(NUMBER, data, luck)
    if place is None:
        return data
    value = float(place.group().replace(b"_", b"")) * 10.0 ** luck.randrange(-12, 13)
    return replaced(data, place, (b"%r" if luck.random() < 0.5 else b"%.0f") % value)


def word(data: bytes, other: bytes, luck: random.Random) -> bytes:
    by = some(TOKEN, other, luck)
    return data if by is None else replaced(data, some(TOKEN, data, luck), by.group())


def line(data: bytes, other: bytes, luck: random.Random) -> bytes:
    lines, more = data.split(b"\n"), other.split(b"\n")
    at = luck.randrange(len(lines) + 1)
    gone = luck.choice((0, 1))
    return b"\n".join(
        [*lines[:at], *luck.choice(([luck.choice(more)], [], lines[at : at + 1] * 2)), *lines[at + gone :]]
    )


BINARY = [flip, flip, double, double, cut, remove, repeat, insert, splice]
TEXTUAL = [number, number, scaled, scaled, word, line, line]
