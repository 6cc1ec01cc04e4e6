"""Steadying: small steps from an algorithm to where flows come back from more disturbed states, at about its score.

A score says how well an algorithm does from where its flows begin, and a design goes by scores. What it does where its
flows come from elsewhere costs next to no score: a window 32 times as large on one of ten networks. So whoever asks
nothing of it gets nothing, and whoever asks gets it cheaply.
"""

import json
import os
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any, Unpack

import polars as pl

from exmachina import _core
from exmachina.engines import opened
from exmachina.errors import OptionError, Stopped
from exmachina.files import alone, digest, make_folder, read_parquet, write_parquet
from exmachina.networks import Model, ModelLike
from exmachina.schemes import Table, TableLike
from exmachina.scoring import designed_for
from exmachina.seeds import named_seed
from exmachina.steadying.climb import Climb
from exmachina.steadying.evolution import Evolution
from exmachina.steadying.options import SteadyOptions, SteadySettings
from exmachina.steadying.steadied import STEPS, Steadied
from exmachina.steadying.trial import Trial

__all__ = ["Steadying", "steady"]

DISTURBED_OF_CHECKS = 5
FOLLOWED_FROM = (
    "candidates",
    "specimens",
    "seconds_each",
    "disturbed",
    "states",
    "hunted",
    "gives",
    "gives_each",
    "size",
    "lost",
    "seed",
)
KINDS: dict[str, pl.DataType | type[pl.DataType]] = {
    "step": pl.Int64,
    "taken": pl.Int64,
    "gain": pl.Float64,
    "gain_again": pl.Float64,
    "back": pl.Float64,
    "below": pl.Float64,
    "stays": pl.Float64,
    "lacks": pl.Float64,
    "order": pl.List(pl.Int64),
}


@dataclass(frozen=True)
class Steadying:
    """How it stands.

    >>> def show(now):
    ...     assert 0 <= now.done <= 1
    >>> few = exmachina.SteadyOptions(steps=1, candidates=1, specimens=4, disturbed=2, states=2, checks=2)
    >>> _ = exmachina.steady("known-1x", options=few, seconds_each=5, on_progress=show)
    """

    doing: str
    done: float
    """Of all steps, and the comparison at the end as one."""
    stays: float | None
    """The share of the last step's states in which a flow stayed below half of its share; none before there is one."""
    taken: int
    """Steps that found something."""
    left_s: float | None
    """Seconds left, at the pace so far; none at the beginning."""


def steady(
    table: TableLike,
    model: ModelLike | None = None,
    options: SteadyOptions | None = None,
    *,
    also: Sequence[ModelLike] = (),
    output: str | os.PathLike[str] | None = None,
    on_progress: Callable[[Steadying], None] | None = None,
    **settings: Unpack[SteadySettings],
) -> Steadied:
    """Takes a table or a law, in small steps, to where flows come back from disturbed states.

    What counts is the score in the world that the model trains in (its `[design.world]`), and on what it must do well
    with, too (each `[[also]]`, as in a design), less what disturbed states cost (see `exmachina.disturb`): half of the
    share of states in which a flow is below half of its share, and of networks on which one is undisturbed; twice the
    share in which one stays there, and half of what the flow with the least still lacks of three quarters of its share;
    what is missing of 0.997 that are back. Less, too, five times the share of senders
    that received nothing, and ten times what is lost of the score, and a standard error of it, besides what may be. In
    each step candidates meet the same networks and states, which no other step has. Of a table one thing is other (what
    a rule does, or all with the same window, or where the table is split); the best are tried again beside what there
    was on more others, and those ahead there by a standard error, too, once more together: as many stay as are the most
    ahead. Laws are a
    generation of an evolution, which learns from their order (CMA-ES); what comes of it is the mean of where the later
    half of the generations were.

    >>> few = exmachina.SteadyOptions(steps=2, candidates=2, specimens=4, disturbed=2, states=2, checks=2)
    >>> steadied = exmachina.steady("known-1x", options=few, seconds_each=5)
    >>> len(steadied.steps), steadied.checks.columns[:4]
    (2, ['scheme', 'score', 'back', 'below'])

    Args:
        table: An algorithm's name, the path of a file, or a table.
        model: Whose networks count: a model, the path of a model file, or the name of one that comes with the program;
            what the table was designed for if not given.
        options: How many steps, on how much, and what they may cost.
        also: Other models, without their `[[also]]`: the mean of the scores on all counts. Of a table's candidates only
            those that are tried again meet them.
        output: A folder, created if missing: results are written there at the end (see `Steadied.save`), and what steps
            took is kept there meanwhile, so that the same call goes on where one was interrupted, and with more steps
            where one ended.
        on_progress: Called before each step, and before the comparison at the end.
        **settings: Fields of `SteadyOptions`, which go before those of `options`.

    Raises:
        InputError: If something given is not possible.
        ClusterError: If a cluster cannot be used; what was computed is kept.
        Stopped: At ctrl-C, once the algorithm as it is then has been written.
    """
    begun = Table.of(table)
    chosen = replace(options or SteadyOptions(), **settings).settled(law=begun.law is not None)
    first = designed_for([begun]) if model is None else Model.of(model)
    models = (first.whole(), *first.also, *(Model.of(one).whole() for one in also))
    for one in models:
        if one.classes != [""]:
            raise OptionError(f"{one.name}: expected a model whose senders all run the same table")
    folder = None if output is None else make_folder(output)
    lock = nullcontext() if folder is None else alone(folder / ".lock", f"{folder}: this folder")
    with lock, opened(chosen) as engine:
        steadied = _Steps(Trial(models, begun, chosen, engine), folder, on_progress).run()
        if folder is not None:
            steadied.save(folder)
    return steadied


