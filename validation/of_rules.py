"""Models of the program, asked for a table of rules: for measurements of the search that grows those."""

import tomllib
from pathlib import Path

import tomli_w

from exmachina import Model
from exmachina.files import write_atomically


def of_rules(name: str) -> Model:
    """The model of this name as it asks for a table: on the same networks, with nothing added to them in a design."""
    asked = tomllib.loads(Model.load(name).text)
    asked["design"] = {key: value for key, value in asked["design"].items() if key not in ("form", "world")}
    return Model(tomli_w.dumps(asked), f"{name}.toml")


def written(name: str, folder: Path) -> Path:
    """The same in a file, for what is given a path.

    Raises:
        OSError: If it cannot be written.
    """
    path = folder / f"{name}.toml"
    write_atomically(path, of_rules(name).text.encode())
    return path
