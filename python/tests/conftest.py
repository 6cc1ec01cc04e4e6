"""What tests share: a model whose runs take milliseconds, tables, and the command line as a person calls it."""

import importlib.util
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import tomli_w

from exmachina import Evaluation, Model, Scheme, Table, design
from exmachina.reproduce.outcome import Outcome

signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)
"""Who starts tests in the background has ctrl-C ignored, or a terminal's end: those that send one would wait."""

SMALL = """\
description = "a small network"

[link]
rate_mbps = 10

[path]
rtt_ms = 40

[senders]
count = { list = [1, 2] }

[workload]
on = { seconds = 1 }
off = { seconds = 1 }

[design]
duration_s = 4
"""

SHORT_SCENARIO = """\
description = "a short dumbbell"
schemes = ["newreno", "cubic/sfqcodel"]
runs = 6
duration_s = 2

[link]
rate_mbps = 10
buffer = { packets = 40 }

[path]
rtt_ms = 40

[senders]
count = 2

[workload]
on = { seconds = 1 }
off = { seconds = 0.2 }
"""


def network(**changes: Any) -> str:
    """The text of a scenario: two senders on a link of 10 Mbit/s and 40 ms, a second on and a second off in turn.

    Args:
        changes: Fields in their place; of a table those that are given, so that `link={"loss": 0.1}` leaves the rate.
            None takes a field out.
    """
    scenario: dict[str, Any] = {
        "link": {"rate_mbps": 10},
        "path": {"rtt_ms": 40},
        "senders": {"count": 2},
        "workload": {"on": {"seconds": 1}, "off": {"seconds": 1}},
    }
    for name, value in changes.items():
        fields = {**scenario.get(name, {}), **value} if isinstance(value, dict) else value
        kept = {key: one for key, one in fields.items() if one is not None} if isinstance(fields, dict) else fields
        scenario[name] = kept
    return tomli_w.dumps(scenario)


def script(name: str) -> ModuleType:
    """A script of `validation`, which is no part of the package. What it imports of these has to come before it."""
    file = Path(__file__).parents[2] / "validation" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


DURATIONS = "expected more than 0 and at most 35184 simulated seconds (the simulator's clock counts no further), got "
"""What is said of a length that no run can have."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Who starts the program waits a second for it: such tests are slow, whatever they test."""
    for item in items:
        if "exmachina" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.slow)


class Forty(Scheme):
    """A window that never changes."""

    window = 40.0


Command = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def model_file(tmp_path: Path) -> Path:
    path = tmp_path / "small.toml"
    path.write_text(SMALL)
    return path


@pytest.fixture(scope="session")
def model() -> Model:
    return Model(SMALL, "small.toml")


@pytest.fixture(scope="session")
def scenario() -> Evaluation:
    return Evaluation(SHORT_SCENARIO, "short.toml")


@pytest.fixture(scope="session")
def one_rule(model: Model) -> Table:
    return Table.single(model.signals, 1.0, 1, 3.0, "one-rule")


@pytest.fixture(scope="session")
def designed(model: Model) -> Table:
    """A table of several rules."""
    rounds = 10
    while True:
        table = design(model, rounds=rounds, threads=1).table
        if len(table) > 3:
            return Table(table.dna, "designed.dna")
        rounds += 10


def command(*arguments: str | Path) -> list[str]:
    return [sys.executable, "-m", "exmachina", *map(str, arguments)]


def interrupted(folder: Path, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """What becomes of a command that writes into `out` when somebody presses ctrl-C a moment after it has begun to."""
    environment = {**os.environ, "NO_COLOR": "1"}
    process = subprocess.Popen(
        command(*arguments, "-o", "out"), cwd=folder, env=environment, stderr=subprocess.PIPE, text=True
    )
    while not (folder / "out").is_dir():
        assert process.poll() is None, "it has ended before"
        time.sleep(0.05)
    time.sleep(1.5)
    process.send_signal(signal.SIGINT)
    _, messages = process.communicate(timeout=30)
    return subprocess.CompletedProcess(process.args, process.returncode, "", messages)


@pytest.fixture
def exmachina(tmp_path: Path) -> Command:
    """Runs the command line in an empty folder, with a terminal of 100 columns at most."""

    def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command(*arguments),
            cwd=tmp_path,
            env={**os.environ, "COLUMNS": "100", "NO_COLOR": "1"},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    return run


def reference(part: str) -> Path:
    """A file or folder of what the authors published, which lies beside the project, in `../shared/reference`.

    Where it is absent, the test is skipped, and fails if `CI=true`: a check that did not run is no check.
    """
    path = Path(__file__).parents[3] / "shared" / "reference" / part
    if not path.exists():
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(f"{path} is missing: the authors' data")
    return path


def published(name: str) -> Path:
    """One of the authors' tables; where it is absent, see `reference`."""
    return reference(f"remycc/{name}.dna")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> list[Outcome]:
    """Made-up outcomes of experiments."""
    from madeup import outcomes  # noqa: PLC0415 (drawing takes a second to load)

    return outcomes(tmp_path_factory.mktemp("pictures"))


@pytest.fixture(scope="module")
def report(made: list[Outcome], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Their report."""
    from madeup import HOSTILE  # noqa: PLC0415 (drawing takes a second to load)

    from exmachina.reproduce.page import write_report  # noqa: PLC0415

    return write_report(made, tmp_path_factory.mktemp("report") / "report.html", facts={"machine": HOSTILE})
