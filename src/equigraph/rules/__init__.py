"""Hard rules: what they say, whether labels keep them, and whether any labels can."""

from equigraph.rules.check import violations
from equigraph.rules.compile import CompiledRules, compile_rules
from equigraph.rules.conflict import Conflict, Settlement, find_conflict, settle_rules
from equigraph.rules.facts import Facts
from equigraph.rules.items import Friends, Rule
from equigraph.rules.keeps import keeps
from equigraph.rules.most_friends import MostFriends, most_friends
from equigraph.rules.rules import Rules
from equigraph.rules.solve import Answer, feasible_labels

__all__ = [
    "Answer",
    "CompiledRules",
    "Conflict",
    "Facts",
    "Friends",
    "MostFriends",
    "Rule",
    "Rules",
    "Settlement",
    "compile_rules",
    "feasible_labels",
    "find_conflict",
    "keeps",
    "most_friends",
    "settle_rules",
    "violations",
]
