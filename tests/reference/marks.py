"""Marks that several tests carry."""

import pytest

# Tiny graphs have tiny clusters and groups; what is said about those is tested where it is made.
TINY_GRAPHS = [
    pytest.mark.filterwarnings(f"ignore::equigraph.exceptions.{kind}Warning")
    for kind in ("SmallCluster", "SmallGroup", "OwnGroups")
]
