"""The networks that algorithms are designed for: models, as TOML files hold them, and their ranges."""

from exmachina.networks.changes import Toml, merged, with_field
from exmachina.networks.model import Model, ModelLike, shipped_models
from exmachina.networks.ranges import Ranges, Span, new, outside, stated, trained
from exmachina.networks.single_link import Dumbbell, dumbbell

__all__ = [
    "Dumbbell",
    "Model",
    "ModelLike",
    "Ranges",
    "Span",
    "Toml",
    "dumbbell",
    "merged",
    "new",
    "outside",
    "shipped_models",
    "stated",
    "trained",
    "with_field",
]
