"""Pictures and pages of what was found. They import what they draw; what they draw knows nothing of them."""

import os
from pathlib import Path

from exmachina.evaluation import Results, Trace
from exmachina.files import check_output, make_folder, write_atomically
from exmachina.inspection import Inspection

__all__ = ["draw"]


def draw(found: Results | Trace | Inspection, path: str | os.PathLike[str]) -> list[Path]:
    """Draws what was found, atomically: into a folder, or, of an inspection, into a file.

    >>> view = exmachina.inspect("known-1x", specimens=2, seconds=2)
    >>> exmachina.draw(view, "known-1x.png")
    [PosixPath('known-1x.png')]

    Args:
        found: Results (`throughput-delay.png` and `.svg`), a trace (`trace.png`), or an inspection.
        path: The folder, created if missing; of an inspection, a self-contained page (`.html`) or a picture (`.png`).

    Returns:
        What was written.

    Raises:
        InputError: If the folder cannot be created or is read-only, or a file's name ends otherwise.
    """
    if isinstance(found, Results):
        return _results(found, path)
    return _trace(found, path) if isinstance(found, Trace) else _inspection(found, path)


def _results(found: Results, path: str | os.PathLike[str]) -> list[Path]:
    from exmachina.pictures.figures import png, svg  # noqa: PLC0415 (plotting takes a second to load)
    from exmachina.pictures.tradeoff import tradeoff_figure  # noqa: PLC0415

    folder, figure = make_folder(path), tradeoff_figure(found)
    return [
        _written(folder / "throughput-delay.png", png(figure)),
        _written(folder / "throughput-delay.svg", svg(figure)),
    ]


def _trace(found: Trace, path: str | os.PathLike[str]) -> list[Path]:
    from exmachina.pictures.figures import png  # noqa: PLC0415 (plotting takes a second to load)
    from exmachina.pictures.traceplot import trace_figure  # noqa: PLC0415

    return [_written(make_folder(path) / "trace.png", png(trace_figure(found)))]


def _inspection(found: Inspection, path: str | os.PathLike[str]) -> list[Path]:
    path = check_output(path, suffixes=(".html", ".png"))
    if path.suffix == ".html":
        from exmachina.pictures.report import inspection_page  # noqa: PLC0415 (plotting takes a second to load)

        return [_written(path, inspection_page(found).encode())]
    from exmachina.pictures.figures import inspection_figure  # noqa: PLC0415

    return [_written(path, inspection_figure(found))]


def _written(path: Path, content: bytes) -> Path:
    write_atomically(path, content)
    return path
