"""Seeds by name: of the same root, one for each purpose, which nothing else moves."""

from hashlib import sha256

__all__ = ["named_seed"]


def named_seed(root: int, *purpose: object) -> int:
    """Of 32 bits, as all random numbers of a search take."""
    return int.from_bytes(sha256(" ".join(map(str, ("exmachina worst", root, *purpose))).encode()).digest()[:4])
