"""Design models: the network that one knows, and what one wants on it (Remy'13 §3; Tao'14 §3)."""

import os
from typing import Self

from exmachina import _core
from exmachina.errors import InputError
from exmachina.files import MODELS, find, shipped_files

__all__ = ["Model", "shipped_models"]


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
        data, file = find(MODELS, source)
        try:
            return cls(data.decode(), file)
        except UnicodeDecodeError:
            raise InputError(f"{file}: expected a TOML file in UTF-8") from None


def shipped_models() -> list[Model]:
    """The models that come with the program, in order of name."""
    return [Model.load(name) for name in shipped_files(MODELS)]
