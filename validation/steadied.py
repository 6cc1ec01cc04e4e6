"""Climbs to a law or table that comes back from disturbed states more often, which a model's score hardly sees.

Usage: steadied.py NAME [--start LAW] [--output FILE] [--steps N] [--candidates N] [--networks N] [--seconds S]
[--disturbed N] [--states N] [--long-jitter SHARE] [--rivals NAME ...] [--beside N] [--gives SCORE] [--each SCORE]
[--size SIZE] [--lost SHARE] [--seed N] [--threads N]. NAME is an algorithm; LAW another one for its model to begin
with.

What counts is the score in the world that the model trains in, without its [[also]], less what disturbed states
cost: half of the share of states in which a flow is below half of its share (and of networks on which one is that
undisturbed), twice the share in which one stays there, and what is missing of 0.997 that are back. With --long-jitter
so much of the score on clean networks and of that under 10 ms of jitter counts, too. With --rivals what counts is, in
place of the score, how often it is ahead of them on networks like the Internet's: a generation of `tuned.py`'s that no
tuning has met, with --beside so many more shared with another flow. With --gives no more than that may be lost of what
it began with, with --each no more than that in any quarter of the networks by how many senders there are: what is lost
besides counts ten times.

In each step candidates differ in a few numbers, or in what a few rules do (with --lost this share of them is drawn by
how often they are used where flows are lost, which is looked up again every ten steps), and all meet the same networks,
some of them disturbed, and states, which no other step and no page has. The best is tried again beside what there was
on others, twice as many for scores, and stays if it is ahead there, too. What was found is written after each step: the
same command gives the same, goes on where it was interrupted, and further with more --steps.
"""

import argparse
import json
import math
import os
import random
from bisect import bisect
from hashlib import sha256
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np
import tuned
from sturdy_measured import SEED
from sturdy_scores import STATES_SEED, in_world

import exmachina
from exmachina import Action, ScoreReport, Table, TableError, _core
from exmachina.files import write_atomically
from exmachina.schemes import designed_delta
from exmachina.seeds import named_seed
from exmachina.tuning.contest import Contest, worths

BELOW, STAYS, BACK, TOO_MUCH = 0.5, 2.0, 0.997, 10.0
MOVED, ALIKE, NEAR = 4, 0.3, 0.006
SHORTEST_MS, LONGEST_MS = 0.0005, 1000.0
USED_ON, RARELY = 16, 0.25
LOST_ON, LOST_STATES, LOOKED_UP = 80, 3, 10
QUARTERS = 4
USED_S = 60.0
JITTERS = ("", "jitter_ms = 10")
SCALE = exmachina.TuneOptions().scale

Floats = np.ndarray[tuple[int, ...], np.dtype[np.float64]]


