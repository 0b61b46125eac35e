"""Rules as values: what they take, in which order they come, and what they say of themselves."""

import copy
import json
import pickle

import numpy as np
import pytest

from equigraph.exceptions import ParameterError
from equigraph.rules import Friends, Rules, Sizes

EVERYTHING = {
    "friends": 1,
    "together": [("Ada", "Ben"), ("Gus", "Hana", "Ida")],
    "apart": [("Cem", "Dora", "Eli")],
    "fixed": {"Finn": 0, "Gus": 2},
    "allowed": {"Jon": [0, 2]},
    "sizes": (25, 27),
    "at_least": {"gender": {"girl": 3, "boy": 2}},
    "at_most": [{"needs": {"yes": 4}}, (["Ada", "Ben", "Cem"], 2), {"gender": {"boy": 9}}],
    "not_alone": {"gender": 2},
    "shares": {"gender": 0.1, "needs": 0.05},
}
SENTENCES = [
    "everybody with at least 1 of the nodes linked to them",
    "Ada and Ben together",
    "Gus, Hana and Ida together",
    "Cem, Dora and Eli apart",
    "Finn in cluster 0",
    "Gus in cluster 2",
    "Jon in cluster 0 or 2",
    "every cluster of 25 to 27 nodes",
    "at least 3 of gender 'girl' in every cluster",
    "at least 2 of gender 'boy' in every cluster",
    "at most 4 of needs 'yes' in every cluster",
    "at most 2 of Ada, Ben and Cem in every cluster",
    "at most 9 of gender 'boy' in every cluster",
    "of each gender none or at least 2 in a cluster",
    "the share of each gender within 10 points of the population's (as far as whole nodes allow) in every cluster",
    "the share of each needs within 5 points of the population's (as far as whole nodes allow) in every cluster",
]
TOML = """
friends = 1
together = [["Ada", "Ben"], ["Gus", "Hana", "Ida"]]
apart = [["Cem", "Dora", "Eli"]]
fixed = { Finn = 0, Gus = 2 }
allowed = { Jon = [0, 2] }
sizes = [25, 27]
at_least.gender = { girl = 3, boy = 2 }
at_most = [{ needs = { yes = 4 } }, [["Ada", "Ben", "Cem"], 2], { gender = { boy = 9 } }]

[not_alone]
gender = 2

[shares]
gender = 0.1
needs = 0.05
"""


def test_every_rule_says_itself_in_the_order_given():
    assert [rule.describe() for rule in Rules(**EVERYTHING).items] == SENTENCES
    backwards = Rules(**dict(reversed(EVERYTHING.items())))
    assert [backwards.items[i].describe() for i in (0, -1)] == [SENTENCES[-2], SENTENCES[0]]
    assert set(backwards.items) == set(Rules(**EVERYTHING).items)
    assert backwards != Rules(**EVERYTHING)


def test_copies_are_equal():
    rules = Rules(**EVERYTHING)
    for again in (copy.deepcopy(rules), pickle.loads(pickle.dumps(rules)), eval(repr(rules))):
        assert again == rules
        assert hash(again) == hash(rules)


def test_to_dict_and_back_through_files(tmp_path):
    rules = Rules(**EVERYTHING)
    assert rules.to_dict() == EVERYTHING
    assert list(rules.to_dict()) == list(EVERYTHING)
    (tmp_path / "rules.json").write_text(json.dumps(rules.to_dict()))
    (tmp_path / "rules.toml").write_text(TOML)
    assert Rules.read(tmp_path / "rules.json") == rules
    assert Rules.read(tmp_path / "rules.toml") == rules


def test_sizes_of_every_cluster():
    rules = Rules(sizes=[(3, 4), (None, 5), [2, None]])
    assert rules.to_dict() == {"sizes": [(3, 4), (None, 5), (2, None)]}
    assert rules.describe() == "clusters of 3 to 4 nodes, at most 5 nodes, at least 2 nodes"
    assert Rules(sizes=[3, float("inf")]).describe() == "every cluster of at least 3 nodes"


