"""Colours of charts: everybody can tell the schemes of one apart and read its words, on white and on a dark screen."""

import itertools
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest
from coloraide import Color

from exmachina import Evaluation
from exmachina.pictures.style import GROUND, HUMAN, INK, MACHINES, MUTED, ON_DARK, PUBLISHED, SENDERS, family_colours
from exmachina.reproduce.cast import colours_of, published_label
from exmachina.reproduce.experiment import catalogue
from exmachina.scoring import AIMD, AIMD_BDP, REFERENCE

APART = 10.0
"""Least distance (CIEDE2000) of two colours of a chart; 2 are told apart side by side."""
KIN = 5.0
"""Of two of the schemes that are rarely together."""
TEXT, MARKS = 4.5, 3.0
"""Least contrasts with the ground, of words and of all else (WCAG 2.2, 1.4.3 and 1.4.11)."""
TEMPLATES = Path(__file__).parents[1] / "exmachina" / "templates"
SIGHTS = (None, "protan", "deutan", "tritan")
SCENARIOS = ("r4", "r5", "r7", "r10", "t2", "t3", "t7", "parking-lot", "bbr-mix")


def dark(colour: str) -> str:
    """What takes a colour's place on a dark screen."""
    return ON_DARK.get(colour, colour)


GROUNDS: dict[str, Callable[[str], str]] = {"white": str, "dark": dark}


def seen(colour: str, sight: str | None) -> Color:
    """A colour as somebody sees it who lacks one kind of cones, by Machado et al. (2009)."""
    return Color(colour) if sight is None else Color(colour).filter(sight, method="machado").clip()


def contrast(words: str, ground: str) -> float:
    """Of two colours, from 1 to 21."""
    return float(Color(words).contrast(ground, method="wcag21"))


def nearest(colours: Mapping[str, str]) -> tuple[float, str]:
    """The least distance of two colours, light or dark, for anybody, and whose they are."""
    found = [(99.0, "")]
    schemes = {name.split(" beside ", maxsplit=1)[0]: colour for name, colour in colours.items()}
    for (name, ground), sight in itertools.product(GROUNDS.items(), SIGHTS):
        look = {scheme: seen(ground(colour), sight) for scheme, colour in schemes.items()}
        found += [
            (look[one].delta_e(look[other], method="2000"), f"{one}, {other}: {name}, {sight}")
            for one, other in itertools.combinations(look, 2)
        ]
    return min(found)


def charts() -> Iterator[tuple[str, dict[str, str]]]:
    """Whoever shares a chart, with their colours: in the papers' figures, in scenarios, over time."""
    for experiment in catalogue().values():
        for case in experiment.cases:
            schemes = experiment.schemes_of(case)
            yield experiment.id, colours_of(dict.fromkeys([*schemes, *map(published_label, schemes)]))
    for name in SCENARIOS:
        schemes = [*Evaluation.load(name).contenders, "mine.dna", "yours.dna", "theirs.dna"]
        yield name, family_colours([*schemes, "bbr3", "copa"] if name == "r4" else schemes)
    yield "scores", family_colours([REFERENCE, AIMD, AIMD_BDP, "mine.dna", "yours.dna"])
    yield "senders", {str(number): colour for number, colour in enumerate(SENDERS)}


@pytest.mark.parametrize("theme", ["white", "dark"])
def test_words_of_pages_stand_out(theme: str) -> None:
    looks: dict[str, str] = {}
    for sheet in ("page.css", "report.css"):
        roots = re.findall(r":root \{(.*?)\}", (TEMPLATES / sheet).read_text(), re.DOTALL)
        assert len(roots) == 2
        for root in roots[: 1 + (theme == "dark")]:
            looks |= dict(re.findall(r"--([\w-]+): (#\w+)", root))
    pairs = [(word, ground) for word in ("ink", "muted", "accent") for ground in ("paper", "back")]
    pairs += [(name.removesuffix("-back"), name) for name in looks if name.endswith("-back")]
    assert len(pairs) == 11
    low = {pair: found for pair in pairs if (found := contrast(*(looks[name] for name in pair))) < TEXT}
    assert not low


@pytest.mark.slow
def test_colours_that_share_a_chart_are_apart_for_everybody() -> None:
    near = {name: found for name, colours in charts() if (found := nearest(colours))[0] < APART}
    assert not near


@pytest.mark.slow
def test_colours_of_a_kind_are_never_the_same() -> None:
    for colours in (HUMAN, dict(enumerate((*MACHINES, *PUBLISHED)))):
        distance, whose = nearest({str(name): colour for name, colour in colours.items()})
        assert distance >= KIN, whose


@pytest.mark.parametrize("ground", GROUNDS.values(), ids=GROUNDS)
def test_words_and_marks_stand_out_from_the_ground(ground: Callable[[str], str]) -> None:
    drawn = {colour for _, colours in charts() for colour in colours.values()}
    assert set(ON_DARK) >= drawn
    for colour in ON_DARK:
        found = contrast(ground(colour), ground(GROUND))
        if colour in (INK, MUTED):
            assert found >= TEXT
        elif colour in drawn:
            assert found >= MARKS, colour
