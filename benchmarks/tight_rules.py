"""The search under rules without slack: how often the optimum is reached, the worst miss, and CPU time.

Run ``python -m benchmarks tight_rules --instances 100``. Labels are drawn first and the rules are derived from them, so
every instance is feasible. What is best is proven by HiGHS on linearised modularity where the dial is 0, the graph has
at most ``--exact`` nodes and the solver ends within its limit of nodes; elsewhere it is the best of the drawn labels,
of all fits and of ``--long`` runs with effort 4 from other seeds, and the table says so ("best known").
"""

from __future__ import annotations

import argparse
import time
import warnings
from typing import Any

import numpy as np
from scipy import optimize, sparse

import equigraph as eg
from benchmarks._rule_instances import Instance, tight_instance
from equigraph.exceptions import EquigraphWarning
from equigraph.rules import Facts, compile_rules
from equigraph.rules.model import alike, make_program

DIAL = (0.0, 0.2, 0.5)
# A value this near to the best is the best, and one further off counts as a miss.
SAME, FAR = 1e-6, 0.01
NODE_LIMIT = 20_000


def value(instance: Instance, labels: np.ndarray, fairness: float) -> float:
    """Return (1 - f) Q + f NB of labels, NB the mean over the attributes."""
    balance, columns = eg.metrics.normalized_balance_score, instance.groups.values()
    notion = np.mean([balance(labels, sensitive_features=column) for column in columns])
    modularity = eg.metrics.modularity_score(instance.graph.adjacency, labels)
    return float((1 - fairness) * modularity + fairness * notion)


def fitted(instance: Instance, fairness: float, seed: int, effort: float = 1.0) -> tuple[np.ndarray, float]:
    """Return the labels of a fit, checked by the oracle, and its CPU seconds."""
    graph, groups, rules, k = instance
    start = time.process_time()
    model = eg.FairPartition(k, fairness, rules=rules, random_state=seed, effort=effort, size_bounds=None)
    model.fit(graph, sensitive_features=groups)
    seconds = time.process_time() - start
    assert not rules.check(graph, model.labels_, groups, n_clusters=k)
    return model.labels_, seconds


def proven_modularity(instance: Instance) -> float | None:
    """Return the highest modularity under the rules; None if the solver does not prove it."""
    graph, groups, rules, k = instance
    compiled = compile_rules(rules, Facts(graph, groups), None, k)
    # Every unit is a class of its own: x[u, c] says that unit u is in cluster c.
    classes = alike(compiled, also=np.ones(compiled.n_units, dtype=np.bool_))
    program = make_program(compiled, classes)
    program.number_clusters(compiled)
    adjacency = graph.adjacency.toarray()
    degree, total = adjacency.sum(axis=1), adjacency.sum()
    gain = (adjacency - np.outer(degree, degree) / total) / total
    onto = sparse.csr_array((np.ones(compiled.n_nodes), (compiled.unit, np.arange(compiled.n_nodes))))
    gain = onto @ gain @ onto.T
    n = compiled.n_units
    first, second = np.triu_indices(n, 1)
    pairs, at = first.size, program.cost.size
    # z of a pair is 1 just if both are in the same cluster.
    column, rows = classes.of_unit, []
    for row in program.rows:
        none = sparse.csr_array((row.A.shape[0], pairs))
        rows.append(optimize.LinearConstraint(sparse.hstack([row.A, none], format="csr"), row.lb, row.ub))
    for c in range(k):
        for one, other, z in ((1.0, -1.0, 1.0), (-1.0, 1.0, 1.0), (1.0, 1.0, -1.0)):
            block = np.zeros((pairs, at))
            block[np.arange(pairs), column[first] * k + c] = one
            block[np.arange(pairs), column[second] * k + c] = other
            matrix = sparse.hstack([sparse.csr_array(block), z * sparse.eye_array(pairs)], format="csr")
            rows.append(optimize.LinearConstraint(matrix, -np.inf, 1.0))
    cost = np.zeros(at + pairs)
    cost[at:] = -2.0 * gain[first, second]
    integrality = np.ones(cost.size)
    integrality[at:] = 0
    result = optimize.milp(
        cost,
        integrality=integrality,
        bounds=optimize.Bounds(
            np.concatenate([program.low.ravel(), np.zeros(pairs)]),
            np.concatenate([program.high.ravel(), np.ones(pairs)]),
        ),
        constraints=rows,
        options={"mip_rel_gap": 0.0, "node_limit": NODE_LIMIT},
    )
    return float(np.trace(gain) - result.fun) if result.status == 0 else None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--instances", type=int, default=100)
    parser.add_argument("--first", type=int, default=0, help="seed of the first instance")
    parser.add_argument("--nodes", type=int, nargs=2, default=(14, 60))
    parser.add_argument("--exact", type=int, default=18, help="most nodes for which a proof is asked")
    parser.add_argument("--long", type=int, default=2, help="long runs for what is not proven")
    options = parser.parse_args()
    warnings.simplefilter("ignore", EquigraphWarning)
    rows: list[dict[str, Any]] = []
    fitted(tight_instance(10**6)[0], 0.5, 0)
    for seed in range(options.first, options.first + options.instances):
        instance, drawn = tight_instance(seed, tuple(options.nodes))
        fairness, n = DIAL[seed % len(DIAL)], instance.graph.n_nodes
        labels, seconds = fitted(instance, fairness, seed=0)
        proven = proven_modularity(instance) if fairness == 0 and n <= options.exact else None
        found = value(instance, labels, fairness)
        known = [found, value(instance, drawn, fairness)]
        for run in range(options.long if proven is None else 0):
            known.append(value(instance, fitted(instance, fairness, 100 + run, effort=4.0)[0], fairness))
        off = (max(known) if proven is None else proven) - found
        rows.append({"off": off, "proven": proven is not None, "seconds": seconds})
        if off > SAME or off < -SAME:
            kinds = ", ".join(instance.rules.to_dict())
            print(f"  seed {seed} n {n} k {instance.n_clusters} dial {fairness}: off by {off:.4f} ({kinds})")
    for name, chosen in (("proven", [r for r in rows if r["proven"]]), ("best known", rows)):
        off = np.array([row["off"] for row in chosen])
        if off.size:
            print(
                f"{name}: {off.size} fits, {(off <= SAME).mean():.1%} optimal, {(off > FAR).mean():.1%} off by more "
                f"than {FAR}, worst {off.max():.4f}, mean {off.mean():.5f}, "
                f"{np.mean([row['seconds'] for row in chosen]):.2f} CPU s each"
            )


if __name__ == "__main__":
    main()
