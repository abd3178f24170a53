"""The pages of players, events and years."""

import math
from collections.abc import Iterator
from functools import partial
from typing import Any, Final

import numpy as np

from ttt_cli.support.arrays import Array, Places
from ttt_cli.views.figures.spec import embedded
from ttt_cli.views.players import facts_line
from ttt_cli.views.report import markup as html
from ttt_cli.views.report.book import FEW_GAMES, Book
from ttt_cli.views.report.markup import Subject
from ttt_cli.views.rows import counted

_SHORTEST: Final = 3  # years of a curve
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
    return html.subject_pages(book.title, "Players of a few games", addresses, partial(_player_subject, book))


def _player_subject(book: Book, player: int) -> Subject:
    one, side = book.people[player], Side(book, player)
    also = book.spellings.get(one.name)
    content = [
        html.note(f"also written: {'; '.join(also)}" if also else ""),
        *_career(book, player, side),
        html.section("Opponents", _opponents(book, side)),
        html.section("Best wins", _best_wins(book, side) if len(side.games) > FEW_GAMES else ""),
    ]
    facts, games = facts_line(one._asdict()), _player_games(book, player, side)
    return Subject(one.page or "", one.name, facts, "", content, "record", games)


def _career(book: Book, player: int, side: Side) -> list[str]:
    """The curve of three years or more, which the site's script draws, and the years with games or a rank.

    Nothing of a few games in years without a rank.
    """
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
        link, skill = html.link(f"../years/{at}.html", str(at)), html.skill(m, s)
        scores = map(html.number, by_year[at]) if at in by_year else ("", "", "")
        rating = (html.points(rated.get(at)),) if rated else ()
        rows.append(html.row(link, str(rank or ""), skill, *scores, *rating))
    heads = ("year", "#rank", "#skill", "#games", "#points", "#expected", *(["#rating"] if rated else []))
    curve = ""
    if len(year) >= _SHORTEST:
        means, sds, played = (
            [*map(html.short, column)] for column in (mean, sd if book.has_sd else [], games)
        )
        data = embedded(
            [year[0], means, sds, played, [[at, html.short(value)] for at, value in rated.items()]]
        )
        curve = f'<div class="chart career" data-height=270 data-name="{html.text(one.name)}" data-of={data}></div>'
    table = html.section("Years", html.table("years", heads, rows))
    return [curve, html.dotted(beside if rated else None), table]


def _opponents(book: Book, side: Side) -> str:
    """Those met more than once, the most often met first."""
    links = book.players("")
    keys, count, won, drawn, lost, scored, expected = side.sums(side.opponent)
    often = np.flatnonzero(count > 1)
    order = often[np.lexsort((keys[often], -count[often]))][:_MOST_OPPONENTS]
    rows = []
    for at in order.tolist():
        record = f"+{won[at]:.10g} ={drawn[at]:.10g} −{lost[at]:.10g}"
        games, points, promised = map(html.number, (count[at], scored[at], expected[at]))
        rows.append(html.row(links[keys[at]], games, record, points, promised))
    more = len(keys) - len(order)
    others = f"{counted(more, 'opponent')} in fewer games"
    heads = ("opponent", "#games", "#record", "#points", "#expected")
    return html.table("opponents", heads, rows) + html.note(others if more else "") if rows else ""


def _best_wins(book: Book, side: Side) -> str:
    won = np.flatnonzero((side.outcome == 2) & (side.win < 0.5))
    best = won[np.lexsort((side.games[won], side.win[won]))][:_BEST_WINS].tolist()
    dates, events, links = book.played.dates, book.events.of_game, book.players("")
    rows = [
        html.row(
            dates[side.games[at]], book.sides[side.way[at]], links[side.opponent[at]],
            html.chance(side.win[at]), book.event_names[events[side.games[at]]],
        )
        for at in best
    ]  # fmt: skip
    heads = ("date", "colour", "opponent", "#chance to win", "event")
    return html.table("best wins", heads, rows) if rows else ""


def _player_games(book: Book, player: int, side: Side) -> Iterator[tuple[str, str]]:
    """Lines of every event and of the games there, by date of the first; games of no event by year.

    An event: year, name, place, games, points, expected and performance. A game: date without that year, colour,
    opponent, result and expected.
    """
    dates, fields, titles = book.played.dates, book.player_fields(""), book.event_fields("../events/")
    entry = {int(book.entry_event[at]): at for at in book.entries_by_player[player].tolist()}
    event = book.events.of_game[side.games]
    group = np.where(event >= 0, event, -1 - side.year)
    _, first, place = np.unique(group, return_index=True, return_inverse=True)
    last = above = None
    of_games = side.games, side.way, side.opponent, side.outcome, side.expected, side.weight
    order = np.argsort(first[place], kind="stable")
    for game, way, opponent, outcome, expected, weight, at, year in zip(
        *(column[order].tolist() for column in (*of_games, group, side.year)), strict=True
    ):
        if at != last:
            last, above = at, f"{year}\t{titles[at] if at >= 0 else ''}"
            yield "", f"{above}\t{_entry(book, entry[at])}" if at >= 0 else above
        result = html.result(outcome) + ("" if weight == 1 else f" × {weight:.10g}")
        date = html.within(dates[game], year)
        yield (
            above or "",
            "\t".join([date, book.sides[way], fields[opponent], result, html.promised(expected)]),
        )


