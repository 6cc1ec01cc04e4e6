"""Knife edges of a table: splits of averages that stand where a pace of the same table lets these averages settle.

A flow that is paced every 0.3 ms has ACKs every 0.3 ms. A split of `ack_ewma` there decides by the last bit of a clock
which rule holds. Designs of ours keep clear of that (`crates/design/src/search/clearance.rs`); other tables need not.
"""

import numpy as np
import polars as pl

from exmachina import _core
from exmachina.schemes import Table

__all__ = ["KNIFE", "by_split", "knife_edges"]

KNIFE = _core.NEAREST_EDGE
"""A split that is no nearer to a pace than this share of it is clear."""
AVERAGES = ("send_ewma", "ack_ewma", "slow_ack_ewma")
"""Signals that are averages of times between packets."""
COLUMNS = {
    "signal": pl.String,
    "edge_ms": pl.Float64,
    "pace_ms": pl.Float64,
    "rule": pl.Int64,
    "apart": pl.Float64,
    "own": pl.Boolean,
}


def knife_edges(table: Table, nearest: float = KNIFE) -> pl.DataFrame:
    """Splits within this share of a pace.

    Returns:
        One row per split and rule whose pace is near it, the nearest first: signal, edge_ms, pace_ms, rule, apart
        (|edge / pace - 1|) and own: whether the split is an edge of this rule's own box, so that a flow that it
        paces stands on the edge for as long as it lasts.
    """
    rules, rows = table.rules, []
    paces = np.array([rule.action.intersend_ms for rule in rules])
    for signal in AVERAGES:
        axis = _core.SIGNALS.index(signal)
        lowers, uppers = (np.array([box[axis] for box in boxes]) for boxes in _bounds(table))
        for edge in np.unique(lowers[lowers > 0]):
            with np.errstate(divide="ignore"):
                apart = np.abs(edge / paces - 1)
            for rule in np.flatnonzero(apart < nearest):
                own = bool(edge in (lowers[rule], uppers[rule]))
                rows.append((signal, float(edge), float(paces[rule]), int(rule), float(apart[rule]), own))
    return pl.DataFrame(rows, schema=COLUMNS, orient="row").sort("apart", "signal", "edge_ms", "rule")


def by_split(edges: pl.DataFrame) -> pl.DataFrame:
    """Knife edges with one row for each split, the nearest first: the nearest pace, and all rules that have one near.

    Args:
        edges: What `knife_edges` gives, with other columns before it if there are any.
    """
    before = [name for name in edges.columns if name not in COLUMNS]
    return edges.group_by(*before, "signal", "edge_ms", maintain_order=True).agg(
        pl.first("pace_ms", "apart"), rules=pl.col("rule"), own=pl.col("own").any()
    )


def _bounds(table: Table) -> tuple[list[list[float]], list[list[float]]]:
    return [rule.lower for rule in table.rules], [rule.upper for rule in table.rules]
