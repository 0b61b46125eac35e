"""``equigraph classes`` and ``equigraph check``: from a sheet to lists, and back after editing."""

import json
import re

import pytest

from equigraph.apps.classes.persistence import load_division
from equigraph.apps.cli.console import table
from tests.apps.classes.roster.sheets import misspelt_sheet
from tests.optional import optional

openpyxl = optional("openpyxl")
pytest.importorskip("xlsxwriter")


@pytest.fixture(scope="module")
def sheet(tmp_path_factory):
    """A German sheet as an older Excel writes it, with a friend who is misspelt."""
    return misspelt_sheet(tmp_path_factory.mktemp("school"))


@pytest.fixture(scope="module")
def made(run, sheet):
    out = sheet.parent / "out"
    options = "-k 3 --names 5a,5b,5c --sizes 25,27 --accept-near --excel --effort 0.1"
    result = run("classes", sheet, "-o", out, *options.split())
    return out, result


def test_the_way_of_a_teacher_is_one_command(run, made):
    out, result = made
    assert "Windows-1252" in result.stdout  # what was guessed is said
    assert "Matched as a similar name" in result.stdout
    assert "wishes are kept" in result.stdout
    assert not {"Q", "NB", "dial", "node", "nodes", "cluster", "clusters"} & set(result.stdout.split())
    written = {file.name for file in out.iterdir()}
    assert written >= {"classes.xlsx", "classes.html", "classes.csv", "division.json"}
    assert (out / "classes.csv").read_bytes().startswith(b"\xef\xbb\xbf")
    assert openpyxl.load_workbook(out / "classes.xlsx").sheetnames == ["Overview", "5a", "5b", "5c"]


def test_lists_notes_and_questions_in_german(run, tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("Name;Freund;Infos\nAda;Ben;Cem\nBen;keine;Ada\nCem;Dora;Ben\nDora;Cem;Ada\n")
    asked = run("classes", path, "-k", "2", "--language", "de", code=2)
    assert "Spalte C, „Infos“, nennt Personen („Cem“, „Ada“ und „Ben“)" in asked.stderr
    assert '--columns "Infos=not_with" oder --columns "Infos=together_with"' in asked.stderr
    options = ["-o", tmp_path / "out", "--language", "de", "--effort", "0.1", "--columns", "Infos=none"]
    made = run("classes", path, "-k", "2", *options)
    assert "Zellen, die niemanden nennen, gelten als leer: „keine“ (1)." in made.stdout
    told = made.stdout.replace(str(tmp_path), "")
    assert not re.search(r"\b(people|wish\w*|class|rules?|without|Spread|Print|Wrote|kept|mean)\b", told)
    assert "ohne die Regel" in told or "eine kurze Suche" in told
    assert (tmp_path / "out" / "classes.csv").read_text("utf-8").startswith("Klasse,Name,")
    assert '<html lang="de">' in (tmp_path / "out" / "classes.html").read_text("utf-8")
    asked = run("check", tmp_path / "out", "--people", path, "--language", "de", code=2)
    assert "Spalte C, „Infos“, nennt Personen" in asked.stderr
    later = ["--repair", "-o", tmp_path / "later", "--language", "de"]
    run("check", tmp_path / "out", *later)
    assert "<h1>Klassen</h1>" in (tmp_path / "later" / "classes.html").read_text("utf-8")


def test_what_a_friend_for_everybody_does_to_evenness_is_said(run, tmp_path):
    # In classes of three nobody but friends has a friend, and all friends are of one gender.
    path = tmp_path / "trios.csv"
    rows = ["Ada,f,Bea", "Bea,f,Cleo", "Cleo,f,Ada", "Dan,m,Eli", "Eli,m,Fox", "Fox,,Dan"]
    path.write_text("\n".join(["Name,Gender,Friend", *rows]), encoding="utf-8")
    command = ["classes", path, "-k", "2", "--attribute", "Gender", "--effort", "0.1"]
    told = run(*command)
    assert "Gender is far from even: a rule may be why; --friends 0 shows" in told.stdout
    assert "0 f, 2 m, 1 blank" in told.stdout
    assert "far from even" not in run(*command, "--friends", "0").stdout


def test_an_edited_workbook_is_checked_and_mended(run, made, tmp_path):
    division = load_division(made[0])
    labels, (one, other) = division.labels.copy(), map(division.roster.people.index, division.roster.apart[0])
    labels[one] = labels[other]
    division.with_labels(labels).lists.to_xlsx(tmp_path / "edited.xlsx")
    result = run("check", made[0], tmp_path / "edited.xlsx", code=1)
    assert "1 person moved" in result.stdout
    assert re.search("No longer kept: .* are to be apart, and both are in ", result.stdout)
    (tmp_path / "no.csv").write_text("Klasse,Name\n5a,Xaver\n")
    german = run("check", made[0], tmp_path / "no.csv", "--language", "de", code=2)
    assert "„Xaver“ steht nicht auf der Liste der Personen" in german.stderr
    result = run("check", made[0], tmp_path / "edited.xlsx", "--repair", "-o", tmp_path / "mended")
    assert "Repaired by moving" in result.stdout
    mended = load_division(tmp_path / "mended")
    assert mended.broken == ()
    assert mended.labels[one] == labels[one]


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("Ada,f\nBen,m\n", []),
        ("Name,Friend\nAda Long,Ben Lang\nBen Long,\n", []),
        ("Name,Cousin\nAda,Ben\nBen,Cem\nCem,Ada\n", []),
        ("Name,Friend\nAda,\nBen,Ada\n", ["--sheet", "Pupils"]),
        ("Name,Friend\nAda,\nBen,Ada\n", ["--wishes-sheet", "Wishes"]),
        ("Name,Friend\nM\u0178ller,\nBen,M\u0178ller\n", []),
        ("Name,Gender\nAda,f\nBen,\nCem,f\n", ["--attribute", "Gender", "--bins", "Gender=2"]),
    ],
)
def test_hints_name_options_that_there_are(run, tmp_path, text, options):
    path = tmp_path / "class.csv"
    path.write_bytes(text.encode("cp1252"))
    result = run("classes", path, "-k", "2", *options, code=2)
    known = set(re.findall(r"--[a-z-]+", run("classes", "--help").stdout))
    words = re.findall(r"--[a-z-]+", result.stderr)
    words += [f"--{word.replace('_', '-')}" for word in re.findall(r"\b([a-z_]+)='", result.stderr)]
    assert set(words) <= known


