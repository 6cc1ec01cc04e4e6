"""What docs/worst.md says of networks that were found: whether they are known, and to whom. Numbers are of the rows."""

from collections.abc import Mapping
from typing import Any

__all__ = ["PATHOLOGIES", "known"]

ARUN = 'Arun, Alizadeh and Balakrishnan, "Starvation in End-to-End Congestion Control" (SIGCOMM 2022)'
NUMBERS = (
    "{throughput:.2g} of an equal share at {delay:.3g} times the least RTT, where {ahead} has "
    "{ahead_throughput:.2g} at {ahead_delay:.3g}."
)
PATHOLOGIES = {
    "copa-regret": f"**Copa under jitter.** {NUMBERS} It takes the least RTT that it has seen for that of an empty "
    f"path, and whatever is above for a queue. Known: {ARUN}.",
    "copa-starvation": "**A flow starved by delay variation**: {words}. They are alike; receivers hold ACKs back, and "
    f"what each flow makes of that decides who has the link. Known: {ARUN} name ACK aggregation among the causes, and "
    "show Copa among the starved.",
    "cubic-regret": f"**Cubic with stretched ACKs before a shallow buffer.** {NUMBERS} What an ACK answers goes out at "
    "once, the buffer has no room for that, and a window that has shrunk to less than what an ACK answers waits for "
    "the receiver's timer every time. BBRv3 paces. Known: RFC 2525, 2.13, says what stretched ACKs do, RFC 3449, 4.6, "
    "that pacing helps.",
    "vegas-regret": f"The same of **Vegas**. {NUMBERS}",
    "bbr3-regret": f"**Several flows of BBR before a deep buffer.** {NUMBERS} Each takes the highest rate that it has "
    'had for its own, and together they queue. Known of its first version: Hock, Bless and Zitterbart, "Experimental '
    'Evaluation of BBR Congestion Control" (ICNP 2017).',
    "cubic-idle": "**Cubic under random loss.** {words}; loss is all that matters. Known: Mathis, Semke, Mahdavi and "
    'Ott, "The Macroscopic Behavior of the TCP Congestion Avoidance Algorithm" (CCR 1997), for Reno; Cubic takes '
    "losses for a full queue, too.",
    "vegas-idle": "The same of **Vegas**. {words}.",
}
"""Cases that show what is known, and what that is."""
OTHERS = {
    "internet-1-regret": f"{NUMBERS} The clock ticks less than twice in an RTT, and the link stops now and then. Its "
    "training had both, but no clock coarser than a millisecond.",
    "bbr3-starvation": "{words}, on a rate that wanders. BBR's estimates are maxima; why they differ for so long we do "
    "not know, nor of anyone who has described this network.",
}
"""Other cases of which there is something to say."""


NOT_FOUND = """\
Not found: BBR under ACK aggregation. BBRv3 allows for it, and is the one that is ahead where stretched ACKs are worst
for Cubic and Vegas. Cases of the script that have no row in the tables below have not been searched yet.
"""


def known(rows: Mapping[str, Mapping[str, Any]]) -> str:
    """Both, of the cases that have a row."""
    parts = [
        "## Known pathologies, found without being told\n",
        _listed(rows, PATHOLOGIES),
        NOT_FOUND,
        "And besides:\n",
        _listed(rows, OTHERS),
    ]
    return "\n".join(part for part in parts if part)


def _listed(rows: Mapping[str, Mapping[str, Any]], notes: Mapping[str, str]) -> str:
    lines = [
        f"- [{case}](worst/{case}.toml): {note.format(**rows[case])}" for case, note in notes.items() if case in rows
    ]
    return "\n".join(lines) + "\n" if lines else ""
