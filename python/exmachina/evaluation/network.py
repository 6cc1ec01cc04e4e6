"""What may be given as a network: a design model or a scenario, told apart by what its file has."""

import os
import tomllib
from typing import TypeAlias

from exmachina.errors import ScenarioError, UnknownNameError
from exmachina.evaluation.scenario import Evaluation
from exmachina.files import MODELS, SCENARIOS, find, shipped_files, unknown
from exmachina.networks import Model

__all__ = ["NetworkLike", "network_of"]

NetworkLike: TypeAlias = Model | Evaluation | str | os.PathLike[str]
"""A model or a scenario, the path of one's file, or the name of one that comes with the program."""

OF_MODELS = {"objective", "design"}
OF_SCENARIOS = {"schemes", "runs", "duration_s", "seed", "transport"}


def network_of(source: NetworkLike) -> Model | Evaluation:
    """The model or scenario that is meant.

    What has a table [objective] or [design], and nothing that scenarios alone have, is a model.

    Raises:
        FileError: If a file cannot be read.
        UnknownNameError: If nothing goes by this name.
        ModelError: If it is a model that cannot be used.
        ScenarioError: If it is neither.
    """
    if isinstance(source, Model):
        return source.whole()
    if isinstance(source, Evaluation):
        return source
    scenarios, models = shipped_files(SCENARIOS), shipped_files(MODELS)
    try:
        data, file = find(SCENARIOS if os.fspath(source) in scenarios else MODELS, source)
        text = data.decode()
    except UnknownNameError:
        names = [*scenarios, *models]
        raise unknown("model or scenario", os.fspath(source), names, ending=MODELS.ending) from None
    except UnicodeDecodeError:
        raise ScenarioError(f"{file}: expected a TOML file in UTF-8") from None
    return Model(text, file) if _is_model(text) else Evaluation(text, file)


def _is_model(text: str) -> bool:
    try:
        tables = tomllib.loads(text).keys()
    except tomllib.TOMLDecodeError:
        return False  # which the scenario's reader will say
    return bool(tables & OF_MODELS) and not tables & OF_SCENARIOS
