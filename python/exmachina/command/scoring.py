"""`exmachina score`: what it is told, a bar while it works, and at the end scores and strata."""

from pathlib import Path
from typing import Annotated

from exmachina.command import progress, terminal
from exmachina.command.parameters import FIELDS, Quiet
from exmachina.files import check_output
from exmachina.networks import Model
from exmachina.schemes import percent
from exmachina.scoring import ScoreOptions, Stratum, designed_for
from exmachina.scoring import score as score_schemes

__all__ = ["score", "together"]


def score(
    *schemes: str,
    model: str | None = None,
    options: Annotated[ScoreOptions, FIELDS] = ScoreOptions(),  # noqa: B008 (frozen)
    by: Stratum | None = None,
    results: Path | None = None,
    quiet: Quiet = False,
) -> None:
    """Score schemes on the same networks of a model, none of which a design has seen.

    Args:
        schemes: Rule tables as files (.dna), ours or the authors', algorithms of `exmachina list`, and schemes that
            people wrote, such as `cubic` or `cubic/sfqcodel`; the first is the one that others are compared to. Where
            the senders of the model have names, a table is what all of them run; tables with commas between them, one
            for each name in order, are run together.
        model: A model file (.toml), or the name of one that comes with the program; if not given, what the first table
            was designed for.
        options: See `ScoreOptions`.
        by: Show scores by strata of the networks, too: of the link's rate, the RTT, or how many senders there are.
        results: Write one row per scheme, network and sender here (.parquet).
        quiet: Show no progress.
    """
    loaded = [together(names) for names in schemes]
    network = designed_for(loaded) if model is None else Model.load(model)
    if results is not None:
        check_output(results, suffixes=(".parquet",))
    out, messages = terminal.consoles()
    with (
        progress.computing(messages, options, quiet=quiet) as engine,
        progress.bar(messages, "scoring", _scored, engine, quiet=quiet) as on_progress,
    ):
        report = score_schemes(loaded, network, options, cluster=engine, on_progress=on_progress)
    if results is not None:
        report.save(results)
    terminal.show_scores(out, report)
    if by is not None:
        terminal.show_strata(out, report, by)


def together(names: str) -> str | list[str]:
    """One scheme; or the tables of several names with commas between them."""
    return names.split(",") if "," in names and not Path(names).is_file() else names


def _scored(scheme: str, share: float) -> progress.Count:
    return progress.Count(f"scoring {scheme}", share, percent(share))
