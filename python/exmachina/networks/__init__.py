"""The networks that algorithms are designed for: models, as TOML files hold them."""

from exmachina.networks.model import Model, ModelLike, shipped_models
from exmachina.networks.single_link import Dumbbell, dumbbell

__all__ = ["Dumbbell", "Model", "ModelLike", "dumbbell", "shipped_models"]
