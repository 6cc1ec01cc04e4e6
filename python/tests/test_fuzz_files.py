"""A few damaged files of every kind, for every test run; `make fuzz-files` has more."""

import pytest
from mutants import KINDS, run


@pytest.mark.slow
@pytest.mark.parametrize("first", range(1_000_000, 1_000_600, 100))
def test_damaged_files_are_refused_or_read(first: int) -> None:
    outcomes = {run(seed) for seed in range(first, first + 100)}
    assert {f"{kind.name} refused" for kind in KINDS if kind.name != "kept runs"} <= outcomes
