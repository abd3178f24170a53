"""Performances: what the games of an event alone say of a player's skill."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ttt_cli.inference.outcome import by_advantage_owner
from ttt_cli.runs.run import Run
from ttt_cli.support.arrays import Array, Mask, Places
from ttt_cli.timeline import KNOWN, NEUTRAL
from ttt_cli.views.history.played import Sides, Totals
from ttt_cli.views.history.prediction import Strengths, params_by_game, predictor, take

_SD_OF_A_GAME: Final = 300.0  # Elo points: how far a single game says how strong a player is
_STEP: Final = 0.02  # of the prior's sd, for derivatives
_NEWTON_STEPS: Final = 2
_LONGEST_STEP: Final = 2.0  # sds of the prior
_FEW_POINTS: Final = tuple(1.2 * point for point in range(-2, 3))  # sds from the mean
_POINTS: Final = tuple(0.6 * point for point in range(-8, 9))
_TINY: Final = 1e-300
_HALVINGS: Final = 13
_FURTHEST: Final = 2400.0  # Elo points that a performance may lie from the opponents


class Performances(NamedTuple):
    """Performances on the shown scale, arrays of shape (groups,); NaN where there is none."""

    mean: Array
    sd: Array


@dataclass(frozen=True)
class _Opponents:
    """Games of sides against opponents as strong as the model has them; the own skill is certain.

    | field | shape | content |
    |---|---|---|
    | `predict` | | of the model |
    | `params` | | parameters of the model, draw margins that move by game |
    | `white`, `black` | (sides,) each | strengths, handicaps included |
    | `is_white` | (sides,) | whether the side is White |
    | `advantage_owner` | (sides,) | who has White's advantage, as for `by_advantage_owner` |
    | `mean` | (sides,) | skills of the opponents, points |
    | `half_given` | (sides,) | half of the points that a handicap adds to the side |
    """

    predict: Callable[..., Array]
    params: dict[str, Any]
    white: Strengths
    black: Strengths
    is_white: Mask
    advantage_owner: NDArray[np.int8]
    mean: Array
    half_given: Array

    def chance(self, skill: Array) -> Array:
        """Probabilities of White's loss, draw and win of sides with these skills, points, shape (sides, 3)."""
        mean = skill + self.half_given
        white = {**self.white, "mean": np.where(self.is_white, mean, self.white["mean"])}
        black = {**self.black, "mean": np.where(self.is_white, self.black["mean"], mean)}
        return by_advantage_owner(self.predict, self.params, white, black, self.advantage_owner)


def _opponents(run: Run, sides: Sides) -> _Opponents:
    played = sides.played
    game = sides.game
    is_white = sides.is_second == 0
    half_given = 0.5 * played.given(game)
    white = take(played.nodes, played.white_node[game])
    black = take(played.nodes, played.black_node[game])
    mean = np.where(is_white, black["mean"], white["mean"])
    white |= {"mean": white["mean"] + half_given, "sd": np.where(is_white, 0.0, white["sd"])}
    black |= {"mean": black["mean"] - half_given, "sd": np.where(is_white, black["sd"], 0.0)}
    return _Opponents(
        predictor(run), params_by_game(run, sides.year), white, black, is_white,
        advantage_owner=np.where(played.neutral[game], NEUTRAL, KNOWN).astype(np.int8),
        mean=mean, half_given=np.where(is_white, half_given, -half_given),
    )  # fmt: skip


def find_performances(totals: Totals) -> Performances:
    """The performance of each group of sides, which are games of one player.

    With a prior of skills: mean and sd of the skill that has the prior of a newcomer and these games only, against
    opponents as strong as the model has them in the period of the game. Else the skill at which the points would be
    those expected, without sd; NaN if all games were won or all lost.

    NaN with a game of teams or in an order of finish, where the score is not the player's alone.
    """
    performances = _performances(totals)
    teams = totals.sides.played.teams
    if teams is None:
        return performances
    is_shared = np.bincount(totals.group, teams.is_sum[totals.sides.game], len(totals.keys)) > 0
    return Performances(
        np.where(is_shared, np.nan, performances.mean), np.where(is_shared, np.nan, performances.sd)
    )


def _performances(totals: Totals) -> Performances:
    """`find_performances` as if all sides were players."""
    run = totals.sides.played.run
    slope = run.scale.slope
    shift = run.scale.shift
    if not has_skill_prior(run):
        return Performances(
            _matching_skill(run, totals) * slope + shift, np.full(len(totals.keys), np.nan)
        )
    mean, sd = _posterior(run, totals)
    return Performances(mean * slope + shift, sd * slope)


def clean_score(points: float, games: float) -> str | None:
    """`all won` or `all lost`, where the games set the performance a limit on one side only; else None."""
    if not games:
        return None
    if points == games:
        return "all won"
    return "all lost" if points == 0.0 else None


def rough_performances(totals: Totals) -> Array:
    """Rough performances of groups of sides in no time, model points: their order hardly differs from the true one."""
    run = totals.sides.played.run
    if not has_skill_prior(run):
        return _by_points(totals)
    return _rough(totals, prior_means(run, _years_of(totals)))


def _by_points(totals: Totals) -> Array:
    """The skill that the share of points of each group suggests, model points."""
    sides = totals.sides
    played = sides.played
    mean = (
        sides.sums_by_group(
            totals.group, played.nodes["mean"][sides.opponent_node], len(totals.keys)
        )
        / totals.games
    )
    share = (totals.points + 0.5) / (totals.games + 1.0)
    return mean + _run_unit(totals) * 400.0 * np.log10(share / (1.0 - share))


