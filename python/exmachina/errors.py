"""What can go wrong through no fault of the program: one class for each kind of mistake, all of them `InputError`."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Self

from exmachina._core import InputError

__all__ = [
    "ClusterError",
    "FileError",
    "InUseError",
    "InputError",
    "LimitsError",
    "MachineError",
    "ModelError",
    "OptionError",
    "ScenarioError",
    "SchemeError",
    "Stopped",
    "TableError",
    "UnknownNameError",
    "told_as",
]


class ClusterError(InputError):
    """A cluster cannot be reached or used, or has gone; what was finished is kept.

    >>> exmachina.evaluate("r4", ["cubic"], cluster="nowhere")
    Traceback (most recent call last):
        ...
    exmachina.errors.OptionError: cluster: expected the address of a Dask scheduler, ...
    """


class FileError(InputError):
    """A file cannot be read, or cannot be written where it was asked for.

    >>> exmachina.Table.load("none.dna")
    Traceback (most recent call last):
        ...
    exmachina.errors.FileError: none.dna: cannot read it: no such file or directory
    """


class InUseError(FileError):
    """Another process, or another call in this one, writes there.

    >>> def again(now):
    ...     exmachina.design("known-1x", "used.dna", rounds=1)
    >>> exmachina.design("known-1x", "used.dna", rounds=1, on_progress=again)
    Traceback (most recent call last):
        ...
    exmachina.errors.InUseError: used.dna: this output is in use by process ...
    """


class UnknownNameError(InputError):
    """Nothing goes by this name; the message says what it may have meant.

    >>> exmachina.Model.load("dmo")
    Traceback (most recent call last):
        ...
    exmachina.errors.UnknownNameError: dmo: there is no such model; ...; did you mean demo?
    """


class OptionError(InputError):
    """A value is not possible for an option.

    >>> exmachina.design("demo", seconds=0)
    Traceback (most recent call last):
        ...
    exmachina.errors.OptionError: seconds: expected a number above 0, got 0
    """


class LimitsError(InputError):
    """A text does not limit networks: file, axis, and what was expected.

    >>> exmachina.Limits("rates = [1, 50]")
    Traceback (most recent call last):
        ...
    exmachina.errors.LimitsError: limits.toml: rates: there is no such axis; ...; did you mean rate?
    """


class MachineError(InputError):
    """This machine lacks something that is needed, or has something else to do; the message says what.

    >>> raise exmachina.MachineError("deploy: this machine lacks root (try sudo)")
    Traceback (most recent call last):
        ...
    exmachina.errors.MachineError: deploy: this machine lacks root (try sudo)
    """


class ModelError(InputError):
    """A text is no model: file, line, field, and what was expected.

    >>> exmachina.Model("[link]")
    Traceback (most recent call last):
        ...
    exmachina.errors.ModelError: model.toml...
    """


class ScenarioError(InputError):
    """A text is no scenario: file, line, field, and what was expected.

    >>> exmachina.Evaluation("[link]")
    Traceback (most recent call last):
        ...
    exmachina.errors.ScenarioError: scenario.toml...
    """


class TableError(InputError):
    """Bytes are no rule table.

    >>> exmachina.Table(b"no table")
    Traceback (most recent call last):
        ...
    exmachina.errors.TableError: table.dna: not a .dna file...
    """


class SchemeError(InputError):
    """What was given is no scheme, or none that can run there.

    >>> exmachina.evaluate("r4", ["cubci"])
    Traceback (most recent call last):
        ...
    exmachina.errors.SchemeError: schemes: expected newreno, ...; did you mean cubic?
    """


class Stopped(KeyboardInterrupt):
    """Ctrl-C during long work: what was done is saved, and the message says how to go on.

    >>> def press_ctrl_c(now):
    ...     raise KeyboardInterrupt
    >>> try:
    ...     exmachina.evaluate("r4", ["cubic"], runs=2, duration_s=1, output="out", on_progress=press_ctrl_c)
    ... except exmachina.Stopped as stopped:
    ...     print(stopped)
    Stopped; finished runs are kept in out. To go on: the same command.
    """

    @classmethod
    def keeping(cls, folder: Path | None) -> Self:
        """While runs were simulated, which are kept in a folder if there is one."""
        if folder is None:
            return cls("Stopped.")
        return cls(f"Stopped; finished runs are kept in {folder}. To go on: the same command.")


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
