"""The tuning of a law: generations of candidates, each of which meets its rivals on networks of its own.

The distribution that they are drawn from moves to where they are ahead more often (CMA-ES, as in the design of laws). A
design maximises a model's mean score, in which a few bad networks outweigh many where two schemes are close; here
counts whether a law is ahead: on each network, of each rival, a smooth share.
"""

import json
import os
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Unpack

import numpy as np
import polars as pl

from exmachina import _core
from exmachina.engines import opened
from exmachina.errors import OptionError, SchemeError, Stopped, TableError
from exmachina.evaluation import Evaluation, ScenarioLike
from exmachina.files import alone, digest, make_folder, read_parquet, write_parquet
from exmachina.schemes import SchemeLike, Table, TableLike, contender_of, designed_delta
from exmachina.seeds import named_seed
from exmachina.stats import Floats, mean_interval
from exmachina.tuning.contest import Contest, worths
from exmachina.tuning.options import TuneOptions, TuneSettings
from exmachina.tuning.tuned import GENERATIONS, Tuned, ahead_of

__all__ = ["RIVALS", "Tuning", "tune"]

RIVALS = ("cubic", "cubic/fqcodel", "bbr3", "copa", "vegas")
CHECKED_AT_ONCE = 10
"""Networks, between two reports."""


@dataclass(frozen=True)
class Tuning:
    """How tuning stands.

    >>> def show(now):
    ...     assert 0 <= now.done <= 1
    >>> few = exmachina.TuneOptions(generations=1, candidates=4, networks=1, checks=2)
    >>> _ = exmachina.tune("internet-1", ["r4"], few, rivals=["cubic"], on_progress=show)
    """

    doing: str
    done: float
    """Of all that will be simulated, about."""
    worth: float | None
    """Of the candidates of the last generation, their mean; none before there is one."""
    left_s: float | None
    """Seconds left, at the pace so far; none at the beginning."""


def tune(
    law: TableLike,
    scenarios: Sequence[ScenarioLike],
    options: TuneOptions | None = None,
    *,
    rivals: Sequence[SchemeLike] = RIVALS,
    output: str | os.PathLike[str] | None = None,
    on_progress: Callable[[Tuning], None] | None = None,
    **settings: Unpack[TuneSettings],
) -> Tuned:
    """Tunes a law, so that on the networks of scenarios it is ahead of rivals as often as may be.

    Ahead is who has the higher mean over senders of ln(throughput) - delta ln(RTT). All senders run the law, or a
    rival, but those for which a scenario names a scheme.

    >>> few = exmachina.TuneOptions(generations=2, candidates=4, networks=2, checks=4)
    >>> tuned = exmachina.tune("internet-1", ["r4", "r7"], few, rivals=["cubic"])
    >>> sorted(tuned.ahead.columns)
    ['networks', 'rival', 'share', 'share_before']

    Args:
        law: A law: an algorithm's name, the path of a file, or a table.
        scenarios: What networks there are; each has as much weight as any other. Fields that are ranges are drawn anew.
        options: How long, on how much, and what counts.
        rivals: Who runs on the same networks.
        output: A folder, created if missing: results are written there at the end (see `Tuned.save`), and what
            generations were worth is kept there meanwhile, so that the same call goes on where one was interrupted.
        on_progress: Called before each generation, and as networks are checked.
        **settings: Fields of `TuneOptions`, which go before those of `options`.

    Raises:
        InputError: If something given is not possible.
        ClusterError: If a cluster cannot be used; what was computed is kept.
        Stopped: At ctrl-C, once the law as it is then has been written.
    """
    chosen = replace(options or TuneOptions(), **settings)
    begun, given = Table.of(law), [Evaluation.of(one) for one in scenarios]
    if begun.law is None:
        raise TableError(f"{begun.name}: expected a law, got {begun.size}; only laws can be tuned")
    if not given:
        raise OptionError("scenarios: expected at least one")
    if not rivals:
        raise SchemeError("rivals: expected at least one other scheme")
    labels = [contender_of(rival).label for rival in rivals]
    for label in labels:
        if labels.count(label) > 1:
            raise SchemeError(f"rivals: {label} is there twice; expected names that differ")
    for one in given:
        one.changed([begun, *rivals])  # says so where one of them cannot run there
    delta = designed_delta([begun]) if chosen.delta is None else chosen.delta
    folder = None if output is None else make_folder(output)
    lock = nullcontext() if folder is None else alone(folder / ".lock", f"{folder}: this folder")
    with lock, opened(chosen) as engine:
        contest = Contest(given, rivals, delta, engine)
        tuned = _Evolution(begun, contest, chosen, folder, on_progress).run()
        if folder is not None:
            tuned.save(folder)
    return tuned


