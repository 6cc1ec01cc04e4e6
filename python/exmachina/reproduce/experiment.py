"""Experiments as their files have them: `catalogue/ID.toml`, one for each figure or table of the papers.

A file says what is run (`scenario`, in the schema of evaluations; `cases`, each of which changes something of it;
`schemes`; `scale`), what is drawn (`figures`), and what the paper claims (`claims`, and `claim_families` of claims that
are alike). All the rest is shared.
"""

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from typing import Any

from exmachina.errors import InputError
from exmachina.files import or_nearest
from exmachina.reproduce.cast import shown
from exmachina.reproduce.strict import merged, read_table

__all__ = ["Case", "ClaimSpec", "Experiment", "FigureSpec", "TableSpec", "catalogue", "load", "parse"]

PAPERS = ("Remy'13", "Tao'14", "beyond")
KINDS = ("near", "at-least", "at-most", "order")
FIGURES = ("plane", "sweep", "by-sender", "locus", "sequence", "queue", "cdf", "compare", "gains")


@dataclass(frozen=True)
class Case:
    """One scenario of an experiment."""

    scenario: dict[str, Any] = field(default_factory=dict)
    """What differs from the experiment's."""
    schemes: list[str] | None = None
    """Contenders, if not those of the experiment; none at all where every sender has its own."""
    title: str = ""
    """What people call it."""
    quick: dict[str, Any] = field(default_factory=dict)
    """`runs`, `seconds` or `scenario` if not those of the experiment's scale; likewise `paper`."""
    paper: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Scale:
    """How much is run."""

    runs: int = 16
    """Runs of each contender, for each point of a grid."""
    seconds: float = 100.0
    """Simulated seconds of each."""
    scenario: dict[str, Any] = field(default_factory=dict)
    """What differs from the experiment's scenario: fewer points of a grid."""


@dataclass(frozen=True)
class Scales:
    """Both scales."""

    quick: Scale
    paper: Scale


@dataclass(frozen=True)
class TraceSpec:
    """A recording of a cellular link, which a person has to bring."""

    name: str
    """Of the operator: "verizon" or "att"."""
    synthetic: dict[str, Any]
    """The link's field `cellular` where there is no recording."""
    told_mbps: float | None = None
    """What XCP's routers are told of a recorded link; if None: its mean."""


@dataclass(frozen=True)
class PanelSpec:
    """A part of a picture."""

    title: str = ""
    cases: list[str] = field(default_factory=list)
    """All if empty."""
    each_sender: bool = False
    """A cloud for each sender, where senders differ."""


@dataclass(frozen=True)
class FigureSpec:
    """What is drawn, and how."""

    name: str
    kind: str
    """See `FIGURES`."""
    caption: str
    title: str = ""
    panels: list[PanelSpec] = field(default_factory=lambda: [PanelSpec()])
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
    ranges: dict[str, list[float]] = field(default_factory=dict)
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
    reference: dict[str, dict[str, float]] = field(default_factory=dict)
    """The paper's numbers in a comparison, by case and scheme."""


@dataclass(frozen=True)
class TableSpec:
    """A table that is not a summary of results: what algorithms were designed for."""

    name: str
    title: str
    models: list[str]


@dataclass(frozen=True)
class ClaimSpec:
    """A sentence of a paper with a number in it, and how it is measured (`measuring.py`)."""

    id: str
    text: str
    source: str
    kind: str
    paper: float
    measure: dict[str, Any]
    unit: str = ""
    tolerance: float = 0.15
    note: str = ""


@dataclass(frozen=True)
class Experiment:
    """One figure or table of a paper."""

    id: str
    paper: str
    title: str
    about: str
    scale: Scales
    scenario: dict[str, Any] = field(default_factory=dict)
    schemes: list[str] = field(default_factory=list)
    cases: dict[str, Case] = field(default_factory=lambda: {"main": Case()})
    trace: TraceSpec | None = None
    figures: list[FigureSpec] = field(default_factory=list)
    tables: list[TableSpec] = field(default_factory=list)
    claims: list[ClaimSpec] = field(default_factory=list)
    columns: list[str] = field(default_factory=lambda: ["counted_mbps", "counted_delay_ms"])
    """Quantities of the table of results."""

    def scenario_of(self, case: str, scale: str) -> dict[str, Any]:
        """The scenario of a case at a scale, in the schema of evaluations."""
        own = self.cases[case]
        sized = merged(merged(self.scenario, own.scenario), self._scale(scale).scenario)
        return merged(sized, getattr(own, scale).get("scenario", {}))

    def runs_of(self, case: str, scale: str) -> tuple[int, float]:
        """Runs of each contender at each point, and simulated seconds of each."""
        own, shared = getattr(self.cases[case], scale), self._scale(scale)
        return int(own.get("runs", shared.runs)), float(own.get("seconds", shared.seconds))

    def schemes_of(self, case: str) -> list[str]:
        """The contenders of a case."""
        own = self.cases[case].schemes
        return self.schemes if own is None else own

    def _scale(self, scale: str) -> Scale:
        return self.scale.quick if scale == "quick" else self.scale.paper


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
    experiment = read_table(Experiment, {"id": file.removesuffix(".toml"), **_on_one_line(table)}, file)
    _check(experiment, file)
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


def _check(experiment: Experiment, file: str) -> None:
    """Refuses what fields allow and an experiment does not."""
    if experiment.paper not in PAPERS:
        raise InputError(f"{file}: paper: expected one of {', '.join(PAPERS)}, got {experiment.paper}")
    for i, figure in enumerate(experiment.figures):
        if figure.kind not in FIGURES:
            raise InputError(f"{file}: figures[{i}].kind: expected one of {', '.join(FIGURES)}, got {figure.kind}")
        unknown = [case for panel in figure.panels for case in panel.cases if case not in experiment.cases]
        if unknown:
            raise InputError(f"{file}: figures[{i}].panels: there is no case {unknown[0]}")
    for i, claim in enumerate(experiment.claims):
        if claim.kind not in KINDS:
            raise InputError(f"{file}: claims[{i}].kind: expected one of {', '.join(KINDS)}, got {claim.kind}")


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
    return PAPERS.index(experiment.paper), "fig" not in experiment.id, numbered


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
