"""Laws of our own making: such as a search tries, and at the ends of what a law may say."""

import numpy as np

import exmachina

UNIT = 1 << 16
MOST = 64


def drawn(seed: int) -> exmachina.Table:
    """A law of these numbers."""
    return exmachina.Table.of_law(numbers(seed), f"law-{seed}")


def sharing() -> exmachina.Table:
    """A law by which a flow soon shares its link with whoever fills the queue, and often tries whether they went."""
    law = numbers(0) | {
        "target_of_rtt": UNIT // 20,
        "target_of_root": 0,
        "target_of_fourth": 0,
        "target_of_gap": 0,
        "target_of_spread": 0,
        "growth": [UNIT // 10, UNIT // 20, 0, -UNIT // 20, -UNIT // 4],
        "packets": [UNIT, UNIT // 2, 0, 0, 0],
        "pace": 5 * [UNIT // 2],
        "shared_below": UNIT // 2,
        "shared_scale": UNIT * 4 // 10,
        "shared_cut": UNIT * 7 // 10,
        "shared_rtts": 20,
    }
    return exmachina.Table.of_law(law, "sharing")


def enduring() -> exmachina.Table:
    """A law that soon takes what is silent for no queue, and losses for a full one."""
    law = numbers(0) | {
        "target_of_rtt": UNIT // 50,
        "target_of_root": UNIT // 5,
        "target_of_fourth": UNIT // 10,
        "silence_most": UNIT,
        "silence_packets": UNIT // 2,
        "silence_adds": 2 * UNIT,
        "loss_most": UNIT // 50,
    }
    return exmachina.Table.of_law(law, "enduring")


def numbers(seed: int) -> exmachina.Law:
    """Numbers that lie where a search looks for them; of every third law anywhere between their bounds."""
    rng = np.random.default_rng(seed)
    anywhere = seed % 3 == 2

    def log(low: float, high: float, most: float = MOST) -> int:
        return int(
            UNIT * (rng.choice([0, rng.uniform(0, most), most]) if anywhere else low * (high / low) ** rng.random())
        )

    def between(low: float, high: float) -> int:
        return int(UNIT * (rng.choice([-1, 1, rng.uniform(-1, 1)]) if anywhere else rng.uniform(low, high)))

    growth = [between(0.01, 0.5), between(0.0, 0.3), between(-0.1, 0.1), between(-0.3, 0.0), between(-0.6, 0.0)]
    pace = [max(1, log(0.4, 1.4, 16)) for _ in growth]
    return exmachina.Law(
        target_of_rtt=log(0.003, 1),
        target_of_root=log(0.005, 1, 4) if rng.random() < 0.7 else 0,
        target_of_fourth=log(0.005, 1, 4) if rng.random() < 0.7 else 0,
        target_of_gap=log(0.03, 10),
        target_of_spread=log(0.03, 10),
        silence_most=log(0.05, 8) if rng.random() < 0.7 else 0,
        silence_packets=log(0.01, 1),
        loss_most=log(0.01, 0.6, 1),
        growth=[max(1, growth[0]), *growth[1:]],
        packets=[log(0.05, 10) for _ in growth],
        pace=pace,
        most=[max(log(0.6, 6), pace[0] + 1, UNIT + 1), *(log(0.6, 6) for _ in growth[1:])],
        most_of_path=log(0.6, 6) if rng.random() < 0.5 else 0,
        least_packets=int(rng.integers(1, 65 if anywhere else 17)),
        again_rtts=int(rng.integers(0, 40)),
        faster=max(UNIT, log(1, 2)),
        fastest=max(UNIT, log(1, 30)),
        first_window=max(2 * UNIT, log(2, 100, 1024)),
        first_rate=log(0.01, 2) if rng.random() < 0.7 else 0,
        first_pause_ns=int(10 ** rng.uniform(3, 6)),
        first_growth=max(1, log(0.2, 2)),
        first_pace=max(1, log(0.3, 1.4, 3.9)),
        first_until=max(1, log(0.3, 3.9)),
        then_window=log(0.4, 2),
        room=log(0.5, 30),
        shared_below=int(UNIT * rng.choice([0, 0.1, 0.5])),
        shared_scale=max(UNIT // 64, log(0.1, 4, 4)),
        shared_cut=max(UNIT // 4, log(0.3, 0.95, 1)),
        shared_rtts=int(rng.integers(1, 200)),
        min_rtt_keeps=log(0.1, 0.98, 0.98) if rng.random() < 0.5 else 0,
        delivered_keeps=log(0.1, 0.98, 0.98) if rng.random() < 0.5 else 0,
        silence_adds=log(0.05, 8) if rng.random() < 0.7 else 0,
        first_most=log(0.02, 20) if rng.random() < 0.5 else 0,
        first_train=log(0.05, 2) if rng.random() < 0.7 else 0,
        first_train_ns=int(10 ** rng.uniform(4, 7.5)),
    )
