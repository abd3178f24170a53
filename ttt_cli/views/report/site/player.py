"""The pages of a player: career, years, events, opponents, best wins, and every game."""

from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from ttt_cli.arrays import Array, Places
from ttt_cli.views.players.player import facts_line
from ttt_cli.views.report.site.book import Book
from ttt_cli.views.report.site.curve import career
from ttt_cli.views.report.site.markup import (
    ROWS_A_PAGE,
    chance,
    link,
    note,
    number,
    page,
    parts,
    points,
    record,
    result,
    row,
    section,
    skill,
    table,
    turn,
)  # fmt: skip
from ttt_cli.views.run import axis_title

_FIRST_GAMES: Final = 500
_MOST_OPPONENTS: Final = 300
_BEST_WINS: Final = 10
_FEW: Final = 3  # games that are all there is to say
_HEADS: Final = ("date", "colour", "opponent", "#result", "#expected", "event")


class Side:
    """The games of one player from his side; arrays of shape (games,), `score` and `expected` per game, 0 to 1."""

    def __init__(self, book: Book, player: int) -> None:
        played = book.played
        games, starts = played.by_player
        self.games: Places = games[starts[player] : starts[player + 1]]
        self.is_white = played.white[self.games] == player
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


def player_pages(book: Book, player: int) -> Iterator[tuple[str, str]]:
    """Name and text of each page of a player who has one."""
    one, side = book.people[player], Side(book, player)
    rows = list(_game_rows(book, side))
    pieces = parts(rows, _FIRST_GAMES)
    files = [one.slug or "", *(f"{one.slug}~{at}" for at in range(2, len(pieces) + 1))]
    for at, piece in enumerate(pieces):
        around = turn(
            link(f"{files[at - 1]}.html", "earlier games") if at else "",
            link(f"{files[at + 1]}.html", "later games") if at + 1 < len(pieces) else "",
        )
        games = section("Games", around, table("games", _HEADS, piece), around)
        if at:
            content = [link(f"{one.slug}.html", one.name), games]
        else:
            also = book.spellings.get(one.name)
            content = [
                note(f"also written: {'; '.join(also)}") if also else "",
                *_career(book, player, side),
                *(_tables(book, player, side) if len(rows) > _FEW else []),
                games,
            ]
        title = one.name if not at else f"{one.name}: games, part {at + 1}"
        facts = facts_line(vars(one)) if not at else ""
        yield f"players/{files[at]}.html", page(book.title, title, *content, facts=facts)


def _career(book: Book, player: int, side: Side) -> list[str]:
    years = book.years
    span = slice(*years.starts[player : player + 2].tolist())
    year, mean, sd, games = (
        column[span].tolist() for column in (years.year, years.mean, years.sd, years.games)
    )
    one = book.people[player]
    compare = turn(link(f"../compare.html#p={one.slug}", "compare with others"))
    if len(year) == 1 and year[0] not in book.rankings:
        return [compare]
    keys, count, *_, scored, expected = side.sums(side.year)
    by_year = {key: (n, s, e) for key, n, s, e in zip(keys.tolist(), count, scored, expected, strict=True)}
    rows = []
    for at, m, s in zip(year, mean, sd, strict=True):
        ranking = book.rankings.get(at)
        rank = ranking.rank.get(player) if ranking else None
        n, won, promised = by_year.get(at, (0.0, 0.0, 0.0))
        told = (number(n), number(won), number(promised)) if n else ("", "", "")
        rows.append(row(link(f"../years/{at}.html", str(at)), str(rank or ""), skill(m, s), *told))
    return [
        career(one.name, axis_title(book.run.scale.unit), year, mean, sd, games),
        compare,
        section("Years", table("years", ("year", "#rank", "#skill", "#games", "#points", "#expected"), rows)),
    ]


def _tables(book: Book, player: int, side: Side) -> list[str]:
    return [
        section("Events", _events(book, player)),
        section("Opponents", _opponents(book, side)),
        section("Best wins", _best_wins(book, side)),
    ]


def _events(book: Book, player: int) -> str:
    events = book.events
    rows = []
    for at in book.entries_of(player):
        event = events.all[int(book.entry_event[at])]
        end = events.entry_starts[book.entry_event[at] + 1] - events.entry_starts[book.entry_event[at]]
        place = f"{events.rank[at]} of {end}" if end > 2 else ""
        cells = number(events.played[at]), number(events.points[at]), number(events.expected[at])
        rows.append(
            row(
                str(event.year),
                book.event_links[book.entry_event[at]],
                place,
                *cells,
                points(events.performance[at]),
            )
        )
    heads = ("year", "event", "#place", "#games", "#points", "#expected", "#performance")
    return table("events", heads, rows) if rows else ""


def _opponents(book: Book, side: Side) -> str:
    """Those met more than once, the most often met first."""
    keys, count, won, drawn, lost, scored, expected = side.sums(side.opponent)
    often = np.flatnonzero(count > 1)
    order = often[np.lexsort((keys[often], -count[often]))][:_MOST_OPPONENTS]
    rows = [
        row(
            book.links[keys[at]], number(count[at]), record(won[at], drawn[at], lost[at]),
            number(scored[at]), number(expected[at]),
        )
        for at in order.tolist()
    ]  # fmt: skip
    more = len(keys) - len(order)
    heads = ("opponent", "#games", "#record", "#points", "#expected")
    return (
        table("opponents", heads, rows) + note(f"{more:,} others in fewer games" if more else "")
        if rows
        else ""
    )


def _best_wins(book: Book, side: Side) -> str:
    won = np.flatnonzero((side.outcome == 2) & (side.win < 0.5))
    best = won[np.lexsort((side.games[won], side.win[won]))][:_BEST_WINS].tolist()
    dates, events = book.played.dates, book.events.of_game
    rows = [
        row(
            dates[side.games[at]], "W" if side.is_white[at] else "B", book.links[side.opponent[at]],
            chance(side.win[at]), book.event_of(int(events[side.games[at]])),
        )
        for at in best
    ]  # fmt: skip
    return table("best wins", ("date", "colour", "opponent", "#chance to win", "event"), rows) if rows else ""


def _game_rows(book: Book, side: Side) -> Iterator[str]:
    """Every game, by date. The event is left out where it is that of the game before; the table of events links it."""
    dates, links = book.played.dates, book.links
    named = book.event_links if len(side.games) <= _FEW else book.event_names
    events = book.events.of_game[side.games]
    new = np.ones(len(events), np.bool_)
    new[1:] = events[1:] != events[:-1]
    new[_FIRST_GAMES::ROWS_A_PAGE] = True  # where pages begin
    told = [named[event] if event >= 0 else "–" for event in events.tolist()]
    columns = (side.games, side.is_white, side.opponent, side.outcome, side.expected, side.weight, new)
    for (game, is_white, opponent, outcome, expected, weight, first), event in zip(
        zip(*(column.tolist() for column in columns), strict=True), told, strict=True
    ):
        times = "" if weight == 1 else f" × {weight:.10g}"
        yield (
            f"<tr><td>{dates[game]}<td>{'W' if is_white else 'B'}<td>{links[opponent]}<td>{result(outcome)}{times}"
            f"<td>{expected:.2f}{'<td>' + event if first else ''}"
        )
