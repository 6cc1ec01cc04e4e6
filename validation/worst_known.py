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
    "copa-regret": f"**Copa under jitter**, as long as the RTT, with stretched ACKs. {NUMBERS} It takes the least RTT "
    "that it has seen for that of an empty path, and whatever is above for a queue. With either alone it is no more "
    f"than 0.23 behind BBRv3. Known, for jitter: {ARUN}.",
    "copa-starvation": "**A flow starved by delay variation**: {words}. They are alike; receivers hold ACKs back, and "
    "what each flow makes of that decides who has the link: with an ACK for two packets the least has 96 %. It does "
    f"not pass: over 200 s it is 11 %. Known: {ARUN} name ACK aggregation among the causes, and show Copa among the "
    "starved.",
    "bbr3-beside": f"**BBR under ACK aggregation**, where packets are dropped. {NUMBERS} An ACK answers 32 packets, "
    "the path has room for 21, the buffer for 8: BBRv3 waits for the receiver's timer (its score is -2.51; -0.85 "
    "if that waits for 5 ms, -0.53 with an ACK for two packets). It allows for aggregation, but what may be in flight "
    "after drops bounds that, too; without random loss and with 2 BDP of buffer before a plain link it has -0.68, with "
    "the loss -1.70. Copa is ahead by grace of coarse clocks. Known of BBR's first version, which had no such "
    'allowance: Linux, "tcp_bbr: adapt cwnd based on ack aggregation estimation" (2019).',
    "cubic-regret": f"**Cubic with stretched ACKs before a shallow buffer.** {NUMBERS} What an ACK answers goes out at "
    "once, the buffer has no room for that, and a window that has shrunk to less than what an ACK answers waits for "
    "the receiver's timer every time. BBRv3 paces. Known: RFC 2525, 2.13, says what stretched ACKs do, RFC 3449, 4.6, "
    "that pacing helps.",
    "vegas-regret": f"The same of **Vegas**. {NUMBERS}",
    "copa-beside": f"Nearly the same of **Copa**, with a buffer of two BDP. {NUMBERS} With an ACK for two packets it "
    "is ahead.",
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
    "general-1-robust-regret": f"{NUMBERS} Copa's network above, and the receiver's timer: with an ACK for two "
    "packets its score is -0.11. Its training had no ACKs that are stretched further.",
    "internet-1-regret": f"{NUMBERS} An ACK answers 32 packets, after 100 ms if fewer have come, path and buffer have "
    "room for 13: Cubic does worse (-2.40), and Copa is ahead by grace of the clock, which ticks less than twice in an "
    "RTT (without it -2.15). With an ACK for two packets it has -0.39, without the clock either -0.17. Its training "
    "had clocks of a millisecond at most, and eight packets an ACK.",
    "internet-1-beside": f"{NUMBERS} The same, and nobody beside: with an ACK for two packets it has -0.16.",
    "internet-shared-1-beside": f"Jitter as long as the RTT, and nobody beside. {NUMBERS} internet-1 is the same "
    "there; with jitter of half the RTT it has -1.36 and is behind all three, with a quarter -0.42 and is ahead.",
    "internet-shared-1-regret": f"{NUMBERS} Long waits for ACKs and a coarse clock again: Cubic does worse (-2.12), "
    "and Copa is ahead by grace of the clock (without it -1.69); with an ACK for two packets and without the clock it "
    "has -0.23. Sharing has no part in it (internet-1: -1.56).",
    "internet-1-starvation": "{words}, on a clock that ticks five times in an RTT before a buffer of eight packets; "
    "over 200 s it has 42 %. On a clock of a millisecond it has 97 %.",
    "internet-shared-1-starvation": "{words}. The clock again: without it the least has 79 %, over 200 s with it 37 %; "
    "internet-1's has 15 %.",
    "bbr3-starvation": "{words}, on a rate that wanders, within 29 s; over 200 s it has two thirds. BBR's estimates "
    "are maxima; why they differ for so long we do not know, nor of anyone who has described this network.",
    "cubic-starvation": "{words}, but within 20 s, which are 114 RTTs; over 240 s it has three quarters.",
    "internet-1-idle": "{words}: flows end after little more than an RTT. Cubic, BBRv3 and Copa deliver less yet.",
    "internet-shared-1-idle": "The same network: {words}.",
}
"""Other cases of which there is something to say."""


CAUSES = """\
What is said of causes was tried by changing values of the scenario, one or a few, on its first 8 runs or all 16; scores
are those of [results/worst.csv](results/worst.csv), the mean of ln(throughput) less that of ln(RTT).
"""
NOT_FOUND = """\
Three were hoped for: BBR under ACK aggregation, Copa under jitter, flows starved by delay variation. The first came
only from the search that may put others on the link, which it then takes away: with the same limits and budget the
search without others has found nothing as bad for BBRv3. A search says that a network is so bad, not that none is
worse.
"""


def known(rows: Mapping[str, Mapping[str, Any]]) -> str:
    """Both, of the cases that have a row."""
    parts = [
        "## Known pathologies, found without being told\n",
        _listed(rows, PATHOLOGIES),
        NOT_FOUND,
        "And besides:\n",
        _listed(rows, OTHERS),
        CAUSES,
    ]
    return "\n".join(part for part in parts if part)


def _listed(rows: Mapping[str, Mapping[str, Any]], notes: Mapping[str, str]) -> str:
    lines = [
        f"- [{case}](worst/{case}.toml): {note.format(**rows[case])}" for case, note in notes.items() if case in rows
    ]
    return "\n".join(lines) + "\n" if lines else ""
