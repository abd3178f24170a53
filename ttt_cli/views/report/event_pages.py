"""The pages of events: standings or a crosstable, and games."""

import math
from collections.abc import Mapping
from typing import Final, NamedTuple

from ttt_cli.views.report import markup
from ttt_cli.views.report.book import Book
from ttt_cli.views.report.subjects import Subject
from ttt_cli.views.rows import counted

_MOST_ACROSS: Final = 30
_STANDINGS: Final = 400
_COMPLETE: Final = 0.7  # of all pairs have met where everybody was to meet everybody
_TEN: Final = 10


class Round(NamedTuple):
    """The position of a game in its event: the numbers of the round, 2.1 before 10.1 and none last, and the date."""

    numbers: list[float]
    days: int


def event_subject(book: Book, index: int) -> Subject:
    """The page of an event, or a part of a shared one; games are listed where no crosstable shows them."""
    event = book.events.rows[index]
    games = sorted(book.events.games_of(index).tolist(), key=lambda game: _round(book, game))
    columns = _crosstable(book, index, games)
    facts = counted(len(games), "game") + (f"; {event.kind}: no performance" if event.kind else "")
    year = markup.turn(markup.link(f"../years/{event.year}.html", str(event.year)))
    lines = [] if columns else [_game_line(book, event.year, game) for game in games]
    content = [year, _standings(book, index, columns)]
    address = book.event_pages.addresses[index] or ""
    return Subject(address, event.title, facts, content, "rounds", lines, event.year)


def _round(book: Book, game: int) -> Round:
    played = book.played
    parts = played.texts[played.round[game]].replace("/", ".").split(".")
    numbers = [float(part) for part in parts if part.strip().isdecimal()]
    return Round(numbers or [math.inf], int(played.days[game]))


def _game_line(book: Book, year: int, game: int) -> str:
    """Round, date, players, result and White's expected score."""
    played = book.played
    names = book.player_pages.fields("../players/")
    cells = (
        markup.field(played.texts[played.round[game]]), markup.within(played.dates[game], year),
        names[played.white[game]], names[played.black[game]], markup.result(played.outcome[game]),
        markup.share(played.expected(game)),
    )  # fmt: skip
    return "\t".join(cells)


def _standings(book: Book, index: int, columns: Mapping[str, list[str]]) -> str:
    """Everybody by points, with the skill at the end of the year; `columns`: those of a crosstable, if any."""
    entries = book.events.entries
    year = book.events.rows[index].year
    links = book.player_pages.links("../players/")
    rows = entries.of(index)
    rows = slice(rows.start, min(rows.stop, rows.start + _STANDINGS))
    players = entries.player[rows].tolist()
    table = {
        "#place": [str(rank) for rank in entries.rank[rows]],
        "player": [links[player] for player in players],
        **columns,
        "#points": [markup.number(points) for points in entries.points[rows].tolist()],
        "#games": [markup.number(games) for games in entries.played[rows].tolist()],
        "#expected": [markup.number(expected) for expected in entries.expected[rows].tolist()],
        "#performance": [markup.points(skill) for skill in entries.performance[rows].tolist()],
        "#skill": [markup.points(book.skills.mean_in(player, year)) for player in players],
    }
    return markup.table("crosstable" if columns else "standings", table, "cross" if columns else "")


def _crosstable(book: Book, index: int, games: list[int]) -> dict[str, list[str]]:
    """The columns of a crosstable, results in the order of games; nothing where many did not meet."""
    played = book.played
    players = book.events.entries.player[book.events.entries.of(index)].tolist()
    pairs = len(players) * (len(players) - 1)
    if len(players) > _MOST_ACROSS or len(games) < _COMPLETE * pairs / 2:
        return {}
    results: dict[tuple[int, int], list[str]] = {}
    for game in games:
        white = played.white[game]
        black = played.black[game]
        outcome = played.outcome[game]
        results.setdefault((white, black), []).append(markup.RESULTS[outcome])
        results.setdefault((black, white), []).append(markup.RESULTS[2 - outcome])
    if len(results) < _COMPLETE * pairs:
        return {}
    return {
        str(number): [
            "·" if player == opponent else _grouped(results.get((player, opponent), [])) for player in players
        ]
        for number, opponent in enumerate(players, 1)
    }


def _grouped(results: list[str]) -> str:
    """Results of one player against another; of a long match in groups of ten."""
    tens = [results[start : start + _TEN] for start in range(0, len(results), _TEN)]
    return " ".join(["".join(ten) for ten in tens])
