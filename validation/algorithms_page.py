"""docs/algorithms.md: the algorithms that come with the program in tables, their time-to-score curves as a picture."""

import tomllib
from collections.abc import Mapping, Sequence
from math import inf
from pathlib import Path
from typing import Any

import altair as alt
import numpy as np
import polars as pl

from exmachina.command.terminal import duration, si
from exmachina.files import write_atomically
from exmachina.networks import Span
from exmachina.pictures.axes import Plane, Side, span
from exmachina.pictures.render import save
from exmachina.pictures.style import FIXED, HUMAN, MACHINES, ROUTERS
from exmachina.pictures.theme import DASHES, colours_by, layered
from exmachina.schemes import Algorithm, Rival, designed_range, signed
from exmachina.scoring import REFERENCE

COLUMNS = 5
SIZE = 190, 130
"""Of a curve, pixels."""
PUBLISHED = "#d98a00"
PAGE = """\
# The algorithms that come with the program

`exmachina list` shows them; each goes by its name wherever a table or a scheme is asked for:
`exmachina evaluate r4 --schemes general-0.1,cubic`. Each was designed for the model of the same name
(`exmachina models`) by `exmachina design`; the `.dna` file holds the model, the seed and the settings.

This page, its picture and the files in [python/exmachina/algorithms](../python/exmachina/algorithms) are written by
`python validation/algorithms.py`.

## What they are worth

{how}
Scores are means per specimen, ± half a 95 % Student-t interval; a specimen's score is the mean over its senders.
*Ahead of it* is the algorithm's score less the other's, paired by specimen: above 0 by more than its interval, the
algorithm is better with 95 % confidence; where it is not, the number is bold. *Published* is the authors' table for
the same networks, where they published one: {published} Cubic, Cubic over sfqCoDel and NewReno run in the transport
of the papers' ns-2, with retransmissions and timeouts, the tables in the design simulator; where the model's queue is
infinite, these schemes have one of 5 bandwidth-delay products, as in Tao'14. The *reference* is that of omniscient
senders: equal shares at every moment, and never a queue.

What counts is the same for tables, people's schemes and the reference, by one scorer (`crates/run/src/worth.rs`).
The rule is the authors': a packet counts when its ACK is back, also where the sender was switched off before, and not
where the run is over before; time counts while the sender is on. So the reference is no bound. A sender that parks a
queue when it is switched off has that delivered in time that nobody is charged for, and the reference has no queue to
park: where delay costs little, an algorithm can be ahead of it, as `tao-delta-0.1` is. (`deliveries = "while-on"` in
a model's `[objective]` counts only what is delivered while on.) Where an objective has a price for lost packets
(`loss_weight`; here the datacenter's), packets sent are all transmissions, those of the transports that send again
included.

A sender that was on and received nothing has no utility: it is in no mean. Where there are such, their share of the
senders that were on is beside the score, in parentheses ("starved"); and where nobody received anything under one of
two schemes, that specimen is not in their difference, which says how many were left out. Scores are those of the
model's own networks, without `[[also]]`, which only the search goes by.

{scores}

## What they were tuned on

A table is *trained* on networks drawn from its model, in the design simulator; the search keeps what does better on
others of the same model, and never sees the held-out ones. What is below it computes from the model that is in the
table's file, rough training networks included; nothing is said of one link, a buffer without end, an ACK for each
packet, and the microsecond of jitter that all have. *Chosen by*: which of
several tables to take, or whether to go on with one, is decided by people, who look at results for it; the
[diary](designs.md) tells of it, and what it does not tell is "not recorded". *Of the papers' networks* are the
experiments of [reproduced.md](reproduced.md) whose results were looked at for it; there each claim says whether its
network was in the table's training, in choosing it, or neither. {held_out}

{tuned}

## What they cost

CPU time of all threads, and that of earlier designs whose tables these began with. The papers: 3 to 5 CPU-days for a
RemyCC (Remy'13, section 4.3), "within a CPU-year" for a Tao (Tao'14).

{costs}
{beside}
![Score on specimens that the search does not train on, over CPU time, of each design](algorithms.png)

The curves are of what the searches went by, on specimens that they do not train on; they begin where designs of other
tables that theirs began with had ended. Dots are the scores of the table above, dashed lines those of the published
table, Cubic and the reference, all on its held-out specimens. Only dots compare with lines: a curve has fewer
specimens, and where a model has other networks to train with ({rough}) it is of these.
"""


WEIGHTY = 1000
"""Scores from here on are written without decimals: under -1 / throughput, who receives next to nothing weighs that."""


