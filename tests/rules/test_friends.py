"""Friends that nodes asked for: the oracle by eye, and every other reading of the rule against it."""

import numpy as np
import pytest

from benchmarks._rule_instances import random_asked, random_instance
from equigraph.exceptions import ConflictError, ParameterError
from equigraph.rules import Facts, Friends, Rules, most_friends, violations
from tests.rules.test_solve import brute_force

RING = [[0, 1, 0, 1], [1, 0, 1, 0], [0, 1, 0, 1], [1, 0, 1, 0]]


@pytest.mark.parametrize(
    ("friends", "labels", "expected"),
    [
        ({"least": 1, "of": {0: [2], 2: [1]}}, [0, 0, 0, 1], []),
        ({"least": 1, "of": {0: [2], 2: [1]}}, [0, 1, 0, 1], ["2 has 0 of 1 asked for in cluster 0"]),
        ({"least": 2, "of": {0: [1, 2, 3]}}, [0, 0, 1, 1], ["0 has 1 of 3 asked for in cluster 0"]),
        ({"least": 2, "but": {0: 1}, "of": {0: [1, 2, 3]}}, [0, 0, 1, 1], []),
        ({"least": 2, "but": {0: 0, 3: 1}}, [0, 1, 1, 0],
         ["1 has 1 of 2 linked nodes in cluster 1", "2 has 1 of 2 linked nodes in cluster 1"]),
    ],
)  # fmt: skip
def test_the_oracle_by_eye(friends, labels, expected):
    found = Rules(friends=friends).check(RING, labels)
    assert [sentence.partition(":")[0] for sentence in found] == expected


def test_values_and_words():
    but, of = {"Ada": 0, "Ben": 1}, {"Ada": ["Ben"], "Ben": ["Ada", "Cem"]}
    rules = Rules(friends={"least": 2, "but": but, "of": of})
    assert Rules.from_dict(rules.to_dict()) == rules
    assert rules.items[0] == Friends(2, but, of)
    assert hash(rules.items[0]) == hash(Friends(2, list(but.items()), rules.items[0].of))
    assert (
        rules.describe()
        == "everybody but Ada with at least 2 of the nodes they asked for (or all, if fewer; at least 1 for Ben)"
    )
    assert Rules(friends={"least": 1, "but": ["Ada"]}) == Rules(friends={"least": 1, "but": {"Ada": 0}})


@pytest.mark.parametrize(
    ("friends", "message"),
    [
        ({"of": {}}, "expected a number, or a dict"),
        ({"least": 1, "off": {}}, "expected a number, or a dict"),
        ({"least": 1, "but": {"Ada": 2}}, r"but\['Ada'\] must be at most 1"),
        ({"least": 1, "but": "Ada"}, "must look like"),
        ({"least": 1, "of": {"Ada": "Ben"}}, "must be a list of nodes"),
        ({"least": 1, "of": {"Ada": ["Ada"]}}, "must name others, all different"),
        ({"least": 1, "of": {7: [8, "8"]}}, "must name others, all different"),
        ({"least": 1, "of": {7: [8], "7": [9]}}, "of names 7 twice"),
    ],
)
def test_what_is_no_rule_is_refused(friends, message):
    with pytest.raises(ParameterError, match=message):
        Rules(friends=friends)


def instance_of(seed):
    """Return a small instance, whom its nodes ask for, and how many they need."""
    instance = random_instance(seed, nodes=(6, 7), clusters=(2, 3))
    rng = np.random.default_rng(seed)
    names = instance.graph.node_names.tolist()
    but = {names[i]: int(rng.integers(2)) for i in rng.permutation(len(names))[:2]}
    return instance, Friends(int(rng.integers(1, 4)), but if seed % 2 else {}, random_asked(names, rng))


@pytest.mark.parametrize("seed", range(2000, 2012))
def test_the_most_friends_agree_with_brute_force(seed):
    instance, friends = instance_of(seed)
    rules = Rules.of(instance.rules.items[:2])
    facts = Facts(instance.graph, instance.groups)
    place = {name: i for i, name in enumerate(instance.graph.node_names.tolist())}
    fewer = dict(friends.but)

    def value(labels):
        numbers = []
        for name, others in friends.of:
            kept = sum(labels[place[name]] == labels[place[other]] for other in others)
            most = min(fewer.get(name, friends.least), len(others))
            numbers += [min(kept, most)] * (most > 0)
        return sum(number > 0 for number in numbers), sum(numbers)

    best = max(map(value, brute_force(instance, rules)), default=None)
    if best is None:
        with pytest.raises(ConflictError):
            most_friends(rules, friends, facts, n_clusters=instance.n_clusters)
        return
    start = np.arange(len(place)) % instance.n_clusters
    for given in (None, start):
        found = most_friends(rules, friends, facts, n_clusters=instance.n_clusters, start=given)
        assert found.proven
        assert (len(found.kept) - len(found.without), sum(found.kept.values())) == value(found.labels) == best
        assert not violations([*rules.items, found.rule], facts, found.labels, None, instance.n_clusters)
