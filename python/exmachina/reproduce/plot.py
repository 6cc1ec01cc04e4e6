"""Pictures as data: panels of lines and clouds, which `matplot.py` prints and `plotlike.py` makes interactive."""

from dataclasses import dataclass, field

from exmachina.pictures.cloud import Cloud
from exmachina.reproduce.data import Floats

__all__ = ["Axis", "Band", "Drawing", "Line", "Note", "Panel"]


@dataclass(frozen=True)
class Axis:
    """One side of a panel."""

    label: str
    log: bool = False
    reversed: bool = False
    limits: tuple[float, float] | None = None
    ticks: list[tuple[float, str]] | None = None


@dataclass(frozen=True)
class Line:
    """Points of one colour, joined or not."""

    name: str
    colour: str
    x: Floats
    y: Floats
    low: Floats | None = None
    """With `high`: a shaded area around a line, or error bars of points."""
    high: Floats | None = None
    mode: str = "line"
    """line, marked (a line with dots), dots, steps, rings (hollow dots), area (filled between low and high only)."""
    dash: bool = False
    width: float = 1.8
    legend: bool = True
    size: float = 5.0
    """Of dots, points."""


@dataclass(frozen=True)
class Band:
    """A range of x that is shaded, with a bar of its own at the bottom."""

    low: float
    high: float
    colour: str
    label: str = ""


@dataclass(frozen=True)
class Note:
    """Words at a place, with a line from another place if `to` is given."""

    x: float
    y: float
    text: str
    to: tuple[float, float] | None = None
    colour: str = "#667085"
    align: str = "left"


@dataclass(frozen=True)
class Panel:
    """One pair of axes."""

    title: str
    x: Axis
    y: Axis
    lines: list[Line] = field(default_factory=list)
    clouds: list[Cloud] = field(default_factory=list)
    """The plane of throughput and delay; then there are no lines, and axes say nothing but what is up."""
    frontier: bool = False
    bands: list[Band] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    rules: list[float] = field(default_factory=list)
    """Vertical lines."""
    sideways: bool = False
    """Dots only: x is up, from the top down, and y goes to the right."""


@dataclass(frozen=True)
class Drawing:
    """A picture."""

    name: str
    title: str
    caption: str
    panels: list[Panel]
    columns: int = 2
    """Panels side by side, at most."""
    footnote: str = ""
    shared_y: bool = False
    panel_inches: tuple[float, float] = (6.6, 4.6)
