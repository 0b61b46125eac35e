"""Several attributes: what they are encoded to, against plain loops."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

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
        pd.DataFrame,
        pl.DataFrame,
        pl.LazyFrame,
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
    assert encode_attributes(found, n_nodes=4) is found


def test_single_attribute():
    found = encode_attributes(GENDER)
    assert not found.are_several
    assert found.names == ("group",)
    assert found.joint is found["group"]
    assert found.codes[:, 0].tolist() == encode_groups(GENDER).codes.tolist()
    assert found.mean([0.1]) == 0.1


VALUES = st.sampled_from(["v0", "v1", "v2", "v3", None])


@given(
    st.integers(2, 4).flatmap(lambda width: st.lists(st.tuples(*[VALUES] * width), min_size=1, max_size=40))
)
def test_joint_groups_agree_with_a_loop(rows):
    known = sorted({row for row in rows if None not in row})
    assume(known)
    columns = {str(k): list(column) for k, column in enumerate(zip(*rows, strict=True))}
    joint = encode_attributes(columns, missing="ignore").joint
    assert joint.codes.tolist() == [known.index(row) if row in known else -1 for row in rows]
    assert joint.names.tolist() == [", ".join(row) for row in known]
    assert joint.sizes.tolist() == [rows.count(row) for row in known]


def test_joint_groups_of_many_attributes_do_not_overflow():
    rng = np.random.default_rng(0)
    columns = {str(k): [str(value) for value in rng.integers(1000, size=200)] for k in range(10)}
    assert encode_attributes(columns).joint.n_groups == 200


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
        with pytest.raises(ParameterError, match=rf"attribute_weights gives 'a' the weight {wrong!r}: "):
            found.weighted({"a": wrong})
    with pytest.raises(ParameterError, match=r"attribute_weights must be a mapping"):
        found.weighted(3)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"ann": "girl", "bob": "boy"}, "cannot be matched without a graph"),
        ([["a", "b"], ["a"]], "rows of different lengths"),
        ({"a": GENDER, "b": ["x"]}, r"The attribute 'b'.*1 value"),
        ({"a": ["x", None, "y", "y"], "b": GENDER}, r"attribute 'a'.*1 of 4 nodes is missing"),
        (encode_attributes({"a": NEEDS[:3], "b": GENDER[:3]}), "3 values and the graph has 4 nodes"),
    ],
)
def test_invalid_attributes_raise(values, words):
    with pytest.raises(GroupsError, match=words):
        encode_attributes(values, n_nodes=4)
    with pytest.raises(GroupsError, match="cannot be matched without a graph"):
        encode_groups({"a": GENDER})
