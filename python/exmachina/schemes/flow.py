"""A flow under a table, told of one ACK after another, without a simulator."""

from exmachina import _core
from exmachina.schemes.table import Table, TableLike

__all__ = ["Flow"]


class Flow(_core.Flow):
    """One flow of a sender that follows a table: what a controller of one's own can be compared with, ACK by ACK.

    >>> flow = exmachina.Flow("known-1x")
    >>> flow.on_ack(0, 150_000_000)  # sent at 0, the ACK came after 150 ms
    >>> flow.on_ack(1_000_000, 151_000_000, packets=2)
    >>> flow.window >= 1
    True

    Attributes:
        window: Packets that may be outstanding, as rules count them: a rule may set it to 0.
        intersend_ns: The least time between two sends.
        rule: The number of the rule that was used last.
        memory: What it remembers, in the order of `exmachina.SIGNALS`, times in ms.
    """

    def __new__(cls, table: TableLike) -> "Flow":
        """A new flow, under a table, its path, or the name of an algorithm that comes with the program."""
        return super().__new__(cls, Table.of(table))
