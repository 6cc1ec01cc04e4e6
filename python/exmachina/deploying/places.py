"""Which connections get a table: those of one route, or all new ones of the machine."""

import ipaddress
import re
import shlex
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from exmachina.deploying.loading import told
from exmachina.errors import OptionError

__all__ = ["Everywhere", "Place", "Route", "place_of"]

DEFAULT = "net.ipv4.tcp_congestion_control"
OF_THE_FIRST = Path("/proc/sys/net/ipv4/tcp_mem")
"""A setting that only the first network namespace has."""


@dataclass(frozen=True)
class Place(ABC):
    """Where a table is put, by three commands."""

    @abstractmethod
    def found(self) -> list[str]:
        """The command that says what is there."""

    @abstractmethod
    def changed(self, before: list[str], name: str | None) -> list[str]:
        """The command that puts a table there, or, without a name, what was there before."""

    def before(self) -> list[str]:
        """What is there now, as the words of the commands that change it.

        Raises:
            MachineError: If it cannot be found out.
        """
        return told(*self.found()).split()

    @contextmanager
    def having(self, name: str) -> Iterator[None]:
        """Puts a table there, and what was there before back in the end.

        Raises:
            InputError: If there is no such place, or the kernel refuses.
        """
        before = self.before()
        told(*self.changed(before, name))
        try:
            yield
        finally:
            told(*self.changed(before, None))

    def printed(self, name: str) -> tuple[str, str, str]:
        """The same as lines of a shell: what is there is kept, the table put there, and taken away."""
        keep = f"BEFORE=$({shlex.join(self.found())})"
        put, back = (" ".join(self.changed(["$BEFORE"], one)) for one in (name, None))
        return keep, put, back


@dataclass(frozen=True)
class Route(Place):
    """New connections to the places of one route, which keeps all else that it has."""

    to: str

    def __post_init__(self) -> None:
        try:
            ipaddress.ip_network(self.to)
        except ValueError as error:
            raise OptionError(f"route: expected a network such as 10.0.0.0/8: {error}") from None

    def found(self) -> list[str]:
        """Shows the route."""
        return [*self._ip(), "show", "exact", self.to]

    def changed(self, before: list[str], name: str | None) -> list[str]:
        """The route as it was, but for its congestion control."""
        return [*self._ip(), "change", *before, *(["congctl", name] if name else [])]

    def before(self) -> list[str]:
        """The route.

        Raises:
            OptionError: If there is no such route, or more than one, or it has a congestion control.
        """
        routes = told(*self.found()).splitlines()
        if len(routes) != 1:
            have = f"there are {len(routes)}" if routes else "there is none; `ip route add` makes one"
            raise OptionError(f"route: expected one route to just {self.to}: {have}")
        if re.search(r"\bcongctl\b", routes[0]):
            raise OptionError(f"route: {routes[0].strip()} has a congestion control already: take it off first")
        # The state of a link is shown among what can be set.
        return [word for word in routes[0].split() if word not in ("linkdown", "dead")]

    def _ip(self) -> list[str]:
        return ["ip", f"-{ipaddress.ip_network(self.to).version}", "route"]


@dataclass(frozen=True)
class Everywhere(Place):
    """All new connections of the machine's first network namespace that do not ask for something else."""

    def found(self) -> list[str]:
        """Shows the default."""
        return ["sysctl", "-n", DEFAULT]

    def changed(self, before: list[str], name: str | None) -> list[str]:
        """Sets the default."""
        return ["sysctl", "-q", f"{DEFAULT}={name or ' '.join(before)}"]

    def before(self) -> list[str]:
        """The default.

        Raises:
            OptionError: Elsewhere than in the machine's first namespace. Linux takes no such default there, and, having
                refused, holds the table until the next start of the machine.
        """
        if not OF_THE_FIRST.exists():
            raise OptionError("everywhere: expected the machine's own network namespace, this is another; use a route")
        return super().before()


def place_of(*, route: str | None, everywhere: bool) -> Place:
    """The one place that was said.

    Raises:
        OptionError: If none was said, or both, or it is none.
    """
    if (route is None) is not everywhere:
        raise OptionError("deploy: expected either a route, such as 10.0.0.0/8, or everywhere, said in so many words")
    return Everywhere() if route is None else Route(route)
