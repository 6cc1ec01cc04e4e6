"""What claims come to: small expressions over results, with bootstrap confidence intervals.

An expression is a table. It has one statistic, which is a quantity's name (`data.QUANTITIES`):

- `median`: of all senders of all runs, as Remy'13 (§5.2) has it;
- `mean`: over runs, of the mean of the senders;

at several points of a grid the mean of what it is at each;

and what it is of:

- `of`: one operand;
- `ratio` or `difference` of two operands;
- `wins`: at what share of the points the first operand is above all others;
- `evenness`: what the sender with the least has of what the one with the most has;
- `frontier`: how many of the operands are on the efficient frontier of throughput and delay (medians of everybody).

An operand is a scheme's name, or a table with `of`, `case`, `sender` (number or list) and `at` (a range of a grid's
points, `{ rate_mbps = [1, 10] }`), which may also stand in the expression, for all. An operand may be an expression
itself. In the place of a statistic, `number` is one that a picture gives by this name, such as one read off a recorded
run.
"""

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from exmachina.errors import InputError
from exmachina.reproduce.data import QUANTITIES, CaseData, Floats, Point
from exmachina.stats import Indices, bootstrap_interval

__all__ = ["Measured", "Measurer", "operands"]

STATISTICS = ("median", "mean")
FORMS = ("of", "ratio", "difference", "wins", "frontier", "evenness")
PLACES = ("case", "sender", "at")
SEED = 20130812
"""Of the bootstrap; any number will do, but always the same."""


class Measured:
    """A number, and its 95 % bootstrap interval over runs (BCa), which is worked out when somebody asks for it.

    Attributes:
        value: The number.
    """

    def __init__(self, value: float, interval: Callable[[], tuple[float, float] | None]) -> None:
        self.value = value
        self._interval = interval

    @cached_property
    def interval(self) -> tuple[float, float] | None:
        """Its ends; none for a single run."""
        return self._interval()

    @property
    def low(self) -> float | None:
        """The interval's lower end."""
        return None if self.interval is None else self.interval[0]

    @property
    def high(self) -> float | None:
        """The interval's upper end."""
        return None if self.interval is None else self.interval[1]


