"""Pictures over one thing that varies: sweeps (Tao'14, figures 2-4; Remy'13, figure 11), shares by RTT (figure 10)."""

from collections.abc import Iterable

import numpy as np

from exmachina.reproduce.cast import colours_of, shown
from exmachina.reproduce.data import QUANTITIES, CaseData, Floats, Point
from exmachina.reproduce.experiment import Experiment, FigureSpec
from exmachina.reproduce.measuring import Measurer, omniscient_mbps
from exmachina.reproduce.plot import Axis, Band, Drawing, Line, Panel
from exmachina.reproduce.running import Ran

__all__ = ["by_sender", "cdf", "compare", "gains", "locus", "sweep"]

X_LABELS = {"rate_mbps": "link rate (Mbit/s)", "senders": "number of senders", "min_rtt_ms": "RTT without a queue (ms)"}
BLACK = "#1b2430"
INTERVAL = "Areas and bars are 95 % bootstrap intervals over runs."


def sweep(experiment: Experiment, figure: FigureSpec, ran: Ran) -> Drawing:
    """A quantity over link rate, senders or RTT, with the ranges that algorithms were designed for."""
    panels = []
    for spec in figure.panels:
        for case in spec.cases or list(ran.cases):
            if case not in ran.cases:
                continue
            data = ran.cases[case]
            colours = colours_of(data.contenders)
            lines = [_curve(data, label, figure, colours[label]) for label in data.contenders if label != "omniscient"]
            if figure.quantity.startswith("objective"):
                lines.insert(0, _reference(data, figure))
            x = Axis(figure.x_label or X_LABELS[figure.x], log=figure.log, limits=_ends(lines))
            limits = None if figure.y_range is None else (figure.y_range[0], figure.y_range[1])
            y = Axis(figure.y_label or QUANTITIES[figure.quantity], limits=limits)
            title = spec.title or ("" if figure.title else experiment.cases[case].title)
            panels.append(Panel(title, x, y, lines, bands=_ranges(figure, colours)))
    return Drawing(figure.name, figure.title or experiment.title, figure.caption, panels, footnote=INTERVAL)


def _ends(lines: list[Line]) -> tuple[float, float]:
    values = np.concatenate([line.x for line in lines])
    return float(values.min()), float(values.max())


def _curve(data: CaseData, label: str, figure: FigureSpec, colour: str) -> Line:
    """Ours are drawn through, published tables dashed."""
    points = sorted(data.points(label), key=lambda point: point.at[figure.x])
    value, low, high = _with_intervals(data, label, points, figure)
    x = np.array([point.at[figure.x] for point in points])
    return Line(shown(label), colour, x, value, low, high, mode="marked", dash=label.startswith("published"), size=3)


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


def _reference(data: CaseData, figure: FigureSpec) -> Line:
    """What senders get that know everything, on average."""
    points = sorted(data.points(None), key=lambda point: point.at[figure.x])
    x = np.array([point.at[figure.x] for point in points])
    if figure.quantity == "objective_link":
        shares = [omniscient_mbps(p.at["rate_mbps"], p.at["senders"]) / p.at["rate_mbps"] for p in points]
        return Line("Omniscient", BLACK, x, np.log(shares), width=2.2)
    return Line("Omniscient", BLACK, x, np.zeros(len(x)), width=2.2)


def _ranges(figure: FigureSpec, colours: dict[str, str]) -> list[Band]:
    return [
        Band(low, high, colours[scheme], shown(scheme))
        for scheme, (low, high) in figure.ranges.items()
        if scheme in colours
    ]


