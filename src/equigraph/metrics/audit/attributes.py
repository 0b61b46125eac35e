"""The attributes that an audit or an explanation tells of, and the values that make a joint group."""

from __future__ import annotations

from typing import Any

import numpy as np

from equigraph.graph.groups import Attributes, Groups, encode_attributes
from equigraph.metrics._table import Nodes


def attributes_of(nodes: Nodes, sensitive_features: Any = None) -> Attributes | None:
    """Return the attributes that are given, or else those that came with the graph; None where there are none."""
    if isinstance(sensitive_features, (Attributes, Groups)):
        graph = nodes.graph
        return encode_attributes(sensitive_features, n_nodes=graph.n_nodes, attribute=graph.attribute)
    return nodes.attributes(sensitive_features)


def joint_values(attributes: Attributes) -> dict[str, list[Any]]:
    """Return for each joint group the value of every attribute."""
    joint = attributes.joint
    known = np.flatnonzero(joint.codes >= 0)
    _, first = np.unique(joint.codes[known], return_index=True)
    members = known[first]
    return {name: one.names[one.codes[members]].tolist() for name, one in attributes.groups.items()}
