"""The files of a design, and going on from its checkpoint."""

import os
from pathlib import Path

from exmachina import _core
from exmachina.errors import FileError, OptionError, told_as
from exmachina.files import check_output, read_file
from exmachina.networks import Model

__all__ = ["DesignFiles", "resumed"]

MOST_CHECKPOINT_BYTES = 1 << 30


class DesignFiles:
    """The files of a design: NAME.dna, NAME.dna.checkpoint, NAME.dna.history.parquet.

    Where several tables are designed together, there is a NAME-CLASS.dna for each, and no NAME.dna.
    """

    def __init__(self, output: str | os.PathLike[str], classes: list[str]) -> None:
        path = check_output(output, suffixes=(".dna",))
        self.tables = {name: path.with_name(f"{path.stem}-{name}.dna") if name else path for name in classes}
        self.checkpoint = Path(f"{path}.checkpoint")
        self.history = Path(f"{path}.history.parquet")
        self.lock = Path(f"{path}.lock")

    def refuse_leftovers(self) -> None:
        """Stops where results of an earlier design would be lost."""
        if self.checkpoint.exists():
            raise FileError(
                f"{self.checkpoint} is there from an earlier design: --resume goes on with it, --force starts over"
            )
        for table in self.tables.values():
            if table.exists():
                raise FileError(f"{table} exists: choose another name, or replace it with --force")


def resumed(files: DesignFiles, model: Model, search: str, seed: int | None) -> _core.Designer:
    """A search as its checkpoint has it.

    Raises:
        FileError: If there is no checkpoint, or it is damaged.
        OptionError: If it is that of another design.
    """
    if not files.checkpoint.exists():
        raise FileError(f"{files.checkpoint}: there is no such checkpoint; leave out --resume to start")
    try:
        text = read_file(files.checkpoint, most_bytes=MOST_CHECKPOINT_BYTES).decode()
    except UnicodeDecodeError:
        raise FileError(f"{files.checkpoint}: not a checkpoint") from None
    with told_as(FileError):
        designer = _core.Designer.resume(text, str(files.checkpoint))
    if designer.model_text != model.text:
        raise OptionError(f"{files.checkpoint}: belongs to another model; --resume needs the model it began with")
    if designer.search != search:
        raise OptionError(f"{files.checkpoint}: was begun with --search {designer.search}; go on with the same")
    if seed is not None and designer.seed != seed:
        raise OptionError(f"{files.checkpoint}: was begun with --seed {designer.seed}; go on with the same")
    return designer
