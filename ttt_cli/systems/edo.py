"""Edo Historical Chess Ratings: one Bradley-Terry model over all players and years (R. Edwards, edochess.ca).

Departures from the source: years without games are omitted, which is exact, and interpolated; odds are a fixed
difference, not a 100-game match against a ghost; the maximum is found by Newton's method.
"""

from dataclasses import dataclass
from typing import Final, Unpack

import numpy as np

from ttt_cli.config.schema import SolverConfig, key
from ttt_cli.fitted import Bridge, Fit, Line, Nodes, bridge_of_walk, idle_walk
from ttt_cli.gaussian.factor import affordable
from ttt_cli.inference import bradley_terry as ratings
from ttt_cli.inference.bradley_terry import LogDensity, PlayerYears, compare_games, maximise
from ttt_cli.inference.outcome import ELO_SCALE, predict_ratings, resolve_logistic_margin
from ttt_cli.inference.params import ExpectedParams, PriorMean, PriorSd, Traits
from ttt_cli.inference.solver import Given
from ttt_cli.periods import STEPS_PER_YEAR
from ttt_cli.support.arrays import Array
from ttt_cli.timeline import Timeline

NAME: Final = "edo"
GROUND: Final = 1.0  # information that fixes a group's level while solving; it cancels
MOST_WORK: Final = 1e13  # operations, summed over fits: five minutes of two cores
INVERSE: Final = 4.0  # times the operations of a factor: that and its inverse


class Params(ExpectedParams):
    """Parameters of Edo."""

    ties: float = key(
        30.0, "games of the hypothetical drawn match between neighbouring years", gt=0
    )
    comparisons: float = key(
        2.0, "comparisons that a game is worth, for deviations; 2 where half are drawn", gt=0
    )
    raw_mean: float = key(2550.0, "mean of the raw ratings of all player-years, points")
    prior_mean: PriorMean = key(1500.0, "mean of the ratings of all chess players, points")
    prior_sd: PriorSd = key(300.0, "sd of the ratings of all chess players, points")
    deviations: ratings.Deviations = "exact"


@dataclass(frozen=True)
class Adjusted(Line):
    """Ratings and deviations combined with the prior; ratings are linear between nodes, deviations are not.

    Raw ratings have sd `raw_sd` and `covariance` with the previous node. Between two nodes their uncertainty grows by
    `drift` a year, given at the later node. After the last node the raw rating is constant and its uncertainty grows by
    `idle_drift`, so that the adjusted rating approaches `prior_mean`. Unrated players have the prior: their `raw_sd`
    is infinite.
    """

    raw_sd: Array
    covariance: Array
    drift: Array
    prior_mean: float
    prior_sd: float
    idle_drift: float

    def bridge(self, earlier: Nodes, later: Nodes, years: Array) -> Bridge:
        """Bridge between two uncertain ends, `years` apart."""
        rated = np.isfinite(self.raw_sd[later])
        before, after = (np.where(rated, self.raw_sd[nodes], 0.0) for nodes in (earlier, later))
        raw = bridge_of_walk(before, after, self.covariance[later], self.drift[later] ** 2 * years)
        mean_change = self.mean[later] - self.mean[earlier]
        return Bridge(mean_change, raw.rise, raw.bend, prior_sd=self.prior_sd)

    def onward(self, last: Nodes) -> Bridge:
        """Bridge over a year after players' last nodes."""
        return idle_walk(self.idle_drift, last, prior_sd=self.prior_sd, prior_mean=self.prior_mean)


