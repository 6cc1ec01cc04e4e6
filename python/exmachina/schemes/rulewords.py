"""Rules and numbers in words."""

from collections.abc import Mapping
from typing import Any

from exmachina import _core

__all__ = ["action_words", "box_words", "digits", "percent", "signed", "size_words"]


def action_words(rule: Mapping[str, Any]) -> str:
    """What a rule does, such as `w → 0.5 w + 3, every ≥ 1.2 ms`.

    Args:
        rule: multiple, increment_packets, intersend_ms.
    """
    multiple, increment = rule["multiple"], rule["increment_packets"]
    product = "" if multiple == 0 else "w" if multiple == 1 else f"{multiple:.4g} w"
    if increment == 0:
        window = product or "0"
    elif not product:
        window = f"{increment}"
    else:
        window = f"{product} {'+' if increment > 0 else '−'} {abs(increment)}"
    return f"w → {window}, every ≥ {rule['intersend_ms']:.3g} ms"


def box_words(rule: Mapping[str, Any], domain: Mapping[str, tuple[float, float]]) -> str:
    """When a rule is used, such as `1.02 ≤ rtt_ratio < 1.3`; `always` where its box is the whole domain.

    Args:
        rule: For each signal of the table, `SIGNAL_from` and `SIGNAL_to`.
        domain: For each signal of the table, the ends of its domain.
    """
    words = []
    for signal in _core.SIGNALS:
        if signal not in domain:
            continue
        lo, hi = rule[f"{signal}_from"], rule[f"{signal}_to"]
        low, high = lo > domain[signal][0], hi < domain[signal][1]
        if low and high:
            words.append(f"{lo:.4g} ≤ {signal} < {hi:.4g}")
        elif low:
            words.append(f"{signal} ≥ {lo:.4g}")
        elif high:
            words.append(f"{signal} < {hi:.4g}")
    return ", ".join(words) or "always"


def digits(value: float, count: int) -> str:
    """A number with so many digits, or with all before the point where these are more: 310, not 3.1e+02."""
    return f"{value:.{count}g}" if abs(value) < 10**count - 0.5 else f"{value:.0f}"


def percent(share: float) -> str:
    """A share with two digits, and whole ones from 99.5 % on."""
    return f"{digits(100 * share, 2)} %"


def size_words(rules: int, *, law: bool) -> str:
    """How large a table is: how many rules, or that it is a law, of which the one rule is how it begins."""
    return "a law" if law else f"{rules} rule{'s' * (rules != 1)}"


def signed(value: float | None, digits: int = 3, *, plus: bool = False) -> str:
    """A number with a minus sign that can be seen; a dash for none."""
    if value is None:
        return "–"
    return f"{value:{'+' if plus else ''}.{digits}f}".replace("-", "−")