def main() -> None:
    """Climbs, and tells of each step."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", metavar="NAME")
    parser.add_argument("--start", metavar="LAW")
    parser.add_argument("--output", type=Path, default=None)
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--candidates", type=int, default=6)
    parser.add_argument("--networks", type=int, default=48)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--disturbed", type=int, default=20)
    parser.add_argument("--states", type=int, default=10)
    parser.add_argument("--long-jitter", type=float, default=0.0)
    parser.add_argument("--rivals", nargs="+", metavar="NAME", default=[])
    parser.add_argument("--beside", type=int, default=0)
    parser.add_argument("--gives", type=float, default=math.inf)
    parser.add_argument("--each", type=float, default=math.inf)
    parser.add_argument("--size", type=float, default=0.1)
    parser.add_argument("--lost", type=float, default=0.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    given = parser.parse_args()
    output = given.output or Path(f"out/steadied/{given.name}.dna")
    output.parent.mkdir(parents=True, exist_ok=True)
    climb(given, Table.load(given.start or given.name), output)


def climb(given: argparse.Namespace, begun: Table, output: Path) -> None:
    """Writes what it has after each step; goes on where the same command was interrupted, or had fewer steps."""
    stream = random.Random(named_seed(given.seed, "candidates"))
    now: Law | Rules = Law(begun) if begun.law is not None else Rules(begun, shares(given, begun, 0))
    facts = facts_of(given, begun)
    known, earlier_s = kept(output, facts)
    taken: list[int] = []
    for number in range(given.steps):
        if isinstance(now, Rules) and given.lost > 0 and number > 0 and number % LOOKED_UP == 0:
            now = Rules(now.table, shares(given, now.table, number))
        drawn = [now.elsewhere(given.size, stream) for _ in range(given.candidates)]
        if number < len(known):
            best, told = known[number], ""
        else:
            best, told = step(given, [each.table for each in (now, *drawn)], number)
        taken.append(best)
        now = now if best == 0 else drawn[best - 1]
        if told:
            used = os.times()
            cpu_s = earlier_s + used.user + used.system + used.children_user + used.children_system
            made = {"steps": number + 1, "cpu_s": round(cpu_s)} | facts | {"taken": taken}
            now.table.save(output)
            write_atomically(beside(output), (json.dumps(made) + "\n").encode())
            print(told, flush=True)


def step(given: argparse.Namespace, tables: list[Table], number: int) -> tuple[int, str]:
    """Which of them to go on with, the first of which is what there was, and what to tell of it."""
    worth, states = what_counts(given, tables, number, again=False)
    best = int(np.argmax(worth))
    told = f"{number + 1}: {states[0]}; best {worth[best] - worth[0]:+.4f}, {states[best]}"
    if best == 0:
        return 0, told
    worth, states = what_counts(given, [tables[0], tables[best]], number, again=True)
    told += f"; again {worth[1] - worth[0]:+.4f}, {states[1]}"
    return (best, f"{told}: taken") if worth[1] > worth[0] else (0, told)


def beside(output: Path) -> Path:
    """Where what came of which steps is, for `algorithms.py` and for whoever goes on."""
    return output.with_suffix(".steadied.json")


def facts_of(given: argparse.Namespace, begun: Table) -> dict[str, Any]:
    """What the steps follow from."""
    where = ("name", "start", "output", "steps", "threads")
    given_all = {name: value for name, value in vars(given).items() if name not in where}
    # JSON knows no infinity.
    known = {name: value for name, value in given_all.items() if value != math.inf}
    return known | {"start": f"sha256:{sha256(begun.dna).hexdigest()}"}


def kept(output: Path, facts: dict[str, Any]) -> tuple[list[int], float]:
    """The candidate that each step of the same command took, 0 for none, and what that cost; nothing of another's."""
    if not beside(output).exists():
        return [], 0.0
    made = json.loads(beside(output).read_text())
    same = facts.items() <= made.items() and "taken" in made
    return (made["taken"], made["cpu_s"]) if same else ([], 0.0)


class Law:
    """A law, by where its numbers are in their ranges."""

    def __init__(self, begun: Table, places: list[float] | None = None) -> None:
        self.begun, self.places = begun, places or _core.law_places(begun) or []
        law = Table(_core.law_at_places(begun, self.places, None), begun.name).law
        assert law is not None
        self.table = begun if places is None else begun.with_law(law, begun.name)

    def elsewhere(self, size: float, stream: random.Random) -> "Law":
        """Where a few of the places, four in the mean, are others."""
        moved = list(self.places)
        for k, place in enumerate(self.places):
            moves, away = stream.random() < MOVED / len(moved), normal(stream)
            if moves:
                moved[k] = min(1.0, max(0.0, place + size * away))
        return Law(self.begun, moved)


