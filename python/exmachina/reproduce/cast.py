"""Who plays: our algorithms by name, published and robust ones that stand for them, and what pictures call them all."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from exmachina.errors import FileError
from exmachina.files import ALGORITHMS as SHIPPED
from exmachina.files import read_file, shipped_files
from exmachina.pictures.style import MACHINES, Kind, family_colours, kind_of
from exmachina.pictures.style import PUBLISHED as GREENS
from exmachina.schemes import SchemeLike, Table

__all__ = ["ALGORITHMS", "Cast", "colours_of", "kinds_of", "published_label", "shown"]

KNOCKED_OUT = tuple(f"tao-knockout-{signal}" for signal in ("send", "ack", "rtt", "slow"))
ALGORITHMS = (
    *("general-0.1", "general-1", "general-10", "known-1x", "known-10x", "datacenter", "coexist"),
    *("tao-2x", "tao-10x", "tao-100x", "tao-1000x"),
    *("tao-mux-2", "tao-mux-10", "tao-mux-20", "tao-mux-50", "tao-mux-100"),
    *("tao-rtt-150", "tao-rtt-145-155", "tao-rtt-140-160", "tao-rtt-50-250"),
    *("tao-one-bottleneck", "tao-two-bottleneck", "tao-tcp-naive", "tao-tcp-aware"),
    *("tao-delta-0.1", "tao-delta-10", "tao-codesigned-0.1", "tao-codesigned-10"),
    *("tao-calibration", *KNOCKED_OUT),
)
"""What experiments know by name; everything else is a scheme that people wrote."""
ROBUST = {
    name: f"{name}-robust"
    for name in (
        *("general-0.1", "general-1", "general-10"),
        *("tao-10x", "tao-100x", "tao-1000x", "tao-mux-10", "tao-rtt-150"),
    )
}
"""Those of ours that were designed for the same ranges in the world as it is, by the names that experiments know."""


@dataclass(frozen=True)
class Published:
    """A table of the authors."""

    file: str
    label: str


PUBLISHED = {
    "general-0.1": Published("RemyCC-2013-delta0.1", "published delta 0.1"),
    "general-1": Published("RemyCC-2013-delta1", "published delta 1"),
    "general-10": Published("RemyCC-2013-delta10", "published delta 10"),
    "tao-10x": Published("tao-10x", "published tao-10x"),
    "tao-100x": Published("tao-100x", "published tao-100x"),
    "tao-mux-10": Published("tao-mux-1-10", "published tao-mux-10"),
    "tao-one-bottleneck": Published("tao-10x", "published tao-one-bottleneck"),  # designed for the very same
    "tao-rtt-150": Published("tao-rtt-150", "published tao-rtt-150"),
    "tao-tcp-aware": Published("tao-tcp-aware", "published tao-tcp-aware"),
    "tao-tcp-naive": Published("tao-tcp-naive", "published tao-tcp-naive"),
}
"""The authors' tables by what ours is called that was designed for the same."""
PUBLISHED_LABELS = {entry.label for entry in PUBLISHED.values()}

SHOWN = {
    "general-0.1": "RemyCC δ=0.1",
    "general-1": "RemyCC δ=1",
    "general-10": "RemyCC δ=10",
    "known-1x": "RemyCC 1×",
    "known-10x": "RemyCC 10×",
    "datacenter": "RemyCC datacenter",
    "coexist": "RemyCC coexist",
    "tao-2x": "Tao-2×",
    "tao-10x": "Tao-10×",
    "tao-100x": "Tao-100×",
    "tao-1000x": "Tao-1000×",
    "tao-mux-2": "Tao 1–2",
    "tao-mux-10": "Tao 1–10",
    "tao-mux-20": "Tao 1–20",
    "tao-mux-50": "Tao 1–50",
    "tao-mux-100": "Tao 1–100",
    "tao-rtt-150": "Tao 150 ms",
    "tao-rtt-145-155": "Tao 145–155 ms",
    "tao-rtt-140-160": "Tao 140–160 ms",
    "tao-rtt-50-250": "Tao 50–250 ms",
    "tao-one-bottleneck": "Tao one bottleneck",
    "tao-two-bottleneck": "Tao two bottlenecks",
    "tao-tcp-naive": "Tao TCP-naive",
    "tao-tcp-aware": "Tao TCP-aware",
    "tao-delta-0.1": "naive δ=0.1",
    "tao-delta-10": "naive δ=10",
    "tao-codesigned-0.1": "co-designed δ=0.1",
    "tao-codesigned-10": "co-designed δ=10",
    "tao-calibration": "Tao",
    "tao-knockout-send": "without send_ewma",
    "tao-knockout-ack": "without ack_ewma",
    "tao-knockout-rtt": "without rtt_ratio",
    "tao-knockout-slow": "without slow_ack_ewma",
    "newreno": "NewReno",
    "vegas": "Vegas",
    "compound": "Compound",
    "cubic": "Cubic",
    "cubic/sfqcodel": "Cubic/sfqCoDel",
    "xcp": "XCP",
    "dctcp": "DCTCP",
    "aimd": "AIMD",
    "omniscient": "Omniscient",
}


