"""Everything that is public has an example in its documentation, and the examples do what they say."""

import doctest
import inspect
from pathlib import Path

import pytest

import exmachina

PUBLIC = [name for name in exmachina.__all__ if callable(getattr(exmachina, name))]
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@pytest.mark.parametrize("name", PUBLIC)
def test_the_example_of(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = inspect.getdoc(getattr(exmachina, name)) or ""
    test = doctest.DocTestParser().get_doctest(text, {"exmachina": exmachina}, name, None, 0)
    assert test.examples, "no example"
    told: list[str] = []
    doctest.DocTestRunner(optionflags=FLAGS).run(test, out=told.append)
    assert not told, "".join(told)