class Rules:
    """A table, by what its rules do."""

    def __init__(self, table: Table, shares: list[float]) -> None:
        self.table, self.shares = table, shares

    def elsewhere(self, size: float, stream: random.Random) -> "Rules":
        """Where a few rules, or all that have the window of one of them, do something else."""
        actions = self.table.actions
        alike = stream.random() < ALIKE
        for _ in range(1 if alike else 1 + int(stream.random() * MOVED)):
            chosen = bisect(self.shares, stream.random() * self.shares[-1])
            change = drawn_change(size, stream)
            like = windows(actions[chosen])
            for rule, action in enumerate(actions):
                if windows(action) == like if alike else rule == chosen:
                    actions[rule] = changed(action, *change)
        try:
            table = self.table.with_actions(actions, self.table.name)
        except TableError:
            return self
        return Rules(table, self.shares) if nearest(table) > NEAR else self


def shares(given: argparse.Namespace, table: Table, number: int) -> list[float]:
    """How likely rules are to be chosen, summed up: by the root of their uses, a fifth of it all alike."""
    model = exmachina.Model.load(given.name)
    roots = np.sqrt(uses(given, table, model.held_out(named_seed(given.seed, "uses"), USED_ON, True)))
    chosen = roots / roots.sum() + RARELY / len(roots)
    lost = np.sqrt(uses_where_lost(given, table, model, named_seed(given.seed, "lost", number)))
    if lost.any():
        chosen = (1 - given.lost) * chosen / chosen.sum() + given.lost * lost / lost.sum()
    return [float(share) for share in np.cumsum(chosen)]


def uses_where_lost(given: argparse.Namespace, table: Table, model: exmachina.Model, seed: int) -> Floats:
    """How often each rule is used on networks where flows are not back, or have too little."""
    if given.lost == 0:
        return np.zeros(len(table))
    each = {"specimens": LOST_ON, "states": LOST_STATES, "seed": seed, "threads": given.threads}
    frame = exmachina.disturb(table, model, **each).frame
    networks = model.held_out(seed, LOST_ON, False)
    lost = frame["stays"] + frame["uneven"] + frame["states"] - frame["back"]
    numbers = [number for number, many in enumerate(lost) if many > 0]
    return sum((uses(given, table, networks.part(k, k + 1)) for k in numbers), np.zeros(len(table)))


def uses(given: argparse.Namespace, table: Table, networks: _core.Specimens) -> Floats:
    """How often each rule is used there."""
    rules = _core.usage(table, networks, USED_S, _core.Workers(given.threads), _core.Stop()).rules
    return np.array([float(rule.uses) for rule in rules])


def nearest(table: Table) -> float:
    """How near a split of an average is to a pace, as a share: where it settles there, a clock's last bit decides."""
    frame = table.frame
    splits = [frame[name].to_numpy() for name in frame.columns if name.endswith(("ewma_from", "ewma_to"))]
    at, paces = np.unique(splits), frame["intersend_ms"].to_numpy()
    return float(np.abs(at[at > 0, None] / paces[paces > 0] - 1).min(initial=1.0))


def windows(action: Action) -> tuple[float, int]:
    """What an action does to a window."""
    return action.multiple, action.increment_packets


def drawn_change(size: float, stream: random.Random) -> tuple[float, int, float]:
    """Of the share of the window that is left, of packets, and of the pause's logarithm: one of the three, or all."""
    multiple, packets, pause = size * normal(stream), round(normal(stream)), 2 * size * normal(stream)
    drawn = (multiple, 0, 0.0), (0.0, packets, 0.0), (0.0, 0, pause), (multiple, packets, pause)
    return drawn[int(stream.random() * len(drawn))]


def changed(action: Action, multiple: float, packets: int, pause: float) -> Action:
    """With more of the window, so many packets more, and a pause that is longer by so many times e.

    A window of one packet stays one: of none no ACK would come that could change anything.
    """
    paused = min(LONGEST_MS, max(SHORTEST_MS, action.intersend_ms * math.exp(pause)))
    larger = min(1.0, max(0.0, action.multiple + multiple)) if action.multiple <= 1 else action.multiple
    more = max(action.increment_packets + packets, math.ceil(1 - larger))
    return Action(larger, more, paused if pause else action.intersend_ms)


def normal(stream: random.Random) -> float:
    """A draw of the normal distribution."""
    return NormalDist().inv_cdf(1e-9 + (1 - 2e-9) * stream.random())


