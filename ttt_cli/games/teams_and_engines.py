"""Names of teams and of chess programs, which are no persons."""

import re
from collections.abc import Sequence
from typing import Final

from ttt_cli.games.names import preselect
from ttt_cli.support.folding import fold

_LINKS: Final = ("and", "with", "und", "mit", "et", "avec", "och")
_SEVERAL: Final = (
    "allies", "alliierte", "allierte", "amateurs", "beratende", "comite", "comité", "committee", "consultants",
    "consultation", "consulting", "consultanten", "consultierende", "members", "mitglieder", "others", "partners",
    "team",
)  # fmt: skip
_CHESS_WORDS: Final = ("chess", "schach", "echecs", "échecs", "ajedrez", "scacchi", "schaak")
_CLUBS: Final = ("club", "klub", "circle", "gesellschaft", "verein")

_JOINED: Final = re.compile(r"\w\.?\s*[/+&:]\s*\w")
_AND: Final = re.compile(rf"\w\.? (?:{'|'.join(_LINKS)}) (?!de[rs]? |von |zu )\w")
_TOGETHER: Final = re.compile(
    rf"\b(?:{'|'.join(_SEVERAL)}|et al|rest of (?:the )?world|the world|vote chess)\b|"
    rf"\b(?:{'|'.join(_CHESS_WORDS)})\s?(?:{'|'.join(_CLUBS)})\b|"
    r"\bcercle (?:d|des) "
)
_ENGINES: Final = (
    "alfil|alphazero|andscacs|arasan|aristarch|berserk|booot|chess tiger|chessica|chessmaster|chiron|"
    "accoona toolbar|crafty|cray blitz|critter|dark thought|deep blue|deep fritz|deep junior|deep shredder|deep sjeng|"
    "deep thought|delfi|diep|ethereal|fairy max|fat fritz|gambit tiger|glaurung|gnu chess|"
    "gnuchess|gull chess|hiarcs|hiarcsx|hitech|houdini|isichess|kaissa|kallisto|"
    "koivisto|komodo|komodo dragon|lc0|lczero|leela|leela chess zero|leelenstein|mac ?hack|mac ?hack vi|mchess|"
    "mchess pro|mephisto|minic|naum|nightmare chess|novag|pconners|pedone|pharaon|pocket fritz|pro deo|"
    "rubichess|ruffian|rybka|saitek|scorpio chess|seer chess|shredder|sjeng|slow chess|smarthink|"
    "stockfish|strelka|toga|torch chess|virtual chess|wchess|x3d fritz|xiphos|yace|zappa|"
    "zarkov"
)
# Names of people too, and so engines only with a version or a mark.
_ALSO_NAMES: Final = (
    "belle|conchess|fidelity|fire|fritz|fruit|gandalf|genius|gull|hydra|junior|king|"
    "nimzo|now|phoenix|rebel|sargon|socrates|spike|tiger|wasp"
)

