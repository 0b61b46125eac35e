"""Example graphs: real ones to fetch, random ones, and a generated class of students."""

from equigraph.datasets._files import DataFile, DatasetInfo, dataset_info, list_datasets
from equigraph.datasets.real import (
    describe,
    fetch_diaries,
    fetch_drugnet,
    fetch_facebook,
    fetch_friendship,
    fetch_lastfm,
    fetch_nba,
    fetch_pokec_n,
    load,
)
from equigraph.datasets.sbm import make_fair_sbm, make_planted_graph
from equigraph.datasets.school import make_classroom, make_school_roster

__all__ = [
    "DataFile", "DatasetInfo", "dataset_info", "describe", "fetch_diaries", "fetch_drugnet", "fetch_facebook",
    "fetch_friendship", "fetch_lastfm", "fetch_nba", "fetch_pokec_n", "list_datasets", "load",
    "make_classroom", "make_fair_sbm", "make_planted_graph", "make_school_roster",
]  # fmt: skip