def what_counts(
    given: argparse.Namespace, tables: list[Table], number: int, *, again: bool
) -> tuple[Floats, list[str]]:
    """Of each, on this step's networks or those on which its best is tried again: what counts, and what states did."""
    seed = named_seed(given.seed, "again" if again else "step", number)
    assert seed not in (SEED, STATES_SEED)
    every = [*tables, Table.load(given.start or given.name)]
    if given.rivals:
        scores = ahead(every, given, number, again=again)
        in_all = in_each = scores[-1] - scores
    else:
        scores, in_each = scored(every, given, (2 if again else 1) * given.networks, seed)
        in_all = scores[-1] - scores
    for lost, allowed in ((in_all, given.gives), (in_each, given.each)):
        if allowed < math.inf:
            scores = scores - TOO_MUCH * np.maximum(0.0, lost - allowed)
    scores = scores[: len(tables)]
    each = {"specimens": given.disturbed, "states": given.states, "seed": seed, "threads": given.threads}
    states = exmachina.disturb(tables, given.name, **each).summary
    back, below, stays, uneven = (states[name].to_numpy() for name in ("back", "below", "stays", "uneven"))
    costs = BELOW * (below + uneven) + STAYS * stays + np.maximum(0.0, BACK - back)
    told = [f"back {one['back']:.3f}, below {one['below']:.3f}, stays {one['stays']:.3f}" for one in states.to_dicts()]
    return scores - costs, told


def ahead(tables: list[Table], given: argparse.Namespace, number: int, *, again: bool) -> Floats:
    """How often each is ahead of its rivals, and by how much on networks where all of them are: as in tuning.

    A step has three generations of its own, one for its candidates and two for its best.
    """
    first = 3 * number + again
    numbers = range(tuned.DRAWN + first, tuned.DRAWN + first + (2 if again else 1))
    scenarios = [one for number in numbers for one in tuned.generation(number, given.beside)]
    with exmachina.opened(exmachina.EngineOptions(threads=given.threads)) as engine:
        contest = Contest(scenarios, given.rivals, designed_delta([tables[0]]), engine)
        seeds = [named_seed(given.seed, "ahead", first, k) for k in range(len(scenarios))]
        return worths(contest.scores(tables, range(len(scenarios)), seeds), len(tables), SCALE).mean(axis=0)


def scored(tables: list[Table], given: argparse.Namespace, networks: int, seed: int) -> tuple[Floats, Floats]:
    """Scores on the same networks of the model, with so much as is asked of those without and with long jitter.

    And the most that is lost against the last of them in any quarter of networks by how many senders they have.
    """
    model = exmachina.Model.load(given.name)
    report = report_in(model, tables, given, networks, seed)
    scores = scores_of(report, tables)
    if given.long_jitter > 0:
        for added in JITTERS:
            other = report_in(in_world(model, added), tables, given, networks, seed)
            scores += given.long_jitter * scores_of(other, tables)
    schemes = report.specimens.partition_by("scheme", maintain_order=True)[: len(tables)]
    quarters = np.array_split(np.argsort(schemes[0]["senders"].to_numpy(), kind="stable"), QUARTERS)
    own = np.array([scheme["score"].to_numpy() for scheme in schemes])
    means = np.array([np.nanmean(own[:, quarter], axis=1) for quarter in quarters])
    return scores, (means[:, -1:] - means).max(axis=0)


def report_in(
    model: exmachina.Model, tables: list[Table], given: argparse.Namespace, networks: int, seed: int
) -> ScoreReport:
    """Scores in the world of this model."""
    long = {"specimens": networks, "seconds_each": given.seconds, "threads": given.threads}
    return exmachina.score(tables, model, seed=seed, in_world=True, **long)


def scores_of(report: ScoreReport, tables: list[Table]) -> Floats:
    """Of each."""
    return np.array(report.summary["score"][: len(tables)].to_list())


if __name__ == "__main__":
    main()
