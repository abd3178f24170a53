"""The games of a run with the chances of their results, and each game from both sides."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, NamedTuple

import numpy as np

from ttt_cli.reading.reports import TEXT_COLUMNS
from ttt_cli.runs.run import Run
from ttt_cli.runs.schema import DATABASE
from ttt_cli.support.arrays import Array, Ids, Mask, Places
from ttt_cli.views.history.prediction import Strengths, predicted, take
from ttt_cli.views.history.slices import rows_of

_NODES: Final = f"""
SELECT s.* EXCLUDE (player, "until", games)
FROM {DATABASE}.main.spans s JOIN {DATABASE}.main.names n USING (player) ORDER BY id, period_number
"""
_GAMES: Final = f"""
WITH nodes AS (SELECT id, period_number, row_number() OVER (ORDER BY id, period_number) - 1 AS node
               FROM {DATABASE}.main.spans JOIN {DATABASE}.main.names USING (player))
SELECT CAST(substr(period, 1, 4) AS INTEGER) AS year, date_days AS days, date_precision AS "precision",
       white_id AS white, black_id AS black, outcome, CAST(weight AS DOUBLE) AS weight, "offset",
       coalesce(added.points, 0) AS covariate_points,
       g.rowid IN (SELECT "row" FROM neutral_games) AS neutral, w.node AS white_node, b.node AS black_node
FROM {DATABASE}.main.game_rows g JOIN periods p USING (period_number)
JOIN nodes w ON w.id = white_id AND w.period_number = g.period_number
JOIN nodes b ON b.id = black_id AND b.period_number = g.period_number
LEFT JOIN covariate_points added ON added."row" = g.rowid ORDER BY g.rowid
"""
_DATE_LENGTHS: Final = np.array([4, 7, 10])  # letters of a date, by its precision
_NO_NAMES: Final = frozenset({"", "?", "??", "-", "--", "???", "????", "unknown", "n/a", "none"})
NEUTRAL_COLOUR: Final = 2  # in `Sides.colour`: nobody had the advantage of the first side


@dataclass(frozen=True)
class Totals:
    """Sums over groups of sides, counted by the weight of games.

    | field | shape | content |
    |---|---|---|
    | `keys` | (groups,) | what the groups have in common, ascending |
    | `group` | (sides,) | index of the group of each side |
    | `games` | (groups,) | games |
    | `won`, `drawn`, `lost` | (groups,) | games by result |
    | `points` | (groups,) | `won` + `drawn` / 2 |
    | `expected` | (groups,) | points expected by the model |
    """

    keys: Any
    group: Places
    games: Array
    won: Array
    drawn: Array
    lost: Array
    points: Array
    expected: Array


class Sides(NamedTuple):
    """Games, each from one player's side; arrays of shape (sides,).

    | field | content |
    |---|---|
    | `game` | index in `PlayedGames` |
    | `player`, `opponent` | numbers in the run's names |
    | `colour` | 0 for the first side, 1 for the second, `NEUTRAL_COLOUR` |
    | `outcome` | 0 lost, 1 drawn, 2 won |
    | `win`, `expected` | probability of a win, expected points |
    | `weight` | so many equal games |
    | `year` | of the game's period |
    """

    game: Places
    player: Ids
    opponent: Ids
    colour: Places
    outcome: Ids
    win: Array
    expected: Array
    weight: Array
    year: Ids

    def totals(self, group: Any) -> Totals:
        """Sums over the sides of each group; `group`, shape (sides,): the key of each side's group."""
        keys, index = np.unique(group, return_inverse=True)

        def total(values: Any) -> Array:
            return np.bincount(index, self.weight * values, len(keys)).astype(np.float64)

        won = total(self.outcome == 2)
        drawn = total(self.outcome == 1)
        lost = total(self.outcome == 0)
        return Totals(
            keys, index, games=won + drawn + lost, won=won, drawn=drawn, lost=lost,
            points=won + drawn / 2.0, expected=total(self.expected),
        )  # fmt: skip