def write_page(docs: Path, algorithms: Sequence[Algorithm]) -> None:
    """Writes `algorithms.md` and `algorithms.png`."""
    if not algorithms:
        return
    write_atomically(docs / "algorithms.md", page(algorithms).encode())
    save(curves(algorithms), docs / "algorithms.png")


def page(algorithms: Sequence[Algorithm]) -> str:
    """What `algorithms.md` says."""
    return PAGE.format(
        how=how_scored(algorithms),
        published=beaten(algorithms),
        scores=scores(algorithms),
        held_out=looked_at(algorithms),
        tuned=tuned(algorithms),
        costs=costs(algorithms),
        beside=beside_rivals(algorithms),
        rough=", ".join(f"`{one.name}`" for one in algorithms if is_rough(one)),
    )


def how_scored(algorithms: Sequence[Algorithm]) -> str:
    """How many specimens, and which."""
    beside = {one.metadata["held_out"]["specimens"] for one in algorithms if one.metadata["published"]}
    sizes = {one.metadata["held_out"]["specimens"] for one in algorithms if not one.metadata["published"]} or beside
    seeds = {one.metadata["held_out"]["seed"] for one in algorithms}
    # Those of a grid are rounded up to whole grids.
    count = f"{min(sizes)}" if len(sizes) == 1 else f"{min(sizes)} to {max(sizes)}"
    drawn = f"drawn with the seed {', '.join(map(str, sorted(seeds)))}, which no design has"
    more = f" ({min(beside)} where there is a published table)" if beside and min(beside) > min(sizes) else ""
    return f"On {count} held-out specimens of each model{more}, {drawn}."


def beaten(algorithms: Sequence[Algorithm]) -> str:
    """Of how many published tables the algorithms are ahead."""
    known = [one.published for one in algorithms if one.published is not None]
    ahead = sum(rival.lead > rival.lead_ci95 for rival in known)
    return f"of {len(known)} such tables, the algorithm is ahead of {ahead}."


def scores(algorithms: Sequence[Algorithm]) -> str:
    """Scores, and leads over everything else."""
    schemes = list(dict.fromkeys(rival.name for one in algorithms for rival in one.rivals))
    head = ["algorithm", "for", "score", "reference", "published", "ahead of it"]
    head += [cell for name in schemes for cell in (name, "ahead of it")]
    rows = []
    for one in algorithms:
        own = with_margin(one.score, one.score_ci95) + starved(one.starved_share)
        row = [f"`{one.name}`", one.description, own, score(one.reference)]
        rivals = {rival.name: rival for rival in one.rivals}
        for rival in (one.published, *(rivals.get(name) for name in schemes)):
            row += beside(rival)
        rows.append(row)
    return markdown(head, rows, words=2)


def beside(rival: Rival | None) -> list[str]:
    """A rival's score, and the lead over it; bold where it is none with 95 % confidence."""
    if rival is None:
        return ["", ""]
    lead = with_margin(rival.lead, rival.lead_ci95, plus=True)
    lead = lead if rival.lead > rival.lead_ci95 else f"**{lead}**"
    if rival.unpaired > 0:
        lead += f" ({rival.unpaired} left out)"
    return [score(rival.score) + starved(rival.starved_share), lead]


def starved(share: float) -> str:
    """The share of senders that are in no score, where there are any."""
    return f" ({100 * share:.2g} % starved)" if share > 0 else ""


def looked_at(algorithms: Sequence[Algorithm]) -> str:
    """Whether scores on the held-out specimens played a part in choosing."""
    names = [f"`{one.name}`" for one in algorithms if one.choosing.held_out]
    told = f", but with {', '.join(names)} we went on after a look at one" if names else ""
    return f"Scores on the held-out networks above chose no table{told}."


def tuned(algorithms: Sequence[Algorithm]) -> str:
    """What each was trained on and chosen by."""
    head = ["algorithm", "trained on", "chosen by", "of the papers' networks"]
    rows = []
    for one in algorithms:
        choosing = one.choosing
        by = f"{choosing.by} ([diary](designs.md#{choosing.diary}))"
        rows.append([f"`{one.name}`", trained_words(one), by, ", ".join(choosing.experiments) or "none"])
    return markdown(head, rows, words=4)


def trained_words(one: Algorithm) -> str:
    """The ranges of its training networks."""
    found = designed_range(one.table)
    assert found is not None
    parts = [
        words.format(ends(span, unit))
        for span, unit, words, usual in [
            (found.rate_mbps, 1, "{} Mbit/s", None),
            (found.rtt_ms, 1, "{} ms", None),
            (found.links, 1, "{} links", 1),
            (found.senders, 1, "{} senders", None),
            (found.on_s, 1, "on for {} s", None),
            (found.on_bytes, 1e-6, "on for {} MB", None),
            (found.off_s, 1, "off for {} s", None),
            (found.buffer_bdp, 1, "buffers of {} BDP", inf),
            (found.jitter_ms, 1, "jitter of {} ms", 0),
            (found.loss, 100, "losses of {} %", 0),
            (found.ack_packets, 1, "an ACK for {} packets", 1),
        ]
        if span is not None and span != Span(usual, usual)
    ]
    return ", ".join([*parts, *(f"beside {name}" for name in found.neighbours or ()), *upset_words(one)])


