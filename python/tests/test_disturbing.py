"""Disturbed states: who is back, the same for whoever computes, and what is said of what cannot be done."""

from pathlib import Path

import polars as pl
import pytest
from conftest import Command

import exmachina
from exmachina import Action, OptionError, Table

STATES = 6


def holding(table: Table) -> Table:
    """Windows stay as they are from the first ACK on."""
    return table.with_actions([Action(1.0, 0, one.intersend_ms) for one in table.actions], "holding")


def test_a_law_comes_back_and_windows_that_nobody_moves_do_not() -> None:
    law = Table.load("general-1-robust")
    found = exmachina.disturb([law, "known-1x"], "known-1x", specimens=3, states=STATES)
    assert found.summary["scheme"].to_list() == ["general-1-robust", "known-1x"]
    assert found.summary["back"][0] > 0.9
    assert found.summary["back"][1] == 1.0
    assert found.frame["rate_mbps"].to_list() == 2 * found.frame["rate_mbps"].to_list()[:3], "the same networks"
    held = exmachina.disturb(holding(Table.load("known-1x")), "known-1x", specimens=3, states=STATES)
    assert held.summary["back"][0] == 0.0
    assert len(held.worst) == 3


def test_networks_and_states_are_those_of_the_seed() -> None:
    one, same, other = (
        exmachina.disturb("tao-10x", specimens=4, states=STATES, seed=seed, threads=threads).frame
        for seed, threads in ((5, 1), (5, 2), (6, 2))
    )
    assert one.equals(same)
    assert not one["rate_mbps"].equals(other["rate_mbps"])
    fewer = exmachina.disturb("tao-10x", specimens=2, states=STATES, seed=5).frame
    assert fewer.equals(one.head(2)), "those of fewer networks are the first of more"
    rest = exmachina.disturb("tao-10x", specimens=2, skip=2, states=STATES, seed=5).frame
    assert rest.equals(one.tail(2)), "and the next are those that follow"


def test_shares_are_of_all_states() -> None:
    found = exmachina.disturb("tao-10x", specimens=4, states=STATES)
    frame, share = found.frame, found.summary.row(0, named=True)
    assert share["networks"] == 4
    assert share["back"] == frame["back"].sum() / (4 * STATES)
    assert share["below"] == frame["below"].sum() / (4 * STATES)
    assert share["uneven"] == frame["uneven"].mean()
    assert frame.select((pl.col("stays") <= pl.col("states")).all(), (pl.col("nudged") == 2).all()).row(0) == (
        True,
        True,
    )


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"states": 0}, "states: expected from 1 to 100000, got 0"),
        ({"specimens": 0}, "specimens: expected from 1 to 100000, got 0"),
        ({"seed": -1}, "seed: expected"),
    ],
)
def test_impossible_options_are_refused(settings: dict[str, int], words: str) -> None:
    with pytest.raises(OptionError, match=words):
        exmachina.disturb("known-1x", **settings)  # type: ignore[arg-type]


def test_schemes_that_are_no_tables_are_refused() -> None:
    with pytest.raises(exmachina.InputError, match="cubic"):
        exmachina.disturb("cubic", "known-1x")
    with pytest.raises(exmachina.SchemeError, match="tables: expected at least one"):
        exmachina.disturb([])


def test_the_command_shows_and_writes_what_was_found(exmachina: Command, tmp_path: Path) -> None:
    done = exmachina(
        "disturb", "known-1x", "--specimens", "2", "--states", "4", "--results", "found.parquet", "--quiet"
    )
    assert done.returncode == 0, done.stderr
    assert "known-1x" in done.stdout
    assert "4 states of each network of known-1x, seed 1." in " ".join(done.stdout.split())
    frame = pl.read_parquet(tmp_path / "found.parquet")
    assert frame["states"].to_list() == [4, 4]
    for arguments, words in (
        (["disturb"], "tables: expected at least one"),
        (["disturb", "known-1x", "--results", "found.csv"], "found.csv: expected a name that ends in"),
        (["disturb", "known-1x", "--states", "0"], "states: expected from 1 to 100000, got 0"),
    ):
        done = exmachina(*arguments)
        assert done.returncode == 2
        assert words in done.stderr
