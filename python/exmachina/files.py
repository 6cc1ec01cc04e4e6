"""Reading what people hand us and writing results: every message names the file, every write is atomic."""

import os
from pathlib import Path

from exmachina.errors import InputError

__all__ = ["check_output", "make_folder", "read_file", "write_atomically"]


def read_file(path: str | os.PathLike[str]) -> bytes:
    """The bytes of a file.

    Raises:
        InputError: If it cannot be read.
    """
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise InputError(f"{path}: cannot read it: {reason(error)}") from None


def write_atomically(path: str | os.PathLike[str], data: bytes, *, durable: bool = True) -> None:
    """Writes a file so that at any moment it holds either all of the old content or all of the new.

    With `durable`, the content is on the disk before the name points to it, so that not even a power cut leaves less.
    """
    path = Path(path)
    # Always the same name, so that what a kill leaves is swept away by the next write.
    part = path.with_name(f".{path.name}.part")
    try:
        with part.open("wb") as file:
            file.write(data)
            if durable:
                file.flush()
                os.fsync(file.fileno())
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def check_output(path: str | os.PathLike[str], *, suffixes: tuple[str, ...] = ()) -> Path:
    """The path, once it is clear that a file can be written there: found out before an hour's work, not after.

    Raises:
        InputError: If the name ends otherwise than in one of `suffixes`, or its folder is missing or read-only.
    """
    path = Path(path)
    if suffixes and path.suffix not in suffixes:
        raise InputError(f"{path}: expected a name that ends in {' or '.join(suffixes)}")
    if not path.parent.is_dir():
        raise InputError(f"{path}: there is no folder {path.parent}; create it first")
    if path.is_dir():
        raise InputError(f"{path}: expected the name of a file, this is a folder")
    if not os.access(path.parent, os.W_OK):
        raise InputError(f"{path}: cannot write in the folder {path.parent}")
    return path


def make_folder(path: str | os.PathLike[str]) -> Path:
    """A folder to write results into, created if missing.

    Raises:
        InputError: If it cannot be created, or is read-only.
    """
    path = Path(path)
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{path}: cannot create this folder: {reason(error)}") from None
    if not os.access(path, os.W_OK):
        raise InputError(f"{path}: cannot write in this folder")
    return path


def reason(error: OSError) -> str:
    """Why the operating system refused, in its own words, lower case."""
    return (error.strerror or str(error)).lower()
