"""What the catalogue says in words has no number that its data do not have: none is left from a run of somebody's.

Numbers in titles, captions, and what an experiment is about are those of its scenario, its scale, and of what the paper
claims. A note of a claim stands beside a number that is measured each time, and has none.
"""

import re
from collections.abc import Iterator
from typing import Any

import pytest

from exmachina.reproduce.experiment import Experiment, catalogue, parse

NUMBER = re.compile(r"(?<![\w.])\d[\d,]*(?:\.\d+)?")
PLACES = re.compile(r"(?:[Ff]igures?|[Tt]ables?|§) ?[\d.]+(?:(?:, | and | to )\d+)*")
"""Figures, tables and sections of the papers."""
COUNTED = {0.0, 1.0, 2.0, 3.0}
"""As small as what one counts on one's fingers: flow 1, flows 2 and 3."""
UNITS = (1.0, 1e3, 1e-3, 1e6, 1e-6)
"""kB, ms, Gbit/s."""
DISTRIBUTION = {40.0, 147.0}
"""Of the paper's fit to the lengths of flows, Pareto(x + 40) with Xm = 147: the workload has it built in."""


def words_of(experiment: Experiment) -> Iterator[tuple[str, str]]:
    """Where words stand, and the words."""
    yield "title", experiment.title
    yield "about", experiment.about
    for name, case in experiment.cases.items():
        yield f"case {name}", case.title
    for figure in experiment.figures:
        for field in ("title", "caption", "x_label", "y_label"):
            yield f"{field} of {figure.name}", getattr(figure, field)
    for claim in experiment.claims:
        yield f"text of {claim.id}", claim.text


def numbers_of(data: Any) -> Iterator[float]:
    """All numbers of data, those in names among them, and what a ratio is in per cent more or less."""
    if isinstance(data, str):
        yield from (float(found) for found in re.findall(r"\d+(?:\.\d+)?", data))
    elif isinstance(data, dict):
        for value in data.values():
            yield from numbers_of(value)
    elif isinstance(data, list):
        for value in data:
            yield from numbers_of(value)
    elif isinstance(data, int | float):
        yield from (data * unit for unit in UNITS)
        yield abs(100 * (data - 1))


def data_of(experiment: Experiment) -> list[Any]:
    """What is no words: what is run, with whom, and what the paper has."""
    claims = [{"paper": one.paper, "measure": one.measure, "above": one.above} for one in experiment.claims]
    cases = [case.model_dump(exclude={"title"}) for case in experiment.cases.values()]
    figures = [figure.model_dump(include={"sigma", "ranges", "reference", "scheme"}) for figure in experiment.figures]
    rest = experiment.model_dump(include={"scale", "scenario", "schemes", "trace"})
    return [claims, cases, figures, rest]


def strangers(experiment: Experiment) -> list[str]:
    """Numbers in words that are in no data."""
    known = {round(number, 9) for number in numbers_of(data_of(experiment))} | COUNTED
    known |= DISTRIBUTION if "icsi" in str(experiment.scenario) else set()
    return [
        f"{place}: {number}"
        for place, words in words_of(experiment)
        for number in NUMBER.findall(PLACES.sub("", words))
        if round(float(number.rstrip(",").replace(",", "")), 9) not in known
    ]


@pytest.mark.parametrize("experiment", catalogue().values(), ids=lambda one: one.id)
def test_numbers_in_words_are_those_of_the_data(experiment: Experiment) -> None:
    assert not strangers(experiment)


@pytest.mark.parametrize("experiment", catalogue().values(), ids=lambda one: one.id)
def test_notes_beside_measured_numbers_have_none(experiment: Experiment) -> None:
    for claim in experiment.claims:
        assert not re.search(r"\d", PLACES.sub("", claim.note)), claim.id


def test_a_number_from_somebodys_run_is_found() -> None:
    text = """
paper = "Remy'13"
title = "A tiny one"
about = "Here the table has {number} Mbit/s beside the paper's 175."
scale = {{ quick = {{}}, paper = {{}} }}
[[claims]]
id = "tiny"
text = "Some throughput"
source = "nowhere"
kind = "number"
reading = 0.5
paper = 175
measure = {{ mean = "counted_mbps", of = "cubic" }}
"""
    assert strangers(parse(text.format(number="48.8"), "tiny.toml")) == ["about: 48.8"]
    assert strangers(parse(text.format(number="175"), "tiny.toml")) == []
