"""Names that do not stand for one person: several players together, and computers."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from ttt_cli.folding import fold
from ttt_cli.games.players.names import Neighbours

_LINKS: Final = ("and", "with", "und", "mit", "et", "avec", "och")
_SEVERAL: Final = (
    "allies", "alliierte", "allierte", "amateurs", "beratende", "comite", "comité", "committee", "consultants",
    "consultation", "consulting", "consultanten", "consultierende", "members", "mitglieder", "others", "partners",
    "team",
)  # fmt: skip
_CHESS: Final = ("chess", "schach", "echecs", "échecs", "ajedrez", "scacchi", "schaak")
_CLUBS: Final = ("club", "klub", "circle", "gesellschaft", "verein")

_JOINED: Final = re.compile(r"\w\.?\s*[/+&:]\s*\w")
_AND: Final = re.compile(rf"\w\.? (?:{'|'.join(_LINKS)}) (?!de[rs]? |von |zu )\w")
_TOGETHER: Final = re.compile(
    rf"\b(?:{'|'.join(_SEVERAL)}|et al|rest of (?:the )?world|the world)\b|"
    rf"\b(?:{'|'.join(_CHESS)})\s?(?:{'|'.join(_CLUBS)})\b|"
    r"\bcercle (?:d|des) "
)
_ENGINES: Final = """\
alfil, alphazero, andscacs, arasan, aristarch, berserk, booot, chess tiger, chessica, chessmaster, chiron,
crafty, cray blitz, critter, dark thought, deep blue, deep fritz, deep junior, deep shredder, deep sjeng,
deep thought, delfi, diep, ethereal, fairy max, fat fritz, gambit tiger, glaurung, gnu chess,
gnuchess, gull chess, hiarcs, hitech, houdini, isichess, kaissa, kallisto,
koivisto, komodo, lc0, lczero, leela, leela chess zero, leelenstein, mchess, mchess pro, mephisto,
minic, naum, nightmare chess, novag, pedone, pharaon, pro deo, rubichess, ruffian,
rybka, saitek, scorpio chess, seer chess, shredder, sjeng, slow chess, smarthink,
stockfish, strelka, toga, torch chess, virtual chess, wchess, xiphos, yace, zappa,
zarkov"""
# Names of people too, and so engines only with a version or a mark.
_ALSO_NAMES: Final = """\
belle, conchess, fidelity, fire, fritz, fruit, gandalf, genius, gull, hydra, junior, king,
nimzo, now, phoenix, rebel, sargon, socrates, spike, tiger, wasp"""


def _split(names: str) -> list[str]:
    return re.split(r",\s+", names)


def _either(names: str) -> str:
    """A pattern for one of the names, longer ones first."""
    return "|".join(sorted(_split(names), key=len, reverse=True))


_MARKS: Final = ("comp", "computer", "engine", "program")
_MARK: Final = rf"(?:{'|'.join(_MARKS)}|chess computer)"
_MARKED: Final = re.compile(_MARK, re.IGNORECASE)
_VERSION: Final = r"(?:\s?(?:x|v)?\d[\w ]*| (?:dev|nnue|pro|master|exp|mmx|ultra|beta|mp)\b[\w ]*)"
_ENGINE: Final = re.compile(
    rf"{_MARK}(?: [\w ]+)?|[\w ]+ {_MARK}|"
    rf"(?:the )?(?:{_either(_ENGINES)})(?:{_VERSION}| on [\w ]+| \w+ (?:mmx|\d+)[\w ]*)?|"
    rf"(?:the )?(?:{_either(_ALSO_NAMES)})(?:{_VERSION}| on [\w ]+| \w+ \d[\w ]*)|"
    r"(?:fidelity|mephisto|novag|saitek) [\w ]+"
)
_ALL_CAPITALS: Final = re.compile(r"(?:DEEP )?(?:FRITZ|JUNIOR|HYDRA|GENIUS|REBEL|TIGER|FRUIT|NIMZO)\b.*")

# A name without any of these characters is that of a team or an engine only if it has one of these words.
_SLOW_PATH: Final = Neighbours(r"[^\nA-Za-z0-9 ,.-]|[A-Za-z][0-9]")
_TELLING: Final = frozenset(
    {"world", "cercle", *_LINKS, *_SEVERAL, *_CHESS, *(chess + club for chess in _CHESS for club in _CLUBS)}
    | {*_MARKS, *(name.split()[0] for name in _split(f"{_ENGINES}, {_ALSO_NAMES}"))}
)
_AT_ONCE: Final = 256  # names whose words are looked at together


def is_team(name: str) -> bool:
    """Whether a name stands for several players together: `Alekhine/Reilly`, `A. & B.`, `Allies`."""
    linked = name.count(",") != 1 and _AND.search(name)
    return bool(linked or _JOINED.search(name) or _TOGETHER.search(name.lower()))


def is_engine(name: str) -> bool:
    """Whether a name is a chess program or computer.

    Names that people have too (Fritz, Junior) count with a version, a mark such as `Comp`, or in capitals. A comma
    belongs to people, unless `Computer` or the like stands on one side of it.
    """
    if "," in name:
        return any(_MARKED.fullmatch(part.strip()) for part in name.split(","))
    return bool(_ENGINE.fullmatch(fold(name)) or _ALL_CAPITALS.fullmatch(name))


def teams_and_engines(names: Sequence[str]) -> tuple[list[bool], list[bool]]:
    """Which of the names are teams, and which are engines and no teams."""
    teams, engines = [False] * len(names), [False] * len(names)
    for number in {*_SLOW_PATH.among(names).tolist(), *_telling(names)}:
        teams[number] = is_team(names[number])
        engines[number] = not teams[number] and is_engine(names[number])
    return teams, engines


def _telling(names: Sequence[str]) -> Iterator[int]:
    """The numbers of names that have a telling word."""
    for first in range(0, len(names), _AT_ONCE):
        text = "\n".join([name.replace("\n", " ") for name in names[first : first + _AT_ONCE]]).lower()
        words = text.replace(",", " ").replace(".", " ").replace("-", " ")
        if not _TELLING.isdisjoint(words.split()):
            lines = enumerate(words.split("\n"), first)
            yield from (number for number, line in lines if not _TELLING.isdisjoint(line.split()))
