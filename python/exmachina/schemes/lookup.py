"""Which rule of a table a memory falls under, for many memories at once."""

import numpy as np
import numpy.typing as npt

from exmachina.schemes.table import Table

__all__ = ["rules_at"]


def rules_at(table: Table, memory: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    """The number of the rule at each memory; memory beyond the domain is clamped to it.

    Args:
        table: The table.
        memory: Shape (..., n), all n signals in the order of `exmachina.SIGNALS`, times in ms.
    """
    found = np.zeros(memory.shape[:-1], dtype=np.int64)
    lowers = np.array([rule.lower for rule in table.rules])
    uppers = np.array([rule.upper for rule in table.rules])
    lowers = np.where(lowers == lowers.min(axis=0), -np.inf, lowers)
    uppers = np.where(uppers == uppers.max(axis=0), np.inf, uppers)
    for rule, (lower, upper) in enumerate(zip(lowers, uppers, strict=True)):
        found[np.all((lower <= memory) & (memory < upper), axis=-1)] = rule
    return found
