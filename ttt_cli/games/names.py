"""Player names: cleaning, and keys of equal spellings."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Final

import numpy as np

from ttt_cli.config.schema import NameMatching
from ttt_cli.reading.reports import FORFEIT, NO_PLAYER, UNNAMED_PLAYER
from ttt_cli.support.arrays import Mask
from ttt_cli.support.folding import fold

_ASCII: Final = 128
# Names that are looked at one by one in the time that a table of characters takes
_FEW: Final = 1_000


@cache
def _pairs_that_match(pattern: str) -> Mask:
    """Whether a pattern matches, for each pair of characters."""
    characters = [chr(code) for code in range(_ASCII)]
    search = re.compile(pattern).search
    return np.array(
        [search(first + second) is not None for first in characters for second in characters]
    )


def preselect(pattern: str, names: Sequence[str]) -> list[int]:
    """Sorted indices of names with two neighbouring characters that match a pattern; of all names if they are few.

    A line break precedes and follows each name; a character beyond ASCII, or a line break inside, counts as `?`.
    """
    if len(names) < _FEW:
        return list(range(len(names)))
    text = "\n".join(names)
    if text.count("\n") >= len(names):
        text = "\n".join(name.replace("\n", "?") for name in names)
    characters = np.frombuffer(f"\n{text}\n".encode("ascii", "replace"), np.uint8)
    pairs = characters[:-1] * np.uint16(_ASCII) + characters[1:]
    positions = np.flatnonzero(_pairs_that_match(pattern)[pairs])
    ends = np.flatnonzero(characters == ord("\n"))
    numbers: list[int] = np.unique(np.searchsorted(ends, positions, side="right") - 1).tolist()
    return numbers


_INVISIBLE: Final = {
    ord(character): None for character in "\ufeff\u200b\u200c\u200d\u200e\u200f\u2060\u00ad"
}
_NOBODY: Final = re.compile(r"[\s?.,*_\-–—]*")
_UNNAMED: Final = re.compile(r"n[\s.,]*n[\s.]*|unknown|anonymous|unnamed", re.IGNORECASE)
_NO_OPPONENT: Final = (
    *(
        "bye",
        "half point bye",
        "full point bye",
        "freilos",
        "spielfrei",
        "exempt",
        "exempté",
        "exempte",
    ),
    *("descansa", "not paired", "nicht ausgelost", "no opponent", "unpaired"),
)
_NO_OPPONENT_PATTERN: Final = "|".join(re.escape(word) for word in _NO_OPPONENT)
_BYE: Final = re.compile(
    rf"\W*(?:{_NO_OPPONENT_PATTERN})(?:, *(?:bye|freilos|spielfrei|exempt))?\W*\d{{0,4}}",
    re.IGNORECASE,
)
BYES: Final = frozenset(  # the usual spellings
    spelling(name)
    for name in _NO_OPPONENT
    for spelling in (str.lower, str.upper, str.title, str.capitalize)
)
_COMMA: Final = re.compile(r"\s*,[\s,]*")
_ENTITY: Final = re.compile(r"&(?:#\d+|#[xX][\da-fA-F]+|[A-Za-z]\w*);", re.ASCII)
UNUSUAL: Final = (  # a name without any of these is clean and somebody's
    r"[^\nA-Za-z0-9 ,.'-]|\n[^A-Za-z0-9]| [ ,\n]|,[^ ]"  # other signs and blanks
    r"|Dr|DR|Pr|PR|Do|Re|He|Mr|Mo|Hr|Dh|[GIFCN]M|[ ,.'\n-][dp]"  # how titles begin
    r"|\n[NnUu]|[Yy][Mm]"  # the unnamed
)
_CHESS: Final = r"(?:W?[GIF]M|W?CM|W?NM)"
_ACADEMIC: Final = r"(?:[Dd]r|DR(?=\.)|[Pp]rof|PROF(?=\.)|Professor|Doctor|Doktor|Rev|Reverend|Herr|Mr|Monsieur|Hr|Dhr)"
_LEADING: Final = re.compile(rf"(?:(?:{_CHESS}|{_ACADEMIC})(?:\.\s*|\s+))+(?=\w\w|\w[. ])")
_AFTER_COMMA: Final = re.compile(rf"(?<=, )(?:{_ACADEMIC}(?:\.\s*|\s+))+(?=\w)")
_TRAILING: Final = re.compile(rf"(?<=\w|\.)(?:,? {_ACADEMIC}\.?)+$")
_IN_BRACKETS: Final = re.compile(rf"\s*[(\[](?:{_CHESS}|{_ACADEMIC}\.?)[)\]]$")
_COUNTRY: Final = re.compile(r"\s*[(\[]([A-Z]{3})[)\]]$")
_PERHAPS: Final = re.compile(rf"[\])]$|\b(?:{_CHESS}|{_ACADEMIC})\b")
_CODES: Final = """
AFG AHO ALB ALG AND ANG ANT ARG ARM ARU ASA AUS AUT AZE BAH BAN BAR BDI BEL BEN BER BHU BIH BIZ BLR BOH BOL
BOT BRA BRN BRU BUL BUR CAF CAM CAN CAY CHA CHI CHN CIV CMR COD COG COK COL COM CPV CRC CRO CUB CUW CYP CZE
DDR DEN DJI DMA DOM ECU EGY ENG ERI ESA ESP EST ETH EUN FAI FIJ FIN FRA FRG FRO FSM GAB GAM GBR GBS GCI GDR
GEO GEQ GER GHA GRE GRL GRN GUA GUI GUM GUY HAI HKG HOL HON HUN IMN INA IND IOM IRI IRL IRQ ISL ISR ISV ITA
IVB JAM JAP JCI JOR JPN JUG KAZ KEN KGZ KIR KOR KOS KSA KUW LAO LAT LBA LBN LBR LCA LES LIB LIE LTU LUX MAC
MAD MAR MAS MAW MDA MDV MEX MGL MHL MKD MLI MLT MNC MNE MON MOZ MRI MTN MYA NAM NCA NCL NED NEP NGR NIC NIG
NLD NOR NRU NZL OMA PAK PAN PAR PER PHI PLE PLW PNG POL POR PRK PUR QAT RHO ROM ROU RSA RUS RWA SAA SAM SCG
SCO SEN SEY SIN SGP SKN SLE SLO SMR SOL SOM SRB SRI SSD STP SUD SUI SUR SVK SWE SWZ SYR TAN TCH TGA THA TJK
TKM TLS TOG TPE TTO TUN TUR TUV UAE UGA UKR URS URU USA UZB VAN VEN VIE VIN VNM WLS YEM YUG ZAI ZAM ZIM
"""
COUNTRIES: Final = frozenset(_CODES.split())  # federations of FIDE and the IOC, past ones too
# of a word of two or three
_BETWEEN_INITIALS: Final = re.compile(r"(?<=\b[A-Z])(?=[A-Z]{1,2}\b)|(?<=\b[A-Z]{2})(?=[A-Z]\b)")
_PLAIN: Final = re.compile(r"[A-Z][a-z]+(?: [A-Z][a-z]+)*, [A-Z][a-z]*(?: [A-Z][a-z]*)*")
_DOTS: Final = re.compile(r"[.\s]+")
# where there is none of these, and no second comma, a key is the name itself but for case
_UNLIKE_ITS_KEY: Final = r"[^\nA-Za-z0-9 ,]|\n[^A-Za-z0-9]| [ ,\n]|,[^ ]|[A-Z]{2}"


def clean_name(name: str) -> str:
    """A player's name with single blanks, composed characters (NFC) and decoded HTML entities.

    Titles, invisible characters and a country code at the end are removed, unless nothing else is left. Ambiguous parts
    stay: `Mrs.` and `Miss` tell a wife from her husband, `Dr` alone after a comma may be Dragoljub.
    """
    previous = None
    while name != previous:
        previous = name
        if "&" in name and _ENTITY.search(name):
            import html

            name = _ENTITY.sub(lambda match: html.unescape(match[0]), name)
        if not name.isascii():
            name = unicodedata.normalize("NFC", name.translate(_INVISIBLE))
        name = " ".join(name.split())
        if "," in name and not _NOBODY.fullmatch(name):
            name = _COMMA.sub(", ", name).strip(", ")
        if not _PERHAPS.search(name):
            continue
        country = _COUNTRY.search(name)
        if country and country[1] in COUNTRIES:
            name = name[: country.start()] or name
        name = _IN_BRACKETS.sub("", name) or name
        if _LEADING.match(name):
            name = _LEADING.sub("", name, count=1)
        _, _, given_names = name.partition(", ")
        if given_names:
            name = _AFTER_COMMA.sub("", name, count=1)
            if " " in given_names:
                name = _TRAILING.sub("", name)
    return name


def not_a_player(name: str) -> str | None:
    """Why a cleaned name is nobody's: `no player`, `unnamed player` or, of a bye, `forfeit`; None for a player."""
    if _NOBODY.fullmatch(name):
        return NO_PLAYER
    if _UNNAMED.fullmatch(name):
        return UNNAMED_PLAYER
    if _BYE.fullmatch(name):
        return FORFEIT
    return None


