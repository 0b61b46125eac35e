"""Point 1: whatever comes beside a graph is matched by name where it has names."""

import numpy as np
import pytest

import equigraph as eg
from equigraph.exceptions import GroupsError, ParameterError
from equigraph.metrics import (
    adjusted_rand_score,
    balance_score,
    cluster_sizes,
    clustering_accuracy,
    composition,
    consistency_score,
    evaluate,
    evenness_score,
    group_modularity_scores,
    individual_balance_score,
    link_shares,
    lipschitz_score,
    modularity_score,
    mouflon_balance_score,
    normalized_balance_score,
    population_balance,
    representation_violation,
)
from tests.optional import optional

nx = optional("networkx")
pd = optional("pandas")

pytestmark = pytest.mark.filterwarnings("ignore::equigraph.exceptions.SmallClusterWarning")

NAMES = [f"pupil {i}" for i in range(30)]
ORDER = np.random.default_rng(5).permutation(30)
PAIR_SCORES = [
    balance_score,
    evenness_score,
    mouflon_balance_score,
    normalized_balance_score,
    individual_balance_score,
]


@pytest.fixture(scope="module")
def room():
    data = eg.datasets.make_classroom()
    graph = eg.Graph(data.adjacency, NAMES, data.sensitive_features, "gender")
    labels = eg.FairPartition(3, random_state=0).fit_predict(graph)
    return graph, labels


def shuffled(values):
    """Return values by name, as a Series and as a dict, in another order than the nodes."""
    series = pd.Series(np.asarray(values)[ORDER], index=np.asarray(NAMES)[ORDER])
    return [series, series.to_dict()]


def test_point_01_metrics_match_by_name(room):
    graph, labels = room
    expected = evaluate(graph, labels, target=labels)
    bare = eg.Graph(graph.adjacency, NAMES)
    for named in shuffled(labels):
        for groups in shuffled(graph.sensitive_features):
            assert evaluate(bare, named, sensitive_features=groups, target=named) == expected
            assert group_modularity_scores(bare, named, sensitive_features=groups) == group_modularity_scores(
                graph, labels, sensitive_features=graph.sensitive_features
            )
        assert modularity_score(bare, named) == expected["Q"]
        assert (link_shares(bare, named) == link_shares(graph, labels)).all()
        assert consistency_score(named, adjacency=bare) == consistency_score(labels, adjacency=graph)
        assert lipschitz_score(named, adjacency=bare) == lipschitz_score(labels, adjacency=graph)
        assert (representation_violation(bare, named) == representation_violation(graph, labels)).all()


def test_point_01_a_fairness_frame_matches_by_name(room):
    graph, labels = room
    bare = eg.Graph(graph.adjacency, NAMES)
    expected = eg.metrics.FairnessFrame(graph, labels)
    for named, groups in zip(shuffled(labels), shuffled(graph.sensitive_features), strict=True):
        frame = eg.metrics.FairnessFrame(bare, named, sensitive_features=groups)
        assert (frame.labels.codes == expected.labels.codes).all()
        assert [one.codes.tolist() for one in frame.attributes.values()] == [graph.groups.codes.tolist()]


def test_point_01_several_attributes_match_by_name(room):
    graph, labels = room
    plain = {"gender": graph.sensitive_features, "left": np.arange(30) % 5 == 0}
    by_name = pd.DataFrame(plain, index=NAMES).iloc[ORDER]
    expected = evaluate(graph.adjacency, labels, sensitive_features=plain)
    bare = eg.Graph(graph.adjacency, NAMES)
    columns = {name: by_name[name] for name in plain}
    for features in (by_name.reset_index(), columns):
        assert evaluate(bare, labels, sensitive_features=features) == expected
    whole = normalized_balance_score(labels, sensitive_features=plain)
    for features in (by_name, columns):
        assert normalized_balance_score(shuffled(labels)[0], sensitive_features=features) == whole
        with pytest.raises(ParameterError, match="names its nodes and labels does not"):
            normalized_balance_score(labels, sensitive_features=features)
    assert eg.Graph(graph.adjacency, NAMES, columns).features["left"].tolist() == plain["left"].tolist()


