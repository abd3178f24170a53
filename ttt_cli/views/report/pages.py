"""The pages of players, events and years."""

import math
from collections.abc import Iterator
from typing import Final

import numpy as np

from ttt_cli.views.figures.spec import embedded
from ttt_cli.views.players import facts_line
from ttt_cli.views.report import markup as html
from ttt_cli.views.report.book import FEW_GAMES, Book, Sides, span
from ttt_cli.views.report.markup import Subject
from ttt_cli.views.rows import counted

_SHORTEST: Final = 3  # years of a curve
_MOST_OPPONENTS: Final = 300
_BEST_WINS: Final = 10
_MOST_ACROSS: Final = 30
_STANDINGS: Final = 400
_COMPLETE: Final = 0.7  # of all pairs have met where everybody was to meet everybody
_TEN: Final = 10
_RANKED: Final = 300
_NEW: Final = 200
_MOST_GAMES: Final = 500


def player_subject(book: Book, player: int) -> Subject:
    """The page of a player, or a part of a shared one."""
    one = book.people[player]
    sides = book.played.of(player)
    also = book.spellings[one.name]
    content = [
        html.note(f"also written: {'; '.join(also)}" if also else ""),
        *_career(book, player, sides),
        html.section("Opponents", _opponents(book, sides)),
        html.section("Best wins", _best_wins(book, sides) if len(sides.game) > FEW_GAMES else ""),
    ]
    facts = facts_line(one._asdict())
    games = _player_games(book, player, sides)
    return Subject(one.page or "", one.name, facts, content, "record", games)


def _career(book: Book, player: int, sides: Sides) -> list[str]:
    """The curve of three years or more, which the site's script draws, and the years with games or a rank.

    Nothing of a few games in years without a rank.
    """
    one = book.people[player]
    years = book.years
    beside = book.beside
    rows = span(book.year_starts, player)
    year, mean, sd, games = (years[name][rows].tolist() for name in ("year", "mean", "sd", "games"))
    ranks = [book.rankings[at].rank.get(player) if at in book.rankings else None for at in year]
    if len(sides.game) <= FEW_GAMES and not any(ranks):
        return []
    keys, _, count, *_, scored, expected = sides.sums(sides.year)
    sums = (map(html.number, column.tolist()) for column in (count, scored, expected))
    by_year = dict(zip(keys.tolist(), zip(*sums, strict=True), strict=True))
    rated = beside.by_year(one.name, book.run.meta.period) if beside else {}
    heads = ["year", "#rank", "#skill", "#games", "#points", "#expected", *(["#rating"] if rated else [])]
    shown = []
    for at, m, s, rank in zip(year, mean, sd, ranks, strict=True):
        if rank is not None or at in by_year:
            cells = html.link(f"../years/{at}.html", str(at)), str(rank or ""), html.skill(m, s)
            shown.append((*cells, *by_year.get(at, ("", "", "")), html.points(rated.get(at))))
    table = dict(zip(heads, zip(*shown, strict=True), strict=False))
    curve = ""
    if len(year) >= _SHORTEST:
        columns = [[*map(html.short, column)] for column in (mean, sd if book.has_sd else [], games)]
        data = embedded([year[0], *columns, [[at, html.short(value)] for at, value in rated.items()]])
        curve = f'<div class="chart career" data-height=270 data-name="{html.text(one.name)}" data-of={data}></div>'
    return [curve, html.dotted(beside if rated else None), html.section("Years", html.table("years", table))]


def _opponents(book: Book, sides: Sides) -> str:
    """Those met more than once, the most often met first."""
    links = book.players("")
    keys, _, count, won, drawn, lost, scored, expected = sides.sums(sides.opponent)
    often = np.flatnonzero(count > 1)
    order = often[np.lexsort((keys[often], -count[often]))][:_MOST_OPPONENTS]
    table = {
        "opponent": [links[one] for one in keys[order]],
        "#games": map(html.number, count[order].tolist()),
        "#record": [f"+{won[at]:.10g} ={drawn[at]:.10g} −{lost[at]:.10g}" for at in order],
        "#points": map(html.number, scored[order].tolist()),
        "#expected": map(html.number, expected[order].tolist()),
    }
    more = len(keys) - len(order)
    others = html.note(f"{counted(more, 'opponent')} in fewer games" if more else "")
    return html.table("opponents", table) + others if len(order) else ""


