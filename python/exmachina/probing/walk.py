"""Probing schemes: along one dimension at a time, about one network, all of them on the same traffic."""

import os
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Unpack

import polars as pl

from exmachina import inspection
from exmachina.engines import Engine, opened
from exmachina.errors import OptionError, SchemeError
from exmachina.evaluation import Evaluation, NetworkLike, evaluate, network_of
from exmachina.files import alone, make_folder
from exmachina.networks import Model, Ranges, stated
from exmachina.probing.axes import Axis, Value, axes_named
from exmachina.probing.base import Base
from exmachina.probing.measures import measured
from exmachina.probing.options import ProbeOptions, ProbeSettings
from exmachina.probing.passport import Passport
from exmachina.schemes import Contender, SchemeLike, Table, contender_of, designed_delta, designed_range

__all__ = ["Probing", "probe"]

RIVALS = ("cubic", "bbr3")
NETWORKS = 64
"""Of a table's model, on which states are looked for that hold themselves."""


@dataclass(frozen=True)
class Probing:
    """How a probe stands.

    >>> def show(now):
    ...     assert 0 <= now.done <= now.networks
    >>> _ = exmachina.probe("known-1x", axes=["acks"], rivals=[], runs=1, on_progress=show)
    """

    axis: str
    """Along which networks are simulated."""
    done: int
    """Networks finished."""
    networks: int
    """In all."""
    wall_s: float
    """Seconds since the call."""
    left_s: float | None
    """Seconds left, at the pace so far; none at the beginning."""


def probe(
    schemes: SchemeLike | Sequence[SchemeLike],
    network: NetworkLike | None = None,
    options: ProbeOptions | None = None,
    *,
    axes: Sequence[str] | None = None,
    rivals: Sequence[SchemeLike] = RIVALS,
    output: str | os.PathLike[str] | None = None,
    on_progress: Callable[[Probing], None] | None = None,
    **settings: Unpack[ProbeSettings],
) -> Passport:
    """Measures how schemes do along each of some dimensions, inside and far outside what they were designed for.

    >>> passport = exmachina.probe("known-1x", axes=["acks"], rivals=["cubic"], runs=1)
    >>> sorted(set(passport.frame["scheme"]))
    ['cubic', 'known-1x']

    Args:
        schemes: One or several: names, paths of tables, tables, classes.
        network: The network that all axes go through: a model or scenario, of which the middles count; if not given,
            the networks that the first table says it was designed for, or else 20 Mbit/s, 100 ms and two senders.
        options: Runs, seed, delta, and who computes.
        axes: Some of rate, rtt, senders, buffer, jitter, loss, acks, on, duty, beside; all of them if not given.
        rivals: Further schemes, to compare with.
        output: A folder, created if missing: results are written there at the end (see `Passport.save`), and finished
            runs are kept there meanwhile, so that the same call goes on where one was interrupted.
        on_progress: Called before each network and at the end.
        **settings: Fields of `ProbeOptions`, which go before those of `options`.

    Raises:
        InputError: If something given is not possible.
        ClusterError: If a cluster cannot be used; finished runs have been kept.
        Stopped: At ctrl-C, once finished runs have been kept.
    """
    chosen, along = replace(options or ProbeOptions(), **settings), axes_named(axes)
    given = [schemes] if isinstance(schemes, str) or not isinstance(schemes, Sequence) else list(schemes)
    if not given:
        raise SchemeError("schemes: expected at least one")
    everyone = _without_doubles([*given, *rivals])
    tables = {label: one.scheme for label, (_, one) in everyone.items() if isinstance(one.scheme, Table)}
    known = {label: found for label, table in tables.items() if (found := designed_range(table)) is not None}
    base = _base(network, next((tables[label] for label in known), None))
    delta = designed_delta(list(tables.values())) if chosen.delta is None else chosen.delta
    schemes = [scheme for scheme, _ in everyone.values()]
    base.refuse(schemes)
    folder = None if output is None else make_folder(output)
    with nullcontext() if folder is None else alone(folder / ".lock", f"{folder}: this folder"):
        with opened(chosen) as engine:
            walk = _Walk(schemes, base, chosen, delta, engine, folder)
            frame = walk.along(along, known, on_progress)
        edges, states = _of_tables(tables, base)
        passport = Passport(
            base=base,
            delta=delta,
            seed=chosen.seed,
            schemes=tuple(everyone),
            axes=tuple(along),
            designed=known,
            frame=frame,
            edges=edges,
            equilibria=states,
        )
        if folder is not None:
            passport.save(folder)
    return passport


