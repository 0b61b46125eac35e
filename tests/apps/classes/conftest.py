import pytest

import equigraph as eg
from tests.apps.classes.roster.sheets import csv_bytes

NASTY = ["=1+1", "+49 Ada", "@Ben", "-Cem", "<b>Dora</b>", "Eva & \"Co\" 'x'", "Fünf/Sechs", "שרה"]


@pytest.fixture(scope="session")
def roster(tmp_path_factory):
    """The pupils of a German sheet in the encoding of older programs."""
    path = tmp_path_factory.mktemp("sheet") / "Klasse 5.csv"
    rows = eg.datasets.make_school_roster(language="de", western=True).rows
    path.write_bytes(csv_bytes(rows, encoding="cp1252"))
    return eg.read_roster(path)


@pytest.fixture(scope="session")
def lists(roster):
    rules = [("Änne and Jörg are in different classes.", True), ("Every class has 25 to 27 people.", False)]
    labels = [i % 3 for i in range(len(roster.people))]
    return eg.ClassLists(roster, labels, ["5a", "5b", "5/c"], rules, ["All is well."], "Neue 5. Klassen")


@pytest.fixture
def nasty():
    """People whose names are formulas, markup, or run from right to left."""
    friends = tuple(zip(NASTY, NASTY[2:] + NASTY[:2], strict=True))
    roster = eg.Roster(
        tuple(NASTY), {"=cmd|' /C calc'!A0": ("=2+2", None, "1", "1", "a", "a", "b", "b")}, friends
    )
    return eg.ClassLists(
        roster, [0, 1] * 4, ["=5a", "<5b>"], [("=1+1 and @Ben", True)], title="<script>x</script>"
    )
