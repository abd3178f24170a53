"""Joint expectation propagation: one Gaussian over all variables; all sites updated at once from their cavities."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final, NamedTuple

import numpy as np

from ttt_cli.config.schema import SolverConfig
from ttt_cli.fitted import Chain, DrawCurve, NewcomerCurve, Status
from ttt_cli.gaussian.factor import Factor
from ttt_cli.gaussian.precision import Entries, Precision
from ttt_cli.inference.ep.category_margins import (
    CategoriesPosterior,
    apply_margins,
    follow_strength,
    margin_scores,
    strengths,
)
from ttt_cli.inference.ep.inference import Inference
from ttt_cli.inference.ep.link_games import JOINT_SITE, links_gradient
from ttt_cli.inference.ep.moving_margins import (
    SliceMargins,
    YearScores,
    YearStrengths,
)
from ttt_cli.inference.ep.results import marginals
from ttt_cli.inference.ep.start import sites_name
from ttt_cli.inference.joint.damping import Damping
from ttt_cli.inference.joint.links import NO_SITES, joint_links, link_sites
from ttt_cli.inference.joint.pairs import JointGames, joint_pairs
from ttt_cli.inference.joint.shape import Shape, joint_chains, largest_variance
from ttt_cli.inference.links import NO_PAIRS
from ttt_cli.inference.model import ChainSlopes, Evidence, EvidenceGradient, LinksGradient
from ttt_cli.inference.prior import histories, prior_slopes
from ttt_cli.inference.solver import OnSweep
from ttt_cli.kernels.ep import ttt_d
from ttt_cli.kernels.ep.structures import Chains, PositivityEvidence, Rule
from ttt_cli.support.arrays import Array, Places

LOG_SQRT_2PI: Final = 0.5 * math.log(2.0 * math.pi)
# Largest share of the way to their targets that positivity sites move: full moves overshoot
MOST_POSITIVITY_SHARE: Final = 0.85
# Where chance decides games, surprises take precision away, and sites may have no stable fixed point. After each
# PATIENCE rounds without convergence they take away less: at most m / (1 + m) of the cavity's precision, for these m
PATIENCE: Final = 80
MOST_TAKEN: Final = (1.0, 0.1, 0.0)
ROUNDING: Final = 3e-12  # moves below this part of the widest prior are rounding
JOINT_PREFIX: Final = "joint"  # of names in the state of a fit: sites of joint propagation
FACTORISED_PREFIX: Final = "links of"  # and those of the factorised one that it began with


class JointSites(NamedTuple):
    """Sites of the joint Gaussian, as in `kernels/ep/structures.py`.

    | name | shape | |
    |---|---|---|
    | link | (games, 2 or 5) | of games |
    | positivity | (nodes, 2) | of draw margins, none without |
    | sums | (links, 2) | of links of any number of variables, none without |
    """

    link: Array
    positivity: Array
    sums: Array


def factorised_sites(inference: Inference) -> JointSites:
    """The sites that factorised propagation has found."""
    return JointSites(inference.sites.link, inference.sites.positivity, link_sites(inference))


class JointFactor(NamedTuple):
    """Factor of the precision matrix of groups, and b: factor^-1 b are their means.

    The variables are x = G y + o: y are the first variables of groups, G gives each variable that of its group, and o
    is its offset from there (`Shape`). With A and b of all variables (`JointPrecision`)

        x'A x - 2 b'x = y'(G'A G) y - 2 (b - A o)'G y - o'(2 b - A o)

    where G'A G is the sum of A over groups. The log integral of the Gaussian has half of the last term in addition.

    | name | shape | |
    |---|---|---|
    | factor | | of G'A G |
    | b | (groups,) | G'(b - A o) |
    | from_offsets | | o'(2 b - A o) / 2 |
    """

    factor: Factor
    b: Array
    from_offsets: float


class JointPrecision(NamedTuple):
    """Precision matrix A of all variables, without steps inside groups, and b, where A^-1 b are their means."""

    matrix: Precision
    b: Array


class PairCovariances(NamedTuple):
    """Covariances of the pairs of variables of `Shape.pattern`, points^2, in the order in which it has them.

    | name | shape | |
    |---|---|---|
    | of_games | (pairs,) each | of the pairs that the sites of each kind of games join |
    | reported | (pairs,) | of the pairs that links ask for |
    | of_steps | (`Shape.later`,) | of the variables with a step between groups and those before |
    """

    of_games: list[Array]
    reported: Array
    of_steps: Array


class JointInference:
    """Joint Gaussian of the variables of a fit, and the sites that it follows from.

    It begins with `sites`, by default those of factorised propagation, and with the beliefs of factorised propagation.
    `believe` computes the Gaussian of the sites, `solve` repeats this and moves the sites until neither changes.
    Variables are those of nodes, then extra ones of links, then newcomers' means by year if these move.

    | name | shape | unit | |
    |---|---|---|---|
    | inference | | | the factorised posterior, its games and priors |
    | chains | | | of all variables |
    | pairs, links | | | games between two players, and of other kinds, with their sites and cavities |
    | beliefs | (2, variables) | points | means, from their origins, and sds |
    | _positivity | (nodes, 2) | | sites that keep draw margins positive |
    | _step_precision | (variables,) | 1/points^2 | of the prior where a chain begins, of the step where a later group |
    | | | | begins, 0 within a group |
    | _covariance | (variables,) | points^2 | with the variable before, 0 without one |
    | _reported | | | pairs of variables with a covariance that links ask for |
    | _reported_covariance | (pairs,) | points^2 | of these |
    """

    def __init__(self, inference: Inference, shape: Shape, sites: JointSites | None = None) -> None:
        initial = sites or factorised_sites(inference)
        links = inference.slice_state.links
        self.inference = inference
        self.chains = joint_chains(inference)
        self.pairs = joint_pairs(inference, shape.sums, initial.link.copy())
        self.links = joint_links(links.rows, initial.sums.copy()) if links else None
        self.beliefs = _factorised_beliefs(inference)
        self._shape = shape
        self._positivity = initial.positivity.copy()
        self._step_precision = _step_precisions(self.chains, shape)
        self._covariance = np.zeros(len(self.chains.previous))
        self._reported = links.reported if links else NO_PAIRS
        self._reported_covariance = np.zeros(len(self._reported.first))
        self._log_integral = math.nan
        self._most_taken = MOST_TAKEN[0]

    @property
    def games(self) -> tuple[JointGames, ...]:
        """Games of all kinds."""
        return (self.pairs, self.links) if self.links else (self.pairs,)

    @property
    def sites(self) -> JointSites:
        """Sites of pairs, of draw margins and of links."""
        return JointSites(
            self.pairs.link, self._positivity, self.links.site if self.links else NO_SITES
        )

    @property
    def _own_margins(self) -> bool:
        return "draw_margin" in self.inference.priors

    @property
    def _chain_variables(self) -> int:
        """Number of variables but newcomers' means: of nodes, then extra ones of links."""
        return len(self.inference.chains.previous)

    @property
    def _node_variables(self) -> int:
        """Number of variables of nodes."""
        return self.inference.slice_state.parts.node_variables

    @property
    def _performances(self) -> int:
        """Number of variables without a prior."""
        return (
            self.inference.slice_state.links.performances if self.inference.slice_state.links else 0
        )

    @property
    def _nodes(self) -> int:
        return self._node_variables // len(self.inference.priors)

    @property
    def saved_state(self) -> dict[str, Array]:
        """State for a warm start: joint and factorised sites."""
        name = sites_name(self.inference.merged)
        factorised = self.inference.sites
        state = {
            f"{JOINT_PREFIX} {name}": self.sites.link,
            f"{JOINT_PREFIX} positivity": self.sites.positivity,
            f"{FACTORISED_PREFIX} {name}": factorised.link,
            f"{FACTORISED_PREFIX} positivity": factorised.positivity,
        }
        return state | {JOINT_SITE: self.links.site} if self.links else state

    def solve(
        self,
        solver: SolverConfig,
        on_sweep: OnSweep | None,
        trace: tuple[tuple[float, float], ...],
        *,
        evidence_only: bool = False,
    ) -> tuple[Status, tuple[tuple[float, float], ...]]:
        """Repeat rounds until means and sds are within `solver.tol`.

        A round computes the Gaussian of the sites, then moves draw margins, then the sites. Returns the status and
        the trace: `trace`, the rows of the sweeps before, with a row for each round. All its rows count towards
        `solver.max_sweeps`. With `evidence_only` there is no confirming round (`Damping`).
        """
        least = ROUNDING * math.sqrt(largest_variance(self.chains.variance))
        rows = list(trace)
        damping = Damping(least, evidence_only=evidence_only)
        skipped = 0
        remaining = math.inf
        rounds = 0
        while len(rows) < solver.max_sweeps:
            rounds += 1
            if rounds % PATIENCE == 0 and self._take_less():
                damping = Damping(least, evidence_only=evidence_only)
            before = self.beliefs
            self._believe_within_bounds()
            remaining = damping.after(self.beliefs - before)
            margins = self.inference.moving.update(self)
            change = max(damping.change, margins.largest)
            remaining = max(remaining, margins.ahead)
            rows.append((change, remaining))
            if on_sweep:
                on_sweep(len(rows), change, remaining)
            if remaining < solver.tol and not skipped:
                break
            skipped = self._move_sites(damping.share)
        converged = remaining < solver.tol and not skipped
        return Status(converged, len(rows), remaining, skipped), tuple(rows)

    def _take_less(self) -> bool:
        """Let sites of surprises take away less from now on; returns whether any did and can.

        Surprises take precision away only where chance decides games.
        """
        of_links = self.links is not None and bool(self.links.rows.lapse.any())
        if not (self.inference.rule.has_lapses or of_links):
            return False
        stage = MOST_TAKEN.index(self._most_taken) + 1
        if stage == len(MOST_TAKEN):
            return False
        self._most_taken = MOST_TAKEN[stage]
        return self._take_from_surprises(self.beliefs[0], self._most_taken)

    def _take_from_surprises(self, mean: Array, left: float) -> bool:
        """Leave this part of the precision that sites of surprises take away; whether any of them takes some."""
        taken = [
            games.take_less(mean, left) for games in self.games
        ]  # of all games, whatever the first says
        return any(taken)

    def _believe_within_bounds(self) -> None:
        """Compute the joint Gaussian, whose matrix must be positive definite.

        Sites of surprising results have negative precisions. Where these leave no positive definite matrix, they are
        halved until they do (`JointGames.take_less`).
        """
        mean = self.beliefs[0]
        while True:
            try:
                return self.believe()
            except np.linalg.LinAlgError:
                if not self._take_from_surprises(mean, 0.5):
                    raise

    def believe(self) -> None:
        """Compute the joint Gaussian of the current sites: beliefs, covariances, its integral, and all cavities.

        Raises LinAlgError where the precision matrix is not positive definite.
        """
        shape = self._shape
        joint_factor = self.factor(once=True)
        group_mean = joint_factor.factor.solve(joint_factor.b)
        self._log_integral = self._log_integral_of(joint_factor, group_mean)
        # Variances and covariances come last: with `once` the factor cannot solve after them.
        mean = group_mean[shape.group] + shape.offset
        variance = joint_factor.factor.variances[shape.group]
        covariances = self._covariances_of_pairs(joint_factor.factor)
        self.beliefs = np.array([mean, np.sqrt(variance)])
        self._reported_covariance = covariances.reported
        # Within a group a variable and the one before differ by a constant: their covariance is the variance.
        self._covariance = np.where(self.chains.previous < 0, 0.0, variance)
        self._covariance[shape.later] = covariances.of_steps
        for games, covariance in zip(self.games, covariances.of_games, strict=True):
            games.fill_cavities(mean, variance, covariance)

    def _covariances_of_pairs(self, factor: Factor) -> PairCovariances:
        """The covariances of the pairs of variables that sites and steps join, or links ask for."""
        counts = [*(games.pair_count for games in self.games), len(self._reported.first)]
        *of_games, reported, of_steps = np.split(factor.joined, np.cumsum(counts))
        return PairCovariances(of_games, reported, of_steps)

    def _log_integral_of(self, joint_factor: JointFactor, group_mean: Array) -> float:
        """Log of the integral of the prior times the sites; a performance without a prior counts as a flat factor.

        With steps of precision p and mean m, and means y of groups with the matrix A and b = A y, it is
        (b'y - log |A| - sum of (p m^2 - log p)) / 2, and what offsets add. The integral has a factor sqrt(2 pi) for
        each variable, and each prior or step divides by one: only those of performances are left.
        """
        precision = self._step_precision
        of_prior = precision @ self.chains.mean**2 - np.log(precision[precision > 0.0]).sum()
        of_groups = joint_factor.b @ group_mean - of_prior - joint_factor.factor.log_determinant
        log_integral = 0.5 * float(of_groups) + joint_factor.from_offsets
        return log_integral + self._performances * LOG_SQRT_2PI

    def _move_sites(self, share: float) -> int:
        """Move all sites by `share` towards their targets; returns the number of sites not moved."""
        skipped = sum(games.update(share) for games in self.games)
        if self._most_taken < 1.0:
            for games in self.games:
                games.limit_taken(self._most_taken)
        return skipped + self._move_positivity(min(share, MOST_POSITIVITY_SHARE))

    def factor(self, *, once: bool = False) -> JointFactor:
        """Factor of the precision matrix of groups; with `once` it cannot solve after its inverse was read."""
        shape = self._shape
        matrix, b = self._precision()
        b_less_offsets = b - matrix.times(shape.offset) if shape.offset.any() else b
        from_offsets = 0.5 * float(shape.offset @ (b + b_less_offsets))
        diagonal = shape.total(matrix.diagonal)
        factor = Factor(shape.pattern, matrix.above, diagonal, once=once)
        return JointFactor(factor, shape.total(b_less_offsets), from_offsets)

    def _precision(self) -> JointPrecision:
        """A and b of all variables, at the current sites."""
        previous_of_steps = np.where(self._step_precision > 0.0, self.chains.previous, -1)
        matrix = Precision(previous_of_steps, self._step_precision, self._site_entries())
        return JointPrecision(matrix, self._b())

    def _site_entries(self) -> list[Entries]:
        """What sites add to A. Pairs off the diagonal have the order of `Shape.pattern`."""
        entries = [entry for games in self.games for entry in games.entries()]
        # zeros, for the pairs to be in the matrix, so that its factor gives their covariances
        entries.append(Entries(*self._reported, np.zeros(len(self._reported.first))))
        margins = self._margins_with_sites
        entries.append(Entries(margins, margins, self._positivity[:, 0]))
        return entries

    def _b(self) -> Array:
        """The sum of precision times mean over sites and steps, (variables,).

        A step x_i - x_previous of precision p and mean m adds p m at i, and takes it off at the previous variable.
        """
        previous = self.chains.previous
        later = self._shape.later
        size = len(previous)
        b = self.pairs.pulls(size)
        if self.links:
            b += self.links.pulls(size)
        b[self._margins_with_sites] += self._positivity[:, 1]
        of_steps = self._step_precision * self.chains.mean
        b += of_steps - np.bincount(previous[later], of_steps[later], size)
        return b

    @property
    def _margins_with_sites(self) -> Places:
        """The variables that sites keep positive: draw margins, the last quantity of nodes; none without."""
        return np.arange(self._node_variables - len(self._positivity), self._node_variables)

    def covariance(self, contrasts: Array) -> Array:
        """Covariances (sums, sums) of sums of skills with weights (nodes, sums), points^2."""
        weights = np.zeros((len(self._shape.pattern.column_of), contrasts.shape[1]))
        np.add.at(weights, self._shape.group[: len(contrasts)], contrasts)
        covariance: Array = weights.T @ self.factor().factor.solve(weights)
        return covariance

    def _move_positivity(self, share: float) -> int:
        """Move the sites that keep margins positive by `share`; the number of sites not moved."""
        if not self._own_margins:
            return 0
        mean, sd = self._margin_beliefs()
        return int(ttt_d.move_positivity(self.rule.origin, mean, sd**2, share, self._positivity))

    def _positivity_evidence(self) -> PositivityEvidence:
        """The part of log Z that keeps margins positive."""
        if not self._own_margins:
            return PositivityEvidence(0.0, 0.0)
        mean, sd = self._margin_beliefs()
        evidence: PositivityEvidence = ttt_d.positivity_evidence(
            self.rule.origin, mean, sd**2, self._positivity
        )
        return evidence

    def _margin_beliefs(self) -> Array:
        """Means and sds of draw margins, (2, nodes)."""
        return np.ascontiguousarray(self.beliefs[:, self._nodes : self._node_variables])

    def log_evidence(self) -> Evidence:
        """log Z of the current sites, and the leave-one-out log probability of all games."""
        shares = [games.evidence() for games in self.games]
        total = math.fsum(share.log_evidence for share in shares)
        positive = self._positivity_evidence().log_evidence
        total += self._log_integral + positive + self.inference.moving.log_evidence(self)
        return Evidence(total, math.fsum(share.leave_one_out for share in shares))

    def gradient(self) -> EvidenceGradient:
        """Gradient of log Z at the fixed point."""
        inference = self.inference
        kernel = inference.slice_state.pairs.kernels.gradient
        by_strength, of_games = inference.moving.gradient(self, inference.merged, kernel)
        slopes = self.chain_slopes()
        params = self._prior_gradient(slopes)
        params["draw_margin_strength"] = by_strength
        of_links = self._links_gradient(slopes)
        if of_links and of_links.games:
            of_games = of_games.plus(of_links.games)
        # Players' margins are deviations from a common one, so the sites that keep them positive depend on that, too.
        by_margin = of_games.margin + self._positivity_evidence().by_origin
        return EvidenceGradient(params, of_games._replace(margin=by_margin), of_links)

    def _prior_gradient(self, slopes: ChainSlopes) -> dict[str, float]:
        """The slopes in the parameters of priors, and of newcomers' mean if it moves, by name."""
        of_nodes = slice(self._node_variables)
        params = prior_slopes(
            self.inference.priors, slopes.by_mean[of_nodes], slopes.by_variance[of_nodes]
        )
        newcomers = self.inference.newcomers
        if newcomers:
            of_years = slice(self._chain_variables, None)
            # `chain_slopes` has (E[square of the step] / v - 1) / (2 v) of each step of variance v, here solved for
            # the expected square over v.
            scaled = slopes.by_variance * self.chains.variance
            params |= newcomers.gradient(1.0 + 2.0 * scaled[of_years])
        return params

    def _links_gradient(self, slopes: ChainSlopes) -> LinksGradient | None:
        """The slopes in games as links of any number of variables, None without."""
        state = self.inference.slice_state
        if state.links is None or self.links is None:
            return None
        loadings = state.links.loadings
        of_shared = self.links.moments_of_shared(loadings) if loadings else None
        return links_gradient(state.links, self.links.cavity, slopes, state.pairs.play, of_shared)

    # What draw margins follow (`moving_margins.WholePosterior`)

    @property
    def rule(self) -> Rule:
        """How games are played."""
        return self.inference.rule

    @property
    def margins(self) -> SliceMargins:
        """Draw margins of all games."""
        return self.inference.margins

    def chain_slopes(self) -> ChainSlopes:
        """Gradient of log Z in the means m and variances v of all steps s = x_i - x_previous, or x_i at a first one.

        By m it is E[s - m] / v, by v it is (E[(s - m)^2] / v - 1) / (2 v).
        """
        _, previous, _, step_mean, variance = self.chains
        mean, sd = self.beliefs
        steps = np.flatnonzero(self._step_precision)
        has_previous = np.where(previous[steps] < 0, 0.0, 1.0)
        change = mean[steps] - has_previous * mean[previous[steps]] - step_mean[steps]
        covariance = self._covariance[steps]
        square = (
            sd[steps] ** 2
            + has_previous * (sd[previous[steps]] ** 2 - 2.0 * covariance)
            + change**2
        )
        by_mean = np.zeros(len(mean))
        by_variance = np.zeros(len(mean))
        by_mean[steps] = change / variance[steps]
        by_variance[steps] = 0.5 * (square / variance[steps] - 1.0) / variance[steps]
        self._add_slopes_within_groups(by_mean)
        return ChainSlopes(by_mean, by_variance)

    def _add_slopes_within_groups(self, by_mean: Array) -> None:
        """Add the slopes in the means of steps within groups, which have no variance, to `by_mean` (variables,).

        Such a mean moves the variable and all later ones of its group, so that the slope is the sum of b - A x over
        these.
        """
        previous = self.chains.previous
        within_groups = np.flatnonzero((self._step_precision == 0.0) & (previous >= 0))
        if not len(within_groups):
            return
        matrix, b = self._precision()
        force = b - matrix.times(self.beliefs[0])
        # each variable has a larger number than the one before, so that later ones come first here
        for variable in within_groups[::-1]:
            by_mean[variable] += force[variable]
            if self._step_precision[previous[variable]] == 0.0:
                by_mean[previous[variable]] += by_mean[variable]

    def cavities(self) -> Array:
        """Cavities of all games, as the kernels take them."""
        return self.pairs.cavity

    def run_games(self, task: Callable[[int, int], object]) -> None:
        """Do a task for all games."""
        task(0, len(self.inference.merged))

    def mean_skills(self) -> Array:
        """Mean skills of all nodes from the origin, points."""
        return np.asarray(self.beliefs[0, : self._nodes])

    def in_categories(self) -> CategoriesPosterior | None:
        """The posterior of games in categories, if there are any."""
        links = self.inference.slice_state.links
        joint = self.links
        if links is None or links.categories is None or joint is None:
            return None
        return links.categories.posterior(
            self,
            find_means=lambda: np.asarray(self.beliefs[0]),
            chained=links.extra.chained,
            find_cavities=lambda: joint.cavity,
        )

    def apply_margins(self, by_year: Array) -> float:
        """Set the draw margins of games, or the prior means of newcomers' own; the largest move, points."""
        return apply_margins(self, by_year)

    def follow_strength(self, level: Array, by_year: Array) -> float:
        """Update the strengths of games above the levels of years; the largest move of a margin, points."""
        return follow_strength(self, level, by_year)

    def strengths(self) -> YearStrengths:
        """Strengths of the players of each year."""
        return strengths(self)

    def margin_scores(self, by_year: Array) -> YearScores:
        """Scores of each year's log margin."""
        return margin_scores(self, by_year)

    # Results

    def draws(self) -> DrawCurve | None:
        """Curve of moving draw margins, if they move."""
        return self.inference.moving.curve(self, self.inference.priors["skill"].origin)

    def newcomer_curve(self) -> NewcomerCurve | None:
        """Curve of newcomers' mean, if it moves."""
        newcomers = self.inference.newcomers
        return newcomers.curve(self.beliefs[:, self._chain_variables :]) if newcomers else None

    def histories(self) -> dict[str, Chain]:
        """Chains of all quantities, points."""
        priors = self.inference.priors
        # variables whose previous one is in their chain; else it is a mean of newcomers
        is_in_chain = self.chains.previous < self._chain_variables
        covariance = np.where(is_in_chain, self._covariance, 0.0)
        beliefs = np.array([*self.beliefs, covariance])[:, : self._node_variables]
        return histories(priors, beliefs.reshape(3, len(priors), -1))

    def extra_beliefs(self) -> Array:
        """Mean, sd, and covariance with the variable before, (3, extra variables), of those of links, points."""
        beliefs = np.array([*self.beliefs, self._covariance])
        return beliefs[:, self._node_variables : self._chain_variables]

    def reported_covariances(self) -> Array:
        """Covariances of the pairs of variables that links ask for, (pairs,), points^2."""
        return self._reported_covariance


def _factorised_beliefs(inference: Inference) -> Array:
    """Means from their origins, and sds, of all variables after factorised propagation, (2, variables), points."""
    beliefs = marginals(inference.slice_state)
    newcomers = inference.newcomers
    return np.concatenate([beliefs, newcomers.beliefs], axis=1) if newcomers else beliefs


def _step_precisions(chains: Chains, shape: Shape) -> Array:
    """Precision of the prior where a chain begins, of the step where a later group begins, 0 within a group."""
    begins_group = np.append(np.flatnonzero(chains.previous < 0), shape.later)
    precision = np.zeros(len(chains.previous))
    precision[begins_group] = 1.0 / chains.variance[begins_group]
    return precision
