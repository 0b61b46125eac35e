"""The whole way of a teacher: from the bytes of a German sheet to lists on paper."""

import re
import shutil
import subprocess

import pytest

import equigraph as eg
from equigraph.exceptions import RosterError
from tests.apps.classes.roster.sheets import misspelt_sheet


def n_sheets(paper):
    return len(re.findall(rb"/Type\s*/Page\b", paper))


@pytest.fixture(scope="module")
def sheet(tmp_path_factory):
    """A sheet as an older Excel writes it: semicolons, Windows-1252, blanks, and one friend misspelt."""
    return misspelt_sheet(tmp_path_factory.mktemp("teacher"))


@pytest.fixture(scope="module")
def lists(sheet):
    with pytest.raises(RosterError, match=r"1 name is not on the list: '.*oe.*' \(row \d+, column G\)"):
        eg.read_roster(sheet)
    roster = eg.read_roster(sheet, accept_near=True)
    assert [note for note in roster.notes if note.kind == "name_near"]
    graph = roster.graph("Geschlecht")
    labels = eg.FairLouvain(n_clusters=3, fairness=0.5, random_state=0).fit_predict(graph)
    place = dict(zip(roster.people, labels, strict=True))
    rules = [
        (f"{one} and {two} are in different classes.", place[one] != place[two]) for one, two in roster.apart
    ]
    return eg.ClassLists(roster, labels, ["5a", "5b", "5c"], rules, title="Klassen 5")


@pytest.mark.parametrize(("paper", "n"), [("A4", 20), ("Letter", 33)])
def test_one_sheet_of_paper_per_class(browser, lists, tmp_path, paper, n):
    people = lists.roster.people
    labels = [i // n for i in range(len(people))]
    some = eg.ClassLists(lists.roster, labels, rules=lists.rules, date="1. Juni")
    some.to_html(tmp_path / "classes.html")
    some.to_html(tmp_path / "door.html", attributes=(), friends=False)
    page = browser.new_page()
    # The overview has a sheet of its own; the title of the names for the door has not.
    for name, n_further in (("classes.html", 1), ("door.html", 0)):
        page.goto((tmp_path / name).as_uri())
        assert n_sheets(page.pdf(format=paper)) == n_further + some.n_classes
    page.close()


def test_the_page_on_a_phone_and_on_a_desk(browser, lists, tmp_path):
    lists.to_html(tmp_path / "classes.html")
    for width in (390, 1280):
        page = browser.new_page(viewport={"width": width, "height": 800})
        said = []
        page.on("console", lambda message, said=said: said.append(message.text))
        page.goto((tmp_path / "classes.html").as_uri())
        wide = page.evaluate("document.documentElement.scrollWidth")
        page.close()
        assert said == []
        assert wide <= width


@pytest.mark.skipif(shutil.which("soffice") is None, reason="LibreOffice is not installed")
def test_another_program_opens_the_workbook_and_saves_it(lists, tmp_path):
    workbook, _, _ = lists.save(tmp_path)
    profile = f"-env:UserInstallation={(tmp_path / 'profile').as_uri()}"
    for suffix in ("pdf", "ods", "xls"):
        options = ["--headless", "--convert-to", suffix, "--outdir", str(tmp_path)]
        command = ["soffice", profile, *options, str(workbook)]
        subprocess.run(command, check=True, capture_output=True, timeout=120)
    assert n_sheets((tmp_path / "classes.pdf").read_bytes()) == 4
    expected = eg.read_class_lists(workbook, lists.roster)
    for suffix in ("ods", "xls"):
        assert eg.read_class_lists(tmp_path / f"classes.{suffix}", lists.roster) == expected