def test_none_is_no_rule_and_numpy_values_are_plain():
    assert len(Rules(friends=None, together=None)) == 0
    rules = Rules(together=[np.array(["a", "b"])], fixed={np.int64(3): np.int64(1)}, friends=np.int32(2))
    plain = {"together": [["a", "b"]], "fixed": {"3": 1}, "friends": 2}
    assert json.loads(json.dumps(rules.to_dict())) == plain


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"togehter": []}, r"no rule 'togehter' \(did you mean 'together'\?\)"),
        ({"together": ("Ada", "Ben")}, r"together must be a list of tuples of nodes.*got \('Ada', 'Ben'\)"),
        ({"apart": [("Ada",)]}, r"apart needs at least two nodes.*got \('Ada',\)"),
        ({"apart": [(7, "7")]}, "apart needs at least two nodes in every tuple, all different"),
        ({"apart": [("Ada", None)]}, "apart names None"),
        ({"fixed": [("Ada", 0)]}, r'fixed must look like \{"Finn": 0\}'),
        ({"fixed": {"Ada": -1}}, r"fixed\['Ada'\] must be a whole number of at least 0; got -1"),
        ({"allowed": {"Ada": []}}, r"allowed\['Ada'\] must be a list of clusters"),
        ({"allowed": {"Ada": [0, -1]}}, r"allowed\['Ada'\] must be a whole number"),
        ({"at_most": 3}, "at_most must look like"),
        ({"at_most": [(["Ada"], 2)]}, "at_most needs at least two nodes"),
        ({"sizes": 25}, r"sizes must be a pair \(least, most\).*got 25"),
        ({"sizes": (27, 25)}, r"sizes=\(27, 25\): the least size is above the most"),
        ({"sizes": [(1, 2), 3]}, "sizes must be a pair"),
        ({"sizes": (float("inf"), 3)}, "sizes must be a pair"),
        ({"fixed": {7: 0, "7": 1}}, "fixed names 7 twice"),
        ({"at_least": {"gender": 3}}, "at_least must look like"),
        ({"at_least": {"gender": {"girl": 2.5}}}, r"at_least\['gender'\]\['girl'\] must be a whole number"),
        ({"not_alone": {"gender": 1}}, r"not_alone\['gender'\] must be a whole number of at least 2"),
        ({"shares": {"gender": 10}}, r"shares\['gender'\] must be a finite number in \[0, 1\]; got 10"),
    ],
)
def test_refused_in_one_sentence(arguments, message):
    with pytest.raises(ParameterError, match=message) as caught:
        Rules.from_dict(arguments)
    assert str(caught.value).count(". ") == 0
    assert str(caught.value).endswith(".")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("rules.json", "{", r"rules\.json: not valid JSON"),
        ("rules.toml", "a = ", r"rules\.toml: not valid TOML"),
        ("rules.yaml", "a: 1", r"rules\.yaml: rules are read from \.json or \.toml, not from \.yaml"),
        ("rules.json", "[1]", r"rules\.json: Rules: expected a dict of rules, not a list"),
        ("rules.json", '{"friends": 0}', r"rules\.json: Rules: friends must be"),
        ("rules.json", '{"friends": 1, "friends": 2}', "'friends' is given twice"),
        ("none.json", None, r"none\.json: the rules cannot be read: No such file"),
    ],
)
def test_files_that_hold_no_rules(tmp_path, name, content, message):
    if content is not None:
        (tmp_path / name).write_text(content)
    with pytest.raises(ParameterError, match=message):
        Rules.read(tmp_path / name)


def test_what_one_argument_cannot_tell_is_refused():
    rules = Rules.of([Sizes(((1, 3),)), Sizes(((2, 4),))])
    with pytest.raises(ParameterError, match="sizes"):
        rules.to_dict()
    assert repr(rules).startswith("Rules.of(")
    twice = Rules.of([Friends(1), Friends(2, of={"Ada": ["Ben"]})])
    assert Rules.from_dict(twice.to_dict()) == twice
