"""What the headers of school lists are called in a dozen languages, and what each is taken for.

Words are compared without capitals, accents, numbers and signs: ``Freund/in 1`` is ``freund in``. Names and
attributes are
known by whole phrases; columns that name other people by stems, because their headers are sentences as often as
words.
"""

from __future__ import annotations

import re
import unicodedata

NAME, FIRST, MIDDLE, LAST = "name", "first_name", "middle_name", "last_name"
FRIENDS, APART, TOGETHER, FIXED = "friends", "not_with", "together_with", "fixed_class"
ATTRIBUTE, UNUSED = "attribute", "unused"
LISTS = (FRIENDS, APART, TOGETHER)
NAMES = (NAME, FIRST, MIDDLE, LAST)
ROLES = (*NAMES, *LISTS, FIXED)

_PHRASES = {
    NAME: """name; names; full name; student; students; student name; name of student; pupil; pupils;
        pupil name; child; children; child name; person; people; participant; participants; member;
        schueler; schuelerin; schueler in; schueler innen; schuelerinnen; schuelerinnen und schueler; schuelername;
        sus;
        kind; kinder; name des kindes; name des schuelers; name der schuelerin; name vorname; vorname name;
        name und vorname; vor und nachname; vorname nachname; nachname vorname; vorname und nachname;
        nachname und vorname; vollstaendiger name; teilnehmer; teilnehmerin; teilnehmer in; nom complet; nom
        et prenom; nom prenom; prenom et nom; prenom nom; eleve; eleves; nom de l eleve; enfant; enfants;
        participant e; nombre completo; nombre y apellidos; nombre y apellido; apellidos y nombre; apellidos
        nombre; alumno; alumna; alumno a; alumnos; alumnado; estudiante; estudiantes; nombre del alumno;
        participante; nome completo; nome e cognome; cognome e nome; cognome nome; nome cognome; nominativo;
        alunno; alunna; alunno a; alunni; studente; studentessa; studenti; bambino; partecipante; naam;
        volledige naam; leerling; leerlingen; naam leerling; naam van de leerling; voor en achternaam;
        deelnemer; persoon; aluno; aluna; alunos; nome do aluno; nome da crianca; nome e apelido; imie
        nazwisko; nazwisko imie; uczen; uczennica; namn; elev; elever; elevens namn; foer och efternamn; navn;
        fulde navn; elevens navn; ad soyad; adi soyadi; ogrenci; ogrenci adi; jmeno a prijmeni; prijmeni a jmeno;
        zak; zakyne; fio""",
    FIRST: """first name; firstname; first names; given name; given names; forename; forenames; vorname;
        vornamen; rufname; prenom; prenoms; nombre; nombres; nome; voornaam; voornamen; roepnaam; nome proprio;
        imie; foernamn; fornavn; ad; adi; jmeno""",
    MIDDLE: """middle name; middle names; zweiter vorname; deuxieme prenom; segundo nombre; tussenvoegsel;
        tussenvoegsels""",
    LAST: """last name; lastname; surname; family name; nachname; familienname; zuname; nom; nom de
        famille; apellido; apellidos; primer apellido; segundo apellido; cognome; achternaam; familienaam; apelido;
        apelidos;
        sobrenome; nazwisko; efternamn; efternavn; etternavn; soyad; soyadi; prijmeni""",
    FIXED: """fixed; fixed class; class fixed; assigned class; placed in; must be in; must be in class;
        set class; feste klasse; klasse fest; fest; fest in; fest zugeteilt; zugeteilte klasse; zuteilung;
        gesetzt in; vorgabe klasse; klassenvorgabe; classe fixe; classe fixee; classe imposee; classe
        attribuee; place en; clase fija; clase asignada; grupo fijo; grupo asignado; classe fissa; classe
        assegnata; classe fissata; vaste klas; klas vast; toegewezen klas""",
    ATTRIBUTE: """gender; sex; girl boy; boy girl; m f; language; first language; home language; mother
        tongue; nationality; origin; school; primary school; previous school; class; previous class; current
        class; group; level; ability; grade; special needs; needs; sen; support; religion; district;
        village; house; team; geschlecht; m w; w m; m w d; sprache; muttersprache; erstsprache;
        familiensprache; herkunft; staatsangehoerigkeit; nationalitaet; migrationshintergrund; schule;
        grundschule; abgebende schule; klasse; bisherige klasse; stammklasse; gruppe; niveau; leistung;
        leistungsniveau; foerderbedarf; sonderpaedagogischer foerderbedarf; foerderung; spf; daz; inklusion;
        konfession; ethik religion; wohnort; ort; ortsteil; stadtteil; genre; sexe; langue; langue
        maternelle; nationalite; origine; ecole; ecole d origine; classe; classe actuelle; groupe; besoins;
        besoins particuliers; commune; quartier; genero; sexo; idioma; lengua; lengua materna; nacionalidad;
        origen; colegio; escuela; clase; clase actual; grupo; nivel; necesidades; necesidades especiales;
        nee; barrio; pueblo; genere; sesso; lingua; lingua madre; nazionalita; origine; scuola; scuola di
        provenienza; gruppo; livello; bisogni; bisogni speciali; bes; sostegno; comune; quartiere;
        religione; geslacht; taal; thuistaal; moedertaal; nationaliteit; herkomst; basisschool; klas;
        huidige klas; groep; zorg; zorgbehoefte; ondersteuning; woonplaats; wijk; dorp""",
    UNUSED: """no; nr; number; id; student id; index; e mail; email; mail; phone; telephone; mobile;
        address; street; zip; postcode; birthday; date of birth; born; dob; age; comment; comments; remark;
        remarks; note; notes; lfd; lfd nr; nummer; schuelernummer; telefon; handy; adresse; strasse; plz;
        geburtstag; geburtsdatum; geb; geb datum; alter; bemerkung; bemerkungen; anmerkung; anmerkungen;
        kommentar; notiz; notizen; sonstiges; numero; n; courriel; tel; rue; code postal; date de naissance;
        ne le; commentaire; commentaires; remarque; remarques; observations; num; correo; correo
        electronico; telefono; direccion; codigo postal; fecha de nacimiento; edad; comentario; comentarios;
        observaciones; notas; indirizzo; cap; data di nascita; eta; commento; commenti; osservazioni;
        annotazioni; note varie; leerlingnummer; telefoon; adres; straat; geboortedatum; leeftijd;
        opmerking; opmerkingen; email address; username; adresse e mail; start time; startzeit; uwagi; anmaerkningar;
        bemaerkninger; notlar; poznamky""",
}
# When a web form was answered.
_TIMES = """timestamp; zeitstempel; horodateur; marca temporal; informazioni cronologiche; tijdstempel; completion time;
    fertigstellungszeit; submitted at; submitted on; submission date; submission time; date submitted; abgeschickt am;
    eingereicht am; gesendet am; datum der antwort; heure de fin; date de soumission; hora de finalizacion;
    ora di completamento; tijd van voltooien; sygnatura czasowa; tidsstaempel; tidsstempel; casova znacka"""
