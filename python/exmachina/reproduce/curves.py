"""Pictures over one thing that varies: sweeps (Tao'14, figures 2-4; Remy'13, figure 11), shares by RTT (figure 10)."""

import altair as alt
import numpy as np

from exmachina.pictures.axes import Plane, Side, span
from exmachina.pictures.theme import layered
from exmachina.reproduce.cast import colours_of, shown
from exmachina.reproduce.data import QUANTITIES, CaseData, Floats, Point
from exmachina.reproduce.experiment import Experiment, FigureSpec
from exmachina.reproduce.measuring import Measurer, omniscient_mbps
from exmachina.reproduce.panels import INTERVAL, PANEL, Curve, bands, curve_layers, grid, plane_of
from exmachina.reproduce.running import Ran

__all__ = ["by_sender", "cdf", "locus", "sweep"]

X_LABELS = {"rate_mbps": "link rate (Mbit/s)", "senders": "number of senders", "min_rtt_ms": "RTT without a queue (ms)"}
BLACK = "#1b2430"
OURS = "#0f6fde"
ALONE = 600, 380
"""The size of the only panel, pixels."""


def sweep(experiment: Experiment, figure: FigureSpec, ran: Ran) -> alt.ConcatChart | None:
    """A quantity over link rate, senders or RTT, with the ranges that algorithms were designed for."""
    cases = [(spec, case) for spec in figure.panels for case in spec.cases or ran.cases if case in ran.cases]
    curves = {case: _curves(ran.cases[case], figure) for _, case in cases}
    names = {curve.name: curve.colour for own in curves.values() for curve in own}
    size = ALONE if len(cases) == 1 else PANEL
    panels = []
    for spec, case in cases:
        plane = plane_of(curves[case], log=figure.log, y_range=figure.y_range, size=size)
        titles = figure.x_label or X_LABELS[figure.x], figure.y_label or QUANTITIES[figure.quantity]
        layers = [
            *bands(plane, figure, colours_of(ran.cases[case].contenders)),
            *curve_layers(plane, curves[case], titles, names=names),
        ]
        title = spec.title or ("" if figure.title else experiment.cases[case].title)
        panels.append(layered(layers, size, title))
    return grid(experiment, figure, panels, words=INTERVAL)


def _curves(data: CaseData, figure: FigureSpec) -> list[Curve]:
    colours = colours_of(data.contenders)
    curves = [_curve(data, label, figure, colours[label]) for label in data.contenders if label != "omniscient"]
    return [_reference(data, figure), *curves] if figure.quantity.startswith("objective") else curves


def _curve(data: CaseData, label: str, figure: FigureSpec, colour: str) -> Curve:
    """Ours are drawn through, published tables dashed."""
    points = sorted(data.points(label), key=lambda point: point.at[figure.x])
    value, low, high = _with_intervals(data, label, points, figure)
    x = np.array([point.at[figure.x] for point in points])
    return Curve(shown(label), colour, x, value, low, high, dashed=label.startswith("published"))


def _with_intervals(
    data: CaseData, label: str, points: list[Point], figure: FigureSpec
) -> tuple[Floats, Floats, Floats]:
    measurer, rows = Measurer({"main": data}), []
    for point in points:
        at = {figure.x: [point.at[figure.x]] * 2}
        found = measurer.measure({figure.statistic: figure.quantity, "of": label, "at": at})
        rows.append((found.value, *((found.value,) * 2 if found.low is None else (found.low, found.high))))
    value, low, high = np.array(rows, dtype=np.float64).T
    return value, low, high


def _reference(data: CaseData, figure: FigureSpec) -> Curve:
    """What senders get that know everything, on average."""
    points = sorted(data.points(None), key=lambda point: point.at[figure.x])
    x = np.array([point.at[figure.x] for point in points])
    if figure.quantity == "objective_link":
        shares = [omniscient_mbps(p.at["rate_mbps"], p.at["senders"]) / p.at["rate_mbps"] for p in points]
        return Curve("Omniscient", BLACK, x, np.log(shares))
    return Curve("Omniscient", BLACK, x, np.zeros(len(x)))


