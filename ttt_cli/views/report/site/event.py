"""The pages of an event: crosstable where everybody met everybody, standings with performances, all games."""

from collections.abc import Iterator
from functools import partial
from typing import Final

import numpy as np

from ttt_cli.views.report.site.book import Book
from ttt_cli.views.report.site.lines import Subject, field, promised, subject_pages, within
from ttt_cli.views.report.site.markup import link, number, points, result, table, turn
from ttt_cli.views.report.words import counted

_MOST_ACROSS: Final = 30
_STANDINGS: Final = 400
_COMPLETE: Final = 0.7  # of all pairs have met where everybody was to meet everybody
_HALVES: Final = ("0", "½", "1")
_TEN: Final = 10


def event_pages(book: Book) -> Iterator[tuple[str, str]]:
    """Name and text of each page of an event; games are listed where no crosstable shows them."""
    addresses = [event.page for event in book.events.all]
    return subject_pages(book.title, "Events of a few games", addresses, partial(_subject, book))


def _subject(book: Book, at: int) -> Subject:
    events, event = book.events, book.events.all[at]
    games: list[int] = events.games[slice(*events.starts[at : at + 2])].tolist()
    cells = _crosstable(book, at, games)
    facts = counted(len(games), "{} game", "{} games")
    year = turn(link(f"../years/{event.year}.html", str(event.year)))
    content, listed = [year, _standings(book, at, cells)], () if cells else _game_rows(book, games)
    return Subject(event.page or "", event.title, facts, facts, content, "rounds", listed, event.year)


def _standings(book: Book, at: int, cells: list[str]) -> str:
    """Everybody by points; `cells` are those of the crosstable in each row, where there is one."""
    events, links = book.events, book.of_players.links("../players/")
    skills = dict(_skills(book, at))
    first, end = events.entry_starts[at : at + 2].tolist()
    rows = []
    for k in range(first, min(end, first + _STANDINGS)):
        player = int(events.player[k])
        start = f"<tr><td>{events.rank[k]}<td>{links[player]}{cells[k - first] if cells else ''}<td>"
        counts = (events.points[k], events.played[k], events.expected[k])
        told = points(events.performance[k]), points(skills.get(player))
        rows.append(start + "<td>".join([*map(number, counts), *told]))
    across = [str(place + 1) for place in range(end - first)] if cells else []
    heads = ("#place", "player", *across, "#points", "#games", "#expected", "#performance", "#skill")
    return table("crosstable" if cells else "standings", heads, rows, "cross" if cells else "")


def _skills(book: Book, at: int) -> Iterator[tuple[int, float]]:
    """The skill of each player of an event at the end of its year."""
    years, events = book.years, book.events
    year = events.all[at].year
    for player in events.player[slice(*events.entry_starts[at : at + 2].tolist())].tolist():
        start, end = years.starts[player : player + 2].tolist()
        place = start + int(np.searchsorted(years.year[start:end], year))
        if place < end:
            yield player, float(years.mean[place])


def _crosstable(book: Book, at: int, games: list[int]) -> list[str]:
    """The cells of each player's row, results in the order of games; nothing where many did not meet."""
    events = book.events
    order = events.player[slice(*events.entry_starts[at : at + 2].tolist())].tolist()
    pairs = len(order) * (len(order) - 1)
    if len(order) > _MOST_ACROSS or len(games) < _COMPLETE * pairs / 2:
        return []
    met: dict[tuple[int, int], list[str]] = {}
    for _, white, black, outcome in _in_order(book, games):
        met.setdefault((white, black), []).append(_HALVES[outcome])
        met.setdefault((black, white), []).append(_HALVES[2 - outcome])
    if len(met) < _COMPLETE * pairs:
        return []
    return [
        "".join("<td>·" if one == other else f"<td>{_results(met.get((one, other), []))}" for other in order)
        for one in order
    ]


def _results(found: list[str]) -> str:
    """The results of one against another; of a long match in groups of ten."""
    return " ".join("".join(found[at : at + _TEN]) for at in range(0, len(found), _TEN))


def _game_rows(book: Book, games: list[int]) -> Iterator[tuple[str, str]]:
    """The games of an event by round, then date; the links are in the standings."""
    played, names, texts = book.played, book.of_players.fields("../players/"), book.played.texts
    for game, white, black, outcome in _in_order(book, games):
        expected = played.chance[game, 2] + played.chance[game, 1] / 2.0
        told = (
            field(texts[played.round[game]]),
            within(played.dates[game], played.year[game]),
            names[white],
            names[black],
            f"{result(outcome)}–{result(2 - outcome)}",
            promised(expected),
        )
        yield "", "\t".join(told)


def _in_order(book: Book, games: list[int]) -> Iterator[tuple[int, int, int, int]]:
    """Games by round, date, and as read: each with White, Black and the outcome."""
    played = book.played
    for game in sorted(
        games, key=lambda game: (_numbers(played.texts[played.round[game]]), played.days[game])
    ):
        yield game, int(played.white[game]), int(played.black[game]), int(played.outcome[game])


def _numbers(round_: str) -> tuple[float, ...]:
    """A round as its numbers, for sorting: 2.1 before 10.1; what has none comes last."""
    found = tuple(float(part) for part in round_.replace("/", ".").split(".") if part.strip().isdecimal())
    return found or (float("inf"),)