def test_a_table_that_is_too_wide_keeps_its_first_column(capsys):
    heads = ["class", *(f"Attribute {i}" for i in range(20))]
    table(heads, [[name, *range(20)] for name in ("5a", "5b")], left=("class",))
    lines = [found.split() for found in capsys.readouterr().out.splitlines()]
    assert sum(found[0] == "class" for found in lines) == 2
    for name in ("5a", "5b"):
        cells = [cell for found in lines if found[0] == name for cell in found[1:]]
        assert cells == [str(i) for i in range(20)]


@pytest.mark.parametrize("near", [True, False])
def test_somebody_leaves_and_somebody_comes(run, tmp_path, near):
    names = [f"{first} Lang" for first in ("Ada", "Bea", "Cleo", "Dan", "Eli", "Fox", "Gus", "Hal")]
    rows = [[name, "fm"[i % 2], names[i - 1], ""] for i, name in enumerate(names)]

    def write(file, lines):
        head = ["Name", "Gender", "Friends", "Not with"]
        (tmp_path / file).write_text("\n".join(map(",".join, [head, *lines])), encoding="utf-8")
        return tmp_path / file

    out = tmp_path / "out"
    run("classes", write("old.csv", rows), "-k", "2", "-o", out, "--seed", "0")
    before = load_division(out)
    place = dict(zip(names, before.labels.tolist(), strict=True))
    left = names[0]
    friend = next(name for name in names[1:] if (place[name] == place[left]) == near)
    new = [*rows[1:], ["Zoe Neu", "f", friend, ""]]
    new[0][2] = ""
    later = tmp_path / "later"
    answer = run("check", out, "--people", write("new.csv", new), "--repair", "-o", later)
    assert f"Has left: {left}." in answer.stdout
    assert "New: Zoe Neu" in answer.stdout
    assert "after the edit  after the repair" in answer.stdout
    after = load_division(later)
    now = dict(zip(after.roster.people, after.labels.tolist(), strict=True))
    assert now == {**{name: place[name] for name in names[1:]}, "Zoe Neu": place[left]}
    # The class of the friend is full: nobody else can be moved without losing a friend.
    assert ("Without one:" in answer.stdout) != near


def test_the_folder_is_explained_and_has_a_report(run, made, tmp_path):
    out, _ = made
    division = load_division(out)
    name = division.roster.friends[0][0]
    told = run("explain", out, name.upper())
    own = division.class_names[division.lists.class_of(name)]
    assert f" is in {own}." in told.stdout
    here, wished = division.lists.friends_here(name), division.roster.friends_of(name)
    assert f"{len(here)} of {len(wished)} wish" in told.stdout
    assert told.stdout.count(" instead") == 2
    assert not {"node", "cluster", "Q"} & set(told.stdout.split())
    others = json.loads(run("explain", out, name, "--json").stdout)["others"]
    assert sorted([own, *(one["class_name"] for one in others)]) == ["5a", "5b", "5c"]
    assert run("explain", out, "Nobody At All", code=2).stderr.count("\n") == 1
    page = tmp_path / "page.html"
    run("report", out, "-o", page)
    text = page.read_text(encoding="utf-8")
    assert "What evenness and rules cost" in text
    assert all(f">{person}<" in text for person in division.roster.people)


@pytest.mark.parametrize(
    ("options", "pattern"),
    [
        (["--sizes", "many"], "is not two numbers"),
        (["--sizes", "1,5"], "cannot all be kept in 3 classes"),
        (["--columns", "name"], "HEADER=ROLE"),
        (["--attribute", "Geschlecht:x"], "Geschlecht:x"),
        (["--attribute", "Geschlect"], "did you mean 'Geschlecht'"),
        (["--names", "5a,5b"], "2 class names for 3 classes"),
    ],
)
def test_bad_options_are_one_sentence(run, sheet, options, pattern):
    result = run("classes", sheet, "-k", "3", "--accept-near", *options, code=2)
    assert pattern in result.stderr
    assert result.stderr.count("\n") == 1


def test_edited_labels_of_a_clustering_get_new_scores(run, tmp_path):
    out = tmp_path / "out"
    run("cluster", "dataset:classroom", "-k", "3", "-o", out, "-q")
    head, first, *rest = (out / "labels.csv").read_text().splitlines()
    cells = first.split(",")
    cells[1] = str((int(cells[1]) + 1) % 3)
    (tmp_path / "edited.csv").write_text("\n".join([head, ",".join(cells), *rest]))
    result = run("check", out, tmp_path / "edited.csv")
    row = next(line for line in result.stdout.splitlines() if line.startswith("Q "))
    before, now = map(float, row.split()[1:])
    assert now < before
