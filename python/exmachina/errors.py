"""What can go wrong through no fault of the program: one class for each kind of mistake, all of them `InputError`."""

from collections.abc import Iterator
from contextlib import contextmanager

from exmachina._core import InputError

__all__ = [
    "FileError",
    "InUseError",
    "InputError",
    "ModelError",
    "OptionError",
    "ScenarioError",
    "SchemeError",
    "Stopped",
    "TableError",
    "UnknownNameError",
    "told_as",
]


class FileError(InputError):
    """A file cannot be read, or cannot be written where it was asked for."""


class InUseError(FileError):
    """Another process writes there."""


class UnknownNameError(InputError):
    """Nothing goes by this name; the message says what it may have meant."""


class OptionError(InputError):
    """A value is not possible for an option."""


class ModelError(InputError):
    """A text is no model: file, line, field, and what was expected."""


class ScenarioError(InputError):
    """A text is no scenario: file, line, field, and what was expected."""


class TableError(InputError):
    """Bytes are no rule table."""


class SchemeError(InputError):
    """What was given is no scheme, or none that can run there."""


class Stopped(KeyboardInterrupt):
    """Ctrl-C during long work: what was done is saved, and the message says how to go on."""


@contextmanager
def told_as(kind: type[InputError], before: str = "") -> Iterator[None]:
    """Raises what the core refuses as an error of this kind, with `before` in front of the message.

    Errors that have a kind already keep it.
    """
    try:
        yield
    except InputError as error:
        if type(error) is not InputError:
            raise
        told = kind(f"{before}{error}")
        told.__dict__.update(error.__dict__)
        raise told from None
