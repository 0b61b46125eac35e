"""FairnessFrame against loops over people, and its chance against all labellings."""

import itertools
import sys

import numpy as np
import pytest
from scipy import sparse

import equigraph as eg
from equigraph import metrics as m
from equigraph.exceptions import GroupsError, ParameterError
from equigraph.graph import Graph
from equigraph.graph.groups import encode_attributes, encode_groups
from equigraph.metrics.notions import NORMALIZED

pd = pytest.importorskip("pandas")

# What by_attribute has to agree with; each of these is checked against loops in its own test.
SCORES = {
    "B": m.balance_score,
    "NB": m.normalized_balance_score,
    "min_balance": lambda *a, **k: m.balance_score(*a, average="min", **k),
    "evenness": m.evenness_score,
    "mouflon": m.mouflon_balance_score,
    "rho": m.individual_balance_score,
}


def draw(seed, n=24, k=4):
    """A weighted graph with an isolated node, labels that are words, and two attributes, one of them with gaps."""
    rng = np.random.default_rng(seed)
    A = np.triu(rng.random((n, n)) < 0.15, 1) * rng.integers(1, 4, (n, n))
    A[:, -1] = A[-1, :] = 0
    labels = rng.permutation(np.array(["p", "q", "r", "s"][:k])[np.arange(n) % k])
    gender = rng.permutation(np.array(["boy", "girl"])[np.arange(n) % 2])
    needs = [None if i < 3 else ["yes", "no", "no"][i % 3] for i in range(n)]
    return (A + A.T).astype(float), labels, gender, rng.permutation(np.array(needs, dtype=object))


def frame_of(seed, **kwargs):
    A, labels, gender, needs = draw(seed)
    features = {"gender": gender, "needs": encode_groups(needs, missing="ignore")}
    both = encode_attributes({"gender": gender, "needs": needs}, missing="ignore")
    return m.FairnessFrame(A, labels, sensitive_features=both, **kwargs), A, labels, features, needs


@pytest.mark.parametrize("seed", range(2))
def test_overall_is_counted(seed):
    frame, A, labels, features, _ = frame_of(seed)
    same = labels[:, None] == labels
    lost = sum(bool(A[i].any()) and not A[i][same[i]].any() for i in range(len(labels)))
    means = [m.normalized_balance_score(labels, sensitive_features=one) for one in features.values()]
    expected = {
        "n_nodes": 24,
        "n_clusters": 4,
        "Q": m.modularity_score(A, labels),
        "links_kept": A[same].sum() / A.sum(),
        "without_link": lost,
        "NB": np.mean(means),
    }
    assert frame.overall.to_dict() == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("seed", range(2))
def test_by_attribute_has_the_scores_of_the_metrics(seed):
    frame, _, labels, features, needs = frame_of(seed)
    joint = [None if b is None else f"{a}+{b}" for a, b in zip(features["gender"], needs, strict=True)]
    every = {**features, "gender, needs": encode_groups(joint, missing="ignore")}
    assert frame.by_attribute.index.tolist() == list(every)
    for name, groups in every.items():
        for score, function in SCORES.items():
            expected = function(labels, sensitive_features=groups)
            assert frame.by_attribute.loc[name, score] == pytest.approx(expected, abs=1e-12), (name, score)


@pytest.mark.parametrize("seed", range(2))
def test_by_cluster_is_counted(seed):
    frame, A, labels, features, _ = frame_of(seed)
    table = frame.by_cluster
    assert table.index.tolist() == ["p", "q", "r", "s"]
    assert table["Q"].sum() == pytest.approx(m.modularity_score(A, labels))
    for cluster in table.index:
        own = labels == cluster
        assert table.loc[cluster, "size"] == own.sum()
        assert table.loc[cluster, "links_kept"] == pytest.approx(A[np.ix_(own, own)].sum() / A[own].sum())
        lost = sum(A[i].any() and not A[i][own].any() for i in np.flatnonzero(own))
        assert table.loc[cluster, "without_link"] == lost
    counts = pd.crosstab(labels, features["gender"])
    assert table["NB gender"].tolist() == NORMALIZED.cluster_scores(counts.to_numpy()).tolist()
    assert frame.composition("gender").counts.tolist() == counts.to_numpy().tolist()


