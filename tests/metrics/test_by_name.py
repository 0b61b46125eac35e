"""Labels and groups are matched with nodes by name if they have names."""

import numpy as np
import pytest

import equigraph as eg
from equigraph import metrics as m
from equigraph.exceptions import GroupsError, ParameterError
from tests.optional import optional

pd = optional("pandas")

NAMES = [f"pupil {i}" for i in range(30)]
ORDER = np.random.default_rng(5).permutation(30)
LABELS = np.arange(30) % 3
NOTIONS = (m.balance_score, m.evenness_score, m.mouflon_balance_score, m.normalized_balance_score)


@pytest.fixture(scope="module")
def graph():
    data = eg.datasets.make_classroom()
    return eg.Graph(data.adjacency, NAMES, data.sensitive_features, "gender")


def shuffled(values):
    """Return values by name, as a Series and as a dict, in another order than the nodes."""
    series = pd.Series(np.asarray(values)[ORDER], index=np.asarray(NAMES)[ORDER])
    return [series, series.to_dict()]


def test_scores_of_a_graph(graph):
    expected = m.evaluate(graph, LABELS, target=LABELS)
    parts = m.group_modularity_scores(graph, LABELS, sensitive_features=graph.sensitive_features)
    bare = eg.Graph(graph.adjacency, NAMES)
    for named in shuffled(LABELS):
        for groups in shuffled(graph.sensitive_features):
            assert m.evaluate(bare, named, sensitive_features=groups, target=named) == expected
            assert m.group_modularity_scores(bare, named, sensitive_features=groups) == parts
            frame = m.FairnessFrame(bare, named, sensitive_features=groups)
            assert (frame.labels.codes == LABELS).all()
            assert [one.codes.tolist() for one in frame.attributes.values()] == [graph.groups.codes.tolist()]
        assert m.modularity_score(bare, named) == expected["Q"]
        assert (m.link_shares(bare, named) == m.link_shares(graph, LABELS)).all()
        assert m.consistency_score(named, adjacency=bare) == m.consistency_score(LABELS, adjacency=graph)
        assert m.lipschitz_score(named, adjacency=bare) == m.lipschitz_score(LABELS, adjacency=graph)
        assert (m.representation_violation(bare, named) == m.representation_violation(graph, LABELS)).all()


def test_several_attributes(graph):
    plain = {"gender": graph.sensitive_features, "left": np.arange(30) % 5 == 0}
    by_name = pd.DataFrame(plain, index=NAMES).iloc[ORDER]
    columns = {name: by_name[name] for name in plain}
    bare = eg.Graph(graph.adjacency, NAMES)
    expected = m.evaluate(graph.adjacency, LABELS, sensitive_features=plain)
    for features in (by_name.reset_index(), columns):
        assert m.evaluate(bare, LABELS, sensitive_features=features) == expected
    whole = m.normalized_balance_score(LABELS, sensitive_features=plain)
    for features in (by_name, columns):
        assert m.normalized_balance_score(shuffled(LABELS)[0], sensitive_features=features) == whole
        with pytest.raises(ParameterError, match="names its nodes"):
            m.normalized_balance_score(LABELS, sensitive_features=features)
    assert eg.Graph(graph.adjacency, NAMES, columns).features["left"].tolist() == plain["left"].tolist()


@pytest.mark.parametrize("score", [*NOTIONS, m.individual_balance_score])
def test_two_columns_without_a_graph(graph, score):
    expected = score(LABELS, sensitive_features=graph.sensitive_features)
    plain = pd.Series(LABELS, index=NAMES)
    for groups in shuffled(graph.sensitive_features):
        assert score(plain, sensitive_features=groups) == expected
        assert score(plain.to_dict(), sensitive_features=groups) == expected
        with pytest.raises(ParameterError, match="sensitive_features names its nodes"):
            score(LABELS, sensitive_features=groups)
    with pytest.raises(ParameterError, match="labels names its nodes"):
        score(shuffled(LABELS)[0], sensitive_features=graph.sensitive_features)


