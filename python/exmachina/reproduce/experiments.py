"""`exmachina.reproduce`: experiments run, drawn, measured, and written."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Unpack

from exmachina import _core
from exmachina.engines import opened
from exmachina.errors import OptionError
from exmachina.evaluation import Standing
from exmachina.files import alone, make_folder, read_file, write_atomically, write_parquet
from exmachina.reproduce.cast import Cast, shown
from exmachina.reproduce.claims import claims_of
from exmachina.reproduce.experiment import Experiment, FigureSpec, load
from exmachina.reproduce.options import ReproduceOptions, ReproduceSettings
from exmachina.reproduce.outcome import Outcome, Picture, TableOf
from exmachina.reproduce.running import OPERATORS, Conditions, Ran, run
from exmachina.reproduce.tables import models_table, summary_table

__all__ = ["Doing", "reproduce"]

Numbers = dict[tuple[str, str], float]


@dataclass(frozen=True)
class Doing:
    """How a reproduction stands."""

    experiment: str
    """Its id."""
    title: str
    number: int
    """Of the experiments, from 1."""
    experiments: int
    case: str = ""
    standing: Standing | None = None
    """Of the evaluation under way; none while something is drawn."""


def reproduce(
    experiments: str | Sequence[str] = "all",
    options: ReproduceOptions | None = None,
    *,
    output: str | os.PathLike[str] = "reproduced",
    traces: Mapping[str, str | os.PathLike[str]] | None = None,
    on_progress: Callable[[Doing], None] | None = None,
    **settings: Unpack[ReproduceSettings],
) -> list[Outcome]:
    """Reproduces figures and tables of both papers.

    Runs are kept in `output/cache`, by what they follow from: a second call only draws, and one that was interrupted
    goes on where it was.

    >>> outcomes = exmachina.reproduce("fig6", output="out")
    >>> [picture.name for picture in outcomes[0].pictures]
    ['fig6']

    Args:
        experiments: Their ids, or "all"; `exmachina reproduce --list` shows them.
        options: The scale, whose algorithms, and who computes.
        output: The folder for pictures and results, created if missing; one folder per experiment.
        traces: Recordings of cellular links in mahimahi's format, by operator ("verizon", "att").
        on_progress: Called some times a second.
        **settings: Fields of `ReproduceOptions`, which go before those of `options`.

    Returns:
        What came of each, in the order of the papers.

    Raises:
        InputError: If something given is not possible.
        ClusterError: If a cluster cannot be used; finished runs have been kept.
        Stopped: At ctrl-C, once finished runs have been kept.
    """
    chosen = load([experiments] if isinstance(experiments, str) else list(experiments))
    settled = replace(options or ReproduceOptions(), **settings)
    paths = {name: Path(path) for name, path in (traces or {}).items()}
    for name, path in paths.items():
        if name not in OPERATORS:
            raise OptionError(f"traces: expected {' or '.join(OPERATORS)}, got {name}")
        read_file(path)
    ours, published = (None if given is None else Path(given) for given in (settled.ours, settled.tables))
    cast = Cast.load(ours, published, robust=settled.robust)
    folder = make_folder(output)
    cache = make_folder(folder / "cache")
    outcomes = []
    with alone(folder / ".lock", f"{folder}: this folder"), opened(settled) as engine:
        for number, experiment in enumerate(chosen, start=1):
            doing = Doing(experiment.id, experiment.title, number, len(chosen))
            telling = _telling(doing, on_progress)
            conditions = Conditions(cast, settled.scale, cache, engine, paths, telling)
            outcomes.append(_outcome(experiment, conditions, make_folder(folder / experiment.id)))
    return outcomes


def _telling(doing: Doing, tell: Callable[[Doing], None] | None) -> Callable[[str, Standing], None] | None:
    if tell is None:
        return None
    tell(doing)
    fixed = (doing.experiment, doing.title, doing.number, doing.experiments)
    return lambda case, standing: tell(Doing(*fixed, case, standing))


def _outcome(experiment: Experiment, conditions: Conditions, folder: Path) -> Outcome:
    """Runs, draws and measures one experiment."""
    ran = run(experiment, conditions)
    numbers: Numbers = {}
    pictures = [_picture(experiment, figure, ran, conditions, folder, numbers) for figure in experiment.figures]
    found = [summary_table(experiment, ran), *(models_table(spec) for spec in experiment.tables)]
    tables = [_as_csv(table, folder) for table in found if table is not None and not table.rows.is_empty()]
    return Outcome(
        id=experiment.id,
        paper=experiment.paper,
        title=experiment.title,
        about=experiment.about,
        method=_method(experiment, ran, conditions),
        scale=conditions.scale,
        cpu_s=ran.cpu_s,
        pictures=[picture for picture in pictures if picture is not None],
        tables=tables,
        claims=list(claims_of(experiment, ran, conditions.cast, numbers)),
        warnings=ran.warnings,
        parquet=_written(ran, folder),
    )


def _written(ran: Ran, folder: Path) -> list[Path]:
    """The results of each case, one row per run and sender."""
    paths = []
    for case, data in ran.cases.items():
        path = folder / f"{case}.parquet"
        results = data.results
        facts = {"scenario": results.text, "seed": str(results.seed), "duration_s": str(results.duration_s)}
        write_parquet(path, results.flows, facts)
        paths.append(path)
    return paths


def _as_csv(table: TableOf, folder: Path) -> TableOf:
    """The table, once it is in a file."""
    path = folder / f"{table.name}.csv"
    write_atomically(path, table.rows.write_csv().encode())
    return replace(table, csv=path)


def _picture(  # noqa: PLR0917
    experiment: Experiment, figure: FigureSpec, ran: Ran, conditions: Conditions, folder: Path, numbers: Numbers
) -> Picture | None:
    """Draws and writes a figure; none if there is nothing in it."""
    from exmachina.pictures.render import save, spec_of  # noqa: PLC0415 (drawing takes a second to load)
    from exmachina.reproduce.drawing import drawing_of, numbers_of  # noqa: PLC0415

    # Robust tables have claims, and no place in pictures that are full without them.
    robust = {table.name for table in conditions.cast.robust.values()}
    chart, found = drawing_of(experiment, figure, ran.only(lambda label: label not in robust), conditions)
    numbers.update(found)
    numbers.update(numbers_of(experiment, figure, ran.only(lambda label: label in robust), conditions))
    if chart is None:
        return None
    spec = spec_of(chart)
    png, svg = (save(spec, folder / f"{figure.name}{suffix}") for suffix in (".png", ".svg"))
    return Picture(figure.name, figure.caption, png, svg, spec)


def _method(experiment: Experiment, ran: Ran, conditions: Conditions) -> dict[str, str]:
    """How it was run."""
    facts: dict[str, str] = {}
    sizes = {case: experiment.runs_of(case, conditions.scale) for case in experiment.cases}
    schemes = dict.fromkeys(label for data in ran.cases.values() for label in data.contenders)
    if schemes:
        facts["schemes"] = ", ".join(map(shown, schemes))
    for case, evaluation in ran.evaluations.items():
        name = experiment.cases[case].title or case
        points = evaluation.grid_points or 1
        words = f"{sizes[case][0]} runs of {sizes[case][1]:g} s" + (
            f" at each of {points} points" if points > 1 else ""
        )
        facts["runs" if len(sizes) == 1 else f"runs, {name}"] = words
        facts["scenario" if len(sizes) == 1 else f"scenario, {name}"] = evaluation.text.strip()
    seeds = {str(evaluation.seed) for evaluation in ran.evaluations.values()}
    return {**facts, **({"seed": ", ".join(sorted(seeds))} if seeds else {}), "version": _core.__version__}