def upset_words(one: Algorithm) -> list[str]:
    """How often, at the mean, training sets a flow's window and averages elsewhere, if it does."""
    model = tomllib.loads(one.model.text)
    worlds = [model["design"].get("world", {}), *(other.get("world", {}) for other in model.get("also", []))]
    every = [world["flow_upset_s"] for world in worlds if "flow_upset_s" in world]
    return [f"flows set elsewhere every {ends(Span(min(every), max(every)), 1)} s"] if every else []


def ends(span: Span, unit: float) -> str:
    """From where to where, `10–20`; without end is ∞."""
    low, high = (f"{unit * end:,.6g}".replace("inf", "∞") for end in (span.low, span.high))
    return low if low == high else f"{low}–{high}"


def is_rough(one: Algorithm) -> bool:
    """Whether its search goes by other networks than those that it is scored on."""
    model = tomllib.loads(one.model.text)
    return "also" in model or "world" in model["design"]


def costs(algorithms: Sequence[Algorithm]) -> str:
    """What the designs took."""
    head = ["algorithm", "size", "CPU time", "packets simulated", "steps", "seed", "below the reference"]
    rows = []
    for one in algorithms:
        design, held_out = one.metadata["design"], one.metadata["held_out"]
        below = with_margin(held_out["below_reference"], held_out["below_reference_ci95"])
        row = [one.size, duration(one.cpu_s), si(design["packets"]), design["steps"], design["seed"], below]
        rows.append([f"`{one.name}`", *map(str, row)])
    # Those that were designed together took their time once.
    designs = {one.metadata["model"]: one for one in algorithms}.values()
    packets = sum(one.metadata["design"]["packets"] for one in designs)
    rows.append(
        ["all, each with what it began with", "", duration(sum(one.cpu_s for one in designs)), si(packets), "", "", ""]
    )
    return markdown(head, rows, words=1)


def beside_rivals(algorithms: Sequence[Algorithm]) -> str:
    """What was tuned after its design, or has other numbers by hand, and what that took."""
    lines = []
    for one in algorithms:
        design = one.metadata["design"]
        tuned = design.get("tuned")
        if "steadied" in design:
            lines.append(steadied(one.name, design))
        elif tuned is None and "by_hand" in design:
            lines.append(f"`{one.name}` was designed{by_hand(design)}.\n")
        if tuned is not None:
            lines.append(
                f"`{one.name}` was tuned after its design ([how](search.md#tuning-beside-rivals)), beside "
                f"{', '.join(f'`{name}`' for name in tuned['rivals'])}: {tuned['generations']} generations of "
                f"{tuned['candidates']} candidates on {tuned['networks']} networks each, seed {tuned['seed']}, "
                f"{duration(tuned['cpu_s'])} of its CPU time{before(tuned)}{by_hand(tuned)}.\n"
            )
    return "".join(f"\n{line}" for line in lines)


def steadied(name: str, design: Mapping[str, Any]) -> str:
    """What was climbed or evolved to from a design, by which steps, and what is other for it."""
    made, others = design["steadied"], list(design["by_hand"])
    rules = [other for other in others if other.startswith("rule ")]
    edges = [other for other in others if " " in other and other not in rules]
    changed = f"what {len(rules)} of its rules do" if rules else ", ".join(f"`{other}`" for other in others)
    changed += f", and where it is split in {len(edges)} places" if edges else ""
    return (
        f"`{name}` was designed, and then {evolved_or_climbed(made)} so that flows come back from disturbed states "
        f"([how](search.md#back-from-disturbed-states)): {made['steps']} steps of {made['candidates']} candidates, "
        f"seed {made['seed']}{hunted(made)}, {also(made)}{duration(made['cpu_s'])} of its CPU time"
        f"{climbed_before(made)}; set since the design: {changed}.\n"
    )


def evolved_or_climbed(made: Mapping[str, Any]) -> str:
    """Which of the two; files from before there were two were climbed."""
    return "evolved" if made.get("search") == "evolution" else "climbed"


def also(made: Mapping[str, Any]) -> str:
    """Other models whose scores counted."""
    names = made.get("also", [])
    return f"by scores on {', '.join(f'`{name}`' for name in names)}, too, " if names else ""