def test_counts_and_agreement(graph):
    plain = pd.Series(LABELS, index=NAMES)
    for named, groups in zip(shuffled(LABELS), shuffled(graph.sensitive_features), strict=True):
        assert m.adjusted_rand_score(plain, named) == m.clustering_accuracy(named, plain) == 1
        assert m.cluster_sizes(named).tolist() == [10, 10, 10]
        assert m.population_balance(groups) == m.population_balance(graph.sensitive_features)
        table = m.composition(plain, sensitive_features=groups).counts
        assert (table == m.composition(LABELS, sensitive_features=graph.sensitive_features).counts).all()
    with pytest.raises(ParameterError, match="labels_true names its nodes"):
        m.adjusted_rand_score(plain, LABELS)


def test_labels_that_do_not_fit(graph):
    named = shuffled(LABELS)[1]
    with pytest.raises(ParameterError, match="lacks, first 'Zoe'"):
        m.evaluate(graph, {**named, "Zoe": 1})
    with pytest.raises(ParameterError, match="missing, first that of node 'pupil 3'"):
        m.evaluate(graph, {name: label for name, label in named.items() if name != "pupil 3"})
    with pytest.raises(ParameterError, match="name none of the nodes"):
        m.modularity_score(graph, dict.fromkeys(range(30), 0))
    with pytest.raises(GroupsError, match="that the graph lacks"):
        m.evaluate(graph, LABELS, sensitive_features={**shuffled(graph.sensitive_features)[1], "Zoe": "girl"})
    with pytest.raises(ParameterError, match="one label per node"):
        m.balance_score({0, 1}, sensitive_features=["x", "y"])


def test_refinement_and_rules(graph):
    expected = eg.refine_labels(graph, LABELS, effort=0.1, random_state=0)
    bare = eg.Graph(graph.adjacency, NAMES)
    for named, groups in zip(shuffled(LABELS), shuffled(graph.sensitive_features), strict=True):
        found = eg.refine_labels(bare, named, sensitive_features=groups, effort=0.1, random_state=0)
        assert (found == expected).all()
    rules = eg.Rules(together=[[NAMES[i] for i in np.flatnonzero(LABELS == 0)]])
    assert all(rules.check(graph, named) == [] for named in shuffled(LABELS))


def test_groups_of_a_graph_and_of_blocks(graph, tmp_path):
    series, mapping = shuffled(graph.sensitive_features)
    for groups in (series, mapping):
        made = eg.Graph(graph.adjacency, NAMES, groups)
        assert made.sensitive_features.tolist() == graph.sensitive_features.tolist()
    eg.write_blocks(eg.Graph(graph.adjacency, NAMES), tmp_path / "blocks")
    stored = eg.open_blocks(tmp_path / "blocks").with_groups(series)
    assert stored.sensitive_features.tolist() == graph.sensitive_features.tolist()
    for groups in (series, mapping):
        with pytest.raises(GroupsError, match="without a graph"):
            eg.penalties.Contrastive(groups)


@pytest.mark.parametrize(
    "groups",
    [
        {"ann": "x", "bob": "y", "eve": "y"},
        {"ann": "x", "bob": "y"},
        {"ann": "x", "bob": "y", "cem": "x", "dan": "y"},
        pd.Series(["x", "y", "x"], index=["ann", "ann", "bob"]),
        {"ann": "x", "Zo\u00eb": "y", "Zoe\u0308": "y"},
    ],
)
def test_columns_that_name_other_nodes(groups):
    with pytest.raises(ParameterError, match="name different nodes"):
        m.normalized_balance_score({"ann": 0, "bob": 0, "cem": 1}, sensitive_features=groups)


def test_letters_may_be_composed_or_decomposed():
    one, other = {"ann": 0, "Zo\u00eb": 1}, {"Zoe\u0308": "y", "ann": "x"}
    assert (
        m.balance_score(one, sensitive_features=other) == m.balance_score(other, sensitive_features=one) == 0
    )
    both = {"Zo\u00eb": 0, "Zoe\u0308": 1, "ann": 1}  # then these are two names
    assert m.adjusted_rand_score(both, dict(reversed(both.items()))) == 1
