"""docs/reality.md: what the kernel and QUIC got beside what was simulated, and a picture of it."""

from pathlib import Path

import altair as alt
import polars as pl
from digests import outdated

from exmachina.pictures.render import save
from exmachina.pictures.style import GROUND, MUTED, family_colours
from exmachina.pictures.theme import CONFIG, colours_by, heading, layered
from exmachina.schemes import digits

PANEL = 210, 150
COLUMNS = 3
MARGIN = 0.04
CROWDS = {
    "turns": "8 senders, 5 s on, 5 s off",
    "r4": "8 senders, transfers of 100 kB, 0.5 s off",
    "as-designed": "2 senders, 1 s on, 1 s off, as tables are designed",
}
"""Networks with several senders."""
CLOSE_SHARE, CLOSE_MS = 0.10, 2.0
"""A queueing delay is right within this share of it, or so many ms."""
STACKS = {"measured": "the kernel", "quic": "QUIC"}
"""What the sides are called that were measured."""
HUMAN = ("cubic", "newreno", "bbr1", "bbr3")

PAGE = """\
# Simulation against reality

Written by `python validation/reality.py`: the same scenarios in the simulator, with the preset of today's hosts (its
receivers take 64 kB until data have come, as Linux's do; QUIC's take more, which matters to `general-0.1-robust` alone:
it begins with more), and by
[`exmachina testbed`](testbed.md) on Linux {release}, with its kernel at both ends and with QUIC. Between the hosts is
the same path in all three, so that what differs is the hosts: their congestion control, recovery, timers and ACKs. In
the kernel `cubic`, `newreno` and `bbr1` are its `cubic`, `reno` and `bbr`, and rule tables are there as
`exmachina export --to bpf` writes them; in QUIC `cubic`, `newreno` and `bbr3` are noq's, and rule tables run as they
are ([`exmachina-quic`](../crates/quic/README.md)). noq has no BBR of version 1, Linux none of version 3. Runs are
{runs} of {run_s:g} s each. No table and no law was made or chosen by anything here. `internet-1`,
`general-0.1-robust` and `general-1-robust` are [laws](search.md#laws). Simulated, `cubic` is `cubic-linux-6`, which
was made after a look at the first of the kernel's measurements.
`cubic-rfc9438`, what RFC 9438 alone would give, is held to the same runs of both stacks; noq's Cubic is that of its
predecessor, RFC 8312, and has no HyStart. What was seen where they differ:
[of the kernel](testbed.md#where-simulation-and-kernel-differ),
[of QUIC](testbed.md#where-simulation-and-quic-differ).{outdated}

![Throughput and queueing delay, simulated and measured](reality.png)

## How far apart

Of each scheme, over all {cells} networks: the median of the gap between simulated and measured throughput, without its
sign, and its largest; the same of queueing delay; and on how many networks the simulated delay is within {share} of the
measured one, or {ms:g} ms.
{gaps}

## Beside each other

On the link of 15 Mbit/s and 150 ms with eight senders, and with two, medians of runs as measured.
{beside}

## Network by network

Medians of runs of the mean over senders; throughput as the application gets it. *Again* is what was sent again, of what
was sent; in QUIC it is what was taken for lost.

| network | scheme | Mbit/s simulated | kernel | QUIC | queue, ms: simulated | kernel (least to most) | QUIC | again | \
kernel | QUIC |
|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|
{rows}

All numbers are in [reality.csv](results/reality.csv), with timeouts, which noq does not tell, and lateness.
{late}
"""


def page(rows: pl.DataFrame, release: str, run_s: float) -> str:
    """The page about these rows, of runs of so long on this Linux."""
    pairs = paired(rows)
    counted = rows.filter(pl.col("attempts").is_not_null())
    sides = {side: counted.filter(pl.col("side") == side) for side in STACKS}
    return PAGE.format(
        release=release,
        runs=int(counted["runs"].min()),
        run_s=run_s,
        cells=pairs["cell"].n_unique(),
        share=f"{100 * CLOSE_SHARE:g} %",
        ms=CLOSE_MS,
        gaps="\n".join(_gaps(side, pairs.filter(pl.col("side") == side)) for side in STACKS),
        beside="\n".join(_beside(side, own) for side, own in sides.items()),
        rows="\n".join(_rows(pairs)),
        late="\n".join(_late(side, own) for side, own in sides.items()),
        outdated=f" {said}" if (said := outdated(rows, "scheme")) else "",
    )


