"""docs/parallel.md: what of a design is done side by side, what is not, and how many cores that is enough for."""

from collections.abc import Mapping, Sequence

import polars as pl
from schedule_simulated import NODE_CORES, SENDING, Step
from schedule_variants import AS_IT_IS, STEPS, VARIANTS

AIM, AIMED_CORES = 0.8, 256
SHOWN = (32, 64, 128, 256, 512, 1024, 4096, 10000)
DIGITS_FROM = 0.1
TABLES, RUNS = 1, 2
"""The stages of a generation, after what is done on one core."""

PAGE = """\
# How many cores a design can use

Written by `python validation/schedule.py`, from what `python validation/schedule.py --measure` measured in one thread:
a design of general-1 (seed 11) for {policies_s:.0f} CPU-seconds, all of them policies, and one that goes on from the
table of that name for {races_s:.0f}. [tasks.parquet](results/tasks.parquet) has the CPU time of each of their
{pieces:,} pieces of work, [steps.csv](results/steps.csv) their {steps} steps. The machine did other things, too, which
makes all pieces longer. More cores are simulated, not run.

## What a step has

A step of the search is a few batches, one after the other. What is in a batch is independent: a table on a network,
with random numbers of its own, so that it may run anywhere and in any order; what comes of it is put together in a
fixed one. A batch waits for the whole of the one before it, since that decides who runs in it, and a step for the step
before it.

| | steps | batches of a step | pieces of a batch | ms of a piece | the longest of a batch, ms | in no batch, ms |
|---|---:|---:|---:|---:|---:|---:|
{kinds}

- **A generation of policies**: {candidates} candidates, each made into a table, and each on eight networks:
  {generation} simulations. In no batch are the draw of the candidates and what is learned from their order.
- **A race**: heats, each of two batches, the present table on some networks and then all candidates on the same ones
  (from the first it is known where a candidate cannot differ). Some 38 candidates begin, a third goes on to as many
  networks again, and so on; at last the winner and the present table run alone on up to sixteen times as many.
- **A measurement**, now and then, after a step: the table on {validation} networks, in runs ten times as long. No step
  needs to know what it says, but today the next one waits.

One after the other are generations, each of which is drawn from what the one before it taught; the heats of a race;
and races, each of which begins with the table that the last one left. What can be begun before that is known are
the next races, on the table as it is: {idle} of {races} left it so. Designs with other seeds wait for nobody.

## On more cores

Pieces go to whichever core is free first, in the order of the search (list scheduling). Up to {node} cores are one
machine. Beyond that each batch is sent out: {trip_ms:.0f} ms from the end of a batch until the next one has come to
where it is run, and {message_ms:.0f} ms of whoever sends for each machine that has a part in it, one after the other,
tables and all. These two are assumed. Efficiency is the share of the cores' time that is of use.

![Efficiency over cores](parallel.png)

{tables}

All numbers are in [schedule.csv](results/schedule.csv). Of several designs, up to {line} steps each are simulated,
until the first has done them.

## What it comes to

{verdict}
"""
TABLE = """\
| {kind}, on so many cores | {heads} |
|---|{rules}|
{rows}

{words}"""
VERDICT = """\
Asked for were {aim} at {cores} cores on general-1. One design as it is has {now} there in generations of policies, with
which it spends its first minutes ([search.md](search.md)), and {races} in races. Why not more:

- A generation has {generation} simulations, no more than one for each core, and the longest takes {ratio:.1f} times the
  mean: that alone leaves {bound}.
- A simulation takes {piece:.1f} ms. To send tables and hear of them takes several times that.
- What is in no batch takes as long as a simulation (measuring included), and in larger generations as much longer.

What changes it:

{reached}

Several designs side by side are the same search each; which of them is best is known at the end. A generation of more
candidates is another search: 32 got further than 16 had, 64 as far as 32 on the one seed that was tried
([search.md](search.md#fresh-seeds-of-networks-that-are-drawn)), and more were not tried. So what hundreds of cores are
for is tens of designs: of several models, of several seeds, or both.
"""


