"""`exmachina testbed`: what it is told, a bar while it measures, and at the end what everybody got, and how late."""

from pathlib import Path
from typing import Annotated

import polars as pl

from exmachina.command.parameters import SHORT, Output, Quiet
from exmachina.command.progress import Count, bar
from exmachina.command.terminal import consoles, show_results
from exmachina.engines import InThisThread
from exmachina.measuring import Measurement, Measuring, TestbedOptions
from exmachina.measuring import testbed as measure_schemes
from exmachina.pictures import draw

__all__ = ["testbed"]


def testbed(
    scenario: str,
    *,
    schemes: str | None = None,
    options: Annotated[TestbedOptions, SHORT] = TestbedOptions(),  # noqa: B008 (frozen)
    output: Annotated[Path | None, Output] = None,
    pcap: Path | None = None,
    qlog: Path | None = None,
    quiet: Quiet = False,
) -> None:
    """Measure schemes side by side on the networks of a scenario, with real hosts at both ends.

    As `exmachina evaluate`, in real time: the path between the ends is the simulator's, the hosts are this machine's
    Linux, or with --stack quic those of noq, a QUIC stack. Linux needs root, for network namespaces of its own; it
    touches nothing outside them. QUIC needs none. With --output, finished runs are kept there: after ctrl-C the same
    command goes on where it was.

    Args:
        scenario: A scenario file (.toml), or the name of one that comes with the program, with the preset "today" of
            transports.
        schemes: With commas between them: cubic, newreno and bbr1, which are the kernel's cubic, reno and bbr, or
            cubic, newreno and bbr3 of noq; algorithms of `exmachina list` and .dna files, each with a queue if you
            like, such as `cubic/fqcodel`; the scenario's if not given.
        options: See `TestbedOptions`.
        output: Write flows, a summary, how late packets were, and the picture of throughput and delay into this folder.
        pcap: Write what the senders' hosts saw of each run into this folder: headers only, for Wireshark. Of Linux.
        qlog: Write what senders noted of each connection into this folder. Of QUIC.
        quiet: Show no progress.
    """
    out, messages = consoles()
    names = None if schemes is None else [name for name in schemes.split(",") if name]
    with bar(messages, "measuring", _count, InThisThread(), quiet=quiet) as on_progress:
        found = measure_schemes(scenario, names, options, output=output, pcap=pcap, qlog=qlog, on_progress=on_progress)
    written = [] if output is None else found.paths(output) + draw(found.results, output)
    show_results(out, found.results)
    out.print(_lateness(found), style="dim", soft_wrap=True)
    if written:
        out.print("written: " + ", ".join(map(str, written)), soft_wrap=True)


def _count(now: Measuring) -> Count:
    return Count(now.contender, now.done / now.runs, f"{now.done} of {now.runs} runs", now.left_s)


def _lateness(found: Measurement) -> str:
    late = found.lateness
    again = int((late["attempts"] - 1).sum())
    mean, most = late.select(pl.col("late_mean_ms").mean(), pl.col("late_p999_ms").max()).row(0)
    words = f"Packets were handed over {mean:.2g} ms late on the mean, one in a thousand by more than {most:.2g} ms"
    return f"{words} in the worst run; runs made again as they were later: {again}."
