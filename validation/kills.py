"""Kill a design with `kill -9` at 20 random moments, resume it each time, and compare with an undisturbed run.

Prints one line a kill, and fails unless the final tables are the same bytes.
"""

from __future__ import annotations

import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

STEPS = 150
KILLS = 20


def design(output: Path, *more: str) -> list[str]:
    """Return the command for a design of the demo model."""
    command = [sys.executable, "-m", "exmachina", "design", "demo", "--output", str(output)]
    return [*command, "--rounds", str(STEPS), "--quiet", *more]


def main() -> None:
    """Run it."""
    moments = random.Random(2013)
    with tempfile.TemporaryDirectory() as folder:
        undisturbed, disturbed = Path(folder, "undisturbed.dna"), Path(folder, "disturbed.dna")
        began = time.monotonic()
        subprocess.run(design(undisturbed), check=True)
        whole = time.monotonic() - began
        kills = 0
        while kills < KILLS:
            resume = ["--resume"] if Path(f"{disturbed}.checkpoint").exists() else []
            process = subprocess.Popen(design(disturbed, *resume))
            wait = moments.uniform(0.0, 2.5 * whole / KILLS)
            time.sleep(wait)
            if process.poll() is not None:
                break
            process.kill()
            process.wait()
            kills += 1
            print(f"kill {kills:2} after {wait:.2f} s", flush=True)
        if not disturbed.exists():
            subprocess.run(design(disturbed, "--resume"), check=True)
        same = undisturbed.read_bytes() == disturbed.read_bytes()
        print(f"{kills} kills, {STEPS} steps: the tables are {'the same bytes' if same else 'DIFFERENT'}")
        sys.exit(0 if same and kills == KILLS else 1)


if __name__ == "__main__":
    main()
