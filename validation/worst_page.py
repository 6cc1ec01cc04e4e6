"""docs/worst.md: the worst networks that `worst.py` found, and what the literature knows of them."""

from collections.abc import Mapping, Sequence
from math import hypot
from typing import Any

import polars as pl
from digests import outdated
from worst_known import known

from exmachina import WorstOptions
from exmachina.command.terminal import duration

__all__ = ["page"]

NAMES = {"cubic": "Cubic", "bbr3": "BBRv3", "copa": "Copa", "vegas": "Vegas", "omniscient": "omniscient senders"}
HEAD = """\
# The worst networks

Where is an algorithm in the most trouble? `exmachina worst` searches for it, within limits that the user states,
and reduces what it finds to what matters:

```sh
exmachina worst copa                                     # its score behind the best of Cubic and BBRv3: copa-worst/
exmachina worst mine.dna --limits designed               # within what the table was designed for
exmachina worst bbr3 --measure starvation --limits long  # one flow starves another, among flows that never end
exmachina worst cubic --rivals omniscient --without beside,queue
```

```python
found = exmachina.worst("copa", without=["beside"])
print(found.words, found.matters)  # how bad, and the axes along which it is not plain
exmachina.evaluate(found.scenario).summary
exmachina.draw(found, "copa-worst")
model = exmachina.hunting.trained_also("general-1", [found.network])  # to train with it
```

What training with them gains: [adversarial.md](adversarial.md).{outdated}

Limits are ranges along the axes of `exmachina probe` ([probe.md](probe.md#what-is-measured)): `internet` and `long`
come with the program ([limits](../python/exmachina/limits)), or a file of one's own. A search scatters networks
over all axes at once, climbs from the worst of these by CatCMA (the package `cmaes`), and gives each batch of
networks other traffic. The dozen that are worst are measured anew on more traffic, and the worst of them is
*reduced*: each axis is set back to a plain value as long as four fifths of the harm stay. What is left is measured
on 16 draws of traffic that chose nothing: those are the numbers here, and the scenario file has their seed.

| measure | what is bad |
|---|---|
| `regret` | so far is the mean of ln(throughput) - ln(RTT) behind that of the best rival on the same network |
| `starvation` | ln(mean over least throughput) of the senders that are on for most of the time |
| `idle` | the share that all senders deliver less than omniscient ones |
| `queue` | ln(RTT over that of an empty network) |
| `waste` | the share of packets that are sent again |

With `-o` (NAME-worst if not given) there are the scenario, reduced (`worst.toml`) and as it was found
(`found.toml`), a page and pictures of what was tried along each axis and of a run over time, `also.toml` (an entry
`[[also]]` for a model, where models can say what the network is), and `trials.parquet`. Ctrl-C writes the worst so
far; the same command goes on.

![What a search tried for Copa along each of seventeen axes, and the network that is left](worst.png)

`exmachina worst copa --without beside`: harm rises most clearly with the link's rate, then with losses, stretched
ACKs and jitter; losses turn out not to matter.

What follows was found by `python validation/worst.py`, each by one command with the default budget ({networks}
networks, 2 draws each) and the same limits for all schemes; nobody told it what to look for. The scenarios run as
they are: `exmachina evaluate docs/worst/copa-regret.toml`. Numbers are in [results/worst.csv](results/worst.csv).
"""
SECTIONS = {
    "regret": (
        "Furthest behind others",
        "`exmachina worst SCHEME --without beside`: the score behind the best of Cubic, BBRv3 and Copa.",
    ),
    "starvation": (
        "Starved by its own kind",
        "`exmachina worst SCHEME --limits long --measure starvation`: flows that never end and have one RTT.",
    ),
    "idle": (
        "An idle link",
        "`exmachina worst SCHEME --without beside --measure idle`: what omniscient senders deliver more.",
    ),
    "beside": (
        "With others on the link",
        "`exmachina worst SCHEME`: as the first, with one flow of Cubic or BBRv3 allowed beside. All senders but that "
        "one run the scheme, or the rival that it is compared with. {neighbours}",
    ),
}
HEADS = ("", "worst network", "what matters", "how bad", "as found", "CPU time")


def page(rows: pl.DataFrame) -> str:
    """All of it, of the rows of results/worst.csv."""
    lines = {line["case"]: {**line, "ahead": _name(line["ahead"])} for line in rows.iter_rows(named=True)}
    then = f" {said}" if (said := outdated(rows, "scheme")) else ""
    head = HEAD.replace("{networks}", str(WorstOptions().networks)).replace("{outdated}", then)
    parts = [head, known(lines)]
    for kind, (title, words) in SECTIONS.items():
        own = [line for case, line in lines.items() if case.endswith(f"-{kind}")]
        if own:
            said = words.format(neighbours=_neighbours(lines))
            parts.append("\n".join([f"## {title}\n", f"{said}\n", *_table(own)]) + "\n")
    return "\n".join(parts)


def _neighbours(lines: Mapping[str, Mapping[str, Any]]) -> str:
    """What became of those who may be beside, and which networks without them the first searches should have found."""
    beside = {case.removesuffix("-beside"): line for case, line in lines.items() if case.endswith("-beside")}
    left = [scheme for scheme, line in beside.items() if "beside" in line["matters"].split()]
    missed = [
        _name(scheme)
        for scheme, line in beside.items()
        if scheme not in left and (first := lines.get(f"{scheme}-regret")) and _is_worse(line, first)
    ]
    told = (
        f"A neighbour matters in {len(left) or 'none'} of the {len(beside)} networks: four fifths of the harm or more "
    )
    told += "stay without."
    if missed:
        told += (
            f" The first table's searches could have found those of {', '.join(missed)}, which are worse, and did not."
        )
    return told


def _is_worse(line: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """By more than two standard errors."""
    return bool(line["harm"] - other["harm"] > 2 * hypot(line["value_error"], other["value_error"]))


def _table(lines: Sequence[Mapping[str, Any]]) -> list[str]:
    head = [f"| {' | '.join(HEADS)} |", "|" + "---|" * len(HEADS)]
    return head + [f"| {' | '.join(_cells(line))} |" for line in lines]


def _cells(line: Mapping[str, Any]) -> list[str]:
    network = f"[{line['network']}](worst/{line['case']}.toml)"
    matters, harm_found = ", ".join(line["matters"].split()), f"{line['harm_found']:.3g}"
    return [_name(line["scheme"]), network, matters, _how_bad(line), harm_found, duration(line["cpu_s"])]


def _how_bad(line: Mapping[str, Any]) -> str:
    """The harm, and what there is of throughput and RTT."""
    own = f"{line['throughput']:.2g} of an equal share at {line['delay']:.3g} times the least RTT"
    if line["measure"] != "regret":
        return f"**{line['harm']:.3g}**: {line['words']}; {own}"
    other = f"{line['ahead']} {line['ahead_throughput']:.2g} at {line['ahead_delay']:.3g}"
    return f"**{line['harm']:.3g}**: {own}, {other}"


def _name(scheme: str) -> str:
    return NAMES.get(scheme, scheme)
