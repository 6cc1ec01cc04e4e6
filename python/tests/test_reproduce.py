"""Reproductions: the catalogue, experiments from end to end, and what is kept."""

import importlib
import json
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import tomli_w
from others import Others

import exmachina
from exmachina import Table
from exmachina.evaluation import Evaluation
from exmachina.networks import merged
from exmachina.pictures.render import render
from exmachina.reproduce import Doing, Outcome, reproduce
from exmachina.reproduce.cast import ALGORITHMS
from exmachina.reproduce.experiment import Experiment, Resized, Scale, Scales, catalogue, parse
from exmachina.reproduce.measuring import operands

TINY = """
paper = "Remy'13"
title = "A tiny one"
about = "Nothing."
schemes = ["general-1", "cubic"]
scale = { quick = { runs = 6, seconds = 4 }, paper = { runs = 8, seconds = 5 } }
figures = [{ name = "tiny", kind = "plane", caption = "Two clouds." }]

[scenario]
link = { rate_mbps = 5 }
path = { rtt_ms = 40 }
senders = { count = 2 }
workload = { on = { seconds = 1 }, off = { seconds = 0.2 } }

[[claims]]
id = "tiny-cubic"
text = "Cubic has some throughput"
source = "nowhere"
kind = "at-least"
paper = 0.1
unit = "Mbit/s"
measure = { median = "goodput_mbps", of = "cubic" }

[[claims]]
id = "tiny-remy"
text = "A RemyCC has some throughput"
source = "nowhere"
kind = "at-least"
paper = 0.1
measure = { median = "goodput_mbps", of = "general-1" }
"""

Use = Callable[[Experiment], None]


@pytest.fixture
def use(monkeypatch: pytest.MonkeyPatch) -> Use:
    """Makes a catalogue of one experiment."""

    def make(experiment: Experiment) -> None:
        module = importlib.import_module("exmachina.reproduce.experiment")
        monkeypatch.setattr(module, "catalogue", lambda: {experiment.id: experiment})

    return make


@pytest.fixture
def ours(tmp_path: Path) -> Path:
    """A folder that has every algorithm: one rule each."""
    folder = tmp_path / "ours"
    folder.mkdir()
    table = Table.single(["send_ewma", "ack_ewma", "rtt_ratio"], 1.0, 1, 1.0, "one-rule")
    for name in ALGORITHMS:
        (folder / f"{name}.dna").write_bytes(table.dna)
    return folder


def small(experiment: Experiment) -> Experiment:
    """An experiment with two runs of some seconds: nothing it measures means anything."""
    seconds = {"fig6": 11.0, "tao-fig8": 15.0, "fig3": 0.1, "datacenter": 0.3}.get(experiment.id, 3.0)
    cases = {name: case.model_copy(update={"quick": Resized()}) for name, case in experiment.cases.items()}
    scenario = experiment.scale.quick.scenario
    if experiment.id == "tao-fig2":
        scenario = {"link": {"rate_mbps": {"log_grid": [1, 100], "points": 5}}}
    scale = Scale(runs=2, seconds=seconds, scenario=scenario)
    return experiment.model_copy(update={"cases": cases, "scale": Scales(quick=scale, paper=scale)})


def test_every_experiment_names_only_what_it_runs() -> None:
    ids = [claim.id for experiment in catalogue().values() for claim in experiment.claims]
    assert len(ids) == len(set(ids)) > 100
    for experiment in catalogue().values():
        for claim in experiment.claims:
            case = claim.measure.get("case")
            cases = [case] if case else list(experiment.cases)
            known = {name for one in cases for name in experiment.schemes_of(one)}
            assert operands(claim.measure) <= known, claim.id
            assert "{" not in claim.text + claim.id
        for figure in experiment.figures:
            assert set(figure.ranges) <= {*experiment.schemes, "tcp", "shown"}


