"""The pages of players."""

from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np

from ttt_cli.views.figures.spec import embedded
from ttt_cli.views.history.played import Sides
from ttt_cli.views.history.slices import rows_of
from ttt_cli.views.history.streaks import ORDER_OF_GAMES, STREAKS, longest_streaks
from ttt_cli.views.players import facts_line
from ttt_cli.views.report import markup
from ttt_cli.views.report.book import Book
from ttt_cli.views.report.careers import best_events, career_sentence, rivals
from ttt_cli.views.report.influences import influence_tables
from ttt_cli.views.report.subjects import Subject
from ttt_cli.views.rows import counted

_SHORTEST: Final = 3  # years of a curve
_MOST_OPPONENTS: Final = 300
_SHOWN_OPPONENTS: Final = 10  # others are folded
_SHOWN_YEARS: Final = 5
_SHOWN_GAMES: Final = 20
_BEST_WINS: Final = 10
_FEW_FOR_TABLES: Final = 3  # games of a player that need no tables
_NO_TOTALS: Final = ("", "", "")  # of a year without games


def player_subject(book: Book, player: int) -> Subject:
    """The page of a player, or a part of a shared one."""
    person = book.people.rows[player]
    sides = book.played.of(player)
    spellings = book.people.spellings.get(person.name, [])
    address = book.player_pages.addresses[player] or ""
    has_own_page = not markup.is_shared(address)
    career = _career(book, player, sides, has_own_page=has_own_page)
    wins = _best_wins(book, sides) if len(sides.game) > _FEW_FOR_TABLES else ""
    content = [
        f"<p>{markup.text(career_sentence(book, player, sides))}</p>" if has_own_page else "",
        markup.note(f"also written: {'; '.join(spellings)}" if spellings else ""),
        career.curve,
    ]
    sections = [
        markup.section("Best events", best_events(book, player) if has_own_page else ""),
        markup.section("Opponents", _opponents(book, player, has_own_page=has_own_page)),
        markup.section("Best wins", wins),
        markup.section("Streaks", _streaks(book, sides) if has_own_page else "")
        + markup.section("Years", career.years),
        markup.section("Why this peak", influence_tables(book, player) if has_own_page else ""),
    ]
    content += [markup.columns(*sections)] if has_own_page else sections
    facts = facts_line(person._asdict(), person.peak_games)
    games = _player_games(book, player, sides)
    summary = f"All games, {len(sides.game):,}" if len(sides.game) > _SHOWN_GAMES else ""
    return Subject(address, person.name, facts, content, "record", games, summary=summary)


class CareerParts(NamedTuple):
    """The curve of a player and the table of years, as HTML; empty where there is too little."""

    curve: str
    years: str


def _career(book: Book, player: int, sides: Sides, *, has_own_page: bool) -> CareerParts:
    """The curve of three years or more, which the site's script draws, and the years with games or a rank.

    Nothing of a few games in years without a rank. On a page of the player's own there are rivals, and many years are
    folded.
    """
    skills = book.skills.of(player)
    years = skills.year.tolist()
    rankings = book.rankings.by_year
    ranks = [rankings[year].rank.get(player) if year in rankings else None for year in years]
    if len(sides.game) <= _FEW_FOR_TABLES and not any(ranks):
        return CareerParts("", "")
    name = book.people.rows[player].name
    ratings = book.published.by_year(name, book.run.meta.period) if book.published else {}
    totals = _year_totals(sides)
    heads = ["year", "#rank", "#skill", "#games", "#points", "#expected"]
    if ratings:
        heads.append("#rating")
    rows = []
    for year, mean, sd, rank in zip(
        years, skills.mean.tolist(), skills.sd.tolist(), ranks, strict=True
    ):
        if rank is not None or year in totals:
            link = markup.link(f"../years/{year}.html", str(year))
            row = [link, str(rank or ""), markup.skill(mean, sd), *totals.get(year, _NO_TOTALS)]
            if ratings:
                row.append(markup.points(ratings.get(year)))
            rows.append(row)
    table = dict(zip(heads, zip(*rows, strict=True), strict=False))
    curve = ""
    if len(years) >= _SHORTEST:
        means = [markup.short(mean) for mean in skills.mean.tolist()]
        sds = [markup.short(sd) for sd in skills.sd.tolist()] if book.skills.has_sd else []
        games = [markup.short(count) for count in skills.games.tolist()]
        rated = [[year, markup.short(rating)] for year, rating in ratings.items()]
        data = embedded(
            [years[0], means, sds, games, rated, rivals(book, player) if has_own_page else []]
        )
        curve = f'<div class="chart career" data-height=270 data-name="{markup.text(name)}" data-of={data}></div>'
    listed = markup.table("years", table)
    if has_own_page and len(rows) > _SHOWN_YEARS:
        listed = markup.folded(
            f"{years[0]} to {years[-1]}: rank, skill and score of {len(rows)} years", listed
        )
    return CareerParts(curve + markup.dotted(book.published if ratings else None), listed)


def _year_totals(sides: Sides) -> dict[int, tuple[str, ...]]:
    """Games, points and expected points of every year with games."""
    totals = sides.totals(sides.year)
    columns = (
        totals.keys.tolist(),
        totals.games.tolist(),
        totals.points.tolist(),
        totals.expected.tolist(),
    )
    return {
        year: (markup.number(games), markup.number(points), markup.number(expected))
        for year, games, points, expected in zip(*columns, strict=True)
    }


