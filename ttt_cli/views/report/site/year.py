"""The page of a year: its ranking with what moved, who was new, its events, and games of no known event."""

from typing import Final

import numpy as np

from ttt_cli.views.report.site.book import Book
from ttt_cli.views.report.site.markup import (
    chance,
    link,
    note,
    number,
    page,
    remark,
    rest,
    result,
    row,
    section,
    skill,
    table,
    text,
    turn,
)  # fmt: skip
from ttt_cli.views.report.words import counted, say

_RANKED: Final = 300
_NEW: Final = 200
_GAMES: Final = 500


def year_page(book: Book, year: int) -> str:
    """The page of a year that has one."""
    at = book.all_years.index(year)
    before = book.all_years[at - 1] if at else None
    after = book.all_years[at + 1] if at + 1 < len(book.all_years) else None
    around = turn(*(link(f"{one}.html", str(one)) if one is not None else "" for one in (before, after)))
    played = book.played.year == year
    ranked = len(book.rankings[year].id) if year in book.rankings else 0
    games = counted(int(np.count_nonzero(played)), "{} game", "{} games")
    facts = f"{games}, {counted(ranked, '{} player ranked', '{} players ranked')}"
    alone = np.flatnonzero(played & (book.events.of_game < 0)).tolist()
    parts = {
        "Ranking": _ranking(book, year),
        "Newcomers": _newcomers(book, year),
        "Events": _events(book, year),
    }
    parts["Games of no known event"] = _games(book, alone)
    return page(book.title, str(year), around, *map(section, parts, parts.values()), around, facts=facts)


def _ranking(book: Book, year: int) -> str:
    ranking = book.rankings.get(year)
    if ranking is None:
        return note(say("Nobody is eligible in this year."))
    earlier = book.rankings.get(year - 1)
    best, links = ranking.best, book.of_players.links("../players/")
    rows = []
    columns = (column[:_RANKED].tolist() for column in (ranking.id, ranking.mean, ranking.sd, ranking.games))
    for rank, (player, mean, sd, games) in enumerate(zip(*columns, strict=True), 1):
        p_best = () if not best else (chance(best[rank - 1]) if rank <= len(best) else "",)
        before = earlier.rank.get(player) if earlier else None
        move = moved(rank, before, new=book.people[player].first == year)
        played = number(games) if games else ""
        rows.append(row(str(rank), move, links[player], skill(mean, sd), *p_best, played))
    heads = ("#rank", "#move", "player", "#skill", *(["#p best"] if best else []), "#games")
    more = rest(len(ranking.id) - len(rows))
    return table("ranking", heads, rows) + more + remark(book.remark if best else "")


def moved(rank: int, before: int | None, *, new: bool) -> str:
    """How many places up or down since the year before."""
    if before is None:
        return say("new") if new else say("in")
    if before == rank:
        return "="
    return f"▲{before - rank}" if before > rank else f"▼{rank - before}"


def _newcomers(book: Book, year: int) -> str:
    years, links = book.years, book.of_players.links("../players/")
    rows = np.flatnonzero(years.year == year)
    new = [at for at in rows.tolist() if book.people[years.id[at]].first == year]
    new.sort(key=lambda at: (-years.mean[at], at))
    shown = [
        row(links[years.id[at]], skill(years.mean[at], years.sd[at]), number(years.games[at]))
        for at in new[:_NEW]
    ]
    heads = ("player", "#skill", "#games")
    return table("newcomers", heads, shown) + rest(len(new) - len(shown)) if shown else ""


def _events(book: Book, year: int) -> str:
    events, links = book.events, book.of_players.links("../players/")
    rows, titles = [], book.of_events.links("../events/")
    for at in book.events_in.get(year, []):
        event = events.all[at]
        entries = slice(*events.entry_starts[at : at + 2].tolist())
        first = events.player[entries][events.rank[entries] == 1].tolist()
        named = ", ".join(links[one] for one in first[:3])
        winners = named if len(first) <= 3 else text(say("{} players", len(first)))
        rows.append(row(titles[at], f"{event.games:,}", str(entries.stop - entries.start), winners))
    return table("events", ("event", "#games", "#players", "most points"), rows) if rows else ""


def _games(book: Book, games: list[int]) -> str:
    if not games:
        return ""
    played, links = book.played, book.of_players.links("../players/")
    rows = [
        row(
            played.dates[at], links[played.white[at]], links[played.black[at]],
            f"{result(played.outcome[at])}–{result(2 - played.outcome[at])}",
            chance(played.chance[at, 2] + played.chance[at, 1] / 2.0),
        )
        for at in games[:_GAMES]
    ]  # fmt: skip
    more = rest(len(games) - len(rows), "and {} more, on the pages of their players")
    return table("games", ("date", "white", "black", "#result", "#expected"), rows) + more
