"""Explanations against full recomputation of every score for every move, and their texts."""

import json
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

import equigraph as eg
from equigraph.analysis.explanation import Aim, Subject, explain_node, explain_pair
from equigraph.exceptions import GraphError, ParameterError
from equigraph.graph.groups import encode_groups
from equigraph.metrics import modularity_score
from equigraph.metrics.notions import EVENNESS, NOTIONS
from equigraph.rules import Rules, violations

pytestmark = pytest.mark.filterwarnings("ignore::equigraph.exceptions.SmallClusterWarning")


def draw(seed, n=18, k=4):
    rng = np.random.default_rng(seed)
    weights = rng.integers(1, 5, (n, n))
    A = np.triu(rng.random((n, n)) < 0.25, 1) * weights
    labels = rng.permutation(np.append(np.arange(n - 1) % (k - 1), k - 1))  # the last cluster has one node
    needs = [None, None, *("yes" if i % 4 else "no" for i in range(n - 2))]
    attributes = {
        "gender": encode_groups(rng.permutation(np.array(["boy", "girl"])[np.arange(n) % 2])),
        "needs": encode_groups(needs, missing="ignore"),
    }
    graph = eg.Graph(sparse.csr_array((A + A.T).astype(float)), np.array([f"p{i}" for i in range(n)]))
    return Subject(graph, labels, k, attributes)


def changes(subject, labels):
    """Return what other labels change in modularity and in every notion, counted anew."""

    def notion(labels, groups):
        table = np.zeros((4, groups.n_groups), dtype=int)
        for label, code in zip(labels, groups.codes, strict=True):
            if code >= 0:
                table[label, code] += 1
        return subject.aim.notion.value(table, groups.sizes)

    A, now = subject.graph.adjacency, subject.labels
    gains = {name: notion(labels, one) - notion(now, one) for name, one in subject.attributes.items()}
    return modularity_score(A, labels) - modularity_score(A, now), gains


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("notion", NOTIONS.values(), ids=list(NOTIONS))
def test_moves_and_links_agree_with_recomputation(seed, notion):
    subject = replace(draw(seed), aim=Aim(notion, 0.3))
    labels, A = subject.labels, subject.graph.adjacency.toarray()
    for node in range(len(labels)):
        told = explain_node(subject, f"p{node}")
        for one in told.linked:
            others = np.flatnonzero((A[node] > 0) & (labels == one.cluster))
            assert one.names == tuple(f"p{j}" for j in others)
            assert (one.number, one.weight) == (len(others), A[node, others].sum())
        assert [move.cluster for move in told.moves] == [c for c in range(4) if c != labels[node]]
        for move in told.moves:
            moved = labels.copy()
            moved[node] = move.cluster
            gain, fairness = changes(subject, moved)
            assert pytest.approx(gain, abs=1e-12) == move.Q
            assert move.fairness == pytest.approx(fairness, abs=1e-12)
            expected = 0.7 * gain + 0.3 * np.mean(list(fairness.values()))
            assert move.objective == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("seed", range(2))
def test_merges_agree_with_recomputation(seed):
    subject = draw(seed)
    dense, labels = subject.graph.adjacency.toarray(), subject.labels
    for a, b in [(0, 1), (2, 0), (1, 3), (3, 2)]:
        told = explain_pair(subject, a, b)
        gain, fairness = changes(subject, np.where(labels == b, a, labels))
        assert pytest.approx(gain, abs=1e-12) == told.Q
        assert told.fairness == pytest.approx(fairness, abs=1e-12)
        members = [labels == a, labels == b]
        assert told.between == dense[np.ix_(*members)].sum()
        assert told.inside == tuple(dense[np.ix_(one, one)].sum() / 2 for one in members)
        degrees = dense.sum(axis=1)
        by_chance = degrees[members[0]].sum() * degrees[members[1]].sum() / degrees.sum()
        assert told.by_chance == pytest.approx(by_chance)
        gender = subject.attributes["gender"]
        counted = [np.bincount(gender.codes[own], minlength=2).tolist() for own in members]
        assert list(told.compositions["gender"].values()) == list(zip(*counted, strict=True))


