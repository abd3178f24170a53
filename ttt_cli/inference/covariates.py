"""Points per unit of covariates: given, or the most probable by the evidence and a weak prior.

The prior is that of White's advantage for a covariate of typical size: N(0, (beta / (3 r))^2), r the root mean square
of the covariate over the games in which it is not 0. The search follows the gradient of the log-evidence; standard
errors are from its curvature.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple, Protocol

import numpy as np

from ttt_cli.config.covariates import PREFIX, points_by_term
from ttt_cli.config.schema import SolverConfig
from ttt_cli.fitted import Fit
from ttt_cli.inference.advantage import NAME as ADVANTAGE
from ttt_cli.inference.advantage import UNINFORMATIVE, AdvantagePrior
from ttt_cli.inference.lapse import NAME as LAPSE
from ttt_cli.inference.lapse import LapsePrior
from ttt_cli.inference.maximise import FunctionValue, Optimum, maximise
from ttt_cli.inference.model import Offsets
from ttt_cli.inference.params import ESTIMATE, CovariateSetting, Params
from ttt_cli.inference.victory import StepPrior, WinStep
from ttt_cli.kernels import regression as kernels
from ttt_cli.support.arrays import Array, Ids, Places
from ttt_cli.support.errors import ConfigError, suggested
from ttt_cli.timeline import Timeline, is_computed

CLOSE: Final = 1e-3  # of the regression on players, relative; shares are that close squared
MOST_STEPS: Final = 300  # of its solution
# Share of a covariate from which its effect is hardly that of the covariate
MOST_EXPLAINED: Final = 0.95
_LIST: Final = 8  # values shown in a hint


class Term(NamedTuple):
    """A coefficient of a covariate: its name, as in `Timeline.covariate_columns`, and points per unit.

    None: they are estimated.
    """

    name: str
    points: float | None

    @property
    def key(self) -> str:
        """The key of the parameter."""
        return PREFIX + self.name


def find_terms(params: Params, timeline: Timeline) -> tuple[Term, ...]:
    """The coefficients of covariates as configured. Raises ConfigError for covariates that the games do not have."""
    covariates = {covariate.name: covariate for covariate in timeline.covariates}
    terms: list[Term] = []
    for name, setting in params.covariate_settings.items():
        if is_computed(name) and name not in covariates and not isinstance(setting, dict):
            terms.append(_term(name, setting))
            continue
        if name not in covariates:
            known = (
                f"their covariates are {', '.join(covariates)}" if covariates else "they have none"
            )
            raise ConfigError(
                f"model.covariates: the games have no covariate {name}",
                hint=f"{known}; data.covariates: {{{name}: COLUMN}} reads one",
            )
        covariate = covariates[name]
        if covariate.reference is None:
            if isinstance(setting, dict):
                raise ConfigError(
                    f"model.covariates.{name}: the values are numbers, so it has one coefficient"
                )
            terms.append(_term(name, setting))
            continue
        if isinstance(setting, float):
            raise ConfigError(
                f"model.covariates.{name} is a category, which has points for each value",
                hint=f"estimate, or {{{covariate.terms[-1].partition('.')[2]}: {setting:g}}}",
            )
        by_value = setting
        if not isinstance(by_value, dict):
            reference = f"{name}.{covariate.reference}"
            by_value = {
                term.partition(".")[2]: ESTIMATE for term in covariate.terms if term != reference
            }
        for value, points in by_value.items():
            term = f"{name}.{value}"
            if term not in covariate.terms:
                values = [known.partition(".")[2] for known in covariate.terms]
                hint = suggested(value, values, f"values are {', '.join(values[:_LIST])}")
                raise ConfigError(
                    f"model.covariates.{name}: no game has the value {value!r}", hint=hint
                )
            terms.append(_term(term, points))
    return tuple(terms)


def with_computed(timeline: Timeline, params: Params) -> Timeline:
    """The timeline with the covariates that are computed, as far as they are configured."""
    return timeline.with_computed(
        params.covariate_settings, mean_of_teams=params.team_skill == "mean"
    )


def with_points_added(timeline: Timeline, params: Params) -> Timeline:
    """The timeline with given points of covariates added to `offset`, both in model points."""
    points = {term.name: term.points for term in find_terms(params, timeline) if term.points}
    if not points:
        return timeline
    added = timeline.covariate_columns([*points]) @ np.array([*points.values()], np.float64)
    return replace(timeline, offset=timeline.offset + added)


def with_given_points(fit: Fit, params: Params, timeline: Timeline) -> Fit:
    """The fit with the points per unit of covariates that `with_points_added` used, by key."""
    numbers = {key: value for key, value in fit.params.items() if key != "covariates"}
    points = {term.key: term.points for term in find_terms(params, timeline)}
    return replace(fit, params={**numbers, **points})


def _term(name: str, points: str | float) -> Term:
    return Term(name, None if isinstance(points, str) else float(points))


def with_points(
    settings: Mapping[str, CovariateSetting], points: Mapping[str, Any]
) -> dict[str, Any]:
    """Settings with points per unit by the names of coefficients (`Term.name`)."""
    changed: dict[str, Any] = {**settings}
    for term, value in points.items():
        name, dot, category = term.partition(".")
        if not dot:
            changed[name] = value
            continue
        by_value = changed.get(name)
        changed[name] = {**(by_value if isinstance(by_value, dict) else {}), category: value}
    return changed


def typical_size(timeline: Timeline, term: str) -> float:
    """Root mean square of a covariate over the games in which it is not 0; 1 where it always is."""
    column = timeline.covariate_columns([term])[:, 0]
    counted = timeline.weight * (column != 0.0)
    total = float(counted.sum())
    return math.sqrt(float(counted @ column**2) / total) if total else 1.0


def explained_shares(timeline: Timeline, terms: Sequence[str]) -> list[float]:
    """Shares of covariates that follow from who plays: R^2 of their regressions on the players, by least squares.

    One number a player, the difference of two for a game, or that of the sums of members; games by their weight. NaN
    where a covariate is 0.
    """
    rows = _player_rows(timeline)
    n_players = len(timeline.players)
    # with columns of zeros up to as many as the kernels take at once
    right = np.zeros((n_players, -(-len(terms) // kernels.AT_ONCE) * kernels.AT_ONCE))
    totals = np.empty(len(terms))
    for number, term in enumerate(terms):  # one after the other needs less memory
        column = timeline.covariate_columns([term])
        weighted = rows.weight[:, np.newaxis] * column
        totals[number] = _products(weighted, column)[0]
        sums = np.zeros((n_players, 1))
        kernels.add_sums(rows.start, rows.player, rows.coefficient, weighted, sums)
        right[:, number] = sums[:, 0]
    equations = _equations(rows, right)
    of_players = _least_squares(equations)
    explained = _products(of_players, 2.0 * equations.right - equations.products(of_players))
    shares: list[float] = np.divide(
        explained[: len(terms)], totals, out=np.full(len(terms), math.nan), where=totals > 0.0
    ).tolist()
    return shares


class _PlayerRows(NamedTuple):
    """Rows of the players of games, as in `kernels.regression`."""

    start: Places
    player: Ids
    coefficient: Array
    weight: Array


def _player_rows(timeline: Timeline) -> _PlayerRows:
    """Who plays in each game."""
    games = np.arange(timeline.n_games)
    if (members := timeline.members) is not None:
        games = games[~members.mask_of_games(timeline.n_games)]
    game = np.repeat(games, 2)
    node = np.column_stack([timeline.game_white[games], timeline.game_black[games]]).ravel()
    coefficient = np.tile([1.0, -1.0], len(games))
    if members is not None:
        game = np.concatenate([game, members.game])
        node = np.concatenate([node, members.node])
        of_members = np.where(members.is_black, -members.share, members.share)
        coefficient = np.concatenate([coefficient, of_members])
        order = np.argsort(game, kind="stable")
        game = game[order]
        node = node[order]
        coefficient = coefficient[order]
    count = np.bincount(game, minlength=timeline.n_games)
    return _PlayerRows(
        start=np.append(0, np.cumsum(count)).astype(np.int64),
        player=timeline.node_player[node].astype(np.int32),
        coefficient=coefficient,
        weight=np.array(timeline.weight),
    )


class _Equations(NamedTuple):
    """Normal equations A x = b of regressions on players, as in `kernels.regression`.

    | name | shape | |
    |---|---|---|
    | first, other, coupling | | A beside its diagonal |
    | diagonal | (players,) | |
    | right | (players, columns) | b |
    """

    first: Places
    other: Ids
    coupling: Array
    diagonal: Array
    right: Array

    def products(self, x: Array) -> Array:
        """A x, (players, terms)."""
        products = np.empty_like(x)
        kernels.fill_products(self.first, self.other, self.coupling, self.diagonal, x, products)
        return products


def _equations(rows: _PlayerRows, right: Array) -> _Equations:
    """The equations with this right-hand side."""
    n_players = len(right)
    size = np.diff(rows.start)
    weight = np.repeat(rows.weight, size)
    n_couplings = np.bincount(rows.player, np.repeat(size - 1, size), n_players).astype(np.int64)
    first = np.append(0, np.cumsum(n_couplings))
    other = np.empty(first[-1], np.int32)
    coupling = np.empty(first[-1])
    kernels.fill_couplings(*rows, first[:-1].copy(), other, coupling)
    weight *= rows.coefficient
    weight *= rows.coefficient
    diagonal = np.bincount(rows.player, weight, n_players)
    return _Equations(first, other, coupling, diagonal.astype(np.float64), right)


def _products(left: Array, right: Array) -> Array:
    """Products of the columns of two arrays. Not by BLAS, of which threads would take longer for few columns."""
    products: Array = np.einsum("ij,ij->j", left, right)
    return products


def _least_squares(equations: _Equations) -> Array:
    """Solve A x = b, (players, terms): conjugate gradients, preconditioned by the diagonal."""
    right = equations.right
    squares = equations.diagonal
    scale = (1.0 / np.where(squares > 0.0, squares, 1.0))[:, np.newaxis]
    x = np.zeros_like(right)
    residual = right.copy()
    z = scale * residual
    direction = z.copy()
    step = np.empty_like(right)
    rz = _products(residual, z)
    enough = CLOSE**2 * _products(right, right)
    for _ in range(MOST_STEPS):
        if (_products(residual, residual) <= enough).all():
            break
        a_direction = equations.products(direction)
        curvature = _products(direction, a_direction)
        alpha = np.divide(rz, curvature, out=np.zeros_like(rz), where=curvature > 0.0)
        x += np.multiply(alpha, direction, out=step)
        residual -= np.multiply(alpha, a_direction, out=step)
        np.multiply(scale, residual, out=z)
        rz_before = rz
        rz = _products(residual, z)
        beta = np.divide(rz, rz_before, out=np.zeros_like(rz), where=rz_before > 0.0)
        direction *= beta
        direction += z
    return x


EstimatePrior = AdvantagePrior | LapsePrior | StepPrior


class OffsetFits(Protocol):
    """Fits of one timeline at any offsets."""

    def fit(
        self,
        offsets: Offsets,
        start: Fit | None,
        solver: SolverConfig,
        *,
        evidence_only: bool = False,
    ) -> Fit:
        """Fit with these offsets, perhaps from a warm start."""

    def slopes(self, offsets: Offsets, fit: Fit) -> Array:
        """Slopes of log Z at the last fit: in White's advantage, covariates, the lapse, and steps between wins."""


