"""The search for the worst network: many are tried by short runs, the worst is reduced, and confirmed."""

import os
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Unpack

from exmachina import _core
from exmachina.engines import opened
from exmachina.errors import OptionError, SchemeError, Stopped
from exmachina.files import ALGORITHMS, alone, digest, make_folder, shipped_files, write_atomically
from exmachina.hunting.found import SCENARIO, Worst, scenario_text
from exmachina.hunting.judge import Judge, short_s
from exmachina.hunting.limits import DESIGNED, Limits, LimitsLike
from exmachina.hunting.measures import measure_named
from exmachina.hunting.options import WorstOptions, WorstSettings
from exmachina.hunting.proposals import proposals
from exmachina.hunting.reduction import reduced
from exmachina.hunting.space import Space
from exmachina.hunting.trials import Trials
from exmachina.probing import Base
from exmachina.schemes import Contender, SchemeLike, Table, contender_of, designed_delta, designed_range
from exmachina.seeds import named_seed

__all__ = ["Hunting", "worst"]

RIVALS = ("cubic", "bbr3", "copa")
DEFAULT = "internet"
SHORT_LIST = 12
"""So many of the worst are measured anew, with draws that did not choose them,"""
ANEW = 4
"""on so many times as many draws as before."""


@dataclass(frozen=True)
class Hunting:
    """How a search stands.

    >>> def show(now):
    ...     assert 0 <= now.done <= now.networks
    >>> limits = exmachina.Limits("loss = [0, 2]")
    >>> _ = exmachina.worst("cubic", limits, measure="waste", networks=8, draws=1, checks=2, on_progress=show)
    """

    doing: str
    done: int
    """Networks tried."""
    networks: int
    """That will be tried at most."""
    harm: float | None
    """Of the worst so far; none before there is one."""
    worst: Base | None
    wall_s: float
    """Seconds since the call."""
    left_s: float | None
    """Seconds left, at the pace so far; none at the beginning."""


def worst(
    scheme: SchemeLike,
    limits: LimitsLike = DEFAULT,
    options: WorstOptions | None = None,
    *,
    rivals: Sequence[SchemeLike] = RIVALS,
    without: Sequence[str] = (),
    output: str | os.PathLike[str] | None = None,
    on_progress: Callable[[Hunting], None] | None = None,
    **settings: Unpack[WorstSettings],
) -> Worst:
    """Searches for the network within limits that is worst for a scheme, and reduces it to what matters.

    >>> limits = exmachina.Limits("loss = [0, 2]")
    >>> found = exmachina.worst("cubic", limits, rivals=["bbr3"], networks=8, draws=1, checks=2)
    >>> exmachina.evaluate(found.scenario).summary["label"].to_list()
    ['cubic', 'bbr3']

    Args:
        scheme: A name, the path of a table, a table, a class.
        limits: What there is to choose from: limits, a file, a name, or "designed": what the table was designed for.
        options: The measure, how much is tried, and what counts.
        rivals: Who runs on the same networks. Their best is what regret is measured from: with "omniscient" alone, the
            reference.
        without: Axes of the limits along which not to go.
        output: A folder, created if missing: results are written there at the end (see `Worst.save`), and what was
            tried is kept there meanwhile, so that the same call goes on where one was interrupted.
        on_progress: Called before each batch of networks and at the end.
        **settings: Fields of `WorstOptions`, which go before those of `options`.

    Raises:
        InputError: If something given is not possible.
        ClusterError: If a cluster cannot be used; what was tried is kept.
        Stopped: At ctrl-C, once what was tried and the worst of it have been written.
    """
    chosen = replace(options or WorstOptions(), **settings)
    contender = contender_of(scheme)
    others = [rival for rival in rivals if contender_of(rival).label != contender.label]
    measure = measure_named(chosen.measure)
    if measure.beside == "rivals" and not others:
        raise SchemeError(f"rivals: expected at least one other scheme, for {measure.name}")
    within = _limits(limits, contender).without(without)
    table = [contender.scheme] if isinstance(contender.scheme, Table) else []
    delta = designed_delta(table) if chosen.delta is None else chosen.delta
    Base().refuse([scheme, *others])
    folder = None if output is None else make_folder(output)
    lock = nullcontext() if folder is None else alone(folder / ".lock", f"{folder}: this folder")
    with lock, opened(chosen) as engine:
        judge = Judge(scheme, others, measure, delta, engine)
        found = _Hunt(judge, within, chosen, folder, on_progress).run()
        if folder is not None:
            found.save(folder)
    return found


def _limits(given: LimitsLike, contender: Contender) -> Limits:
    if isinstance(given, Limits):
        return given
    if os.fspath(given) != DESIGNED:
        return Limits.load(given)
    ranges = designed_range(contender.scheme) if isinstance(contender.scheme, Table) else None
    if ranges is None:
        raise OptionError(f"limits: {contender.label} does not say what it was designed for")
    return Limits.within(ranges)