def _entry(book: Book, at: int) -> str:
    events = book.events
    start, end = events.entry_starts[book.entry_event[at] :][:2].tolist()
    place = f"{events.rank[at]} of {end - start}" if end - start > 2 else ""
    cells = html.number(events.played[at]), html.number(events.points[at]), html.number(events.expected[at])
    return "\t".join([place, *cells, html.points(events.performance[at])])


_MOST_ACROSS: Final = 30
_STANDINGS: Final = 400
_COMPLETE: Final = 0.7  # of all pairs have met where everybody was to meet everybody
_TEN: Final = 10


def event_pages(book: Book) -> Iterator[tuple[str, str]]:
    """Name and text of each page of an event; games are listed where no crosstable shows them."""
    addresses = [event.page for event in book.events.all]
    return html.subject_pages(book.title, "Events of a few games", addresses, partial(_event_subject, book))


def _event_subject(book: Book, at: int) -> Subject:
    events, event = book.events, book.events.all[at]
    games: list[int] = events.games[slice(*events.starts[at : at + 2])].tolist()
    cells = _crosstable(book, at, games)
    facts = counted(len(games), "game") + (f"; {event.kind}: no performance" if event.kind else "")
    year = html.turn(html.link(f"../years/{event.year}.html", str(event.year)))
    content, listed = [year, _standings(book, at, cells)], () if cells else _game_rows(book, games)
    return Subject(event.page or "", event.title, facts, facts, content, "rounds", listed, event.year)


def _standings(book: Book, at: int, cells: list[str]) -> str:
    """Everybody by points, with the skill at the end of the year; `cells`: of each row in a crosstable, if any."""
    events, years, links = book.events, book.years, book.players("../players/")
    first, end = events.entry_starts[at : at + 2].tolist()
    rows = []
    for k in range(first, min(end, first + _STANDINGS)):
        player = int(events.player[k])
        span = slice(*years.starts[player : player + 2].tolist())
        place = span.start + int(np.searchsorted(years.year[span], events.all[at].year))
        start = f"<tr><td>{events.rank[k]}<td>{links[player]}{cells[k - first] if cells else ''}<td>"
        counts = (events.points[k], events.played[k], events.expected[k])
        skill = html.points(years.mean[place] if place < span.stop else None)
        rows.append(
            start + "<td>".join([*map(html.number, counts), html.points(events.performance[k]), skill])
        )
    across = [str(place + 1) for place in range(end - first)] if cells else []
    heads = ("#place", "player", *across, "#points", "#games", "#expected", "#performance", "#skill")
    return html.table("crosstable" if cells else "standings", heads, rows, "cross" if cells else "")


def _crosstable(book: Book, at: int, games: list[int]) -> list[str]:
    """The cells of each player's row, results in the order of games; nothing where many did not meet."""
    events = book.events
    order = events.player[slice(*events.entry_starts[at : at + 2].tolist())].tolist()
    pairs = len(order) * (len(order) - 1)
    if len(order) > _MOST_ACROSS or len(games) < _COMPLETE * pairs / 2:
        return []
    met: dict[tuple[int, int], list[str]] = {}
    for _, white, black, outcome in _in_order(book, games):
        met.setdefault((white, black), []).append(html.result(outcome))
        met.setdefault((black, white), []).append(html.result(2 - outcome))
    if len(met) < _COMPLETE * pairs:
        return []

    def results(one: int, other: int) -> str:
        """The results of one against another; of a long match in groups of ten."""
        found = met.get((one, other), [])
        return " ".join("".join(found[at : at + _TEN]) for at in range(0, len(found), _TEN))

    return [
        "".join("<td>" + ("·" if one == other else results(one, other)) for other in order) for one in order
    ]


def _game_rows(book: Book, games: list[int]) -> Iterator[tuple[str, str]]:
    """The games of an event by round, then date; the links are in the standings."""
    played, names, texts = book.played, book.player_fields("../players/"), book.played.texts
    for game, white, black, outcome in _in_order(book, games):
        expected = played.chance[game, 2] + played.chance[game, 1] / 2.0
        told = [html.field(texts[played.round[game]]), html.within(played.dates[game], played.year[game])]
        told += [names[white], names[black], _both(outcome), html.promised(expected)]
        yield "", "\t".join(told)


def _both(outcome: int) -> str:
    """The result from both sides, as `1–0`."""
    return f"{html.result(outcome)}–{html.result(2 - outcome)}"


