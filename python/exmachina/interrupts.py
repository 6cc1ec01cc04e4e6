"""Hearing ctrl-C while the core computes."""

import threading
from collections.abc import Callable
from typing import TypeVar

__all__ = ["interruptible"]

T = TypeVar("T")
LISTEN_S = 0.1


def interruptible(compute: Callable[[], T]) -> T:
    """What `compute` gives, or what it raises; ctrl-C is heard meanwhile, and what `compute` does then is dropped."""
    done: list[T] = []
    failed: list[BaseException] = []

    def run() -> None:
        try:
            done.append(compute())
        except BaseException as failure:
            failed.append(failure)

    thread = threading.Thread(target=run, name="exmachina-compute", daemon=True)
    thread.start()
    while thread.is_alive():
        thread.join(LISTEN_S)
    if failed:
        raise failed[0]
    return done[0]
