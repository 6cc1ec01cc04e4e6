"""How what sturdy.md says is measured."""

import numpy as np
import polars as pl
import pytest
from conftest import script


def test_runs_are_compared_with_themselves() -> None:
    """Of means the jackknife's interval is that of the mean difference."""
    rng = np.random.default_rng(7)
    base, more = rng.normal(size=40), rng.normal(0.3, 0.1, size=40)
    frames = [pl.DataFrame({"run": np.arange(40), "value": values}) for values in (base + more, base)]
    for name in ("published", "sturdy_measured"):
        script(name)
    ours, theirs, difference, half = script("sturdy_flows").beside(*frames, lambda flows: float(flows["value"].mean()))
    assert (ours, theirs) == pytest.approx(((base + more).mean(), base.mean()))
    assert difference == pytest.approx(more.mean())
    assert half == pytest.approx(1.96 * more.std(ddof=1) / np.sqrt(40))
