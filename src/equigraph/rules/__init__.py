"""Hard rules: parsing, checking of labels, feasibility, conflicts and relaxation."""

from equigraph.rules.base import Rule
from equigraph.rules.check import Violation, Words, violations
from equigraph.rules.compile import CompiledRules, compile_rules, keeps
from equigraph.rules.conflict import Conflict, Settlement, find_conflict, settle_rules
from equigraph.rules.counts import AtLeast, AtMost, NotAlone, Shares
from equigraph.rules.facts import Facts
from equigraph.rules.friends import Friends
from equigraph.rules.most_friends import MostFriends, most_friends
from equigraph.rules.nodes import Allowed, Apart, Fixed, Together
from equigraph.rules.rules import Rules
from equigraph.rules.sizes import Sizes
from equigraph.rules.solve import Answer, feasible_labels

__all__ = [
    "Allowed",
    "Answer",
    "Apart",
    "AtLeast",
    "AtMost",
    "CompiledRules",
    "Conflict",
    "Facts",
    "Fixed",
    "Friends",
    "MostFriends",
    "NotAlone",
    "Rule",
    "Rules",
    "Settlement",
    "Shares",
    "Sizes",
    "Together",
    "Violation",
    "Words",
    "compile_rules",
    "feasible_labels",
    "find_conflict",
    "keeps",
    "most_friends",
    "settle_rules",
    "violations",
]
