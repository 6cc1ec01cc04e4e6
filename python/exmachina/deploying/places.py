"""Which connections get a table: those of one route, of one cgroup, or all new ones of the machine.

What has a table now is asked of the kernel, by the table's name, so that whoever put it there need not be alive.
"""

import ipaddress
import json
import re
import shlex
from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from exmachina.deploying.loading import MAP, Sources, told
from exmachina.errors import MachineError, OptionError

__all__ = ["Cgroup", "Place", "Route", "place_of", "places_with", "root_of_cgroups"]

MOUNTS = Path("/proc/self/mountinfo")
FIND_ROOT = "findmnt --noheadings --first-only --types cgroup2 --output TARGET"
"""The command that says where cgroups are mounted."""
OF_V2 = "cgroup.controllers"
"""A file of every cgroup v2, and of no other folder."""


class Place(ABC):
    """Where a table can be put."""

    @abstractmethod
    def check(self) -> None:
        """Refuses a place that is none, or that has something already which would be in the way.

        Raises:
            InputError: What is wrong with it.
        """

    @abstractmethod
    def put(self, sources: Sources) -> None:
        """Has new connections of this place have a table that the kernel has.

        Raises:
            InputError: If there is no such place, or the kernel refuses.
        """

    @abstractmethod
    def take(self, name: str) -> None:
        """Takes a table away from where it is, so that all is as it was before.

        Raises:
            MachineError: If the kernel refuses.
        """

    @abstractmethod
    def printed(self, name: str) -> tuple[str, str, str]:
        """The same as lines of a shell: the place is remembered, the table put there, and taken away."""


@dataclass(frozen=True)
class Route(Place):
    """New connections to the places of one route, which keeps all else that it has."""

    to: str

    def __post_init__(self) -> None:
        try:
            ipaddress.ip_network(self.to)
        except ValueError as error:
            raise OptionError(f"route: expected a network such as 10.0.0.0/8: {error}") from None

    def __str__(self) -> str:
        return f"to {self.to}"

    def check(self) -> None:
        """There must be one such route, without a congestion control."""
        self._only()

    def put(self, sources: Sources) -> None:
        """Gives the route a congestion control."""
        told(*self._changed(_settable(self._only()), sources.name))

    def take(self, name: str) -> None:
        """Takes the congestion control off the route."""
        for route in self._routes():
            rest = re.sub(rf"\bcongctl {name}(?= |$)", "", route)
            if rest != route:
                told(*self._changed(_settable(rest), None))

    def printed(self, name: str) -> tuple[str, str, str]:
        """Lines of a shell, which keeps the route as it was."""
        put, back = (" ".join(self._changed(["$BEFORE"], one)) for one in (name, None))
        return f"BEFORE=$({shlex.join(self._shown())})", put, back

    @classmethod
    def having(cls, name: str) -> list["Route"]:
        """Those of this network namespace that have a congestion control of this name."""
        return [
            cls(everything if route["dst"] == "default" else route["dst"])
            for version, everything in ((4, "0.0.0.0/0"), (6, "::/0"))
            for route in _json("ip", "--json", f"-{version}", "route", "show")
            if name in [metrics.get("congestion") for metrics in route.get("metrics", [])]
        ]

    def _only(self) -> str:
        routes = self._routes()
        if len(routes) != 1:
            have = f"there are {len(routes)}" if routes else "there is none; `ip route add` makes one"
            raise OptionError(f"route: expected one route to just {self.to}: {have}")
        if re.search(r"\bcongctl\b", routes[0]):
            raise OptionError(f"route: {routes[0].strip()} has a congestion control already: take it off first")
        return routes[0]

    def _routes(self) -> list[str]:
        return told(*self._shown()).splitlines()

    def _shown(self) -> list[str]:
        return [*self._ip(), "show", "exact", self.to]

    def _changed(self, words: list[str], name: str | None) -> list[str]:
        return [*self._ip(), "change", *words, *(["congctl", name] if name else [])]

    def _ip(self) -> list[str]:
        return ["ip", f"-{ipaddress.ip_network(self.to).version}", "route"]


