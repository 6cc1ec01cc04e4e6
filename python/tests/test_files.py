"""Files: what is read, what is refused, what happens when the disk is full, and who may write at one time."""

import errno
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import polars as pl
import pytest
from conftest import SMALL, Command, command, network

from exmachina import Evaluation, InputError, Model, Table, design, evaluate
from exmachina.files import alone, check_output, make_folder, read_file, read_parquet, write_atomically, write_parquet

RATES = {"rate_mbps": {"uniform": [5, 15]}}
SCENARIO = network(schemes=["newreno", "cubic"], runs=3, duration_s=2, link=RATES)


def test_what_is_no_file_is_refused_at_once(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.dna"
    os.mkfifo(pipe)
    for path, kind in [(pipe, "a pipe"), (Path("/dev/zero"), "a device"), (tmp_path, "a folder")]:
        with pytest.raises(InputError, match=f"^{re.escape(str(path))}: expected a file, this is {kind}$"):
            read_file(path)
    for load in (Table.load, Model.load, Evaluation.load):
        with pytest.raises(InputError, match=r"expected a file, this is a pipe$"):
            load(pipe)
    with pytest.raises(InputError, match=r"expected a file, this is a pipe$"):
        check_output(pipe)
    with pytest.raises(InputError, match=r"cannot read it: no such file or directory$"):
        read_file(tmp_path / "none")


def test_files_have_a_largest_size(tmp_path: Path) -> None:
    path = tmp_path / "large.toml"
    with path.open("wb") as file:
        file.truncate(5 << 20)
    with pytest.raises(InputError, match=r"large\.toml: expected at most 4 MiB, the file has more$"):
        Model.load(path)
    assert len(read_file(path)) == 5 << 20


def test_a_null_byte_in_a_name_is_one_clear_line() -> None:
    told = "^'a\\\\x00b(.toml)?': expected the name of a file, got one with a null byte$"
    for ask in (read_file, check_output, make_folder):
        with pytest.raises(InputError, match=told):
            ask("a\0b")
    for load in (Model.load, Evaluation.load):
        with pytest.raises(InputError, match=told):
            load("a\0b.toml")
    with pytest.raises(InputError, match="null byte"):
        Evaluation(network(link={"rate_mbps": None, "trace": "a\0b"}))


def test_a_full_disk_names_the_file_and_leaves_the_old_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "results.parquet"
    write_atomically(path, b"old")

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left on device") as error:
        write_atomically(path, b"new")
    assert error.value.filename == str(path)
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.slow
def test_a_full_disk_in_words(tmp_path: Path, model_file: Path) -> None:
    # Every write beyond a size is refused, as by a disk that is full.
    limited = "import resource as r, sys; r.setrlimit(r.RLIMIT_FSIZE, (1000, 1000)); sys.dont_write_bytecode = True; "
    limited += (
        "import signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); from exmachina.command.cli import main; main()"
    )
    arguments = ["design", str(model_file), "-o", "a.dna", "--rounds", "2", "--threads", "1"]
    done = subprocess.run(
        [sys.executable, "-c", limited, *arguments], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.stderr == "exmachina: a.dna.checkpoint: file too large\n"
    assert done.returncode == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["small.toml"]


def test_many_write_one_file_and_it_is_always_whole(tmp_path: Path) -> None:
    path = tmp_path / "x"
    contents = [bytes([65 + i]) * (1 << 16) for i in range(4)]

    def write(content: bytes) -> None:
        for _ in range(20):
            write_atomically(path, content, durable=False)
            assert path.read_bytes() in contents

    threads = [threading.Thread(target=write, args=(content,)) for content in contents]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.slow
def test_a_parquet_file_with_one_flipped_bit_is_not_believed(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    frame = pl.DataFrame({"x": [1.0, 2.0, None], "name": ["a", "b", "c"]})
    write_parquet(path, frame, {"what": "sha256:" + "0" * 64})
    found = read_parquet(path)
    assert found is not None
    assert found[0].equals(frame)
    assert found[1]["what"] == "sha256:" + "0" * 64
    data = path.read_bytes()
    for byte in range(0, len(data), 7):
        path.write_bytes(data[:byte] + bytes([data[byte] ^ 16]) + data[byte + 1 :])
        assert read_parquet(path) is None, byte
    path.write_bytes(data[:-1])
    assert read_parquet(path) is None


@pytest.mark.slow
@pytest.mark.parametrize("damage", ["flipped", "another's", "cut", "empty"])
def test_damaged_runs_are_made_again(tmp_path: Path, caplog: pytest.LogCaptureFixture, damage: str) -> None:
    first = evaluate(SCENARIO, output=tmp_path)
    newreno, cubic = sorted((tmp_path / "runs").iterdir(), reverse=True)
    kept = cubic.read_bytes()
    middle = len(kept) // 2
    changed = {
        "flipped": kept[:middle] + bytes([kept[middle] ^ 1]) + kept[middle + 1 :],
        "another's": newreno.read_bytes(),
        "cut": kept[:middle],
        "empty": b"",
    }
    cubic.write_bytes(changed[damage])
    again = evaluate(SCENARIO, output=tmp_path)
    assert again.flows.equals(first.flows)
    assert caplog.messages == [f"{cubic}: not as it was written; these runs are made again"]
    assert cubic.read_bytes() == kept


def test_two_designs_never_write_one_output(tmp_path: Path, model_file: Path, exmachina: Command) -> None:
    first = subprocess.Popen(command("design", model_file, "-o", tmp_path / "a.dna", "--quiet"))
    try:
        wait_for(tmp_path / "a.dna.checkpoint")
        done = exmachina("design", model_file, "-o", "a.dna", "--force", "--rounds", "1")
        held = rf"exmachina: a\.dna: this output is in use by process {first.pid} on {re.escape(socket.gethostname())} "
        assert re.fullmatch(held + r"since \d{4}-.*; wait for it, or choose another output\n", done.stderr)
        assert done.returncode == 2
        # A lock outlives nobody: not even one who was killed.
        first.send_signal(signal.SIGKILL)
        first.wait()
        assert (tmp_path / "a.dna.lock").exists()
        done = exmachina("design", model_file, "-o", "a.dna", "--resume", "--rounds", "1000000", "--seconds", "1")
        assert "budget: expected at most one" in done.stderr
        done = exmachina("design", model_file, "-o", "a.dna", "--resume", "--seconds", "0.5")
        assert done.returncode == 0, done.stderr
        assert not (tmp_path / "a.dna.lock").exists()
    finally:
        first.kill()
        first.wait()


def test_two_evaluations_never_write_one_folder(tmp_path: Path) -> None:
    with alone(tmp_path / ".lock", "x"), pytest.raises(InputError, match=r": this folder is in use by process \d+ on "):
        evaluate(SCENARIO, ["newreno"], output=tmp_path)
    evaluate(SCENARIO, ["newreno"], output=tmp_path)
    assert not (tmp_path / ".lock").exists()


def wait_for(path: Path) -> None:
    for _ in range(600):
        if path.exists():
            return
        time.sleep(0.05)
    raise AssertionError(f"{path} never came")


@pytest.mark.slow
def test_long_simulations_hear_seconds_and_ctrl_c(tmp_path: Path) -> None:
    # One step of a search here is hours of simulation.
    text = SMALL.replace("rate_mbps = 10", "rate_mbps = 10000").replace("duration_s = 4", "duration_s = 3500")
    text = text.replace("[design]", "[design]\nintersend_ms = { min = 0.001, max = 3, start = 0.001 }")
    text = text.replace("[design]", "[design]\nincrement = { start = 256 }")
    result = design(Model(text, "long.toml"), tmp_path / "a.dna", seconds=1, threads=1)
    # Two rules are what it begins with.
    assert (result.progress.step, len(result.table)) == (0, 2)
    assert len(Table.load(tmp_path / "a.dna")) == 2