def _rough(totals: Totals, prior_mean: Array) -> Array:
    """A skill of each group between the prior mean and what the share of points suggests, model points."""
    prior_sd = float(totals.sides.played.run.meta.params["prior_sd"])
    prior_games = (_SD_OF_A_GAME * _run_unit(totals) / prior_sd) ** 2
    return (_by_points(totals) * totals.games + prior_mean * prior_games) / (
        totals.games + prior_games
    )


def _run_unit(totals: Totals) -> float:
    """Points per Elo point."""
    return totals.sides.played.run.meta.elo_unit


def _years_of(totals: Totals) -> Places:
    """The year of the last game of each group."""
    year = np.zeros(len(totals.keys), np.int64)
    year[totals.group] = totals.sides.year
    return year


def has_skill_prior(run: Run) -> bool:
    """Whether the model of a run has a Gaussian prior of skills."""
    params = run.meta.params
    return isinstance(params.get("prior_mean"), float | int) and isinstance(
        params.get("prior_sd"), float | int
    )


def performance_meaning(run: Run) -> str:
    """What a performance in an event is, in a sentence.

    Shown beside tables: in few games nearly everybody performs below the own skill, which rests on years.
    """
    if not has_skill_prior(run):
        return "performance: the skill at which these points would be expected"
    mean = run.meta.params["prior_mean"] * run.scale.slope + run.scale.shift
    return (
        "performance: the skill that a newcomer would be given for these games alone, drawn towards "
        f"{mean:.0f}; compare performances with each other, not with skills"
    )


def prior_means(run: Run, year: Places) -> Array:
    """The prior mean of newcomers in some years, points."""
    means = np.full(len(year), float(run.meta.params["prior_mean"]))
    rows = run.by_year("newcomers")
    if rows:
        years = np.array([of_year for of_year, *_ in rows])
        above = np.array([mean for _, mean, _ in rows])
        means += above[np.clip(np.searchsorted(years, year, side="right") - 1, 0, None)]
    return means


def _posterior(run: Run, totals: Totals) -> Performances:
    """Mean and sd of each group's skill, model points: by the trapezoidal rule.

    Steps of the size of the sd are enough near a Gaussian: the error is exp(-2 pi^2 sd^2 / step^2). Draw margins that
    follow the strength up to a limit have a kink there, which leaves 0.3 points with steps of 0.6 sds, 2 with 1.2.
    """
    sides = totals.sides
    group = totals.group
    n_groups = len(totals.keys)
    opponents = _opponents(run, sides)
    rows = np.arange(len(group))
    white_outcome = sides.played.outcome[sides.game]
    prior_mean = prior_means(run, _years_of(totals))
    prior_sd = float(run.meta.params["prior_sd"])

    def log_density(skill: Array) -> Array:
        """The log density of a skill of each group, but for a constant."""
        happened = opponents.chance(skill[group])[rows, white_outcome]
        of_games = sides.sums_by_group(group, np.log(np.maximum(happened, _TINY)), n_groups)
        return of_games - 0.5 * ((skill - prior_mean) / prior_sd) ** 2

    centre = _rough(totals, prior_mean)
    step = _STEP * prior_sd
    for _ in range(_NEWTON_STEPS):
        below = log_density(centre - step)
        middle = log_density(centre)
        above = log_density(centre + step)
        slope = (above - below) / (2.0 * step)
        curvature = np.maximum(-(above - 2.0 * middle + below) / step**2, prior_sd**-2)
        longest = _LONGEST_STEP * prior_sd
        centre = centre + np.clip(slope / curvature, -longest, longest)
    mean, sd = _moments(log_density, centre, curvature**-0.5, _FEW_POINTS)
    return _moments(log_density, mean, sd, _POINTS)


def _moments(
    log_density: Callable[[Array], Array],
    centre: Array,
    sd: Array,
    sds_from_centre: Sequence[float],
) -> Performances:
    """Mean and sd of densities, by the trapezoidal rule around approximate ones."""
    points = np.array(sds_from_centre)
    log_weights = np.stack([log_density(centre + point * sd) for point in sds_from_centre])
    weights = np.exp(log_weights - log_weights.max(axis=0))
    weights /= weights.sum(axis=0)
    mean = points @ weights
    variance = points**2 @ weights - mean**2
    return Performances(centre + mean * sd, np.sqrt(variance) * sd)


def _matching_skill(run: Run, totals: Totals) -> Array:
    """The skill of each group at which its points would be those expected, model points, by halving an interval."""
    sides = totals.sides
    opponents = _opponents(run, sides)
    n_groups = len(totals.keys)
    mean = sides.sums_by_group(totals.group, opponents.mean, n_groups) / totals.games
    score = totals.points / totals.games
    furthest = _FURTHEST * run.meta.elo_unit
    low = mean - furthest
    high = mean + furthest
    for _ in range(_HALVINGS):
        middle = (low + high) / 2.0
        chance = opponents.chance(middle[totals.group])
        won = np.where(opponents.is_white, chance[:, 2], chance[:, 0])
        expected = (
            sides.sums_by_group(totals.group, won + chance[:, 1] / 2.0, n_groups) / totals.games
        )
        below = expected < score
        low = np.where(below, middle, low)
        high = np.where(below, high, middle)
    return np.where((score > 0.0) & (score < 1.0), (low + high) / 2.0, np.nan)
