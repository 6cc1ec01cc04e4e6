"""docs/reality.md: what the kernel got beside what was simulated, and a picture of it."""

from pathlib import Path

import altair as alt
import polars as pl

from exmachina.pictures.render import save
from exmachina.pictures.style import GROUND, MUTED, family_colours
from exmachina.pictures.theme import CONFIG, colours_by, heading, layered
from exmachina.schemes import digits

PANEL = 210, 150
COLUMNS = 3
MARGIN = 0.04
CROWDS = {"turns": "5 s on, 5 s off", "r4": "transfers of 100 kB, 0.5 s off"}
"""Networks with several senders."""
CLOSE_SHARE, CLOSE_MS = 0.10, 2.0
"""A queueing delay is right within this share of it, or so many ms."""

PAGE = """\
# Simulation against reality

Written by `python validation/reality.py`: the same scenarios in the simulator, with the preset of today's hosts, and by
[`exmachina testbed`](testbed.md) on Linux {release}. Between the hosts is the same path in both, so that what differs
is the hosts: their congestion control, recovery, timers and ACKs. `cubic`, `newreno` and `bbr1` are the kernel's
`cubic`, `reno` and `bbr`; rule tables are in the kernel as `exmachina export --to bpf` writes them. Runs are {runs} of
{run_s:g} s each. No table was made or chosen by anything here. `cubic-linux-6` was made after a look at the first of
these measurements, and is held to the same runs as `cubic`. What was seen where the two differ:
[testbed.md](testbed.md#where-simulation-and-kernel-differ).

![Throughput and queueing delay, simulated and measured](reality.png)

## How far apart

Of each scheme, over all {cells} networks: the median of the gap between simulated and measured throughput, without its
sign, and its largest; the same of queueing delay; and on how many networks the simulated delay is within {share} of the
measured one, or {ms:g} ms.

| scheme | throughput: median gap | largest | delay: median gap | largest, ms | within {share} or {ms:g} ms |
|---|---:|---:|---:|---:|---:|
{gaps}

## In the kernel, beside each other

On the link of 15 Mbit/s and 150 ms with eight senders, medians of runs as measured:

| | {names} |
|---|{rules}|
{beside}

{ahead}

## Network by network

Medians of runs of the mean over senders; throughput as the application gets it. *Again* is what was sent again, of what
was sent.

| network | scheme | Mbit/s simulated | measured | queue, ms: simulated | measured (least to most) | again | measured |
|---|---|---:|---:|---:|---:|---:|---:|
{rows}

All numbers are in [reality.csv](results/reality.csv), with timeouts and lateness. Packets were handed over
{late:.2g} ms late on the mean; of the worst run one in a thousand by more than {worst:.2g} ms (a run counts up to
1 ms). Runs that were made again, as they were later: {again}, beside {made} that count.
"""


def page(rows: pl.DataFrame, release: str, run_s: float) -> str:
    """The page about these rows, of runs of so long on this Linux."""
    pairs = paired(rows)
    measured = rows.filter(pl.col("side") == "measured", pl.col("attempts").is_not_null())
    made = int(measured["runs"].sum())
    crowds = {cell: measured.filter(pl.col("cell") == cell) for cell in CROWDS}
    names = crowds["r4"]["scheme"].to_list()
    return PAGE.format(
        release=release,
        runs=int(measured["runs"].min()),
        run_s=run_s,
        cells=pairs["cell"].n_unique(),
        share=f"{100 * CLOSE_SHARE:g} %",
        ms=CLOSE_MS,
        gaps="\n".join(_gaps(str(scheme), own) for (scheme,), own in pairs.group_by("scheme", maintain_order=True)),
        names=" | ".join(names),
        rules="---:|" * (len(names) - 1) + "---:",
        beside="\n".join(_beside(CROWDS[cell], own) for cell, own in crowds.items()),
        ahead="\n".join(_ahead(CROWDS[cell], own) for cell, own in crowds.items()),
        rows="\n".join(map(_row, pairs.to_dicts())),
        late=measured["late_mean_ms"].mean(),
        worst=measured["late_p999_ms"].max(),
        again=int(measured["attempts"].sum()) - made,
        made=made,
    )


