"""What can go wrong through no fault of the program."""

from exmachina._core import InputError

__all__ = ["InputError", "Stopped"]


class Stopped(KeyboardInterrupt):
    """Ctrl-C during long work: what was done is saved, and the message says how to go on."""
