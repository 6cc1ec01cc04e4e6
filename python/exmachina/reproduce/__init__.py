"""Every figure and table of both papers, by one command each: experiments, their claims, and the page that shows them.

`exmachina.reproduce("fig4", output="out")` is the whole of it: see `experiments.py`.
"""

from exmachina.reproduce.experiments import Doing, reproduce
from exmachina.reproduce.options import ReproduceOptions
from exmachina.reproduce.outcome import Outcome, Picture, TableOf
from exmachina.reproduce.verdicts import Claim, Verdict

__all__ = ["Claim", "Doing", "Outcome", "Picture", "ReproduceOptions", "TableOf", "Verdict", "reproduce"]
