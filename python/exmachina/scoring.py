"""Scoring schemes side by side on held-out specimens (Remy'13 §4.3, §5.1).

Every scheme meets the same networks and the same traffic, which no design for the model has seen, so that
differences are taken pair by pair.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal, TypeAlias

import numpy as np
import polars as pl

from exmachina import _core
from exmachina.errors import InputError
from exmachina.files import check_output
from exmachina.frames import frame_of
from exmachina.interrupts import interruptible
from exmachina.model import Model
from exmachina.parquet import write_parquet
from exmachina.stats import mean_interval
from exmachina.table import Table

__all__ = ["AIMD", "AIMD_BDP", "REFERENCE", "ScoreReport", "Stratum", "score"]

REFERENCE = "omniscient reference"
"""The row of senders that know at every moment who else is on: equal shares, and never a queue. It is no bound: what is
delivered after a sender was switched off counts, and the time does not, so that who leaves a queue behind gets more."""
AIMD = "AIMD"
"""The row of the AIMD sender of Tao'14 §4.5."""
AIMD_BDP = "AIMD, 1-BDP buffer"
"""Its row where the buffer is infinite: AIMD slows down for losses only, so it gets a buffer that has some."""

MAX_SPECIMENS = 1_000_000
MOST_VALUES = 16
"""Strata are values as long as there are so few of them."""
QUARTERS = 4

Stratum: TypeAlias = Literal["rate_mbps", "min_rtt_ms", "senders"]
"""What networks may be divided by."""