def by_sender(experiment: Experiment, figure: FigureSpec, ran: Ran) -> alt.ConcatChart | None:
    """Each sender's throughput over that of the one that has most, by RTT: how fair a scheme is to the far."""
    data = next(iter(ran.cases.values()))
    colours = colours_of(data.contenders)
    curves = [_shares(data, label, figure, colours[label]) for label in data.contenders]
    plane = plane_of(curves, y_range=figure.y_range, size=ALONE)
    names = {curve.name: curve.colour for curve in curves}
    layers = curve_layers(plane, curves, ("RTT (ms)", figure.y_label), names=names, bars=True)
    return grid(experiment, figure, [layered(layers, ALONE)], words=INTERVAL)


def _shares(data: CaseData, label: str, figure: FigureSpec, colour: str) -> Curve:
    measurer, flows = Measurer({"main": data}), data.points(label)[0].flows
    senders = flows.select("sender", "min_rtt_ms").unique().sort("min_rtt_ms")
    each = [(measurer.measure({"of": label, "sender": n, "mean": figure.quantity}).value, n) for n in senders["sender"]]
    first = max(each)[1]
    found = [
        measurer.measure(
            {"ratio": [{"of": label, "sender": sender}, {"of": label, "sender": first}], "mean": figure.quantity}
        )
        for sender in senders["sender"].to_list()
    ]
    value = np.array([one.value for one in found])
    low = np.array([one.value if one.low is None else one.low for one in found])
    high = np.array([one.value if one.high is None else one.high for one in found])
    x = senders["min_rtt_ms"].to_numpy()
    return Curve(shown(label), colour, x, value, low, high, dashed=label.startswith("published"))


def locus(experiment: Experiment, figure: FigureSpec, ran: Ran) -> alt.ConcatChart | None:
    """Throughput of the sender that crosses both links, over the slower one's rate (Tao'14, figure 6)."""
    data = next(iter(ran.cases.values()))
    colours, curves = colours_of(data.contenders), []
    for label in data.contenders:
        points = data.points(label, (0,))
        x = np.array([point.at["rate_mbps"] for point in points])
        y = np.array([float(np.nanmean(point.runs(figure.quantity))) for point in points])
        rates = np.unique(x)
        least, most, mean = (np.array([pick(y[x == rate]) for rate in rates]) for pick in (np.min, np.max, np.mean))
        dashed = label.startswith("published")
        curves.append(Curve(shown(label), colours[label], rates, mean, least, most, dashed=dashed))
    up = np.concatenate([side for curve in curves for side in (curve.low, curve.high) if side is not None])
    across = plane_of(curves, log=True, size=ALONE).x
    plane = Plane(across, span(up[up > 0], ALONE[1], log=True))
    titles = "rate of the slower link (Mbit/s)", "throughput of flow 1 (Mbit/s)"
    layers = curve_layers(plane, curves, titles, names={curve.name: curve.colour for curve in curves})
    words = "Areas reach from the least to the most over the rates of the faster link; lines are means over them."
    return grid(experiment, figure, [layered(layers, ALONE)], words=words)


def cdf(
    experiment: Experiment, figure: FigureSpec, ran: Ran
) -> tuple[alt.ConcatChart | None, dict[tuple[str, str], float]]:
    """Flow lengths as they are drawn, and the Pareto distribution that they are to have (Remy'13, figure 3)."""
    data = next(iter(ran.cases.values()))
    # Lengths are multiples of a packet: at those, shares of flows that are at most so long are exact.
    lengths, counts = np.unique(np.round(data.points(None)[0].flows["flow_bytes"].to_numpy()), return_counts=True)
    share = np.cumsum(counts) / counts.sum()
    x = np.geomspace(100, 1e7, 400)
    pareto = "Pareto(x + 40), Xm = 147, alpha = 0.5"
    names = {"simulated flows": OURS, pareto: BLACK}
    plane = Plane(Side(100.0, 1e7, ALONE[0], log=True), Side(0.0, 1.0, ALONE[1]))
    titles = "flow length (bytes)", "cumulative distribution"
    # A staircase: the share lasts until the next length.
    ours = Curve("simulated flows", OURS, np.repeat(lengths, 2)[1:], np.repeat(share, 2)[:-1])
    theirs = Curve(pareto, BLACK, x, _pareto(x), dashed=True)
    apart = float(np.max(np.abs(share - _pareto(lengths))))
    layers = curve_layers(plane, [ours, theirs], titles, names=names, marks=False)
    return grid(experiment, figure, [layered(layers, ALONE)]), {("apart", ""): apart}


def _pareto(x: Floats) -> Floats:
    """The share of flows of at most x bytes: x + 40 is Pareto with Xm = 147, alpha = 0.5."""
    return 1 - np.sqrt(147 / np.maximum(x + 40, 147))