@dataclass(frozen=True)
class PlayedGames:
    """All games, in the run's order.

    | field | shape | content |
    |---|---|---|
    | `year` | (games,) | year of the game's period |
    | `days`, `precision` | (games,) | the date as in the table of games |
    | `white`, `black` | (games,) | players, numbers in the run's names |
    | `outcome` | (games,) | White's, 0 loss, 1 draw, 2 win |
    | `weight` | (games,) | so many equal games |
    | `offset` | (games,) | Elo points added to White's strength |
    | `covariate_points` | (games,) | points that covariates add to White's strength |
    | `neutral` | (games,) | nobody had White's advantage |
    | `chance` | (games, 3) | of White's loss, draw and win, by the skills of the game's period |
    | `white_node`, `black_node` | (games,) | rows of `nodes` |
    | `nodes` | (nodes,) each | strengths of every player in every period with games |
    | `event`, `site`, `round` | (games,) | indices in `texts`, 0 where unknown |
    """

    year: Ids
    days: Ids
    precision: Ids
    white: Ids
    black: Ids
    outcome: Ids
    weight: Array
    offset: Array
    covariate_points: Array
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
        days, index = np.unique(self.days, return_inverse=True)
        full_dates = np.datetime_as_string(days.astype("datetime64[D]")).tolist()
        lengths = _DATE_LENGTHS[self.precision].tolist()
        return [full_dates[day][:length] for day, length in zip(index.tolist(), lengths, strict=True)]

    def expected(self, game: int) -> float:
        """White's expected score in a game."""
        return float(self.chance[game, 2] + self.chance[game, 1] / 2.0)

    @cached_property
    def by_player(self) -> SidesByPlayer:
        """Both sides of all games by player, then in the run's order."""
        player = np.stack([self.white, self.black], axis=1).ravel()
        return SidesByPlayer(np.argsort(player, kind="stable"), np.cumsum([0, *np.bincount(player)]))

    def of(self, player: int) -> Sides:
        """The games of a player, in the run's order."""
        order, starts = self.by_player
        return self.sides(order[rows_of(starts, player)])

    def sides(self, codes: Places) -> Sides:
        """Sides of games by their codes in `SidesByPlayer`."""
        game = game_of(codes)
        is_second = is_second_side(codes)
        white = self.white[game]
        black = self.black[game]
        chance = self.chance[game]
        outcome = self.outcome[game]
        win = np.where(is_second, chance[:, 0], chance[:, 2])
        return Sides(
            game,
            player=np.where(is_second, black, white),
            opponent=np.where(is_second, white, black),
            colour=np.where(self.neutral[game], NEUTRAL_COLOUR, is_second),
            outcome=np.where(is_second, 2 - outcome, outcome),
            win=win,
            expected=win + chance[:, 1] / 2.0,
            weight=self.weight[game],
            year=self.year[game],
        )


class SidesByPlayer(NamedTuple):
    """Both sides of all games, sorted by player.

    `order`, shape (2 games,): codes of sides (see `game_of`, `is_second_side`). `starts`, shape (players + 1,): the
    first of each player.
    """

    order: Places
    starts: Places


def game_of(codes: Places) -> Places:
    """The games of sides by their codes, which are twice the game, and 1 more for Black's side."""
    return codes // 2


def is_second_side(codes: Places) -> Places:
    """1 where the code is that of Black's side, else 0."""
    return codes % 2


def played_games(run: Run) -> PlayedGames:
    """The games of a run, with the chances of each from the model."""
    games: dict[str, Any] = run.arrays(_GAMES)
    nodes = run.arrays(_NODES)
    white = take(nodes, games["white_node"])
    black = take(nodes, games["black_node"])
    given = run.meta.elo_unit * games["offset"] + games["covariate_points"]
    chance = predicted(run, games["year"], white, black, given, games["neutral"])
    stored_texts = [text for (text,) in run.select("SELECT text FROM texts ORDER BY id")[1]]
    if stored_texts:
        is_name = np.array([text.strip().casefold() not in _NO_NAMES for text in stored_texts])
        index = np.where(is_name, np.arange(1, len(stored_texts) + 1), 0)
        columns = run.arrays(f"SELECT {', '.join(TEXT_COLUMNS)} FROM game_texts")
        texts: dict[str, Any] = {name: index[codes] for name, codes in columns.items()}
    else:
        texts = dict.fromkeys(TEXT_COLUMNS, np.zeros(len(chance), np.int32))
    return PlayedGames(**games, **texts, chance=chance, nodes=nodes, texts=["", *stored_texts])
