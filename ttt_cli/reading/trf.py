"""FIDE's tournament report files (TRF16 and TRF26): a line per player with the opponent and result of every round.

Each game is written twice, with each of its players, and points are printed: all of it has to agree. Positions are
those of the handbook of FIDE (C.04 Annex 2, TRF26), counted from 1 there and from 0 here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from ttt_cli.config.schema import DataConfig
from ttt_cli.reading.batches import Table, TextRecords
from ttt_cli.reading.text import decode
from ttt_cli.support.errors import DataError

_RANK: Final = slice(4, 8)
_TITLE: Final = slice(10, 13)
_NAME: Final = slice(14, 47)
_ID: Final = slice(57, 68)
_POINTS: Final = slice(80, 84)
_ROUNDS: Final = 91  # where the first round begins
_ROUND: Final = 10  # characters of a round
_CELL: Final = re.compile(
    r"(?P<opponent>[ \d]{4}) (?P<colour>[ wb-]) (?P<result>[ 10=+\-wdlhfuz])[ ]{2}", re.IGNORECASE
)
_DAY: Final = re.compile(r"(\d{4})[/.-](\d\d)[/.-](\d\d)")
_SHORT_DAY: Final = re.compile(r"(\d\d)[/.-](\d\d)[/.-](\d\d)")
_SCORE: Final = re.compile(r"([WDLAP])\s*(\d{1,2}(?:\.\d{1,2})?)")
_OTHER_POINTS: Final = ("XXS", "299")  # codes of lines that change points in ways that are not read
# Results of both players of a game, and how the game is written for White and Black
_PLAYED: Final = {"10": "1-0", "01": "0-1", "==": "1/2-1/2", "00": "0-0"}
_NOT_PLAYED: Final = {
    "WL": "1-0",
    "LW": "0-1",
    "DD": "1/2-1/2",
    "+-": "1-0",
    "-+": "0-1",
    "--": "0-0",
}
_OF_NOBODY: Final = frozenset("HFUZ +-=01")  # results against no opponent
# Kinds of points of `162` by result; H, F, U and Z are byes
_KINDS: Final = {
    **dict.fromkeys("1W+F", "W"), **dict.fromkeys("=DH", "D"), **dict.fromkeys("0L", "L"),
    **dict.fromkeys("-Z ", "A"), "U": "P",
}  # fmt: skip
_USUAL_POINTS: Final = {"W": 1.0, "D": 0.5, "L": 0.0, "A": 0.0}
_EXACT: Final = 1e-6


class _RoundCell(NamedTuple):
    """What a player's line says of a round: the opponent's number, 0 for none; w, b or -; the result."""

    opponent: int
    colour: str
    result: str


@dataclass(frozen=True)
class _Player:
    """A player's line; `points` are None where they are not printed."""

    line: int
    name: str
    fide_id: str
    points: float | None
    rounds: tuple[_RoundCell, ...]


@dataclass
class _Report:
    """The lines of a file: of the tournament by code, and the players by starting rank."""

    name: str
    texts: dict[str, str] = field(default_factory=dict)
    dates: tuple[str, ...] = ()  # of rounds
    points: dict[str, float] = field(default_factory=lambda: dict(_USUAL_POINTS))
    has_usual_points: bool = True
    players: dict[int, _Player] = field(default_factory=dict)

    def error(self, line: int, message: str) -> DataError:
        """An error in a line."""
        return DataError(message, where=f"{self.name}:{line}")


def read_trf(blocks: Iterator[bytes], data: DataConfig, name: str) -> Table:  # noqa: ARG001
    """All games of a file. Raises DataError where its lines do not agree with each other."""
    report = _read_lines(decode(b"".join(blocks)), name)
    if not report.players:
        raise DataError("has no players", where=name, hint="lines of players begin with 001")
    records = TextRecords()
    for rank, player in report.players.items():
        _check_points(report, player)
        for index, cell in enumerate(player.rounds):
            if not cell.opponent:
                continue
            opponent = _opponent(report, rank, player, index)
            if cell.colour == "b" or (cell.colour != "w" and cell.opponent < rank):
                continue  # it is recorded with the other player
            results = cell.result + opponent.rounds[index].result
            is_played = results in _PLAYED
            records.add(
                player.line,
                date=_date(report, index),
                white=player.name,
                black=opponent.name,
                result=_PLAYED[results] if is_played else _NOT_PLAYED[results],
                event=report.texts.get("012", ""),
                site=report.texts.get("022", ""),
                round=str(index + 1),
                termination="" if is_played else "unplayed",
                white_id=player.fide_id,
                black_id=opponent.fide_id,
            )
    return records.table()


def _read_lines(text: str, name: str) -> _Report:
    report = _Report(name)
    for number, line in enumerate(text.splitlines(), 1):
        code = line[:3]
        if code == "001":
            _add_player(report, number, line.rstrip())
        elif code == "132":
            report.dates = tuple(_cells(line[_ROUNDS:]))
        elif code == "162":
            report.points |= {kind: float(points) for kind, points in _SCORE.findall(line[3:])}
        elif code in _OTHER_POINTS:
            report.has_usual_points = False
        elif code in ("012", "022", "042", "052"):
            report.texts[code] = line[3:].strip()
    return report