def by_sender(experiment: Experiment, figure: FigureSpec, ran: Ran) -> Drawing:
    """Each sender's throughput over that of the one that has most, by RTT: how fair a scheme is to the far."""
    data = next(iter(ran.cases.values()))
    colours, lines = colours_of(data.contenders), []
    measurer = Measurer({"main": data})
    for label in data.contenders:
        flows = data.points(label)[0].flows
        senders = flows.select("sender", "min_rtt_ms").unique().sort("min_rtt_ms")
        each = [
            (measurer.measure({"of": label, "sender": n, "mean": figure.quantity}).value, n) for n in senders["sender"]
        ]
        first = max(each)[1]
        found = []
        for sender in senders["sender"].to_list():
            share = {
                "ratio": [{"of": label, "sender": sender}, {"of": label, "sender": first}],
                "mean": figure.quantity,
            }
            found.append(measurer.measure(share))
        value = np.array([one.value for one in found])
        low = np.array([one.value if one.low is None else one.low for one in found])
        high = np.array([one.value if one.high is None else one.high for one in found])
        x = senders["min_rtt_ms"].to_numpy()
        dash = label.startswith("published")
        lines.append(Line(shown(label), colours[label], x, value, mode="line", dash=dash))
        lines.append(Line(shown(label), colours[label], x, value, low, high, mode="dots", legend=False))
    ticks = [(float(at), f"{at:g}") for at in lines[0].x]
    limits = None if figure.y_range is None else (figure.y_range[0], figure.y_range[1])
    panel = Panel("", Axis("RTT (ms)", ticks=ticks), Axis(figure.y_label, limits=limits), lines)
    return Drawing(figure.name, figure.title or experiment.title, figure.caption, [panel], footnote=INTERVAL)


def locus(experiment: Experiment, figure: FigureSpec, ran: Ran) -> Drawing:
    """Throughput of the sender that crosses both links, over the slower one's rate (Tao'14, figure 6)."""
    data = next(iter(ran.cases.values()))
    colours, lines = colours_of(data.contenders), []
    for label in data.contenders:
        points = data.points(label, (0,))
        x = np.array([point.at["rate_mbps"] for point in points])
        y = np.array([float(np.nanmean(point.runs(figure.quantity))) for point in points])
        rates = np.unique(x)
        least, most, mean = (np.array([pick(y[x == rate]) for rate in rates]) for pick in (np.min, np.max, np.mean))
        lines.append(Line(shown(label), colours[label], rates, mean, least, most, mode="area", legend=False))
        dash = label.startswith("published")
        lines.append(Line(shown(label), colours[label], rates, mean, mode="line", width=2.2, dash=dash))
    x_axis = Axis("rate of the slower link (Mbit/s)", log=True, limits=_ends(lines))
    panel = Panel("", x_axis, Axis("throughput of flow 1 (Mbit/s)", log=True, limits=_heights(lines)), lines)
    words = "Areas reach from the least to the most over the rates of the faster link; lines are means over them."
    return Drawing(figure.name, figure.title or experiment.title, figure.caption, [panel], footnote=words)


def _heights(lines: list[Line]) -> tuple[float, float]:
    values = np.concatenate([side for line in lines for side in (line.y, line.low, line.high) if side is not None])
    return 0.9 * float(values[values > 0].min()), 1.1 * float(values.max())


def cdf(experiment: Experiment, figure: FigureSpec, ran: Ran) -> tuple[Drawing, dict[tuple[str, str], float]]:
    """Flow lengths as they are drawn, and the Pareto distribution that they are to have (Remy'13, figure 3)."""
    data = next(iter(ran.cases.values()))
    # Lengths are multiples of a packet: at those, shares of flows that are at most so long are exact.
    lengths, counts = np.unique(np.round(data.points(None)[0].flows["flow_bytes"].to_numpy()), return_counts=True)
    share = np.cumsum(counts) / counts.sum()
    x = np.geomspace(100, 1e7, 400)
    ours = Line("simulated flows", "#0f6fde", lengths, share, mode="steps", width=2)
    pareto = Line("Pareto(x + 40), Xm = 147, alpha = 0.5", BLACK, x, _pareto(x), dash=True, width=1.3)
    limits, sides = (100.0, 1e7), (0.0, 1.0)
    x_axis, y_axis = Axis("flow length (bytes)", log=True, limits=limits), Axis("cumulative distribution", limits=sides)
    panel = Panel("", x_axis, y_axis, [ours, pareto])
    apart = float(np.max(np.abs(share - _pareto(lengths))))
    return Drawing(figure.name, figure.title or experiment.title, figure.caption, [panel]), {("apart", ""): apart}


def _pareto(x: Floats) -> Floats:
    """The share of flows of at most x bytes: x + 40 is Pareto with Xm = 147, alpha = 0.5."""
    return 1 - np.sqrt(147 / np.maximum(x + 40, 147))


