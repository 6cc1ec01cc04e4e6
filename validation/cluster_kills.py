"""A design on a cluster whose workers are killed all the while, and whose client is killed five times: the same bytes?

A Dask scheduler and two workers run beside this script, which kills a random worker with `kill -9` whenever some more
units of work have come back, at least thirty times, and five times the design itself, which is then resumed. (By units
and not by the clock, because new workers take their time where a machine does other things, too.) Writes
docs/results/cluster-kills.txt, and fails unless the table is that of an undisturbed design in one process.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from distributed import LocalCluster

RESULT = Path(__file__).parents[1] / "docs" / "results" / "cluster-kills.txt"
MODEL = """\
[link]
rate_mbps = 100
[path]
rtt_ms = 40
[senders]
count = { list = [1, 2] }
[workload]
on = { seconds = 1 }
off = { seconds = 1 }
[design]
duration_s = 400
"""
STEPS = 60
WORKERS = 2
KILL_EVERY_UNITS = (2, 6)
LEAST_KILLS = 30
CLIENT_KILLS = 5


def design(model: Path, output: Path, *more: str) -> list[str]:
    """Return the command for a design."""
    command = [sys.executable, "-m", "exmachina", "design", str(model), "--output", str(output)]
    return [*command, "--rounds", str(STEPS), "--quiet", *more]


def units_in(log: Path) -> list[str]:
    """Return the lines of units that came back."""
    lines = log.read_text().splitlines() if log.exists() else []
    return [line for line in lines if " unit " in line and line.endswith(" s")]


class Harm:
    """Kills workers now and then, and at some steps the client."""

    def __init__(self, cluster: LocalCluster, checkpoint: Path, log: Path) -> None:
        self.cluster, self.checkpoint, self.log = cluster, checkpoint, log
        self.chance = random.Random(2013)
        self.kills = self.client_kills = 0
        self.kill_at = 1

    def worker(self) -> None:
        """Kills a random worker, if enough units have come back."""
        done = len(units_in(self.log))
        if done < self.kill_at:
            return
        self.kill_at = done + self.chance.randint(*KILL_EVERY_UNITS)
        alive = [nanny.pid for nanny in self.cluster.workers.values() if nanny.pid is not None]
        if alive:
            os.kill(self.chance.choice(alive), signal.SIGKILL)
            self.kills += 1

    def client(self, process: subprocess.Popen[bytes], changes: int) -> bool:
        """Kills the client once it has done some steps more; whether it did."""
        if self.client_kills == CLIENT_KILLS or changes < STEPS // (CLIENT_KILLS + 2):
            return False
        process.kill()
        process.wait()
        self.client_kills += 1
        return True

    def while_it_runs(self, process: subprocess.Popen[bytes]) -> bool:
        """Whether the design got to its end."""
        changes, last = 0, self._written()
        while process.poll() is None:
            time.sleep(0.05)
            # As whoever runs a cluster does: Dask does not start a worker again that dies while it starts.
            self.cluster.scale(WORKERS)
            self.worker()
            now = self._written()
            changes, last = changes + (now != last), now
            if self.client(process, changes):
                return False
        if process.returncode:
            sys.exit(f"the design ended with {process.returncode}")
        return True

    def _written(self) -> int:
        return self.checkpoint.stat().st_mtime_ns if self.checkpoint.exists() else 0


def main() -> None:
    """Run it."""
    with tempfile.TemporaryDirectory() as folder:
        model, undisturbed, disturbed = (
            Path(folder, name) for name in ("fast.toml", "undisturbed.dna", "disturbed.dna")
        )
        model.write_text(MODEL)
        subprocess.run(design(model, undisturbed), check=True)
        log = Path(folder, "log")
        began = time.monotonic()
        with LocalCluster(
            n_workers=WORKERS, threads_per_worker=1, dashboard_address="127.0.0.1:0", silence_logs=50
        ) as cluster:
            harm = Harm(cluster, Path(f"{disturbed}.checkpoint"), log)
            elsewhere = ["--cluster", cluster.scheduler_address, "--worker-log", str(log)]
            done = False
            while not done:
                resume = ["--resume"] if harm.checkpoint.exists() else []
                done = harm.while_it_runs(subprocess.Popen(design(model, disturbed, *elsewhere, *resume)))
        seconds, units = time.monotonic() - began, units_in(log)
        same = undisturbed.read_bytes() == disturbed.read_bytes()
        said = (
            f"{STEPS} steps, {WORKERS} workers, {seconds:.0f} s: {harm.kills} workers killed, "
            f"{harm.client_kills} clients killed and resumed.\n"
            f"{len(units)} units came back, from {len({line.split()[2] for line in units})} processes.\n"
            f"The table is {'the same bytes as' if same else 'DIFFERENT from'} that of one process.\n"
        )
        print(said, end="")
        if not same or harm.kills < LEAST_KILLS or harm.client_kills < CLIENT_KILLS:
            sys.exit("failed")
        RESULT.write_text(f"python validation/cluster_kills.py\n\n{said}")


if __name__ == "__main__":
    main()
