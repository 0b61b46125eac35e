"""Lists on paper, on a phone, and in another spreadsheet program."""

import re
import shutil
import subprocess

import pytest

import equigraph as eg


def n_sheets(paper):
    return len(re.findall(rb"/Type\s*/Page\b", paper))


@pytest.mark.parametrize(("paper", "n"), [("A4", 20), ("Letter", 33)])
def test_one_sheet_of_paper_per_class(browser, lists, tmp_path, paper, n):
    labels = [i // n for i in range(len(lists.roster.people))]
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
