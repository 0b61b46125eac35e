"""Sensitive features: encoding as group codes, and sums over groups."""

from equigraph.graph.groups.attributes import AttributeOptions, Attributes, encode_attributes, joint_groups
from equigraph.graph.groups.encode import (
    Groups,
    bin_groups,
    contingency_table,
    encode_groups,
    group_means,
    group_sums,
)

__all__ = [
    "AttributeOptions",
    "Attributes",
    "Groups",
    "bin_groups",
    "contingency_table",
    "encode_attributes",
    "encode_groups",
    "group_means",
    "group_sums",
    "joint_groups",
]