class _Evolution:
    """One law being tuned."""

    def __init__(
        self,
        begun: Table,
        contest: Contest,
        options: TuneOptions,
        folder: Path | None,
        tell: Callable[[Tuning], None] | None,
    ) -> None:
        self.begun, self.contest, self.options, self.folder, self.tell = begun, contest, options, folder, tell
        places = _core.law_places(begun)
        assert places is not None  # checked by the caller
        self.core = _core.Evolution(places, options.step, named_seed(options.seed, "candidates"))
        self.key = self._key()
        self.worths: list[Floats] = []
        """Of the candidates of each generation."""
        self.centres: list[Sequence[float]] = []
        """Of the distribution, after each."""
        self.known, self.earlier_s = self._kept()
        self.began, self.began_cpu = time.monotonic(), time.process_time()

    def run(self) -> Tuned:
        """All of it."""
        try:
            while len(self.worths) < self.options.generations:
                self._generation()
            return self._checked()
        except KeyboardInterrupt:
            raise self._stopped() from None

    def _generation(self) -> None:
        options, number = self.options, len(self.worths)
        candidates = self.core.draw(options.candidates)
        if number < len(self.known):
            worth = self.known[number]
        else:
            self._report("tuning", number, 0)
            laws = [self._law(places, f"candidate {k}") for k, places in enumerate(candidates)]
            scores = self._scores(laws, "generation", number * options.networks, options.networks)
            worth = worths(scores, len(laws), options.scale).mean(axis=0)
        self.core.learn([int(k) for k in np.argsort(-worth, kind="stable")])
        self.centres.append(self.core.mean)
        self.worths.append(worth)
        if self.folder is not None and len(self.worths) > len(self.known):
            write_parquet(self.folder / GENERATIONS, self._frame(), self._facts())

    def _scores(self, laws: Sequence[Table], purpose: str, first: int, count: int) -> Floats:
        """On so many networks, in turn one of each scenario, from this number on."""
        numbers = range(first, first + count)
        seeds = [named_seed(self.options.seed, purpose, number) for number in numbers]
        return self.contest.scores(laws, [number % len(self.contest.scenarios) for number in numbers], seeds)

    def _checked(self) -> Tuned:
        """With how it does on draws that chose nothing."""
        options, table = self.options, self._table()
        laws, parts = [table, Table(self.begun.dna, "before it was tuned")], []
        for first in range(0, options.checks, CHECKED_AT_ONCE):
            self._report("checking", options.generations, first)
            parts.append(self._scores(laws, "checks", first, min(CHECKED_AT_ONCE, options.checks - first)))
        scores = np.concatenate(parts)
        rivals = tuple(contender_of(rival).label for rival in self.contest.rivals)
        self._report("done", options.generations, options.checks)
        return Tuned(
            table=table,
            begun=self.begun,
            rivals=rivals,
            scenarios=tuple(scenario.name for scenario in self.contest.scenarios),
            options=options,
            delta=self.contest.delta,
            generations=self._frame(),
            ahead=ahead_of(scores, rivals),
            gain=mean_interval(scores[:, 0] - scores[:, 1]),
            key=self.key,
            cpu_s=self._cpu_s,
        )

    def _law(self, places: Sequence[float], name: str, search: str | None = None) -> Table:
        return Table(_core.law_at_places(self.begun, places, search), name)

    def _table(self) -> Table:
        """The law at the mean centre of the last two thirds of the generations: each follows the luck of its own."""
        made = self.begun.provenance
        search = None
        if made is not None:
            options = self.options
            tuned = {name: getattr(options, name) for name in ("candidates", "networks", "scale", "step", "seed")}
            rivals = [contender_of(rival).label for rival in self.contest.rivals]
            tuned |= {"generations": len(self.worths), "rivals": rivals, "delta": self.contest.delta, "key": self.key}
            tuned["start"] = f"sha256:{sha256(self.begun.dna).hexdigest()}"
            search = json.dumps(json.loads(made.search) | {"tuned": tuned})
        centre = np.mean(self.centres[len(self.centres) // 3 :], axis=0) if self.centres else self.core.mean
        return self._law([float(place) for place in centre], f"{self.begun.name}-tuned", search)

    def _key(self) -> str:
        """What generations follow from; empty where a class takes part, of which nobody knows what it calls."""
        options, contest = self.options, self.contest
        everyone = [contender_of(one) for one in contest.rivals]
        contents = [one.content for one in everyone]
        if None in contents:
            return ""
        named = ("candidates", "networks", "scale", "step", "seed")
        settings = [contest.delta, *(getattr(options, name) for name in named)]
        texts = [
            part
            for one in contest.scenarios
            for part in (one.text, str(one.options), *map(str, sorted(one.files.items())))
        ]
        labels = [one.label for one in everyone]
        parts = [part for part in contents if part is not None]
        return digest(_core.__version__, str(settings), str(labels), self.begun.dna, *parts, *texts)

    def _kept(self) -> tuple[list[Floats], float]:
        """What an earlier call with the same key has found, and the CPU time that it took."""
        found = read_parquet(self.folder / GENERATIONS) if self.folder is not None and self.key else None
        if found is None or found[1].get("key") != self.key:
            return [], 0.0
        worth = found[0]["worth"].to_numpy().reshape(-1, self.options.candidates)
        return list(worth), float(found[1].get("cpu_s", "0"))

    def _facts(self) -> dict[str, str]:
        return {"key": self.key, "cpu_s": str(self._cpu_s)}

    @property
    def _cpu_s(self) -> float:
        return self.earlier_s + time.process_time() - self.began_cpu

    def _frame(self) -> pl.DataFrame:
        count = self.options.candidates
        numbers = [number for number in range(len(self.worths)) for _ in range(count)]
        candidates = list(range(count)) * len(self.worths)
        kinds = {"generation": pl.Int64, "candidate": pl.Int64, "worth": pl.Float64}
        worths = [float(worth) for generation in self.worths for worth in generation]
        return pl.DataFrame({"generation": numbers, "candidate": candidates, "worth": worths}, schema=kinds)

    def _report(self, doing: str, generations: int, checks: int) -> None:
        if self.tell is None:
            return
        options, rivals = self.options, len(self.contest.rivals)
        each = options.networks * (options.candidates + rivals)
        whole = options.generations * each + options.checks * (2 + rivals)
        done = generations * each + checks * (2 + rivals)
        new = done - min(len(self.known), options.generations) * each
        wall_s = time.monotonic() - self.began
        left_s = wall_s * (whole - done) / new if new > 0 else None
        worth = float(self.worths[-1].mean()) if self.worths else None
        self.tell(Tuning(doing, done / whole, worth, left_s))

    def _stopped(self) -> Stopped:
        """Writes the law as it is."""
        if self.folder is None or not self.worths:
            return Stopped("Stopped.")
        table = self._table()
        path = self.folder / f"{table.name}.dna"
        table.save(path)
        return Stopped(f"Stopped; the law after {len(self.worths)} generations is {path}. To go on: the same command.")