def _late(side: str, own: pl.DataFrame) -> str:
    made, mean, worst = int(own["runs"].sum()), own["late_mean_ms"].mean(), own["late_p999_ms"].max()
    again = int(own["attempts"].sum()) - made
    return (
        f"With {STACKS[side]}, packets were handed over {mean:.2g} ms late on the mean; of the worst run one in a\n"
        f"thousand by more than {worst:.2g} ms (a run counts up to 1 ms). Runs that were made again, as they were\n"
        f"later: {again}, beside {made} that count."
    )


def _beside(side: str, own: pl.DataFrame) -> str:
    """What everybody got on the networks with several senders."""
    crowds = {words: own.filter(pl.col("cell") == cell) for cell, words in CROWDS.items()}
    names = crowds[CROWDS["r4"]]["scheme"].to_list()
    lines = [f"\nWith {STACKS[side]}:\n", f"| | {' | '.join(names)} |", "|---|" + "---:|" * len(names)]
    for words, crowd in crowds.items():
        cells = [f"{digits(line['mbps'], 3)} Mbit/s, {digits(line['delay_ms'], 3)} ms" for line in crowd.to_dicts()]
        lines.append(f"| {words} | {' | '.join(cells)} |")
    return "\n".join([*lines, "", *(_ahead(words, crowd) for words, crowd in crowds.items())])


def _ahead(words: str, own: pl.DataFrame) -> str:
    """Which tables have more throughput and less delay than the same hosts' Cubic and BBR."""
    rivals = own.filter(pl.col("scheme").is_in(HUMAN), pl.col("scheme") != "newreno")
    tables = own.filter(~pl.col("scheme").is_in(HUMAN))
    faster = set(tables.filter(pl.col("mbps") > rivals["mbps"].max())["scheme"])
    shorter = set(tables.filter(pl.col("delay_ms") < rivals["delay_ms"].min())["scheme"])
    both, one = sorted(faster & shorter), sorted(faster - shorter)
    told = [f"{', '.join(both)}: more throughput and less delay than both Cubic and BBR"] if both else []
    told += [f"{', '.join(one)}: more throughput than both, not less delay"] if one else []
    return f"- {words}: {'; '.join(told) or 'no table is ahead of both'}."


def paired(rows: pl.DataFrame) -> pl.DataFrame:
    """A row for each network, scheme and stack: what is measured beside what is simulated (`_simulated`), and gaps."""
    simulated = rows.filter(pl.col("side") == "simulated")
    measured = rows.filter(pl.col("side").is_in(list(STACKS)))
    both = measured.join(simulated, on=["cell", "scheme"], suffix="_simulated", maintain_order="left")
    gap_ms = (pl.col("delay_ms_simulated") - pl.col("delay_ms")).abs()
    return both.with_columns(
        gap=(pl.col("mbps_simulated") / pl.col("mbps") - 1).abs(),
        gap_ms=gap_ms,
        close=(gap_ms <= CLOSE_MS) | (gap_ms <= CLOSE_SHARE * pl.col("delay_ms")),
    )


def _gaps(side: str, pairs: pl.DataFrame) -> str:
    """The table of a side."""
    close = f"within {100 * CLOSE_SHARE:g} % or {CLOSE_MS:g} ms"
    head = f"| {STACKS[side]} | throughput: median gap | largest | delay: median gap | largest, ms | {close} |"
    own = [_gap(str(scheme), rows) for (scheme,), rows in pairs.group_by("scheme", maintain_order=True)]
    return "\n".join(["", head, "|---|---:|---:|---:|---:|---:|", *own])


def _gap(scheme: str, own: pl.DataFrame) -> str:
    median, most, share, median_ms, most_ms, close = own.select(
        pl.median("gap").alias("median"),
        pl.max("gap").alias("most"),
        (pl.col("gap_ms") / pl.col("delay_ms")).median().alias("share"),
        pl.median("gap_ms").alias("median_ms"),
        pl.max("gap_ms").alias("most_ms"),
        pl.sum("close"),
    ).row(0)
    shares = f"{100 * median:.1f} % | {100 * most:.1f} %"
    delays = f"{100 * share:.1f} %, {digits(median_ms, 2)} ms | {digits(most_ms, 2)}"
    return f"| {scheme} | {shares} | {delays} | {close} of {len(own)} |"


