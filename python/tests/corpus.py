"""Files that are right, of every kind that the program reads: what `mutants.py` damages."""

import atexit
from functools import cache
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp

import polars as pl

from exmachina import Model, Table, _core
from exmachina.files import ALGORITHMS, MODELS, SCENARIOS, FinishedRuns, shipped_files

DIGEST_FIELD = 1006
"""Of a table's outermost message."""

RICH = b"""\
schemes = ["newreno", "cubic/sfqcodel", "omniscient", "window:40", "general-1/red", "bbr3"]
runs = 2
duration_s = 10
[[links]]
name = "a"
rate_mbps = { log_uniform = [1, 100] }
delay_ms = 5
loss = 0.01
buffer = { bdp = 2 }
queue = { red = { min_packets = 5, max_packets = 15, max_probability = 0.1, weight = 0.002, gentle = true } }
[[links]]
name = "b"
trace = "t"
delay_ms = 5
buffer = { bytes = 100_000 }
[path]
jitter_ms = 0.5
clock_ms = 1
reordering = { probability = 0.01, delay_ms = 5 }
[[senders]]
count = { uniform = [0, 4] }
rtt_ms = 100
links = ["a", "b"]
[[senders]]
count = 2
aimd = 1
scheme = "compound"
links = ["b"]
workload = { on = { at = [{ start_s = 0, bytes = 1e6 }, { start_s = 5 }] } }
[workload]
on = { icsi = { extra_bytes = 16384 } }
off = { fixed_seconds = 0.2 }
first_off = "half-exponential"
[transport]
initial_window = 10
recovery = "newreno"
delayed_ack_ms = 40
packet_bytes = 1500
"""

RICH_MODEL = b"""\
name = "rich"
[link]
rate_mbps = { uniform = [5, 15] }
buffer = { packets = 100 }
[path]
rtt_ms = { uniform = [20, 100] }
[[senders]]
name = "a"
count = { list = [0, 1, 2] }
objective = { delta = 0.1 }
[[senders]]
name = "b"
count = 1
aimd = 0
[workload]
on = { bytes = 100_000 }
off = { seconds = 0.5 }
[objective]
preset = "proportional"
loss_weight = 1
[[also]]
workload = { on = { seconds = 1 }, off = { seconds = 1 } }
weight = 0.5
[design]
signals = ["ack_ewma", "rtt_ratio", "queueing_delay"]
specimens = 4
duration_s = 2
seed = 3
min_split_width = 0.01
increment = { min = 0, max = 256, smallest = 1, largest = 32, mult = 4, start = 1 }
multiple = { min = 0, max = 1, smallest = 0.01, largest = 0.5, mult = 4, start = 1 }
intersend_ms = { min = 0.25, max = 3, smallest = 0.05, largest = 1, mult = 4, start = 3 }
"""

TRACE = b"\n".join(b"%d" % ms for ms in range(0, 600, 3))


@cache
def workers() -> _core.Workers:
    return _core.Workers(1)


@cache
def folder() -> Path:
    """Where files are written; gone with the process."""
    place = Path(mkdtemp(prefix="fuzz-files-"))
    atexit.register(rmtree, place, ignore_errors=True)
    return place


def models() -> list[bytes]:
    return [RICH_MODEL, *(file.read_bytes() for file in shipped_files(MODELS).values())]


def scenarios() -> list[bytes]:
    return [RICH, *(file.read_bytes() for file in shipped_files(SCENARIOS).values()), *models()]


@cache
def tables() -> list[bytes]:
    """With a digest, and without as the authors write them."""
    shipped = [file.read_bytes() for file in shipped_files(ALGORITHMS).values()]
    small = [Table.single(["rtt_ratio"], 0.9, 5, 1.0, "x").dna, *sorted(shipped, key=len)[:4]]
    return [*small, *(without_digest(Table(dna).dna) for dna in small)]


def without_digest(dna: bytes) -> bytes:
    """A table's file less the digest among the fields of its outermost message."""
    kept, at = b"", 0
    while at < len(dna):
        begin = at
        key, at = varint(dna, at)
        assert key & 7 == 2, "the outermost message has messages and bytes only"
        length, at = varint(dna, at)
        at += length
        if key >> 3 != DIGEST_FIELD:
            kept += dna[begin:at]
    return kept


def varint(data: bytes, at: int) -> tuple[int, int]:
    """A number, and where it ends."""
    value = shift = 0
    while True:
        value |= (data[at] & 127) << shift
        shift, at = shift + 7, at + 1
        if data[at - 1] < 128:
            return value, at


@cache
def checkpoints() -> list[bytes]:
    """Of designs some steps old."""
    model = Model(RICH_MODEL.decode(), "rich.toml")
    found = []
    for search in ("default", "paper"):
        designer = _core.Designer(model, search, None, [], [])
        for _ in range(3):
            designer.step(workers())
            found.append(designer.checkpoint().encode())
    return found


@cache
def kept_runs() -> list[bytes]:
    """As an evaluation keeps them."""
    runs = FinishedRuns(folder(), "x", "a-key")
    assert runs.path is not None
    runs.path.unlink(missing_ok=True)
    runs = FinishedRuns(folder(), "x", "a-key")
    runs.add(pl.DataFrame({"run": [0, 0, 1], "x": [1.5, None, 2.5], "scheme": ["a", "b", "c"]}), 2)
    runs.keep()
    assert runs.path is not None
    return [runs.path.read_bytes()]
