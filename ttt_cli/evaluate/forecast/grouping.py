"""Scored games in groups: by decade, or by the players' experience."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from ttt_cli.timeline import Timeline

Array = NDArray[np.float64]

By = Literal["decade", "experience"]

EXPERIENCE: Final = (0, 1, 10, 30, 100)  # where the groups begin, earlier games


@dataclass(frozen=True)
class Group:
    """Some of the scored games: a name and which they are, of shape (scored games,)."""

    name: str
    member: NDArray[np.bool_]


def groups(timeline: Timeline, first: int, by: By) -> list[Group]:
    """The games from the period at index `first` on in groups, empty ones left out."""
    found = _decades(timeline, first) if by == "decade" else _experience(timeline, first)
    return [group for group in found if group.member.any()]


def earlier_games(timeline: Timeline) -> Array:
    """The weighted number of games that a node's player has in earlier periods, shape (nodes,)."""
    order = np.argsort(timeline.node_player, kind="stable")
    player, games = timeline.node_player[order], timeline.node_games[order]
    before = np.cumsum(games) - games
    starts = np.flatnonzero(np.diff(player, prepend=-1))
    earlier = np.empty(len(order))
    earlier[order] = before - np.repeat(before[starts], np.diff(starts, append=len(order)))
    return earlier


def _decades(timeline: Timeline, first: int) -> list[Group]:
    years = [int(timeline.label(number)[:4]) for number in timeline.periods[first:].tolist()]
    decade = np.repeat(np.array(years) // 10 * 10, np.diff(timeline.game_start[first:]))
    return [Group(f"{start}s", decade == start) for start in np.unique(decade).tolist()]


def _experience(timeline: Timeline, first: int) -> list[Group]:
    scored = slice(int(timeline.game_start[first]), None)
    earlier = earlier_games(timeline)
    least = np.minimum(earlier[timeline.game_white[scored]], earlier[timeline.game_black[scored]])
    ends = (*EXPERIENCE[1:], None)
    return [
        Group(_span(low, high), (least >= low) & (least < (np.inf if high is None else high)))
        for low, high in zip(EXPERIENCE, ends, strict=True)
    ]


def _span(low: int, high: int | None) -> str:
    if high is None:
        return f"{low}+"
    return str(low) if high == low + 1 else f"{low}-{high - 1}"
