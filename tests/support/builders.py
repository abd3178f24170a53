"""Small histories for tests: games from tuples, and the timelines and fits of them."""

from __future__ import annotations

import csv
import gzip
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest

from ttt_cli.config.schema import SolverConfig
from ttt_cli.games.table import Games
from ttt_cli.kernels import elo as structures
from ttt_cli.systems import registry
from ttt_cli.timeline import build_timeline

EXACT = SolverConfig(tol=1e-9, posterior="factorised")
FEW_ROWS = [
    (1900, "a", "b", 2),
    (1900, "b", "c", 1),
    (1901, "c", "a", 0),
    (1904, "a", "b", 1),
    (1904, "b", "a", 2),
]
CAREER = {
    "growth": 150.0, "growth_years": 2.5, "decline": 12.5, "decline_after": 3.5, "early": 2.0, "early_years": 1.5,
}  # fmt: skip
SYMBOLS = {"1-0": 2, "0-1": 0, "1/2-1/2": 1}


def make_games(rows: Iterable[tuple], players: Iterable[str] = ()) -> Games:
    """Games from (year, white, black, outcome[, weight[, offset[, neutral[, victory margin]]]]); a stable sort by year,
    further players allowed.
    """
    rows = sorted(rows, key=lambda row: row[0])
    names = sorted({*players, *(row[1] for row in rows), *(row[2] for row in rows)})
    ids = {name: number for number, name in enumerate(names)}
    n = len(rows)
    days = [
        (np.datetime64(f"{row[0]:04d}-07-02", "D") - np.datetime64("1970-01-01", "D")).astype(int)
        for row in rows
    ]
    return Games(
        date=np.array(days, np.int32),
        date_precision=np.zeros(n, np.int8),
        white=np.array([ids[row[1]] for row in rows], np.int32),
        black=np.array([ids[row[2]] for row in rows], np.int32),
        outcome=np.array([row[3] for row in rows], np.int8),
        weight=np.array([row[4] if len(row) > 4 else 1.0 for row in rows]),
        offset=np.array([row[5] if len(row) > 5 else 0.0 for row in rows]),
        neutral=np.array([len(row) > 6 and row[6] for row in rows], np.bool_),
        victory_margin=np.array([row[7] if len(row) > 7 else 0.0 for row in rows]),
        source_file=np.zeros(n, np.int32),
        source_line=np.arange(n, dtype=np.int64),
        players=tuple(names),
    )


def plain_games(white, black, outcome):
    """Games between nodes as kernels of filters take them, of weight 1 and without handicaps."""
    ends, n = (np.array(side, np.int32) for side in (white, black)), len(outcome)
    return structures.GameRows(
        *ends, np.array(outcome, np.int8), np.ones(n), *np.zeros((2, n)), np.zeros(n, np.bool_)
    )


def fit_rows(rows, model="ttt", solver=EXACT, period="year", colours="known", **params):
    """(timeline, fit) of rows as in `make_games`."""
    module = registry.load(model)
    timeline = build_timeline(make_games(rows), period, colours)
    return timeline, module.fit(timeline, module.Params(**params), solver)


def random_rows(seed, games, players=5, years=5, weights=(1.0,), odds=(0.0,)):
    """Games of random pairs, years, results, weights and odds."""
    rng = np.random.default_rng(seed)
    names = [f"p{number:02d}" for number in range(players)]
    return [
        (
            int(rng.integers(1900, 1900 + years)),
            *rng.choice(names, 2, replace=False).tolist(),
            int(rng.integers(3)),
            float(rng.choice(weights)),
            *([float(rng.choice(odds))] if any(odds) else []),
        )
        for _ in range(games)
    ]


def assert_slopes(module, timeline, params, keys, solver=EXACT, step=1e-3, **near):
    """The gradient of the log-evidence in `keys` is that of central differences, `step` of each value apart.

    Returns the whole gradient. `keys` may be steps by key; `near` as for `pytest.approx`.
    """
    slopes = module.gradient(timeline, params, module.fit(timeline, params, solver))
    for key in keys:
        at = getattr(params, key)
        width = keys[key] if isinstance(keys, dict) else step * (abs(at) or 1.0)
        high, low = (
            module.fit(
                timeline, params.model_copy(update={key: at + side * width}), solver
            ).log_evidence
            for side in (1, -1)
        )
        expected = (high - low) / (2 * width)
        assert slopes[key] == pytest.approx(expected, **{"rel": 1e-4, "abs": 1e-8, **near}), key
    return slopes


def skills(timeline, fit):
    """{(player, year): (mean, sd)}."""
    return {
        (timeline.players[timeline.node_player[i]], int(timeline.node_period[i])): (
            fit.mean[i],
            fit.sd[i],
        )
        for i in range(timeline.n_nodes)
    }


def means(timeline, fit):
    """{(player, year): mean}."""
    return {key: mean for key, (mean, _) in skills(timeline, fit).items()}


def small_chess_base(data: Path) -> list[tuple]:
    """The 1,000 games published with the original program."""
    with (data / "smallchessbase" / "SmallChessBase.csv").open(encoding="utf-8") as file:
        return [(int(row[1]), row[2], row[3], int(row[4])) for row in csv.reader(file)]


def historical(data: Path, name: str) -> list[tuple]:
    """Games of one of the historical files."""
    with gzip.open(data / name, "rt", encoding="utf-8") as file:
        return [
            (int(row["date"][:4]), row["white"], row["black"], SYMBOLS[row["result"]])
            for row in csv.DictReader(file)
            if row["result"] in SYMBOLS and row["white"] != row["black"]
        ]
