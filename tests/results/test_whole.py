"""A stored file with any value replaced by another raises on loading, or can be used."""

import copy
import json
from pathlib import Path

import numpy as np
import pytest

import equigraph as eg
from equigraph.apps.classes import load_division, save_division
from equigraph.apps.classes.division import Division
from equigraph.apps.classes.roster import Roster
from equigraph.exceptions import InputError
from equigraph.results.formats import decode
from equigraph.results.persistence import OutputFolder, record
from equigraph.rules import Rules

ODD = (None, True, -1, 2, 10**400, 1.5, float("inf"), "x", "", [], [[]], {}, {"x": {}}, [0, "x"])


def places(content, at=()):
    """Return the paths of all entries in JSON, of a long list those of the first and the last."""
    if at:
        yield at
    if isinstance(content, dict):
        for key in content:
            yield from places(content[key], (*at, key))
    elif isinstance(content, list):
        for number in sorted({0, len(content) - 1} & set(range(len(content)))):
            yield from places(content[number], (*at, number))


def changed(content, at, value):
    """Return JSON with another value at a place; none where the value is `places` itself."""
    made = copy.deepcopy(content)
    inner = made
    for key in at[:-1]:
        inner = inner[key]
    if value is places:
        del inner[at[-1]]
    else:
        inner[at[-1]] = value
    return made


def use_result(folder):
    """Use a stored result, and return what draws its page."""
    result = eg.ClusteringResult.load(folder)
    _ = repr(result), result._repr_html_(), result.summary(), result.table(), result.groups
    return result.report


def use_curve(folder):
    curve = eg.TradeoffCurve.load(folder)
    _ = repr(curve), list(map(repr, curve.front)), curve._repr_html_(), curve.summary(), curve.table()
    _ = curve.select("product"), curve.select("knee"), curve.hypervolume(), curve.pareto()
    return curve.report


def use_division(folder):
    division = load_division(folder)
    _ = repr(division), division.broken, division.lists.facts(), division.evenness(), division.friendless
    return division.lists.to_html


def save_result(room, folder):
    rules = eg.Rules(apart=[("Naledi", "Beatriz")], sizes=(1, 30))
    found = eg.cluster(room, n_clusters=3, rules=rules, effort=0.01, random_state=0)
    found.save(folder)
    return "result.json"


def save_curve(room, folder):
    estimator = eg.FairLouvain(n_clusters=3)
    eg.tradeoff_curve(room, estimator=estimator, fairness=[0, 0.5, 1], random_state=0).save(folder)
    return "curve.json"


def save_classes(room, folder):
    roster = Roster(
        ("Ada", "Ben", "Cem", "Dora"),
        attributes={"gender": ("f", "m", None, "f")},
        friends=(("Ada", "Ben"), ("Cem", "Ada")),
        fixed={"Ada": "5a"},
    )
    rules = Rules(apart=[("Ada", "Cem")])
    save_division(Division(roster, [0, 0, 1, 1], ["5a", "5b"], rules, {"gender": 1.0}), folder)
    return "division.json"


@pytest.mark.filterwarnings("ignore::equigraph.exceptions.EquigraphWarning")
@pytest.mark.parametrize(
    ("save", "use"), [(save_result, use_result), (save_curve, use_curve), (save_classes, use_division)]
)
def test_loaded_results_can_be_used(room, tmp_path, save, use):
    folder = tmp_path / "out"
    name = save(room, folder)
    use(folder)(tmp_path / "page.html")
    content = json.loads((folder / name).read_text(encoding="utf-8"))
    rng = np.random.default_rng(0)
    sentences, n_used = [], 0
    for at in places(content):
        for value in (places, *(ODD[i] for i in rng.permutation(len(ODD))[:1])):
            (folder / name).write_text(json.dumps(changed(content, at, value)), encoding="utf-8")
            with OutputFolder(folder) as out:
                out.add(name)
            try:
                draw = use(folder)
                if n_used % 100 == 0:  # drawing takes a while
                    draw(tmp_path / "page.html")
                n_used += 1
            except InputError as error:
                sentences.append(str(error))
    assert len(sentences) > 50
    assert all(len(text.splitlines()) == 1 for text in sentences)
    assert n_used > 10  # entries that are only for people to read


def test_loaded_comparisons_can_be_used(room, tmp_path):
    comparison = eg.compare(room, methods=["random"], n_clusters=3, n_seeds=1, metrics=["Q", "conductance"])
    content = json.loads(json.dumps(comparison.content()))
    for at in places(content):
        for value in ODD:
            (tmp_path / "t.json").write_text(json.dumps(record("comparison", changed(content, at, value))))
            try:
                found = eg.Comparison.load(tmp_path / "t.json")
            except InputError:
                continue
            _ = repr(found), found._repr_html_(), found.markdown(), found.latex(), found.to_frame()


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (True, int), (1.0, int), (2**70, int), ("1", float), (True, float), (float("nan"), float),
        ([1], dict[str, int]),
        ({"a": "b"}, dict[str, int]), ([1, "b"], list[int]), ([1], tuple[int, int]), (None, str), (3, str | None),
    ],
)  # fmt: skip
def test_values_of_another_type_are_refused(value, kind):
    with pytest.raises(InputError, match="wrong kind"):
        decode(value, kind, Path("x.json"), "entry")