_WRITTEN_OUT = str.maketrans(
    {"ä": "ae", "ö": "oe", "ü": "ue", "ø": "oe", "æ": "ae", "œ": "oe", "ł": "l", "\u0131": "i"}
)
# Stems of headers that name other people: a word that begins with one of them, or is it where a dot ends it.
_STEMS = {
    "wish": """friend freund wish wunsch wuensch want. wants. like. likes. prefer choice choos chosen select. request
        nominat buddy buddies pal. pals. bff chum mate. mates. classmate teammate roommate partner companion
        moecht gern kumpel kamerad waehl ami. amis. amie. amies. copain copine camarad souhait voeu voudr veut.
        prefere
        choix amig amist companer dese quier quisier eleccion elig prefier amic. amico. amica. amici. amiche. desider
        preferi vorrebb vuole. scelt compagn vriend wens. wensen. voorkeur maatje keuze kies wil. escolh gostari quer.
        kolega. koleg kolez przyjac zyczen chce. wybor kompis vaen. vaenn oensk oenske ven. venner. venind arkadas
        tercih istedig istek. kamarad pritel pratel preje""",
    "family": """sibling brother. brothers. sister. sisters. twin triplet geschwist bruder brueder schwester zwilling
        frere soeur jumea jumel fratri herman gemel melliz fratel sorell gemell broer. broers. zus. zussen. tweeling
        irmao irma. irmas. gemeo rodzenst siostr blizni syskon tvilling soeskend kardes ikiz sourozen dvojc""",
    "together": """togeth same. zusammen gemeinsam dieselb gleich ensemble. meme. junt mism insieme stess samen.
        samenhoud
        samenplaats samenzet zelfde mesm razem. tillsammans samma. sammen. samme. birlikte ayni. spolu. stejn""",
    "apart": """apart. separ split. avoid incompat conflict konflikt conflit clash trenn getrenn unvertraeg scheid
        gescheid vermeid vermijd evit eloign alej fernhalt away. rozdziel osobno. unika skilj isaer. undvik adskil
        undgaa
        ayri. ayir uzak. oddel zvlast. afast dislike enem feind ennemi nemic vijand bull. bully bullied streit mobb
        quarrel exclu ausschl veto.""",
    "not": """not. no. non. nicht. kein keine. pas. ne. niet. geen. cannot. never. nie. inte. ikke. ej. nao. nunca.
        degil.
        olmasin. niemal nie.""",
    "with": """with. mit. zu. avec. con. met. bij. com. z. ze. med. ile. s. se.""",
    "must": """must. muss. muessen. unbedingt. doit. doivent. debe. deben. deve. devono. moet. moeten. musi.
        maaste. skal.
        sollen. soll.""",
    "place": """keep. put. place. placed. lass behalt mett mettr garder. poner. mantener. tenere. mettere. plaats""",
    # A wish for something else than people.
    "thing": """language sprach langue. idioma. lengua. lingua. taal. sport subject fach. faecher instrument course
        kurs.
        topic thema themen project projekt""",
    # Where people were tells nothing of where they shall be.
    "past": """previous former last. current bisher ehemal preced anterior actuel actual. attual vorig huidig""",
}
_INSIDE = re.compile(r"\([^)]*\)|\[[^\]]*\]")
_ORDINAL = re.compile(r"(?:\d+(?:st|nd|rd|th|er|ere|re|eme|e|o|a|ste|de)?|i{1,3}|iv|v)\Z")


