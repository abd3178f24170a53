"""The pages of events: standings or a crosstable, and games."""

from collections.abc import Mapping, Sequence
from typing import Final

from ttt_cli.runs.run import Run
from ttt_cli.views.history.crosstables import by_round, make_crosstable
from ttt_cli.views.history.event_summaries import event_facts
from ttt_cli.views.history.performances import performance_meaning
from ttt_cli.views.history.played import PlayedGames
from ttt_cli.views.report import markup
from ttt_cli.views.report.book import Book
from ttt_cli.views.report.subjects import Subject
from ttt_cli.views.sides import NEUTRAL

_MOST_ACROSS: Final = 30
_STANDINGS: Final = 400
_TEN: Final = 10


def event_subject(book: Book, index: int) -> Subject:
    """The page of an event, or a part of a shared one; games are listed where no crosstable shows them."""
    event = book.events.rows[index]
    columns = _crosstable(book, index)
    year = markup.turn(markup.link(f"../years/{event.year}.html", str(event.year)))
    games = [] if columns else by_round(book.played, book.events.games_of(index))
    lines = [_game_line(book, event.year, game) for game in games]
    address = book.event_pages.addresses[index] or ""
    meaning = "" if markup.is_shared(address) else markup.note(_meaning(book.run))
    content = [year, _standings(book, index, columns), meaning]
    return Subject(address, event.title, event_facts(event), content, "rounds", lines, event.year)


def _meaning(run: Run) -> str:
    """What expected points and performances are."""
    return f"expected: points by the skills of the time; {performance_meaning(run)}"


def _game_line(book: Book, year: int, game: int) -> str:
    """Round, date, players, result, White's expected score, and neutral ground."""
    played = book.played
    names = book.player_pages.fields("../players/")
    cells = (
        markup.field(played.texts[played.round[game]]), markup.within(played.dates[game], year),
        *[_side(played, names, game, is_black=is_black) for is_black in (False, True)],
        markup.result_of_game(book.words, int(played.outcome[game]), float(played.margin[game])),
        markup.expected_score(played.expected(game)),
        *([NEUTRAL] if played.neutral[game] else []),
    )  # fmt: skip
    return "\t".join(cells)


def _side(played: PlayedGames, names: Sequence[str], game: int, *, is_black: bool) -> str:
    """The player of a side, or the members of its team."""
    team = played.team_name(game, is_black=is_black)
    return (
        names[played.black[game] if is_black else played.white[game]]
        if team is None
        else markup.field(team)
    )


def _standings(book: Book, index: int, columns: Mapping[str, list[str]]) -> str:
    """Everybody by points, with the skill at the end of the year; `columns`: those of a crosstable, if any."""
    entries = book.events.entries
    year = book.events.rows[index].year
    links = book.player_pages.links("../players/")
    rows = entries.of(index)
    rows = slice(rows.start, min(rows.stop, rows.start + _STANDINGS))
    players = entries.player[rows].tolist()
    event = book.events.rows[index]
    places = {}
    if event.is_complete:
        places = {"#place": [str(rank) for rank in entries.rank[rows].tolist()]}
    elif columns:
        places = {"#no": [str(number) for number in range(1, len(players) + 1)]}
    games = [markup.number(games) for games in entries.played[rows].tolist()]
    table = {
        **places,
        "player": [links[player] for player in players],
        "#points": _points(book, index, rows),  # before the results, for which a phone has no room
        **columns,
        **({"#games": games} if event.is_complete else {}),
        "#expected": [markup.number(expected) for expected in entries.expected[rows].tolist()],
        "#performance": [
            markup.performance(book.events, index, entry) for entry in range(rows.start, rows.stop)
        ],
        "#skill": [markup.points(book.skills.mean_in(player, year)) for player in players],
    }
    return markup.table("crosstable" if columns else "standings", table, "cross" if columns else "")


def _points(book: Book, index: int, rows: slice) -> list[str]:
    """The points, with the number of games where games are missing."""
    entries = book.events.entries
    points = [markup.number(points) for points in entries.points[rows].tolist()]
    if book.events.rows[index].is_complete:
        return points
    games = [markup.number(games) for games in entries.played[rows].tolist()]
    return [f"{scored} of {played}" for scored, played in zip(points, games, strict=True)]


def _crosstable(book: Book, index: int) -> dict[str, list[str]]:
    """The columns of a crosstable, results in the order of games; nothing where many did not meet."""
    players = book.events.entries.player[book.events.entries.of(index)]
    if len(players) > _MOST_ACROSS or not book.events.rows[index].possible:
        return {}
    table = make_crosstable(book.played, players, book.events.games_of(index))
    return {
        str(number): [
            "·" if player == opponent else _grouped(table.results.get((player, opponent), []))
            for player in table.players
        ]
        for number, opponent in enumerate(table.players, 1)
    }


def _grouped(outcomes: list[int]) -> str:
    """Results of one player against another; of a long match in groups of ten."""
    results = [markup.RESULTS[outcome] for outcome in outcomes]
    tens = [results[start : start + _TEN] for start in range(0, len(results), _TEN)]
    return " ".join(["".join(ten) for ten in tens])
