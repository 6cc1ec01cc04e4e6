"""The chart of the rules of a table that are used most, with what they do."""

import altair as alt
import polars as pl

from exmachina.pictures.style import SENDERS
from exmachina.pictures.theme import layered
from exmachina.schemes import action_words

__all__ = ["rules_chart"]

WIDTH, ROW = 340, 27
MOST = 10


def rules_chart(usage: pl.DataFrame, *, width: int = WIDTH) -> alt.LayerChart:
    """Shares of all uses.

    Args:
        usage: Of an inspection: a row per rule, the most used first.
        width: Pixels.
    """
    rows = [
        {
            "rule": f"rule {rule['rule']}",
            "share": 100 * rule["share"],
            "words": f"{action_words(rule)} · {100 * rule['share']:.3g} %",
        }
        for rule in usage.head(MOST).iter_rows(named=True)
    ]
    y = alt.Y("rule:N", sort=None, title=None, axis=alt.Axis(domain=False, ticks=False))
    base = alt.Chart(pl.DataFrame(rows)).encode(y=y)
    layers = [
        base.mark_bar(color=SENDERS[0], opacity=0.25).encode(x=alt.X("share:Q", title="share of all uses (%)")),
        base.mark_text(align="left", dx=5).encode(x=alt.datum(0), text="words:N"),
    ]
    return layered(layers, (width, ROW * len(rows)))