def page(results: pl.DataFrame, kinds: Mapping[str, Sequence[Step]]) -> str:
    """The page, of the steps of each kind."""
    policies, races = kinds["generations"], kinds["races"]
    generation = policies[1]
    return PAGE.format(
        policies_s=sum(map(_cpu_s, policies)),
        races_s=sum(map(_cpu_s, races)),
        steps=len(policies) + len(races),
        pieces=sum(len(stage.pieces) for step in [*policies, *races] for stage in step.stages[1:]),
        kinds="\n".join([_kind("generations of policies", policies[1:]), _kind("races, and what is between", races)]),
        candidates=len(generation.stages[TABLES].pieces),
        generation=len(generation.stages[RUNS].pieces),
        validation=next(len(stage.pieces) for step in races for stage in step.stages if stage.is_measurement),
        races=len(races),
        idle=sum(not step.gains for step in races),
        node=NODE_CORES,
        trip_ms=1e3 * SENDING.trip_s,
        message_ms=1e3 * SENDING.message_s,
        tables="\n\n".join(_table(str(kind), rows) for (kind,), rows in results.group_by("steps", maintain_order=True)),
        line=STEPS,
        verdict=_verdict(results, policies[1:]),
    )


def _table(kind: str, results: pl.DataFrame) -> str:
    return TABLE.format(
        kind=kind,
        heads=" | ".join(f"{cores:,}" for cores in SHOWN),
        rules="|".join("---:" for _ in SHOWN),
        rows="\n".join(_row(str(name), rows) for (name,), rows in results.group_by("variant", maintain_order=True)),
        words="\n".join(f"- *{variant.name}*: {variant.words}." for variant in VARIANTS[kind]),
    )


def _cpu_s(step: Step) -> float:
    return sum(float(stage.pieces.sum()) for stage in step.stages)


def _kind(name: str, steps: Sequence[Step]) -> str:
    """The row of a kind of steps."""
    stages = [stage for step in steps for stage in step.stages[1:] if not stage.is_measurement]
    sizes = pl.Series([len(stage.pieces) for stage in stages])
    pieces = pl.Series([1e3 * piece for stage in stages for piece in stage.pieces.tolist()])
    longest = pl.Series([1e3 * float(stage.pieces.max()) for stage in stages])
    rest = pl.Series([1e3 * float(step.stages[0].pieces.sum()) for step in steps])
    means = f"{pieces.mean():.2f} | {longest.mean():.1f} | {rest.mean():.1f}"
    return f"| {name} | {len(steps)} | {len(stages) / len(steps):.1f} | {sizes.min()} to {sizes.max()} | {means} |"


def _row(name: str, rows: pl.DataFrame) -> str:
    by_cores = dict(zip(rows["cores"], rows["efficiency"], strict=True))
    cells = [f"**{_percent(at)}**" if (at := by_cores[cores]) >= AIM else _percent(at) for cores in SHOWN]
    return f"| {name} | {' | '.join(cells)} |"


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %" if share >= DIGITS_FROM else f"{100 * share:.2g} %"


def _verdict(results: pl.DataFrame, generations: Sequence[Step]) -> str:
    """What reaches what was asked for, and how far."""
    runs = [step.stages[RUNS].pieces for step in generations]
    ratio = sum(float(pieces.max() / pieces.mean()) for pieces in runs) / len(runs)
    there = results.filter(cores=AIMED_CORES, variant=AS_IT_IS)["efficiency"].to_list()
    return VERDICT.format(
        aim=_percent(AIM),
        cores=AIMED_CORES,
        now=_percent(there[0]),
        races=_percent(there[1]),
        generation=len(runs[0]),
        ratio=ratio,
        bound=_percent(1 / ratio),
        piece=1e3 * sum(float(pieces.mean()) for pieces in runs) / len(runs),
        reached="\n".join(
            _reached(str(kind), rows) for (kind,), rows in results.group_by("steps", maintain_order=True)
        ),
    ).rstrip("\n")


def _reached(kind: str, results: pl.DataFrame) -> str:
    """Which variants reach it, and how far they do."""
    words = []
    for (name,), rows in results.group_by("variant", maintain_order=True):
        enough = rows.filter(pl.col("efficiency") >= AIM)["cores"].to_list()
        if AIMED_CORES in enough:
            share = rows.filter(cores=AIMED_CORES)["efficiency"][0]
            words.append(f"  - {name}: {_percent(share)} there, and {_percent(AIM)} or more on up to {max(enough):,}")
    return "\n".join([f"- In {kind} it is reached by{':' if words else ' nothing that was simulated.'}", *words])
