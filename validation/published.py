"""The authors' published tables, which are beside the project and no part of it."""

from pathlib import Path

__all__ = ["PUBLISHED", "TABLES"]

TABLES = Path(__file__).parents[2] / "shared" / "reference" / "remycc"
PUBLISHED = {
    "general-0.1": "RemyCC-2013-delta0.1",
    "general-1": "RemyCC-2013-delta1",
    "general-10": "RemyCC-2013-delta10",
    "tao-10x": "tao-10x",
    "tao-100x": "tao-100x",
    "tao-mux-10": "tao-mux-1-10",
    "tao-rtt-150": "tao-rtt-150",
    "tao-tcp-naive": "tao-tcp-naive",
    "tao-tcp-aware": "tao-tcp-aware",
}
"""The authors' tables, by the models that describe the same networks; so do those with `-robust` behind the name."""