_MARKS: Final = ("comp", "computer", "engine", "program", "programm", "programme")
_MARK: Final = rf"(?:{'|'.join(_MARKS)}|chess computer)"
# `Computer, Mephisto`, `Chess, Computer 1`, `Grandmaster (computer 1)`; Comp is a surname too
_MARKED_SURNAME: Final = re.compile(r"(?:chess )?(?:computer|engine|programm?e?)", re.IGNORECASE)
_MARKED_GIVEN: Final = re.compile(rf"(?:[\w ]+\()?{_MARK}(?: ?\d+)?\)?", re.IGNORECASE)
_VERSION: Final = (
    r"(?: (?:x|v)?\d[\w ]*| (?:dev|nnue|pro|master|exp|mmx|sss|ultra|beta|mp)\b[\w ]*)"
)
# Without a blank before it: `rybka2001` is the name of an account
_SHORT_VERSION: Final = r"v?1?\d(?: [\w ]+)?"
_ENGINE: Final = re.compile(
    rf"comp [\w ]+|{_MARK}(?: (?:\d+|(?:the )?(?:{_ENGINES}|{_ALSO_NAMES})\b)[\w ]*)?|\w+(?: \w+)? {_MARK}|"
    rf"(?:{_ENGINES}|fritz|junior|nimzo|rebel){_SHORT_VERSION}|"
    rf"(?:the )?(?:{_ENGINES})(?:{_VERSION}| on [\w ]+| \w+ (?:mmx|\d+)[\w ]*)?|"
    rf"(?:the )?(?:{_ALSO_NAMES})(?:{_VERSION}| on [\w ]+| \w+ \d[\w ]*)|"
    r"(?:fidelity|mephisto|novag|saitek) [\w ]+"
)
# `Abrok 5.0`, `Viridithas 14.0.1 64-bit`
_NUMBERED: Final = re.compile(
    r"[A-Za-z][\w'+-]*(?: [A-Za-z][\w'+-]*){0,2} v?\d{1,4}(?:\.\d+){1,3}[a-z]?(?: [\w.-]+)*"
)
_ALL_CAPITALS: Final = re.compile(
    r"(?:DEEP )?(?:BRUTUS|FRITZ|JUNIOR|HYDRA|GENIUS|REBEL|TIGER|FRUIT|NIMZO)(?: ?[\d.]+.*| on .*| CENTURY.*)?"
)

# A name without any of these characters is that of a team or an engine only if it has one of these words.
_UNUSUAL_FOR_PEOPLE: Final = r"[^\nA-Za-z0-9 ,.-]|[A-Za-z][0-9]|[0-9]\."
_INDICATIVE: Final = frozenset(
    (
        *("world", "cercle", *_LINKS, *_SEVERAL, *_CHESS_WORDS, *_MARKS),
        *(chess_word + club for chess_word in _CHESS_WORDS for club in _CLUBS),
        *f"{_ENGINES}|{_ALSO_NAMES}".replace(" ?", "").replace("|", " ").split(),
        *("mac", "brutus"),
    )
)


def is_team(name: str) -> bool:
    """Whether a name is of several players together: `Alekhine/Reilly`, `A. & B.`, `Allies`."""
    is_linked = name.count(",") != 1 and _AND.search(name) is not None
    is_joined = _JOINED.search(name) is not None
    return is_linked or is_joined or _TOGETHER.search(name.lower()) is not None


def may_be_club(name: str) -> bool:
    """Whether a name of several players may be that of one club: `Brighton & Hove Albion`, but not `Allies`."""
    return _TOGETHER.search(name.lower()) is None


def is_engine(name: str) -> bool:
    """Whether a name is a chess program or computer.

    Names that people have too (Fritz, Junior) need a version, a mark such as `Comp`, or capitals. A comma marks a
    person, except beside `Computer` or the like.
    """
    if "," in name:
        surname, *given_names = [part.strip() for part in name.split(",")]
        has_marked_surname = _MARKED_SURNAME.fullmatch(surname) is not None
        return has_marked_surname or any(_MARKED_GIVEN.fullmatch(part) for part in given_names)
    patterns_match = (
        _ENGINE.fullmatch(fold(name)) or _NUMBERED.fullmatch(name) or _ALL_CAPITALS.fullmatch(name)
    )
    return patterns_match is not None


def teams_and_engines(names: Sequence[str]) -> tuple[list[bool], list[bool]]:
    """Masks of the names of teams, and of engines that are no teams."""
    teams = [False] * len(names)
    engines = [False] * len(names)
    text = "\n".join([name.replace("\n", " ") for name in names]).lower()
    for sign in ",.-":
        text = text.replace(sign, " ")
    candidates = set(preselect(_UNUSUAL_FOR_PEOPLE, names))
    for number, words in enumerate(text.split("\n")):
        if not _INDICATIVE.isdisjoint(words.split()):
            candidates.add(number)
    for number in candidates:
        teams[number] = is_team(names[number])
        engines[number] = not teams[number] and is_engine(names[number])
    return teams, engines