def _rows(pairs: pl.DataFrame) -> list[str]:
    """A line for each network and scheme, whoever ran it."""
    return [
        _row({str(side): row for side, row in zip(own["side"], own.to_dicts(), strict=True)})
        for _, own in pairs.group_by("cell", "scheme", maintain_order=True)
    ]


def _row(by_side: dict[str, dict[str, float]]) -> str:
    simulated = next(iter(by_side.values()))
    mbps, queue, again = (
        [write(simulated[f"{name}_simulated"])]
        for name, write in [("mbps", _three), ("delay_ms", _three), ("sent_again", _percent)]
    )
    for own in map(by_side.get, STACKS):
        mbps.append("" if own is None else _three(own["mbps"]))
        queue.append("" if own is None else f"{_three(own['delay_ms'])} {_spread(own)}")
        again.append("" if own is None else _percent(own["sent_again"]))
    return f"| {' | '.join([str(simulated['words']), str(simulated['scheme']), *mbps, *queue, *again])} |"


def _spread(own: dict[str, float]) -> str:
    return f"({_three(own['delay_ms_from'])} to {_three(own['delay_ms_to'])})"


def _three(value: float) -> str:
    return digits(value, 3)


def _percent(share: float) -> str:
    return f"{100 * share:.2g} %"


def picture(rows: pl.DataFrame, path: Path) -> None:
    """Draws lines for each network and scheme, from what was simulated to what was measured."""
    colours = family_colours(rows["scheme"].unique(maintain_order=True))
    networks = paired(rows).with_columns(pl.col("side").replace(STACKS)).group_by("words", maintain_order=True)
    panels = [panel(pairs, str(words), colours) for (words,), pairs in networks]
    words = (
        "A ring is simulated, a dot measured with the kernel, a diamond with QUIC (median of runs); bars are from the "
        "least to the most of runs. Both axes fit each network: mind their numbers."
    )
    chart = alt.concat(*panels, columns=COLUMNS).resolve_scale(x="independent", y="independent")
    width = COLUMNS * PANEL[0]
    save(chart.properties(title=heading("Simulation against reality", width, words)).configure(**CONFIG), path)


def panel(pairs: pl.DataFrame, words: str, colours: dict[str, str]) -> alt.LayerChart:
    """One network."""
    colour = colours_by("scheme", colours, legend=alt.Legend(title=None, orient="bottom", symbolType="circle"))
    up = alt.Scale(domain=_reach(pairs), nice=True)
    x = alt.X("delay_ms:Q", title="queueing delay (ms)", scale=alt.Scale(nice=True), axis=alt.Axis(tickCount=4))
    y = alt.Y("mbps:Q", title="throughput (Mbit/s)", scale=up, axis=alt.Axis(tickCount=4))
    shape = alt.Shape("side:N", scale=alt.Scale(domain=[*STACKS.values()], range=["circle", "diamond"]), legend=None)
    data = alt.Chart(pairs)
    layers = [
        data.mark_rule(strokeWidth=1).encode(x.copy(), y, colour, x2="delay_ms_simulated:Q", y2="mbps_simulated:Q"),
        data.mark_rule(strokeWidth=1, color=MUTED).encode(alt.X("delay_ms_from:Q"), y, x2="delay_ms_to:Q"),
        data.mark_rule(strokeWidth=1, color=MUTED).encode(x, alt.Y("mbps_from:Q"), y2="mbps_to:Q"),
        data.mark_point(size=70, fill=GROUND, opacity=1, strokeWidth=1.6).encode(
            alt.X("delay_ms_simulated:Q"), alt.Y("mbps_simulated:Q"), colour
        ),
        # What is held to two simulations was measured once, as the scheme that it is.
        alt.Chart(pairs.filter(pl.col("attempts").is_not_null()))
        .mark_point(size=55, opacity=1, filled=True)
        .encode(x, y, colour, shape),
    ]
    return layered(layers, PANEL, words)


def _reach(pairs: pl.DataFrame) -> list[float]:
    """From the least to the most throughput, and a bit more: what differs by less than that looks alike."""
    every = pl.concat([pairs[name] for name in ("mbps_from", "mbps_to", "mbps_simulated")])
    return [(1 - MARGIN) * float(every.to_numpy().min()), (1 + MARGIN) * float(every.to_numpy().max())]
