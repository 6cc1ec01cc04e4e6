"""Experiments as their files have them: `catalogue/ID.toml`, one for each figure or table of the papers.

A file says what is run (`scenario`, in the schema of evaluations; `cases`, each of which changes something of it;
`schemes`; `scale`), what is drawn (`figures`), and what the paper claims (`claims`, and `claim_families` of claims that
are alike). All the rest is shared.
"""

import re
import tomllib
from collections.abc import Iterator
from functools import cache
from importlib import resources
from typing import Any, Literal, TypeAlias, get_args

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from exmachina.errors import InputError
from exmachina.files import or_nearest
from exmachina.networks import Toml, merged
from exmachina.reproduce.cast import shown
from exmachina.reproduce.schema import INCONSISTENT, Record, read_record
from exmachina.reproduce.verdicts import Better, ClaimKind

__all__ = [
    "RECORDED",
    "Case",
    "ClaimSpec",
    "Experiment",
    "FigureSpec",
    "Moments",
    "TableSpec",
    "catalogue",
    "load",
    "parse",
]

Paper: TypeAlias = Literal["Remy'13", "Tao'14", "beyond"]
FigureKind: TypeAlias = Literal["plane", "sweep", "by-sender", "locus", "sequence", "queue", "cdf", "compare", "gains"]


RECORDED = ("sequence", "queue")
"""Kinds of figures that are drawn of runs packet by packet."""


class Resized(Record):
    """How much of a case is run, where that is not what the experiment's scale says."""

    runs: int | None = None
    seconds: float | None = None
    scenario: Toml = Field(default_factory=dict)


class Case(Record):
    """One scenario of an experiment."""

    scenario: Toml = Field(default_factory=dict)
    """What differs from the experiment's."""
    schemes: list[str] | None = None
    """Contenders, if not those of the experiment; none at all where every sender has its own."""
    title: str = ""
    """What people call it."""
    quick: Resized = Resized()
    paper: Resized = Resized()


class Scale(Record):
    """How much is run."""

    runs: int = 16
    """Runs of each contender, for each point of a grid."""
    seconds: float = 100.0
    """Simulated seconds of each."""
    scenario: Toml = Field(default_factory=dict)
    """What differs from the experiment's scenario: fewer points of a grid."""


class Scales(Record):
    """Both scales."""

    quick: Scale
    paper: Scale


class TraceSpec(Record):
    """A recording of a cellular link, which a person has to bring."""

    name: str
    """Of the operator: "verizon" or "att"."""
    synthetic: Toml
    """The link's field `cellular` where there is no recording."""
    told_mbps: float | None = None
    """What XCP's routers are told of a recorded link; if None: its mean."""
    paper_mbps: float
    """Mean of what the authors' runs saw of their recording, 100 s from its beginning."""


class Moments(Record):
    """Where runs are recorded: the flow that comes or goes does so at another moment in each of them."""

    sender: int
    """Whose flow; its instants are given."""
    over_s: float
    """The last run's are later than the first one's by nearly so much."""


class PanelSpec(Record):
    """A part of a picture."""

    title: str = ""
    cases: list[str] = Field(default_factory=list)
    """All if empty."""
    each_sender: bool = False
    """A cloud for each sender, where senders differ."""
    quantity: str = ""
    """Of a comparison, if not the figure's."""
    statistics: dict[str, str] = Field(default_factory=dict)
    """Rows of a comparison, by what they are called; one of the figure's statistic if empty."""


class FigureSpec(Record):
    """What is drawn, and how."""

    name: str
    kind: FigureKind
    caption: str
    title: str = ""
    panels: list[PanelSpec] = Field(default_factory=lambda: [PanelSpec()])
    quantity: str = "counted_mbps"
    """What is up; see `quantities`."""
    sigma: float = 1.0
    """Of a plane's ellipses."""
    frontier: bool = True
    """Whether a plane has the efficient frontier."""
    x: str = "rate_mbps"
    """What a sweep goes through: rate_mbps, senders or min_rtt_ms."""
    log: bool = True
    """Whether its axis is logarithmic."""
    ranges: dict[str, list[float]] = Field(default_factory=dict)
    """What algorithms were designed for: least and largest x."""
    y_range: list[float] | None = None
    x_label: str = ""
    y_label: str = ""
    statistic: str = "mean"
    """Of sweeps, comparisons and gains; see `measuring`."""
    scheme: str = ""
    """Whose gains over others are drawn."""
    inverse: bool = False
    """Whether less is a gain."""


class TableSpec(Record):
    """A table that is not a summary of results: what algorithms were designed for."""

    name: str
    title: str
    models: list[str]


class ClaimSpec(Record):
    """A sentence of a paper with a number in it, what it asks for (`verdicts.py`), and its measure (`measuring.py`)."""

    id: str
    text: str
    source: str
    kind: ClaimKind
    paper: float
    measure: dict[str, Any]
    unit: str = ""
    reading: float | None = None
    """Of a number, and only of one: how far the paper's may be from what is printed or drawn, in `unit`."""
    better: Better | None = None
    above: float | None = None
    below: float | None = None
    note: str = ""

    @model_validator(mode="after")
    def _is_well_formed(self) -> "ClaimSpec":
        """A number says how well it can be read, nothing else does; the paper's is in the claim's own direction."""
        asked = (self.reading, self.better, self.above, self.below)
        if self.kind != "number" and asked != (None, None, None, None):
            raise PydanticCustomError(INCONSISTENT, "only a number has reading, better, above and below")
        if self.kind == "number" and (self.reading is None or self.reading < 0):
            raise PydanticCustomError(INCONSISTENT, "a number needs its error of reading, at least 0")
        if (self.above is not None and self.paper <= self.above) or (
            self.below is not None and self.paper >= self.below
        ):
            raise PydanticCustomError(INCONSISTENT, "the paper's number is not in the claim's own direction")
        return self