def folded(text: str) -> str:
    """Return a text without capitals and accents, German letters written out."""
    return without_accents(unicodedata.normalize("NFC", text).casefold().translate(_WRITTEN_OUT))


def without_accents(text: str) -> str:
    """Return a text whose accented letters have lost their accents."""
    parts = unicodedata.normalize("NFKD", text)
    return "".join(part for part in parts if not unicodedata.combining(part))


def phrase(header: str) -> str:
    """Return the words of a header, without numbers, signs and what stands in parentheses.

    >>> phrase("Freund/in 1"), phrase("2. Wunsch (Name)"), phrase("Élève")
    ('freund in', 'wunsch', 'eleve')
    """
    words = re.findall(r"[^\W_]+", folded(_INSIDE.sub(" ", header)))
    kept = [word for word in words if not _ORDINAL.match(word)]
    return " ".join(kept or words)


_TIME_PHRASES = {" ".join(words.split()) for words in _TIMES.split(";")}
_KNOWN = {" ".join(words.split()): role for role, listed in _PHRASES.items() for words in listed.split(";")}
_KNOWN |= dict.fromkeys(_TIME_PHRASES, UNUSED)
_PEOPLE_WORDS = """child childs children s kind kindes kinds pupil pupils student students enfant eleve alumno alumna
    hijo hija alunno alunna figlio figlia leerling aluno aluna filho"""
