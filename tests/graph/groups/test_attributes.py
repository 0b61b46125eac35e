"""Several attributes: what they are encoded to, against plain loops."""

import numpy as np
import pytest

from equigraph.exceptions import GroupsError, ParameterError
from equigraph.graph.groups import AttributeOptions, encode_attributes, encode_groups
from equigraph.graph.groups.attributes import weights_of
from tests.optional import optional

pd = optional("pandas")
pl = optional("polars")

GENDER, NEEDS = ["girl", "boy", "girl", "boy"], ["no", "no", "yes", "no"]


@pytest.mark.parametrize(
    "make",
    [
        dict,
        lambda columns: pd.DataFrame(columns),
        lambda columns: pl.DataFrame(columns),
        lambda columns: pl.LazyFrame(columns),
        lambda columns: np.column_stack(list(columns.values())),
        lambda columns: [list(row) for row in zip(*columns.values(), strict=True)],
    ],
    ids=["dict", "pandas", "polars", "lazy", "array", "rows"],
)
def test_every_form_of_several_attributes_is_the_same(make):
    found = encode_attributes(make({"gender": GENDER, "needs": NEEDS}))
    assert found.codes.tolist() == [[1, 0], [0, 0], [1, 1], [0, 0]]
    assert found.names in (("gender", "needs"), ("0", "1"))
    assert found.weights.tolist() == [0.5, 0.5]


def test_single_attribute():
    found = encode_attributes(GENDER)
    assert not found.are_several
    assert found.names == ("group",)
    assert found.joint is found["group"]
    assert found.codes[:, 0].tolist() == encode_groups(GENDER).codes.tolist()
    assert found.mean([0.1]) == 0.1


def test_attributes_pass_through_and_are_checked_for_length():
    found = encode_attributes({"a": GENDER, "b": NEEDS})
    assert encode_attributes(found, n_nodes=4) is found
    with pytest.raises(GroupsError, match="4 values and the graph has 5 nodes"):
        encode_attributes(found, n_nodes=5)


def naive_joint(columns):
    rows = list(zip(*columns, strict=True))
    known = sorted({row for row in rows if None not in row})
    return [known.index(row) if None not in row else -1 for row in rows], [
        ", ".join(map(str, row)) for row in known
    ]


def test_joint_groups_agree_with_a_loop():
    rng = np.random.default_rng(0)
    for _ in range(20):
        n, n_attributes = int(rng.integers(5, 40)), int(rng.integers(2, 5))
        columns = [
            [None if rng.random() < 0.1 else f"v{rng.integers(4)}" for _ in range(n)]
            for _ in range(n_attributes)
        ]
        if not any(None not in row for row in zip(*columns, strict=True)):
            continue
        found = encode_attributes({str(k): column for k, column in enumerate(columns)}, missing="ignore")
        codes, names = naive_joint(columns)
        assert found.joint.codes.tolist() == codes
        assert found.joint.names.tolist() == names
        assert found.joint.sizes.tolist() == [codes.count(code) for code in range(len(names))]


def test_joint_groups_of_many_attributes_do_not_overflow():
    rng = np.random.default_rng(0)
    columns = {str(k): [str(value) for value in rng.integers(1000, size=200)] for k in range(10)}
    assert encode_attributes(columns).joint.n_groups == 200


def test_missing_values_are_those_of_one_attribute():
    found = encode_attributes({"a": ["x", None, "y"], "b": [None, "u", "v"]}, missing="ignore")
    assert found.codes.tolist() == [[0, -1], [-1, 0], [1, 1]]
    assert (found["a"].n_ungrouped, found["b"].n_ungrouped, found.joint.n_ungrouped) == (1, 1, 2)
    with pytest.raises(GroupsError, match=r"attribute 'a'.*1 of 3 nodes is missing"):
        encode_attributes({"a": ["x", None, "y"], "b": ["u", "u", "v"]})


def test_weights_are_shares_and_names_are_checked():
    found = encode_attributes({"a": GENDER, "b": NEEDS}, options=AttributeOptions(weights={"b": 3}))
    assert found.weights.tolist() == [0.25, 0.75]
    assert found.mean([1.0, 0.0]) == 0.25
    assert found.weighted({"a": 0}).weights.tolist() == [0, 1]
    with pytest.raises(ParameterError, match=r"names 'bb'.*did you mean 'b'"):
        found.weighted({"bb": 1})
    with pytest.raises(ParameterError, match="0 for all"):
        weights_of(["a"], {"a": 0.0})
    for wrong in (-1, float("nan"), float("inf"), "two", True):
        sentence = (
            rf"^attribute_weights gives 'a' the weight {wrong!r}: expected a finite number of at least 0\.$"
        )
        with pytest.raises(ParameterError, match=sentence):
            found.weighted({"a": wrong})
    with pytest.raises(ParameterError, match=r"^attribute_weights must be a mapping .*\{'needs': 2\}; got"):
        found.weighted(3)


def test_invalid_attributes_raise():
    with pytest.raises(GroupsError, match="values must be columns"):
        encode_attributes({"ann": "girl", "bob": "boy"})
    with pytest.raises(GroupsError, match="rows of different lengths"):
        encode_attributes([["a", "b"], ["a"]])
    with pytest.raises(GroupsError, match=r"The attribute 'b'.*1 value"):
        encode_attributes({"a": GENDER, "b": ["x"]}, n_nodes=4)
    with pytest.raises(GroupsError, match="cannot be matched without a graph"):
        encode_groups({"a": GENDER})