@pytest.mark.parametrize("seed", range(2))
def test_by_group_is_counted(seed):
    frame, A, labels, features, needs = frame_of(seed)
    parts = m.group_modularity_scores(A, labels, sensitive_features=features["needs"])
    rho = m.individual_balance_score(labels, sensitive_features=features["needs"], per_node=True)
    same = labels[:, None] == labels
    for value in ("yes", "no"):
        row, own = frame.by_group.loc[("needs", value)], needs == value
        known = np.array([need is not None for need in needs])
        shares = [own[labels == one].sum() / known[labels == one].sum() for one in set(labels)]
        assert row["size"] == own.sum()
        assert row["share"] == pytest.approx(own.sum() / known.sum())
        assert (row["least_share"], row["most_share"]) == pytest.approx((min(shares), max(shares)))
        assert row["alone"] == sum(own[labels == one].sum() == 1 for one in set(labels))
        assert row["links_kept"] == pytest.approx((A * same)[own].sum() / A[own].sum())
        assert row["without_link"] == sum(A[i].any() and not A[i][same[i]].any() for i in np.flatnonzero(own))
        assert row["Q"] == pytest.approx(parts[value], abs=1e-12)
        assert row["rho"] == pytest.approx(rho[own].mean(), abs=1e-12)


def test_by_intersection_has_the_groups_of_a_combined_column():
    frame, A, labels, features, needs = frame_of(1)
    joint = [None if b is None else f"{a}+{b}" for a, b in zip(features["gender"], needs, strict=True)]
    one = m.FairnessFrame(A, labels, sensitive_features=encode_groups(joint, missing="ignore"))
    for gender, need in itertools.product(("boy", "girl"), ("yes", "no")):
        expected = one.by_group.loc[("group", f"{gender}+{need}")].to_dict()
        assert frame.by_intersection.loc[(gender, need)].to_dict() == pytest.approx(expected)


def naive_worst(A, labels, columns):
    """People with at most half of the usual value: (smallest part, sum of parts, links lost, place)."""
    n, same = len(labels), labels[:, None] == labels
    usual = A[same].sum() / A.sum()
    found = []
    for i in range(n):
        parts = [min(A[i][same[i]].sum() / A[i].sum() / usual, 1) if A[i].any() else 1.0]
        for column in columns:
            if column[i] is None:
                parts.append(1.0)
                continue
            known = [j for j in range(n) if column[j] is not None and j != i]
            here = [j for j in known if same[i, j]]
            proportion = len(here) * sum(column[j] == column[i] for j in known) / len(known)
            fellows = sum(column[j] == column[i] for j in here)
            parts.append(min(fellows / proportion, 1) if proportion >= 1 else 1.0)
        if min(parts) <= 0.5:
            lost = int((A[i][~same[i]] > 0).sum())
            found.append((round(min(parts), 9), round(sum(parts), 9), -lost, i))
    return [place for *_, place in sorted(found)]


@pytest.mark.parametrize("seed", range(3))
def test_worst_people_agree_with_a_loop(seed):
    frame, A, labels, features, needs = frame_of(seed)
    expected = naive_worst(A, labels, [features["gender"].tolist(), needs.tolist()])
    assert frame.worst(100).index.tolist() == expected
    assert frame.worst(2).index.tolist() == expected[:2]


def test_chance_agrees_with_all_labellings():
    A, _, _, _ = draw(0, n=7)
    labels, groups = np.array([0, 0, 0, 1, 1, 2, 2]), np.array(list("xxyyxyx"))
    table = m.FairnessFrame(A, labels, sensitive_features=groups).chance(n_samples=4_000, random_state=1)
    every = {tuple(one) for one in itertools.permutations(labels.tolist())}
    lost = [m.FairnessFrame(A, one).overall["without_link"] for one in every]
    scores = {("links", "Q"): [m.modularity_score(A, one) for one in every], ("links", "without_link"): lost}
    for name, function in SCORES.items():
        scores["group", name] = [function(one, sensitive_features=groups) for one in every]
    for key, values in scores.items():
        row = table.loc[key]
        spread = np.std(values) / np.sqrt(4_000)
        assert row["chance"] == pytest.approx(np.mean(values), abs=5 * spread + 1e-12), key
        now = row["value"]
        better = -1 if key == ("links", "without_link") else 1
        beats = np.mean([0.5 if np.isclose(v, now) else float(better * v < better * now) for v in values])
        assert row["beats"] == pytest.approx(beats, abs=0.03), key
        assert min(values) - 1e-12 <= row["low"] <= row["high"] <= max(values) + 1e-12