def name_key(name: str, matching: NameMatching = "folded") -> str:
    """The key of a cleaned name: surname, comma and given names, or its words where there is no comma.

    A country code after given names (`Ivanov, S RUS`) follows a second comma. Dots vanish and initials are single
    letters: `Blackburne, J.H.`, `Blackburne, J H` and `Blackburne, JH` are equal. Case, accents and hyphens count
    with `clean` only. A name of signs alone is its own key.
    """
    if _PLAIN.fullmatch(name):
        return name if matching == "clean" else name.lower()
    surname, _, given_names = name.partition(",")
    country = ""
    if given_names and not surname.isupper():
        names_before, _, last_word = given_names.rstrip().rpartition(" ")
        if names_before.strip() and last_word in COUNTRIES:
            given_names = names_before
            country = last_word
        given_names = _BETWEEN_INITIALS.sub(" ", given_names)
    parts = [_words(text, matching) for text in (surname, given_names, country)]
    return ", ".join(part for part in parts if part) or name


def name_keys(names: Sequence[str], matching: NameMatching = "folded") -> list[str]:
    """`name_key` of each name, faster."""
    keys = list(names) if matching == "clean" else [name.lower() for name in names]
    several_commas = [number for number, name in enumerate(names) if name.count(",") > 1]
    for number in {*preselect(_UNLIKE_ITS_KEY, names), *several_commas}:
        keys[number] = name_key(names[number], matching)
    return keys


def comma_keys(key: str) -> Iterator[str]:
    """Keys that a key without a comma may mean: `First Last` and `Last First`, split at any word."""
    words = key.split() if "," not in key else []
    for cut in range(1, len(words)):
        yield f"{' '.join(words[cut:])}, {' '.join(words[:cut])}"
        yield f"{' '.join(words[:cut])}, {' '.join(words[cut:])}"


def _words(text: str, matching: NameMatching) -> str:
    return _DOTS.sub(" ", text).strip() if matching == "clean" else fold(text)
