"""Charts as files and for pages: whatever shows a chart shows the one specification that `spec_of` makes of it.

A chart is an Altair object, or the Vega-Lite specification of one.
"""

import io
import re
from functools import cache
from pathlib import Path
from typing import Any

import altair as alt
import vl_convert
from PIL import Image

from exmachina.files import check_output, write_atomically
from exmachina.pictures.theme import CONFIG

__all__ = ["SCALE", "SUFFIXES", "Chart", "Spec", "javascript", "render", "save", "spec_of"]

Spec = dict[str, Any]
Chart = alt.Chart | alt.LayerChart | alt.HConcatChart | alt.VConcatChart | alt.ConcatChart

SUFFIXES = (".svg", ".png", ".pdf", ".html")
NAMED = re.compile(r"(?<=[\"#])(clip|gradient_)\d+(?=[\")])")
SCALE = 2.0
"""Dots of a PNG file to a pixel of the chart."""


def spec_of(chart: Chart | Spec) -> Spec:
    """The Vega-Lite specification of a chart, its data and our look included. The same chart always gives the same."""
    if isinstance(chart, dict):
        return chart
    # All rows: what is drawn has been thinned where that does not show.
    with alt.data_transformers.enable("default", max_rows=None):
        spec: Spec = chart.to_dict()
    return {**spec, "config": CONFIG}


def render(chart: Chart | Spec, suffix: str) -> bytes:
    """A chart in the format of a suffix, one of `SUFFIXES`. The same chart always gives the same bytes."""
    spec = spec_of(chart)
    if suffix == ".png":
        return _small(vl_convert.vegalite_to_png(spec, scale=SCALE))
    if suffix == ".pdf":
        return vl_convert.vegalite_to_pdf(spec)
    if suffix == ".svg":
        return _renumbered(vl_convert.vegalite_to_svg(spec)).encode()
    return vl_convert.vegalite_to_html(spec, bundle=True).encode()


def _small(png: bytes) -> bytes:
    """The picture without transparency, in less than half of the bytes."""
    file = io.BytesIO()
    with Image.open(io.BytesIO(png)) as image:
        image.convert("RGB").save(file, "PNG", optimize=True)
    return file.getvalue()


def _renumbered(svg: str) -> str:
    """The drawing with its clips and gradients numbered from 0: Vega numbers on from those of the last one."""
    names: dict[str, str] = {}
    return NAMED.sub(lambda found: names.setdefault(found[0], f"{found[1]}{len(names)}"), svg)


def save(chart: Chart | Spec, path: Path) -> Path:
    """Writes a chart, atomically, in the format that the file's name ends in.

    Raises:
        InputError: If it ends in none of `SUFFIXES`.
    """
    path = check_output(path, suffixes=SUFFIXES)
    write_atomically(path, render(chart, path.suffix))
    return path


@cache
def javascript() -> str:
    """What draws charts in a browser: Vega, Vega-Lite and `vegaEmbed`, for a script element; about a megabyte."""
    return vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")
