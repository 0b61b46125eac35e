"""Sensitive features: from what the user gives to group codes, and sums over groups."""

from equigraph.groups.encode import Groups, encode_groups
from equigraph.groups.sums import contingency_table, group_means, group_sums

__all__ = ["Groups", "contingency_table", "encode_groups", "group_means", "group_sums"]
