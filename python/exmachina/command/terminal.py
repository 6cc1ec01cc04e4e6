"""What the command line prints at the end: tables, and how numbers are written in them."""

import sys
from collections.abc import Mapping, Sequence
from math import isnan
from typing import Any

import polars as pl
from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

from exmachina.evaluation import Results, Trace
from exmachina.exporting import Export
from exmachina.inspection import Inspection
from exmachina.schemes import Algorithm, Law, action_words, digits, law_levels, law_words, percent, signed
from exmachina.scoring import REFERENCE, ScoreReport, Stratum

__all__ = [
    "consoles",
    "duration",
    "show_algorithms",
    "show_names",
    "show_results",
    "show_rules",
    "show_scores",
    "show_trace",
    "si",
]

PIPE_WIDTH = 160
"""Of what is written to a file or another program."""
MINUTE, HOUR = 60, 3600


def duration(seconds: float) -> str:
    """A duration to read, such as `1 h 05 min`, `2 min 05 s` or `7.5 s`."""
    if seconds < MINUTE:
        return f"{seconds:.1f} s"
    if seconds < HOUR:
        return f"{int(seconds // MINUTE)} min {int(seconds % MINUTE):02} s"
    return f"{int(seconds // HOUR)} h {int(seconds % HOUR // MINUTE):02} min"


def si(number: float) -> str:
    """A large number to read, such as `12.3 M`."""
    for limit, unit in [(1e9, " G"), (1e6, " M"), (1e3, " k")]:
        if number >= limit:
            return f"{number / limit:.3g}{unit}"
    return f"{number:.3g}"


def score_words(score: float | None, starved_share: float | None) -> str:
    """The score of a design, and the share of senders that have no part in it."""
    starved = f", {percent(starved_share)} of senders starved" if starved_share else ""
    return f"score {signed(score)}{starved}"


def show_results(console: Console, results: Results) -> None:
    """Prints the summary of an evaluation."""
    summary = results.summary
    grid = Grid(box=None, padding=(0, 2), header_style="bold")
    grid.add_column("scheme")
    for head in ["throughput, Mbit/s", "median", "queueing delay, ms", "median", "sent again", "timeouts"]:
        grid.add_column(head, justify="right", no_wrap=True)
    for line in summary.iter_rows(named=True):
        cells = []
        for measure in ("counted_mbps", "counted_delay_ms"):
            mean, half_width = line[f"{measure}_mean"], line[f"{measure}_ci95"]
            margin = "" if half_width is None else f" ± {digits(half_width, 2)}"
            cells += [_digits(mean) + margin, _digits(line[f"{measure}_median"])]
        grid.add_row(line["label"], *cells, percent(line["retransmission_rate"]), _cell(line["timeouts"], "d"))
    console.print(grid)
    for warning in results.warnings:
        console.print(warning)
    console.print(
        f"{results.name}: {results.runs['run'].n_unique()} runs of {results.duration_s:g} s, seed {results.seed}. "
        "Means over runs of the mean of the senders, ± half a 95 % Student-t interval; medians of all senders.",
        style="dim",
        soft_wrap=not console.is_terminal,
    )


def show_trace(console: Console, trace: Trace) -> None:
    """Prints what a trace holds."""
    sent = trace.senders.filter(pl.col("event") == "send")
    dropped = (trace.hops["event"] == "drop").sum()
    console.print(
        f"{trace.scheme} on {trace.name}, run {trace.run}, {trace.duration_s:g} s: {len(sent)} packets sent, "
        f"{sent['retransmission'].sum()} of them again; {dropped} dropped",
        soft_wrap=True,
    )


