"""Small histories of games between teams and of orders of finish."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from tests.support.builders import make_games
from ttt_cli.games.table import Games
from ttt_cli.games.teams import teams_of
from ttt_cli.reading.columns import CodedColumn

SIGN = " / "


def games_of_sides(rows: Iterable[Sequence], categories: Sequence[str] = ()) -> Games:
    """Games from (year, white, black, outcome[, weight[, offset[, neutral]]]) with sides as `A / B` or `A*0.5 / B`.

    A row may begin with the number of an order of finish: ((1900, 1), white, ...). `categories`: of each row.
    """
    order = sorted(range(len(list(rows))), key=lambda index: _year(rows[index]))
    rows = [rows[index] for index in order]
    sides = [[_members(side) for side in row[1:3]] for row in rows]
    names = sorted({name for of_row in sides for members in of_row for name in members})
    number = {name: index for index, name in enumerate(names)}
    plain = [
        (_year(row), *[next(iter(members)) for members in of_row], *row[3:])
        for row, of_row in zip(rows, sides, strict=True)
    ]
    games = make_games(plain, names)
    teams: list[dict[int, float]] = []
    codes = [[_code(members, number, teams) for members in of_row] for of_row in sides]
    if categories:
        texts = ("", *sorted({*categories} - {""}))
        of_game = [texts.index(categories[index]) for index in order]
        games = replace(games, category=CodedColumn(np.array(of_game, np.int32), texts))
    white_team, black_team = np.array(codes, np.int32).T
    return replace(
        games,
        white_team=white_team,
        black_team=black_team,
        race=np.array([row[0][1] if isinstance(row[0], tuple) else 0 for row in rows], np.int32),
        teams=teams_of(teams),
    )


def _year(row: Sequence) -> int:
    return row[0][0] if isinstance(row[0], tuple) else row[0]


def _members(side: str) -> dict[str, float]:
    members = {}
    for member in side.split(SIGN):
        name, _, share = member.partition("*")
        members[name] = float(share or 1.0)
    return members


def _code(members: dict[str, float], number: dict[str, int], teams: list[dict[int, float]]) -> int:
    if list(members.values()) == [1.0]:
        return 0
    by_player = {number[name]: share for name, share in members.items()}
    in_order = [
        list(team.items()) for team in teams
    ]  # the first member is the first player of the side
    if list(by_player.items()) not in in_order:
        teams.append(by_player)
        return len(teams)
    return in_order.index(list(by_player.items())) + 1


def race(year: int, number: int, order: Sequence[str], ties: Sequence[int] = ()) -> list[tuple]:
    """Rows of an order of finish; `ties`: places, from 0, that are equal to the next one."""
    return [
        ((year, number), first, second, 1 if place in ties else 2)
        for place, (first, second) in enumerate(pairwise(order))
    ]