def shown(label: str) -> str:
    """What pictures call a contender."""
    if label in SHOWN:
        return SHOWN[label]
    if " beside " in label:
        one, other = map(shown, label.split(" beside "))
        kind = one.split(" ", maxsplit=1)[0] + " "
        return f"{one} beside {other.removeprefix(kind)}"
    for name, published in PUBLISHED.items():
        if label == published.label:
            return f"{SHOWN[name]}, published"
    for name, robust in ROBUST.items():
        if label == robust:
            return f"{SHOWN[name]}, robust"
    return " + ".join(SHOWN.get(part.removesuffix(".dna"), part) for part in label.split(" + "))


def published_label(name: str) -> str:
    """What results call the published table that stands beside ours of this name; the name itself if there is none."""
    return PUBLISHED[name].label if name in PUBLISHED else name


def colours_of(labels: Iterable[str]) -> dict[str, str]:
    """A colour for each contender: published tables are green, ours blue; all others as everywhere."""
    labels = list(labels)
    colours = family_colours(label for label in labels if label not in ALGORITHMS)
    ours = greens = 0
    for label in labels:
        scheme = label.split(" beside ", maxsplit=1)[0]
        if scheme in PUBLISHED_LABELS:
            colours[label] = GREENS[greens % len(GREENS)]
            greens += 1
        elif scheme in ALGORITHMS or scheme in ROBUST.values():
            colours[label] = MACHINES[ours % len(MACHINES)]
            ours += 1
    return colours


def kinds_of(labels: Iterable[str]) -> dict[str, Kind]:
    """What kind of scheme each contender has."""
    return {
        label: "published" if label.split(" beside ", maxsplit=1)[0] in PUBLISHED_LABELS else kind_of(label)
        for label in labels
    }


@dataclass(frozen=True)
class Cast:
    """The algorithms at hand."""

    ours: dict[str, Table]
    """By name."""
    published: dict[str, Table] = field(default_factory=dict)
    """By the name of ours that it stands beside."""
    robust: dict[str, Table] = field(default_factory=dict)
    """Likewise."""

    @classmethod
    def load(cls, ours: Path | None = None, published: Path | None = None, *, robust: bool = False) -> "Cast":
        """Our algorithms as shipped, or as files NAME.dna of a folder; published ones from another folder.

        Args:
            ours: The folder of ours.
            published: That of the published ones; none of these without.
            robust: Whether the robust ones of ours play, too.

        Raises:
            FileError: If a folder is missing or has none of the files.
            TableError: If a file is no table.
        """
        own = _own(ours, {name: name for name in ALGORITHMS})
        theirs: dict[str, Table] = {}
        if published is not None:
            theirs = _from_folder(published, {name: entry.file for name, entry in PUBLISHED.items()})
            for name, table in theirs.items():
                table.name = PUBLISHED[name].label
        return cls(own, theirs, _own(ours, ROBUST) if robust else {})

    @property
    def kinds(self) -> dict[str, dict[str, Table]]:
        """The tables that stand for an algorithm, by kind: ours, published, robust."""
        return {"ours": self.ours, "published": self.published, "robust": self.robust}

    def contenders(self, schemes: list[str]) -> tuple[list[SchemeLike], list[str]]:
        """What to run for these names, all kinds of tables beside each other; and the names that are missing."""
        found: list[SchemeLike] = []
        for name in schemes:
            if name not in ALGORITHMS:
                found.append(name)
                continue
            found += [tables[name] for tables in self.kinds.values() if name in tables]
        return found, [name for name in schemes if name in ALGORITHMS and name not in self.ours]


def _own(folder: Path | None, files: dict[str, str]) -> dict[str, Table]:
    """Tables by name, of what comes with the program, or of a folder."""
    if folder is not None:
        return _from_folder(folder, files)
    shipped = shipped_files(SHIPPED)
    return {name: Table(shipped[file].read_bytes(), f"{file}.dna") for name, file in files.items() if file in shipped}


def _from_folder(folder: Path, files: dict[str, str]) -> dict[str, Table]:
    """Tables by name, of those files that there are."""
    if not folder.is_dir():
        raise FileError(f"{folder}: there is no such folder of tables")
    paths = {name: folder / f"{file}.dna" for name, file in files.items()}
    found = {name: Table(read_file(path), path.name) for name, path in paths.items() if path.is_file()}
    if not found:
        expected = ", ".join(f"{file}.dna" for file in files.values())
        raise FileError(f"{folder}: there is no table in it; expected some of {expected}")
    return found
