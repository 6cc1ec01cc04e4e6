"""Damaged files: every kind that the program reads, changed at random. Nothing may panic, hang or give a traceback.

`make fuzz-files` runs `FUZZ_FILES` of them (100,000 by default) from `FUZZ_FROM` on, on `FUZZ_THREADS` processes (2).
When one fails its seed is printed, and `FUZZ_SEED` runs that one again and shows it.
"""

import faulthandler
import json
import logging
import os
import random
import re
import resource
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from corpus import RICH_MODEL, TRACE, checkpoints, folder, kept_runs, models, scenarios, tables, workers
from mutations import mutated

from exmachina import Evaluation, InputError, Model, Table, _core
from exmachina.designing.outputs import DesignFiles, resumed
from exmachina.files import MODELS, FinishedRuns, shipped_files

HANG_S = 60
"""A case that takes longer hangs."""
LET_RUN_S = 0.02
"""So long a simulation of a file that can be read goes on before it is asked to stop."""
SIMULATED_S = 0.02
MOST_MEMORY = 24 << 30
"""Of addresses: libraries reserve more than they use."""


@dataclass(frozen=True)
class Kind:
    """A kind of file."""

    name: str
    corpus: Callable[[], list[bytes]]
    """Files that are right."""
    read: Callable[[bytes, random.Random], None]
    """Reads one, and uses what it holds for a moment."""
    text: bool = True


def for_a_moment(compute: Callable[[_core.Stop], object]) -> None:
    """Lets the core compute, and asks it to stop; that it does is what `HANG_S` is for."""
    stop = _core.Stop()
    timer = threading.Timer(LET_RUN_S, stop.set)
    timer.start()
    try:
        compute(stop)
    finally:
        timer.cancel()


def read_model(data: bytes, luck: random.Random) -> None:
    model = Model(text_of(data), "m.toml")
    assert model.signals
    assert model.classes
    assert model.grid_points is None or model.grid_points > 0
    held_out = model.held_out(1, 1)
    table = Table.single(model.signals, 0.9, 5, 1.0, "x")
    part = held_out.part([0])
    for_a_moment(lambda stop: _core.evaluate(table, part, min(model.duration_s, 1.0), workers(), stop))
    for_a_moment(lambda stop: _core.reference(part, min(model.duration_s, 1.0), workers(), stop))
    designer = _core.Designer(model, luck.choice(["default", "paper"]), None, [], [])
    go_on(designer)


def go_on(designer: _core.Designer) -> None:
    """A step of a design, or the beginning of one; then what it is at is a checkpoint that can be read."""
    timer = threading.Timer(LET_RUN_S, designer.stop)
    timer.start()
    try:
        designer.step(workers())
    finally:
        timer.cancel()
    _core.Designer.resume(designer.checkpoint(), "m.dna.checkpoint")
    stop = _core.Stop()
    stop.set()
    for designed in designer.answer(workers(), stop).tables:
        assert Table(designed.dna).dna == designed.dna


def read_scenario(data: bytes, luck: random.Random) -> None:
    files = {"t": TRACE}
    evaluation = Evaluation(text_of(data), "s.toml", files).changed(duration_s=SIMULATED_S)
    use(evaluation, luck)


def use(evaluation: Evaluation, luck: random.Random) -> None:
    """Runs and records one contender."""
    if not evaluation.contenders:
        return
    which = luck.randrange(len(evaluation.contenders))
    core = evaluation._inner
    for_a_moment(lambda stop: core.run(which, 0, 1, workers(), stop))
    if evaluation.contenders[which] != "omniscient":
        core.record(which, 0, SIMULATED_S, 300)


def read_table(data: bytes, _: random.Random) -> None:
    table = Table(data, "x.dna")
    assert len(table.frame) == len(table)
    assert Table(table.dna).dna == table.dna
    assert table.signals
    assert table.provenance is None or table.provenance.seed >= 0
    assert table.config is None or table.config.rtt_ms is None or isinstance(table.config.rtt_ms.low, float)
    part = network().held_out(1, 1)
    for_a_moment(lambda stop: _core.evaluate(table, part, 1.0, workers(), stop))
    _core.record(table, part, 0, 0.5, 300)


@cache
def network() -> Model:
    return Model(shipped_files(MODELS)["known-1x"].read_text(), "known-1x.toml")


def read_checkpoint(data: bytes, _: random.Random) -> None:
    path = folder() / "d.dna.checkpoint"
    path.write_bytes(data)
    model = Model(RICH_MODEL.decode(), "rich.toml")
    go_on(resumed(DesignFiles(folder() / "d.dna", model.classes), model, "default", None))


