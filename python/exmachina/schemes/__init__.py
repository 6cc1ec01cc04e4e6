"""What a sender may run: rule tables, the algorithms that come with the program, and schemes of one's own."""

from exmachina.schemes.algorithm import Algorithm, Choosing, Rival, algorithms
from exmachina.schemes.contender import Contender, SchemeLike, contender_of, distinct
from exmachina.schemes.designed import designed_delta, designed_range
from exmachina.schemes.flow import Flow
from exmachina.schemes.law import Law, law_levels, law_words
from exmachina.schemes.lookup import rules_at
from exmachina.schemes.own import Ack, Congestion, Scheme
from exmachina.schemes.rulewords import action_words, box_words, digits, percent, signed, size_words
from exmachina.schemes.table import Table, TableLike

__all__ = [
    "Ack",
    "Algorithm",
    "Choosing",
    "Congestion",
    "Contender",
    "Flow",
    "Law",
    "Rival",
    "Scheme",
    "SchemeLike",
    "Table",
    "TableLike",
    "action_words",
    "algorithms",
    "box_words",
    "contender_of",
    "designed_delta",
    "designed_range",
    "digits",
    "distinct",
    "law_levels",
    "law_words",
    "percent",
    "rules_at",
    "signed",
    "size_words",
]