class Experiment(Record):
    """One figure or table of a paper."""

    id: str
    paper: Paper
    title: str
    about: str
    scale: Scales
    scenario: Toml = Field(default_factory=dict)
    schemes: list[str] = Field(default_factory=list)
    cases: dict[str, Case] = Field(default_factory=lambda: {"main": Case()})
    trace: TraceSpec | None = None
    moments: Moments | None = None
    figures: list[FigureSpec] = Field(default_factory=list)
    tables: list[TableSpec] = Field(default_factory=list)
    claims: list[ClaimSpec] = Field(default_factory=list)
    columns: list[str] = Field(default_factory=lambda: ["counted_mbps", "counted_delay_ms"])
    """Quantities of the table of results."""

    def scenario_of(self, case: str, scale: str) -> Toml:
        """The scenario of a case at a scale, in the schema of evaluations."""
        own, shared = self._sizes(case, scale)
        sized = merged(merged(self.scenario, self.cases[case].scenario), shared.scenario)
        return merged(sized, own.scenario)

    def runs_of(self, case: str, scale: str) -> tuple[int, float]:
        """Runs of each contender at each point, and simulated seconds of each."""
        own, shared = self._sizes(case, scale)
        runs = shared.runs if own.runs is None else own.runs
        return runs, shared.seconds if own.seconds is None else own.seconds

    def schemes_of(self, case: str) -> list[str]:
        """The contenders of a case."""
        own = self.cases[case].schemes
        return self.schemes if own is None else own

    def _sizes(self, case: str, scale: str) -> tuple[Resized, Scale]:
        """How much is run: what a case says, and what the experiment says."""
        own = self.cases[case]
        return (own.quick, self.scale.quick) if scale == "quick" else (own.paper, self.scale.paper)


def parse(text: str, file: str) -> Experiment:
    """Reads an experiment; its id is the file's name.

    Raises:
        InputError: If the text is none: file, field, and what was expected.
    """
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{file}: {error}") from None
    families = table.pop("claim_families", [])
    if not isinstance(families, list):
        raise InputError(f"{file}: claim_families: expected a list, got {families!r}")
    table["claims"] = [*table.get("claims", []), *(claim for one in families for claim in _family(one, file))]
    experiment = read_record(Experiment, {"id": file.removesuffix(".toml"), **_on_one_line(table)}, file)
    for i, figure in enumerate(experiment.figures):
        if figure.kind in RECORDED and experiment.moments is None:
            raise InputError(f"{file}: moments: missing; figures[{i}] is of recorded runs, which differ in them")
        for case in (case for panel in figure.panels for case in panel.cases if case not in experiment.cases):
            raise InputError(f"{file}: figures[{i}].panels: there is no case {case}")
    return experiment


def _on_one_line(value: Any) -> Any:
    """The same with every text of several lines on one: files break them for people only."""
    if isinstance(value, str):
        return " ".join(value.split()) if "\n" in value else value
    if isinstance(value, list):
        return [_on_one_line(item) for item in value]
    if isinstance(value, dict):
        return {key: _on_one_line(item) for key, item in value.items()}
    return value


def _family(family: Any, file: str) -> Iterator[dict[str, Any]]:
    """Claims that are alike: a claim with `rows`, whose fields replace its own and `{names}` in its texts."""
    if not isinstance(family, dict) or not isinstance(family.get("rows"), list):
        raise InputError(f"{file}: claim_families: rows: missing; expected a list of tables")
    for row in family["rows"]:
        words = {key: str(value) for key, value in row.items()}
        if "scheme" in row:
            words["name"] = shown(str(row["scheme"]))
        own = {key: value for key, value in row.items() if f"{{{key}}}" not in str(family)}
        filled = {key: _filled(value, words) for key, value in family.items() if key != "rows"}
        yield {**filled, **own}


def _filled(value: Any, words: dict[str, str]) -> Any:
    """A value with the names in its texts replaced."""
    if isinstance(value, str):
        for name, word in words.items():
            value = value.replace(f"{{{name}}}", word)
        return value
    if isinstance(value, list):
        return [_filled(item, words) for item in value]
    if isinstance(value, dict):
        return {key: _filled(item, words) for key, item in value.items()}
    return value


@cache
def catalogue() -> dict[str, Experiment]:
    """All experiments by id, in the order of the papers."""
    files = resources.files("exmachina.reproduce").joinpath("catalogue").iterdir()
    experiments = [parse(f.read_text(encoding="utf-8"), f.name) for f in files if f.name.endswith(".toml")]
    return {experiment.id: experiment for experiment in sorted(experiments, key=_order)}


def _order(experiment: Experiment) -> tuple[int, bool, list[tuple[int, str]]]:
    """Papers in turn; in each, figures before the rest, by id, numbers in it as numbers."""
    parts = re.split(r"(\d+)", experiment.id)
    numbered = [(int(p), "") if p.isdigit() else (0, p) for p in parts]
    return get_args(Paper).index(experiment.paper), "fig" not in experiment.id, numbered


def load(names: list[str]) -> list[Experiment]:
    """Experiments by id, or those of the papers in a list that may hold `all`.

    Raises:
        InputError: If there is no such experiment.
    """
    known = catalogue()
    if "all" in names:
        return list(known.values())
    for name in names:
        if name not in known:
            nearest = or_nearest(name, [*known, "all"])
            raise InputError(
                f"{name}: there is no such experiment; expected all or some of {', '.join(known)}{nearest}"
            )
    return [known[name] for name in dict.fromkeys(names)]
