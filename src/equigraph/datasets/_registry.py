"""What the real graphs are and where their files lie: addresses pinned to a commit, digests, sizes."""

from __future__ import annotations

from dataclasses import dataclass

from equigraph._utils.text import did_you_mean
from equigraph.exceptions import ParameterError


@dataclass(frozen=True)
class DataFile:
    """One file of a data set.

    Attributes
    ----------
    path : str
        Where it lies below a data folder, with forward slashes.
    url : str
        Upstream address, pinned to a commit.
    sha256 : str
        Digest of the content.
    n_bytes : int
        Size of the content.
    """

    path: str
    url: str
    sha256: str
    n_bytes: int


@dataclass(frozen=True)
class DatasetInfo:
    """What is known about a data set before it is fetched.

    Attributes
    ----------
    name : str
        The name that :func:`equigraph.datasets.load` takes.
    title : str
        What the graph is, in a few words.
    n_nodes, n_edges : int
        Size of the graph; an undirected edge counts once.
    attribute : str
        What the sensitive features are.
    groups : tuple of (str, int)
        Name and number of nodes of each group.
    url : str
        Page of the people who collected the data.
    files : tuple of DataFile
        The files it is read from, the graph first.
    raw_files : tuple of DataFile
        The files as they were collected, the graph first; empty where only cleaned files are kept.
    """

    name: str
    title: str
    n_nodes: int
    n_edges: int
    attribute: str
    groups: tuple[tuple[str, int], ...]
    url: str
    files: tuple[DataFile, ...]
    raw_files: tuple[DataFile, ...] = ()

    @property
    def n_bytes(self) -> int:
        """Size of the files it is read from; the raw ones do not count."""
        return sum(file.n_bytes for file in self.files)


# Repositories, pinned to a commit.
_BASES = {
    "iFairNMTF": "SiamakGhodsi/iFairNMTF/2bf2c3327917c8a97e3a73afa20c939dfe5660e9",
    "DFNMF": "SiamakGhodsi/DFNMF/eb17cb4bc27f1d61697bf4e357de564ac1a71f85",
}
_SOCIOPATTERNS = "http://www.sociopatterns.org/datasets/high-school-contact-and-friendship-networks/"
# Path below the repository, bytes, sha256.
_FILES = """
iFairNMTF/Source/data/School/diaries.csv 28920 3bcdcf01463568d493502d691c699cafc932ed40e49d3a7105fe0f249cc0534f
iFairNMTF/Source/data/School/cd_attr.csv 360 869937b058fc7a20a3f64269156a7ce9d1cf255c85f55ab7c2324f8b2cbf16f9
iFairNMTF/Source/data/School/Contact-diaries-network_data_2013.csv 5078 97550503ae2bb0689ef0c2564d7ba8d57bb4e0b9451b785fadaef500af37b901
iFairNMTF/Source/data/School/facebook.csv 48205 ea99681010b28bb36b54826361b5afab4a5851cf4c11ec6aff9064c5edefcb83
iFairNMTF/Source/data/School/fb_attr.csv 465 45425073297f541d06dfb1a15bde2674bbb62a6d1a8d5d2b73cf11e172dc5ac8
iFairNMTF/Source/data/School/Facebook-known-pairs_data_2013.csv 45244 03e909c441bb4f7d48fbd7a34b7368cb211bcd94b582dc14ba8451bcb61682cd
iFairNMTF/Source/data/School/friendship.csv 32385 f61af77822db597901fa7bfc7cb8a103c49331ac10b42d8b1c6e4b8d8381ffbc
iFairNMTF/Source/data/School/fr_attr.csv 381 e391b99ffab5c946c58272fffe6c225ef9e851397a436c143a0887e753606565
iFairNMTF/Source/data/School/Friendship-network_data_2013.csv 5182 feee5e7e2870266f05effc3359244b290b77ebdf1a18d754fb1008b0229208bf
iFairNMTF/Source/data/School/metadata_2013.txt 3574 b960986186214d2dede8496a6d5c270805d150b88a0b76419815f1b5ccca4dd8
iFairNMTF/Source/data/DrugNet/DrugNetgraph.csv 74691 c6d044a1d73e04411bc3bb1a569fc5c0f5700bc3879d308ca79d6c6a3a8c4f30
iFairNMTF/Source/data/DrugNet/DrugNetfeature.csv 1351 0eb1ee002d30a8d1a62a5dc241384e8ad83d5fe4ab4b0d7774b820ffc6f8c20b
DFNMF/data/DrugNet/original/CSV/DRUGNET.csv 174128 8a5fbbc0916fd61d60c85a15c4abdd327fe8d296ac5f764f3a37647691083030
DFNMF/data/DrugNet/original/CSV/DRUGATTR.csv 3147 8e9e5d6309abdd1291dcd891859c645f4c1c93d180e00b110a54fcd82379d52b
iFairNMTF/Source/data/NBA/NBAgraph.csv 320400 299925190e1dd5a8989507ca77e75e0e4a7e432221bd07b2eaade9cc1218df2b
iFairNMTF/Source/data/NBA/NBAfeature.csv 1200 3233fdbe68561883f736b62c33ef51802b07d555a104aabbada8051153761650
iFairNMTF/Source/data/LastFM/LastFM.mat 95955 bed612ec636c2e6d84c9bff472d931247f842b535944e9372c91c1b1d4b8a56b
DFNMF/data/Pokec/pre_processed/n/sparse_Pokec_graph_reg_1.npz 2984686 6542a6bb38f2ea044d27315cb9479334012733d1a98d3bdd3e73fb0f89974f3f
DFNMF/data/Pokec/pre_processed/n/Pokec_feature_reg1.csv 135592 9e0aa08853cc428d11b6f12e022c342ed3361066ffea9a6c93e06f3fb205d962
"""  # noqa: E501 (a digest is as long as it is)


