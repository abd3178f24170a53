"""Weighted expectation propagation: static skills from games whose weights decay.

T. Salimans' base model in the Deloitte/FIDE Chess Rating Challenge of 2011, which he won. At every period one ordered
probit is fitted to all games so far, each to the power of a weight that falls with its age and with the games that the
player has played since; prior means are pulled to the opponents' means.

Departures: the pull is less than whole and centred, as otherwise levels run away; the means are solved for jointly
after each sweep, which leaves the fixed point as it is; nothing is learned from the schedule.
"""

from functools import partial
from typing import Final, Unpack

import numpy as np

from ttt_cli.arrays import Array
from ttt_cli.config.schema import SolverConfig
from ttt_cli.fitted import Fit
from ttt_cli.histories import Filter
from ttt_cli.inference import outcome
from ttt_cli.inference.draws import margin_slope
from ttt_cli.inference.ep.weighted import GamesSoFar, WeightedParams
from ttt_cli.inference.outcome import by_sides, log_score
from ttt_cli.inference.scores.filtering import central_slope
from ttt_cli.inference.solver import Given
from ttt_cli.inference.traits import COMMON_MARGIN, PLAY, Traits
from ttt_cli.timeline import Timeline

NAME: Final = "weighted-ep"
TRAITS: Final = Traits(kind="filtered", has_evidence=True, fits_periods=True, tunable=PLAY | COMMON_MARGIN)
predict = outcome.predict
NUMERIC: Final = ("prior_sd", "beta", "draw_margin", "white_advantage")
SHARES: Final = ("opponents_pull", "fade_per_year", "fade_per_game")
SLOPE_TOL: Final = 1e-6  # points, for differences of the evidence


class Params(WeightedParams):
    """Parameters of weighted EP; the defaults are Salimans' where he states them (docs/models/weighted_ep.md)."""


def fit(timeline: Timeline, params: Params, solver: SolverConfig, **given: Unpack[Given]) -> Fit:
    """Fit the games so far before every period and after it.

    Of `start`, a fit of the same timeline or of its beginning, the sites are where the first of these fits begins. The
    status counts the sweeps of all these fits and holds the worst of what remains; `solver` holds for each.
    Raises ConfigError when the draw margin and the games exclude each other.
    """
    games = GamesSoFar(timeline, params, solver, given.get("on_sweep"), given.get("start"))
    (before_mean, before_sd), (mean, sd) = games.run()
    drift = _drift(timeline, params, sd, before_sd)
    mean, before_mean = mean + params.prior_mean, before_mean + params.prior_mean
    evidence = _log_score(timeline, games, before_mean, before_sd)
    return _fitted(games, Filter(mean, sd, before_mean, before_sd, drift, params.prior_sd), evidence)


def fit_before(
    timeline: Timeline, params: Params, solver: SolverConfig, first: int, start: Fit | None = None
) -> Fit:
    """What is believed before every period from `first` on, by a fit each; the log-evidence is there if that is 0."""
    games = GamesSoFar(timeline, params, solver, start=start)
    mean, sd = games.predict(first)
    mean, unknown = mean + params.prior_mean, np.full(timeline.n_nodes, np.nan)
    evidence = np.nan if first else _log_score(timeline, games, mean, sd)
    return _fitted(games, Filter(unknown, unknown, mean, sd, unknown), evidence)


def _fitted(games: GamesSoFar, chain: Filter, evidence: float) -> Fit:
    return Fit(
        model=NAME,
        kind=TRAITS.kind,
        params=games.resolved,
        chains={"skill": chain},
        log_evidence=evidence,
        leave_one_out=evidence,
        elo_unit=games.elo_unit,
        status=games.status(),
        trace=tuple(games.trace),
        state=games.state,
    )


def gradient(timeline: Timeline, params: Params, fit: Fit) -> dict[str, float]:
    """The gradient of the log-evidence in every numeric parameter, by central differences."""

    def evidence(key: str, value: float) -> float:
        moved = params.model_copy(update={key: value})
        games = GamesSoFar(timeline, moved, SolverConfig(tol=SLOPE_TOL))
        return _log_score(timeline, games, *games.run()[0])

    slopes = {key: central_slope(partial(evidence, key), fit.params[key], params.beta) for key in NUMERIC}
    slopes |= {key: central_slope(partial(evidence, key), fit.params[key], 1.0) for key in SHARES}
    slopes["draw_probability"] = slopes["draw_margin"] * margin_slope(params, timeline)
    return {"prior_mean": 0.0, **slopes}


def _log_score(timeline: Timeline, games: GamesSoFar, mean: Array, sd: Array) -> float:
    """The sum of the log probabilities of all games by what was believed before their periods."""
    handicap = games.elo_unit * timeline.offset
    white = {"mean": mean[timeline.game_white] + handicap, "sd": sd[timeline.game_white]}
    black = {"mean": mean[timeline.game_black], "sd": sd[timeline.game_black]}
    probabilities = by_sides(predict, games.resolved, white, black, timeline.sides)
    return log_score(probabilities, timeline.outcome, timeline.weight)


def _drift(timeline: Timeline, params: Params, sd: Array, before_sd: Array) -> Array:
    """Sd of the change of skill in the year after each node: the sd grows by it as it does while games lose weight."""
    prior = params.prior_sd**-2
    grown = 1.0 / (prior + (sd**-2 - prior) * np.exp(-params.fade_per_year)) - sd**2
    follows = timeline.previous >= 0
    last = timeline.previous[follows]
    grown[last] = (before_sd[follows] ** 2 - sd[last] ** 2) / timeline.gap_years[follows]
    return np.asarray(np.sqrt(np.maximum(grown, 0.0)))
