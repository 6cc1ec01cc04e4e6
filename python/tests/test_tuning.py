"""Tuning: what a law is worth beside rivals, that it gets better, that it repeats and goes on, and the command."""

from dataclasses import replace
from math import exp, inf, nan
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from conftest import Command
from polars.testing import assert_frame_equal

from exmachina import Evaluation, InputError, Stopped, Table, Tuned, TuneOptions, Tuning, _core, draw, evaluate, tune
from exmachina.engines import InThisThread
from exmachina.seeds import named_seed
from exmachina.tuning.contest import PULL, Contest, worths
from exmachina.tuning.tuned import ahead_of

TEXT = """runs = 1
duration_s = 3
[link]
rate_mbps = { log_uniform = [5, 20] }
buffer = { bdp = 3 }
[path]
rtt_ms = 40
[senders]
count = 2
[workload]
on = "forever"
[transport]
preset = "today"
"""
SMALL = Evaluation(TEXT, "small.toml")
FEW = TuneOptions(generations=3, candidates=4, networks=2, checks=3, threads=1)
LAW = Table.load("internet-1")


def tuned(options: TuneOptions = FEW, **more: object) -> Tuned:
    return tune(LAW, [SMALL], options, rivals=["cubic", "vegas"], **more)  # type: ignore[arg-type]


def test_a_draw_is_half_of_a_network_and_a_scale_ahead_73_percent() -> None:
    scores = np.array([[1.0, 1.1, 1.0], [0.0, 0.2, 0.1]])
    worth = worths(scores, 2, 0.1)
    assert worth.shape == (2, 2)
    assert worth[0] == pytest.approx([0.5, 1 / (1 + exp(-1)) + 0.1 * PULL])
    assert worth[1, 0] == pytest.approx(1 - 1 / (1 + exp(-1)) - 0.1 * PULL)


def test_the_share_is_of_rivals_and_the_pull_of_the_best() -> None:
    assert worths(np.array([[1.0, -9.0, 9.0]]), 1, 0.1)[0, 0] == pytest.approx(0.5 - PULL)


def test_who_measured_nothing_is_behind_all_and_where_nobody_did_nothing_counts() -> None:
    scores = np.array([[nan, 1.0, 0.0, 0.0], [1.0, -1.0, nan, 0.0], [1.0, 1.0, nan, nan]])
    worth = worths(scores, 2, 0.01)
    assert worth[0] == pytest.approx([0, 1 + PULL])
    assert worth[1] == pytest.approx([1 + PULL, 0.5 - PULL])
    assert worth[2].tolist() == [0, 0]


def test_shares_before_and_after() -> None:
    scores = np.array([[2.0, 0.0, 1.0], [2.0, 2.0, 1.0], [nan, 0.0, 1.0], [2.0, 0.0, nan]])
    known = pl.DataFrame({"rival": ["cubic"], "networks": [2], "share_before": [0.5], "share": [1.0]})
    assert_frame_equal(ahead_of(scores, ("cubic",)), known)
    nothing = ahead_of(np.array([[nan, nan, nan]]), ("cubic",))
    assert nothing.row(0) == ("cubic", 0, None, None)


def test_who_is_placed_beside_is_not_counted() -> None:
    """One sender of Vegas beside one of Cubic has another score than both together."""
    beside = TEXT.replace("[senders]\ncount = 2", '[[senders]]\ncount = 1\n[[senders]]\ncount = 1\nscheme = "cubic"')
    contest = Contest([Evaluation(beside), SMALL], ["vegas", "cubic/fqcodel"], 1.0, InThisThread())
    scores = contest.scores([LAW], [0, 1], [5, 5])
    flows = Evaluation(beside).changed(["vegas"], seed=5)
    assert scores.shape == (2, 3)
    assert np.isfinite(scores).all()
    vegas = evaluate(flows).flows.filter(pl.col("sender") == 0)
    empty_ms = vegas["mean_rtt_ms"][0] - vegas["queueing_delay_ms"][0]
    share = vegas["normalised_throughput"][0]
    assert scores[0, 1] == pytest.approx(np.log(share) - np.log(vegas["mean_rtt_ms"][0] / empty_ms))


