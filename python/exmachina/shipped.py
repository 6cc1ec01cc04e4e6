"""Files that come with the program: models, scenarios and algorithms, by their names."""

import re
from importlib import resources
from importlib.resources.abc import Traversable

__all__ = ["shipped_files"]


def shipped_files(folder: str, ending: str) -> dict[str, Traversable]:
    """The files of a folder of the package that end in `ending`, by name without it, as a person would sort them."""
    place = resources.files("exmachina").joinpath(folder)
    files = place.iterdir() if place.is_dir() else iter(())
    named = {file.name.removesuffix(ending): file for file in files if file.name.endswith(ending)}
    return dict(sorted(named.items(), key=lambda item: _by_number(item[0])))


def _by_number(name: str) -> list[tuple[int, float, str]]:
    """A key to sort names by, numbers in them by value: tao-2x before tao-10x."""
    parts = re.split(r"(\d+(?:\.\d+)?)", name)
    return [(0, float(part), "") if part[:1].isdigit() else (1, 0.0, part) for part in parts if part]
