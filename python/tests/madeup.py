"""Made-up outcomes of experiments, hostile text included, for tests of what shows them."""

from pathlib import Path
from typing import Any

import altair as alt
import polars as pl

from exmachina.pictures.render import save, spec_of
from exmachina.reproduce.outcome import Outcome, Picture, TableOf
from exmachina.reproduce.verdicts import Claim

HOSTILE = (
    "<img src=x onerror=\"console.error('hostile')\"></script><script>console.error('hostile')</script> & |*_`[x](y)"
)


def claim(name: str, paper: float, ours: float | None, **more: Any) -> Claim:
    """A claim of a number that is read to 5 %, with an interval of 10 % around ours, if nothing else is said."""
    low, high = (None, None) if ours is None else (0.9 * ours, 1.1 * ours)
    usual = {"text": f"Something about {name}", "source": "Remy'13, table 1", "kind": "number", "unit": "x"}
    reading = 0.05 * abs(paper) if more.get("kind", "number") == "number" else 0.0
    return Claim(
        **{"id": name, "paper": paper, "ours": ours, "low": low, "high": high, "reading": reading, **usual, **more}
    )


def picture(folder: Path, name: str, *, chart: bool = True) -> Picture:
    """Three lines, one below the other."""
    lines = pl.DataFrame({
        "name": [f"{scheme} {HOSTILE}"[:60] for scheme in ("cubic", "vegas", "newreno") for _ in range(3)],
        "x": [1, 2, 3] * 3,
        "y": [4, 6, 5, 3, 5, 4, 2, 4, 3],
    })  # fmt: skip
    drawn = alt.Chart(lines, title=HOSTILE).mark_line().encode(x="x:Q", y="y:Q", color="name:N")
    spec = spec_of(drawn.properties(width=900, height=300))
    png, svg = (save(spec, folder / f"{name}{suffix}") for suffix in (".png", ".svg"))
    return Picture(name, f"A line: {HOSTILE}", png, svg, spec if chart else None)


def table(folder: Path, name: str, title: str, rows: pl.DataFrame) -> TableOf:
    """A table with its file."""
    rows.write_csv(folder / f"{name}.csv")
    return TableOf(name, title, rows, folder / f"{name}.csv")


def outcomes(folder: Path) -> list[Outcome]:
    """Experiments of every kind: all verdicts, none measured, no claims, no chart, long and wide tables."""
    wide = pl.DataFrame(
        {"scheme": ["a", "b"], **{f"a long name of column {i} (Mbit/s)": [float(i), 2.5] for i in range(9)}}
    )
    long = pl.DataFrame({
        "scheme": [f"scheme {i}" for i in range(20)],
        "delay (ms)": [None if i == 7 else float(-i if i % 2 else i) for i in range(20)],
        "text": [HOSTILE if i == 3 else f"some longer text about the scheme in row {i}" for i in range(20)],
    })  # fmt: skip
    claims = {
        "fig4": [
            claim("gain-cubic", 1.7, 1.75, text="Twice the throughput of Cubic", tables="published"),
            claim("gain-vegas", 3.1, 1.2, kind="at-least", note=HOSTILE),
            claim("delay-cubic", 9.4, 1344.4, unit="ms"),
        ],
        "fig5": [claim("no-trace", 2.0, None, note="no trace was given", tables="")],
        "tao-fig1": [
            claim("nothing-lost", 0.0, 0.25, unit="Mbit/s", better="higher"),
            claim("order", 1, 4.0, kind="order"),
        ],
        "own": [],
    }
    papers = ["Remy'13", "Remy'13", "Tao'14", "beyond"]
    made = []
    for (name, own), paper in zip(claims.items(), papers, strict=True):
        long.write_parquet(folder / f"{name}.parquet")
        made.append(
            Outcome(
                name,
                paper,
                f"Experiment {name} {HOSTILE}",
                f"What it asks: {HOSTILE}",
                {"runs": "16 of 100 s", "schemes": HOSTILE},
                "quick",
                12.3,
                [picture(folder, name, chart=name != "fig5")],
                [table(folder, f"{name}-long", f"Long {HOSTILE}", long), table(folder, f"{name}-wide", "Wide", wide)],
                own,
                [f"Ran on the synthetic link {HOSTILE}"] if name == "fig5" else [],
                [folder / f"{name}.parquet"],
            )
        )
    return made
