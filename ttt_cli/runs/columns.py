"""The tables of a run as arrays, with ids and numbers where names and labels will stand."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ttt_cli.fitted import Histories
from ttt_cli.folding import fold, fold_surname
from ttt_cli.games.table import DRAW, LOSS, WIN, Games
from ttt_cli.periods import period_of
from ttt_cli.timeline import Timeline

Columns = dict[str, NDArray[np.generic]]


def texts(values: list[str] | tuple[str, ...]) -> NDArray[np.generic]:
    """Text as an array of objects, shape (n,)."""
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def player_columns(games: Games, history: Histories) -> Columns:
    """One row per player, in order: names, spellings to look up, the record and the peak.

    `start`, `end` and `peak` are row numbers in the histories, -1 for a player without games. The peak is
    the highest mean among the periods with games, the first of equals.
    """
    n = len(games.players)
    start = np.full(n, -1, np.int64)
    end = np.full(n, -1, np.int64)
    peak = np.full(n, -1, np.int64)
    rows = np.arange(len(history.player))
    start[history.player[::-1]] = rows[::-1]
    end[history.player] = rows
    active = np.flatnonzero(history.games > 0)
    climbing = active[np.lexsort((-active, history.columns["mean"][active]))]
    peak[history.player[climbing]] = climbing
    ids = np.concatenate([games.white, games.black])
    outcome = np.concatenate([games.outcome, WIN - games.outcome])
    weight = np.tile(games.weight, 2)
    wins, draws, losses = (
        np.bincount(ids[outcome == o], weight[outcome == o], minlength=n) for o in (WIN, DRAW, LOSS)
    )
    return {
        "row": np.arange(n),
        "player": texts(games.players),
        "folded": texts([fold(name) for name in games.players]),
        "surname": texts([fold_surname(name) for name in games.players]),
        "start": start,
        "end": end,
        "games": wins + draws + losses,
        "wins": wins,
        "draws": draws,
        "losses": losses,
        "peak": peak,
    }


def skill_columns(history: Histories) -> Columns:
    """The histories, numbered by `row`."""
    further = {name: column for name, column in history.columns.items() if name not in ("mean", "sd")}
    return {
        "row": np.arange(len(history.player)),
        "player_id": history.player,
        "period_number": history.period,
        "mean": history.columns["mean"],
        "sd": history.columns["sd"],
        "games": history.games,
        **further,
    }


def game_columns(games: Games, timeline: Timeline) -> Columns:
    """The games, numbered by `row`."""
    return {
        "row": np.arange(len(games)),
        "period_number": period_of(games.date, timeline.period),
        "date_days": games.date,
        "date_precision": games.date_precision,
        "white_id": games.white,
        "black_id": games.black,
        "outcome": games.outcome,
        "weight": games.weight,
        "offset": games.offset,
        "line": games.source_line,
        "file_number": games.source_file,
    }
