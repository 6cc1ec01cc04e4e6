"""Laws: what a flow does by how long the queue is on its own path, where a table has rules."""

from typing import TypedDict

import polars as pl

__all__ = ["Law", "law_levels", "law_words"]

UNIT = 65536
LEVELS = (0.0, 0.5, 1.0, 2.0, 4.0)


class Law(TypedDict):
    """The numbers of a law. All are whole: shares, multiples and packets are in 2^-16, so that 65536 is 1.

    The length of the queue is how far the RTTs of late are above the flow's smallest, in targets. Lists have five
    numbers, for queues of 0, 1/2, 1, 2 and 4 targets; between them a flow does what lies between.

    >>> one = 65536
    >>> law = exmachina.Law(
    ...     target_of_rtt=one // 20, target_of_root=one // 10, target_of_fourth=one // 20,
    ...     target_of_gap=one, target_of_spread=one,
    ...     silence_most=one // 2, silence_packets=one // 10, silence_adds=one, loss_most=one // 10,
    ...     growth=[one // 10, one // 20, 0, -one // 20, -one // 4], packets=[one, one // 2, 0, 0, 0],
    ...     pace=[one // 2, *4 * [one]], most=5 * [3 * one], most_of_path=3 * one, delivered_keeps=0, min_rtt_keeps=0,
    ...     least_packets=2, again_rtts=100, faster=one, fastest=one, first_window=10 * one, first_rate=one // 10,
    ...     first_most=9 * one, first_train=one // 4, first_train_ns=1_000_000,
    ...     first_pause_ns=10_000, first_growth=one, first_pace=one // 2, first_until=one, then_window=one,
    ...     room=2 * one, shared_below=one // 4, shared_scale=one // 2, shared_cut=one * 7 // 10, shared_rtts=64,
    ... )
    >>> table = exmachina.Table.of_law(law, "mine")
    >>> exmachina.Flow(table).window, table.law == law
    (12, True)
    """

    target_of_rtt: int
    """The target is a sum of five: this share of the smallest RTT,"""
    target_of_root: int
    """this share of it over the root of the packets that an RTT delivers (0: none), so that of two flows in one queue
    the smaller grows (Swift, SIGCOMM 2020, section 3.5),"""
    target_of_fourth: int
    """this share of it over their fourth root (0: none): a tenth of the share at ten thousand packets, where the root
    leaves a hundredth,"""
    target_of_gap: int
    """this multiple of the time between the flow's own packets,"""
    target_of_spread: int
    """and this multiple of the RTT's mean deviation."""
    silence_most: int
    """Where no ACK came for some time in two RTTs in a row, and then many, it is longer by this multiple of that time
    (0: never),"""
    silence_packets: int
    """and at most by this multiple of it for each packet that has come in it, three left out."""
    silence_adds: int
    """Where that makes it longer by a sixteenth of the smallest RTT or more, packets are added 1 plus this multiple as
    fast, in proportion where it is less: who is told of the queue late and coarsely needs larger steps (0: never)."""
    loss_most: int
    """Whoever lost more than this share of the packets of an RTT takes the queue for the longest (0: never)."""
    growth: list[int]
    """What the window grows by in an RTT, as a share of it; without a queue above 0."""
    packets: list[int]
    """Packets added in an RTT."""
    pace: list[int]
    """The time between two sends, as a share of the RTT over the window."""
    most: list[int]
    """The largest window, as a multiple of what an RTT delivered; ten packets more are allowed."""
    most_of_path: int
    """The largest window that an RTT ends with where the queue is the longest, as a multiple of what the smallest RTT
    would deliver (0: any): in a queue of many RTTs one delivers many times what the path holds. While what was sent by
    a larger one comes back, it gives way by the RTT and not by the ACK."""
    delivered_keeps: int
    """An RTT counts as one that delivered at least this share of what the one before it counts as: where ACKs come in
    batches, one may see all of a batch and the next nothing (0: it is what it is)."""
    min_rtt_keeps: int
    """The smallest RTT stays this share of the way above a smaller one, for each ACK (0: it is that at once)."""
    least_packets: int
    """So many packets, not in 2^-16, are what the RTTs of late are the least of."""
    again_rtts: int
    """After so many RTTs, a whole number, a flow begins again, with the RTT as it is now for the smallest; if an RTT
    does not deliver twice as much then, it goes back to what was the smallest before (0: never)."""
    faster: int
    """In each quarter of an RTT below the target growth gets so many times faster,"""
    fastest: int
    """up to so many times."""
    first_window: int
    """The window of a flow that begins,"""
    first_rate: int
    """packets that it has more for each ms of its RTT, once that is known (0: none),"""
    first_most: int
    """and packets for each ms of it that it has then at most (0: any number): near by a rate is few packets."""
    first_train: int
    """The share that its window has at least of what the path holds, by how far apart ACKs of its first packets are,
    until an RTT has passed after the first (0: none), half of which counts as delivered until what
    is sent by it has come,"""
    first_train_ns: int
    """where the time that they took counts as so much more, ns: what comes in batches comes at once,"""
    first_pause_ns: int
    """the time between two sends until an RTT is known (ns),"""
    first_growth: int
    """packets added by each that is acknowledged,"""
    first_pace: int
    """and its pace."""
    first_until: int
    """The length of the queue, in targets, that ends the beginning,"""
    then_window: int
    """and the window then, as a multiple of what an RTT would deliver without the queue."""
    room: int
    """So many packets more than the window may be outstanding."""
    shared_below: int
    """Whoever's window has shrunk to this share of what it was when a queue came, and still the queue stands, shares
    the link with others that fill it, and has a window like Cubic's (RFC 9438 section 4; 0: never),"""
    shared_scale: int
    """which grows by this constant C, packets/s^3,"""
    shared_cut: int
    """and of which a loss leaves this share."""
    shared_rtts: int
    """After so many RTTs, a whole number, it is tried whether the queue goes; in vain, after twice as many next."""


