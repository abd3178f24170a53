"""Histories laid out: every player's skill in every period, as arrays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ttt_cli.fitted import Fit, by_player, spans
from ttt_cli.histories import chain_columns, later_on
from ttt_cli.periods import STEPS_PER_YEAR
from ttt_cli.timeline import Timeline


@dataclass(frozen=True)
class Histories:
    """A row for every player and period from the first to the last game, or to the last of all; by player, then period.

    `games` is the weighted number of games in the period; `columns` holds mean and sd of each chain.
    """

    player: NDArray[np.int32]
    period: NDArray[np.int32]
    games: NDArray[np.float64]
    columns: dict[str, NDArray[np.float64]]


def histories(timeline: Timeline, fit: Fit, *, onward: bool = False) -> Histories:
    """`onward`: after a player's last game, too, to the last of all."""
    found = spans(timeline, fit, by_player(timeline))
    period = found["period_number"]
    last = period.max(initial=0) if onward else period
    end = np.where(np.isnan(found["until"]), last + 1, found["until"])
    rows = np.repeat(np.arange(len(period)), (end - period).astype(np.int64))
    steps = STEPS_PER_YEAR[timeline.period]
    ahead = np.arange(len(rows)) - np.searchsorted(rows, rows)
    beginnings = {name: column[rows] for name, column in found.items()}
    columns: dict[str, NDArray[np.float64]] = {}
    for name in fit.chains:
        columns |= zip(chain_columns(name), later_on(beginnings, name, ahead, steps), strict=True)
    games = np.where(ahead == 0, beginnings["games"], 0.0)
    return Histories(beginnings["player"], (period[rows] + ahead).astype(np.int32), games, columns)
