"""The games of a player, from his side, with the model's probabilities."""

import math
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any, Final, NamedTuple

from ttt_cli.runs.run import Run
from ttt_cli.views.probability import Outcome, outcomes, params_in
from ttt_cli.views.sides import NEUTRAL, GameWords

_EXACT: Final = 1e-2  # of solutions: expected scores are exact to about 1e-4 then
# The games of a player (the first ?), perhaps against one opponent (the second, else NULL): the fields of `_GameRow`
_SELECT: Final = """
WITH played AS (
    SELECT period, period_number, date, event, white_id = {player} AS is_white,
           CASE WHEN white_id = {player} THEN black ELSE white END AS opponent,
           CASE result WHEN '1/2-1/2' THEN 1 WHEN '1-0' THEN 2 ELSE 0 END AS for_white, weight, file, line,
           "offset" * {unit} + covariate_points AS given, neutral{category}
    FROM games WHERE (white_id = {player} OR black_id = {player}) AND {among})
SELECT played.period_number, given, played.period, date, is_white, opponent,
       CASE WHEN is_white THEN for_white ELSE 2 - for_white END, weight, file, line,
       strength, opponent_strength,  -- whole rows of nodes, as dicts
       neutral, played.category, played.event
FROM played JOIN {strengths} strength ON strength.player = ? AND strength.period_number = played.period_number
JOIN {strengths} opponent_strength ON opponent_strength.player = opponent
    AND opponent_strength.player = coalesce(?, opponent) AND opponent_strength.period_number = played.period_number
{alike}ORDER BY played.period_number, date, file, line
"""
_ALIKE: Final = {"category": ", '' AS category", "strengths": "nodes", "alike": ""}
# Where categories of games have skills of their own, games are those of these skills
_BY_CATEGORY: Final = {
    "category": ", CASE WHEN category IN (SELECT category FROM category_nodes) THEN category ELSE '' END AS category",
    "strengths": "(FROM category_nodes UNION ALL BY NAME SELECT *, '' AS category FROM nodes)",
    "alike": "WHERE strength.category = played.category AND opponent_strength.category = played.category\n",
}
# With teams or orders of finish: skills of a player, his games (`_GameOfSides`), both sides of each (`_SideOfGame`)
_SKILLS_OF_PERIODS: Final = "SELECT period_number, nodes FROM nodes WHERE player = ?"
_SIDE_GAMES: Final = """
SELECT game, period, period_number, date, white, black, file, line, event FROM games
WHERE game IN (SELECT game FROM game_players JOIN names ON id = player_id WHERE player = ?)
"""
_SIDES: Final = """
SELECT game, is_black, avg(mean), list(names.player) FROM games JOIN game_players USING (game)
JOIN names ON id = player_id JOIN nodes ON nodes.player = names.player AND nodes.period_number = games.period_number
WHERE game IN (SELECT game FROM game_players JOIN names ON id = player_id WHERE player = ?) GROUP BY ALL
"""


class GameOfPlayer(NamedTuple):
    """One game from a player's side. `result`: 0 lost, 1 drawn, 2 won; `chance`: the model's probabilities.

    `strength` and `opponent_strength` are the players' rows of skills in the game's period, on the shown scale.
    """

    period: str
    date: str
    is_white: bool
    opponent: str
    result: int
    weight: float
    file: str | None
    line: int | None
    strength: dict[str, Any]
    opponent_strength: dict[str, Any]
    neutral: bool
    chance: Outcome
    event: str | None = None

    def side(self, words: GameWords) -> str:
        """The player's side."""
        if self.neutral:
            return NEUTRAL
        return words.first if self.is_white else words.second


class _GameRow(NamedTuple):
    """A row of `_SELECT`; as in `GameOfPlayer`, with what the model needs.

    `given`: points added to White's strength, by handicaps and covariates. `category`: that of the skills, or empty.
    """

    period_number: int
    given: float
    period: str
    date: str
    is_white: bool
    opponent: str
    result: int
    weight: float
    file: str | None
    line: int | None
    strength: dict[str, Any]
    opponent_strength: dict[str, Any]
    neutral: bool
    category: str
    event: str | None


_Covariances = dict[tuple[str, int], float]  # by opponent and number of the period


def games_of(run: Run, player: str, opponent: str | None = None) -> list[GameOfPlayer]:
    """A player's games, or those against one opponent, by date.

    Probabilities follow from the joint posterior where the run has one. It includes these games, so great results
    look a little less surprising than they were.
    """
    if run.has_sums:
        return _games_of_sides(run, player, opponent)
    rows = _select_games(run, player, opponent)
    covariances = _covariances_by_category(run, player, rows) if run.has_joint else {}
    played = []
    for (period, neutral), group in groupby(rows, key=lambda row: (row.period, row.neutral)):
        games = list(group)
        params = params_in(run, period)
        if neutral:
            params = {**params, "white_advantage": 0.0}
        chances_of_white = _chances_of_white(run, games, params, covariances)
        for game, as_white in zip(games, chances_of_white, strict=True):
            chance = as_white if game.is_white else as_white.turned()
            played.append(
                GameOfPlayer(
                    game.period, game.date, game.is_white, game.opponent, game.result, game.weight, game.file,
                    game.line, game.strength, game.opponent_strength, game.neutral, chance, game.event,
                )
            )  # fmt: skip
    return played