def climbed_before(made: Mapping[str, Any]) -> str:
    """The steps before these, where there were others."""
    if "before" not in made:
        return ""
    other = made["before"]
    return (
        f", after {other['steps']} of seed {other['seed']}{hunted(other)} in {duration(other['cpu_s'])}"
        f"{climbed_before(other)}"
    )


def hunted(made: Mapping[str, Any]) -> str:
    """How many networks were looked through for those on which flows are lost, or that nothing was asked of states."""
    if made.get("disturbed") == 0:
        return " by its score alone"
    return f" hunting through {made['hunted']} networks" if made.get("hunted") else ""


def before(tuned: Mapping[str, Any]) -> str:
    """What earlier tunings took, whose law this one began with."""
    return f", and {duration(tuned['cpu_s_before'])} of earlier ones" if "cpu_s_before" in tuned else ""


def by_hand(made: Mapping[str, Any]) -> str:
    """Which numbers were set since, of a design or of tuning."""
    names = made.get("by_hand", {})
    return f"; set by hand since: {', '.join(f'`{name}`' for name in names)}" if names else ""


def with_margin(mean: float, half_width: float, *, plus: bool = False) -> str:
    """A mean and its interval."""
    return f"{score(mean, plus=plus)} ± {score(half_width)}"


def score(value: float, *, plus: bool = False) -> str:
    """Three decimals, or none."""
    return signed(value, 3 if abs(value) < WEIGHTY else 0, plus=plus)


def markdown(head: list[str], rows: list[list[str]], words: int) -> str:
    """A table whose first so many columns are words."""
    lines = [head, ["---" if i < words else "---:" for i in range(len(head))], *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def curves(algorithms: Sequence[Algorithm]) -> alt.ConcatChart:
    """Time-to-score curves, one small chart each."""
    charts = alt.concat(*map(curve, algorithms), columns=COLUMNS, spacing=18)
    chart: alt.ConcatChart = charts.resolve_scale(color="independent")
    return chart


def curve(one: Algorithm) -> alt.LayerChart:
    """One time-to-score curve, and levels to compare it with."""
    levels = levels_of(one)
    design, reached = one.metadata["design"], float(one.history["score"][-1])
    # The first rule alone may be off the picture: what matters is where it ended, and where the levels are.
    shown = [one.score, reached, *(level for _, level, _ in levels if level > one.score - 2)]
    reach = max(max(shown) - min(shown), 0.05)
    levels = [each for each in levels if each[1] >= min(shown) - 0.1 * reach]
    steps = one.history.select(x=pl.col("cpu_s") + design["cpu_s_before"], y="score")
    # Tuning goes by another worth.
    end = pl.DataFrame({"x": [one.cpu_s - design.get("tuned", {"cpu_s": 0.0})["cpu_s"]], "y": [reached]})
    steps = pl.concat([steps, end], how="vertical_relaxed")
    height = Side(min(shown) - 0.35 * reach, max(shown) + 0.18 * reach, SIZE[1])
    plane = Plane(span(steps["x"].to_numpy(), SIZE[0], log=True), height)
    place = plane.channels("CPU time (s)", "score per specimen")
    compared = pl.DataFrame(levels, schema={"name": pl.String, "y": pl.Float64, "colour": pl.String}, orient="row")
    colour = colours_by("name", {name: colour for name, _, colour in levels})
    across = plane.x.value(np.linspace(0, SIZE[0], 60))
    lines = [np.stack([across, np.full(60, level)], axis=1) for _, level, _ in levels]
    ends = np.array([(plane.x.start, level) for _, level, _ in levels])
    layers = [
        alt.Chart(compared).mark_rule(strokeDash=DASHES).encode(place[1], colour),
        *plane.named(
            ends,
            [name for name, _, _ in levels],
            place,
            colour,
            avoid=np.concatenate([steps.to_numpy(), *lines]),
            size=9,
        ),
        alt.Chart(steps).mark_line(interpolate="step-after", color=MACHINES[0], clip=True).encode(*place),
        alt.Chart(end.with_columns(y=one.score)).mark_circle(size=45, color=MACHINES[0], opacity=1).encode(*place),
    ]
    return layered(layers, SIZE, one.name)


def levels_of(one: Algorithm) -> list[tuple[str, float, str]]:
    """What its score is compared with: names, scores and colours."""
    rivals = {rival.name: rival.score for rival in one.rivals}
    levels = [("reference", one.reference, FIXED[REFERENCE])]
    if one.published is not None:
        levels.append(("published", one.published.score, PUBLISHED))
    known = {**HUMAN, **ROUTERS}
    return levels + [(name, rivals[name], known[name]) for name in ("cubic", "cubic/sfqcodel") if name in rivals]
