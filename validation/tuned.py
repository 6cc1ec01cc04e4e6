"""Tunes a law for the Internet as it is: beside its rivals, on networks drawn as `internet.py`'s are, of another seed.

Usage: tuned.py LAW [--output FOLDER] [--generations N] [--rivals NAME ...] [--beside N] [--seed N] [--threads N]. LAW
is a name or a .dna file; rivals are the five of `internet.py` unless named; with --beside there are so many networks
more in each generation on which it is alone beside a flow of Cubic or BBRv3, for laws that share.

It is `exmachina tune` with scenarios that are drawn anew for each generation: ten of each kind, shorter than those that
laws are compared on, so that more of them are met. What was finished is kept in the folder: the same command goes on.
"""

import argparse
import os
import re
from dataclasses import replace
from pathlib import Path

from internet_networks import BESIDE, KINDS, PACKET_BITS, Network, network
from internet_runs import HUMAN, NEIGHBOURS

import exmachina
from exmachina import Evaluation, Tuning

SUITE = "tuning"
OF_EACH_KIND, DRAWN = 10, 120
"""Networks of a generation, and the generations that they are drawn for; later ones have other luck on the same."""
CANDIDATES = 20
CHECKS = 200
SHORT_S, SHORT_RTTS, SHORT_PACKETS, SHORT_DATACENTER_S = 20.0, 100.0, 8e5, 2.0
"""How long runs are at most, as `duration_of` reads such numbers."""


def main() -> None:
    """Tunes, and prints what came of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("law", metavar="LAW")
    parser.add_argument("--output", type=Path, default=Path("out/tuned"))
    parser.add_argument("--generations", type=int, default=45)
    parser.add_argument("--rivals", nargs="+", metavar="NAME", default=list(HUMAN.values()))
    parser.add_argument("--beside", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    given = parser.parse_args()
    tuned = exmachina.tune(
        given.law,
        scenarios(given.beside),
        rivals=given.rivals,
        generations=given.generations,
        candidates=CANDIDATES,
        networks=OF_EACH_KIND * len(KINDS) + given.beside,
        checks=CHECKS,
        seed=given.seed,
        threads=given.threads,
        output=given.output,
        on_progress=told,
    )
    print(tuned.ahead)
    print(f"gain {tuned.gain.mean:+.3f} ± {tuned.gain.half_width:.3f}, {tuned.cpu_s:.0f} CPU-seconds")


def scenarios(beside: int = 0) -> list[Evaluation]:
    """Those of each generation in turn."""
    return [one for number in range(DRAWN) for one in generation(number, beside)]


def generation(number: int, beside: int = 0) -> list[Evaluation]:
    """So many networks of each kind, and so many beside others; no two generations have one in common."""
    numbers = range(number * OF_EACH_KIND, (number + 1) * OF_EACH_KIND)
    drawn = [network(SUITE, kind, number) for number in numbers for kind in KINDS]
    drawn += [shared(number) for number in range(number * beside, (number + 1) * beside)]
    return [shorter(one).evaluation() for one in drawn]


def shared(number: int) -> Network:
    """A network on which another flow is Cubic's or BBRv3's, in turn."""
    one = network(SUITE, BESIDE, number)
    return replace(one, text=one.text.replace("SCHEME", NEIGHBOURS[number % len(NEIGHBOURS)]))


def shorter(one: Network) -> Network:
    """The same network in shorter runs."""
    affordable_s = SHORT_PACKETS * PACKET_BITS / (one.link.rate_mbps * 1e6)
    most_s = max(SHORT_RTTS * one.link.rtt_ms / 1e3, min(SHORT_S, affordable_s))
    duration_s = min(one.duration_s, SHORT_DATACENTER_S if one.kind == "datacenter" else most_s)
    text = re.sub(r"^duration_s = .*$", f"duration_s = {duration_s:.4g}", one.text, count=1, flags=re.MULTILINE)
    return replace(one, duration_s=duration_s, text=text)


def told(now: Tuning) -> None:
    """A line now and then."""
    worth = "" if now.worth is None else f", candidates ahead on {now.worth:.1%}"
    left = "" if now.left_s is None else f", {now.left_s:.0f} s left"
    print(f"{now.doing}: {now.done:.1%}{worth}{left}", flush=True)


if __name__ == "__main__":
    main()
