"""The search under rules: zero violations, every feasible instance solved, the optimum of small graphs, time.

Run ``python -m benchmarks.rule_search --random 300`` for random instances of 20 to 120 nodes with rules of all kinds
(every answer is checked by the oracle, every conflict for being irreducible), ``--planted 300`` for such as are tight
in sizes, units, cliques to be apart, groups, friends or all of them and feasible by construction, ``--brute 100`` for
random rules on 8 to 11 nodes against all divisions, ``--school`` for a made-up school, and ``--large`` for a million
nodes and ten million edges with 1,000 pairs together, 1,000 apart, two attributes and bounds on sizes.
"""

from __future__ import annotations

import argparse
import itertools
import time
import warnings
from collections import Counter
from typing import Any

import numpy as np
from scipy import sparse

import equigraph as eg
from benchmarks._rule_instances import FAMILIES, Instance, planted_instance, random_instance
from equigraph.exceptions import ConflictError, EquigraphWarning, NotFoundError
from equigraph.rules import Facts, Rules, compile_rules, feasible_labels, keeps
from equigraph.search.feasible import make_feasible_search
from equigraph.search.large import make_search
from equigraph.search.pool import Target

DIAL = (0.0, 0.2, 0.5, 0.8)


def solve(instance: Instance, fairness: float = 0.5, **options: Any) -> Any:
    """Return the fitted model of an instance, with its labels accepted by the oracle."""
    graph, groups, rules, k = instance
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EquigraphWarning)
        model = eg.FairPartition(k, fairness, rules=rules, random_state=0, **options)
        model.fit(graph, sensitive_features=groups)
    assert not rules.check(graph, model.labels_, groups, n_clusters=k)
    assert np.unique(model.labels_).size == k
    return model


def answer(instance: Instance, **options: Any) -> str:
    """Return what comes of an instance: solved, impossible or not found; a conflict is checked."""
    try:
        solve(instance, **options)
    except ConflictError as error:
        if "perhaps not all of these" in str(error):
            return "impossible, and not proven to be irreducible"
        check_conflict(instance, error.rules)
        return "impossible"
    except NotFoundError:
        return "not found"
    return "solved"


def check_conflict(instance: Instance, rules: tuple[Any, ...]) -> None:
    """Check that some rules cannot be kept, and can be without any one of them."""
    graph, groups, _, k = instance
    assert feasible_labels(compile_rules(rules, graph, groups, k)).status != "found"
    for rule in rules:
        rest = [other for other in rules if other is not rule]
        assert feasible_labels(compile_rules(rest, graph, groups, k)).status != "impossible"


def random_instances(first: int, number: int, effort: float, planted: bool = False) -> None:
    """Solve random instances, or such as are feasible by construction and tight in one way or in all."""
    answers: Counter[str] = Counter()
    seconds = []
    for seed in range(first, first + number):
        instance = (
            planted_instance(seed, FAMILIES[seed % len(FAMILIES)])[0] if planted else random_instance(seed)
        )
        begin = time.process_time()
        came = answer(instance, effort=effort)
        seconds.append(time.process_time() - begin)
        answers[came] += 1
        if came == "not found":
            print(f"seed {seed}: not found", flush=True)
    print(f"{number} instances, none with a violation: {dict(answers)}")
    print(f"median {np.median(seconds):.2f} CPU s, worst {max(seconds):.1f}")


def small_instance(seed: int) -> Instance:
    """Return an instance of 8 to 11 nodes."""
    return random_instance(seed, nodes=(8, 11), clusters=(2, 3), busy=3)


def best_value(instance: Instance, fairness: float) -> float:
    """Return the largest objective among all divisions that the oracle accepts; -inf if it accepts none."""
    from tests.reference.every_labelling import every_labelling, every_score

    graph, groups, rules, k = instance
    facts = Facts(graph, groups)
    values = np.zeros(0)
    for column in groups.values():
        codes = np.unique(column, return_inverse=True)[1]
        q, fair = every_score(graph.adjacency.toarray(), codes, k)
        values = fair if values.size == 0 else values + fair
    values = (1 - fairness) * q + fairness * values / len(groups)
    labels = every_labelling(graph.n_nodes, k)
    numbers = list(itertools.permutations(range(k))) if rules.names_clusters else [tuple(range(k))]
    compiled = compile_rules(rules, facts, None, k)
    for place in np.argsort(-values, kind="stable"):
        for number in numbers:
            numbered = np.array(number)[labels[place]]
            if keeps(compiled, numbered):
                assert not rules.check(graph, numbered, groups, n_clusters=k)
                return float(values[place])
    return -np.inf


def brute_force(first: int, number: int) -> None:
    """Compare with all divisions until so many instances could be solved."""
    missed, done, seed = [], 0, first
    while done < number:
        instance = small_instance(seed)
        fairness = DIAL[seed % len(DIAL)]
        seed += 1
        short = shortfall(instance, fairness)
        if short is not None:
            done += 1
            if short > 1e-9:
                missed.append((seed - 1, short))
    print(f"optimum in {number - len(missed)} of {number}; missed: {missed}")


def shortfall(instance: Instance, fairness: float, effort: float = 1.0) -> float | None:
    """Return how far the search is below the optimum; None for an instance that is impossible or has no choice."""
    if instance.graph.n_edges == 0 or any(np.unique(column).size < 2 for column in instance.groups.values()):
        return None
    best = best_value(instance, fairness)
    if best == -np.inf:
        assert answer(instance, effort=effort).startswith("impossible")
        return None
    return best - float(solve(instance, fairness, effort=effort).objective_)