class _Steps:
    """One algorithm being steadied."""

    def __init__(self, trial: Trial, folder: Path | None, tell: Callable[[Steadying], None] | None) -> None:
        self.trial, self.folder, self.tell = trial, folder, tell
        self.begun, self.options = trial.begun, trial.options
        self.way = Climb(trial) if trial.begun.law is None else Evolution(trial)
        self.key = self._key()
        self.known, self.steps_s = self._kept()
        self.lines: list[dict[str, Any]] = []
        self.began = time.monotonic()

    def run(self) -> Steadied:
        """All of it."""
        try:
            for number in range(self.options.steps):
                self._step(number)
            return self._checked()
        except KeyboardInterrupt:
            raise self._stopped() from None

    def _step(self, number: int) -> None:
        began_s, known = time.process_time(), self.known[number] if number < len(self.known) else None
        if known is None:
            self._report("stepping")
        line = self.way.step(number, known)
        self.lines.append({name: line.get(name) for name in KINDS})
        if known is None:
            self.steps_s.append(time.process_time() - began_s)
            if self.folder is not None:
                facts = {"key": self.key, "steps_s": json.dumps(self.steps_s)}
                write_parquet(self.folder / STEPS, self._frame(), facts)

    def _checked(self) -> Steadied:
        """With what it does beside what it was, on draws that chose nothing."""
        self._report("comparing")
        trial, options = self.trial, self.options
        table, seed = self._table(), named_seed(options.seed, "checks")
        both = [table, Table(self.begun.dna, self.begun.name)]
        scores, gain = trial.gain(both, options.checks, seed)
        states = trial.states(both, max(1, options.checks // DISTURBED_OF_CHECKS), seed)
        named = pl.DataFrame({"scheme": [each.name for each in both], "score": scores})
        self._report("done", checked=True)
        return Steadied(
            table=table,
            begun=self.begun,
            models=tuple(trial.models),
            options=options,
            steps=self._frame(),
            checks=named.hstack(states.select("back", "below", "stays", "lacks", "uneven")),
            gain=gain,
            key=self.key,
            steps_s=tuple(self.steps_s),
        )

    def _table(self) -> Table:
        """With how it was made, if that is known of what it began with."""
        table, name = self.way.table, f"{self.begun.name}-steady"
        if table.provenance is None:
            return Table(table.dna, name)
        known = json.loads(table.provenance.search)
        made = {each: getattr(self.options, each) for each in FOLLOWED_FROM} | {"steps": len(self.lines)}
        made |= {
            "model": self.trial.models[0].name,
            "also": [model.name for model in self.trial.models[1:] if model.entry is None],
            "key": self.key,
        }
        made |= {"search": "climb" if table.law is None else "evolution"}
        made |= {"start": f"sha256:{sha256(self.begun.dna).hexdigest()}"}
        before = {"before": known["steadied"]} if "steadied" in known else {}
        search = json.dumps(known | {"steadied": made | before})
        if table.law is not None:
            return Table(table.with_law_dna(table.law, search), name)
        return Table(table.with_actions_dna(table.actions, search), name)

    def _key(self) -> str:
        """What steps follow from."""
        settings = [getattr(self.options, name) for name in FOLLOWED_FROM]
        texts = [model.text for model in self.trial.models if model.entry is None]
        ways = [
            "evolution" if self.begun.law is not None else "climb",
            "what flows lack counts, and some of each look stays",
        ]
        return digest(_core.__version__, str(settings), *ways, self.begun.dna, *texts)

    def _kept(self) -> tuple[list[dict[str, Any]], list[float]]:
        """What an earlier call with the same key has found, of the steps that are asked for, and what each took."""
        found = read_parquet(self.folder / STEPS) if self.folder is not None else None
        if found is None or found[1].get("key") != self.key:
            return [], []
        steps = self.options.steps
        return found[0].to_dicts()[:steps], json.loads(found[1].get("steps_s", "[]"))[:steps]

    def _frame(self) -> pl.DataFrame:
        return pl.DataFrame(self.lines, schema=KINDS)

    def _report(self, doing: str, *, checked: bool = False) -> None:
        if self.tell is None:
            return
        done, whole = len(self.lines) + checked, self.options.steps + 1
        new = done - len(self.known)
        left_s = (time.monotonic() - self.began) * (whole - done) / new if new > 0 else None
        stays = self.lines[-1]["stays"] if self.lines else None
        taken = sum(line["taken"] > 0 for line in self.lines)
        self.tell(Steadying(doing, done / whole, stays, taken, left_s))

    def _stopped(self) -> Stopped:
        """Writes the algorithm as it is."""
        if self.folder is None or not self.lines:
            return Stopped("Stopped.")
        table = self._table()
        path = self.folder / f"{table.name}.dna"
        table.save(path)
        return Stopped(f"Stopped; the algorithm after {len(self.lines)} steps is {path}. To go on: the same command.")
