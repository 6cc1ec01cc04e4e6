"""A unit of work for tests of clusters, in a file that workers can import beside their main thread."""

import os
import time


def whereabouts(shared: bytes, seconds: float, workers: object, stop: object) -> int:
    """The process of a worker, which takes so long over a unit."""
    time.sleep(seconds)
    return os.getpid()
