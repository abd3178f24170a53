"""The pages of a player: career, years, events, opponents, best wins, and every game."""

from collections.abc import Iterator
from functools import partial
from typing import Any, Final

import numpy as np

from ttt_cli.arrays import Array, Places
from ttt_cli.views.players.player import facts_line
from ttt_cli.views.report.site.book import FEW_GAMES, Book
from ttt_cli.views.report.site.curve import career
from ttt_cli.views.report.site.lines import Subject, promised, subject_pages, within
from ttt_cli.views.report.site.markup import (
    chance,
    link,
    note,
    number,
    points,
    record,
    result,
    row,
    section,
    skill,
    table,
)  # fmt: skip
from ttt_cli.views.report.words import counted, say, say_line
from ttt_cli.views.run import axis_title

_MOST_OPPONENTS: Final = 300
_BEST_WINS: Final = 10


class Side:
    """The games of one player from his side; arrays of shape (games,), `score` and `expected` per game, 0 to 1."""

    def __init__(self, book: Book, player: int) -> None:
        played = book.played
        games, starts = played.by_player
        self.games: Places = games[starts[player] : starts[player + 1]]
        self.is_white = played.white[self.games] == player
        self.way = np.where(played.neutral[self.games], 2, ~self.is_white)  # a place in `book.sides`
        self.opponent = np.where(self.is_white, played.black[self.games], played.white[self.games])
        outcome = played.outcome[self.games]
        self.outcome = np.where(self.is_white, outcome, 2 - outcome)
        chances = played.chance[self.games]
        self.win = np.where(self.is_white, chances[:, 2], chances[:, 0])
        self.expected = self.win + chances[:, 1] / 2.0
        self.score = self.outcome / 2.0
        self.weight = played.weight[self.games]
        self.year = played.year[self.games]

    def sums(self, group: Any) -> tuple[Any, Array, Array, Array, Array, Array, Array]:
        """By group: its key, games, wins, draws, losses, points, points expected; weighted."""
        keys, place = np.unique(group, return_inverse=True)

        def total(values: Any) -> Array:
            return np.bincount(place, self.weight * values, len(keys)).astype(np.float64)

        won, drawn, lost = (total(self.outcome == one) for one in (2, 1, 0))
        return keys, won + drawn + lost, won, drawn, lost, won + drawn / 2.0, total(self.expected)


def player_pages(book: Book) -> Iterator[tuple[str, str]]:
    """Name and text of each page of a player."""
    addresses = [one.page for one in book.people]
    return subject_pages(book.title, "Players of a few games", addresses, partial(_subject, book))


def _subject(book: Book, player: int) -> Subject:
    one, side = book.people[player], Side(book, player)
    facts, games = say_line(facts_line(vars(one))), _games(book, player, side)
    return Subject(one.page or "", one.name, facts, "", _before(book, player, side), "record", games)


def _before(book: Book, player: int, side: Side) -> list[str]:
    """What stands before the games."""
    also = book.spellings.get(book.people[player].name)
    return [
        note(say("also written: {}", "; ".join(also)) if also else ""),
        *_career(book, player, side),
        section("Opponents", _opponents(book, side)),
        section("Best wins", _best_wins(book, side) if len(side.games) > FEW_GAMES else ""),
    ]


def _career(book: Book, player: int, side: Side) -> list[str]:
    """The curve, and the years with games or a rank; nothing of a few games in years without a rank."""
    one, years = book.people[player], book.years
    span = slice(*years.starts[player : player + 2].tolist())
    year, mean, sd, games = (
        column[span].tolist() for column in (years.year, years.mean, years.sd, years.games)
    )
    ranks = [book.rankings[at].rank.get(player) if at in book.rankings else None for at in year]
    if len(side.games) <= FEW_GAMES and not any(ranks):
        return []
    keys, count, *_, scored, expected = side.sums(side.year)
    by_year = {key: (n, s, e) for key, n, s, e in zip(keys.tolist(), count, scored, expected, strict=True)}
    beside = book.beside
    rated = beside.by_year(one.name, book.run.meta.period) if beside else {}
    rows = []
    for at, m, s, rank in zip(year, mean, sd, ranks, strict=True):
        if rank is None and at not in by_year:
            continue
        told = map(number, by_year[at]) if at in by_year else ("", "", "")
        rating = (points(rated.get(at)),) if rated else ()
        rows.append(row(link(f"../years/{at}.html", str(at)), str(rank or ""), skill(m, s), *told, *rating))
    heads = ("year", "#rank", "#skill", "#games", "#points", "#expected", *(["#rating"] if rated else []))
    dotted = say("Dotted and rating: {}, scaled", beside.name) if beside and rated else ""
    return [
        career(one.name, say_line(axis_title(book.run.scale)), year, mean, sd, games, rated),
        note(dotted),
        section("Years", table("years", heads, rows)),
    ]