def _best_wins(book: Book, sides: Sides) -> str:
    won = np.flatnonzero((sides.outcome == 2) & (sides.win < 0.5))
    best = won[np.lexsort((sides.game[won], sides.win[won]))][:_BEST_WINS]
    dates = book.played.dates
    links = book.players("")
    games = sides.game[best]
    table = {
        "date": [dates[game] for game in games],
        "colour": [book.sides[way] for way in sides.way[best]],
        "opponent": [links[one] for one in sides.opponent[best]],
        "#chance to win": map(html.chance, sides.win[best].tolist()),
        "event": [book.event_names[at] for at in book.events.of_game[games]],
    }
    return html.table("best wins", table)


def _player_games(book: Book, player: int, sides: Sides) -> Iterator[str]:
    """Lines of every event and of the games there, by date of the first; games of no event by year.

    An event: year, name, place, games, points, expected and performance. A game: date without that year, colour,
    opponent, result and expected.
    """
    dates = book.played.dates
    fields = book.player_fields("")
    titles = book.event_fields("../events/")
    event = book.events.of_game[sides.game]
    entry = book.events.entry_of[span(book.played.by_player[1], player)]
    group = np.where(event >= 0, event, -1 - sides.year)
    _, first, place = np.unique(group, return_index=True, return_inverse=True)
    order = np.argsort(first[place], kind="stable")
    last = None
    columns = (sides.game, sides.way, sides.opponent, sides.outcome, sides.expected, sides.weight, sides.year)
    for at, of, game, way, opponent, outcome, expected, weight, year in zip(
        *(column[order].tolist() for column in (group, entry, *columns)), strict=True
    ):
        if at != last:
            last = at
            yield f"{year}\t{titles[at]}\t{_entry(book, at, of)}" if at >= 0 else f"{year}\t"
        result = html.RESULTS[outcome] + ("" if weight == 1 else f" × {weight:.10g}")
        date = html.within(dates[game], year)
        yield "\t".join((date, book.sides[way], fields[opponent], result, html.share(expected)))


def _entry(book: Book, event: int, at: int) -> str:
    events = book.events
    first, end = events.entry_starts[event : event + 2].tolist()
    place = f"{events.rank[at]} of {end - first}" if end - first > 2 else ""
    cells = html.number(events.played[at]), html.number(events.points[at]), html.number(events.expected[at])
    return "\t".join([place, *cells, html.points(events.performance[at])])


def event_subject(book: Book, at: int) -> Subject:
    """The page of an event, or a part of a shared one; games are listed where no crosstable shows them."""
    events = book.events
    event = book.events.all[at]
    played = book.played
    names = book.player_fields("../players/")

    def place(game: int) -> tuple[list[float], int]:
        """The numbers of the round, 2.1 before 10.1 and rounds without a number last, and the date."""
        parts = played.texts[played.round[game]].replace("/", ".").split(".")
        return [float(part) for part in parts if part.strip().isdecimal()] or [math.inf], played.days[game]

    games = sorted(events.games[span(events.starts, at)].tolist(), key=place)
    across = _crosstable(book, at, games)
    facts = counted(len(games), "game") + (f"; {event.kind}: no performance" if event.kind else "")
    year = html.turn(html.link(f"../years/{event.year}.html", str(event.year)))
    listed = []
    for game in [] if across else games:
        cells = [html.field(played.texts[played.round[game]]), html.within(played.dates[game], event.year)]
        cells += [names[played.white[game]], names[played.black[game]], _both(played.outcome[game])]
        listed.append("\t".join([*cells, html.share(played.expected(game))]))
    content = [year, _standings(book, at, across)]
    return Subject(event.page or "", event.title, facts, content, "rounds", listed, event.year)


def _standings(book: Book, at: int, across: dict[str, list[str]]) -> str:
    """Everybody by points, with the skill at the end of the year; `across`: the columns of a crosstable, if any."""
    events = book.events
    years = book.years
    links = book.players("../players/")
    rows = span(events.entry_starts, at)
    rows = slice(rows.start, min(rows.stop, rows.start + _STANDINGS))
    skills = []
    for player in events.player[rows]:
        own = span(book.year_starts, player)
        place = own.start + int(np.searchsorted(years["year"][own], events.all[at].year))
        skills.append(years["mean"][place] if place < own.stop else None)
    table = {
        "#place": map(str, events.rank[rows]),
        "player": [links[player] for player in events.player[rows]],
        **across,
        "#points": map(html.number, events.points[rows].tolist()),
        "#games": map(html.number, events.played[rows].tolist()),
        "#expected": map(html.number, events.expected[rows].tolist()),
        "#performance": map(html.points, events.performance[rows].tolist()),
        "#skill": map(html.points, skills),
    }
    return html.table("crosstable" if across else "standings", table, "cross" if across else "")


