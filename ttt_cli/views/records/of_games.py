"""The biggest upsets, the pairs and the players with most games."""

from __future__ import annotations

import numpy as np

from ttt_cli.views.records.record import Record, RecordSource
from ttt_cli.views.rows import integral


def upsets(source: RecordSource) -> list[Record]:
    """The wins with the lowest expected score, of eligible players against eligible ones."""
    sides = source.sides
    won = sides.take(np.flatnonzero((sides.outcome == 2) & source.is_eligible[sides.opponent]))
    order = np.lexsort((won.game, won.expected))[: source.number]
    games = won.game[order]
    names = source.played.players
    return [
        Record(
            rank, names[won.player[row]], float(won.expected[row]), date, date,
            opponent=names[won.opponent[row]], event=event,
        )
        for rank, (row, date, event) in enumerate(
            zip(order, source.dates(games), source.event_titles(games), strict=True), 1
        )
    ]  # fmt: skip


def rivalries(source: RecordSource) -> list[Record]:
    """The pairs of eligible players with most games; who scored more is named first."""
    sides = source.sides
    counted = sides.take(np.flatnonzero(source.is_eligible[sides.opponent]))
    width = len(source.played.players)
    totals = counted.totals(counted.player * np.int64(width) + counted.opponent)
    player = totals.keys // width
    opponent = totals.keys % width
    scored_more = totals.points > totals.games / 2.0
    equal_and_first = (totals.points == totals.games / 2.0) & (player < opponent)
    pairs = np.flatnonzero(scored_more | equal_and_first)
    pairs = pairs[np.argsort(-totals.games[pairs], kind="stable")][: source.number]
    rows_by_group = np.argsort(totals.group, kind="stable")
    starts = np.searchsorted(totals.group[rows_by_group], np.arange(len(totals.keys) + 1))
    first_dates = source.dates(counted.game[rows_by_group[starts[pairs]]])
    last_dates = source.dates(counted.game[rows_by_group[starts[pairs + 1] - 1]])
    names = source.played.players
    return [
        Record(
            rank, names[player[pair]], integral(float(totals.games[pair])), first, last,
            opponent=names[opponent[pair]], points=float(totals.points[pair]),
        )
        for rank, (pair, first, last) in enumerate(zip(pairs, first_dates, last_dates, strict=True), 1)
    ]  # fmt: skip


def most_games(source: RecordSource) -> list[Record]:
    """The players with most games."""
    sides = source.sides
    totals = sides.totals(sides.player)
    order = np.argsort(-totals.games, kind="stable")[: source.number]
    first = np.searchsorted(sides.player, totals.keys)
    last = np.searchsorted(sides.player, totals.keys, side="right") - 1
    first_dates = source.dates(sides.game[first[order]])
    last_dates = source.dates(sides.game[last[order]])
    return [
        Record(
            rank, source.played.players[totals.keys[index]], integral(float(totals.games[index])),
            first_date, last_date, points=float(totals.points[index]),
        )
        for rank, (index, first_date, last_date) in enumerate(zip(order, first_dates, last_dates, strict=True), 1)
    ]  # fmt: skip