def show_scores(console: Console, report: ScoreReport) -> None:
    """Prints a score report."""
    summary = report.summary
    several = len(summary) > 2  # noqa: PLR2004 (one scheme and the reference)
    grid = Grid(title=None, box=None, padding=(0, 2), header_style="bold")
    grid.add_column("scheme")
    for head in ["score", *(["to the first"] if several else []), "throughput", "delay"]:
        grid.add_column(head, justify="right", no_wrap=True)
    for line in summary.iter_rows(named=True):
        paired = _interval(line["difference"], line["difference_ci95"], plus=True)
        cells = [
            line["scheme"],
            _interval(line["score"], line["score_ci95"]),
            *([paired if line["scheme"] != summary["scheme"][0] else ""] if several else []),
            _cell(line["normalised_throughput"], ".3f"),
            _cell(line["delay_ratio"], ".3f"),
        ]
        grid.add_row(*cells, style="dim" if line["scheme"] == REFERENCE else None)
    console.print(grid)
    for line in summary.filter(pl.col("starved_senders") > 0).iter_rows(named=True):
        console.print(f"{line['scheme']}: {starved_words(line)}", soft_wrap=True)
    for warning in report.warnings:
        console.print(warning, soft_wrap=True)
    count = report.frame["specimen"].n_unique()
    console.print(
        f"{count} held-out specimens of {report.model.name}, {report.seconds_each:g} s each, seed {report.seed}. "
        "± is half a 95 % Student-t interval; differences are paired by specimen. Throughput is over an equal share, "
        "delay over the minimum RTT.",
        style="dim",
        soft_wrap=not console.is_terminal,
    )


def show_strata(console: Console, report: ScoreReport, by: Stratum) -> None:
    """Prints a score report by strata."""
    strata = report.strata(by)
    first = strata["scheme"][0]
    grid = Grid(title=None, box=None, padding=(0, 2), header_style="bold")
    for head, justify in [(by, "left"), ("scheme", "left"), ("score", "right"), ("to the first", "right")]:
        grid.add_column(head, justify="right" if justify == "right" else "left", no_wrap=True)
    for (low, high), group in strata.group_by("low", "high", maintain_order=True):
        place = f"{low:g}" if low == high else f"{low:.4g} to {high:.4g}"
        for i, line in enumerate(group.iter_rows(named=True)):
            paired = _interval(line["difference"], line["difference_ci95"], plus=True)
            grid.add_row(
                place if i == 0 else "",
                line["scheme"],
                _interval(line["score"], line["score_ci95"]),
                paired if line["scheme"] != first else "",
                style="dim" if line["scheme"] == REFERENCE else None,
            )
    console.print(grid)


def starved_words(line: Mapping[str, Any]) -> str:
    """What a line of a score report's summary says of senders that starved; nothing where none did."""
    if line["starved_senders"] == 0:
        return ""
    words = f"{line['starved_senders']} senders ({percent(line['starved_share'])}) were on and received nothing"
    unpaired = f"; {line['unpaired']} specimens are not in the difference" if line["unpaired"] else ""
    return f"{words}, and are in no mean{unpaired}"


def _interval(mean: float | None, half_width: float, *, plus: bool = False) -> str:
    text = signed(mean, plus=plus)
    return text if mean is None or isnan(half_width) else f"{text} ± {half_width:.3f}"


def _digits(value: float | None) -> str:
    return "–" if value is None else digits(value, 3)


def _cell(value: float | None, spec: str) -> str:
    return "–" if value is None else format(value, spec)


TRAP = 0.5
"""States in which a lone flow has less than this share of the link are shown."""
HOLDS = {
    "pace": "ACKs come at the pace that it sets",
    "window": "it keeps the window whose ACKs it is the rule for",
    "lone packet": "a window of one packet, whose ACK waits for a second",
    "mute": "it takes a window of one packet to none",
}
"""How a state holds itself, in words."""


def show_law(console: Console, name: str, law: Law) -> None:
    """Prints what a law does by the length of the queue."""
    console.print(Text.assemble((name, "bold"), ": a law"))
    grid = Grid(box=None, padding=(0, 2), header_style="bold")
    for head in ["queue, targets", "window, an RTT", "packets, an RTT", "pace, of RTT / window", "window at most"]:
        grid.add_column(head, justify="right", no_wrap=True)
    for level in law_levels(law).iter_rows(named=True):
        most = f"{level['most']:.3g} × delivered"
        growth, packets = f"{100 * level['growth']:+.3g} %", f"{level['packets']:.3g}"
        grid.add_row(f"{level['queue']:g}", growth, packets, f"{level['pace']:.3g}", most)
    console.print(grid)
    for words in law_words(law):
        console.print(words, soft_wrap=True)


