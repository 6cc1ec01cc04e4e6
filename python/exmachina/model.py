"""Design models: the network that one knows, and what one wants on it (Remy'13 §3; Tao'14 §3)."""

import os
from pathlib import Path
from typing import Self

from exmachina import _core
from exmachina.errors import InputError
from exmachina.files import read_file
from exmachina.shipped import shipped_files

__all__ = ["Model", "shipped_models"]

SHIPPED = ("models", ".toml")
"""Where those are that come with the program, and how their files end."""


class Model(_core.Model):
    """A design model. `Model(text, file)` reads the text of a TOML file; `file` is for messages and for the name.

    Attributes:
        name: As in the file, or the file's own name.
        description: In a person's words; may be empty.
        text: The whole file.
        signals: The signals that rules may look at.
        duration_s: Simulated seconds of a run.
        seed: The root of everything random.
        classes: The names of the tables that its senders run and that are designed together, in order; one empty name
            where all senders run the same.
        grid_points: Number of networks, if all values are exact or listed; `None` if they are drawn.
        start_action: Multiple, increment (packets) and intersend (ms) of the first rule of a design.
        objective: alpha, beta, delta (Remy'13 §3.3), throughput ("share" or "on-time"), loss_weight, deliveries ("all"
            or "while-on").

    Raises:
        InputError: If the text is no model: file, line, field, and what was expected.
    """

    @classmethod
    def load(cls, source: str | os.PathLike[str]) -> Self:
        """Reads a model file, or a model that comes with the program, by its name.

        Raises:
            InputError: If there is no such file or model, or it is none.
        """
        path = Path(source)
        if path.suffix == ".toml" or len(path.parts) > 1 or path.is_file():
            return cls._read(read_file(path), str(path))
        shipped = shipped_files(*SHIPPED)
        if str(source) in shipped:
            return cls._read(shipped[str(source)].read_bytes(), f"{source}.toml")
        known = ", ".join(shipped)
        raise InputError(f"{source}: there is no such model; expected a .toml file or one of {known}")

    @classmethod
    def _read(cls, data: bytes, file: str) -> Self:
        try:
            return cls(data.decode(), file)
        except UnicodeDecodeError:
            raise InputError(f"{file}: expected a TOML file in UTF-8") from None


def shipped_models() -> list[Model]:
    """The models that come with the program, in order of name."""
    return [Model.load(name) for name in shipped_files(*SHIPPED)]