# What questions of web forms are made of, beside the words that matter.
_FILLERS = """what is are the a an of your my our his her please enter write type full wie heisst ist der die das des
    deines dein ihr ihres ihre euer bitte vollstaendiger quel est le la les l de du d votre ton cual es el su del tu
    qual e il tuo di della vostro wat je uw van jouw o do da seu"""
_NUMBER = re.compile(r"\b(?:no|nr|num|n)\b[.:]?\s*(?=\d)|\bno\.?\s*$")
_CONTRACTION = re.compile(r"n['\u2019]t\b")


def is_time(header: str) -> bool:
    """Return whether a column tells when a web form was answered.

    >>> is_time("Timestamp"), is_time("Time")
    (True, False)
    """
    return phrase(header) in _TIME_PHRASES


def role_of(header: str) -> str | None:
    """Return what a header is taken for, or None if that is not certain.

    >>> role_of("Freund 2"), role_of("Nicht mit"), role_of("Prénom"), role_of("Schuhgröße")
    ('friends', 'not_with', 'first_name', None)
    >>> role_of("Must be apart from"), role_of("Do not separate from"), role_of("Your child's best friends")
    ('not_with', None, 'friends')
    """
    words = phrase(header)
    if words in _KNOWN:
        return _KNOWN[words]
    listed = {_list_role(text) for text in (header, _INSIDE.sub(" ", header))}
    if listed != {None}:  # what stands in parentheses may say the opposite
        return listed.pop() if len(listed) == 1 else None
    asked = [word for word in words.split() if word not in _FILLERS.split()]
    name = _KNOWN.get(" ".join(word for word in asked if word not in _PEOPLE_WORDS.split()))
    if name in NAMES:
        # "First name of your child" is a first name; "Nombre de su hijo" is the whole one.
        return NAME if name == FIRST and len(words.split()) > 1 and "name" not in words else name
    return _KNOWN.get(" ".join(asked))


def _found(header: str) -> dict[str, int]:
    """Return the kinds of stems in a header with the place where each occurs first."""
    text = _NUMBER.sub(" ", _CONTRACTION.sub(" not", folded(header)))
    found: dict[str, int] = {}
    for place, word in enumerate(re.findall(r"[^\W\d_]+", text)):
        for kind, stems in _STEM_LISTS.items():
            if any(_has_stem(word, stem) for stem in stems):
                found.setdefault(kind, place)
    return found


_STEM_LISTS = {kind: tuple(stems.split()) for kind, stems in _STEMS.items()}
_COMPOUND = 5  # letters of a stem that may also stand inside a word, as in Lieblingsfreund


def _has_stem(word: str, stem: str) -> bool:
    if stem.endswith("."):
        return word == stem[:-1]
    return word.startswith(stem) or (len(stem) >= _COMPOUND and stem in word)


def _list_role(header: str) -> str | None:
    """Return friends, not_with or together_with where the stems of a header leave no doubt."""
    found = _found(header)
    if found.keys() & {"past", "thing"}:
        return None
    if "apart" in found:
        # "Do not separate", "Separate the twins": nobody but the writer knows.
        return APART if not found.keys() & {"not", "wish", "together", "family"} else None
    if "not" in found:
        with_others = min(found.get("with", 99), found.get("together", 99))
        certain = found["not"] < with_others < 99 and not found.keys() & {"wish", "family"}
        return APART if certain else None
    if "wish" in found:
        return FRIENDS if "must" not in found else None
    if found.keys() & {"together", "family"} or {"with", "must"} <= found.keys():
        return TOGETHER
    return TOGETHER if {"with", "place"} <= found.keys() else None