@pytest.mark.parametrize("scale", ["quick", "paper"])
def test_every_scenario_is_one(scale: str) -> None:
    for experiment in catalogue().values():
        for case in experiment.cases:
            scenario = experiment.scenario_of(case, scale)
            text = tomli_w.dumps(scenario)
            assert tomllib.loads(text) == scenario
            if experiment.trace is not None and "rate_mbps" not in scenario["link"]:
                text = tomli_w.dumps(merged(scenario, {"link": {"cellular": experiment.trace.synthetic}}))
            if not any(f'"{name}"' in text for name in ALGORITHMS):  # those become files when they are run
                assert Evaluation(text, "case.toml").duration_s > 0
            runs, seconds = experiment.runs_of(case, scale)
            assert runs >= 1
            assert seconds > 0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("title =", "titel ="), "tiny.toml: titel: unknown field; expected one of id, paper, title"),
        (
            ("figures = [{", "figures = [{ kid = 1,"),
            "tiny.toml: figures[0].kid: unknown field; expected one of name, kind,",
        ),
        (
            ("seconds = 4", "second = 4"),
            "tiny.toml: scale.quick.second: unknown field; expected one of runs, seconds, ",
        ),
        (('kind = "plane"', 'kind = "plan"'), "tiny.toml: figures[0].kind: expected 'plane', 'sweep', "),
        (('kind = "at-least"', 'kind = "least"'), "tiny.toml: claims[0].kind: expected 'number', 'at-least', "),
        (('kind = "at-least"', 'kind = "number"'), "tiny.toml: claims[0]: a number needs its error of reading, "),
        (
            ('kind = "at-least"', 'kind = "at-least"\nreading = 0.1'),
            "tiny.toml: claims[0]: only a number has reading, better, above and below",
        ),
        (
            ('kind = "at-least"', 'kind = "number"\nreading = 0.1\nabove = 1'),
            "tiny.toml: claims[0]: the paper's number is not in the claim's own direction",
        ),
        (("runs = 6", 'runs = "six"'), "tiny.toml: scale.quick.runs: expected a whole number, got 'six'"),
        (('about = "Nothing."\n', ""), "tiny.toml: about: missing; this field is required"),
        (("paper = 0.1", "paper = true"), "tiny.toml: claims[0].paper: expected a number, got True"),
        (('schemes = ["general-1", ', "schemes = [1, "), "tiny.toml: schemes[0]: expected a text, got 1"),
        (("scale = {", "cases = 3\nscale = {"), "tiny.toml: cases: expected a table, got 3"),
        (("scale = {", "cases.a = 3\nscale = {"), "tiny.toml: cases.a: expected a table, got 3"),
        (
            ("scale = {", "cases.a.quick.run = 3\nscale = {"),
            "tiny.toml: cases.a.quick.run: unknown field; expected one of",
        ),
        (("figures = [", 'columns = "x"\nfigures = ['), "tiny.toml: columns: expected a list, got 'x'"),
        (('caption = "T', 'log = 1, caption = "T'), "tiny.toml: figures[0].log: expected true or false, got 1"),
        (
            ('caption = "T', 'panels = [{ cases = ["no"] }], caption = "T'),
            "tiny.toml: figures[0].panels: there is no case no",
        ),
        (
            ('paper = "Remy', 'paper = "Rem'),
            'tiny.toml: paper: expected "Remy\'13", "Tao\'14" or \'beyond\', got "Rem\'13"',
        ),
        (("title =", "title"), "tiny.toml: "),
    ],
)
def test_mistakes_in_a_file_are_named(change: tuple[str, str], message: str) -> None:
    with pytest.raises(exmachina.InputError) as caught:
        parse(TINY.replace(*change), "tiny.toml")
    assert str(caught.value).startswith(message)


def test_a_field_that_is_nearly_one_is_asked_about() -> None:
    with pytest.raises(exmachina.InputError, match=r"titel: unknown field; .*; did you mean title\?$"):
        parse(TINY.replace("title =", "titel ="), "tiny.toml")


