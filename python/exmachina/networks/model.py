"""Design models: the network that one knows, and what one wants on it (Remy'13 §3; Tao'14 §3)."""

import os
from typing import Self, TypeAlias

from exmachina import _core
from exmachina.errors import ModelError, told_as
from exmachina.files import MODELS, find, shipped_files

__all__ = ["Model", "ModelLike", "shipped_models"]


class Model(_core.Model):
    """A design model. `Model(text, file)` reads the text of a TOML file; `file` is for messages and for the name.

    >>> model = exmachina.Model.load("demo")
    >>> model.signals, model.objective.delta
    (['send_ewma', 'ack_ewma', 'rtt_ratio', 'slow_ack_ewma'], 1.0)

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
        start_action: Of the first rule of a design: multiple, increment_packets, intersend_ms.
        objective: alpha, beta, delta (Remy'13 §3.3), throughput ("share" or "on-time"), loss_weight, deliveries ("all"
            or "while-on").
        entry: Of which entry of `[[also]]` it is (see `also`), from 0; `None` if the model's own.
        weight: How much a point of score counts there, against one of the model itself.
        entries: How many entries of `[[also]]` it has.

    Raises:
        ModelError: If the text is no model: file, line, field, and what was expected.
    """

    def __new__(cls, text: str, file: str = "model.toml", entry: int | None = None) -> Self:
        """Reads the text; `file` is for messages and for the name, `entry` of which `[[also]]` it is, if of one."""
        with told_as(ModelError):
            return super().__new__(cls, text, file, entry)

    def __reduce__(self) -> tuple[type[Self], tuple[str, str, int | None]]:
        return type(self), (self.text, f"{self.name}.toml", self.entry)

    def __repr__(self) -> str:
        return f"Model({self.name!r})" if self.entry is None else f"Model({self.name!r}).also[{self.entry}]"

    @property
    def also(self) -> tuple["Model", ...]:
        """What a design must do well with, too (`[[also]]`), each as a model: its networks, world and objective.

        They can be scored, disturbed and inspected; whatever goes by the text of a model refuses them.

        >>> robust = exmachina.Model.load("tao-100x-robust")
        >>> robust.also, robust.also[0].weight
        ((Model('tao-100x-robust').also[0],), 1.0)
        """
        return tuple(type(self)(self.text, f"{self.name}.toml", k) for k in range(self.entries))

    def whole(self) -> Self:
        """It, if it is no entry: what goes by a model's text would be of the model's own networks.

        Raises:
            ModelError: If it is an entry of `[[also]]`.
        """
        if self.entry is not None:
            raise ModelError(f"{self!r}: expected a model; entries of [[also]] can be scored, disturbed and inspected")
        return self

    @property
    def facts(self) -> dict[str, str]:
        """What a file says of the model that its numbers are of."""
        return {"model": self.text} | ({} if self.entry is None else {"entry": str(self.entry)})

    @classmethod
    def of(cls, source: "ModelLike") -> "Model":
        """A model as it is; else what `load` makes of the path or name."""
        return source if isinstance(source, Model) else cls.load(source)

    @classmethod
    def load(cls, source: str | os.PathLike[str]) -> Self:
        """Reads a model file, or a model that comes with the program, by its name.

        Raises:
            FileError: If the file cannot be read.
            UnknownNameError: If there is no model of this name.
            ModelError: If it is none.
        """
        data, file = find(MODELS, source)
        try:
            return cls(data.decode(), file)
        except UnicodeDecodeError:
            raise ModelError(f"{file}: expected a TOML file in UTF-8") from None


ModelLike: TypeAlias = Model | str | os.PathLike[str]
"""A model, the path of a model file, or the name of a model that comes with the program."""


def shipped_models() -> list[Model]:
    """The models that come with the program, in order of name.

    >>> "demo" in [model.name for model in exmachina.shipped_models()]
    True
    """
    return [Model.load(name) for name in shipped_files(MODELS)]
