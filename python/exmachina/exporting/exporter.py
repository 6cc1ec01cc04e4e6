"""Exports: a folder with sources of one form, what builds them, how to use them, and the rounded table."""

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

from exmachina import _core
from exmachina.errors import OptionError
from exmachina.exporting.facts import facts_of, kernel_name, moved_of, plain
from exmachina.exporting.rounding import Moved
from exmachina.files import make_folder, or_nearest, write_atomically
from exmachina.schemes import Table, TableLike

__all__ = ["Export", "Form", "export"]

Form: TypeAlias = Literal["bpf", "c", "json", "ns3", "rust"]
"""For the Linux kernel, for C, for implementations of one's own, for ns-3, for Rust."""

CORE = {"exm.h": "shared/exm.h.j2", "exm.c": "shared/{kind}.c", "{kind}.h": "shared/{kind}.h.j2"}
"""The controller in C: what user space runs is what the kernel runs."""
FILES: dict[Form, dict[str, str]] = {
    "bpf": {
        "exm.bpf.c": "bpf/exm.bpf.c.j2",
        "cgroup.bpf.c": "bpf/cgroup.bpf.c.j2",
        **CORE,
        "Makefile": "bpf/Makefile.j2",
        "README.md": "bpf/README.md.j2",
    },
    "c": {**CORE, "Makefile": "c/Makefile.j2", "README.md": "c/README.md.j2"},
    "json": {"README.md": "json/{kind}.md.j2"},
    "ns3": {
        "{stem}.h": "ns3/rule-table.h.j2",
        "{stem}.cc": "ns3/rule-table.cc.j2",
        **CORE,
        "CMakeLists.txt": "ns3/CMakeLists.txt.j2",
        "README.md": "ns3/README.md.j2",
    },
    "rust": {
        "Cargo.toml": "rust/Cargo.toml.j2",
        "src/lib.rs": "rust/lib.rs.j2",
        "src/flow.rs": "rust/{kind}_flow.rs",
        "src/{kind}.rs": "rust/{kind}.rs.j2",
        "README.md": "rust/README.md.j2",
    },
}
"""What a form is made of: its files and the template of each, by names that may have facts in them."""


@dataclass(frozen=True)
class Export:
    """What was written, and what rounding did to the table.

    >>> done = exmachina.export("general-1", to="json", output="general-1-json")
    >>> max(one.farthest for one in done.moved) <= 2**-16
    True
    """

    folder: Path
    written: tuple[Path, ...]
    quantised: Table
    """The table that the sources hold, to be scored and inspected like any other."""
    moved: tuple[Moved, ...]
    """How far splits moved, one for each signal of the table."""
    closed_rules: int
    """Rules whose boxes lay between two splits that are one now."""
    multiple: float
    """The largest change of a window multiple."""
    intersend_ms: float
    """The largest change of a least time between two sends."""


def export(table: TableLike, *, to: Form, output: str | os.PathLike[str], name: str | None = None) -> Export:
    """Writes a table as sources for a transport, with what builds them, a README.md, and the rounded table as `.dna`.

    >>> done = exmachina.export("known-1x", to="c", output="known-1x-c")
    >>> sorted(path.name for path in done.written)
    ['Makefile', 'README.md', 'exm.c', 'exm.h', 'known-1x-quantised.dna', 'table.h']

    Args:
        table: A table, its path, or the name of an algorithm that comes with the program.
        to: `bpf` (a congestion control for the Linux kernel), `ns3` (one for ns-3), `c`, `rust`, or `json` for
            implementations of one's own.
        output: The folder to write into; created if missing.
        name: What to call it there; the table's name if not given, for Linux its first letters.

    Raises:
        OptionError: If there is no such form, or nothing can have that name.
        FileError: If the folder cannot be written in.
    """
    from exmachina.exporting.filling import fill  # noqa: PLC0415 (only what exports needs templates)

    if to not in FILES:
        forms = get_args(Form)
        raise OptionError(f"to: expected {', '.join(forms)}, got {to}{or_nearest(to, forms)}")
    table = Table.of(table)
    called = plain(name or table.name)
    kernel = kernel_name(name or called, given=name is not None and to == "bpf")
    core = table.quantised()
    facts = facts_of(table, core, name=called, kernel=kernel)
    texts = {path.format_map(facts): fill(template.format_map(facts), facts) for path, template in FILES[to].items()}
    if to == "json":
        texts[f"{facts['kind']}.json"] = _as_json(facts)
    if to == "rust" and table.law:
        texts |= {f"src/{name}": text for name, text in _core.LAW_FLOW}
    folder = make_folder(output)
    written = [_write(folder / path, text.encode()) for path, text in texts.items()]
    quantised = Table(core.dna, facts["dna"])
    written.append(_write(folder / facts["dna"], quantised.dna))
    return Export(
        folder=folder,
        written=tuple(written),
        quantised=quantised,
        moved=moved_of(core),
        closed_rules=core.closed_rules,
        multiple=core.multiple,
        intersend_ms=core.intersend_ms,
    )


def _write(path: Path, content: bytes) -> Path:
    make_folder(path.parent)
    write_atomically(path, content)
    return path


def _as_json(facts: dict[str, Any]) -> str:
    of_table = ("signals", "root", "depth", "planes", "rules", "fast_shift", "slow_shift", "loss_shift")
    kept = ("law",) if facts["kind"] == "law" else (*of_table, "multiple_bits", "most_in_one")
    numbers = {key: facts[key] for key in ("name", "version", *kept, "max_window")}
    return json.dumps({"format": f"exmachina-{facts['kind']}-1", **numbers}, indent=1) + "\n"