@dataclass(frozen=True)
class Cgroup(Place):
    """New connections of the programs of a cgroup, and of those below it, unless they ask for something else."""

    path: str | None
    """Its folder; without one it is that of all programs, everywhere."""

    def __str__(self) -> str:
        return "everywhere" if self.path is None else f"of {self.path}"

    def check(self) -> None:
        """It must be a cgroup v2, without a program of this kind: of two that set it, the first has its way."""
        path = self._folder()
        if not (path / OF_V2).is_file():
            raise OptionError(
                f"cgroup: expected the folder of a cgroup v2, such as /sys/fs/cgroup/user.slice, got {path}"
            )
        if self.path is not None and path == root_of_cgroups():
            raise OptionError(f"cgroup: {path} is that of all programs of the machine; if it is meant, say everywhere")
        for program in _programs(path).get(str(path), []):
            raise OptionError(f"cgroup: {path} has the sock_ops program {program['name']} already: detach it first")

    def put(self, sources: Sources) -> None:
        """Attaches the program that chooses the table."""
        told("make", "--silent", "attach", f"CGROUP={self._folder()}", folder=sources.folder)

    def take(self, name: str) -> None:
        """Detaches that program."""
        told("bpftool", "cgroup", "detach", str(self._folder()), "sock_ops", "name", MAP.format(name))

    def printed(self, name: str) -> tuple[str, str, str]:
        """Lines of a shell, with a rule of the exported Makefile each."""
        path = f"$({FIND_ROOT})" if self.path is None else shlex.quote(self.path)
        put, back = (f'make -C {name} {rule} CGROUP="$CGROUP"' for rule in ("attach", "detach"))
        return f"CGROUP={path}", put, back

    @classmethod
    def having(cls, name: str) -> list["Cgroup"]:
        """Those to which the program is attached that chooses this table."""
        root = root_of_cgroups()
        return [
            cls(None if path == str(root) else path)
            for path, programs in (_programs(root) if root else {}).items()
            if MAP.format(name) in [program["name"] for program in programs]
        ]

    def _folder(self) -> Path:
        if self.path is not None:
            return Path(self.path).resolve()
        root = root_of_cgroups()
        if not root:
            raise MachineError("everywhere: this machine has no cgroup v2 mounted (mount -t cgroup2 none FOLDER)")
        return root


def place_of(*, route: str | None, cgroup: str | None, everywhere: bool) -> Place:
    """The one place that was said.

    Raises:
        OptionError: If none was said, or several, or it is none.
    """
    said: list[Place] = []
    if route is not None:
        said.append(Route(route))
    if cgroup is not None:
        said.append(Cgroup(cgroup))
    if everywhere:
        said.append(Cgroup(None))
    if len(said) != 1:
        raise OptionError(
            "deploy: expected one of a route, such as 10.0.0.0/8, a cgroup, or everywhere, said in so many words"
        )
    return said[0]


def places_with(name: str) -> list[Place]:
    """Where a table is now, in this network namespace and in all cgroups."""
    return [*Route.having(name), *Cgroup.having(name)]


def _settable(route: str) -> list[str]:
    """The words that set a route as it is shown: the state of its link is shown among them."""
    return [word for word in route.split() if word not in ("linkdown", "dead")]


def root_of_cgroups() -> Path | None:
    """Where all cgroups of v2 are mounted, if they are."""
    for line in MOUNTS.read_text().splitlines():
        fields, kind = line.split(" - ")
        root, target = fields.split()[3:5]
        if kind.split()[0] == "cgroup2" and root == "/":
            return Path(target)
    return None


def _programs(path: Path) -> dict[str, list[dict[str, Any]]]:
    """The sock_ops programs that are attached to a cgroup and to those below it, by their folders."""
    tree = _json("bpftool", "--json", "cgroup", "tree", str(path))
    return {
        cgroup["cgroup"]: [one for one in cgroup["programs"] if one["attach_type"].endswith("sock_ops")]
        for cgroup in tree
    }


def _json(*command: str) -> Any:
    """What a program says, which may be nothing where there is nothing to say."""
    return json.loads(told(*command).strip() or "[]")