def test_chance_has_a_seed():
    frame, *_ = frame_of(0)
    one, two = (frame.chance(n_samples=50, random_state=3) for _ in range(2))
    pd.testing.assert_frame_equal(one, two)
    assert not one.equals(frame.chance(n_samples=50, random_state=4))


def test_compare_is_second_minus_first():
    frame, A, labels, _, _ = frame_of(0)
    other = np.roll(labels, 1)
    change = frame.compare(other)
    second = m.FairnessFrame(A, other, sensitive_features=frame._given)
    pd.testing.assert_series_equal(change.overall, second.overall - frame.overall, check_names=False)
    for view in ("by_attribute", "by_group", "by_intersection"):
        table = getattr(change, view)
        expected = (getattr(second, view) - getattr(frame, view))[table.columns]
        pd.testing.assert_frame_equal(table, expected, check_dtype=False)
    agree = max(
        sum(dict(zip("pqrs", order, strict=True))[a] == b for a, b in zip(labels, other, strict=True))
        for order in itertools.permutations("pqrs")
    )
    assert change.n_moved == 24 - agree
    assert "moved" in change._repr_html_()


def test_without_groups_links_are_scored():
    A, labels, *_ = draw(0)
    frame = m.FairnessFrame(A, labels)
    assert "NB" not in frame.overall
    assert frame.worst().columns.tolist() == ["cluster", "links", "kept", "reason"]
    with pytest.raises(GroupsError, match="no groups"):
        _ = frame.by_group


def test_what_does_not_fit_is_named():
    frame, A, labels, features, _ = frame_of(0)
    with pytest.raises(ParameterError, match="different attributes"):
        frame.compare(m.FairnessFrame(A, labels, sensitive_features=features["gender"]))
    with pytest.raises(ParameterError, match="23 nodes"):
        frame.compare(m.FairnessFrame(A[1:, 1:], labels[1:]))
    with pytest.raises(ParameterError, match="did you mean 'gender'"):
        frame.composition("gendr")
    with pytest.raises(GroupsError, match="missing"):
        m.FairnessFrame(A, labels, sensitive_features={"needs": [None] + ["yes"] * 23})


def test_a_graph_without_links_has_no_share_kept():
    frame = m.FairnessFrame(sparse.csr_array((4, 4)), [0, 0, 1, 1], sensitive_features=list("xyxy"))
    assert np.isnan(frame.overall["links_kept"])
    assert frame.overall["Q"] == 0
    assert frame.chance(n_samples=5, random_state=0).loc[("links", "Q"), "chance"] == 0
    assert len(frame.worst()) == 0


def test_without_pandas_tables_are_records(monkeypatch):
    room = eg.datasets.make_classroom()
    frame = m.FairnessFrame(room.adjacency, np.arange(30) % 3, sensitive_features=room.sensitive_features)
    with_pandas = frame.by_cluster, frame.overall, frame.chance(n_samples=5, random_state=0)
    monkeypatch.setitem(sys.modules, "pandas", None)
    assert frame.by_cluster == with_pandas[0].reset_index().to_dict("records")
    assert frame.overall == pytest.approx(with_pandas[1].to_dict())
    records = frame.chance(n_samples=5, random_state=0)
    assert [(row["attribute"], row["score"]) for row in records] == with_pandas[2].index.tolist()


def test_html_is_escaped():
    frame = m.FairnessFrame([[0, 1], [1, 0]], ["<b>", "c"], sensitive_features=["x", "y"])
    assert "&lt;b&gt;" in frame._repr_html_()
    assert "<b>" not in frame._repr_html_()


# Exact tables and texts on small graphs.

LINKS = [[0, 6], [0, 7], [1, 2], [1, 6], [1, 7], [2, 3], [3, 4], [4, 5], [5, 6]]
LINKS += [[8, 9], [9, 10], [10, 11], [8, 11]]
LABELS = list("aaaaaabbbbbb")
TEAM, SEX = list("xyyyyyxxxxyx"), list("mfmfmfmfmfmf")


