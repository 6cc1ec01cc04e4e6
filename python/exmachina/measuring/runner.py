"""Measuring the contenders of a scenario, as far as their runs are not kept from earlier.

Each run takes the seconds that it says. Some can run side by side, each with hosts of its own, as long as packets are
handed over in time: of that a run keeps a log, and one that was late is made again.
"""

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Unpack

import polars as pl

from exmachina import _core
from exmachina.errors import MachineError, OptionError, SchemeError, Stopped
from exmachina.evaluation import Evaluation, ScenarioLike, results_of
from exmachina.files import alone, make_folder, write_atomically
from exmachina.measuring.measurement import LATENESS, Measurement
from exmachina.measuring.needs import check_program
from exmachina.measuring.options import TestbedOptions, TestbedSettings
from exmachina.measuring.stacks import Kernel, Quic, Stack
from exmachina.schemes import SchemeLike

__all__ = ["Measuring", "testbed"]


@dataclass(frozen=True)
class Measuring:
    """How a measurement stands.

    >>> now = exmachina.Measuring(contender="cubic", done=1, runs=4, left_s=90.0)
    >>> now.done / now.runs
    0.25
    """

    contender: str
    """Whose run was finished last."""
    done: int
    """Runs finished, of all contenders, those of an earlier call included."""
    runs: int
    """Runs in all, of all contenders."""
    left_s: float | None
    """Seconds left, at the pace so far; none at the beginning."""


def testbed(
    scenario: ScenarioLike,
    schemes: Sequence[SchemeLike] | None = None,
    options: TestbedOptions | None = None,
    *,
    loaded: Mapping[str, str] | None = None,
    output: str | os.PathLike[str] | None = None,
    pcap: str | os.PathLike[str] | None = None,
    qlog: str | os.PathLike[str] | None = None,
    on_progress: Callable[[Measuring], None] | None = None,
    **settings: Unpack[TestbedSettings],
) -> Measurement:
    """Measures contenders on the networks of a scenario: real hosts at both ends, our path between.

    Between the hosts is the simulator's own path in real time, with the scenario's queues, links, losses, delays and
    random streams; senders are on and off as they are simulated. The hosts are

    - this machine's kernel: a run has two network namespaces without a name, which nothing outlives, and touches
      nothing outside them. `cubic`, `newreno` and `bbr1` are the kernel's `cubic`, `reno` and `bbr`; rule tables are in
      the kernel meanwhile, as `export` writes them;
    - or, with `stack="quic"`, noq in this process, over UDP on the loopback, without root. `cubic`, `newreno` and
      `bbr3` are noq's; rule tables run as they are.

    With `output`, results are written there at the end (see `Measurement.save`), and finished runs are kept there
    meanwhile: a measurement that was interrupted goes on where it was if it is called again.

    >>> exmachina.testbed("r4", ["cubic"])  # has the transport of ns-2
    Traceback (most recent call last):
        ...
    exmachina.errors.ScenarioError: r4.toml:...: transport: expected preset = "today" ...

    Args:
        scenario: As of `evaluate`, with the preset "today" of transports: real hosts have the transport that they have.
        schemes: The contenders; those of the scenario if not given.
        options: Runs, seconds, seed, how many at once, and how late packets may be.
        loaded: What the kernel calls schemes that it has already, by the contenders' labels.
        output: A folder, created if missing.
        pcap: A folder for what the senders' hosts saw of each run, headers only, as files that Wireshark reads; of the
            kernel.
        qlog: A folder for what senders noted of each connection, as qlog (JSON-SEQ); of QUIC.
        on_progress: Called at the beginning and after each run.
        **settings: Fields of `TestbedOptions`, which go before those of `options`.

    Raises:
        InputError: If something given is not possible.
        MachineError: If the machine lacks something, or was too busy for its packets to be in time.
        Stopped: At ctrl-C, once finished runs have been kept.
    """
    check_program()
    chosen = replace(options or TestbedOptions(), **settings)
    # What is of the one stack alone, and what the other has instead.
    for name, given, stack, instead in [
        ("loaded", loaded, "kernel", "QUIC runs tables as they are"),
        ("pcap", pcap, "kernel", "QUIC's packets are encrypted, and qlog says what was in them"),
        ("qlog", qlog, "quic", "the kernel's packets are recorded with pcap"),
    ]:
        if given is not None and chosen.stack != stack:
            raise OptionError(f"{name}: expected with stack {stack} only: {instead}")
    evaluation = Evaluation.of(scenario).changed(
        schemes, runs=chosen.runs, duration_s=chosen.duration_s, seed=chosen.seed
    )
    if not evaluation.contenders:
        raise SchemeError(f"{evaluation.name}: schemes: expected at least one, in the scenario or given")
    hosts = _hosts(chosen, evaluation, loaded or {})
    evaluation.check_measurable(hosts.asked())
    hosts.check_machine()
    folder, records = (None if path is None else make_folder(path) for path in (output, pcap or qlog))
    lock = nullcontext() if folder is None else alone(folder / ".lock", f"{folder}: this folder")
    with lock, hosts.ready() as stack_ready:
        measurement = _measurement(_Bed(evaluation, chosen, hosts, stack_ready, records), folder, on_progress)
        if folder is not None:
            measurement.save(folder)
    return measurement