def law_levels(law: Law) -> pl.DataFrame:
    """What a law does by the length of the queue.

    Returns:
        Five rows: queue (in targets), growth (of the window in an RTT, as a share of it), packets (added in an RTT),
        pace (the time between two sends, as a share of the RTT over the window), most (the largest window, as a
        multiple of what an RTT delivered).
    """
    columns = {name: [value / UNIT for value in law[name]] for name in ("growth", "packets", "pace", "most")}
    return pl.DataFrame({"queue": LEVELS, **columns})


def law_words(law: Law) -> list[str]:
    """What a law strives for, how a flow begins, shares, and what it is never without: a sentence each."""
    part = {name: value / UNIT for name, value in law.items() if isinstance(value, int)}
    ends = f"a queue of {part['first_until']:.3g} targets"
    return [
        f"the target of the queueing delay is {part['target_of_rtt']:.3g} of the smallest RTT, {_root(part)}"
        f"{part['target_of_gap']:.3g} times between the flow's own packets and {part['target_of_spread']:.3g} mean "
        f"deviations of the RTT together, by the least RTT of {_packets(law['least_packets'])} or more",
        _smallest(law),
        *_most(law),
        _delivered(law),
        _silence(law),
        _losses(law),
        f"a flow begins with {part['first_window']:.3g} packets, every {law['first_pause_ns'] / 1e6:.3g} ms, "
        f"{_rate(part)}and adds {part['first_growth']:.3g} for each that is acknowledged until there is {ends}"
        f"{_train(law)}",
        _begins_again(law["again_rtts"]),
        _shares(law),
        f"without a queue a window grows by {100 * law['growth'][0] / UNIT:.3g} % in an RTT or more, up to "
        f"{part['fastest']:.3g} times as fast: no state without a queue holds itself",
    ]


def _packets(count: int) -> str:
    return "one packet" if count == 1 else f"{count} packets"


def _rate(part: dict[str, float]) -> str:
    rate, most = part["first_rate"], part["first_most"]
    said = [f"has {rate:.3g} more for each ms of its RTT"] if rate else []
    said += [f"{'' if rate else 'has '}at most {most:.3g} for each ms of {'it' if rate else 'its RTT'}"] if most else []
    return f"{', and '.join(said)} once that is known, " if said else ""


def _train(law: Law) -> str:
    if not law["first_train"]:
        return ""
    taken = f", as if they had come in {law['first_train_ns'] / 1e6:.3g} ms more," if law["first_train_ns"] else ""
    return (
        f"; by how far apart its first ACKs are{taken} it has {law['first_train'] / UNIT:.3g} of what the path holds, "
        "or more, an RTT later, half of which counts as delivered until what is sent by it has come"
    )


def _root(part: dict[str, float]) -> str:
    root, fourth = part["target_of_root"], part["target_of_fourth"]
    packets = "the packets that an RTT delivers"
    said = f"{root:.3g} of it over the root of {packets}, " if root else ""
    return said + (f"{fourth:.3g} of it over the fourth root of {'these' if root else packets}, " if fourth else "")


def _smallest(law: Law) -> str:
    if not law["min_rtt_keeps"]:
        return "one packet's RTT is the smallest at once"
    goes = 1 - law["min_rtt_keeps"] / UNIT
    return f"with each ACK the smallest RTT goes {goes:.3g} of the way down to one that is smaller: few may be lucky"


def _most(law: Law) -> list[str]:
    if not law["most_of_path"]:
        return []
    most = law["most_of_path"] / UNIT
    return [f"an RTT in the longest queue ends with a window of at most {most:.3g} of what the smallest would deliver"]


def _delivered(law: Law) -> str:
    if not law["delivered_keeps"]:
        return "what an RTT delivers is what came in it"
    keeps = law["delivered_keeps"] / UNIT
    return f"what an RTT delivers is what came in it, or {keeps:.3g} of what the one before counts for, if that is more"


def _silence(law: Law) -> str:
    if not law["silence_most"]:
        return "it takes jitter that keeps packets in order, and what comes in batches, for a queue"
    part = {name: f"{value / UNIT:.3g}" for name, value in law.items() if isinstance(value, int)}
    faster = 1 + law["silence_adds"] / UNIT
    return (
        f"where no ACK comes for some time and then many, the target is longer by {part['silence_most']} of that time, "
        f"or by {part['silence_packets']} of it for each packet in it but three, if that is less"
        + (f"; where that is much, packets are added {faster:.3g} times as fast" if faster > 1 else "")
    )


def _losses(law: Law) -> str:
    if not law["loss_most"]:
        return "losses tell it nothing"
    return f"an RTT that lost more than {100 * law['loss_most'] / UNIT:.3g} % of its packets had the longest queue"


def _shares(law: Law) -> str:
    if not law["shared_below"]:
        return "it knows of no others: whoever fills the queue has the link"
    return (
        f"down to {law['shared_below'] / UNIT:.3g} of what it got of the link when a queue came, and with the queue "
        f"still there, it shares the link with who fills it: its window is like Cubic's (C "
        f"{law['shared_scale'] / UNIT:.3g}, and a loss leaves {law['shared_cut'] / UNIT:.3g}), and tries after "
        f"{law['shared_rtts']} RTTs whether they have gone"
    )


def _begins_again(rtts: int) -> str:
    if not rtts:
        return "it never begins again: a path that becomes longer is taken for a queue for ever"
    return (
        f"after {rtts} RTTs it begins again, with the RTT as it is then for the smallest, and goes back if an RTT "
        "does not deliver twice as much"
    )