def read_kept_runs(data: bytes, _: random.Random) -> None:
    path = folder() / "runs" / "x-a-key.parquet"
    path.write_bytes(data)
    runs = FinishedRuns(folder(), "x", "a-key")
    assert runs.path == path
    assert runs.count in (0, 2)
    if runs.count:
        assert runs.first(2)["x"].to_list() == [1.5, None, 2.5]


def read_trace(data: bytes, luck: random.Random) -> None:
    text = (
        "schemes = ['cubic', 'rate:5', 'omniscient']\n[link]\ntrace = 't'\n[path]\nrtt_ms = 10\n[senders]\ncount = 2\n"
    )
    text += "[workload]\non = { seconds = 1 }\noff = { seconds = 0.001 }\n"
    use(Evaluation(text, "s.toml", {"t": data}).changed(duration_s=0.5), luck)


KINDS = [
    Kind("model", models, read_model),
    Kind("scenario", scenarios, read_scenario),
    Kind("table", tables, read_table, text=False),
    Kind("checkpoint", checkpoints, read_checkpoint),
    Kind("kept runs", kept_runs, read_kept_runs, text=False),
    Kind("trace", lambda: [TRACE], read_trace),
]


def text_of(data: bytes) -> str:
    """As `Model.load` and `Evaluation.load` read it."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise InputError("expected a TOML file in UTF-8") from None


def case(seed: int) -> tuple[Kind, bytes, random.Random]:
    """The file of a seed."""
    luck = random.Random(seed)
    kind = luck.choice(KINDS)
    corpus = kind.corpus()
    return kind, mutated(luck.choice(corpus), corpus, luck, text=kind.text), luck


def run(seed: int) -> str:
    """Reads the file of a seed: what its reader made of it. Anything but a refusal of one line is an error."""
    kind, data, luck = case(seed)
    try:
        kind.read(data, luck)
    except InputError as error:
        assert "\n" not in str(error), f"more than one line: {error}"
        return f"{kind.name} refused"
    return f"{kind.name} read"


def work(first: int, count: int, step: int, at: Path) -> None:
    """Every `step`-th case; which one is under way stands in a file, for whoever looks when this process is dead."""
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    logging.disable()
    outcomes: dict[str, int] = {}
    slowest: list[tuple[float, int]] = []
    with at.open("wb", buffering=0) as file:
        for seed in range(first, first + count, step):
            os.pwrite(file.fileno(), b"%20d" % seed, 0)
            faulthandler.dump_traceback_later(HANG_S, exit=True)
            began = time.monotonic()
            try:
                outcome = run(seed)
            except BaseException as failure:
                print(f"failed: FUZZ_SEED={seed}: {type(failure).__name__}: {failure}", flush=True)
                outcome = "failed"
            outcomes[outcome] = outcomes.get(outcome, 0) + 1
            slowest = sorted([*slowest, (time.monotonic() - began, seed)])[-3:]
    faulthandler.cancel_dump_traceback_later()
    at.write_text(json.dumps({"outcomes": outcomes, "slowest": slowest}))


def main() -> int:
    """Runs what the environment asks for; the exit code says whether all went well."""
    asked = {
        name: int(os.environ[name]) for name in os.environ if re.fullmatch(r"FUZZ_(FILES|FROM|THREADS|SEED)", name)
    }
    if "FUZZ_SEED" in asked:
        kind, data, _ = case(asked["FUZZ_SEED"])
        print(f"{kind.name}:\n{data.decode(errors='backslashreplace') if kind.text else data!r}")
        print(run(asked["FUZZ_SEED"]))
        return 0
    first, count, threads = asked.get("FUZZ_FROM", 0), asked.get("FUZZ_FILES", 100_000), asked.get("FUZZ_THREADS", 2)
    outcomes: dict[str, int] = {}
    with TemporaryDirectory(prefix="fuzz-files-") as place:
        ats = [Path(place) / str(i) for i in range(threads)]
        calls = [[sys.executable, __file__, *map(str, (first + i, count - i, threads, ats[i]))] for i in range(threads)]
        running = [subprocess.Popen(call) for call in calls]
        for process, at in zip(running, ats, strict=True):
            if process.wait() == 0:
                summary = json.loads(at.read_text())
                for outcome, times in summary["outcomes"].items():
                    outcomes[outcome] = outcomes.get(outcome, 0) + times
                print("slowest: " + ", ".join(f"FUZZ_SEED={seed}: {spent:.2f} s" for spent, seed in summary["slowest"]))
            else:
                print(f"died with {process.returncode}: FUZZ_SEED={int(at.read_text())}")
                outcomes["failed"] = outcomes.get("failed", 0) + 1
    print(f"{sum(outcomes.values())} files: " + ", ".join(f"{n} {what}" for what, n in sorted(outcomes.items())))
    return int(outcomes.get("failed", 0) > 0)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        work(int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4]))
    else:
        sys.exit(main())