def show_rules(console: Console, inspection: Inspection, most: int = 12) -> None:
    """Prints the most used rules of a table, or what a law says."""
    if inspection.table.law:
        show_law(console, inspection.table.name, inspection.table.law)
        for warning in inspection.warnings:
            console.print(warning, soft_wrap=True)
        return
    usage = inspection.usage
    used = int((usage["uses"] > 0).sum())
    signals = ", ".join(inspection.table.signals)
    words = f": {inspection.table.size} over {signals}; {used} fire on these networks"
    console.print(Text.assemble((inspection.table.name, "bold"), words))
    grid = Grid(box=None, padding=(0, 2), header_style="bold")
    for head in ["rule", "uses", "window"]:
        grid.add_column(head, justify="right", no_wrap=True)
    grid.add_column("what it does", no_wrap=True)
    grid.add_column("median memory")
    for rule in usage.filter(pl.col("uses") > 0).head(most).iter_rows(named=True):
        memory = ", ".join(f"{s} {rule[f'median_{s}']:.3g}" for s in inspection.table.signals)
        window = f"{rule['median_window_packets']:g}"
        grid.add_row(str(rule["rule"]), f"{100 * rule['share']:.3g} %", window, action_words(rule), memory)
    console.print(grid)
    if used > most:
        console.print(f"and {used - most} more that fire", style="dim")
    traps = inspection.equilibria.filter(pl.col("share_from") < TRAP)
    for state in traps.head(most).iter_rows(named=True):
        shares = " to ".join(dict.fromkeys(percent(state[f"share_{end}"]) for end in ("from", "to")))
        console.print(
            f"rule {state['rule']} can hold a lone flow at {shares} of the link for ever: {HOLDS[state['kind']]} "
            f"({percent(state['networks'])} of the networks)"
        )
    for warning in inspection.warnings:
        console.print(warning, soft_wrap=True)


def show_export(console: Console, done: Export) -> None:
    """Prints how far rounding moved a table, and what was written."""
    if done.quantised.law:
        console.print("a law is in whole numbers: nothing moved")
    else:
        for one in (one for one in done.moved if one.splits):
            splits = f"{one.splits} split{'s' * (one.splits > 1)}"
            console.print(f"{one.signal}: {splits}, moved by at most {one.farthest:.3g} {one.unit}".rstrip())
        console.print(
            f"multiples moved by at most {done.multiple:.2g}, paces by {done.intersend_ms * 1e6:.2g} ns; "
            f"{done.closed_rules or 'no'} rule{'s' * (done.closed_rules != 1)} closed"
        )
    console.print("written: " + ", ".join(map(str, done.written)), soft_wrap=True)


def show_algorithms(console: Console, algorithms: Sequence[Algorithm]) -> None:
    """Prints what the algorithms are worth that come with the program."""
    grid = Grid(box=None, padding=(0, 1), header_style="bold")
    grid.add_column("name", no_wrap=True)
    grid.add_column("what for")
    for head in ["size", "score", "published", "reference", "CPU time"]:
        grid.add_column(head, justify="right", no_wrap=True)
    grid.add_column("looked at")
    for one in algorithms:
        published = "–" if one.published is None else signed(one.published.score)
        score = _interval(one.score, one.score_ci95)
        numbers = (one.size, score, published, signed(one.reference), duration(one.cpu_s))
        looked_at = (*one.choosing.experiments, *(["held-out"] if one.choosing.held_out else []))
        grid.add_row(one.name, one.description, *numbers, ", ".join(looked_at) or "–")
    console.print(grid)
    console.print(
        "Score per held-out specimen of the model of the same name, ± half a 95 % interval; that of the authors' "
        "published table for it; that of omniscient senders; what the design took. It trained on its model; which of "
        "the papers' experiments (reproduce --list) were looked at in choosing it, and whether held-out specimens.",
        style="dim",
        soft_wrap=not console.is_terminal,
    )


def show_names(console: Console, named: list[tuple[str, str]]) -> None:
    """Prints names with what they are."""
    width = max((len(name) for name, _ in named), default=0)
    for name, what in named:
        console.print(Text.assemble((f"{name:{width}}", "bold"), f" {what}"), soft_wrap=True)


def consoles() -> tuple[Console, Console]:
    """For results, and for all else: results can be piped on. What is printed is text, whatever brackets are in it."""
    width = None if sys.stdout.isatty() else PIPE_WIDTH
    out = Console(highlight=False, markup=False, emoji=False, width=width)
    return out, Console(file=sys.stderr, highlight=False, markup=False, emoji=False)