def graph(n, links):
    A = np.zeros((n, n))
    for i, j in links:
        A[i, j] = A[j, i] = 1
    return A


def records(table):
    return table.reset_index().to_dict("records")


@pytest.fixture(scope="module")
def exact():
    return m.FairnessFrame(graph(12, LINKS), LABELS, sensitive_features={"team": TEAM, "sex": SEX})


def test_difference(exact):
    team = {"attribute": "team", "links_kept": 4 / 13, "without_link": 0.5, "alone": 0, "rho": 0}
    sex = {"attribute": "sex", "links_kept": 0, "without_link": 1 / 6, "alone": 0, "rho": 0}
    assert records(exact.difference()) == [pytest.approx(team), pytest.approx(sex)]


def test_the_worst(exact):
    alone = "among 6 people, where 2.3 others would be in proportion"
    usual = 5 * 5 / 11
    expected = [
        (0, "a", 2, 0, 0, f"no one of 2 linked people in the cluster; the only one of team 'x' {alone}"),
        (6, "b", 3, 0, 4, "no one of 3 linked people in the cluster"),
        (7, "b", 2, 0, 4, "no one of 2 linked people in the cluster"),
        (10, "b", 2, 2, 0, f"the only one of team 'y' {alone}"),
    ]
    heads = ("node", "cluster", "links", "kept", "fellows team", "reason")
    more = {"usual team": pytest.approx(usual), "fellows sex": 2, "usual sex": pytest.approx(usual)}
    assert records(exact.worst()) == [dict(zip(heads, row, strict=True)) | more for row in expected]
    assert len(records(exact.worst(1))) == 1
    with pytest.raises(ParameterError, match=r"FairnessFrame\.worst.* n .*0|n=0"):
        exact.worst(0)


def test_custom_score_gets_labels_and_groups():
    def first_of(labels, sensitive_features):
        return int(labels[0] == sensitive_features.codes[0])

    options = {"sensitive_features": list("xyxy"), "metrics": {"own": first_of}}
    frame = m.FairnessFrame(graph(4, []), list("aabb"), **options)
    row = next(row for row in records(frame.chance(n_samples=200, random_state=0)) if row["score"] == "own")
    assert (row["attribute"], row["value"], row["samples"]) == ("group", 1.0, 200)
    assert 0.4 < row["chance"] < 0.6
    assert row["beats"] == pytest.approx(1 - row["chance"] / 2)


def test_cluster_without_grouped_nodes():
    groups = encode_groups(["x", "y", "x", None], missing="ignore")
    frame = m.FairnessFrame(graph(4, [(0, 1), (2, 3)]), list("aabc"), sensitive_features=groups)
    rows = records(frame.by_cluster)
    assert [row["NB group"] for row in rows] == pytest.approx([1.0, 1.0, float("nan")], nan_ok=True)
    first, second = records(frame.by_group)
    assert (first["least_share"], first["most_share"]) == (0.5, 1.0)
    assert (second["least_share"], second["most_share"], second["links_kept"]) == (0.0, 0.5, 1.0)
    alone = encode_groups([None, None, "x", "x"], missing="ignore")
    (only,) = records(m.FairnessFrame(graph(4, [(0, 1)]), list("aabb"), sensitive_features=alone).by_group)
    assert (only["least_share"], only["without_link"]) == (1.0, 0)
    assert np.isnan(only["links_kept"])


PAIRS = np.array([[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]])


def test_the_attribute_of_a_graph_names_its_groups():
    groups = encode_groups(list("xyxy"))
    graph = Graph(PAIRS, sensitive_features=list("xyxy"), attribute="team")
    assert list(m.FairnessFrame(graph, list("aabb")).attributes) == ["team"]
    assert list(m.FairnessFrame(graph, list("aabb"), sensitive_features=groups).attributes) == ["team"]
    assert list(m.FairnessFrame(PAIRS, list("aabb"), sensitive_features=groups).attributes) == ["group"]
    with pytest.raises(GroupsError, match="4 nodes"):
        m.FairnessFrame(PAIRS, list("aabb"), sensitive_features=encode_groups(list("xyx")))