class _GameOfSides(NamedTuple):
    """A row of `_SIDE_GAMES`: a game in which sides may be teams."""

    game: int
    period: str
    period_number: int
    date: str
    white: str
    black: str
    file: str | None
    line: int | None
    event: str | None


class _SideOfGame(NamedTuple):
    """A row of `_SIDES`: a side of a game, the mean skill of its members, and their names."""

    game: int
    is_black: bool
    mean: float
    members: list[str]


def _games_of_sides(run: Run, player: str, opponent: str | None) -> list[GameOfPlayer]:
    """`games_of` of a run with teams or orders of finish: members are taken as independent."""
    from ttt_cli.views.history.played import played_games

    played = played_games(run)
    (player_id,) = run.player_ids(player)
    if player_id < 0:
        return []
    sides = played.of(player_id)
    sides_of_games = [_SideOfGame(*row) for row in run.select(_SIDES, [player])[1]]
    side_of_game = {(side.game, side.is_black): side for side in sides_of_games}
    rows = [_GameOfSides(*row) for row in run.select(_SIDE_GAMES, [player])[1]]
    row_of_game = {row.game: row for row in rows}
    skill: dict[int, dict[str, Any]] = dict(run.select(_SKILLS_OF_PERIODS, [player])[1])
    games = []
    for game, is_second, outcome, (loss, draw, win) in zip(
        sides.game.tolist(),
        sides.is_second.tolist(),
        sides.outcome.tolist(),
        sides.chance.tolist(),
        strict=True,
    ):
        other_side = side_of_game[game, not is_second]
        if opponent is not None and opponent not in other_side.members:
            continue
        row = row_of_game[game]
        games.append(
            GameOfPlayer(
                period=row.period,
                date=row.date,
                is_white=not is_second,
                opponent=row.white if is_second else row.black,
                result=outcome,
                weight=float(played.weight[game]),
                file=row.file,
                line=row.line,
                strength=skill[row.period_number],
                opponent_strength={"mean": other_side.mean},
                neutral=bool(played.neutral[game]),
                chance=Outcome(win, draw, loss),
                event=row.event,
            )
        )
    return games


def _select_games(run: Run, player: str, opponent: str | None) -> list[_GameRow]:
    """The rows of a player's games, or those against one opponent, by date."""
    player_id, against = run.player_ids(player, opponent)
    among = "true" if opponent is None else f"(white_id = {against} OR black_id = {against})"
    by_category = _BY_CATEGORY if run.categories and run.category is None else _ALIKE
    query = _SELECT.format(
        player=player_id, among=among, unit=repr(run.meta.elo_unit), **by_category
    )
    return [_GameRow(*row) for row in run.select(query, [player, opponent])[1]]


def _chances_of_white(
    run: Run,
    games: Sequence[_GameRow],
    params: Mapping[str, Any],
    covariances: Mapping[str, _Covariances],
) -> list[Outcome]:
    """White's chances in games that have the same parameters; `covariances` by category of the skills."""
    white = []
    black = []
    for game in games:
        covariance = covariances.get(game.category, {}).get((game.opponent, game.period_number))
        strength, opponent_strength = _strengths(run, game, covariance)
        white.append(strength if game.is_white else opponent_strength)
        black.append(opponent_strength if game.is_white else strength)
    return outcomes(run.meta.model, params, white, black)


def _covariances_by_category(
    run: Run, player: str, rows: Sequence[_GameRow]
) -> dict[str, _Covariances]:
    """The covariances of the player's skill with those of opponents, by category of the skills."""
    return {
        category: _covariances(
            run.in_category(category) if category else run,
            player,
            [row for row in rows if row.category == category],
        )
        for category in {row.category for row in rows}
    }


def _covariances(run: Run, player: str, games: Sequence[_GameRow]) -> _Covariances:
    """Covariances of a player's skill with those of opponents, in points^2."""
    # Rows are in the order of the periods, so the pairs are, too.
    pairs = dict.fromkeys((game.opponent, game.period_number) for game in games)
    opponents = [list(group) for _, group in groupby(pairs, key=lambda pair: pair[1])]
    players = [(player, of_period[0][1]) for of_period in opponents]
    shared = run.joint.shared(players, opponents, _EXACT)
    covariances = [covariance for of_period in shared for covariance in of_period.tolist()]
    return dict(zip(pairs, covariances, strict=True))


def _strengths(
    run: Run, game: _GameRow, covariance: float | None
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The strengths of player and opponent in a game in points of the model, handicap included.

    Where their covariance is known, both get one sd: independent skills with it have the joint sd of the difference.
    """
    strength = run.scale.points(game.strength)
    opponent_strength = run.scale.points(game.opponent_strength)
    if covariance is not None:
        variance = 0.5 * (strength["sd"] ** 2 + opponent_strength["sd"] ** 2) - covariance
        sd = math.sqrt(max(variance, 0.0))
        strength["sd"] = sd
        opponent_strength["sd"] = sd
    advantage = 0.5 * game.given * (1 if game.is_white else -1)
    strength["mean"] += advantage
    opponent_strength["mean"] -= advantage
    return strength, opponent_strength
