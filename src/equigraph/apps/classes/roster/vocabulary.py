"""What the headers of school lists are called, in six languages, and what each is taken for.

Words are compared without capitals, accents, numbers and signs: ``Freund/in 1`` is ``freund in``.
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
        schueler; schuelerin; schueler in; schueler innen; schuelerinnen; schuelerinnen und schueler; schuelername; sus;
        kind; kinder; name des kindes; name des schuelers; name der schuelerin; name vorname; vorname name;
        name und vorname; vor und nachname; vorname nachname; nachname vorname; vorname und nachname;
        nachname und vorname; vollstaendiger name; teilnehmer; teilnehmerin; teilnehmer in; nom complet; nom
        et prenom; nom prenom; prenom et nom; prenom nom; eleve; eleves; nom de l eleve; enfant; enfants;
        participant e; nombre completo; nombre y apellidos; nombre y apellido; apellidos y nombre; apellidos
        nombre; alumno; alumna; alumno a; alumnos; alumnado; estudiante; estudiantes; nombre del alumno;
        participante; nome completo; nome e cognome; cognome e nome; cognome nome; nome cognome; nominativo;
        alunno; alunna; alunno a; alunni; studente; studentessa; studenti; bambino; partecipante; naam;
        volledige naam; leerling; leerlingen; naam leerling; naam van de leerling; voor en achternaam;
        deelnemer; persoon""",
    FIRST: """first name; firstname; first names; given name; given names; forename; forenames; vorname;
        vornamen; rufname; prenom; prenoms; nombre; nombres; nome; voornaam; voornamen; roepnaam""",
    MIDDLE: """middle name; middle names; zweiter vorname; deuxieme prenom; segundo nombre; tussenvoegsel;
        tussenvoegsels""",
    LAST: """last name; lastname; surname; family name; nachname; familienname; zuname; nom; nom de
        famille; apellido; apellidos; primer apellido; segundo apellido; cognome; achternaam; familienaam""",
    FRIENDS: """friend; friends; friend of; best friend; best friends; wish; wishes; friend wish; wants;
        wants to be with; would like to be with; likes; choice; choices; preference; preferences; preferred
        friends; friend request; freund; freunde; freundin; freundinnen; freund in; freund innen; freundschaft;
        freundschaften; freunde freundinnen; wunsch; wuensche; wunschkind; wunschkinder; wunschpartner;
        wunschmitschueler; wunsch mitschueler; freundeswunsch; freundeswuensche; freundschaftswunsch;
        freundschaftswuensche; moechte mit; moechte zu;
        moechte zusammen mit; moechte in eine klasse mit; gern mit; mit wem; ami; amis; amie; amies; ami e;
        ami e s; copain; copains; copine; copines; souhait; souhaits; voeu; voeux; avec qui; souhaite etre
        avec; veut etre avec; prefere; choix; amigo; amiga; amigos; amigas; amigo a; amistad; amistades;
        deseo; deseos; preferencia; preferencias; quiere estar con; eleccion; amico; amica; amici; amiche;
        amico a; desiderio; desideri; preferenza; preferenze; vuole stare con; vorrebbe stare con; scelta;
        vriend; vrienden; vriendin; vriendinnen; vriendje; vriendjes; vriend in; wens; wensen; voorkeur;
        voorkeuren; maatje; maatjes; keuze; wil bij; wil met; wil graag met; wil graag bij""",
    APART: """not with; not together; not together with; apart; apart from; keep apart; keep apart from;
        separate; separate from; separated from; avoid; conflict; conflict with; conflicts; must not be
        with; nicht mit; nicht zu; nicht zusammen; nicht zusammen mit; trennen; trennen von; getrennt;
        getrennt von; auf keinen fall mit; darf nicht mit; soll nicht mit; konflikt; konflikte; konflikt
        mit; pas avec; ne pas mettre avec; pas ensemble; separer; separer de; a separer; a separer de;
        eviter; conflit; conflit avec; no con; no junto a; no junto con; no juntar con; separar; separar de;
        evitar; conflicto; conflicto con; non con; non insieme; non insieme a; separare; separare da; da
        separare; da separare da; evitare; conflitto; conflitto con; niet met; niet bij; niet samen; niet
        samen met; scheiden; scheiden van; apart van; gescheiden van; vermijden""",
    TOGETHER: """together; together with; with; keep with; keep together; keep together with; must be
        with; zusammen; zusammen mit; mit; muss mit; muss zu; unbedingt mit; muss zusammen mit; gemeinsam
        mit; ensemble; ensemble avec; avec; doit etre avec; garder avec; junto; juntos; junto a; junto con;
        con; debe estar con; mantener con; insieme; insieme a; insieme con; deve stare con; tenere con;
        samen; samen met; met; moet bij; moet met""",
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
        opmerking; opmerkingen""",
}
# Inside a longer header, such as "Best friends in class", these still say what it is.
_FRIEND_WORDS = """friend friends freund freunde freundin freundinnen wunschkind wunschkinder ami amis amie amies
    copain copains copine copines amigo amiga amigos amigas amico amica amici amiche vriend vrienden vriendin
    vriendinnen"""
_NEGATIONS = "not no nicht kein keine pas non niet geen"
_WRITTEN_OUT = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ø": "oe", "æ": "ae", "œ": "oe", "ł": "l"})
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


_KNOWN = {" ".join(words.split()): role for role, listed in _PHRASES.items() for words in listed.split(";")}


def role_of(header: str) -> str | None:
    """Return what a header is taken for, or None if it is unknown.

    >>> role_of("Freund 2"), role_of("Nicht mit"), role_of("Prénom"), role_of("Schuhgröße")
    ('friends', 'not_with', 'first_name', None)
    """
    words = phrase(header)
    if words in _KNOWN:
        return _KNOWN[words]
    parts = set(words.split())
    if parts & set(_FRIEND_WORDS.split()):
        return APART if parts & set(_NEGATIONS.split()) else FRIENDS
    return None