def test_a_rival_that_is_called_as_a_law_is_keeps_its_own_score() -> None:
    namesake = Table(Table.load("internet-10").dna, LAW.name)
    contest = Contest([SMALL], [namesake], 1.0, InThisThread())
    own, other = contest.scores([LAW], [0], [5])[0]
    assert other == Contest([SMALL], ["internet-10"], 1.0, InThisThread()).scores([LAW], [0], [5])[0, 1]
    assert own != other


def test_the_places_of_a_law_are_where_it_is() -> None:
    places = _core.law_places(LAW)
    assert places is not None
    again = Table(_core.law_at_places(LAW, places, None), "again")
    assert again.law is not None
    assert LAW.law is not None
    numbers, begun = (np.hstack([np.array(number) for number in law.values()]) for law in (again.law, LAW.law))
    assert numbers == pytest.approx(begun, rel=1e-3, abs=40)
    assert again.provenance is not None
    assert again.provenance.score is None
    assert again.provenance.model == LAW.provenance.model  # type: ignore[union-attr]


def test_places_and_orders_that_cannot_be() -> None:
    with pytest.raises(_core.InputError, match="places: expected 43, got 1"):
        _core.law_at_places(LAW, [0.5], None)
    with pytest.raises(_core.InputError, match="expected a law"):
        _core.law_at_places(Table.load("known-1x"), [0.5] * 43, None)
    assert _core.law_places(Table.load("known-1x")) is None
    evolution = _core.Evolution([0.5, 0.5], 0.1, 1)
    with pytest.raises(_core.InputError, match="candidates drawn before"):
        evolution.learn([0])
    evolution.draw(2)
    with pytest.raises(_core.InputError, match="each once"):
        evolution.learn([0, 0])


def test_the_law_is_at_the_mean_centre_of_the_later_generations() -> None:
    found = tuned()
    places = _core.law_places(LAW)
    assert places is not None
    evolution, centres = _core.Evolution(places, FEW.step, named_seed(FEW.seed, "candidates")), []
    for _, generation in found.generations.group_by("generation", maintain_order=True):
        evolution.draw(FEW.candidates)
        evolution.learn(np.argsort(-generation["worth"].to_numpy(), kind="stable").tolist())
        centres.append(evolution.mean)
    assert len(centres) == 3
    mean = np.mean(centres[1:], axis=0).tolist()
    assert found.table.law == Table(_core.law_at_places(LAW, mean, None), "mean").law
    assert found.table.law != Table(_core.law_at_places(LAW, centres[-1], None), "last").law


def test_an_evolution_moves_to_what_is_better() -> None:
    evolution = _core.Evolution([0.5] * 3, 0.1, 1)
    for _ in range(60):
        candidates = evolution.draw(10)
        worth = [sum((x - 0.7) ** 2 for x in one) for one in candidates]
        evolution.learn(sorted(range(10), key=lambda k: worth[k]))
    assert evolution.mean == pytest.approx([0.7] * 3, abs=0.01)
    assert evolution.size < 0.05


def test_a_bad_law_gets_better() -> None:
    assert LAW.law is not None
    slow: dict[str, Any] = {"growth": [70, 0, -3000, -15000, -30000], "packets": [1311] * 4 + [0], "fastest": 65536}
    short = {"target_of_rtt": 20, "target_of_root": 0, "target_of_spread": 655}
    timid = Table.of_law({**LAW.law, **short, **slow}, "timid")  # type: ignore[typeddict-item]
    options = replace(FEW, generations=12, candidates=12, networks=4, checks=8, step=0.1)
    found = tune(timid, [SMALL], options, rivals=["cubic", "vegas"])
    means = found.generations.group_by("generation", maintain_order=True).agg(pl.col("worth").mean())["worth"]
    assert means.tail(3).mean() > means.head(3).mean() + 0.05  # type: ignore[operator]
    assert found.gain.mean > 0.02
    assert found.table.provenance is None


def test_it_repeats_at_any_number_of_threads() -> None:
    one, other = tuned(), tuned(replace(FEW, threads=2))
    assert one.table.dna == other.table.dna
    assert_frame_equal(one.generations, other.generations, check_exact=True)
    assert_frame_equal(one.ahead, other.ahead, check_exact=True)
    assert one.table.dna != tuned(replace(FEW, seed=2)).table.dna


