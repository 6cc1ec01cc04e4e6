"""The rooms of the package: what stands where, and that imports run one way, from the top of the list down."""

import ast
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import exmachina

PACKAGE = Path(exmachina.__file__).parent

GROUND = ("errors", "checks", "interrupts", "frames", "seeds", "stats")
"""Single modules that know nothing of any room."""
ROOMS = (
    "files",
    "engines",
    "networks",
    "schemes",
    "exporting",
    "deploying",
    "scoring",
    "disturbing",
    "evaluation",
    "measuring",
    "inspection",
    "probing",
    "hunting",
    "steadying",
    "tuning",
    "sweeping",
    "designing",
    "pictures",
    "reproduce",
    "command",
)
"""From the bottom: a room may import what stands before it."""
ROOT = ("", "__main__")
"""The package's own door, and the program: both above all rooms."""


def modules() -> dict[str, Path]:
    """The package's modules by name, without `exmachina.` before it; a room's door has the room's name."""
    found = {}
    for path in PACKAGE.rglob("*.py"):
        name = ".".join(path.relative_to(PACKAGE).with_suffix("").parts)
        found[name.removesuffix("__init__").removesuffix(".")] = path
    return found


def imported(source: str, known: dict[str, Path]) -> set[str]:
    """The modules of the package that a source imports, anywhere in it; `_core` is not one of them."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports name the whole way"
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                found.add(inner if inner.removeprefix("exmachina.") in {*known, "_core"} else str(node.module))
    ours = {name for name in found if name == "exmachina" or name.startswith("exmachina.")}
    return {name.removeprefix("exmachina").removeprefix(".") for name in ours} - {"_core"}


def room_of(module: str) -> str:
    """The room of a module; "ground" and "root" for those that are in none."""
    first = module.partition(".")[0]
    if module in ROOT:
        return "root"
    return "ground" if module in GROUND else first


FLOORS = ("ground", *ROOMS, "root")


def graph() -> dict[str, set[str]]:
    """Who imports whom."""
    known = modules()
    return {name: imported(path.read_text(encoding="utf-8"), known) for name, path in known.items()}


def upward(imports: dict[str, set[str]]) -> set[tuple[str, str]]:
    """Modules with the rooms above their own that they import."""
    return {
        (module, room_of(other))
        for module, others in imports.items()
        for other in others
        if FLOORS.index(room_of(other)) > FLOORS.index(room_of(module))
    }


def test_every_module_has_a_room() -> None:
    assert {room_of(module) for module in modules()} <= set(FLOORS)


def test_no_import_goes_upward() -> None:
    assert upward(graph()) == set()


def test_no_imports_go_in_a_circle() -> None:
    try:
        TopologicalSorter(graph()).prepare()
    except CycleError as error:
        raise AssertionError(" imports ".join(reversed(error.args[1]))) from None


def test_rooms_of_data_are_entered_by_their_door() -> None:
    data = ROOMS[: ROOMS.index("pictures")]
    inside = {
        (module, other)
        for module, others in graph().items()
        for other in others
        if "." in other and room_of(other) in data and room_of(module) != room_of(other)
    }
    assert inside == set()


def test_this_test_sees_imports_wherever_they_stand() -> None:
    known = modules()
    hidden = "def f():\n    from exmachina.scoring import score\n    import exmachina.command.cli\n"
    found = imported(hidden, known)
    assert found == {"scoring", "command.cli"}
    assert upward({"files.disk": found}) == {("files.disk", "scoring"), ("files.disk", "command")}
    assert imported("from exmachina import _core, frames", known) == {"frames"}
    assert imported("from exmachina import Model, _core", known) == {""}