@pytest.mark.slow
def test_scenarios_with_any_text_in_them_are_written_and_read_again(use: Use, ours: Path, tmp_path: Path) -> None:
    """Control characters, quotes, backslashes: an evaluation's text is TOML whatever a file has in it."""
    hostile = "".join(map(chr, range(0x20))) + "\x7f\\\"'#é\U0001f600"
    escaped = "".join(f"\\U{ord(letter):08x}" for letter in hostile)
    experiment = parse(TINY.replace("[scenario]", f'[scenario]\ndescription = "{escaped}"'), "tiny.toml")
    scenario = {**experiment.scenario_of("main", "quick"), "description": hostile.replace("\n", " ")}
    assert tomllib.loads(tomli_w.dumps(scenario)) == scenario
    use(experiment)
    outcome = reproduce("tiny", output=tmp_path / "out", ours=ours)[0]
    assert outcome.claims[0].verdict == "reproduced"
    written = tomllib.loads(outcome.method["scenario"])
    assert written["description"].split() == hostile.split()


def test_changes_of_a_scenario() -> None:
    base = {"link": {"rate_mbps": {"grid": [1, 9], "points": 9}, "buffer": {"bdp": 5}}, "runs": 3}
    changes = {"link": {"rate_mbps": {"list": [1, 5]}}, "runs": 4}
    assert merged(base, changes) == {"link": {"rate_mbps": {"list": [1, 5]}, "buffer": {"bdp": 5}}, "runs": 4}
    assert merged(base, {"link": {}}) == {"runs": 3}


def test_families_of_claims_are_filled_in() -> None:
    family = """
[[claim_families]]
id = "speed-{scheme}"
text = "{name} is fast"
source = "s"
kind = "number"
reading = 0.5
measure = { mean = "goodput_mbps", ratio = ["{scheme}", "newreno"] }
rows = [{ scheme = "cubic", paper = 2 }, { scheme = "vegas", paper = 3, better = "lower" }]
"""
    claims = parse(TINY + family, "tiny.toml").claims[2:]
    assert [(claim.id, claim.text, claim.better, claim.paper) for claim in claims] == [
        ("speed-cubic", "Cubic is fast", None, 2),
        ("speed-vegas", "Vegas is fast", "lower", 3),
    ]
    assert claims[0].measure == {"mean": "goodput_mbps", "ratio": ["cubic", "newreno"]}


def without_files(outcomes: list[Outcome]) -> list[Any]:
    return [(o.claims, o.method, o.cpu_s, [t.rows.to_dicts() for t in o.tables]) for o in outcomes]