def test_what_was_interrupted_goes_on_and_ends_the_same(tmp_path: Path) -> None:
    calls = 0

    def interrupt(_: Tuning) -> None:
        nonlocal calls
        calls += 1
        if calls == 3:
            raise KeyboardInterrupt

    with pytest.raises(Stopped, match=r"law after 2 generations is .*internet-1-tuned\.dna"):
        tuned(output=tmp_path / "out", on_progress=interrupt)
    assert pl.read_parquet(tmp_path / "out" / "generations.parquet").height == 2 * FEW.candidates
    seen: list[Tuning] = []
    found = tuned(output=tmp_path / "out", on_progress=seen.append)
    assert [now.doing for now in seen] == ["tuning", "checking", "done"]
    assert found.table.dna == tuned().table.dna == Table.load(tmp_path / "out" / "internet-1-tuned.dna").dna
    seen.clear()
    tuned(replace(FEW, scale=0.2), output=tmp_path / "out", on_progress=seen.append)
    assert len(seen) == 5, "another scale: nothing of before counts"
    seen.clear()
    longer = SMALL.changed(None, duration_s=4)
    tune(LAW, [longer], FEW, rivals=["cubic", "vegas"], output=tmp_path / "out", on_progress=seen.append)
    assert len(seen) == 5, "nor of shorter runs"


def test_its_origin_says_how_it_was_made() -> None:
    made = tuned().table.provenance
    assert made is not None
    assert '"rivals": ["cubic", "vegas"]' in made.search
    assert '"generations": 3' in made.search


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"law": "known-1x"}, "known-1x: expected a law, got"),
        ({"scenarios": []}, "scenarios: expected at least one"),
        ({"rivals": []}, "rivals: expected at least one other scheme"),
        ({"rivals": ["cubik"]}, "cubik"),
        ({"rivals": ["cubic", "vegas", "cubic"]}, "rivals: cubic is there twice"),
        ({"candidates": 3}, "candidates: expected from 4 to 1000, got 3"),
        ({"scale": 0.0}, "scale: expected more than 0 and finite, got 0"),
        ({"scale": nan}, "scale: expected more than 0 and finite, got nan"),
        ({"scale": inf}, "scale: expected more than 0 and finite, got inf"),
        ({"step": 0.9}, "step: expected more than 0 and at most 0.5, got 0.9"),
    ],
)
def test_mistakes(tmp_path: Path, arguments: dict[str, object], message: str) -> None:
    given = {"law": LAW, "scenarios": [SMALL], "rivals": ["cubic"], "output": tmp_path / "out"} | arguments
    with pytest.raises(InputError, match=message):
        tune(**given)  # type: ignore[arg-type]
    assert not (tmp_path / "out").exists()


def test_pictures(tmp_path: Path) -> None:
    assert [path.name for path in draw(tuned(), tmp_path)] == ["tuned.png", "tuned.svg"]
    assert "candidates" in (tmp_path / "tuned.svg").read_text()


def test_tune_on_the_command_line(exmachina: Command, tmp_path: Path) -> None:
    (tmp_path / "small.toml").write_text(TEXT)
    size = ["--generations", "1", "--candidates", "4", "--networks", "1", "--checks", "2"]
    done = exmachina("tune", "internet-1", "small.toml", "--rivals", "cubic,bbr3", *size)
    assert (done.returncode, done.stderr) == (0, "")
    names = ["internet-1-tuned.dna", "generations.parquet", "ahead.csv", "tuned.png", "tuned.svg"]
    assert done.stdout.splitlines()[-1] == "written: " + ", ".join(f"internet-1-tuned/{name}" for name in names)
    assert done.stdout.split()[:4] == ["ahead", "of", "before", "now"]
    run = exmachina("evaluate", "small.toml", "--schemes", "internet-1-tuned/internet-1-tuned.dna")
    assert run.returncode == 0
    wrong = exmachina("tune", "known-1x", "small.toml")
    assert wrong.returncode == 2
    assert "expected a law" in wrong.stderr