def _opponents(book: Book, player: int, *, has_own_page: bool) -> str:
    """Those met more than once, the most often met first; on a page of the player's own many are folded."""
    links = book.player_pages.links("")
    totals = book.opponents.of(player)
    often = np.flatnonzero(totals.games > 1)
    order = often[np.lexsort((totals.opponent[often], -totals.games[often]))][:_MOST_OPPONENTS]
    table = {
        "opponent": [links[opponent] for opponent in totals.opponent[order].tolist()],
        "#games": [markup.number(games) for games in totals.games[order].tolist()],
        "#record": [
            f"+{totals.won[index]:.10g} ={totals.drawn[index]:.10g} −{totals.lost[index]:.10g}"
            for index in order
        ],
        "#points": [markup.number(points) for points in totals.points[order].tolist()],
        "#expected": [markup.number(expected) for expected in totals.expected[order].tolist()],
    }
    more = len(totals.opponent) - len(order)
    note = markup.note(f"{counted(more, 'opponent')} in fewer games" if more else "")
    if not len(order):
        return ""
    shown = _SHOWN_OPPONENTS if has_own_page else len(order)
    return markup.first_rows("opponents", table, shown, note)


def _best_wins(book: Book, sides: Sides) -> str:
    """The least expected wins, those with a chance below a half."""
    won = np.flatnonzero((sides.outcome == 2) & (sides.win < 0.5))
    best = won[np.lexsort((sides.game[won], sides.win[won]))][:_BEST_WINS]
    dates = book.played.dates
    links = book.player_pages.links("")
    games = sides.game[best]

    def opponent(row: int) -> str:
        team = book.played.team_name(int(sides.game[row]), is_black=not sides.is_second[row])
        return links[sides.opponent[row]] if team is None else markup.text(team)

    table = {
        "date": [markup.date(dates[game]) for game in games],
        book.words.column: [book.words.initials[colour] for colour in sides.colour[best]],
        "opponent": [opponent(row) for row in best.tolist()],
        "#chance to win": [markup.chance(win) for win in sides.win[best].tolist()],
        "event": [book.event_names[event] for event in book.events.of_game[games]],
    }
    return markup.table("best wins", table)


def _streaks(book: Book, sides: Sides) -> str:
    """The longest series of games of every kind."""
    streaks = {kind: longest_streaks(sides, kind, 1) for kind in STREAKS}
    longest = {kind: streak[0] for kind, streak in streaks.items() if streak}
    dates = book.played.dates_of
    first = dates(sides.game[[streak.first for streak in longest.values()]])
    last = dates(sides.game[[streak.last for streak in longest.values()]])
    table = {
        "series": longest,
        "#games": [markup.number(streak.games) for streak in longest.values()],
        "#points": [markup.number(streak.points) for streak in longest.values()],
        "from": first,
        "to": last,
    }
    return markup.table("streaks", table) + markup.note(ORDER_OF_GAMES if longest else "")


def _player_games(book: Book, player: int, sides: Sides) -> Iterator[str]:
    """Lines of every event and of the games there, by date of the first; games of no event by year.

    An event: year, name, place, games, points, expected and performance. A game: date without that year, colour,
    opponent, result and expected.
    """
    dates = book.played.dates
    opponents = book.player_pages.fields("")
    events = book.event_pages.fields("../events/")
    event_of_game = book.events.of_game[sides.game]
    entry = book.events.entries.of_side[rows_of(book.played.side_order.starts, player)]
    # the event of each game or, below 0, the year of a game of no event
    group = np.where(event_of_game >= 0, event_of_game, -1 - sides.year)
    _, first, index = np.unique(group, return_index=True, return_inverse=True)
    order = np.argsort(first[index], kind="stable")
    group = group[order].tolist()
    entry = entry[order].tolist()
    games = sides.game[order]
    margins = book.played.margin[games].tolist()
    games = games.tolist()
    years = sides.year[order].tolist()
    weights = sides.weight[order].tolist()
    outcomes = sides.outcome[order].tolist()
    expected = sides.expected[order].tolist()
    initials = [book.words.initials[colour] for colour in sides.colour[order].tolist()]
    heading = None
    for position, row in enumerate(order.tolist()):
        year = years[position]
        event = group[position]
        if event != heading:
            heading = event
            if event >= 0:
                yield f"{year}\t{events[event]}\t{_entry(book, event, entry[position])}"
            else:
                yield f"{year}\t"
        game = games[position]
        weight = weights[position]
        team = book.played.team_name(game, is_black=not sides.is_second[row])
        opponent = opponents[sides.opponent[row]] if team is None else markup.field(team)
        result = markup.result_of_side(book.words, outcomes[position], margins[position])
        times = "" if weight == 1 else f" × {weight:.10g}"
        cells = (
            markup.within(dates[game], year), initials[position], opponent, f"{result}{times}",
            markup.expected_score(expected[position]),
        )  # fmt: skip
        yield "\t".join(cells)


def _entry(book: Book, event: int, entry: int) -> str:
    """Place, games, points, expected points and performance of a player in an event."""
    entries = book.events.entries
    rows = entries.of(event)
    players = rows.stop - rows.start
    rank = entries.rank[entry]
    cells = (
        f"{rank} of {players}" if rank and players > 2 else "", markup.number(entries.played[entry]),
        markup.number(entries.points[entry]), markup.number(entries.expected[entry]),
        markup.performance(book.events, event, entry),
    )  # fmt: skip
    return "\t".join(cells)