def school(seed: int = 0) -> None:
    """Divide 78 pupils into three classes of 25 to 27."""
    graph, rules = school_task(seed)
    begin = time.perf_counter()
    # A mean of two of at least .99 leaves each at least .98.
    model = eg.FairPartition(3, at_least=0.99, rules=rules, random_state=0).fit(graph)
    seconds = time.perf_counter() - begin
    scores = eg.metrics.evaluate(graph, model.labels_)
    told = ", ".join(f"{name} {scores[name]:.3f}" for name in ("Q", "NB[gender]", "NB[needs]"))
    print(f"{seconds:.1f} s; sizes {np.bincount(model.labels_).tolist()}; {told}")
    print(f"violations: {rules.check(graph, model.labels_)}")


def school_task(seed: int = 0) -> tuple[Any, Rules]:
    """Return the graph of wishes of a made-up school with gender and needs, and its rules."""
    rows = eg.datasets.make_school_roster(random_state=seed).rows
    names = [f"{row[2]} {row[1]}" for row in rows[1:]]
    place = {name: i for i, name in enumerate(names)}
    ends = [(i, place[name]) for i, row in enumerate(rows[1:]) for name in row[6:9] if name]
    half = sparse.coo_array((np.ones(len(ends)), np.array(ends).T), shape=(len(names),) * 2).tocsr()
    columns = {"gender": [row[3] for row in rows[1:]], "needs": [row[5] or "no" for row in rows[1:]]}
    graph = eg.Graph(half.maximum(half.T).sign(), np.array(names), columns)
    pairs = {kind: [(names[i], row[at]) for i, row in enumerate(rows[1:]) if row[at]] for kind, at in
             (("apart", 9), ("together", 10))}  # fmt: skip
    return graph, Rules(together=pairs["together"], apart=pairs["apart"], sizes=(25, 27), friends=1)


def planted(n: int, degree: int, k: int, rng: np.random.Generator) -> tuple[sparse.csr_array, np.ndarray]:
    """Return a graph of 4 k blocks of like size, with 70 % of the links inside, and the blocks."""
    blocks = np.sort(rng.integers(0, 4 * k, n))
    ends = np.searchsorted(blocks, np.arange(4 * k + 1))
    one = rng.integers(0, n, n * degree // 2)
    low, high = ends[blocks[one]], ends[blocks[one] + 1]
    inside = (low + rng.random(one.size) * (high - low)).astype(np.int64)
    other = np.where(rng.random(one.size) < 0.7, inside, rng.integers(0, n, one.size))
    kept = one != other
    half = sparse.coo_array((np.ones(int(kept.sum())), (one[kept], other[kept])), shape=(n, n)).tocsr()
    return half.maximum(half.T).sign().tocsr(), blocks


def large(n: int, k: int = 10, pairs: int = 1000) -> None:
    """Time a large graph with and without rules."""
    rng = np.random.default_rng(0)
    adjacency, blocks = planted(n, 20, k, rng)
    groups = {
        "team": np.where(rng.random(n) < 0.3 + 0.4 * (blocks % 4 < 2), "a", "b"),
        "kind": rng.choice(["x", "y", "z"], n, p=[0.6, 0.3, 0.1]),
    }
    codes = np.column_stack([np.unique(column, return_inverse=True)[1] for column in groups.values()])
    chosen = rng.permutation(n)[: 4 * pairs].reshape(2, pairs, 2).tolist()
    rules = Rules(
        together=[tuple(pair) for pair in chosen[0]],
        apart=[tuple(pair) for pair in chosen[1]],
        sizes=(int(0.8 * n / k), int(1.2 * n / k)),
        shares={"team": 0.1, "kind": 0.1},
    )
    facts = Facts(eg.Graph(adjacency), groups)
    print(f"{n:,} nodes, {adjacency.nnz // 2:,} edges")
    begin = time.perf_counter()
    search = make_search(adjacency, codes, k)
    best = search.solve([Target(0.5)])[0]
    free = time.perf_counter() - begin
    print(f"without rules: {free:.0f} s, objective {sum(search.score(best)) / 2:.4f}", flush=True)
    begin = time.perf_counter()
    feasible = make_feasible_search(rules, facts, codes, k)
    labels = feasible.solve([Target(0.5)])[0]
    seconds = time.perf_counter() - begin
    print(f"with rules: {seconds:.0f} s ({seconds / free:.2f} times), {sum(feasible.score(labels)) / 2:.4f}")
    print(f"violations: {len(rules.check(facts.graph, labels, groups, n_clusters=k))}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--random", type=int, metavar="N", help="solve N random instances")
    parser.add_argument("--planted", type=int, metavar="N", help="solve N tight instances that are feasible")
    parser.add_argument("--brute", type=int, metavar="N", help="compare N small instances with all divisions")
    parser.add_argument("--first", type=int, default=0, help="seed of the first instance")
    parser.add_argument("--effort", type=float, default=1.0, help="of the random instances")
    parser.add_argument("--school", action="store_true", help="divide a made-up school")
    parser.add_argument(
        "--large", type=int, nargs="?", const=1_000_000, metavar="N", help="N nodes, 10 N edges"
    )
    args = parser.parse_args()
    if args.random:
        random_instances(args.first, args.random, args.effort)
    if args.planted:
        random_instances(args.first, args.planted, args.effort, planted=True)
    if args.brute:
        brute_force(args.first, args.brute)
    if args.school:
        school(args.first)
    if args.large:
        large(args.large)


if __name__ == "__main__":
    main()