def _in_order(book: Book, games: list[int]) -> Iterator[tuple[int, int, int, int]]:
    """Games by round, date, and as read: each with White, Black and the outcome."""
    played = book.played

    def place(game: int) -> tuple[list[float], int]:
        """The numbers of the round, 2.1 before 10.1 and rounds without a number last, and the date."""
        parts = played.texts[played.round[game]].replace("/", ".").split(".")
        return [float(part) for part in parts if part.strip().isdecimal()] or [math.inf], played.days[game]

    for game in sorted(games, key=place):
        yield game, int(played.white[game]), int(played.black[game]), int(played.outcome[game])


_RANKED: Final = 300
_NEW: Final = 200
_MOST_GAMES: Final = 500


def year_page(book: Book, year: int) -> str:
    """The page of a year that has one."""
    beside = [one for one in (year - 1, year + 1) if book.all_years[0] <= one <= book.all_years[-1]]
    around = html.turn(*(html.link(f"{one}.html", str(one)) for one in beside))
    played = book.played.year == year
    ranked = len(book.rankings[year].id) if year in book.rankings else 0
    games = counted(int(np.count_nonzero(played)), "game")
    alone = np.flatnonzero(played & (book.events.of_game < 0)).tolist()
    return html.page(
        book.title, str(year), around,
        html.section("Ranking", _ranking(book, year)), html.section("Newcomers", _newcomers(book, year)),
        html.section("Events", _year_events(book, year)),
        html.section("Games of no known event", _year_games(book, alone)),
        around, facts=f"{games}, {counted(ranked, 'player')} ranked",
    )  # fmt: skip


def _ranking(book: Book, year: int) -> str:
    ranking = book.rankings.get(year)
    if ranking is None:
        return html.note("Nobody is eligible in this year.")
    earlier = book.rankings.get(year - 1)
    best, links = ranking.best, book.players("../players/")
    rows = []
    columns = (column[:_RANKED].tolist() for column in (ranking.id, ranking.mean, ranking.sd, ranking.games))
    for rank, (player, mean, sd, games) in enumerate(zip(*columns, strict=True), 1):
        p_best = () if not best else (html.chance(best[rank - 1]) if rank <= len(best) else "",)
        before = earlier.rank.get(player) if earlier else None
        move = moved(rank, before, new=book.people[player].first == year)
        played = html.number(games) if games else ""
        rows.append(html.row(str(rank), move, links[player], html.skill(mean, sd), *p_best, played))
    heads = ("#rank", "#move", "player", "#skill", *(["#p best"] if best else []), "#games")
    more = html.rest(len(ranking.id) - len(rows))
    return html.table("ranking", heads, rows) + more + html.note(book.remark if best else "")


def moved(rank: int, before: int | None, *, new: bool) -> str:
    """How many places up or down since the year before."""
    if before is None:
        return "new" if new else "in"
    if before == rank:
        return "="
    return f"▲{before - rank}" if before > rank else f"▼{rank - before}"


def _newcomers(book: Book, year: int) -> str:
    years, links = book.years, book.players("../players/")
    rows = np.flatnonzero(years.year == year)
    new = [at for at in rows.tolist() if book.people[years.id[at]].first == year]
    new.sort(key=lambda at: (-years.mean[at], at))
    shown = [
        html.row(links[years.id[at]], html.skill(years.mean[at], years.sd[at]), html.number(years.games[at]))
        for at in new[:_NEW]
    ]
    heads = ("player", "#skill", "#games")
    return html.table("newcomers", heads, shown) + html.rest(len(new) - len(shown)) if shown else ""


def _year_events(book: Book, year: int) -> str:
    events, links = book.events, book.players("../players/")
    rows, titles = [], book.occasions("../events/")
    for at in book.events_in.get(year, []):
        event = events.all[at]
        entries = slice(*events.entry_starts[at : at + 2].tolist())
        first = events.player[entries][events.rank[entries] == 1].tolist()
        named = ", ".join(links[one] for one in first[:3])
        winners = named if len(first) <= 3 else f"{len(first)} players"
        rows.append(html.row(titles[at], f"{event.games:,}", str(entries.stop - entries.start), winners))
    return html.table("events", ("event", "#games", "#players", "most points"), rows) if rows else ""


def _year_games(book: Book, games: list[int]) -> str:
    if not games:
        return ""
    played, links = book.played, book.players("../players/")
    rows = [
        html.row(
            played.dates[at], links[played.white[at]], links[played.black[at]],
            _both(played.outcome[at]), html.chance(played.chance[at, 2] + played.chance[at, 1] / 2.0),
        )
        for at in games[:_MOST_GAMES]
    ]  # fmt: skip
    more = html.rest(len(games) - len(rows), ", on the pages of their players")
    return html.table("games", ("date", "white", "black", "#result", "#expected"), rows) + more