def fit(timeline: Timeline, params: Params, solver: SolverConfig, **options: Unpack[Given]) -> Fit:
    """Find the most probable ratings of all player-years with deviations, then combine them with the prior.

    Unrated players get the prior; `notes` names them. Raises ConfigError for an `auto` draw margin when all games are
    draws, and for histories too large for `exact` deviations.
    """
    margin = resolve_logistic_margin(params, timeline)
    rated = PlayerYears.of(timeline)
    posterior = _posterior(rated, timeline, params)
    if params.deviations == "exact":
        posterior.require_information()
    initial = ratings.initial_ratings(timeline, options.get("start"))[rated.nodes]
    maximum = maximise(posterior, initial, solver.tol, solver.max_sweeps, options.get("on_sweep"))
    variance, covariance = _deviations(rated, posterior, params)
    rating = maximum.rating * ELO_SCALE
    rating += params.raw_mean - rated.group_sums(rated.mean_weights() * rating)
    raw_precision = rated.everywhere(1.0 / variance)
    prior_precision = params.prior_sd**-2
    precision = raw_precision + prior_precision
    link = posterior.link_precision * timeline.gap_years[rated.nodes] * params.comparisons
    drift = np.divide(ELO_SCALE, np.sqrt(link), out=np.zeros(len(link)), where=rated.previous >= 0)
    with np.errstate(divide="ignore"):
        raw_sd = 1.0 / np.sqrt(raw_precision)
    mean = (
        raw_precision * rated.everywhere(rating) + prior_precision * params.prior_mean
    ) / precision
    mean[rated.nodes] = rated.across_gaps(mean[rated.nodes], timeline)
    adjusted = Adjusted(
        mean=mean,
        sd=1.0 / np.sqrt(precision),
        raw_sd=raw_sd,
        covariance=rated.everywhere(covariance),
        drift=rated.everywhere(drift),
        prior_mean=params.prior_mean,
        prior_sd=params.prior_sd,
        idle_drift=ELO_SCALE * 2.0 / np.sqrt(params.ties * params.comparisons),
    )
    return Fit(
        model=NAME,
        kind=TRAITS.kind,
        params={**params.model_dump(), "draw_margin": margin},
        chains={"skill": adjusted},
        status=maximum.status,
        trace=maximum.trace,
        notes=rated.notes(timeline),
        state={"rating": rated.everywhere(maximum.rating)},
    )


def for_many_fits(timeline: Timeline, params: Params, fits: int) -> dict[str, object]:
    """Parameters for a series of `fits` of growing size: `own` deviations if exact ones would take too long."""
    if params.deviations == "own":
        return {}
    pattern = _posterior(PlayerYears.of(timeline), timeline, params).pattern
    taken = affordable(pattern) and fits / 3.0 * INVERSE * pattern.flops <= MOST_WORK
    return {} if taken else {"deviations": "own"}


TRAITS: Final = Traits(
    kind="smoothed",
    has_evidence=False,
    draws_apart=True,
    predicts_by_means=True,
    for_many_fits=for_many_fits,
)
predict = predict_ratings  # of the ratings alone, as the source measures predictions


def _posterior(rated: PlayerYears, timeline: Timeline, params: Params) -> LogDensity:
    """Log posterior of the games and hypothetical matches; `params.ties` refers to a year, for any period."""
    from ttt_cli.kernels.bradley_terry import drawn_matches

    games = rated.select(compare_games(timeline, params.white_advantage, "halves"))
    steps_per_year = STEPS_PER_YEAR[timeline.period]
    steps = timeline.gap_years[rated.nodes] * steps_per_year
    ground = np.zeros(len(rated.nodes))
    ground[rated.firsts()] = GROUND
    ties = params.ties * steps_per_year

    def add_matches(
        rating: Array, gradient: Array, link_precision: Array, node_precision: Array
    ) -> float:
        density: float = drawn_matches(
            rated.previous, steps, ties, ground, rating, gradient, link_precision, node_precision
        )
        return density

    return LogDensity(games, 0.0, rated.previous, add_matches)


def _deviations(rated: PlayerYears, posterior: LogDensity, params: Params) -> tuple[Array, Array]:
    """Raw variances (nodes,), points^2, and covariances with the previous node; if exact, around the group's mean."""
    scale = ELO_SCALE**2 / params.comparisons
    if params.deviations == "own":
        diagonal = posterior.diagonal.copy()
        diagonal[rated.firsts()] -= GROUND
        variance, covariance = ratings.own_deviations(posterior, diagonal)
        return scale * variance, scale * covariance
    information = posterior.information()
    weight = rated.mean_weights()
    with_mean = information.solve(weight)
    of_mean = rated.group_sums(weight * with_mean)
    later = np.flatnonzero(rated.previous >= 0)
    earlier = rated.previous[later]
    covariance = np.zeros(len(rated.nodes))
    covariance[later] = information.covariances(later, earlier)
    covariance[later] += of_mean[later] - with_mean[later] - with_mean[earlier]
    variance = information.variances - 2.0 * with_mean + of_mean
    return scale * np.maximum(variance, 0.0), scale * covariance
