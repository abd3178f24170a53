"""Player names as they stand in files: what belongs to no name, which are none, and when two spellings are one name."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ttt_cli.arrays import Mask
from ttt_cli.config.schema import NameMatching
from ttt_cli.folding import fold
from ttt_cli.reading.reasons import NO_PLAYER, UNNAMED_PLAYER
from ttt_cli.reading.text import text_of

_ASCII: Final = 128
_FEW: Final = 1_000  # names that are looked at one by one in the time that a table of characters takes
_AT_ONCE: Final = 1 << 16  # names, for the sake of memory


class Neighbours:
    """Finds names that may hold two neighbouring characters in which `pattern` matches.

    A line end stands before and behind each name; a character beyond ASCII, or a line end within, counts as `?`.
    """

    def __init__(self, pattern: str) -> None:
        self._pattern = re.compile(pattern)

    def among(self, names: Sequence[str]) -> NDArray[np.intp]:
        """The numbers of those names in order."""
        if len(names) < _FEW:
            return np.arange(len(names))
        starts = range(0, len(names), _AT_ONCE)
        return np.concatenate([start + self._found(names[start : start + _AT_ONCE]) for start in starts])

    @cached_property
    def _table(self) -> Mask:
        """Whether the pattern matches, by both characters."""
        letters = list(map(chr, range(_ASCII)))
        return np.array([bool(self._pattern.search(one + other)) for one in letters for other in letters])

    def _found(self, names: Sequence[str]) -> NDArray[np.intp]:
        text = "\n".join(names)
        if text.count("\n") >= len(names):
            text = "\n".join(name.replace("\n", "?") for name in names)
        letters = np.frombuffer(f"\n{text}\n".encode("ascii", "replace"), np.uint8)
        pairs = letters[:-1] * np.uint16(_ASCII) + letters[1:]
        ends = np.flatnonzero(letters == ord("\n"))
        return np.unique(np.searchsorted(ends, np.flatnonzero(self._table[pairs]), side="right") - 1)


_INVISIBLE: Final = dict.fromkeys(map(ord, "\ufeff\u200b\u200c\u200d\u200e\u200f\u2060\u00ad"))
_NOBODY: Final = re.compile(r"[\s?.,*_\-–—]*")
_UNNAMED: Final = re.compile(r"n[\s.,]*n[\s.]*|unknown|anonymous|unnamed", re.IGNORECASE)
_COMMA: Final = re.compile(r"\s*,[\s,]*")
_ENTITY: Final = re.compile(r"&(?:#\d+|#[xX][\da-fA-F]+|[A-Za-z]\w*);", re.ASCII)
_SLOW_PATH: Final = Neighbours(  # a name without any of these is clean and somebody's
    r"[^\nA-Za-z0-9 ,.'-]|\n[^A-Za-z0-9]| [ ,\n]|,[^ ]"  # other signs and blanks
    r"|Dr|DR|Pr|PR|Do|Re|He|Mr|Mo|Hr|Dh|[GIFCN]M|[ ,.'\n-][dp]"  # how titles begin
    r"|\n[NnUu]|[Yy][Mm]"  # the unnamed
)
_CHESS: Final = r"(?:W?[GIF]M|W?CM|W?NM)"
_ACADEMIC: Final = (
    r"(?:[Dd]r|DR(?=\.)|[Pp]rof|PROF(?=\.)|Professor|Doctor|Doktor|Rev|Reverend|Herr|Mr|Monsieur|Hr|Dhr)"
)
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
_INITIALS: Final = re.compile(r"\b[A-Z]{2,3}\b")
_PLAIN: Final = re.compile(r"[A-Z][a-z]+(?: [A-Z][a-z]+)*, [A-Z][a-z]*(?: [A-Z][a-z]*)*")
_DOTS: Final = re.compile(r"[.\s]+")
# where there is none of these, and no second comma, a key is the name itself but for case
_UNLIKE_ITS_KEY: Final = Neighbours(r"[^\nA-Za-z0-9 ,]|\n[^A-Za-z0-9]| [ ,\n]|,[^ ]|[A-Z]{2}")


def unusual_names(texts: Sequence[str]) -> list[int]:
    """The numbers of those texts that may not be the clean names of players, in order; of all others it is certain."""
    numbers: list[int] = _SLOW_PATH.among(texts).tolist()
    return numbers


def clean_name(raw: object) -> str:
    """A player's name without what does not belong to it.

    Single blanks between words and one after a comma, HTML entities as their characters, composed characters (NFC) and
    no invisible ones; titles and the code of a country at the end are taken away.
    """
    name = text_of(raw)
    while (cleaner := _cleaned(name)) != name:
        name = cleaner
    return name


def _cleaned(text: str) -> str:
    if "&" in text and _ENTITY.search(text):
        import html

        text = _ENTITY.sub(lambda match: html.unescape(match[0]), text)
    if not text.isascii():
        text = unicodedata.normalize("NFC", text.translate(_INVISIBLE))
    text = " ".join(text.split())
    if "," in text and not _NOBODY.fullmatch(text):
        text = _COMMA.sub(", ", text).strip(", ")
    return without_extras(text)


def not_a_player(name: str) -> str | None:
    """Why a cleaned name names nobody: `no player` or `unnamed player`; None when it does."""
    if _NOBODY.fullmatch(name):
        return NO_PLAYER
    if _UNNAMED.fullmatch(name):
        return UNNAMED_PLAYER
    return None


def without_extras(name: str) -> str:
    """A name with single blanks without titles and the code of a country, unless nothing else would be left.

    Only what can hardly be a name is taken away: `Mrs.` and `Miss` stay, because they tell a wife from her husband, and
    so does `Dr` alone after a comma, which may be short for Dragoljub.
    """
    if not _PERHAPS.search(name):
        return name
    country = _COUNTRY.search(name)
    if country and country[1] in COUNTRIES:
        name = name[: country.start()] or name
    name = _IN_BRACKETS.sub("", name) or name
    name = _LEADING.sub("", name, count=1) if _LEADING.match(name) else name
    _, comma, given = name.partition(", ")
    if comma and given:
        name = _AFTER_COMMA.sub("", name, count=1)
        if " " in given:
            name = _TRAILING.sub("", name)
    return name


def name_key(name: str, matching: NameMatching = "folded") -> str:
    """The key of a cleaned name: surname, comma and given names, or the words alone where there is no comma.

    The code of a country behind given names (`Ivanov, S RUS`) follows a second comma. Dots vanish and initials are
    single letters: `Blackburne, J.H.`, `Blackburne, J H` and `Blackburne, JH` are the same. Case, accents and hyphens
    count with `clean` only. A name that is nothing but signs is its own key.
    """
    if _PLAIN.fullmatch(name):
        return name if matching == "clean" else name.lower()
    surname, comma, given = name.partition(",")
    country = ""
    if given and not surname.isupper():
        given, country = _without_country(given)
        given = _INITIALS.sub(lambda match: " ".join(match[0]), given)
    parts = [_words(part, matching) for part in ((surname, given, country) if comma else (surname,))]
    key = ", ".join(part for part in parts if part)
    return key or name


def name_keys(names: Sequence[str], matching: NameMatching = "folded") -> list[str]:
    """`name_key` of each name, in a fraction of the time."""
    keys = list(names) if matching == "clean" else [name.lower() for name in names]
    commas = [number for number, name in enumerate(names) if name.count(",") > 1]
    for number in {*_UNLIKE_ITS_KEY.among(names).tolist(), *commas}:
        keys[number] = name_key(names[number], matching)
    return keys


def comma_keys(key: str) -> Iterator[str]:
    """The keys that a key without a comma may stand for: `First Last` and `Last First`, cut at any word."""
    words = key.split() if "," not in key else []
    for cut in range(1, len(words)):
        yield f"{' '.join(words[cut:])}, {' '.join(words[:cut])}"
        yield f"{' '.join(words[:cut])}, {' '.join(words[cut:])}"


def _without_country(given: str) -> tuple[str, str]:
    """Given names and the code of a country behind them, if there is one."""
    before, _, last = given.rstrip().rpartition(" ")
    return (before, last) if before.strip() and last in COUNTRIES else (given, "")


def _words(text: str, matching: NameMatching) -> str:
    return _DOTS.sub(" ", text).strip() if matching == "clean" else fold(text)