def _crosstable(book: Book, at: int, games: list[int]) -> dict[str, list[str]]:
    """The columns of a crosstable, results in the order of games; nothing where many did not meet."""
    played = book.played
    players = book.events.player[span(book.events.entry_starts, at)].tolist()
    pairs = len(players) * (len(players) - 1)
    if len(players) > _MOST_ACROSS or len(games) < _COMPLETE * pairs / 2:
        return {}
    met: dict[tuple[int, int], list[str]] = {}
    for game in games:
        white = played.white[game]
        black = played.black[game]
        outcome = played.outcome[game]
        met.setdefault((white, black), []).append(html.RESULTS[outcome])
        met.setdefault((black, white), []).append(html.RESULTS[2 - outcome])
    if len(met) < _COMPLETE * pairs:
        return {}

    def results(one: int, other: int) -> str:
        """The results of one against another; of a long match in groups of ten."""
        found = met.get((one, other), [])
        return " ".join("".join(found[at : at + _TEN]) for at in range(0, len(found), _TEN))

    return {
        str(place): ["·" if one == other else results(one, other) for one in players]
        for place, other in enumerate(players, 1)
    }


def _both(outcome: int) -> str:
    """The result from both sides, as `1–0`."""
    return f"{html.RESULTS[outcome]}–{html.RESULTS[2 - outcome]}"


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
    earlier = book.rankings[year - 1].rank if year - 1 in book.rankings else {}
    links = book.players("../players/")
    players = ranking.id[:_RANKED].tolist()
    best = [*map(html.chance, ranking.best), *[""] * len(players)]
    table = {
        "#rank": map(str, range(1, len(players) + 1)),
        "#move": [
            moved(rank, earlier.get(player), new=book.people[player].first == year)
            for rank, player in enumerate(players, 1)
        ],
        "player": [links[player] for player in players],
        "#skill": map(html.skill, ranking.mean[:_RANKED].tolist(), ranking.sd[:_RANKED].tolist()),
        **({"#p best": best[: len(players)]} if ranking.best else {}),
        "#games": [html.number(games) if games else "" for games in ranking.games[:_RANKED].tolist()],
    }
    more = html.rest(len(ranking.id) - len(players))
    return html.table("ranking", table) + more + html.note(book.remark if ranking.best else "")


def moved(rank: int, before: int | None, *, new: bool) -> str:
    """How many places up or down since the year before."""
    if before is None:
        return "new" if new else "in"
    if before == rank:
        return "="
    return f"▲{before - rank}" if before > rank else f"▼{rank - before}"


def _newcomers(book: Book, year: int) -> str:
    years = book.years
    links = book.players("../players/")
    rows = np.flatnonzero(years["year"] == year)
    new = rows[[book.people[player].first == year for player in years["id"][rows]]]
    shown = new[np.argsort(-years["mean"][new], kind="stable")][:_NEW]
    table = {
        "player": [links[player] for player in years["id"][shown]],
        "#skill": map(html.skill, years["mean"][shown].tolist(), years["sd"][shown].tolist()),
        "#games": map(html.number, years["games"][shown].tolist()),
    }
    return html.table("newcomers", table) + html.rest(len(new) - len(shown))


def _year_events(book: Book, year: int) -> str:
    events = book.events
    links = book.players("../players/")
    titles = book.occasions("../events/")
    shown = book.events_in[year]
    entries = [span(events.entry_starts, at) for at in shown]
    first = [events.player[rows][events.rank[rows] == 1] for rows in entries]
    table = {
        "event": [titles[at] for at in shown],
        "#games": [f"{events.all[at].games:,}" for at in shown],
        "#players": [str(rows.stop - rows.start) for rows in entries],
        "most points": [
            ", ".join(links[one] for one in some) if len(some) <= 3 else f"{len(some)} players"
            for some in first
        ],
    }
    return html.table("events", table)


def _year_games(book: Book, games: list[int]) -> str:
    played = book.played
    links = book.players("../players/")
    shown = games[:_MOST_GAMES]
    table = {
        "date": [played.dates[at] for at in shown],
        "white": [links[played.white[at]] for at in shown],
        "black": [links[played.black[at]] for at in shown],
        "#result": [_both(played.outcome[at]) for at in shown],
        "#expected": [html.chance(played.expected(at)) for at in shown],
    }
    return html.table("games", table) + html.rest(len(games) - len(shown), ", on the pages of their players")