def test_point_01_position_would_have_been_wrong(room):
    graph, labels = room
    series = shuffled(graph.sensitive_features)[0]
    by_position = evaluate(graph, labels, sensitive_features=series.to_numpy())
    assert by_position["NB"] < evaluate(graph, labels, sensitive_features=series)["NB"]


@pytest.mark.parametrize("score", PAIR_SCORES)
def test_point_01_two_named_columns_are_matched_without_a_graph(room, score):
    graph, labels = room
    expected = score(labels, sensitive_features=graph.sensitive_features)
    plain = pd.Series(labels, index=NAMES)
    for groups in shuffled(graph.sensitive_features):
        assert score(plain, sensitive_features=groups) == expected
        assert score(plain.to_dict(), sensitive_features=groups) == expected
        assert str(composition(plain, sensitive_features=groups)) == str(
            composition(labels, sensitive_features=graph.sensitive_features)
        )


@pytest.mark.parametrize("score", PAIR_SCORES)
def test_point_01_names_on_one_side_only_are_refused(room, score):
    graph, labels = room
    for groups in shuffled(graph.sensitive_features):
        with pytest.raises(ParameterError, match="sensitive_features names its nodes and labels does not"):
            score(labels, sensitive_features=groups)
    with pytest.raises(ParameterError, match="labels names its nodes and sensitive_features does not"):
        score(shuffled(labels)[0], sensitive_features=graph.sensitive_features)


@pytest.mark.parametrize(
    "groups",
    [
        {"ann": "x", "bob": "y", "eve": "y"},
        {"ann": "x", "bob": "y"},
        {"ann": "x", "bob": "y", "cem": "x", "dan": "y"},
        pd.Series(["x", "y", "x"], index=["ann", "ann", "bob"]),
    ],
)
def test_point_01_other_names_are_refused(groups):
    with pytest.raises(ParameterError, match="name different nodes"):
        normalized_balance_score({"ann": 0, "bob": 0, "cem": 1}, sensitive_features=groups)


def test_point_01_agreement_matches_by_name(room):
    _, labels = room
    plain = pd.Series(labels, index=NAMES)
    for named in shuffled(labels):
        assert adjusted_rand_score(plain, named) == clustering_accuracy(named, plain) == 1
    with pytest.raises(ParameterError, match="labels_true names its nodes and labels_pred does not"):
        adjusted_rand_score(plain, labels)


def test_point_01_counts_need_no_order(room):
    graph, labels = room
    for named in shuffled(labels):
        assert cluster_sizes(named).tolist() == cluster_sizes(labels).tolist()
    for groups in shuffled(graph.sensitive_features):
        assert population_balance(groups) == population_balance(graph.sensitive_features)


def test_point_01_a_membership_table_is_matched_by_its_index(room):
    graph, labels = room
    soft = pd.DataFrame(np.eye(3)[labels] + 0.1, index=NAMES)
    expected = consistency_score(soft.to_numpy(), adjacency=graph)
    assert consistency_score(soft.iloc[ORDER], adjacency=graph) == expected


def test_point_01_labels_that_do_not_fit_are_refused(room):
    graph, labels = room
    named = shuffled(labels)[1]
    with pytest.raises(ParameterError, match=r"labels name 1 node that the graph lacks, first 'Zoe'"):
        evaluate(graph, {**named, "Zoe": 1})
    short = {name: label for name, label in named.items() if name != "pupil 3"}
    with pytest.raises(ParameterError, match="1 of 30 labels are missing, first that of node 'pupil 3'"):
        evaluate(graph, short)
    with pytest.raises(ParameterError, match="name none of the nodes"):
        modularity_score(graph, dict.fromkeys(range(30), 0))
    with pytest.raises(GroupsError, match="that the graph lacks"):
        evaluate(graph, labels, sensitive_features={**shuffled(graph.sensitive_features)[1], "Zoe": "girl"})


