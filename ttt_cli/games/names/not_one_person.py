"""Names that do not stand for one person: several players together, and computers."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from ttt_cli.folding import fold

_JOINED: Final = re.compile(r"\w\.?\s*[/+&:]\s*\w")
_AND: Final = re.compile(r"\w\.? (?:and|with|und|mit|et|avec|och) (?!de[rs]? |von |zu )\w")
_TOGETHER: Final = re.compile(
    r"\b(?:allies|alliierte|allierte|amateurs|beratende|comit[eé]|committee|consultants|consultation|consulting|"
    r"consultanten|consultierende|et al|members|mitglieder|others|partners|rest of (?:the )?world|team|the world)\b|"
    r"\b(?:chess|schach|[eé]checs|ajedrez|scacchi|schaak)\s?(?:club|klub|circle|gesellschaft|verein)\b|"
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


def _either(names: str) -> str:
    """A pattern for one of the names, longer ones first."""
    return "|".join(sorted(re.split(r",\s+", names), key=len, reverse=True))


_MARK: Final = r"(?:comp|computer|engine|program|chess computer)"
_MARKED: Final = re.compile(_MARK, re.IGNORECASE)
_VERSION: Final = r"(?:\s?(?:x|v)?\d[\w ]*| (?:dev|nnue|pro|master|exp|mmx|ultra|beta|mp)\b[\w ]*)"
_ENGINE: Final = re.compile(
    rf"{_MARK}(?: [\w ]+)?|[\w ]+ {_MARK}|"
    rf"(?:the )?(?:{_either(_ENGINES)})(?:{_VERSION}| on [\w ]+| \w+ (?:mmx|\d+)[\w ]*)?|"
    rf"(?:the )?(?:{_either(_ALSO_NAMES)})(?:{_VERSION}| on [\w ]+| \w+ \d[\w ]*)|"
    r"(?:fidelity|mephisto|novag|saitek) [\w ]+"
)
_ALL_CAPITALS: Final = re.compile(r"(?:DEEP )?(?:FRITZ|JUNIOR|HYDRA|GENIUS|REBEL|TIGER|FRUIT|NIMZO)\b.*")


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


def teams_and_engines(names: Iterable[str]) -> tuple[list[bool], list[bool]]:
    """Which of the names are teams, and which are engines and no teams."""
    teams, engines = [], []
    for name in names:
        teams.append(is_team(name))
        engines.append(not teams[-1] and is_engine(name))
    return teams, engines