def _beside(words: str, own: pl.DataFrame) -> str:
    cells = [f"{digits(line['mbps'], 3)} Mbit/s, {digits(line['delay_ms'], 3)} ms" for line in own.to_dicts()]
    return f"| {words} | {' | '.join(cells)} |"


def _ahead(words: str, own: pl.DataFrame) -> str:
    """Which tables have more throughput and less delay than the kernel's Cubic and BBR."""
    kernels = own.filter(pl.col("scheme").is_in(["cubic", "bbr1"]))
    tables = own.filter(~pl.col("scheme").is_in(["cubic", "bbr1", "newreno"]))
    faster = set(tables.filter(pl.col("mbps") > kernels["mbps"].max())["scheme"])
    shorter = set(tables.filter(pl.col("delay_ms") < kernels["delay_ms"].min())["scheme"])
    both, one = sorted(faster & shorter), sorted(faster - shorter)
    told = [f"{', '.join(both)}: more throughput and less delay than both Cubic and BBR"] if both else []
    told += [f"{', '.join(one)}: more throughput than both, not less delay"] if one else []
    return f"- {words}: {'; '.join(told) or 'no table is ahead of both'}."


def paired(rows: pl.DataFrame) -> pl.DataFrame:
    """A row for each network and scheme, with what is measured beside what is simulated (`_simulated`), and gaps."""
    measured, simulated = (rows.filter(pl.col("side") == side) for side in ("measured", "simulated"))
    both = measured.join(simulated, on=["cell", "scheme"], suffix="_simulated", maintain_order="left")
    gap_ms = (pl.col("delay_ms_simulated") - pl.col("delay_ms")).abs()
    return both.with_columns(
        gap=(pl.col("mbps_simulated") / pl.col("mbps") - 1).abs(),
        gap_ms=gap_ms,
        close=(gap_ms <= CLOSE_MS) | (gap_ms <= CLOSE_SHARE * pl.col("delay_ms")),
    )


def _gaps(scheme: str, own: pl.DataFrame) -> str:
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


def _row(pair: dict[str, float]) -> str:
    mbps = f"{digits(pair['mbps_simulated'], 3)} | {digits(pair['mbps'], 3)}"
    spread = f"({digits(pair['delay_ms_from'], 3)} to {digits(pair['delay_ms_to'], 3)})"
    delays = f"{digits(pair['delay_ms_simulated'], 3)} | {digits(pair['delay_ms'], 3)} {spread}"
    again = f"{100 * pair['sent_again_simulated']:.2g} % | {100 * pair['sent_again']:.2g} %"
    return f"| {pair['words']} | {pair['scheme']} | {mbps} | {delays} | {again} |"


def picture(rows: pl.DataFrame, path: Path) -> None:
    """Draws an arrow for each network and scheme, from what was simulated to what was measured."""
    colours = family_colours(rows["scheme"].unique(maintain_order=True))
    networks = paired(rows).group_by("words", maintain_order=True)
    panels = [panel(pairs, str(words), colours) for (words,), pairs in networks]
    words = (
        "A ring is simulated, a dot measured on the kernel (median of runs), bars are from the least to the most of "
        "runs. Both axes fit each network: mind their numbers."
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
    data = alt.Chart(pairs)
    layers = [
        data.mark_rule(strokeWidth=1).encode(x.copy(), y, colour, x2="delay_ms_simulated:Q", y2="mbps_simulated:Q"),
        data.mark_rule(strokeWidth=1, color=MUTED).encode(alt.X("delay_ms_from:Q"), y, x2="delay_ms_to:Q"),
        data.mark_rule(strokeWidth=1, color=MUTED).encode(x, alt.Y("mbps_from:Q"), y2="mbps_to:Q"),
        data.mark_point(size=70, fill=GROUND, opacity=1, strokeWidth=1.6).encode(
            alt.X("delay_ms_simulated:Q"), alt.Y("mbps_simulated:Q"), colour
        ),
        data.mark_circle(size=55, opacity=1).encode(x, y, colour),
    ]
    return layered(layers, PANEL, words)


def _reach(pairs: pl.DataFrame) -> list[float]:
    """From the least to the most throughput, and a bit more: what differs by less than that looks alike."""
    every = pl.concat([pairs[name] for name in ("mbps_from", "mbps_to", "mbps_simulated")])
    return [(1 - MARGIN) * float(every.to_numpy().min()), (1 + MARGIN) * float(every.to_numpy().max())]