def test_violations_agree_with_the_oracle():
    subject = draw(2)
    labels, names = subject.labels, subject.graph.node_names.tolist()
    rules = Rules(together=[("p0", "p1")], apart=[("p2", "p3"), ("p4", "p5")], sizes=(1, 6), friends=1)
    subject = replace(subject, rules=rules)
    now = set(violations(rules.items, subject.graph, labels, None, 4))
    broken = mended = 0
    for node, name in enumerate(names):
        for move in explain_node(subject, name).moves:
            moved = labels.copy()
            moved[node] = move.cluster
            then = set(violations(rules.items, subject.graph, moved, None, 4))
            # Who is short of friends in another cluster, or a cluster too large by another number, is neither.
            still = {one.about for one in then} & {one.about for one in now}
            assert set(move.breaks) == {one for one in then - now if one.about not in still}
            assert set(move.mends) == {one for one in now - then if one.about not in still}
            broken, mended = broken + len(move.breaks), mended + len(move.mends)
    assert broken
    assert mended


def test_a_rule_that_is_broken_anyway_is_not_broken_by_a_move():
    graph = eg.as_graph(np.ones((5, 5)) - np.eye(5))
    subject = Subject(graph, np.array([0, 0, 0, 0, 1]), 2, rules=Rules(sizes=(2, 2)))
    (move,) = explain_node(subject, 0).moves
    assert move.breaks == ()
    assert list(map(str, move.mends)) == ["Cluster 1 has 1 node: expected 2 nodes."]


def test_the_conclusion_is_a_search_of_all_moves():
    square = [[0, 3, 1, 0], [3, 0, 0, 1], [1, 0, 0, 3], [0, 1, 3, 0]]
    groups = {"team": encode_groups(list("xxyy"))}
    subject = Subject(eg.as_graph(square), np.array([0, 1, 1, 1]), 2, groups, Aim(fairness=0.0))
    found = explain_node(subject, 1).conclusion
    assert found == "Moving 1 alone to cluster 0 would raise Q by 0.3750."
    told = explain_node(replace(subject, rules=Rules(apart=[(0, 1)])), 1)
    assert told.conclusion == "No move of 1 alone raises Q within the rules."
    assert "it would break a rule: 0 and 1 are to be apart" in str(told)
    bounded = Subject(eg.as_graph(square), np.array([0, 1, 0, 1]), 2, groups, Aim(EVENNESS, at_least=1.0))
    assert explain_node(bounded, 1).conclusion == "No move of 1 alone raises Q with evenness of at least 1."
    plain = Subject(eg.as_graph(square), np.array([0, 1, 0, 1]), 2, groups)
    assert explain_node(plain, 1).conclusion == "Moving 1 alone to cluster 0 would raise Q by 0.1250."


@pytest.fixture(scope="module")
def result(room):
    return eg.cluster(room, n_clusters=3, effort=0.1, random_state=0)


def test_explanation_as_text(result):
    text = str(result.explain("Naledi"))
    assert text.startswith("Naledi (gender 'girl') is in cluster ")
    assert text.endswith("No move of Naledi alone raises 0.5 Q + 0.5 NB.")
    assert repr(result.explain("Naledi")) == text
    assert "They are two because as one they would lower 0.5 Q + 0.5 NB by" in str(result.explain(0, 1))


def test_explanations_are_ready_for_json(result):
    told, pair = result.explain("Naledi"), result.explain(0, 2)
    content = json.loads(json.dumps(told.to_dict()))
    assert [move["cluster"] for move in content["moves"]] == [move.cluster for move in told.moves]
    assert json.loads(json.dumps(pair.to_dict()))["clusters"] == [0, 2]


