"""The chart of a law: what it does by the length of the queue."""

import altair as alt

from exmachina.pictures.style import SENDERS
from exmachina.pictures.theme import layered
from exmachina.schemes import Law, law_levels

__all__ = ["law_chart"]

HEIGHT, GAP = 200, 70
TITLES = {
    "growth": "growth of the window in an RTT (%)",
    "packets": "packets added in an RTT",
    "pace": "time between sends, of RTT / window",
    "most": "largest window, of what an RTT delivered",
}


def law_chart(law: Law, *, width: int) -> alt.HConcatChart:
    """A curve for each thing that it says, so wide together, pixels."""
    levels = law_levels(law).with_columns(growth=law_levels(law)["growth"] * 100)
    size = width // len(TITLES) - GAP, HEIGHT
    x = alt.X("queue:Q", title="queue, targets", axis=alt.Axis(values=levels["queue"].to_list(), format="~r"))
    curves = [
        alt.Chart(levels)
        .mark_line(color=SENDERS[0], point=alt.OverlayMarkDef(color=SENDERS[0]))
        .encode(x=x, y=alt.Y(f"{name}:Q", title=title))
        for name, title in TITLES.items()
    ]
    chart: alt.HConcatChart = alt.hconcat(*(layered([curve], size) for curve in curves))
    return chart