def compare(experiment: Experiment, figure: FigureSpec, ran: Ran) -> Drawing:
    """A number per case and contender with its interval, beside the paper's."""
    panels = []
    for spec in figure.panels:
        cases = [case for case in spec.cases or list(ran.cases) if case in ran.cases]
        lines, row, ticks, theirs = [], 0, [], []
        for case in cases:
            data = ran.cases[case]
            groups = _parts(data)
            for label, contender, senders in groups:
                found = Measurer({"main": data}).measure(
                    {figure.statistic: figure.quantity, "of": contender, **({"sender": senders} if senders else {})}
                )
                colour = colours_of([label])[label]
                value = np.array([found.value])
                low, high = (value if end is None else np.array([end]) for end in (found.low, found.high))
                at = np.array([float(row)])
                lines.append(Line(shown(label), colour, at, value, low, high, mode="dots", legend=False, size=7))
                paper = figure.reference.get(case, {}).get(label.removeprefix("published "))
                if paper is not None:
                    theirs.append((row, paper))
                title = experiment.cases[case].title
                ticks.append((float(row), f"{shown(label)} – {title}" if title and len(cases) > 1 else shown(label)))
                row += 1
            row += 1
        if theirs:
            at, value = (np.array(side, dtype=np.float64) for side in zip(*theirs, strict=True))
            lines.append(Line("the paper's number", BLACK, at, value, mode="rings", size=9))
        label = figure.y_label or QUANTITIES[figure.quantity]
        panels.append(Panel(spec.title, Axis("", ticks=ticks), Axis(label), lines, sideways=True))
    return Drawing(figure.name, figure.title or experiment.title, figure.caption, panels, columns=1, footnote=INTERVAL)


def gains(experiment: Experiment, figure: FigureSpec, ran: Ran) -> Drawing:
    """What our scheme and its published counterpart have of what each other one has; the paper's number beside."""
    panels = [
        _gains(spec.title, case, figure, ran)
        for spec in figure.panels
        for case in spec.cases or ran.cases
        if case in ran.cases
    ]
    return Drawing(
        figure.name, figure.title or experiment.title, figure.caption, panels, footnote=INTERVAL, panel_inches=(5, 2.4)
    )


def _gains(title: str, case: str, figure: FigureSpec, ran: Ran) -> Panel:
    data = ran.cases[case]
    paper = figure.reference.get(case, {})
    mine = [label for label in data.contenders if label == figure.scheme or label.startswith("published")]
    ticks = [(float(row), shown(name)) for row, name in enumerate(paper)]
    colours, lines, measurer = colours_of(mine), [], Measurer({"main": data})
    for label in mine:
        pairs = [(name, label) if figure.inverse else (label, name) for name in paper]
        found = [measurer.measure({"ratio": list(pair), figure.statistic: figure.quantity}) for pair in pairs]
        value = np.array([one.value for one in found])
        low = np.array([one.value if one.low is None else one.low for one in found])
        high = np.array([one.value if one.high is None else one.high for one in found])
        rows = np.arange(len(paper), dtype=np.float64)
        lines.append(Line(shown(label), colours[label], rows, value, low, high, mode="dots", size=7))
    at, numbers = np.arange(len(paper), dtype=np.float64), np.array(list(paper.values()))
    lines.append(Line("the paper's number", BLACK, at, numbers, mode="rings", size=9))
    return Panel(title, Axis("", ticks=ticks), Axis(figure.y_label), lines, sideways=True, rules=[1.0])


def _parts(data: CaseData) -> Iterable[tuple[str, str, list[int]]]:
    """What is compared in a case: contenders, or the schemes of each mix; label, contender and senders."""
    rows = data.flows.select("contender", "scheme", "sender").unique(maintain_order=True)
    for (contender, scheme), group in rows.group_by("contender", "scheme", maintain_order=True):
        alone = rows.filter(rows["contender"] == contender)["scheme"].n_unique() == 1
        yield (
            (str(contender), str(contender), [])
            if alone
            else (str(scheme).removesuffix(".dna"), str(contender), group["sender"].to_list())
        )