class _Hunt:
    """One search."""

    def __init__(
        self,
        judge: Judge,
        limits: Limits,
        options: WorstOptions,
        folder: Path | None,
        tell: Callable[[Hunting], None] | None,
    ) -> None:
        self.judge, self.limits, self.options, self.folder, self.tell = judge, limits, options, folder, tell
        self.space = Space(limits)
        self.trials = Trials(list(limits.reaches), folder, self._key())
        self.began = time.monotonic()
        self.after = 0
        """Networks judged since the search ended."""

    def run(self) -> Worst:
        """All of it."""
        try:
            self._search()
            return self._confirmed(*self._worst())
        except KeyboardInterrupt:
            raise self._stopped() from None

    def _search(self) -> None:
        """Tries networks, batch by batch; those of an earlier call are known."""
        points, batch = proposals(self.space, self.options.networks, self.options.seed), 0
        asked = next(points)
        while True:
            networks = [self.space.network(point) for point in asked]
            self._report("searching")
            known = self.trials.known(len(networks))
            # All of a batch meet the same traffic, so that they can be compared; the next batch meets another.
            seed = named_seed(self.options.seed, "traffic", batch)
            rest = networks[len(known) :]
            harms = [*known, *(self.judge.harm(network, self.options.draws, seed) for network in rest)]
            self.trials.add(batch, networks, harms)
            try:
                asked = points.send(harms)
            except StopIteration:
                return
            batch += 1

    def _worst(self) -> tuple[Base, float]:
        """The worst by draws that did not choose it, and how bad it is by these."""
        short_list = [network for _, network in self.trials.ranked[:SHORT_LIST]]
        anew = [(self._anew(network, "measuring anew"), network) for network in short_list]
        judged = [(harm, network) for harm, network in anew if harm is not None]
        if not judged:
            raise OptionError(f"measure: in no network there was anything to measure of {self.options.measure}")
        harm, network = max(judged, key=lambda one: one[0])
        return network, harm

    def _anew(self, network: Base, doing: str) -> float | None:
        self._report(doing)
        self.after += 1
        return self.judge.harm(network, ANEW * self.options.draws, named_seed(self.options.seed, "anew"))

    def _confirmed(self, network: Base, harm: float) -> Worst:
        """Reduced, and measured on draws that chose nothing."""
        options = self.options
        plainer = reduced(network, harm, self.limits, options.keep, lambda one: self._anew(one, "reducing"))
        seed = named_seed(options.seed, "checks")
        self._report("confirming")
        frame = self.judge.told(plainer.network, options.checks, seed)
        as_found = self.judge.told(network, options.checks, seed)
        self._report("done")
        return Worst(
            scheme=self.judge.label,
            measure=self.judge.measure,
            limits=self.limits,
            options=options,
            delta=self.judge.delta,
            found=network,
            network=plainer.network,
            matters=plainer.matters,
            frame=frame,
            frame_found=as_found,
            trace=self.judge.traced(plainer.network, seed),
            trials=self.trials.frame,
            checks_seed=seed,
            schemes=self._named(),
            key=self.trials.key,
            cpu_s=self.trials.cpu_s,
        )

    def _named(self) -> tuple[str, ...]:
        """Schemes that a scenario file can name: not tables of one's own, nor classes."""
        everyone, shipped = map(contender_of, self.judge.everyone), shipped_files(ALGORITHMS)
        return tuple(one.label for one in everyone if isinstance(one.scheme, str) or one.name in shipped)

    def _key(self) -> str:
        """What harms follow from; empty where a class takes part, of which nobody knows what it calls."""
        everyone = [contender_of(one) for one in self.judge.everyone]
        contents = [one.content for one in everyone]
        if None in contents:
            return ""
        labels = [one.label for one in everyone]
        options = self.options
        settings = [options.measure, options.networks, options.draws, options.seed, self.judge.delta]
        parts = [part for part in contents if part is not None]
        return digest(_core.__version__, self.limits.text, str(self.limits.fixed), str(settings), str(labels), *parts)

    def _report(self, doing: str) -> None:
        if self.tell is None:
            return
        wall_s, done = time.monotonic() - self.began, len(self.trials) + self.after
        networks = self.options.networks + SHORT_LIST + 2 * len(self.limits.free)
        harm, network = next(iter(self.trials.ranked), (None, None))
        left_s = wall_s * max(0, networks - done) / done if done else None
        self.tell(Hunting(doing, min(done, networks), networks, harm, network, wall_s, left_s))

    def _stopped(self) -> Stopped:
        """Writes the worst so far."""
        if self.folder is None or not self.trials.ranked:
            return Stopped("Stopped.")
        harm, network = self.trials.ranked[0]
        lines = [
            f"The worst so far for {self.judge.label}, of {len(self.trials)} networks within {self.limits.file}: "
            f"{self.judge.measure.title} {harm:.3g}.",
            "The search was stopped: neither reduced, nor confirmed on draws that did not choose it.",
        ]
        seed, length_s = named_seed(self.options.seed, "checks"), short_s(network, self.judge.measure)
        text = scenario_text(network, lines, self._named(), network.tables(self.options.checks, seed, length_s))
        write_atomically(self.folder / SCENARIO, text.encode())
        return Stopped(f"Stopped; the worst so far is in {self.folder / SCENARIO}. To go on: the same command.")
