"""How well could any end-to-end controller do on `known-1x`?  An estimate from below on what the delay of news costs.

No sender can know that another has started before one RTT has passed, as the omniscient reference does. Here a
controller knows everything, the link, the number of senders, the queue, but one RTT late, and nothing at all when it
starts. It begins at `start` times the link rate, takes an equal share of the link once it has news, and `drain` less
while it hears of a queue. The best of such controllers, in a fluid model in steps of 1 ms, is a score to compare with.

Prints the score of two senders for each `start` and `drain`; the score of one sender is that of a link to itself.
"""

from __future__ import annotations

import numpy as np

RTT_MS = 150
SERVICE_MS = 10 / 15
ON_OFF_MS = 5000.0
RUN_MS = 100_000
RUNS = 400


def schedule(random: np.random.Generator) -> np.ndarray:
    """Return on (1) or off (0) by ms, run and sender: shape (RUN_MS, RUNS, 2)."""
    on = np.zeros((RUN_MS, RUNS, 2))
    for run in range(RUNS):
        for sender in range(2):
            now = random.exponential(ON_OFF_MS)
            while now < RUN_MS:
                end = now + random.exponential(ON_OFF_MS)
                on[int(now) : int(end), run, sender] = 1
                now = end + random.exponential(ON_OFF_MS)
    return on


def score(on: np.ndarray, start: float, drain: float) -> float:
    """Return the mean score of two senders that know everything one RTT late."""
    queue = np.zeros((RUN_MS, RUNS))
    backlog = np.zeros(RUNS)
    age = np.zeros((RUNS, 2))
    sent = np.zeros((RUNS, 2))
    delay = np.zeros((RUNS, 2))
    share = np.zeros((RUNS, 2))
    for now in range(RUN_MS):
        present = on[now]
        age = (age + 1) * present
        old = max(now - RTT_MS, 0)
        others = np.maximum((on[old] * present).sum(axis=1, keepdims=True), 1)
        rate = (1 - drain * (queue[old] > 1))[:, None] / others
        rate = np.where(age <= RTT_MS, start, rate) * present
        backlog = np.maximum(backlog + rate.sum(axis=1) - 1, 0)
        queue[now] = backlog
        sent += rate
        delay += rate * (RTT_MS + SERVICE_MS + backlog)[:, None]
        share += present / np.maximum(present.sum(axis=1, keepdims=True), 1)
    ever = sent > 0
    safe = np.where(ever, sent, 1)
    utility = np.log2(safe / np.where(ever, share, 1)) - np.log2(np.where(ever, delay / safe, RTT_MS) / RTT_MS)
    return float(np.where(ever, utility, 0).mean())


def main() -> None:
    """Run it."""
    on = schedule(np.random.default_rng(2013))
    alone = -np.log2(1 + SERVICE_MS / RTT_MS)
    best = max((score(on, start, drain), start, drain) for start in (0.1, 0.2, 0.3, 0.4) for drain in (0.1, 0.2, 0.3))
    print(f"one sender {alone:.4f}, two senders {best[0]:.4f} (start {best[1]}, drain {best[2]})")
    print(f"sum {alone + best[0]:.4f}")


if __name__ == "__main__":
    main()
