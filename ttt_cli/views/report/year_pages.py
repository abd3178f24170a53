"""The pages of years: sentences, ranking, events, newcomers and games."""

from typing import Final

import numpy as np

from ttt_cli.support.arrays import Places
from ttt_cli.views.report import markup
from ttt_cli.views.report.book import Book
from ttt_cli.views.rows import counted

_RANKED: Final = 300
_NEW: Final = 200
_MOST_GAMES: Final = 500
_SHOWN: Final = 20  # rows of the ranking and of events; others are folded
_SHOWN_NEW: Final = 10
_NAMED_WINNERS: Final = 3  # of an event; of more only the number is shown


def year_page(book: Book, year: int) -> str:
    """The page of a year that has one."""
    neighbours = [
        neighbour
        for neighbour in (year - 1, year + 1)
        if book.years[0] <= neighbour <= book.years[-1]
    ]
    turn = markup.turn(
        *(markup.link(f"{neighbour}.html", str(neighbour)) for neighbour in neighbours)
    )
    in_year = book.played.year == year
    ranking = book.rankings.by_year.get(year)
    ranked = len(ranking.id) if ranking else 0
    games = counted(int(np.count_nonzero(in_year)), "game")
    without_event = np.flatnonzero(in_year & (book.events.of_game < 0)).tolist()
    new = _newcomers(book, year)
    sections = markup.columns(
        markup.section("Ranking", _ranking(book, year)),
        markup.section("Events", _events(book, year))
        + markup.section("Newcomers", _newcomers_table(book, new)),
    )
    return markup.page(
        book.title, str(year), turn, _sentences(book, year, len(new)), sections,
        markup.section("Games of no known event", _games(book, without_event)),
        turn, facts=f"{games}, {counted(ranked, 'player')} ranked",
    )  # fmt: skip


def _sentences(book: Book, year: int, newcomers: int) -> str:
    """Who was first and how far ahead, who is ranked, and how many played their first games."""
    ranking = book.rankings.by_year.get(year)
    words = []
    if ranking is not None:
        links = book.player_pages.links("../players/")
        first, *others = ranking.id[:2].tolist()
        chance = f" (probability {markup.chance(ranking.best[0])})" if ranking.best else ""
        words.append(f"{links[first]} was number one{chance}")
        for second in others:
            lead = markup.points(float(ranking.mean[0] - ranking.mean[1]))
            words[0] += f", {lead} points ahead of {links[second]}"
        field = (
            f"{counted(len(ranking.id), 'player')} {'is' if len(ranking.id) == 1 else 'are'} ranked"
        )
        limits = book.limits.words()
        words.append(f"{field}: {markup.text(markup.signs(limits))}" if limits else field)
    if newcomers:
        verb = "has the first game" if newcomers == 1 else "have their first games"
        words.append(f"{counted(newcomers, 'player')} {verb} in this year")
    return f"<p>{'. '.join(words)}.</p>" if words else ""


def _ranking(book: Book, year: int) -> str:
    rankings = book.rankings.by_year
    ranking = rankings.get(year)
    if ranking is None:
        return markup.note("Nobody is eligible in this year.")
    earlier = rankings[year - 1].rank if year - 1 in rankings else {}
    links = book.player_pages.links("../players/")
    players = ranking.id[:_RANKED].tolist()
    moves = []
    for rank, player in enumerate(players, 1):
        is_new = book.people.rows[player].first == year
        moves.append(moved(rank, earlier.get(player), new=is_new))
    chances = [markup.chance(p) for p in ranking.best[: len(players)]]
    chances += [""] * (len(players) - len(chances))
    means = ranking.mean[:_RANKED].tolist()
    sds = ranking.sd[:_RANKED].tolist()
    table = {
        "#rank": [str(rank) for rank in range(1, len(players) + 1)],
        "#move": moves,
        "player": [links[player] for player in players],
        "#skill": [markup.skill(mean, sd) for mean, sd in zip(means, sds, strict=True)],
        **({"#p best": chances} if ranking.best else {}),
        "#games": [
            markup.number(games) if games else "" for games in ranking.games[:_RANKED].tolist()
        ],
        **book.fields_of([book.people.rows[player].name for player in players], year),
    }
    more = markup.more(len(ranking.id) - len(players))
    remark = markup.note(book.rankings.remark if ranking.best else "")
    return markup.first_rows("ranking", table, _SHOWN, more) + remark


def moved(rank: int, before: int | None, *, new: bool) -> str:
    """How many places up or down since the year before."""
    if before is None:
        return "new" if new else "in"
    if before == rank:
        return "="
    return f"▲{before - rank}" if before > rank else f"▼{rank - before}"


def _newcomers(book: Book, year: int) -> Places:
    """Rows of the skills of players whose first year it is, the strongest first."""
    skills = book.skills
    rows = np.flatnonzero(skills.year == year)
    new = rows[[book.people.rows[player].first == year for player in skills.id[rows]]]
    strongest: Places = new[np.argsort(-skills.mean[new], kind="stable")]
    return strongest


def _newcomers_table(book: Book, new: Places) -> str:
    """The strongest newcomers by their rows of skills."""
    skills = book.skills
    links = book.player_pages.links("../players/")
    listed = new[:_NEW]
    means = skills.mean[listed].tolist()
    sds = skills.sd[listed].tolist()
    table = {
        "player": [links[player] for player in skills.id[listed]],
        "#skill": [markup.skill(mean, sd) for mean, sd in zip(means, sds, strict=True)],
        "#games": [markup.number(games) for games in skills.games[listed].tolist()],
        **book.fields_of([book.people.rows[player].name for player in skills.id[listed]]),
    }
    return markup.first_rows("newcomers", table, _SHOWN_NEW, markup.more(len(new) - len(listed)))


def _events(book: Book, year: int) -> str:
    entries = book.events.entries
    titles = book.event_pages.links("../events/")
    all_events = book.events.rows
    events = sorted(book.events_in.get(year, []), key=lambda event: -all_events[event].games)
    rows = [entries.of(event) for event in events]
    table = {
        "event": [titles[event] for event in events],
        "#games": [f"{all_events[event].games:,}" for event in events],
        "#players": [str(of_event.stop - of_event.start) for of_event in rows],
        "most points": [_winners(book, of_event) for of_event in rows],
    }
    return markup.first_rows("events", table, _SHOWN)


def _winners(book: Book, rows: slice) -> str:
    """Those with the most points in an event, or how many they are."""
    links = book.player_pages.links("../players/")
    entries = book.events.entries
    winners = entries.player[rows][entries.rank[rows] == 1]
    if len(winners) > _NAMED_WINNERS:
        return f"{len(winners)} players"
    return ", ".join([links[player] for player in winners])


def _games(book: Book, games: list[int]) -> str:
    played = book.played
    links = book.player_pages.links("../players/")
    listed = games[:_MOST_GAMES]
    words = book.words

    def side(game: int, *, is_black: bool) -> str:
        team = played.team_name(game, is_black=is_black)
        player = played.black[game] if is_black else played.white[game]
        return links[player] if team is None else markup.text(team)

    table = {
        "date": [played.dates[game] for game in listed],
        words.first: [side(game, is_black=False) for game in listed],
        words.second: [side(game, is_black=True) for game in listed],
        "#result": [
            markup.result_of_game(words, int(played.outcome[game]), float(played.margin[game]))
            for game in listed
        ],
        "#expected": [markup.chance(played.expected(game)) for game in listed],
    }
    return markup.table("games", table) + markup.more(
        len(games) - len(listed), ", on the pages of their players"
    )
