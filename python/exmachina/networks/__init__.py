"""The networks that algorithms are designed for: models, as TOML files hold them."""

from exmachina.networks.dumbbell import Dumbbell, dumbbell
from exmachina.networks.model import Model, shipped_models

__all__ = ["Dumbbell", "Model", "dumbbell", "shipped_models"]
