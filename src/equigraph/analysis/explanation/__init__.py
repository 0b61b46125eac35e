"""Why a person is in this cluster, and why two clusters are two: in numbers and in words.

`equigraph.ClusteringResult.explain` is the way in; nothing is imported here, so that results stay cheap to import.
"""