def _without_doubles(given: Sequence[SchemeLike]) -> dict[str, tuple[SchemeLike, Contender]]:
    """Schemes by what results call them; of a scheme that is there twice, the first."""
    found: dict[str, tuple[SchemeLike, Contender]] = {}
    for scheme in given:
        one = contender_of(scheme)
        label, earlier = one.label, found.get(one.label)
        if earlier is None:
            found[label] = (scheme, one)
        elif earlier[1].content != one.content:
            raise SchemeError(f"schemes: expected different names, got two that are called {label}")
    return found


def _base(network: NetworkLike | None, table: Table | None) -> Base:
    """The network in the middle of what is given, or of what a table's file states, without what training adds."""
    if network is None:
        if table is None:
            return Base()
        made_for = designed_range(table) if table.provenance is None else stated(table.provenance.model)
        return Base.within(made_for or Ranges())
    given = network_of(network)
    ranges = stated(given.text)
    if ranges.rate_mbps is None or ranges.rtt_ms is None:
        what = "link of a constant rate" if ranges.rate_mbps is None else "RTT"
        raise OptionError(f"network: {given.name}: expected a {what} to vary")
    return Base.within(ranges)


@dataclass(frozen=True)
class _Walk:
    """From network to network: each is simulated once, however many axes go through it."""

    schemes: list[SchemeLike]
    base: Base
    options: ProbeOptions
    delta: float
    engine: Engine
    folder: Path | None
    measured: dict[Base, pl.DataFrame] = field(default_factory=dict)

    def along(
        self, axes: Sequence[Axis], designed: dict[str, Ranges], tell: Callable[[Probing], None] | None
    ) -> pl.DataFrame:
        """One row per scheme, axis, value and run."""
        values = {axis.name: axis.values(self.base, list(designed.values())) for axis in axes}
        networks = {axis.at(self.base, value) for axis in axes for value in values[axis.name]}
        began, frames = time.monotonic(), []
        for axis in axes:
            for value in values[axis.name]:
                self._tell(tell, axis, len(networks), time.monotonic() - began)
                frames.append(_placed(self._at(axis.at(self.base, value)), axis, value, designed))
        self._tell(tell, axes[-1], len(networks), time.monotonic() - began)
        return pl.concat(frames)

    def _at(self, network: Base) -> pl.DataFrame:
        if network not in self.measured:
            scenario = Evaluation(network.scenario(self.options.runs, self.options.seed), "probe.toml")
            flows = evaluate(scenario, self.schemes, cluster=self.engine, cache=self.folder).flows
            self.measured[network] = measured(flows, network.senders, self.delta)
        return self.measured[network]

    def _tell(self, tell: Callable[[Probing], None] | None, axis: Axis, networks: int, wall_s: float) -> None:
        if tell is not None:
            done = len(self.measured)
            left_s = wall_s * (networks - done) / done if done else None
            tell(Probing(axis.name, done, networks, wall_s, left_s))


def _placed(rows: pl.DataFrame, axis: Axis, value: Value, designed: dict[str, Ranges]) -> pl.DataFrame:
    """The rows of a network, as those of a place on an axis."""
    schemes = rows["scheme"].to_list()
    inside = [axis.inside(designed.get(scheme), value) for scheme in schemes]
    number = None if isinstance(value, str) else float(value)
    return rows.select(
        "scheme",
        pl.lit(axis.name).alias("axis"),
        pl.lit(number, dtype=pl.Float64).alias("value"),
        pl.lit(value if isinstance(value, str) else f"{value:g}").alias("label"),
        pl.Series("inside", inside, dtype=pl.Boolean),
        pl.exclude("scheme"),
    )


def _of_tables(tables: dict[str, Table], base: Base) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Knife edges, and states that hold themselves, of all tables."""
    edges, states = [], []
    for label, table in tables.items():
        model = base.model() if table.provenance is None else Model(table.provenance.model)
        networks = model.held_out(model.seed, NETWORKS)
        edges.append(_named(label, inspection.knife_edges(table)))
        states.append(_named(label, inspection.equilibria(table, networks)))
    empty = pl.DataFrame(schema={"scheme": pl.String})
    return pl.concat([empty, *edges], how="diagonal"), pl.concat([empty, *states], how="diagonal")


def _named(label: str, frame: pl.DataFrame) -> pl.DataFrame:
    return frame.select(pl.lit(label).alias("scheme"), pl.all())
