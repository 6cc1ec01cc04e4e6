"""Files that come with the program, models, scenarios, limits and algorithms, by name; and those of one's own."""

import os
import re
from dataclasses import dataclass
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path

from exmachina._core import is_table_file
from exmachina.files.disk import read_file
from exmachina.files.nearest import unknown

__all__ = ["ALGORITHMS", "LIMITS", "MODELS", "SCENARIOS", "Kind", "find", "is_table_file", "shipped_files"]


@dataclass(frozen=True)
class Kind:
    """What may be given by the path of a file or by the name of one that comes with the program."""

    noun: str
    folder: str
    """Of the package."""
    ending: str
    """Of the files there, and of those of one's own."""
    most_bytes: int


MODELS = Kind("model", "models", ".toml", 4 << 20)
SCENARIOS = Kind("scenario", "scenarios", ".toml", 4 << 20)
LIMITS = Kind("limits", "limits", ".toml", 4 << 20)
ALGORITHMS = Kind("table", "algorithms", ".dna", 64 << 20)


def find(kind: Kind, source: str | os.PathLike[str]) -> tuple[bytes, str]:
    """What a file holds, and its name for messages: a path, or the name of one that comes with the program.

    What ends as such files do, or has a folder before it, is a path. All else is a name: of what comes with the
    program, and only then of a file in the working folder, which thus takes no name away.

    Raises:
        FileError: If there is no such file, or it cannot be read.
        UnknownNameError: If there is no such name; says which may be meant.
    """
    name, path = os.fspath(source), Path(source)
    ends = is_table_file(name) if kind is ALGORITHMS else path.suffix == kind.ending
    shipped = shipped_files(kind)
    if not ends and name in shipped:
        return shipped[name].read_bytes(), f"{name}{kind.ending}"
    if ends or len(path.parts) != 1 or os.path.lexists(path):
        return read_file(path, most_bytes=kind.most_bytes), str(path)
    raise unknown(kind.noun, name, shipped, ending=kind.ending, here=_files_here(kind))


def _files_here(kind: Kind) -> list[str]:
    """The files of a kind in the working folder."""
    try:
        return [path.name for path in Path().iterdir() if path.suffix == kind.ending]
    except OSError:
        return []


def shipped_files(kind: Kind, ending: str | None = None) -> dict[str, Traversable]:
    """The files of a kind, or those beside them that end otherwise, by name without it, as a person would sort them."""
    ending = kind.ending if ending is None else ending
    place = resources.files("exmachina").joinpath(kind.folder)
    files = place.iterdir() if place.is_dir() else iter(())
    named = {file.name.removesuffix(ending): file for file in files if file.name.endswith(ending)}
    return dict(sorted(named.items(), key=lambda item: _by_number(item[0])))


def _by_number(name: str) -> list[tuple[int, float, str]]:
    """A key to sort names by, numbers in them by value: tao-2x before tao-10x."""
    parts = re.split(r"(\d+(?:\.\d+)?)", name)
    return [(0, float(part), "") if part[:1].isdigit() else (1, 0.0, part) for part in parts if part]
