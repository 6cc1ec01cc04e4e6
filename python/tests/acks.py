"""Traces of ACKs, losses and restarts, drawn from seeds: what controllers that must agree are fed with."""

from collections.abc import Callable
from typing import Protocol

import numpy as np
import numpy.typing as npt
import polars as pl

import exmachina

RECORD = np.dtype(
    [
        ("sent_ns", "<u8"),
        ("received_ns", "<u8"),
        ("tick_ns", "<u8"),
        ("advance", "<u4"),
        ("packets", "<u4"),
        ("kind", "<u4"),
        ("reserved", "<u4"),
    ]
)
ANSWER = np.dtype([("intersend_ns", "<u8"), ("rule", "<u4"), ("window", "<u4")])
ACK, LOSS, RESTART = range(3)

Records = npt.NDArray[np.void]
Answers = npt.NDArray[np.void]


def trace(seed: int, events: int = 400) -> Records:
    """ACKs of one connection: a path, a clock, a receiver, and what goes wrong are drawn first.

    Some have RTTs that never change, some a queue that comes and goes; some receivers acknowledge every packet, some
    second, some whole bursts; some clocks count nanoseconds, some micro- or milliseconds; packets are lost,
    overtake each other, and stop for a while.
    """
    rng = np.random.default_rng(seed)
    rtt_ns = int(10 ** rng.uniform(5, 8.5))
    gap_ns = 10 ** rng.uniform(3, 7.5)
    jitter_ns = rng.choice([0, 1e3, 1e6])
    queue_ns = rng.choice([0.0, 0.5, 3.0]) * rtt_ns
    tick_ns = int(rng.choice([1, 1, 1000, 1_000_000]))
    together = int(rng.choice([1, 2, 9]))
    loss = rng.choice([0, 0.02])
    records = np.zeros(events, RECORD)
    sent, queue = 10**9, 0.0
    for record in records:
        record["kind"] = rng.choice([ACK, LOSS, RESTART], p=[0.995 - loss, loss, 0.005])
        record["packets"] = rng.integers(1, together + 1) if rng.random() < 0.99 else rng.integers(1, 3000)
        if record["kind"] == LOSS:
            record["packets"] = min(record["packets"], 50)
            continue
        sent += int(gap_ns * rng.exponential() * record["packets"]) - (rng.random() < 0.01) * int(gap_ns)
        if rng.random() < 0.005:
            sent += int(rng.uniform(0, 3e9))
        queue = max(0.0, queue + rng.normal() * queue_ns / 20)
        received = sent + rtt_ns + int(queue) + int(jitter_ns * rng.exponential())
        record["sent_ns"], record["received_ns"] = (at // tick_ns * tick_ns for at in (sent, received))
        record["tick_ns"] = tick_ns
        record["advance"] = record["packets"] + rng.choice([0, 0, 0, 1, 7])
    return records


def crowded(seed: int, events: int = 4000) -> Records:
    """ACKs of one connection on a path whose queue others fill by half of it, with losses, and leave at the end."""
    rng = np.random.default_rng(seed)
    rtt_ns, gap_ns = int(10 ** rng.uniform(6, 8)), int(10 ** rng.uniform(5, 6.5))
    queue_ns = int(rtt_ns * rng.uniform(1, 3))
    records = np.zeros(events, RECORD)
    sent = 10**9
    for k, record in enumerate(records):
        record["kind"] = LOSS if rng.random() < 0.002 else ACK
        record["packets"] = rng.integers(1, 4)
        sent += int(gap_ns * record["packets"])
        filled = 0.05 < k / events < 0.9
        record["sent_ns"], record["received_ns"] = sent, sent + rtt_ns + filled * queue_ns + int(rng.uniform(0, 1e4))
        record["tick_ns"], record["advance"] = 1, record["packets"]
    return records


def jittery(seed: int, events: int = 2000) -> Records:
    """ACKs of one connection on a path without a queue whose jitter keeps packets in order: all wait for a late one."""
    rng = np.random.default_rng(seed)
    rtt_ns, gap_ns = int(10 ** rng.uniform(7, 8)), int(10 ** rng.uniform(4.5, 5.5))
    jitter_ns = rtt_ns * rng.uniform(0.2, 0.8)
    records = np.zeros(events, RECORD)
    sent, newest = 10**9, 0
    for record in records:
        sent += 2 * gap_ns
        newest = max(newest, sent + rtt_ns + int(jitter_ns * rng.random()))
        record["sent_ns"], record["received_ns"] = sent, newest
        record["tick_ns"], record["advance"], record["packets"] = 1, 2, 2
    return records


def oddities(seed: int, events: int = 3000) -> Records:
    """Records of any bits at all, and of those that clocks and receivers show when they are broken."""
    rng = np.random.default_rng(seed)
    records = np.zeros(events, RECORD)
    odd = [0, 1, 2**31, 2**32 - 1, 2**41, 2**47, 2**63 - 1, 2**63, 2**64 - 1]
    for name in ("sent_ns", "received_ns", "tick_ns"):
        any_bits = rng.integers(0, 2**64, events, dtype=np.uint64) >> rng.integers(0, 64, events, dtype=np.uint64)
        records[name] = np.where(rng.random(events) < 0.5, any_bits, rng.choice(np.array(odd, np.uint64), events))
    for name in ("advance", "packets"):
        records[name] = rng.choice([0, 1, 2, 5, 1024, 2**32 - 1], events, p=[0.1, 0.4, 0.3, 0.1, 0.05, 0.05])
    records["kind"] = rng.choice([ACK, LOSS, RESTART], events, p=[0.9, 0.08, 0.02])
    return records


def in_quic(records: Records) -> Records:
    """The same, with what QUIC has of it: a clock of nanoseconds, and ACKs that are ahead by what was lost."""
    shown = records.copy()
    shown["tick_ns"], lost = 1, 0
    for record in shown:
        if record["kind"] == LOSS:
            lost += record["packets"]
            continue
        if record["kind"] == ACK:
            record["advance"] = record["packets"] + lost
        lost = 0
    return shown


def simulated(table: exmachina.Table, seed: int) -> tuple[Records, npt.NDArray[np.uint32], npt.NDArray[np.uint64]]:
    """ACKs and new flows of one sender in a run of the simulator, and its window and pace after each."""
    network = exmachina.dumbbell(rate_mbps=15, rtt_ms=100, senders=2)
    run = exmachina.record(table, network, seconds=20, seed=seed)
    own = run.filter(pl.col("sender") == 0, pl.col("rule").is_not_null(), pl.col("event").is_in(["start", "ack"]))
    records = np.zeros(len(own), RECORD)
    starts = (own["event"] == "start").to_numpy()
    received = (own["time_s"] * 1e9).round().cast(pl.UInt64).to_numpy()
    rtt = (own["rtt_ms"].fill_null(0) * 1e6).round().cast(pl.UInt64).to_numpy()
    records["kind"] = np.where(starts, RESTART, ACK)
    records["received_ns"], records["sent_ns"] = received, received - rtt
    records["tick_ns"] = records["advance"] = records["packets"] = 1
    return records, own["window_packets"].to_numpy(), (own["intersend_ms"] * 1e6).round().cast(pl.UInt64).to_numpy()


class Controller(Protocol):
    """What can be fed."""

    @property
    def window(self) -> int: ...
    @property
    def rule(self) -> int: ...
    @property
    def intersend_ns(self) -> int: ...
    def on_ack(self, sent: int, received: int, /, *, tick_ns: int, advance: int, packets: int) -> None: ...
    def on_loss(self, packets: int) -> None: ...


def answered(start: Callable[[], Controller], records: Records) -> Answers:
    """What a controller answers to each record."""
    flow = start()
    answers = np.zeros(len(records), ANSWER)
    for at, (sent, received, tick, advance, packets, kind, _) in enumerate(records.tolist()):
        if kind == ACK:
            flow.on_ack(sent, received, tick_ns=tick, advance=advance, packets=packets)
        elif kind == LOSS:
            flow.on_loss(packets)
        else:
            flow = start()
        answers[at] = (flow.intersend_ns, flow.rule, flow.window)
    return answers


def followed(table: exmachina.Table, records: Records) -> Answers:
    """What the controller of the rules crate, with its floats, answers."""
    return answered(lambda: exmachina.Flow(table), records)
