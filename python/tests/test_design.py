"""Designs: budgets, checkpoints, kills, and the same bytes whatever happens meanwhile."""

import json
import signal
import subprocess
import time
from hashlib import sha256
from pathlib import Path

import polars as pl
import pytest
from conftest import SMALL, command

from exmachina import DesignStopped, InputError, Model, Progress, Table, _core, design
from exmachina.designing import search as searching

ROUNDS = 30


@pytest.fixture(scope="session")
def undisturbed(model: Model) -> Table:
    return design(model, rounds=ROUNDS, threads=1).table


@pytest.mark.slow
@pytest.mark.parametrize("threads", [2, 5])
def test_threads_do_not_matter(model: Model, undisturbed: Table, threads: int) -> None:
    assert design(model, rounds=ROUNDS, threads=threads).table.dna == undisturbed.dna


def test_seeds_matter(model: Model, undisturbed: Table) -> None:
    assert design(model, rounds=ROUNDS, seed=2).table.rules != undisturbed.rules


def test_it_gets_better(model: Model) -> None:
    history = design(model, rounds=ROUNDS).history
    assert history.columns == ["step", "cpu_s", "packets", "rules", "score", "starved_share"]
    assert history["score"][-1] > history["score"][0]
    assert history["step"].is_sorted()
    assert history["packets"].is_sorted()


def test_the_paper_search_runs_too(model: Model) -> None:
    one, two = (design(model, search="paper", rounds=2, threads=threads).table for threads in (1, 2))
    assert one.dna == two.dna
    made = one.provenance
    assert made is not None
    assert '"search":"paper"' in made.search


def test_a_law_is_no_rule(model: Model) -> None:
    seen: set[str] = set()
    law = Model(SMALL.replace("[design]\n", '[design]\nform = "law"\n'), "law.toml")
    result = design(law, rounds=1, on_progress=lambda now: seen.add(now.size))
    assert (result.progress.size, result.table.size) == ("a law", "a law")
    assert seen <= {"a law"}
    rules = design(model, rounds=1)
    assert rules.progress.size == rules.table.size != "a law"


def test_what_was_not_measured_has_no_numbers(model: Model) -> None:
    designer, stopped = _core.Designer(model, "default", None, [], []), _core.Stop()
    stopped.set()
    answer = designer.answer(_core.Workers(1), stopped)
    assert (answer.score, answer.starved_share) == (None, None)
    made = Table(answer.tables[0].dna).provenance
    assert made is not None
    assert made.score is None


def test_files(tmp_path: Path, model: Model, undisturbed: Table) -> None:
    result = design(model, tmp_path / "a.dna", rounds=ROUNDS)
    names = ["a.dna", "a.dna.checkpoint", "a.dna.history.parquet"]
    assert sorted(p.name for p in tmp_path.iterdir()) == names
    assert (tmp_path / "a.dna").read_bytes() == result.table.dna == undisturbed.dna
    assert pl.read_parquet(tmp_path / "a.dna.history.parquet").equals(result.history)


@pytest.mark.slow
def test_resumed_in_pieces(tmp_path: Path, model: Model, undisturbed: Table) -> None:
    output = tmp_path / "a.dna"
    design(model, output, rounds=1)
    for rounds in (4, 5, 13):
        progress = design(model, output, rounds=rounds, resume=True).progress
        assert progress.step == rounds
    assert design(model, output, rounds=ROUNDS, resume=True).table.dna == undisturbed.dna


@pytest.mark.slow
def test_a_start_of_ones_own(model: Model, designed: Table) -> None:
    found = design(model, rounds=1, start=designed).table
    assert len(found) >= len(designed)
    assert found.provenance is not None
    said = json.loads(found.provenance.search)["settings"]["start"]
    assert said == [f"{designed.name} sha256:{sha256(designed.dna).hexdigest()}"]
    other = Table.single(["rtt_diff"], 1, 1, 3, "other")
    with pytest.raises(
        InputError, match=r"^start: the table to start from looks at rtt_diff; add it to design.signals"
    ):
        design(model, rounds=1, start=other)


@pytest.mark.slow
def test_progress_tells_of_budgets(model: Model) -> None:
    seen: list[Progress] = []
    design(model, cpu_seconds=0.7, on_progress=seen.append)
    assert seen
    assert all(now.left_s is None or now.left_s >= 0 for now in seen)
    assert seen[-1].packets > 0
    assert seen[-1].wall_s > 0


def test_a_budget_of_seconds_stops_inside_a_step(monkeypatch: pytest.MonkeyPatch) -> None:
    # A step of this model takes minutes.
    text = Model.load("general-1").text.replace("duration_s = 100", "duration_s = 3500")
    monkeypatch.setattr(searching, "REFRESH_S", 0.01)
    result = design(Model(text, "long.toml"), seconds=0.2, threads=1)
    assert result.progress.step == 0
    assert len(result.table) == 1
    assert result.score is None


def test_ctrl_c_keeps_what_was_found(tmp_path: Path, model: Model, undisturbed: Table) -> None:
    def press_ctrl_c(now: Progress) -> None:
        if now.step >= 3:
            raise KeyboardInterrupt

    output = tmp_path / "a.dna"
    with pytest.raises(
        DesignStopped, match=r"^Stopped; the table so far is in .*a.dna. To go on: .* --resume.$"
    ) as stop:
        design(model, output, threads=1, on_progress=press_ctrl_c)
    step = stop.value.design.progress.step
    assert step >= 3
    assert Table.load(output).dna == stop.value.design.table.dna
    assert design(model, output, rounds=max(step, ROUNDS), resume=True).table.rules
    if step <= ROUNDS:
        assert Table.load(output).dna == undisturbed.dna


