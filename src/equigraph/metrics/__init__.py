"""Scores of the cohesion and fairness of clusterings.

Every metric of labels and groups is a function of one contingency table; nothing here builds an
n x n dense array.
"""

from typing import TYPE_CHECKING

from equigraph._utils.hooks import lazy_names

if TYPE_CHECKING:
    from equigraph.metrics.agreement import (
        adjusted_rand_score,
        clustering_accuracy,
        normalized_mutual_info_score,
    )
    from equigraph.metrics.audit import FairnessFrame, FrameDifference
    from equigraph.metrics.balance import (
        balance_score,
        evenness_score,
        mouflon_balance_score,
        normalized_balance_score,
        population_balance,
        proportional_balance_score,
    )
    from equigraph.metrics.individual import individual_balance_score, representation_violation
    from equigraph.metrics.quality import (
        conductance_score,
        group_modularity_scores,
        link_shares,
        modularity_score,
        normalized_cut_score,
    )
    from equigraph.metrics.similarity import LipschitzReport, consistency_score, lipschitz_score
    from equigraph.metrics.summary import ClusteringScorer, Composition, cluster_sizes, composition, evaluate
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "agreement": "adjusted_rand_score clustering_accuracy normalized_mutual_info_score",
            "audit": "FairnessFrame FrameDifference",
            "balance": "balance_score evenness_score mouflon_balance_score normalized_balance_score "
            "population_balance proportional_balance_score",
            "individual": "individual_balance_score representation_violation",
            "quality": "conductance_score group_modularity_scores link_shares modularity_score normalized_cut_score",
            "similarity": "LipschitzReport consistency_score lipschitz_score",
            "summary": "ClusteringScorer Composition cluster_sizes composition evaluate",
        },
    )

__all__ = [
    "ClusteringScorer", "Composition", "FairnessFrame", "FrameDifference", "LipschitzReport", "adjusted_rand_score",
    "balance_score", "cluster_sizes", "clustering_accuracy", "composition", "conductance_score", "consistency_score",
    "evaluate", "evenness_score", "group_modularity_scores", "individual_balance_score", "link_shares",
    "lipschitz_score", "modularity_score", "mouflon_balance_score", "normalized_balance_score", "normalized_cut_score",
    "normalized_mutual_info_score", "population_balance", "proportional_balance_score", "representation_violation",
]  # fmt: skip