def _data_file(path: str, n_bytes: str, sha256: str) -> DataFile:
    repository, _, below = path.partition("/")
    url = f"https://raw.githubusercontent.com/{_BASES[repository]}/{below}"
    return DataFile(path, url, sha256, int(n_bytes))


_BY_NAME = {
    file.path.rpartition("/")[2]: file
    for file in (_data_file(*line.split()) for line in _FILES.strip().splitlines())
}


def _files(*names: str) -> tuple[DataFile, ...]:
    return tuple(_BY_NAME[name] for name in names)


_DATASETS: tuple[DatasetInfo, ...] = (
    DatasetInfo(
        name="diaries",
        title="Contact diaries of a high school",
        n_nodes=120,
        n_edges=348,
        attribute="gender",
        groups=(("F", 68), ("M", 52)),
        url=_SOCIOPATTERNS,
        files=_files("diaries.csv", "cd_attr.csv"),
        raw_files=_files("Contact-diaries-network_data_2013.csv", "metadata_2013.txt"),
    ),
    DatasetInfo(
        name="facebook",
        title="Facebook friendships of a high school",
        n_nodes=155,
        n_edges=1_412,
        attribute="gender",
        groups=(("F", 70), ("M", 85)),
        url=_SOCIOPATTERNS,
        files=_files("facebook.csv", "fb_attr.csv"),
        raw_files=_files("Facebook-known-pairs_data_2013.csv", "metadata_2013.txt"),
    ),
    DatasetInfo(
        name="friendship",
        title="Reported friendships of a high school",
        n_nodes=127,
        n_edges=396,
        attribute="gender",
        groups=(("F", 76), ("M", 51)),
        url=_SOCIOPATTERNS,
        files=_files("friendship.csv", "fr_attr.csv"),
        raw_files=_files("Friendship-network_data_2013.csv", "metadata_2013.txt"),
    ),
    DatasetInfo(
        name="drugnet",
        title="Acquaintances of drug users in Hartford",
        n_nodes=193,
        n_edges=273,
        attribute="ethnicity",
        groups=(("African American", 69), ("Latino", 109), ("other", 15)),
        url="https://sites.google.com/site/ucinetsoftware/datasets/covert-networks/drugnet",
        files=_files("DrugNetgraph.csv", "DrugNetfeature.csv"),
        raw_files=_files("DRUGNET.csv", "DRUGATTR.csv"),
    ),
    DatasetInfo(
        name="nba",
        title="Twitter ties of NBA players",
        n_nodes=400,
        n_edges=10_621,
        attribute="nationality",
        groups=(("US", 294), ("non-US", 106)),
        url="https://github.com/EnyanDai/FairGNN",
        files=_files("NBAgraph.csv", "NBAfeature.csv"),
    ),
    DatasetInfo(
        name="lastfm",
        title="Friendships of LastFM users in Asia",
        n_nodes=5_576,
        n_edges=19_587,
        attribute="country",
        groups=tuple(
            (f"country {code}", size)
            for code, size in {0: 1073, 3: 505, 6: 645, 10: 1266, 14: 558, 17: 1529}.items()
        ),
        url="https://snap.stanford.edu/data/feather-lastfm-social.html",
        files=_files("LastFM.mat"),
    ),
    DatasetInfo(
        name="pokec-n",
        title="Friendships of Pokec users of one region",
        n_nodes=67_796,
        n_edges=617_958,
        attribute="age",
        groups=(("18 or younger", 31961), ("19-25", 17862), ("26-35", 12311), ("36 or older", 5662)),
        url="https://snap.stanford.edu/data/soc-Pokec.html",
        files=_files("sparse_Pokec_graph_reg_1.npz", "Pokec_feature_reg1.csv"),
    ),
)


def list_datasets() -> tuple[DatasetInfo, ...]:
    """List the real graphs that can be fetched.

    Returns
    -------
    tuple of DatasetInfo
        Name, title, size, groups and files of each; nothing is read or fetched.

    Examples
    --------
    >>> [info.name for info in list_datasets()]
    ['diaries', 'facebook', 'friendship', 'drugnet', 'nba', 'lastfm', 'pokec-n']
    """
    return _DATASETS


def dataset_info(name: str) -> DatasetInfo:
    """Return what is known about one data set.

    Parameters
    ----------
    name : str
        One of the names of :func:`list_datasets`.

    Returns
    -------
    DatasetInfo
        Its entry.

    Raises
    ------
    ParameterError
        If there is no such data set.
    """
    for info in _DATASETS:
        if info.name == name:
            return info
    known = ", ".join(info.name for info in _DATASETS)
    hint = did_you_mean(name, [info.name for info in _DATASETS])
    raise ParameterError(f"There is no data set named {name!r}{hint}: choose one of {known}.")
