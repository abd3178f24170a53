"""The games of a run as a site shows them: dates, events, and what was expected of each."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np

from ttt_cli.arrays import Array, Ids, Mask, Places
from ttt_cli.inference.gaussian import in_year
from ttt_cli.inference.outcome import by_sides
from ttt_cli.quantities import TEXT_COLUMNS
from ttt_cli.runs.run import Run
from ttt_cli.runs.schema import DATABASE
from ttt_cli.timeline import KNOWN, NEUTRAL

_GAMES: Final = f"""
SELECT period_number, date_days AS days, date_precision AS "precision", white_id AS white, black_id AS black, outcome,
       CAST(weight AS DOUBLE) AS weight, "offset", rowid IN (SELECT "row" FROM neutral_games) AS neutral
FROM {DATABASE}.main.game_rows ORDER BY rowid
"""
_NODES: Final = f"""
SELECT id, s.* EXCLUDE (player, "until", games)
FROM {DATABASE}.main.spans s JOIN {DATABASE}.main.names n USING (player) ORDER BY id, period_number
"""
_SHOWN: Final = np.array([4, 7, 10])  # letters of a date, by its precision
_UNKNOWN: Final = frozenset({"", "?", "??", "-", "--", "???", "????", "unknown", "n/a", "none"})
Strengths = dict[str, Array]


@dataclass(frozen=True)
class Played:
    """All games, in the run's order; arrays of shape (games,).

    | name | unit | |
    |---|---|---|
    | year | | of the game's period |
    | days, precision | days since 1970-01-01 | as in the table of games |
    | white, black | | players, numbers in the run's names |
    | outcome, weight | | White's: 0 loss, 1 draw, 2 win; so many equal games |
    | offset | Elo points | added to White's strength |
    | neutral | | whether nobody had White's advantage |
    | chance | probability, shape (games, 3) | of White's loss, draw and win, by the skills of the game's period |
    | white_node, black_node | | rows of `nodes` |
    | event, round | | numbers of `texts`, 0 where nothing is known; `site` likewise |
    | nodes | points | mean and sd of every player in every period with games, and the model's further columns |
    """

    year: Ids
    days: Ids
    precision: Ids
    white: Ids
    black: Ids
    outcome: Ids
    weight: Array
    offset: Array
    neutral: Mask
    chance: Array
    white_node: Places
    black_node: Places
    nodes: Strengths
    event: Ids
    site: Ids
    round: Ids
    texts: list[str]

    @cached_property
    def dates(self) -> list[str]:
        """The dates as far as they are known: `1858`, `1858-06`, `1858-06-15`."""
        days, place = np.unique(self.days, return_inverse=True)
        texts = np.datetime_as_string(days.astype("datetime64[D]")).tolist()
        ends = _SHOWN[self.precision].tolist()
        return [texts[at][:end] for at, end in zip(place.tolist(), ends, strict=True)]

    @cached_property
    def by_player(self) -> tuple[Places, Places]:
        """The games of all players, one player's after the other's, and where each player's begin: twice as many."""
        player = np.concatenate([self.white, self.black])
        game = np.tile(np.arange(len(self.white)), 2)
        order = np.lexsort((game, player))
        return game[order], np.searchsorted(player[order], np.arange(int(player.max(initial=-1)) + 2))


def played_games(run: Run) -> Played:
    """The games of a run, the chances of each from the model."""
    games: dict[str, Any] = run.arrays(_GAMES)
    nodes = run.arrays(_NODES)
    period = games.pop("period_number")
    keys = nodes.pop("id") * np.int64(1 << 32) + (nodes["period_number"] - _LOWEST)
    white, black = (
        np.searchsorted(keys, games[side] * np.int64(1 << 32) + (period - _LOWEST))
        for side in ("white", "black")
    )
    year = _years(run)[period - period.min()] if len(period) else period
    sides = _rows(nodes, white), _rows(nodes, black)
    return Played(
        **games,
        year=year,
        chance=predicted(run, year, *sides, games["offset"], games["neutral"]),
        white_node=white,
        black_node=black,
        nodes=nodes,
        **_texts(run, len(period)),
    )


_LOWEST: Final = -(1 << 30)


def predicted(
    run: Run,
    year: Ids,
    white: Strengths,
    black: Strengths,
    offset: Array | float = 0.0,
    neutral: Mask | bool = False,
) -> Array:
    """What the model says of games of these strengths, points: of White's loss, draw and win, shape (games, 3).

    `year`, shape (games,): where draw margins move, they are those of the year. `offset` and `neutral` as in `Played`.
    """
    from ttt_cli.systems.registry import load

    model, found = load(run.meta.model), np.empty((len(year), 3))
    every, sides = slice(None), np.broadcast_to(np.where(neutral, NEUTRAL, KNOWN), len(year))
    half = 0.5 * run.meta.elo_unit * offset
    white, black = {**white, "mean": white["mean"] + half}, {**black, "mean": black["mean"] - half}
    parts = (
        [(year_, year == year_) for year_ in np.unique(year).tolist()] if run.draws_in(0) else [(0, every)]
    )
    for at, rows in parts:
        params = dict(in_year(run.meta.params, run.draws_in(at)))
        found[rows] = by_sides(model.predict, params, _rows(white, rows), _rows(black, rows), sides[rows])
    return found


def _rows(strengths: Strengths, rows: Any) -> Strengths:
    return {name: column[rows] for name, column in strengths.items()}


def _years(run: Run) -> Ids:
    """The year of every period from that of the first game on."""
    query = """SELECT CAST(substr(period, 1, 4) AS INTEGER) AS year FROM periods
        WHERE period_number >= (SELECT min(period_number) FROM run.main.game_rows) ORDER BY period_number"""
    years: Ids = run.arrays(query)["year"]
    return years


def _texts(run: Run, games: int) -> dict[str, Any]:
    """What is written of the games, and the texts themselves: the first is empty, and stands for nothing known."""
    if not run.has_texts:
        return {name: np.zeros(games, np.int32) for name in TEXT_COLUMNS} | {"texts": [""]}
    written = [text for (text,) in run.query(f"SELECT text FROM {DATABASE}.main.texts ORDER BY id")[1]]
    known = np.array([text.strip().casefold() not in _UNKNOWN for text in written])
    number = np.where(known, np.arange(1, len(written) + 1), 0)
    columns = run.arrays(f"SELECT {', '.join(TEXT_COLUMNS)} FROM {DATABASE}.main.game_texts")
    return {name: number[codes] for name, codes in columns.items()} | {"texts": ["", *written]}