@dataclass
class Measurer:
    """Measures expressions on the results of cases.

    Attributes:
        cases: By name.
        labels: What results call a scheme: its published counterpart, for one.
        numbers: What pictures found out, by name and contender: `number`.
        excluded: Contenders that a frontier does not count: those of the other kind of table.
    """

    cases: Mapping[str, CaseData]
    labels: Callable[[str], str] = field(default=lambda scheme: scheme)
    numbers: Mapping[tuple[str, str], float] = field(default_factory=dict)
    excluded: frozenset[str] = frozenset()
    drawn: dict[int, Indices] = field(default_factory=dict, init=False)
    """Which runs are drawn, by their number, shape (draws, runs)."""

    def measure(self, expression: Mapping[str, Any]) -> Measured:
        """An expression's value and interval.

        Raises:
            KeyError: If a contender has no results, or none where they are asked for.
            InputError: If it is no expression.
        """
        self.drawn = {}
        value = float(self._value(expression, {})[0])
        counts = list(self.drawn)

        def resampled(drawn: Sequence[Indices]) -> Floats:
            self.drawn = dict(zip(counts, drawn, strict=True))
            return self._value(expression, {})

        return Measured(value, lambda: bootstrap_interval(resampled, counts, seed=SEED))

    def _value(self, expression: Mapping[str, Any], inherited: Mapping[str, Any]) -> Floats:
        """Its value in each draw of runs: shape (draws,)."""
        own = {**inherited, **{k: v for k, v in expression.items() if k in STATISTICS or k in PLACES}}
        if any(statistic in expression for statistic in STATISTICS):
            own = {k: v for k, v in own.items() if k not in STATISTICS or k in expression}
        forms = [form for form in FORMS if form in expression]
        unknown = [key for key in expression if key not in (*STATISTICS, *FORMS, *PLACES, "number")]
        if unknown or len(forms) > 1:
            raise InputError(f"measure: expected one of {', '.join(FORMS)} in {dict(expression)}")
        if "number" in expression:
            return self._number(expression["number"], expression.get("of"))
        if not forms or forms[0] == "of":
            return self._mean_of_points(self._curve(expression.get("of"), own))
        operands = expression[forms[0]]
        if forms[0] == "wins":
            first, *others = (self._curve_of(operand, own) for operand in operands)
            return np.asarray(np.mean(first > np.max(others, axis=0), axis=0), dtype=np.float64)
        if forms[0] == "frontier":
            return self._frontier(operands, own)
        if forms[0] == "evenness":
            return self._evenness(operands, own)
        left, right = (self._operand(operand, own) for operand in operands)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(left / right if forms[0] == "ratio" else left - right)

    def _operand(self, operand: str | Mapping[str, Any], inherited: Mapping[str, Any]) -> Floats:
        return self._value({"of": operand} if isinstance(operand, str) else operand, inherited)

    def _curve_of(self, operand: str | Mapping[str, Any], inherited: Mapping[str, Any]) -> Floats:
        table = {"of": operand} if isinstance(operand, str) else operand
        own = {**inherited, **{k: v for k, v in table.items() if k in PLACES or k in STATISTICS}}
        return self._curve(table.get("of"), own)

    def _mean_of_points(self, curve: Floats) -> Floats:
        # One by one: NumPy's own order of adding depends on how many draws there are, and with it the last digit.
        return np.asarray(sum(curve) / len(curve))

    def _curve(self, scheme: str | None, own: Mapping[str, Any]) -> Floats:
        """The statistic at each point: shape (points, draws)."""
        statistic = next((name for name in STATISTICS if name in own), None)
        if statistic is None or own[statistic] not in QUANTITIES:
            raise InputError(f"measure: expected one of {', '.join(STATISTICS)} with one of {', '.join(QUANTITIES)}")
        points = self._points(scheme, own)
        return np.stack([self._at(point, statistic, own[statistic]) for point in points])

    def _points(self, scheme: str | None, own: Mapping[str, Any]) -> list[Point]:
        case = own.get("case", next(iter(self.cases), ""))
        if case not in self.cases:
            raise KeyError(case)
        sender = own.get("sender")
        senders = None if sender is None else tuple(sender if isinstance(sender, list) else [sender])
        points = self.cases[case].points(None if scheme is None else self.labels(scheme), senders)
        for name, (low, high) in own.get("at", {}).items():
            slack = 1e-6 * abs(high)
            points = [point for point in points if low - slack <= point.at[name] <= high + slack]
        if not points:
            raise KeyError(f"a point of the grid at {own.get('at')}")
        return points

    def _at(self, point: Point, statistic: str, quantity: str) -> Floats:
        if quantity.startswith("objective"):
            return objective(point, quantity, self._resampled)
        values = point.senders(quantity) if statistic == "median" else point.runs(quantity)
        drawn = self._resampled(values)
        drawn = drawn.reshape(len(drawn), -1)
        return _known(np.nanmedian if statistic == "median" else np.nanmean, drawn)

    def _resampled(self, values: Floats) -> Floats:
        """The runs that are drawn, the same for all values of so many runs, which are paired; all if none are."""
        count = len(values)
        return np.asarray(values[self.drawn.setdefault(count, np.arange(count)[None, :])])

    def _number(self, name: str, scheme: str | None) -> Floats:
        label = "" if scheme is None else self.labels(scheme)
        if (name, label) not in self.numbers:
            raise KeyError(label)
        return np.array([self.numbers[name, label]])

    def _evenness(self, scheme: str, own: Mapping[str, Any]) -> Floats:
        case = self._points(scheme, own)[0]
        senders = case.flows["sender"].unique().sort().to_list()
        each = np.stack([self._operand(scheme, {**own, "sender": sender}) for sender in senders])
        return np.asarray(each.min(axis=0) / each.max(axis=0))

    def _frontier(self, operands: list[str], own: Mapping[str, Any]) -> Floats:
        """How many of the operands no other contender beats in both medians."""
        case = own.get("case", next(iter(self.cases), ""))
        if case not in self.cases:
            raise KeyError(case)
        wanted = [self.labels(operand) for operand in operands]
        everybody = [name for name in self.cases[case].contenders if name not in self.excluded]
        for missing in set(wanted) - set(everybody):
            raise KeyError(missing)
        points = [self.cases[case].points(name)[0] for name in everybody]
        up = np.stack([self._at(point, "median", "counted_mbps") for point in points])
        delay = np.stack([self._at(point, "median", "counted_delay_ms") for point in points])
        better = (up[None] > up[:, None]) & (delay[None] <= delay[:, None])
        beaten = np.asarray(better).any(axis=1)
        inside = np.array([name in wanted for name in everybody])
        return np.asarray(np.sum(~np.asarray(beaten)[inside], axis=0), dtype=np.float64)


def _known(statistic: Callable[..., Floats], values: Floats) -> Floats:
    """A statistic of each row of what is known; NaN where nothing is, without complaint."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        return np.asarray(statistic(values, axis=1))


def objective(
    point: Point, quantity: str, resampled: Callable[[Floats], Floats] = lambda values: values[None]
) -> Floats:
    """Normalised throughput against delay, of means over senders and runs: a logarithm for each resample.

    `objective` is Tao'14's: ln(throughput / omniscient throughput) − ln(RTT / minimum RTT). `objective_link` divides by
    the link's rate instead, as its figure 2 does; `objective_share` is Remy'13's, over an equal share and to base 2.
    """

    def mean(name: str) -> Floats:
        return _known(np.nanmean, resampled(point.runs(name)))

    at = point.at
    if quantity == "objective_share":
        throughput, base = mean("normalised_throughput"), np.log(2)
    else:
        best = at["rate_mbps"] if quantity == "objective_link" else omniscient_mbps(at["rate_mbps"], at["senders"])
        throughput, base = mean("counted_mbps") / best, 1.0
    delay = mean("counted_rtt_ms") / at["min_rtt_ms"]
    with np.errstate(divide="ignore"):
        return np.asarray((np.log(throughput) - np.log(delay)) / base)


def omniscient_mbps(rate_mbps: float, senders: float) -> float:
    """What a sender gets on average while it is on, of a link that n share fairly, each on half of the time.

    The others that are on are binomial: the mean of 1 / (1 + others) is 2 (1 − 2^−n) / n.
    """
    return rate_mbps * 2 * (1 - 2**-senders) / senders


def operands(expression: Mapping[str, Any]) -> set[str]:
    """The schemes that an expression names."""
    found: set[str] = set()
    for form in FORMS:
        value = expression.get(form)
        for part in value if isinstance(value, list) else [value]:
            if isinstance(part, str):
                found.add(part)
            elif isinstance(part, Mapping):
                found |= operands(part)
    return found