def _cells(text: str) -> Iterator[str]:
    """Pieces of a line, one a round."""
    for begin in range(0, len(text), _ROUND):
        yield text[begin : begin + _ROUND].strip()


def _add_player(report: _Report, number: int, line: str) -> None:
    """Read a player's line. Raises DataError."""
    rank_text = line[_RANK].strip()
    if not rank_text.isdecimal() or int(rank_text) == 0 or line[3:4].strip() or line[8:9].strip():
        raise report.error(number, f"no starting rank in columns 5 to 8: {line[_RANK]!r}")
    rank = int(rank_text)
    if rank in report.players:
        raise report.error(
            number,
            f"starting rank {rank} has two players, the first in line {report.players[rank].line}",
        )
    name = " ".join(line[_NAME].split())
    if not name:
        raise report.error(number, f"player {rank} has no name in columns 15 to 47")
    points_text = line[_POINTS].strip()
    try:
        points = float(points_text) if points_text else None
    except ValueError:
        message = f"points of player {rank} in columns 81 to 84 are no number: {points_text!r}"
        raise report.error(number, message) from None
    fide_id = line[_ID].strip()
    rounds: list[_RoundCell] = []
    for begin in range(_ROUNDS, len(line), _ROUND):
        columns = (
            f"round {len(rounds) + 1} of player {rank}, columns {begin + 1} to {begin + _ROUND - 2}"
        )
        text = line[begin : begin + _ROUND].ljust(_ROUND)
        match = _CELL.fullmatch(text)
        if match is None:
            raise report.error(
                number, f"{columns}: {text.rstrip()!r} is no opponent, colour and result"
            )
        opponent_text = match["opponent"].strip() or "0"
        if not opponent_text.isdecimal():
            raise report.error(number, f"{columns}: {match['opponent']!r} is no starting rank")
        colour = match["colour"].lower().replace(" ", "-")
        rounds.append(_RoundCell(int(opponent_text), colour, match["result"].upper()))
    report.players[rank] = _Player(
        number, name, "" if set(fide_id) <= {"0"} else fide_id, points, tuple(rounds)
    )


def _opponent(report: _Report, rank: int, player: _Player, index: int) -> _Player:
    """The opponent of a player in a round. Raises DataError unless both lines agree."""
    cell = player.rounds[index]
    where = f"round {index + 1} of player {rank}"
    opponent = report.players.get(cell.opponent)
    if opponent is None or cell.opponent == rank:
        raise report.error(player.line, f"{where}: there is no opponent {cell.opponent}")
    answer = opponent.rounds[index] if index < len(opponent.rounds) else _RoundCell(0, "-", " ")
    lines = f"line {opponent.line}"
    if answer.opponent != rank:
        raise report.error(
            player.line,
            f"{where}: opponent {cell.opponent}, whose opponent is {answer.opponent or 'nobody'} ({lines})",
        )
    results = cell.result + answer.result
    if results not in _PLAYED and results not in _NOT_PLAYED:
        raise report.error(
            player.line, f"{where}: result {cell.result!r} against {answer.result!r} in {lines}"
        )
    colours = {cell.colour, answer.colour}
    if colours != {"w", "b"} and (results in _PLAYED or colours != {"-"}):
        raise report.error(
            player.line, f"{where}: colour {cell.colour!r} against {answer.colour!r} in {lines}"
        )
    return opponent


def _check_points(report: _Report, player: _Player) -> None:
    """Raise DataError if the printed points are not those of the results."""
    total = 0.0
    points: Mapping[str, float] = {"P": report.points["W"], **report.points}
    for index, cell in enumerate(player.rounds):
        if not cell.opponent and cell.result not in _OF_NOBODY:
            raise report.error(
                player.line, f"round {index + 1}: result {cell.result!r} against nobody"
            )
        total += points[_KINDS[cell.result]]
    if (
        report.has_usual_points
        and player.points is not None
        and abs(total - player.points) > _EXACT
    ):
        raise report.error(
            player.line,
            f"{player.name} has {total:g} points by the results, and {player.points:g} in columns 81 to 84",
        )


def _date(report: _Report, index: int) -> str:
    """The date of a round, as exact as known: its own, else what the first and the last day have in common."""
    start = report.texts.get("042", "")
    first_day = _DAY.fullmatch(start)
    written = report.dates[index] if index < len(report.dates) else ""
    if (day := _DAY.fullmatch(written)) is not None:
        return "-".join(day.groups())
    short_day = _SHORT_DAY.fullmatch(written)
    if short_day is not None and first_day is not None:
        year, month, day_of_month = short_day.groups()
        century = int(first_day[1]) // 100
        is_next_century = first_day[1][2:] == "99" and year == "00"
        return f"{century + is_next_century}{year}-{month}-{day_of_month}"
    last_day = _DAY.fullmatch(report.texts.get("052", start))
    if first_day is None or last_day is None:
        return start
    same = []
    for first, last in zip(first_day.groups(), last_day.groups(), strict=True):
        if first != last:
            break
        same.append(first)
    return "-".join(same) or first_day[1]