def test_point_01_groups_of_an_edge_table_need_names(room):
    graph, labels = room
    table = nx.to_pandas_edgelist(graph.to_networkx())
    names = eg.as_graph(table).node_names
    ordered = pd.Series(labels, index=NAMES).loc[names].to_numpy()
    groups = shuffled(graph.sensitive_features)[0]
    assert evaluate(table, ordered, sensitive_features=groups)["NB"] == evaluate(graph, labels)["NB"]
    with pytest.raises(GroupsError, match="do not fit an edge list"):
        evaluate(table, ordered, sensitive_features=groups.to_numpy())


def test_point_01_refine_and_rules_match_by_name(room):
    graph, labels = room
    from equigraph.rules import Rules

    start = np.arange(30) % 3
    expected = eg.refine_labels(graph, start, random_state=0)
    bare = eg.Graph(graph.adjacency, NAMES)
    for named, groups in zip(shuffled(start), shuffled(graph.sensitive_features), strict=True):
        found = eg.refine_labels(bare, named, sensitive_features=groups, random_state=0)
        assert (found == expected).all()
    rules = Rules(together=[[NAMES[i] for i in np.flatnonzero(labels == 0)]])
    for named in shuffled(labels):
        assert rules.check(graph, named) == rules.check(graph, labels) == []


def test_point_01_pictures_match_by_name(room):
    graph, labels = room
    pytest.importorskip("matplotlib").use("agg")
    from equigraph.plotting import ClusterGraphDisplay, CompositionDisplay, GraphDisplay

    bare = eg.Graph(graph.adjacency, NAMES)
    model = eg.FairPartition(3, random_state=0).fit(graph)
    for named, groups in zip(shuffled(labels), shuffled(graph.sensitive_features), strict=True):
        display = GraphDisplay(bare, named, sensitive_features=groups)
        assert (display.labels == labels).all()
        assert (display.groups.codes == graph.groups.codes).all()
        assert (display.positions == GraphDisplay(graph, labels).positions).all()
        links = ClusterGraphDisplay(bare, named).links
        assert (links == ClusterGraphDisplay(graph, labels).links).all()
        counts = CompositionDisplay.from_estimator(model, bare, sensitive_features=groups).composition.counts
        assert (counts == CompositionDisplay.from_estimator(model, graph).composition.counts).all()


def test_point_01_a_graph_and_a_report_match_by_name(room, tmp_path):
    graph, labels = room
    for groups in shuffled(graph.sensitive_features):
        made = eg.Graph(graph.adjacency, NAMES, groups)
        assert made.sensitive_features.tolist() == graph.sensitive_features.tolist()
    eg.write_blocks(eg.Graph(graph.adjacency, NAMES), tmp_path / "blocks")
    stored = eg.open_blocks(tmp_path / "blocks").with_groups(shuffled(graph.sensitive_features)[0])
    assert stored.sensitive_features.tolist() == graph.sensitive_features.tolist()
    result = eg.cluster(graph, n_clusters=3, random_state=0)
    result.report(tmp_path / "a.html", graph=graph, baseline=shuffled(labels)[0])
    result.report(tmp_path / "b.html", graph=graph, baseline=labels)
    assert (tmp_path / "a.html").read_text() == (tmp_path / "b.html").read_text()


def test_point_01_what_has_no_order_or_graph_is_refused():
    with pytest.raises(GroupsError, match="cannot be matched without a graph"):
        eg.penalties.Contrastive({"ann": "x", "bob": "y"})
    with pytest.raises(GroupsError, match="cannot be matched without a graph"):
        eg.penalties.Contrastive(pd.Series(["x", "y"], index=["ann", "bob"]))
    with pytest.raises(ParameterError, match="one label per node"):
        balance_score({0, 1}, sensitive_features=["x", "y"])
