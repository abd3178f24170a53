"""What moves the peaks of the best players of a site: events and games, to first order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from ttt_cli.support.arrays import Array
from ttt_cli.views.report import markup
from ttt_cli.views.report.peak_influence import Change, Influences, PeakInfluence

if TYPE_CHECKING:
    from ttt_cli.views.report.book import Book

# Players who were ranked so high in some year: each takes a solution of the joint Gaussian
BEST: Final = 3
_ROWS: Final = 5  # of a table


def influences_of(book: Book) -> Influences:
    """The influences on the peaks of those who were among the `BEST` of some year, by player.

    None for runs whose influence is not computed.
    """
    from ttt_cli.inference.games_in_posterior import has_influence
    from ttt_cli.inference.influence import Influence

    run = book.run
    if not has_influence(run):
        return {}
    best = {
        player
        for ranking in book.rankings.by_year.values()
        for player, rank in ranking.rank.items()
        if rank <= BEST
    }
    influence = Influence(run)
    event = book.events.of_game
    has_event = event >= 0
    influences = {}
    for player in sorted(best):
        person = book.people.rows[player]
        peak = run.find_period(person.peak_period)[1]
        target = influence.target(run.joint.sum_of([(person.name, peak)], np.ones(1)))
        of_games = run.scale.slope * influence.changes_without(target)
        of_events: Array = np.zeros(len(book.events.rows))
        np.add.at(of_events, event[has_event], of_games[has_event])
        influences[player] = PeakInfluence(_largest(of_events), _largest(of_games))
    return influences


def _largest(changes: Array) -> list[Change]:
    """The largest changes."""
    order = np.argsort(-np.abs(changes), kind="stable")[:_ROWS]
    return [Change(index, float(changes[index])) for index in order.tolist() if changes[index]]


def influence_tables(book: Book, player: int) -> str:
    """What moves the mean at the peak of a player, as HTML; nothing for those whose influences are not known."""
    influence = book.influences.get(player)
    if influence is None:
        return ""
    peak = book.people.rows[player].peak_period
    words = (
        f"Change of the mean of {peak} if an event or a game, of whichever players, is left out, to first order "
        "(`ttt why` shows more)"
    )
    events = book.event_pages.links("../events/")
    by_event = {
        "event": [events[change.number] for change in influence.events],
        "year": [str(book.events.rows[change.number].year) for change in influence.events],
        "#change": [_signed(change.points) for change in influence.events],
    }
    dates = book.played.dates
    by_game = {
        "date": [markup.date(dates[change.number]) for change in influence.games],
        "game": [_game(book, change.number) for change in influence.games],
        "#change": [_signed(change.points) for change in influence.games],
    }
    return (
        markup.note(words)
        + markup.table("events with the most influence", by_event)
        + markup.table("games with the most influence", by_game)
    )


def _game(book: Book, game: int) -> str:
    """Players and result of a game."""
    played = book.played
    links = book.player_pages.links("")
    sides = []
    for is_black, person in ((False, played.white[game]), (True, played.black[game])):
        team = played.team_name(game, is_black=is_black)
        sides.append(links[person] if team is None else markup.text(team))
    result = book.words.result_of_game(int(played.outcome[game]), float(played.margin[game]))
    first, second = sides
    return f"{first} {result} {second}" if book.words.is_chess else f"{first} – {second}, {result}"


def _signed(points: float) -> str:
    """Points with a sign."""
    return f"{points:+.0f}".replace("-", "−")
