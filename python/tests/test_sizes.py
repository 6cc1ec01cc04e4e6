"""A file holds one subject: none in Rust or Python is longer than `MOST_LINES`; one that is, is cut by subject."""

from collections.abc import Iterator
from pathlib import Path

PROJECT = Path(__file__).parents[2]
SOURCES = ("crates", "python", "validation")
SUFFIXES = {".rs", ".py", ".pyi"}
MOST_LINES = 400


def sources(project: Path) -> Iterator[Path]:
    """Every source file of Rust and Python, tests included."""
    for folder in SOURCES:
        yield from (path for path in (project / folder).rglob("*") if path.suffix in SUFFIXES)


def too_long(project: Path) -> dict[str, int]:
    """Files of more than `MOST_LINES` lines, with how many they have."""
    lengths = {str(path.relative_to(project)): len(path.read_bytes().splitlines()) for path in sources(project)}
    return {name: lines for name, lines in lengths.items() if lines > MOST_LINES}


def test_no_source_file_is_too_long() -> None:
    assert too_long(PROJECT) == {}


def test_files_of_both_languages_are_looked_at(tmp_path: Path) -> None:
    for name, lines in {"crates/a/src/long.rs": 401, "python/b/c.pyi": 402, "validation/d.py": 400}.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True)
        path.write_text("x\n" * lines)
    assert too_long(tmp_path) == {"crates/a/src/long.rs": 401, "python/b/c.pyi": 402}
    names = {path.name for path in sources(PROJECT)}
    assert {"memory.rs", "fuzz.rs", "_core.pyi", "test_sizes.py", "sturdy.py"} <= names
