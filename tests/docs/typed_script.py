"""A user's script that must pass ``mypy --strict``: `make lint` checks it, and test_docs.py runs it."""

from __future__ import annotations

import networkx as nx

import equigraph as eg

club = nx.karate_club_graph()

# Communities, as networkx has them.
parts: list[set[object]] = eg.fair_communities(club, "club", 4, attribute="part", random_state=0)
largest: int = len(parts[0])

# A result: labels, communities, scores.
result: eg.ClusteringResult = eg.cluster(club, sensitive_features="club", n_clusters=4, random_state=0)
labels: list[int] = result.labels.tolist()
same: list[set[object]] = result.communities
quality: float = result.scores["Q"]
rows: dict[str, float] = dict(
    eg.metrics.evaluate(club, parts, sensitive_features="club", further=("conductance", "ncut"))
)

# Objects of other libraries.
graph: nx.Graph = result.to_networkx(club)


def convert(found: eg.ClusteringResult) -> tuple[object, object]:
    """Return the clusters as igraph and cdlib have them."""
    return found.to_igraph(club), found.to_cdlib(club)


# Estimators and their parameters.
model = eg.FairPartition(n_clusters=4, fairness=0.5, random_state=0, time_limit=60.0)
found: list[int] = model.fit(club, sensitive_features="club").labels_.tolist()

# The trade-off curve, and one point of it.
curve: eg.TradeoffCurve = eg.tradeoff_curve(
    club, sensitive_features="club", n_clusters=4, effort=0.1, random_state=0
)
knee: list[int] = curve.select("knee").labels.tolist()

# Labels of another method, made fairer.
plain = nx.community.louvain_communities(club, seed=0)
repaired = eg.refine_labels(club, plain, sensitive_features="club", fairness=0.5, random_state=0)