class OffsetSearch:
    """The most probable offsets of a timeline, by trial fits that each start from the best one before.

    - `keys`: parameters that are estimated
    - `units`: of each, in one unit of its coordinate
    """

    def __init__(
        self,
        fits: OffsetFits,
        terms: Sequence[Term],
        steps: Sequence[WinStep],
        priors: Sequence[EstimatePrior],
        given: Offsets,
        start: Fit | None,
        solver: SolverConfig,
    ) -> None:
        self.keys = [prior.key for prior in priors]
        self.units = np.array([prior.unit for prior in priors])
        self.best_fit = start
        self._fits = fits
        self._priors = priors
        self._given = given
        self._solver = solver
        self._best = -math.inf
        self._low, self._high = np.array([prior.bounds for prior in priors]).T
        all_keys = [ADVANTAGE, *(term.key for term in terms), LAPSE, *(step.key for step in steps)]
        self._indices = [all_keys.index(key) for key in self.keys]
        begin = np.array([prior.begin for prior in priors])
        if start is not None:
            for number, key in enumerate(self.keys):
                earlier = float(start.params.get(key, math.nan))
                begin[number] = (
                    earlier / self.units[number] if math.isfinite(earlier) else begin[number]
                )
        self._begin = np.clip(begin, self._low, self._high)

    def offsets(self, at: Array) -> Offsets:
        """The offsets at these coordinates."""
        given = self._given
        values = np.array([given.advantage, *given.covariates, given.lapse, *given.steps])
        values[self._indices] = at * self.units
        terms = len(given.covariates)
        advantage, *further = values.tolist()
        return Offsets(
            advantage, tuple(further[:terms]), further[terms], tuple(further[terms + 1 :])
        )

    def maximise(self) -> Optimum:
        """Find the highest log posterior, and its curvature there."""
        return maximise(self._value, self._begin, self._low, self._high)

    def _value(self, at: Array) -> FunctionValue | None:
        """Log posterior and its gradient; None where the fit fails."""
        offsets = self.offsets(at)
        fit = self._fits.fit(offsets, self.best_fit, self._solver, evidence_only=True)
        if not (fit.status.converged and math.isfinite(fit.log_evidence)):
            return None
        points = at * self.units
        value = fit.log_evidence
        gradient = self._fits.slopes(offsets, fit)[self._indices]
        for number, prior in enumerate(self._priors):
            value += prior.log_density(points[number])
            gradient[number] += prior.gradient(points[number])[prior.key]
        if value > self._best:
            self._best = value
            self.best_fit = fit
        return FunctionValue(at, value, gradient * self.units)


