"""Reading what people hand us and writing results: every message names the file, every write is atomic."""

import os
import stat
from pathlib import Path

from exmachina.errors import FileError
from exmachina.files.locks import open_locked

__all__ = ["MOST_BYTES", "check_output", "make_folder", "read_file", "write_atomically"]

MOST_BYTES = 64 << 20
"""Of a file that people hand us, if nothing else is said: a scenario has some kB, a rule table some MB at most."""

KINDS = [
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISSOCK, "a socket"),
]


def read_file(path: str | os.PathLike[str], *, most_bytes: int = MOST_BYTES) -> bytes:
    """The bytes of a file. What has no end, or none to come, is refused.

    Raises:
        FileError: If it cannot be read, is larger than `most_bytes`, or is no file: a folder, a pipe, a device.
    """
    _check_name(path)
    try:
        # Before it is opened: to open a pipe is to wait for somebody who writes into it.
        facts = Path(path).stat()
        _check_kind(path, facts.st_mode)
        if facts.st_size > most_bytes:
            raise FileError(f"{path}: expected at most {most_bytes >> 20} MiB, the file has more")
        return Path(path).read_bytes()
    except OSError as error:
        raise FileError(f"{path}: cannot read it: {reason(error)}") from None


def _check_kind(path: str | os.PathLike[str], mode: int) -> None:
    if not stat.S_ISREG(mode):
        kind = next((words for is_kind, words in KINDS if is_kind(mode)), "something else")
        raise FileError(f"{path}: expected a file, this is {kind}")


def _check_name(path: str | os.PathLike[str]) -> None:
    if "\0" in str(path):
        raise FileError(f"{str(path)!r}: expected the name of a file, got one with a null byte")


def write_atomically(path: str | os.PathLike[str], data: bytes, *, durable: bool = True) -> None:
    """Writes a file so that at any moment it holds either all of the old content or all of the new.

    With `durable`, the content is on the disk before the name points to it, so that not even a power cut leaves less.
    Several processes may write the same file; the last one's stays.

    Raises:
        OSError: With the name of the file, say if the disk is full.
    """
    path = Path(path)
    # Always the same name, so that what a kill leaves is swept away by the next write.
    part = path.with_name(f".{path.name}.part")
    try:
        with open_locked(part, wait=True) as file:
            try:
                file.truncate()
                file.write(data)
                file.flush()
                if durable:
                    os.fsync(file.fileno())
                part.replace(path)
            except BaseException:
                part.unlink(missing_ok=True)
                raise
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error


def check_output(path: str | os.PathLike[str], *, suffixes: tuple[str, ...] = ()) -> Path:
    """The path, once it is clear that a file can be written there: found out before an hour's work, not after.

    Raises:
        FileError: If the name ends otherwise than in one of `suffixes`, or its folder is missing or read-only.
    """
    _check_name(path)
    path = Path(path)
    if suffixes and path.suffix not in suffixes:
        raise FileError(f"{path}: expected a name that ends in {' or '.join(suffixes)}")
    if not path.parent.is_dir():
        raise FileError(f"{path}: there is no folder {path.parent}; create it first")
    if path.is_dir():
        raise FileError(f"{path}: expected the name of a file, this is a folder")
    if path.exists():
        _check_kind(path, path.stat().st_mode)
    if not os.access(path.parent, os.W_OK):
        raise FileError(f"{path}: cannot write in the folder {path.parent}")
    return path


def make_folder(path: str | os.PathLike[str]) -> Path:
    """A folder to write results into, created if missing.

    Raises:
        FileError: If it cannot be created, or is read-only.
    """
    _check_name(path)
    path = Path(path)
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"{path}: cannot create this folder: {reason(error)}") from None
    if not os.access(path, os.W_OK):
        raise FileError(f"{path}: cannot write in this folder")
    return path


def reason(error: OSError) -> str:
    """Why the operating system refused, in its own words, lower case."""
    return (error.strerror or str(error)).lower()
