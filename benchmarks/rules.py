"""How long the solver takes to keep rules of all kinds, by the number of nodes and clusters.

Run ``python -m benchmarks.rules``. Every instance is a random graph of mean degree 6 with two attributes, sizes within
one of each other, shares within 10 points, at least one linked node each, pairs together and triples apart, which
can be kept: what is timed is the way to labels (or with ``--start`` to the labels that are nearest to random ones).
``--conflict`` adds a contradiction and times how long it takes to name it. ``--random 300`` instead takes that many
random instances with random rules of all kinds, checks every answer by the oracle and every conflict for being
irreducible, and tells how many were found, impossible and not found.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter

import numpy as np
from scipy import sparse

from benchmarks._rule_instances import Instance, random_instance
from equigraph.graph import Graph
from equigraph.rules import Facts, Rules, compile_rules, feasible_labels, find_conflict

CASES = ((30, 3), (78, 3), (120, 6), (300, 3), (300, 12), (1000, 5), (1000, 20), (3000, 10))


def random_graph(n: int, rng: np.random.Generator) -> Graph:
    ends = rng.integers(n, size=(2, 3 * n))
    ends = ends[:, ends[0] != ends[1]]
    half = sparse.coo_array((np.ones(ends.shape[1]), tuple(ends)), shape=(n, n)).tocsr()
    return Graph(half.maximum(half.T).sign().tocsr())


def all_kinds(n: int, k: int, rng: np.random.Generator, friends: bool) -> Rules:
    people = rng.permutation(n).tolist()
    pairs = [tuple(people[2 * i : 2 * i + 2]) for i in range(max(n // 30, 1))]
    rest = people[2 * len(pairs) :]
    triples = [tuple(rest[3 * i : 3 * i + 3]) for i in range(max(n // 30, 1))]
    return Rules.from_dict(
        {
            "together": pairs,
            "apart": triples,
            "sizes": (n // k - 1, -(-n // k) + 1),
            "friends": 1 if friends else None,
            "shares": {"gender": 0.1},
            "at_most": {"needs": {"yes": -(-n // (5 * k)) + 3}},
            "not_alone": {"gender": 2},
        }
    )


def attributes(n: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
    return {"gender": rng.choice(["girl", "boy"], n), "needs": rng.choice(["yes", "no"], n, p=[0.15, 0.85])}


def measure(n: int, k: int, seed: int, args: argparse.Namespace) -> tuple[float, str]:
    rng = np.random.default_rng(seed)
    facts = Facts(random_graph(n, rng), attributes(n, rng))
    rules = all_kinds(n, k, rng, not args.no_friends)
    start = rng.integers(k, size=n) if args.start else None
    if args.conflict:
        one, other = rules.items[0].nodes
        rules = Rules.from_dict({**rules.to_dict(), "fixed": {one: 0, other: 1}})
        begin = time.process_time()
        conflict = find_conflict(rules, facts, n_clusters=k)
        return time.process_time() - begin, "none" if conflict is None else conflict.describe()
    begin = time.process_time()
    answer = feasible_labels(compile_rules(rules, facts, None, k), start=start)
    seconds = time.process_time() - begin
    if answer.labels is not None:
        assert not rules.check(facts.graph, answer.labels, attributes_of(facts), n_clusters=k)
    return seconds, answer.status + (", fewest" if answer.fewest and args.start else "")


def attributes_of(facts: Facts) -> dict[str, np.ndarray]:
    return {name: facts.values(name) for name in ("gender", "needs")}


def ask(instance: Instance, rules: Rules) -> str:
    """Return the answer of the solver, checked by the oracle."""
    graph, groups, _, k = instance
    answer = feasible_labels(compile_rules(rules, graph, groups, k))
    if answer.labels is not None:
        assert not rules.check(graph, answer.labels, groups, n_clusters=k)
        assert np.unique(answer.labels).size == k
    return answer.status


def random_instances(first: int, number: int) -> None:
    answers: Counter[str] = Counter()
    lengths: Counter[int] = Counter()
    seconds, unproven = [], 0
    for seed in range(first, first + number):
        instance = random_instance(seed)
        begin = time.process_time()
        status = ask(instance, instance.rules)
        seconds.append(time.process_time() - begin)
        answers[status] += 1
        if status != "impossible":
            continue
        graph, groups, rules, k = instance
        conflict = find_conflict(rules, graph, groups, n_clusters=k)
        assert conflict is not None
        lengths[len(conflict.rules)] += 1
        unproven += not conflict.irreducible
        assert ask(instance, Rules.of(conflict.rules)) != "found"
        for rule in conflict.rules if conflict.irreducible else ():
            rest = Rules.of(other for other in conflict.rules if other is not rule)
            assert ask(instance, rest) != "impossible"  # found once, but perhaps not again in time
    print(f"{number} instances: {dict(answers)}")
    print(
        f"median {np.median(seconds):.3f} s, 95 % within {np.quantile(seconds, 0.95):.2f} s, worst {max(seconds):.1f} s"
    )
    print(
        f"conflicts by number of rules: {dict(sorted(lengths.items()))}; not proven irreducible: {unproven}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--start", action="store_true", help="ask for few changes from random labels")
    parser.add_argument("--conflict", action="store_true", help="add a contradiction and name it")
    parser.add_argument("--no-friends", action="store_true", help="leave out the rule about links")
    parser.add_argument(
        "--case", nargs=2, type=int, action="append", metavar=("N", "K"), help="nodes and clusters"
    )
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--random", type=int, metavar="N", help="check N random instances")
    parser.add_argument("--first", type=int, default=0, help="seed of the first random instance")
    args = parser.parse_args()
    if args.random:
        random_instances(args.first, args.random)
        return
    print(f"{'nodes':>9s}{'clusters':>9s}{'median s':>10s}{'worst s':>9s}  answers")
    for n, k in args.case or CASES:
        runs = [measure(n, k, seed, args) for seed in range(args.seeds)]
        seconds = [run[0] for run in runs]
        print(
            f"{n:9d}{k:9d}{np.median(seconds):10.2f}{max(seconds):9.2f}  {'; '.join(sorted({r[1] for r in runs}))}"
        )


if __name__ == "__main__":
    main()
