"""Schemes that are no rule tables, on the specimens that tables are scored on: same networks, same traffic.

Rule tables are scored in the design simulator. People's schemes need retransmissions and timeouts, so they run in the
transport of evaluations, with the settings of the papers' ns-2. They slow down for losses, so where a queue is infinite
they get one of five bandwidth-delay products, as in Tao'14.

What they get is accounted for and scored by the same code as what tables get (`crates/run/src/worth.rs`). Where the
objective has a price for lost packets, packets sent are all transmissions of the transport, repeated ones included, and
packets delivered count once each.
"""

from exmachina import _core
from exmachina.errors import InputError, SchemeError
from exmachina.files import ALGORITHMS, shipped_files
from exmachina.networks import Model
from exmachina.schemes import Contender

__all__ = ["BUFFER_BDP", "in_transport"]

BUFFER_BDP = 5.0
"""Of a queue that is infinite in the model (Tao'14, figure 2)."""
TRANSPORT = '\n[transport]\npreset = "tao14"\n'


def in_transport(
    contender: Contender, model: Model, specimens: _core.Specimens, seconds_each: float
) -> _core.Evaluation:
    """An evaluation of this contender whose run r is specimen r: it draws networks and traffic from the same streams.

    Args:
        contender: No class, and not several tables together.
        model: What the specimens are drawn from, as it states them.
        specimens: All of them, from the first.
        seconds_each: Simulated seconds of each.

    Raises:
        SchemeError: If there is no such scheme.
    """
    evaluation = _core.Evaluation(model.text + TRANSPORT, f"{model.name}.toml", list(shipped_files(ALGORITHMS)))
    runs_per_point = len(specimens) // (model.grid_points or 1)
    evaluation = evaluation.with_settings(runs_per_point, seconds_each, specimens.seed)
    try:
        return evaluation.with_buffer_bdp(BUFFER_BDP).with_schemes([contender])
    except InputError as error:
        raise SchemeError(f"schemes: {error.problem}") from None
