"""Hearing ctrl-C while the core computes."""

import threading
from collections.abc import Callable
from typing import TypeVar

from exmachina._core import Stop

__all__ = ["interruptible"]

T = TypeVar("T")
LISTEN_S = 0.1


def interruptible(compute: Callable[[Stop], T]) -> T:
    """What `compute` gives, or what it raises; ctrl-C is heard meanwhile.

    `compute` hands what it is given on to the core, which then ends within a moment; what it had is dropped.
    """
    done: list[T] = []
    failed: list[BaseException] = []
    stop = Stop()

    def run() -> None:
        try:
            done.append(compute(stop))
        except BaseException as failure:
            failed.append(failure)

    thread = threading.Thread(target=run, name="exmachina-compute", daemon=True)
    thread.start()
    try:
        while thread.is_alive():
            thread.join(LISTEN_S)
    finally:
        # Nobody waits for a computation that goes on behind the back of whoever interrupted it.
        stop.set()
    if failed:
        raise failed[0]
    return done[0]
