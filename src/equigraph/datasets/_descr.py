"""The texts of the data sets: source, licence, cleaning, and where the numbers differ from the papers'."""

from __future__ import annotations

_ORIGIN = """
Files
-----
The cleaned files that the authors of iFairNMTF (Ghodsi, Seyedi, Ntoutsi, PAKDD 2024) keep in their
repository, pinned to one commit and checked by sha256. That repository is under the MIT licence, which
covers their code; the data stay under the terms of those who collected them."""

_SCHOOL = """
Source
------
R. Mastrandrea, J. Fournet, A. Barrat. Contact patterns in a high school: a comparison between data collected
using wearable sensors, contact diaries and friendship surveys. PLoS ONE 10(9), 2015.
SocioPatterns, http://www.sociopatterns.org/datasets/high-school-contact-and-friendship-networks/

Licence
-------
Creative Commons Attribution-NonCommercial-ShareAlike, as SocioPatterns states; cite the paper above.

Nodes and groups
----------------
Students of nine classes of a high school in Marseilles, December 2013, in ascending order of their
SocioPatterns id. The cleaned files do not carry the id, so nodes are named by position, and code the gender 1 =
F, 2 = M. With raw=True nodes are named by their id, and the class of each student comes along (school_class)."""

_RAW = """With raw=True the raw files are cleaned in this way here, by equigraph.datasets.cleaning.{function}:
nodes, edges and groups are the same as in the cleaned files."""

_RAW_SCHOOL = _RAW.format(function="clean_school")
_RAW_DRUGNET = _RAW.format(function="clean_drugnet")

_AGREES = """
Known discrepancies
-------------------
None: nodes and edges are as many as the authors of iFairNMTF report."""

_DIARIES = f"""Contact diaries of a high school: who reported a contact with whom on one day.
120 nodes, 348 edges; gender 68 F, 52 M.
{_SCHOOL}

Cleaning
--------
A contact that either of the two reported is an edge; its duration class is dropped. All 120 students are
kept: the graph is connected and every gender is known.
{_RAW_SCHOOL}
The duration class then comes along (duration), the longer one where two reports differ: 1 up to 5 minutes, 2 up
to 15 minutes, 3 up to an hour, 4 more.
{_AGREES}
{_ORIGIN}
"""

_FACEBOOK = f"""Facebook friendships of a high school, among pairs for which the answer is known.
155 nodes, 1,412 edges; gender 70 F, 85 M.
{_SCHOOL}

Cleaning
--------
Pairs known to be friends are edges; the one student of unknown gender is dropped. What is left is connected.
{_RAW_SCHOOL}

Known discrepancies
-------------------
The paper prints 1,437 edges, which is the count before that student is dropped; the file has 1,412.
{_ORIGIN}
"""

_FRIENDSHIP = f"""Reported friendships of a high school.
127 nodes, 396 edges; gender 76 F, 51 M.
{_SCHOOL}

Cleaning
--------
A friendship that either of the two reported is an edge; the one student of unknown gender is dropped and the
largest connected component is kept.
{_RAW_SCHOOL}
{_AGREES}
{_ORIGIN}
"""

_DRUGNET = f"""Acquaintances among drug users in Hartford, Connecticut.
193 nodes, 273 edges; ethnicity 109 Latino, 69 African American, 15 other.

Source
------
M. R. Weeks, S. Clair, S. P. Borgatti, K. Radda, J. J. Schensul. Social networks of drug users in high-risk
sites: finding the connections. AIDS and Behavior 6, 2002.
https://sites.google.com/site/ucinetsoftware/datasets/covert-networks/drugnet

Licence
-------
None stated on the page of the data.

Cleaning
--------
A tie that either of the two named is an edge; of 293 people the largest connected component is kept, in the
order of the source. Ethnicity is coded 2 = African American, 3 = Latino and 1 = other, which gathers the codes 1
(white or other), 5, 6 and 7 of the source. Gender is not used, since it is unknown for 3 nodes.
{_RAW_DRUGNET}
Nodes are then named by their number in the source, and the gender comes along (gender). The raw files are the
copies in the repository of DFNMF, also pinned and checked.
{_AGREES}
{_ORIGIN}
"""

_NBA = f"""Twitter ties among basketball players of the NBA.
400 nodes, 10,621 edges; nationality 294 US, 106 non-US.

Source
------
E. Dai, S. Wang. Say no to the discrimination: learning fair graph neural networks with limited sensitive
attribute information. WSDM 2021. https://github.com/EnyanDai/FairGNN, built on
https://www.kaggle.com/datasets/noahgift/social-power-nba

Licence
-------
Not known.

Cleaning
--------
A follow in either direction is an edge; players without any are left out. Nationality is coded 0 = US, 1 =
non-US.

Known discrepancies
-------------------
The paper prints 403 nodes and 8,285 edges. 403 players have attributes and 400 of them appear in the list of
ties; the list has 16,570 directed rows, whose half is 8,285, and 10,621 distinct undirected pairs.
{_ORIGIN}
"""

_LASTFM = f"""Mutual follows among LastFM users in Asia.
5,576 nodes, 19,587 edges; six countries of 1,529, 1,266, 1,073, 645, 558 and 505 users.

Source
------
B. Rozemberczki, R. Sarkar. Characteristic functions on graphs: birds of a feather, from statistical
descriptors to parametric models. CIKM 2020. https://snap.stanford.edu/data/feather-lastfm-social.html

Licence
-------
Not known; cite the paper above.

Cleaning
--------
Of 7,624 users those of countries with more than 500 users are kept, then the largest connected component. The
source codes the countries and does not name them: a group is called after its code, such as "country 17".

Known discrepancies
-------------------
Nodes and edges are as many as the paper prints. The authors' script calls the attribute gender; it is the
country.
{_ORIGIN}
"""

_POKEC_N = """Friendships among users of the Slovak network Pokec, one region.
67,796 nodes, 617,958 edges; age 31,961 (18 or younger), 17,862 (19-25), 12,311 (26-35), 5,662 (36 or older).

Source
------
L. Takac, M. Zabovsky. Data analysis in public social networks. 2012.
https://snap.stanford.edu/data/soc-Pokec.html Cut to a region by E. Dai, S. Wang (WSDM 2021),
https://github.com/EnyanDai/FairGNN

Licence
-------
Not known; cite the paper above.

Cleaning
--------
Symmetric 0/1 graph as the file gives it. The file codes the age bins 1 to 4, from the youngest to the oldest.

Known discrepancies
-------------------
The names "n" and "z" of the two regions are not used alike everywhere; this is the graph of 67,796 nodes that
DFNMF calls "n". FairGNN uses the region as the sensitive feature, here it is the age. Pokec
writes an age that is not set as 0, so the youngest bin may hold more than the young.

Files
-----
The cleaned files that the authors of DFNMF (Ghodsi, Seyedi, Le Quy, Karimi, Ntoutsi, IEEE BigData 2025) keep
in their repository, pinned to one commit and checked by sha256; the data stay under the terms of those who
collected them.
"""

DESCRIPTIONS: dict[str, str] = {
    "diaries": _DIARIES,
    "facebook": _FACEBOOK,
    "friendship": _FRIENDSHIP,
    "drugnet": _DRUGNET,
    "nba": _NBA,
    "lastfm": _LASTFM,
    "pokec-n": _POKEC_N,
}
