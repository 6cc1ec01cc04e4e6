"""Columns of the core as data frames, whichever thread makes them."""

import subprocess
import sys

LATER = """
import exmachina.frames, numpy, polars

def imported(proxy):
    raise SystemExit("NumPy is imported by whoever has the first array")

polars._dependencies._LazyModule._import = imported
polars.Series(numpy.zeros(3))
"""


def test_no_thread_is_the_first_to_have_an_array() -> None:
    """Two runs of `exmachina testbed --at-once 2` that ended together had polars import NumPy in two threads."""
    done = subprocess.run([sys.executable, "-c", LATER], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
