"""The same design of a table at 1, 2 and 5 threads: the same bytes, and how much faster two threads are.

Prints wall and CPU time of each; run it on a machine that does nothing else.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from of_rules import written

STEPS = 60


def main() -> None:
    """Run it."""
    tables: dict[int, bytes] = {}
    walls: dict[int, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        model = str(written("general-1", Path(folder)))
        for threads in (1, 2, 5, 1, 2):
            output = Path(folder, f"{threads}.dna")
            command = [sys.executable, "-m", "exmachina", "design", model, "--output", str(output)]
            before, began = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime, time.monotonic()
            arguments = ["--rounds", str(STEPS), "--threads", str(threads), "--quiet", "--force"]
            subprocess.run([*command, *arguments], check=True)
            wall = time.monotonic() - began
            cpu = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
            print(f"{threads} threads: {wall:6.2f} s, {cpu:6.2f} CPU-s", flush=True)
            walls[threads] = min(wall, walls.get(threads, wall))
            tables[threads] = output.read_bytes()
    same = len(set(tables.values())) == 1
    print(f"two threads are {walls[1] / walls[2]:.2f} times as fast as one")
    print(f"the tables are {'the same bytes' if same else 'DIFFERENT'}")
    sys.exit(0 if same else 1)


if __name__ == "__main__":
    main()