def test_a_failing_display_stops_the_search(model: Model) -> None:
    def broken(now: Progress) -> None:
        raise RuntimeError("no display")

    with pytest.raises(RuntimeError, match="no display"):
        design(model, on_progress=broken)


@pytest.mark.slow
def test_killed_at_any_moment(tmp_path: Path) -> None:
    """As `kill -9` does it, after one step or several; when exactly differs from run to run, the result does not."""
    file, output, checkpoint = tmp_path / "long.toml", tmp_path / "a.dna", tmp_path / "a.dna.checkpoint"
    file.write_text(SMALL.replace("duration_s = 4", "duration_s = 60"))
    undisturbed = design(file, rounds=ROUNDS).table
    arguments = command("design", file, "--output", output, "--rounds", str(ROUNDS), "--quiet")
    for kill in range(5):
        process = subprocess.Popen([*arguments, "--resume"] if kill else arguments)
        for _ in range(1 + kill % 3):
            wait_for_change(checkpoint, process)
        time.sleep(0.01 * kill)
        process.kill()
        assert process.wait() != 0, "the design is still under way"
        assert not output.exists()
    assert subprocess.run([*arguments, "--resume"], capture_output=True, check=True).stdout
    assert output.read_bytes() == undisturbed.dna


def wait_for_change(path: Path, process: subprocess.Popen[bytes]) -> None:
    def written() -> int:
        return path.stat().st_mtime_ns if path.exists() else 0

    before = written()
    while written() == before:
        assert process.poll() is None, "the design is still under way"
        time.sleep(0.002)


@pytest.mark.slow
def test_ctrl_c_in_a_terminal(tmp_path: Path, model_file: Path) -> None:
    process = subprocess.Popen(
        command("design", model_file, "--output", tmp_path / "a.dna"), stderr=subprocess.PIPE, text=True
    )
    while not (tmp_path / "a.dna.checkpoint").exists():
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, messages = process.communicate(timeout=60)
    assert process.returncode == 130
    said = f"exmachina: Stopped; the table so far is in {tmp_path}/a.dna. To go on: the same command with --resume.\n"
    assert messages == said
    assert len(Table.load(tmp_path / "a.dna")) >= 1


def test_nothing_is_lost_by_accident(tmp_path: Path, model: Model) -> None:
    output = tmp_path / "a.dna"
    design(model, output, rounds=1)
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    with pytest.raises(InputError, match=r"a.dna.checkpoint is there from an earlier design: --resume goes on with it"):
        design(model, output, rounds=1)
    (tmp_path / "a.dna.checkpoint").rename(tmp_path / "elsewhere")
    with pytest.raises(InputError, match=r"a.dna exists: choose another name, or replace it with --force$"):
        design(model, output, rounds=1)
    (tmp_path / "elsewhere").rename(tmp_path / "a.dna.checkpoint")
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before
    design(model, output, rounds=2, force=True)


def test_only_the_same_design_goes_on(tmp_path: Path, model: Model) -> None:
    output = tmp_path / "a.dna"
    with pytest.raises(
        InputError, match=r"a.dna.checkpoint: there is no such checkpoint; leave out --resume to start$"
    ):
        design(model, output, rounds=1, resume=True)
    design(model, output, rounds=1)
    with pytest.raises(InputError, match=r"belongs to another model; --resume needs the model it began with$"):
        design("demo", output, rounds=2, resume=True)
    with pytest.raises(InputError, match=r"was begun with --search default; go on with the same$"):
        design(model, output, rounds=2, resume=True, search="paper")
    with pytest.raises(InputError, match=r"was begun with --seed 1; go on with the same$"):
        design(model, output, rounds=2, resume=True, seed=2)
    (tmp_path / "a.dna.checkpoint").write_text("{}")
    with pytest.raises(InputError, match=r"a.dna.checkpoint: not a checkpoint of this program: "):
        design(model, output, rounds=2, resume=True)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"seconds": 0}, "seconds: expected a number above 0, got 0"),
        ({"cpu_seconds": -1.5}, "cpu-seconds: expected a number above 0, got -1.5"),
        ({"seconds": float("inf")}, "seconds: expected a number above 0, got inf"),
        ({"rounds": 3, "seconds": 3}, "budget: expected at most one of seconds, cpu-seconds, rounds"),
        ({"seed": -1}, "seed: expected a whole number from 0 to 2^63 - 1, got -1"),
        ({"search": "best"}, "search: expected default or paper, got best"),
        ({"threads": 5000}, "threads: expected from 1 to 1024, got 5000"),
        ({"resume": True}, "resume: expected an output, whose checkpoint to go on from"),
        ({"output": "x.txt"}, "x.txt: expected a name that ends in .dna"),
        (
            {"output": "no/such/folder/x.dna"},
            "no/such/folder/x.dna: there is no folder no/such/folder; create it first",
        ),
    ],
)
def test_what_is_not_possible(model: Model, settings: dict[str, object], message: str) -> None:
    with pytest.raises(InputError) as error:
        design(model, **settings)  # type: ignore[arg-type]
    assert str(error.value) == message