@pytest.mark.filterwarnings("ignore::equigraph.exceptions.FairnessIgnoredWarning")
def test_one_argument_is_a_node_also_where_nodes_are_numbers(room):
    result = eg.cluster(room.adjacency, n_clusters=3, effort=0.01, random_state=0)
    assert result.explain(0).node == 0
    assert result.explain("0").node == 0
    pair = result.explain(0, 1)
    assert pair.clusters == (0, 1)
    assert f"would lower Q by {-pair.Q:.4f}" in pair.conclusion  # without groups nothing is fair or unfair


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("Naledy",), "did you mean 'Naledi'"),
        ((0,), "no node 0.*numbers of two clusters"),
        ((0, 3), "no cluster 3: expected a whole number from 0 to 2"),
        ((0, "x"), "no cluster 'x'"),
        ((1, 1), "given twice"),
    ],
)
def test_unknown_nodes_and_clusters_raise(result, arguments, words):
    with pytest.raises(ParameterError, match=words):
        result.explain(*arguments)


def test_other_attributes_and_rules_may_be_given(result):
    house = ["a", "b", "c"] * 10
    told = result.explain("Naledi", sensitive_features={"house": house}, rules={"sizes": (1, 9)})
    assert list(told.groups) == ["house"]
    assert told.broken
    with pytest.raises(ParameterError, match="rules name the attribute 'age'"):
        result.explain("Naledi", rules={"not_alone": {"age": 2}})


def test_rules_and_weights_of_the_fit_are_used(tmp_path):
    data = eg.datasets.make_classroom()
    features = {"gender": data.sensitive_features, "house": data.house}
    graph = eg.Graph(data.adjacency, data.node_names, features)
    options = {"rules": eg.Rules(apart=[("Naledi", "Bao")], sizes=(9, 11)), "attribute_weights": {"house": 2}}
    result = eg.cluster(graph, n_clusters=3, **options, effort=0.1, random_state=0)
    told = result.explain("Naledi")
    assert told.broken == ()
    bao = result.labels[data.node_names.tolist().index("Bao")]
    move = next(move for move in told.moves if move.cluster == bao)
    assert f"Naledi and Bao are to be apart, and both are in cluster {bao}." in map(str, move.breaks)
    mean = (move.fairness["gender"] + 2 * move.fairness["house"]) / 3
    assert move.objective == pytest.approx(0.5 * move.Q + 0.5 * mean)
    result.save(tmp_path)
    kept = eg.ClusteringResult.load(tmp_path).explain("Naledi", graph=graph)
    assert str(kept) == str(told)


def test_a_stored_result_needs_its_graph(result, room, tmp_path):
    result.save(tmp_path)
    kept = eg.ClusteringResult.load(tmp_path)
    with pytest.raises(ParameterError, match="give graph="):
        kept.explain("Naledi")
    assert str(kept.explain("Naledi", graph=room)) == str(result.explain("Naledi"))
    other = eg.Graph(room.adjacency * 2, room.node_names, room.sensitive_features, "gender")
    with pytest.raises(GraphError, match="not the one that was clustered"):
        kept.explain("Naledi", graph=other)


def test_isolated_node():
    told = explain_node(Subject(eg.Graph(sparse.csr_array((3, 3))), np.array([0, 1, 1]), 2), 0)
    assert "linked to nobody" in str(told)
    assert told.moves[0].Q == 0


def test_the_conclusion_on_two_clusters_gives_the_reason():
    square = eg.as_graph([[0, 3, 1, 0], [3, 0, 0, 1], [1, 0, 0, 3], [0, 1, 3, 0]])

    def conclusion(teams, labels, aim, **rules):
        groups = {"team": encode_groups(list(teams))}
        return explain_pair(
            Subject(square, np.array(labels), 4, groups, aim, Rules(**rules)), 0, 1
        ).conclusion

    assert "would break a rule." in conclusion("xyxy", [0, 1, 2, 3], Aim(), apart=[(0, 1)])
    assert "their NB would be too low." in conclusion("xxyy", [0, 1, 2, 3], Aim(at_least=0.9))
    assert "leave NB as it is" in conclusion("xyxy", [0, 0, 1, 1], Aim(fairness=1.0))
    assert "give and fairness would fall." in conclusion("xyyx", [0, 2, 3, 1], Aim(fairness=0.5))
