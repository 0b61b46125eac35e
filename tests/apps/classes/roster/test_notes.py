"""Notes on how a sheet was read, in every language of the board."""

import pytest

import equigraph as eg
from equigraph._utils.templates import environment
from equigraph.apps.classes.division import rule_sentence
from equigraph.apps.classes.messages import LANGUAGES, Note
from equigraph.apps.classes.persistence import load_division, save_division
from equigraph.exceptions import RosterError
from equigraph.rules import Apart
from tests.apps.classes.roster.sheets import table, write_csv


def kinds(language):
    """Return the kinds of sentences of a language with the names of their values; rules have their own in English."""
    module = environment("equigraph.apps.classes").get_template(f"{language}.txt").module
    macros = {name: value for name, value in vars(module).items() if hasattr(value, "arguments")}
    return {name: tuple(macro.arguments) for name, macro in macros.items() if not name.startswith("rule_")}


def test_every_language_has_every_kind():
    english, *others = map(kinds, LANGUAGES)
    assert len(english) > 20
    assert all(other == english for other in others)


def test_a_kind_of_rule_without_a_translation_is_said_in_english():
    class Unseated(Apart):
        keyword = "unseated"

    assert (
        rule_sentence(Unseated(("Ada", "Ben")), ["5a", "5b"], "de") == "Ada and Ben are in different classes."
    )


def test_notes_in_german(tmp_path):
    path = tmp_path / "Klasse.csv"
    text = "Ada;w;Ben;; | Ben;m;-;Ada;nicht neben Dora | Çem;;Xaver;; | Dora;w;Ada;;"
    rows = table(f"Name;Geschlecht;Freund 1;Nicht mit;Notizen | {text}")
    roster = eg.read_roster(write_csv(path, rows, encoding="cp1252"), names={"Xaver": None})
    assert [note.texts()["de"] for note in roster.notes if note.kind != "column"] == [
        "Die Zeichenkodierung ist Windows-1252 (geraten: Zeile 4 ist nicht UTF-8); sonst andere angeben (encoding).",
        "Die Zellen sind durch Semikolons getrennt (geraten).",
        "Wie angegeben weggelassen: „Xaver“ (Zeile 4, Spalte C).",
        "Zellen, in denen nur ein Strich steht, gelten als leer: 1.",
        "„Notizen“ wird nicht verwendet, nennt aber in 1 Zeile (3) andere Personen: bitte selbst lesen.",
        "„Geschlecht“ ist leer bei Çem (Zeile 4).",
        "2 Wünsche, darunter 0 gegenseitige Paare: jeder zählt gleich viel.",
        "Personen ohne Wunsch: 2.",
        "Ben und Ada sollen getrennt sein, obwohl eine Person mit der anderen zusammen sein möchte.",
    ]
    # A folder keeps the kinds and not the sentences.
    save_division(eg.divide(roster, 2, random_state=0, effort=0.1), tmp_path / "out")
    assert load_division(tmp_path / "out").roster.notes == roster.notes


@pytest.mark.parametrize(
    ("kind", "values"), [("magic", {}), ("__name__", {}), ("no_wish", {}), ("blanks", {"attribute": "x"})]
)
def test_notes_of_no_kind_are_refused(kind, values):
    with pytest.raises(RosterError, match="no note on a sheet"):
        Note(kind, values)