def explain_covariates(fit: Fit, timeline: Timeline) -> Fit:
    """The fit with the shares of its covariates that follow from who plays, and notes on the large ones."""
    terms = [term for term, points in points_by_term(fit.params).items() if points]
    if not terms:
        return fit
    shares = dict(zip(terms, explained_shares(timeline, terms), strict=True))
    notes = [*fit.notes]
    for term, share in shares.items():
        if share > MOST_EXPLAINED:
            notes.append(
                f"{100 * share:.1f} % of {PREFIX}{term} follows from who plays: its points can hardly be told from "
                "the skills of these players"
            )
    explained = {PREFIX + term: share for term, share in shares.items()}
    return replace(fit, explained=explained, notes=tuple(notes))


def fit_with_estimates(
    fits: OffsetFits,
    params: Params,
    terms: Sequence[Term],
    steps: Sequence[WinStep],
    timeline: Timeline,
    start: Fit | None,
    solver: SolverConfig,
) -> Fit:
    """Fit with those estimated of White's advantage, points per unit of covariates, the share of lapses, and steps.

    `terms`: the covariates that count; `steps`: between margins of victory.
    """
    priors: list[EstimatePrior] = []
    advantage = params.given_advantage
    if advantage is None and timeline.colours:
        priors.append(AdvantagePrior(params.performance_sd))
    for term in terms:
        if term.points is None:
            priors.append(
                AdvantagePrior(params.performance_sd, term.key, typical_size(timeline, term.name))
            )
    if params.estimates_lapse:
        priors.append(LapsePrior())
    priors += [StepPrior(params.performance_sd, step.key) for step in steps if step.points is None]
    given = Offsets(
        advantage or 0.0,
        tuple(term.points or 0.0 for term in terms),
        params.given_lapse or 0.0,
        tuple(step.points or 0.0 for step in steps),
    )
    search = OffsetSearch(fits, terms, steps, priors, given, start, solver)
    optimum = search.maximise()
    at = optimum.point.at
    errors = np.sqrt(np.diag(optimum.covariance))
    step = np.nan_to_num(optimum.covariance @ optimum.point.gradient)
    if not np.isnan(errors).any():
        at = at + step  # what is left to gain, less than the search looks at
    fit = fits.fit(search.offsets(at), search.best_fit, solver)
    standard_errors = dict(zip(search.keys, (errors * search.units).tolist(), strict=True))
    known = {key: error for key, error in standard_errors.items() if math.isfinite(error)}
    notes = [*fit.notes]
    if not optimum.reached:
        notes.append(
            f"NOT CONVERGED: the search for {', '.join(search.keys)} ended before the maximum of the evidence"
        )
    if params.estimates_lapse and fit.params[LAPSE] == 0.0:
        notes.append("lapse is 0: the evidence prefers that chance decides no games")
    for prior in priors:
        error = standard_errors[prior.key]
        if error > UNINFORMATIVE * prior.sd:
            notes.append(_few_games_note(prior, fit.params[prior.key], error))
    if (
        params.estimates_lapse
        and params.draws_open
        and fit.params[LAPSE] * fit.params["draw_margin"] > 0.0
    ):
        notes.append(
            "lapse is estimated with beta and draw_margin auto as they are: `ttt tune lapse,beta,draw_margin` "
            "estimates the three together"
        )
    return replace(fit, notes=tuple(notes), standard_errors=known)


def _few_games_note(prior: EstimatePrior, value: float, error: float) -> str:
    """Note on an estimate that is mostly its prior's."""
    if isinstance(prior, LapsePrior):
        amount = f"{100 * value:.1f} +- {100 * error:.1f} % of the games, +-{100 * prior.sd:.1f} % before any game"
    elif isinstance(prior, StepPrior):
        amount = f"{value:.1f} +- {error:.1f} points, +-{prior.sd:.1f} before any game"
    else:
        amount = f"{value:.1f} +- {error:.1f} points per unit, +-{prior.sd:.1f} before any game"
    return f"too few games to estimate {prior.key}: {amount}"
