"""What tables had seen before claims were measured with them: training is computed, choosing is recorded."""

import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import tomli_w
from conftest import network

from exmachina import Algorithm, Model, Table, algorithms
from exmachina.networks import Ranges, Span, new, stated, trained
from exmachina.reproduce.experiment import catalogue
from exmachina.reproduce.running import Ran
from exmachina.reproduce.seen import cases_of, seen_words

DIARY = Path(__file__).parents[2] / "docs" / "designs.md"
HERE = Ranges(rate_mbps=Span(10, 20), rtt_ms=Span(150, 150), senders=Span(1, 8), on_s=Span(5, 5), off_s=Span(5, 5))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, ()),
        ({"rate_mbps": Span(12, 15)}, ()),
        ({"rate_mbps": Span(5, 15)}, ("link rate 5-15 Mbit/s, not 10-20",)),
        ({"rtt_ms": Span(50, 50)}, ("RTT 50 ms, not 150",)),
        ({"senders": Span(9, 9)}, ("senders 9, not 1-8",)),
        ({"rate_mbps": None}, ("link rate",)),
        ({"on_s": None, "on_bytes": Span(1e5, 1e5)}, ("traffic",)),
        ({"on_s": None}, ("traffic",)),
        ({"off_s": Span(1, 5)}, ("traffic",)),
        ({"neighbours": ("newreno",)}, ("neighbours",)),
        ({"loss": Span(0, 0.1)}, ()),
    ],
)
def test_what_is_new_to_a_training(changes: dict[str, Any], words: tuple[str, ...]) -> None:
    """Of what the training says nothing, as of losses here, nothing is said."""
    assert new(HERE, replace(HERE, **changes)) == words


def test_transfers_are_compared_by_their_size() -> None:
    sizes = [stated(network(workload={"on": {"bytes": size}, "off": {"seconds": 1}})) for size in (1e5, 1e6)]
    assert new(sizes[0], sizes[0]) == ()
    assert new(*sizes) == ("traffic",)


def test_another_bottleneck_is_new() -> None:
    one, two = (trained(Model.load(name).text) for name in ("tao-one-bottleneck", "tao-two-bottleneck"))
    assert "links 2, not 1" in new(one, two)


def told(experiment: str, claim: str, table: str, *, published: bool = False) -> str:
    """What is said of a claim of the catalogue, held to a table, if all its cases were evaluated as they are."""
    chosen = catalogue()[experiment]
    spec = next(one for one in chosen.claims if one.id == claim)
    texts = {case: tomli_w.dumps(chosen.scenario_of(case, "paper")) for case in cases_of(chosen, spec.measure)}
    ran = Ran(evaluations={case: SimpleNamespace(text=text) for case, text in texts.items()})  # type: ignore[misc]
    name = table.removesuffix("-robust")
    return seen_words(chosen, spec.measure, {name: Table.load(table)}, ran, published=published)


@pytest.mark.parametrize(
    ("experiment", "claim", "table", "words"),
    [
        ("fig4", "fig4-throughput-general-0.1", "general-0.1", "neither (new: traffic; buffer)"),
        ("fig4", "fig4-throughput-general-0.1", "general-0.1-robust", "neither (new: traffic)"),
        ("fig10", "fig10-fairer-general-1", "general-1-robust", "in choosing (new: traffic)"),
        ("table-1", "table-1-lte-delay-xcp", "general-0.1-robust", "in choosing (new: link rate; traffic; buffer)"),
        ("table-1", "table-1-dumbbell-delay-xcp", "general-0.1-robust", "neither (new: traffic)"),
        ("fig11", "fig11-best-at-15", "known-1x", "in training (new: buffer)"),
        ("tao-fig2", "tao-fig2-beats-tao-10x", "tao-10x", "in training (new: buffer)"),
        ("tao-fig2", "tao-fig2-narrow-worse", "tao-10x", "neither (new: link rate 200-320 Mbit/s, not 10-100; buffer)"),
        ("datacenter", "datacenter-RTT-mean-datacenter", "datacenter", "in training and in choosing"),
        ("tao-fig9", "tao-fig9-codesigned-delay", "tao-codesigned-0.1", "in training"),
    ],
)
def test_training_and_choosing_of_claims(experiment: str, claim: str, table: str, words: str) -> None:
    assert told(experiment, claim, table) == words


def test_the_authors_training_is_that_of_the_papers_and_their_choosing_is_not_known() -> None:
    assert told("fig4", "fig4-throughput-general-0.1", "general-0.1", published=True).startswith("neither")
    single = Table.single(["send_ewma"], 1.0, 1, 1.0, "one")
    chosen = catalogue()["fig4"]
    spec = chosen.claims[0].measure | {"case": "persistent"}
    text = tomli_w.dumps(chosen.scenario_of("persistent", "paper"))
    ran = Ran(evaluations={"persistent": SimpleNamespace(text=text)})  # type: ignore[dict-item]
    words = seen_words(chosen, spec, {"general-1": single}, ran, published=True)
    assert words == "not in training (new: traffic; buffer)"
    assert seen_words(chosen, spec, {"general-1": single}, ran, published=False) == "not known"
    assert not seen_words(chosen, spec, {}, ran, published=False)


@pytest.mark.parametrize("one", algorithms(), ids=lambda one: one.name)
def test_choosing_is_recorded_and_the_diary_tells_of_it(one: Algorithm) -> None:
    choosing = one.choosing
    assert choosing.by
    for place in choosing.experiments:
        experiment, _, case = place.partition("/")
        assert not case or case in catalogue()[experiment].cases
    heads = re.findall(r"^## (.*)$", DIARY.read_text(encoding="utf-8"), re.MULTILINE)
    anchors = {re.sub(r"[^\w\- ]", "", head.lower()).strip().replace(" ", "-") for head in heads}
    assert choosing.diary in anchors
