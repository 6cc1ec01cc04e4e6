"""Pictures and pages of what was found. They import what they draw; what they draw knows nothing of them."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from exmachina.evaluation import Results, Trace
from exmachina.files import check_output, make_folder, write_atomically
from exmachina.hunting import Worst
from exmachina.inspection import Inspection
from exmachina.probing import Passport
from exmachina.steadying import Steadied
from exmachina.sweeping import Sweep
from exmachina.tuning import Tuned

__all__ = ["draw"]


def draw(
    found: Results | Trace | Inspection | Passport | Worst | Sweep | Steadied | Tuned, path: str | os.PathLike[str]
) -> list[Path]:
    """Draws what was found, atomically: into a folder, or, of an inspection, into a file.

    >>> view = exmachina.inspect("known-1x", specimens=2, seconds=2)
    >>> exmachina.draw(view, "known-1x.png")
    [PosixPath('known-1x.png')]

    Args:
        found: Results (`throughput-delay` and `cdf`, `.png` and `.svg`), a trace (`trace.png`), a passport
            (`passport`, `.html`, `.png` and `.svg`), a worst network (`worst`, the same, and `trace.png`), a sweep over
            one field or two (`sweep.png` and `.svg`; over more, none), a law that was tuned (`tuned.png` and
            `.svg`), an algorithm that was steadied (`steadied.png` and `.svg`), or an inspection.
        path: The folder, created if missing; of an inspection, a self-contained page (`.html`) or a picture (`.png`).

    Returns:
        What was written.

    Raises:
        InputError: If the folder cannot be created or is read-only, or a file's name ends otherwise.
    """
    if isinstance(found, Inspection):
        return _inspection(found, check_output(path, suffixes=(".html", ".png")))
    return _DRAWN[type(found)](found, make_folder(path))


def _results(found: Results, folder: Path) -> list[Path]:
    from exmachina.pictures.cdf import cdf_chart  # noqa: PLC0415 (drawing takes a second to load)
    from exmachina.pictures.render import Chart, save  # noqa: PLC0415
    from exmachina.pictures.tradeoff import results_chart  # noqa: PLC0415

    charts: dict[str, Chart] = {"throughput-delay": results_chart(found), "cdf": cdf_chart(found)}
    return [save(chart, folder / f"{name}{suffix}") for name, chart in charts.items() for suffix in (".png", ".svg")]


def _trace(found: Trace, folder: Path) -> list[Path]:
    from exmachina.pictures.render import save  # noqa: PLC0415 (drawing takes a second to load)
    from exmachina.pictures.trace import trace_chart  # noqa: PLC0415

    return [save(trace_chart(found), folder / "trace.png")]


def _passport(found: Passport, folder: Path) -> list[Path]:
    from exmachina.pictures.passport import passport_chart  # noqa: PLC0415 (drawing takes a second to load)
    from exmachina.pictures.passport_page import passport_page  # noqa: PLC0415
    from exmachina.pictures.render import save  # noqa: PLC0415

    page, chart = folder / "passport.html", passport_chart(found)
    write_atomically(page, passport_page(found).encode())
    return [page, *(save(chart, folder / f"passport{suffix}") for suffix in (".png", ".svg"))]


def _worst(found: Worst, folder: Path) -> list[Path]:
    from exmachina.pictures.render import save  # noqa: PLC0415 (drawing takes a second to load)
    from exmachina.pictures.worst import worst_chart  # noqa: PLC0415
    from exmachina.pictures.worst_page import worst_page  # noqa: PLC0415

    page, chart = folder / "worst.html", worst_chart(found)
    write_atomically(page, worst_page(found).encode())
    pictures = [save(chart, folder / f"worst{suffix}") for suffix in (".png", ".svg")]
    return [page, *pictures, *_trace(found.trace, folder)]


def _sweep(found: Sweep, folder: Path) -> list[Path]:
    from exmachina.pictures.render import save  # noqa: PLC0415 (drawing takes a second to load)
    from exmachina.pictures.sweep import DRAWN, sweep_chart  # noqa: PLC0415

    if len(found.over) > DRAWN:
        return []
    chart = sweep_chart(found)
    return [save(chart, folder / f"sweep{suffix}") for suffix in (".png", ".svg")]


def _steadied(found: Steadied, folder: Path) -> list[Path]:
    from exmachina.pictures.render import save  # noqa: PLC0415 (drawing takes a second to load)
    from exmachina.pictures.steadied import steadied_chart  # noqa: PLC0415

    chart = steadied_chart(found)
    return [save(chart, folder / f"steadied{suffix}") for suffix in (".png", ".svg")]


def _tuned(found: Tuned, folder: Path) -> list[Path]:
    from exmachina.pictures.render import save  # noqa: PLC0415 (drawing takes a second to load)
    from exmachina.pictures.tuned import tuned_chart  # noqa: PLC0415

    chart = tuned_chart(found)
    return [save(chart, folder / f"tuned{suffix}") for suffix in (".png", ".svg")]


def _inspection(found: Inspection, path: Path) -> list[Path]:
    from exmachina.pictures.inspection import inspection_chart  # noqa: PLC0415 (drawing takes a second to load)
    from exmachina.pictures.pages import inspection_page  # noqa: PLC0415
    from exmachina.pictures.render import save  # noqa: PLC0415

    if path.suffix == ".html":
        write_atomically(path, inspection_page(found).encode())
        return [path]
    return [save(inspection_chart(found), path)]


_DRAWN: dict[type, Callable[[Any, Path], list[Path]]] = {
    Passport: _passport,
    Results: _results,
    Steadied: _steadied,
    Sweep: _sweep,
    Trace: _trace,
    Tuned: _tuned,
    Worst: _worst,
}
"""Of what is drawn into a folder."""