def _opponents(book: Book, side: Side) -> str:
    """Those met more than once, the most often met first."""
    links = book.of_players.links("")
    keys, count, won, drawn, lost, scored, expected = side.sums(side.opponent)
    often = np.flatnonzero(count > 1)
    order = often[np.lexsort((keys[often], -count[often]))][:_MOST_OPPONENTS]
    rows = [
        row(
            links[keys[at]], number(count[at]), record(won[at], drawn[at], lost[at]),
            number(scored[at]), number(expected[at]),
        )
        for at in order.tolist()
    ]  # fmt: skip
    more = len(keys) - len(order)
    others = counted(more, "{} other in fewer games", "{} others in fewer games")
    heads = ("opponent", "#games", "#record", "#points", "#expected")
    return table("opponents", heads, rows) + note(others if more else "") if rows else ""


def _best_wins(book: Book, side: Side) -> str:
    won = np.flatnonzero((side.outcome == 2) & (side.win < 0.5))
    best = won[np.lexsort((side.games[won], side.win[won]))][:_BEST_WINS].tolist()
    dates, events, links = book.played.dates, book.events.of_game, book.of_players.links("")
    rows = [
        row(
            dates[side.games[at]], book.sides[side.way[at]], links[side.opponent[at]],
            chance(side.win[at]), book.event_names[events[side.games[at]]],
        )
        for at in best
    ]  # fmt: skip
    return table("best wins", ("date", "colour", "opponent", "#chance to win", "event"), rows) if rows else ""


def _games(book: Book, player: int, side: Side) -> Iterator[tuple[str, str]]:
    """Lines of every event and of the games there, by date of the first; games of none stand by year.

    An event: year, name, place, games, points, expected and performance. A game: date without that year, colour,
    opponent, result and expected.
    """
    dates, fields, titles = book.played.dates, book.of_players.fields(""), book.of_events.fields("../events/")
    entry = {int(book.entry_event[at]): at for at in book.entries_of(player)}
    event = book.events.of_game[side.games]
    group = np.where(event >= 0, event, -1 - side.year)
    _, first, place = np.unique(group, return_index=True, return_inverse=True)
    last = None
    of_games = side.games, side.way, side.opponent, side.outcome, side.expected, side.weight
    order = np.argsort(first[place], kind="stable")
    for game, way, opponent, outcome, expected, weight, at, year in zip(
        *(column[order].tolist() for column in (*of_games, group, side.year)), strict=True
    ):
        if at != last:
            above = f"{year}\t{titles[at] if at >= 0 else ''}"
            yield "", f"{above}\t{_entry(book, entry[at])}" if at >= 0 else above
            last = at
        times = "" if weight == 1 else f" × {weight:.10g}"
        told = (
            within(dates[game], year),
            book.sides[way],
            fields[opponent],
            result(outcome) + times,
        )
        yield above, "\t".join([*told, promised(expected)])


def _entry(book: Book, at: int) -> str:
    events = book.events
    start, end = events.entry_starts[book.entry_event[at] :][:2].tolist()
    place = say("{} of {}", events.rank[at], end - start) if end - start > 2 else ""
    cells = number(events.played[at]), number(events.points[at]), number(events.expected[at])
    return "\t".join([place, *cells, points(events.performance[at])])
