"""What a search gave: the worst network for a scheme, how bad it is, what matters, and the scenario that shows it."""

import os
import shlex
from dataclasses import dataclass
from pathlib import Path
from textwrap import wrap
from typing import Any

import polars as pl
import tomli_w

from exmachina.errors import ModelError
from exmachina.evaluation import Trace
from exmachina.files import LIMITS, make_folder, shipped_files, write_atomically, write_parquet
from exmachina.hunting.judge import short_s
from exmachina.hunting.limits import DESIGNED, Limits
from exmachina.hunting.measures import OMNISCIENT, Measure
from exmachina.hunting.options import WorstOptions
from exmachina.hunting.training import also_text
from exmachina.hunting.trials import FILE as TRIALS
from exmachina.probing import Base

__all__ = ["Worst", "scenario_text"]

SCENARIO, FOUND, SUMMARY, ALSO = "worst.toml", "found.toml", "summary.csv", "also.toml"
COLUMNS = 118
"""Of a comment."""


@dataclass(frozen=True)
class Worst:
    """The worst network that was found for a scheme.

    >>> limits = exmachina.Limits("loss = [0, 2]")
    >>> found = exmachina.worst("cubic", limits, measure="idle", networks=8, draws=1, checks=2)
    >>> found.harm > 0.1, found.scheme
    (True, 'cubic')
    """

    scheme: str
    measure: Measure
    limits: Limits
    options: WorstOptions
    delta: float
    """How much delay counts against throughput."""
    found: Base
    """The worst of those that were tried."""
    network: Base
    """The same, reduced to what matters."""
    matters: tuple[str, ...]
    """The axes along which it is not plain."""
    frame: pl.DataFrame
    """On the reduced network, on draws of traffic that chose nothing: one row per scheme, that of the search first.
    scheme, harm (of the first; none of others), value (of the measure) and value_error (its standard error), score,
    throughput (over an equal share) and delay (RTT over that of an empty network), starved_share."""
    frame_found: pl.DataFrame
    """The same on the network as it was found."""
    trace: Trace
    """The first of the scheme's runs that `frame` is of; if it is long, its first seconds."""
    trials: pl.DataFrame
    """The networks that were tried, in order: batch, harm (by few runs; none where there was nothing to measure), and
    a column for each axis of the limits."""
    checks_seed: int
    """Of the draws that `frame` is of."""
    schemes: tuple[str, ...]
    """Those of `frame` that a scenario file can name."""
    key: str
    """What the trials follow from: a call with the same does not try them again. Empty where nobody knows."""
    cpu_s: float
    """CPU time of the search, that of earlier calls with what they tried included."""

    @property
    def harm(self) -> float | None:
        """How bad the reduced network is."""
        found: float | None = self.frame["harm"][0]
        return found

    @property
    def harm_found(self) -> float | None:
        """How bad the network is as it was found."""
        found: float | None = self.frame_found["harm"][0]
        return found

    @property
    def words(self) -> str:
        """How bad, for whom, on a line."""
        if self.harm is None:
            return f"there is nothing to measure for {self.scheme}"
        return self.measure.words(self.harm, self.scheme)

    @property
    def scenario(self) -> str:
        """The text of a scenario that has the reduced network, its runs and its seed: what `frame` was measured on."""
        plain = f"Reduced to what matters: {', '.join(self.matters) or 'nothing but what is plain'}."
        return self._text(self.network, self.frame, f"{plain} As found: {_number(self.harm_found)}.")

    @property
    def scenario_found(self) -> str:
        """The same of the network as it was found."""
        return self._text(self.found, self.frame_found, "As found, before it was reduced.")

    @property
    def also(self) -> str | None:
        """The network as an entry `[[also]]` of a model, to train with; none where models cannot say what it is."""
        try:
            return also_text(self.network)
        except ModelError:
            return None

    def paths(self, folder: str | os.PathLike[str]) -> list[Path]:
        """What `save` writes."""
        names = [SCENARIO, FOUND, TRIALS, SUMMARY, *([ALSO] if self.also is not None else [])]
        return [Path(folder) / name for name in names]

    def save(self, folder: str | os.PathLike[str]) -> list[Path]:
        """Writes, each atomically, `worst.toml`, `found.toml`, `trials.parquet`, `summary.csv`, and maybe `also.toml`.

        The last is an entry of a model that trains with the network, where models can say what that is.

        Returns:
            Their paths.

        Raises:
            InputError: If the folder cannot be created or is read-only.
        """
        folder = make_folder(folder)
        write_atomically(folder / SCENARIO, self.scenario.encode())
        write_atomically(folder / FOUND, self.scenario_found.encode())
        write_parquet(folder / TRIALS, self.trials, {"key": self.key, "cpu_s": str(self.cpu_s)})
        write_atomically(folder / SUMMARY, self.frame.write_csv().encode())
        if self.also is not None:
            write_atomically(folder / ALSO, self.also.encode())
        return self.paths(folder)

    def _text(self, network: Base, frame: pl.DataFrame, last: str) -> str:
        harm = frame["harm"][0]
        bad = self.words if harm is None else self.measure.words(harm, self.scheme)
        each = [
            f"{line['scheme']}: {line['throughput']:.3g} of an equal share, RTT {line['delay']:.3g} times the least"
            for line in frame.iter_rows(named=True)
            if line["throughput"] is not None
        ]
        lines = [
            f"The worst of {len(self.trials)} networks within {self.limits.file} for {self.scheme}: {bad} "
            f"({self.measure.title}: {_number(harm)}, on {self.options.checks} draws that chose nothing). {last}",
            *each,
            *([] if self.scheme in self.schemes else [f"Not in the list below, which names no files: {self.scheme}."]),
            f"Found by {self.command}",
        ]
        tables = network.tables(self.options.checks, self.checks_seed, short_s(network, self.measure))
        return scenario_text(network, lines, self.schemes, tables)

    @property
    def command(self) -> str:
        """What finds it again."""
        options, default = self.options, WorstOptions()
        words = ["exmachina", "worst", self.scheme if self.scheme in self.schemes else f"{self.scheme}.dna"]
        limits = self.limits.file.removesuffix(LIMITS.ending)
        words += ["--limits", limits if limits in (*shipped_files(LIMITS), DESIGNED) else self.limits.file]
        needed = {self.scheme, *([OMNISCIENT] if self.measure.beside == "omniscient" else [])}
        words += ["--rivals", ",".join(name for name in self.frame["scheme"] if name not in needed)]
        words += ["--without", ",".join(self.limits.fixed)] if self.limits.fixed else []
        for name in ("measure", "networks", "draws", "checks", "keep", "seed", "delta"):
            if getattr(options, name) != getattr(default, name):
                words += [f"--{name}", str(getattr(options, name))]
        return shlex.join(words)


def scenario_text(network: Base, lines: list[str], schemes: tuple[str, ...], tables: dict[str, Any]) -> str:
    """A scenario of a network, with these lines as comments above it."""
    comment = "".join(f"# {part}\n" for line in lines for part in wrap(line, COLUMNS))
    return f"{comment}\n{tomli_w.dumps({'description': network.words, 'schemes': list(schemes), **tables})}"


def _number(harm: float | None) -> str:
    return "unknown" if harm is None else f"{harm:.3g}"