def _hosts(options: TestbedOptions, evaluation: Evaluation, loaded: Mapping[str, str]) -> Stack:
    """Who is at both ends."""
    if options.stack == "quic":
        return Quic()
    return Kernel({label: table for label, table in evaluation.tables.items() if label not in loaded}, loaded)


@dataclass(frozen=True)
class _Bed:
    """What is measured, and how."""

    evaluation: Evaluation
    options: TestbedOptions
    hosts: Stack
    stack: "_core.Stack"
    """The hosts, with all that they need."""
    folder: Path | None
    """Where it is put what hosts write down."""

    def measured(self, contender: int, run: int, stop: _core.Stop) -> pl.DataFrame:
        """The flows of a run, with how late it was: the first attempt that was in time."""
        label, limit = self.evaluation.contenders[contender], self.options.late_ms
        latest: list[float] = []
        for attempt in range(1, self.options.attempts + 1):
            flows, records = self.evaluation.measured(contender, run, self.stack, self.folder is not None, stop)
            latest.append(flows.item(0, "late_p999_ms"))
            if latest[-1] <= limit:
                if self.folder is not None:
                    for ending, content in records:
                        write_atomically(self.folder / f"{Path(label).name}-{run}{ending}", content)
                unknown = (pl.lit(None, flows.schema[name]).alias(name) for name in self.hosts.unknown)
                return flows.with_columns(*unknown, attempts=pl.lit(attempt, pl.UInt32))
        raise MachineError(
            f"testbed: {label}, run {run}: one packet in a thousand was handed over more than {limit:g} ms late, "
            f"{min(latest):.2g} ms at best in {len(latest)} attempts: the machine is too busy, or --at-once too many"
        )


def _measurement(bed: _Bed, kept: Path | None, on_progress: Callable[[Measuring], None] | None) -> Measurement:
    """Measures what is not kept."""
    evaluation = bed.evaluation
    contenders = range(len(evaluation.contenders))
    finished = [evaluation.finished_runs(i, kept, made_by=bed.hosts.made_by) for i in contenders]
    # Contenders take turns: whatever happens on the machine meanwhile happens to all of them.
    missing = [(i, run) for run in range(evaluation.runs) for i in contenders if run >= finished[i].count]
    began, runs = time.monotonic(), evaluation.runs * len(contenders)
    try:
        with _under_way(bed, missing) as measured:
            for done, ((contender, _), flows) in enumerate(zip(missing, measured, strict=True), start=1):
                finished[contender].add(flows, 1)
                if on_progress is not None:
                    left = len(missing) - done
                    on_progress(
                        Measuring(
                            contender=evaluation.contenders[contender],
                            done=runs - left,
                            runs=runs,
                            left_s=(time.monotonic() - began) * left / done,
                        )
                    )
    except KeyboardInterrupt:
        raise Stopped.keeping(kept) from None
    finally:
        for own in finished:
            own.keep()
    rows = pl.concat([own.first(evaluation.runs) for own in finished])
    return Measurement(
        results=results_of(evaluation, rows.drop(LATENESS)),
        lateness=rows.group_by("contender", "run", maintain_order=True).agg(pl.col(LATENESS).first()),
    )


@contextmanager
def _under_way(bed: _Bed, runs: Sequence[tuple[int, int]]) -> Iterator[Iterator[pl.DataFrame]]:
    """What runs give, in order, while others are under way; all end when nobody waits for them any more."""
    stop = _core.Stop()
    pool = ThreadPoolExecutor(bed.options.at_once, thread_name_prefix="exmachina-testbed")
    futures = [pool.submit(bed.measured, contender, run, stop) for contender, run in runs]
    try:
        yield (future.result() for future in futures)
    finally:
        stop.set()
        pool.shutdown(wait=True, cancel_futures=True)
