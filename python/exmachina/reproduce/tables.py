"""Tables of an experiment: what each contender got, and what algorithms were designed for."""

import json
import math
import tomllib
from importlib import resources

import polars as pl

from exmachina.reproduce.cast import shown
from exmachina.reproduce.data import COORDINATES, QUANTITIES
from exmachina.reproduce.experiment import Experiment, TableSpec
from exmachina.reproduce.measuring import Measurer
from exmachina.reproduce.outcome import TableOf
from exmachina.reproduce.running import Ran

__all__ = ["models_table", "summary_table"]

MOST_POINTS = 20
"""Of a grid, in a table for people; the Parquet files have them all."""
HEADS = {"rate_mbps": "link rate (Mbit/s)", "senders": "senders", "min_rtt_ms": "RTT (ms)"}


def summary_table(experiment: Experiment, ran: Ran) -> TableOf | None:
    """By case, contender and point of the grid: medians and means of the experiment's quantities."""
    rows = []
    for case, data in ran.cases.items():
        measurer = Measurer({"main": data})
        for contender in data.contenders:
            points = data.points(contender)
            varying = [name for name in COORDINATES if len({point.at[name] for point in points}) > 1]
            for point in points[:: math.ceil(len(points) / MOST_POINTS)]:
                at = {name: [point.at[name]] * 2 for name in varying}
                row: dict[str, object] = {"case": experiment.cases[case].title or case, "scheme": shown(contender)}
                row.update({HEADS[name]: round(point.at[name], 3) for name in varying})
                for quantity in experiment.columns:
                    row.update(_cells(measurer, quantity, contender, at))
                rows.append({**row, "runs": point.flows["run"].n_unique()})
    if not rows:
        return None
    frame = pl.DataFrame(rows, infer_schema_length=None)
    if frame["case"].n_unique() == 1:
        frame = frame.drop("case")
    return TableOf(f"{experiment.id}-summary", "What each got", frame)


def _cells(measurer: Measurer, quantity: str, contender: str, at: dict[str, list[float]]) -> dict[str, float | None]:
    """Objectives follow from means; everything else has its median with an interval, and its mean."""
    name = QUANTITIES[quantity]
    mean = measurer.measure({"mean": quantity, "of": contender, "at": at})
    cells = {name if quantity.startswith("objective") else f"mean {name}": mean.value}
    if quantity.startswith("objective"):
        cells |= {"from": mean.low, "to": mean.high}  # type: ignore[dict-item]
    else:
        median = measurer.measure({"median": quantity, "of": contender, "at": at})
        cells |= {f"median {name}": median.value}
    return {head: None if value is None else float(f"{value:.4g}") for head, value in cells.items()}


def models_table(spec: TableSpec) -> TableOf:
    """What algorithms were designed for, as the models say that come with the program."""
    rows = []
    for name in spec.models:
        file = resources.files("exmachina").joinpath("models", f"{name}.toml")
        if not file.is_file():
            continue
        model = tomllib.loads(file.read_text(encoding="utf-8"))
        link, path, load = model.get("link", {}), model.get("path", {}), model.get("workload", {})
        rows.append(
            {
                "algorithm": shown(name),
                "model": name,
                "link rate (Mbit/s)": _words(link.get("rate_mbps", "")),
                "RTT (ms)": _words(path.get("rtt_ms", "")),
                "senders": _words(model["senders"].get("count", "") if isinstance(model.get("senders"), dict) else ""),
                "on": _words(load.get("on", "")),
                "off": _words(load.get("off", "")),
                "buffer": _words(link.get("buffer", "infinite")),
                "objective": _words(model.get("objective", "")),
            }
        )
    return TableOf(spec.name, spec.title, pl.DataFrame(rows, infer_schema_length=None))


def _words(value: object) -> str:
    """A quantity of a model in words: "10–20", "log-uniform 10–100", "5 seconds"."""
    if not isinstance(value, dict):
        return f"{value:g}" if isinstance(value, int | float) else str(value)
    parts = []
    for key, item in value.items():
        if key in ("uniform", "log_uniform", "grid", "log_grid") and isinstance(item, list):
            kind = {"uniform": "", "log_uniform": " (log-uniform)"}.get(key, " (grid)")
            parts.append(f"{item[0]:g}–{item[1]:g}{kind}")
        elif key == "list" and isinstance(item, list):
            parts.append(", ".join(f"{one:g}" for one in item))
        elif key in ("seconds", "bytes", "bdp", "packets", "fixed_seconds"):
            parts.append(f"{_words(item)} {key.replace('_', ' ')}".replace("bdp", "BDP"))
        elif isinstance(item, int | float | str):
            parts.append(f"{key} = {item}")
        else:
            parts.append(json.dumps(value))
    return ", ".join(parts)