@pytest.mark.slow
def test_a_second_call_only_draws(use: Use, ours: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use(parse(TINY, "tiny.toml"))
    first = reproduce("all", output=tmp_path / "out", ours=ours)
    assert first[0].cpu_s > 0
    pictures = [path.read_bytes() for path in (first[0].pictures[0].png, first[0].pictures[0].svg)]
    assert pictures[0].startswith(b"\x89PNG")
    assert b"<svg" in pictures[1]
    assert first[0].pictures[0].chart is not None
    assert render(first[0].pictures[0].chart, ".svg") == pictures[1], "the page shows what the file shows"
    assert [claim.verdict for claim in first[0].claims] == ["reproduced", "reproduced"]
    assert [claim.tables for claim in first[0].claims] == ["", "ours"]

    def simulate(*_: object) -> None:
        raise AssertionError("simulated again")

    monkeypatch.setattr(Evaluation, "flows_of", simulate)
    again = reproduce("tiny", output=tmp_path / "out", ours=ours)
    assert without_files(again) == without_files(first)
    assert [path.read_bytes() for path in (again[0].pictures[0].png, again[0].pictures[0].svg)] == pictures


@pytest.mark.slow
def test_what_runs_took_is_known_when_a_table_is_another_and_counts_once(use: Use, ours: Path, tmp_path: Path) -> None:
    use(parse(TINY, "tiny.toml"))

    def took() -> tuple[float, dict[str, float]]:
        (outcome,) = reproduce("tiny", output=tmp_path / "out", ours=ours)
        return outcome.cpu_s, {path.name: json.loads(path.read_text()) for path in tmp_path.rglob("cpu/*.json")}

    total_s, first = took()
    assert len(first) == 2
    assert total_s == pytest.approx(sum(first.values()))
    assert took() == (total_s, first)
    (ours / "general-1.dna").write_bytes(Table.single(["send_ewma", "ack_ewma", "rtt_ratio"], 1.0, 2, 1.0, "other").dna)
    total_s, second = took()
    assert {name: second[name] for name in first} == first
    (anew,) = second.keys() - first.keys()
    assert second[anew] > 0
    assert any(total_s == pytest.approx(second[anew] + of_cubic) for of_cubic in first.values())
    use(parse(TINY, "other.toml"))
    (other,) = reproduce("other", output=tmp_path / "out", ours=ours)
    assert other.cpu_s == 0, "the same runs, made for another experiment"


@pytest.mark.slow
def test_all_runs_are_made_by_one_engine(use: Use, ours: Path, tmp_path: Path) -> None:
    use(parse(TINY, "tiny.toml"))
    others = Others()
    first, second = (
        reproduce("all", output=tmp_path / ("away" if where else "here"), ours=ours, cluster=where)
        for where in (None, others)
    )
    assert others.units
    assert [claim.ours for claim in first[0].claims] == [claim.ours for claim in second[0].claims]


@pytest.mark.slow
def test_an_interrupted_call_goes_on(use: Use, ours: Path, tmp_path: Path) -> None:
    use(parse(TINY, "tiny.toml"))
    whole = reproduce("tiny", output=tmp_path / "whole", ours=ours)

    def interrupt(now: Doing) -> None:
        if now.standing is not None and now.standing.done > 1:
            raise KeyboardInterrupt

    with pytest.raises(exmachina.Stopped, match="finished runs are kept in"):
        reproduce("tiny", output=tmp_path / "out", ours=ours, on_progress=interrupt)
    kept: list[int] = []
    resumed = reproduce(
        "tiny",
        output=tmp_path / "out",
        ours=ours,
        on_progress=lambda now: kept.append(now.standing.done if now.standing else 0),
    )
    assert max(kept[:2]) > 1
    assert [claim.ours for claim in resumed[0].claims] == [claim.ours for claim in whole[0].claims]


@pytest.mark.slow
def test_other_scales_and_tables_are_run_anew(use: Use, ours: Path, tmp_path: Path) -> None:
    use(parse(TINY, "tiny.toml"))
    quick = reproduce("tiny", output=tmp_path / "out", ours=ours)[0].claims
    paper = reproduce("tiny", output=tmp_path / "out", ours=ours, scale="paper")[0].claims
    assert quick[0].ours != paper[0].ours
    faster = Table.single(["send_ewma", "ack_ewma", "rtt_ratio"], 1.0, 1, 30.0, "slow")
    (ours / "general-1.dna").write_bytes(faster.dna)
    changed = reproduce("tiny", output=tmp_path / "out", ours=ours)[0].claims
    assert changed[0] == quick[0]
    assert changed[1].ours != quick[1].ours


def test_a_missing_algorithm_is_said_to_be_missing(use: Use, ours: Path, tmp_path: Path) -> None:
    use(parse(TINY, "tiny.toml"))
    (ours / "general-1.dna").unlink()
    outcome = reproduce("tiny", output=tmp_path / "out", ours=ours)[0]
    assert outcome.warnings == ["Not at hand, and left out: general-1."]
    claim = outcome.claims[1]
    assert (claim.ours, claim.verdict, claim.note) == (None, "not measured", "Not measured: general-1 is not at hand.")
    assert outcome.claims[0].verdict == "reproduced"


@pytest.mark.slow
def test_published_tables_stand_beside_ours(use: Use, ours: Path, tmp_path: Path) -> None:
    use(parse(TINY, "tiny.toml"))
    published = tmp_path / "published"
    published.mkdir()
    table = Table.single(["send_ewma", "ack_ewma", "rtt_ratio"], 1.0, 1, 10.0, "theirs")
    (published / "RemyCC-2013-delta1.dna").write_bytes(table.dna)
    outcome = reproduce("tiny", output=tmp_path / "out", ours=ours, tables=published)[0]
    found = {claim.id: claim for claim in outcome.claims}
    assert list(found) == ["tiny-cubic", "tiny-remy", "tiny-remy-published"]
    mine, theirs = found["tiny-remy"], found["tiny-remy-published"]
    assert (mine.tables, theirs.tables) == ("ours", "published")
    assert mine.ours is not None
    assert theirs.ours is not None
    assert theirs.ours < mine.ours  # it waits ten times as long between sends
    names = [row["scheme"] for row in outcome.tables[0].rows.to_dicts()]
    assert names == ["RemyCC δ=1", "RemyCC δ=1, published", "Cubic"]


@pytest.mark.slow
def test_robust_tables_have_claims_and_no_place_in_pictures(use: Use, ours: Path, tmp_path: Path) -> None:
    use(parse(TINY, "tiny.toml"))
    table = Table.single(["send_ewma", "ack_ewma", "rtt_ratio"], 1.0, 1, 10.0, "slower")
    (ours / "general-1-robust.dna").write_bytes(table.dna)
    without = reproduce("tiny", output=tmp_path / "out", ours=ours)[0]
    outcome = reproduce("tiny", output=tmp_path / "out", ours=ours, robust=True)[0]
    found = {claim.id: claim for claim in outcome.claims}
    assert list(found) == ["tiny-cubic", "tiny-remy", "tiny-remy-robust"]
    assert found["tiny-remy-robust"].tables == "robust"
    assert found["tiny-remy"] == without.claims[1]
    assert (found["tiny-remy-robust"].ours or 0) < (found["tiny-remy"].ours or 0)
    names = [row["scheme"] for row in outcome.tables[0].rows.to_dicts()]
    assert names == ["RemyCC δ=1", "RemyCC δ=1, robust", "Cubic"]
    assert outcome.pictures[0].svg.read_bytes() == without.pictures[0].svg.read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize("name", list(catalogue()))
def test_every_experiment_has_its_pictures_and_claims(name: str, use: Use, ours: Path, tmp_path: Path) -> None:
    experiment = small(catalogue()[name])
    use(experiment)
    outcome = reproduce(name, output=tmp_path / "out", ours=ours)[0]
    assert [picture.name for picture in outcome.pictures] == [figure.name for figure in experiment.figures]
    for picture in outcome.pictures:
        assert picture.png.stat().st_size > 5000
        assert picture.svg.stat().st_size > 5000
        assert picture.chart is not None
        assert picture.chart["concat"]
        assert all(panel["width"] * panel["height"] > 0 for panel in picture.chart["concat"])
        assert render(picture.chart, ".svg") == picture.svg.read_bytes()
    assert [claim.id for claim in outcome.claims] == [claim.id for claim in experiment.claims]
    for claim in outcome.claims:
        assert claim.ours is not None or claim.note.startswith("Not measured")
    assert outcome.tables or name in ("fig6", "tao-fig8")
    cellular = [warning for warning in outcome.warnings if "synthetic cellular link" in warning]
    assert bool(cellular) == (experiment.trace is not None)


@pytest.mark.slow
def test_a_recording_takes_the_place_of_the_synthetic_link(use: Use, ours: Path, tmp_path: Path) -> None:
    use(small(catalogue()["fig7"]))
    recording = tmp_path / "some.down"
    recording.write_text("".join(f"{ms}\n" for ms in range(1, 2001)))
    outcome = reproduce("fig7", output=tmp_path / "out", ours=ours, traces={"verizon": recording})[0]
    note = (
        "Ran on the recording some.down, from its beginning: its first 2 s have 12.00 Mbit/s on average, 100 s of the"
    )
    assert outcome.warnings[0] == f"{note} paper's 13.95."
    assert note in outcome.claims[0].note
    assert 'trace = "verizon.trace"' in outcome.method["scenario"]