@dataclass(frozen=True)
class ScoreReport:
    """What a number of schemes got on the same specimens."""

    model: Model
    seconds_each: float
    """Simulated seconds of each specimen."""
    seed: int
    """Of the held-out specimens."""
    frame: pl.DataFrame
    """One row per scheme, specimen and sender: on_s, sent_packets, delivered_packets, late_packets (those of them that
    were delivered while it was off), throughput_mbps (over the time on), normalised_throughput (over an equal share),
    mean_rtt_ms, delay_ratio (mean RTT / min RTT), utility, starved (1: it was on and received nothing, and has no
    utility), specimen_score (null where nobody received anything)."""

    @property
    def specimens(self) -> pl.DataFrame:
        """One row per scheme and specimen: the score, means over the senders that were on, and how many starved."""
        on = pl.col("on_s") > 0
        return self.frame.group_by("scheme", "specimen", maintain_order=True).agg(
            pl.first("rate_mbps", "min_rtt_ms", "senders"),
            score=pl.first("specimen_score"),
            throughput_mbps=pl.col("throughput_mbps").filter(on).mean(),
            normalised_throughput=pl.col("normalised_throughput").filter(on).mean(),
            delay_ratio=pl.col("delay_ratio").filter(on).mean(),
            queueing_delay_ms=(pl.col("mean_rtt_ms") - pl.col("min_rtt_ms")).filter(on).mean(),
            senders_on=on.sum(),
            starved_senders=pl.col("starved").sum().cast(pl.UInt32),
        )

    @property
    def summary(self) -> pl.DataFrame:
        """One row per scheme, in the order asked for: means over specimens.

        A sender that was on and received nothing has no utility. It is in no mean, but among starved_senders, and
        starved_share is their share of those that were on. score_ci95 and difference_ci95 are half-widths of 95 %
        Student-t intervals; the difference is to the first scheme, paired by specimen, over the pairs where both have a
        score, and unpaired says how many have not. For a model that is a grid, variances are taken within each of its
        points.
        """
        strata = self.model.grid_points or 1
        first: np.ndarray[tuple[int], np.dtype[np.float64]] | None = None
        rows = []
        for (scheme,), group in self.specimens.group_by("scheme", maintain_order=True):
            # What has no score is NaN from here on, and counts nowhere.
            scores = group["score"].to_numpy()
            first = scores if first is None else first
            own, paired = mean_interval(scores, strata), mean_interval(scores - first, strata)
            rows.append(
                {
                    "scheme": scheme,
                    "score": own.mean,
                    "score_ci95": own.half_width,
                    "difference": paired.mean,
                    "difference_ci95": paired.half_width,
                    "unpaired": int(np.isnan(scores - first).sum()),
                    "throughput_mbps": group["throughput_mbps"].mean(),
                    "normalised_throughput": group["normalised_throughput"].mean(),
                    "delay_ratio": group["delay_ratio"].mean(),
                    "queueing_delay_ms": group["queueing_delay_ms"].mean(),
                    "starved_senders": group["starved_senders"].sum(),
                    "starved_share": int(group["starved_senders"].sum()) / max(1, int(group["senders_on"].sum())),
                }
            )
        return pl.DataFrame(rows, infer_schema_length=None).with_columns(pl.col("score", "difference").fill_nan(None))

    def strata(self, by: Stratum) -> pl.DataFrame:
        """One row per scheme and stratum of the networks: those of one value, or of a quarter of a range.

        A mean over a range hides where in it a scheme is behind. Columns: scheme, low and high (of `by`, in the
        stratum), specimens, score, score_ci95, difference, difference_ci95; as in `summary`.

        Args:
            by: rate_mbps (of the slowest link), min_rtt_ms (the least of the senders') or senders (how many there are).
        """
        value = pl.min("min_rtt_ms") if by == "min_rtt_ms" else pl.first(by)
        places = self.frame.group_by("specimen", maintain_order=True).agg(place=value)
        values = places["place"].unique().sort().to_numpy()
        if len(values) > MOST_VALUES:
            # Of equal parts, the first places.
            values = np.unique(np.quantile(places["place"].to_numpy(), np.arange(QUARTERS) / QUARTERS))
        number = np.searchsorted(values, places["place"].to_numpy(), side="right")
        places = places.with_columns(stratum=pl.Series(number))
        scores = self.specimens.select("scheme", "specimen", "score").join(places, on="specimen", maintain_order="left")
        first = scores.filter(scheme=scores["scheme"][0]).select("specimen", first="score")
        scores = scores.join(first, on="specimen", maintain_order="left").fill_null(float("nan"))
        rows = []
        for (scheme, _), group in scores.sort("stratum", maintain_order=True).group_by(
            "scheme", "stratum", maintain_order=True
        ):
            own = mean_interval(group["score"].to_numpy())
            paired = mean_interval((group["score"] - group["first"]).to_numpy())
            rows.append(
                {
                    "scheme": scheme,
                    "low": group["place"].min(),
                    "high": group["place"].max(),
                    "specimens": len(group),
                    "score": own.mean,
                    "score_ci95": own.half_width,
                    "difference": paired.mean,
                    "difference_ci95": paired.half_width,
                }
            )
        return pl.DataFrame(rows, infer_schema_length=None).with_columns(pl.col("score", "difference").fill_nan(None))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the frame as Parquet, atomically, with the model, the seed and the version in its metadata.

        Raises:
            InputError: If the folder is missing or read-only, or the name does not end in `.parquet`.
        """
        facts = {"model": self.model.text, "seed": str(self.seed), "seconds_each": str(self.seconds_each)}
        write_parquet(check_output(path, suffixes=(".parquet",)), self.frame, facts)


def score(
    tables: Table | Sequence[Table | Sequence[Table]],
    model: Model,
    *,
    specimens: int = 1000,
    seconds_each: float | None = None,
    seed: int | None = None,
    threads: int | None = None,
    aimd: bool = False,
    in_world: bool = False,
    on_progress: Callable[[str, float], None] | None = None,
) -> ScoreReport:
    """Scores tables, and the omniscient reference, on the same held-out specimens of a model.

    Args:
        tables: One table or several; the first is the one that others are compared to. Where the model's senders have
            different names (`Model.classes`), a table is run by all of them; a list of tables, one for each name in
            order, is one scheme.
        model: The model; its own networks are drawn, with seeds that no design uses.
        specimens: How many; for a model that is a grid, rounded up so that each point has equally many.
        seconds_each: Simulated seconds of each; the model's if not given.
        seed: Of the held-out specimens; the model's if not given.
        threads: As many as there are processors if not given. The result does not depend on it.
        aimd: Whether to score an AIMD sender, too; where the buffer is infinite, on a buffer of one bandwidth-delay
            product.
        in_world: Whether the networks have what those of training have besides (`[design.world]`); else they are as the
            model states them.
        on_progress: Called with the scheme under way and the share that is done, 0 to 1.

    Raises:
        InputError: If a value is not possible.
    """
    entries = _entries(tables, model)
    if not entries and not aimd:
        raise InputError("tables: expected at least one")
    seconds_each = model.duration_s if seconds_each is None else seconds_each
    seed = model.seed if seed is None else seed
    _check(specimens, seconds_each, seed)
    workers = _core.Workers(threads)
    held_out = model.held_out(seed, specimens, in_world)
    runs = _runs(entries, held_out, aimd)
    frames = []
    for index, run in enumerate(runs):
        report = _reporter(on_progress, run[0], index, len(runs) + 1)
        frames.append(_evaluate(run, seconds_each, workers, report))
    reference = interruptible(lambda stop: _core.reference(held_out, seconds_each, workers, stop))
    frames.append(named(REFERENCE, frame_of(reference)))
    return ScoreReport(model, seconds_each, seed, pl.concat(frames))


def designed_for(tables: Sequence[Table | list[Table]]) -> Model:
    """The model that the first of these tables was designed for.

    Raises:
        InputError: If it does not say.
    """
    if not tables:
        raise InputError("tables: expected at least one")
    table = tables[0] if isinstance(tables[0], Table) else tables[0][0]
    made = table.provenance
    if made is None:
        raise InputError(f"model: expected one; {table.name} does not say what it was designed for")
    return Model(made["model"], f"{table.name}.toml")


Run: TypeAlias = tuple[str, Table | list[Table] | str, _core.Specimens]


def _entries(tables: Table | Sequence[Table | Sequence[Table]], model: Model) -> list[Table | list[Table]]:
    """What is scored, one by one: tables, and lists with one for each name of senders."""
    given = [tables] if isinstance(tables, Table) else list(tables)
    entries = [entry if isinstance(entry, Table) else list(entry) for entry in given]
    for entry in entries:
        if isinstance(entry, list) and len(entry) != len(model.classes):
            names = ", ".join(model.classes)
            what = f"one for each of {names} together" if names else "one by one: all senders of the model run the same"
            raise InputError(f"tables: expected {what}; got {len(entry)} together")
    return entries


def _runs(entries: list[Table | list[Table]], held_out: _core.Specimens, aimd: bool) -> list[Run]:
    runs: list[Run] = [(name, entry, held_out) for name, entry in zip(distinct_names(entries), entries, strict=True)]
    if aimd and held_out.network(0)["buffer_packets"] is None:
        runs.append((AIMD_BDP, "aimd", held_out.with_buffer_bdp(1)))
    elif aimd:
        runs.append((AIMD, "aimd", held_out))
    return runs


def distinct_names(entries: Sequence[Table | list[Table]]) -> list[str]:
    """The names of tables, or of several together; a name that others have, too, is numbered."""
    taken = {REFERENCE, AIMD, AIMD_BDP}
    names = []
    for entry in entries:
        own = entry.name if isinstance(entry, Table) else " + ".join(table.name for table in entry)
        name, number = own, 1
        while name in taken:
            number += 1
            name = f"{own} ({number})"
        taken.add(name)
        names.append(name)
    return names


def _check(specimens: int, seconds_each: float, seed: int) -> None:
    if not 1 <= specimens <= MAX_SPECIMENS:
        raise InputError(f"specimens: expected from 1 to {MAX_SPECIMENS}, got {specimens}")
    check_seconds("seconds-each", seconds_each)
    check_seed(seed)


def check_seconds(field: str, seconds: float) -> None:
    """Refuses a simulated time that no run can have."""
    try:
        _core.check_duration(seconds)
    except InputError as error:
        raise InputError(f"{field}: {error}") from None


def check_seed(seed: int) -> None:
    """Refuses what is no seed."""
    if not 0 <= seed < 2**63:
        raise InputError(f"seed: expected a whole number from 0 to 2^63 - 1, got {seed}")


def _evaluate(
    run: Run,
    seconds_each: float,
    workers: _core.Workers,
    report: Callable[[float], None],
) -> pl.DataFrame:
    """Runs a scheme in batches, so that a display moves and ctrl-C is heard."""
    name, scheme, networks = run
    frames, done = [], 0
    for part in parts(networks, workers):
        report(done / len(networks))
        frames.append(frame_of(interruptible(partial(_core.evaluate, scheme, part, seconds_each, workers))))
        done += len(part)
    return named(name, pl.concat(frames))


def parts(networks: _core.Specimens, workers: _core.Workers) -> Iterator[_core.Specimens]:
    """All of them, so many at a time that a display moves and every thread has work."""
    batch = max(4 * workers.threads, len(networks) // 50)
    for first in range(0, len(networks), batch):
        yield networks.part(first, min(first + batch, len(networks)))


def named(name: str, frame: pl.DataFrame) -> pl.DataFrame:
    """The rows of a scheme, with its name before all else."""
    return frame.select(pl.lit(name).alias("scheme"), pl.all())


def _reporter(
    on_progress: Callable[[str, float], None] | None, name: str, index: int, count: int
) -> Callable[[float], None]:
    def report(share: float) -> None:
        if on_progress is not None:
            on_progress(name, (index + share) / count)

    return report
