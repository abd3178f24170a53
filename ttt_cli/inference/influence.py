"""Influence of games on skills: the posterior of a run if games had not been played, or had ended otherwise.

The joint Gaussian with changed sites of these games is exact (design: a change of rank one for each, here by conjugate
gradients). The sites of all other games are then matched once more to the new beliefs, which moves the skills a
second, shorter way. Parameters, draw margins and careers stay as they are in the run.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ttt_cli.games.table import DRAW, LOSS, WIN, Games
from ttt_cli.gaussian.precision import Solved, Solver, dot
from ttt_cli.inference.games_in_posterior import games_in_posterior
from ttt_cli.inference.links import UNKNOWN_CODE
from ttt_cli.kernels import joint as kernels
from ttt_cli.runs.joint import SkillSum
from ttt_cli.runs.precision import RunPrecision
from ttt_cli.runs.run import Run
from ttt_cli.support.arrays import Array, Places

Outcomes = NDArray[np.int8]

EXACT: Final = 1e-4  # of a right-hand side of conjugate gradients
EXACT_SD: Final = 1e-3  # the same for sds, of which the error is the square
ROUGH: Final = 1e-2  # the same where the residual corrects what is computed, or it moves sites only
REPEATS: Final = 50  # of the search for a site, at most
SETTLED: Final = 1e-9  # relative change of its precision
# Games whose difference of skills moves less than this part of the largest move keep their sites
UNMOVED: Final = 1e-3
WIDENED: Final = 1e-6  # relative growth of the variance of a difference, likewise
SECANTS: Final = 12  # steps of the secant method
SHRUNK: Final = 0.7  # of a variance: the second point of it
FLAT: Final = 1e-9  # relative changes of a precision that are rounding
LEAST: Final = 1e-4  # of the variance of independent skills
MOST: Final = 2.0  # the same
NEGLIGIBLE: Final = 1e-4  # of the largest covariance with a game: games with less have no influence


class Supposition(NamedTuple):
    """What is supposed of some games: that they ended so, (games,) for White, or, None, that they were not played."""

    games: Places
    outcomes: Outcomes | None = None


class SkillChange(NamedTuple):
    """A sum of skills under a supposition, model points: the change of its mean, and its sd."""

    change: float
    sd: float


class OneGame(NamedTuple):
    """A game as it looks from all others.

    `expected`: White's expected score. `changes`: by how much the mean of a sum of skills would change if White had
    lost, drawn or won, points.
    """

    expected: float
    changes: tuple[float, ...]


class SiteChange(NamedTuple):
    """Changes of the sites of some games, all equal ones of a row together.

    | name | shape | |
    |---|---|---|
    | games | (n,) | the games |
    | precision | (n,) | what is added to the precision of their differences |
    | force | (n,) | what is added to the score of these at the means before |
    """

    games: Places
    precision: Array
    force: Array


@dataclass(frozen=True)
class Target:
    """A sum of skills, and its covariance (variables,) with all variables."""

    sum: SkillSum
    covariance: Array

    @property
    def sd(self) -> float:
        """Its sd, points."""
        return float(np.sqrt(dot(self.sum.weights, self.covariance) + self.sum.noise))


class Influence:
    """The influence of the games of a run on skills. Raises ConfigError, RunError.

    `games`: those of the run, if they were read already.
    """

    def __init__(self, run: Run, games: Games | None = None) -> None:
        self.games = games_in_posterior(run, run.stored_games() if games is None else games)
        self._precision: RunPrecision = run.joint.precision
        self._precision.compile_products()
        self._sites_at_beliefs = np.full((len(self.games), 2), np.nan)

    def target(self, skills: SkillSum) -> Target:
        """A sum of skills to ask about."""
        return Target(skills, self.solved(skills.weights, EXACT).x)

    def changes_without(self, target: Target) -> Array:
        """By how much the mean of a sum of skills changes without each game alone, first order, (games,), points."""
        covariance = self.games.between(target.covariance, slice(None))
        size = np.abs(covariance)
        changes = np.zeros(len(covariance))
        games = np.flatnonzero(size > NEGLIGIBLE * size.max(initial=0.0))
        sites = self._usual_sites(games)
        score = sites[:, 1] - sites[:, 0] * self.games.difference[games]
        changes[games] = -self.games.weight[games] * score * covariance[games]
        return changes

    def suppose(self, supposition: Supposition) -> Supposed:
        """The posterior under a supposition."""
        first = self._first_change(supposition)
        shift = self.solved(self.games.gathered(first.games, first.force), ROUGH, first)
        growth = self._growth(first)
        second = self._second_change(supposition, shift.x, growth)
        return Supposed(self, supposition, first, second, shift, growth)

    def _first_change(self, supposition: Supposition) -> SiteChange:
        """The change of the sites of the games themselves."""
        games = supposition.games
        mean = self.games.difference[games]
        variance = self._posterior_variance(games)
        sites = self._sites(games, mean, variance)
        new_sites = np.zeros_like(sites)
        if supposition.outcomes is not None:
            cavity = _cavities(mean, variance, sites, self._share(games))
            code = self.codes(games, supposition.outcomes)
            kernels.skill_update(
                self.games.chosen(games, code), self.games.rule_of(games), cavity, 1.0, new_sites
            )
        return self._site_change(games, new_sites - sites, mean)

    def _second_change(self, supposition: Supposition, shift: Array, growth: Array) -> SiteChange:
        """The change of the sites of all games that are played, at the beliefs after the first one."""
        move = self.games.between(shift, slice(None))
        wider = self.games.spread(growth)
        affected = (np.abs(move) > UNMOVED * np.abs(move).max(initial=0.0)) | (
            wider > WIDENED * self.games.variance
        )
        code = self.games.code
        if supposition.outcomes is None:
            affected[supposition.games] = False
        else:
            code = code.copy()
            code[supposition.games] = self.codes(supposition.games, supposition.outcomes)
        games = np.flatnonzero(affected)
        mean = self.games.difference[games]
        variance = self.games.variance[games]
        new_mean = mean + move[games]
        before = (
            self._usual_sites(games)
            if supposition.outcomes is None
            else self._sites(games, mean, variance, code)
        )
        after = self._sites(games, new_mean, variance + wider[games], code, start=before)
        return self._site_change(games, after - before, new_mean)

    def _site_change(self, games: Places, sites: Array, mean: Array) -> SiteChange:
        """Changes of sites (q, h) at means of differences."""
        weight = self.games.weight[games]
        precision, weighted = sites.T
        return SiteChange(games, weight * precision, weight * (weighted - precision * mean))

    def codes(self, games: Places, outcomes: Outcomes) -> NDArray[np.uint8]:
        """Outcomes of games as kernels take them; those whose colours are unknown stay so."""
        unknown = self.games.code[games] // UNKNOWN_CODE * UNKNOWN_CODE
        return (outcomes + unknown).astype(np.uint8)

    def _share(self, games: Places) -> Array:
        """The part of a game that its cavity is without."""
        return np.minimum(self.games.weight[games], 1.0)

    def _usual_sites(self, games: Places) -> Array:
        """Sites (q, h) of games as they ended, at what the run believes, (n, 2); each is computed once."""
        missing = games[np.isnan(self._sites_at_beliefs[games, 0])]
        self._sites_at_beliefs[missing] = self._sites(
            missing, self.games.difference[missing], self.games.variance[missing]
        )
        return self._sites_at_beliefs[games]

    def _sites(
        self,
        games: Places,
        mean: Array,
        variance: Array,
        code: NDArray[np.uint8] | None = None,
        start: Array | None = None,
    ) -> Array:
        """Sites (q, h) of games, (n, 2), such that the posteriors of their differences have these moments.

        `start`: sites (n, 2) that are near.
        """
        codes = (self.games.code if code is None else code)[games]
        share = self._share(games)
        sites = np.zeros((len(games), 2)) if start is None else start.copy()
        moving = np.arange(len(games))
        for _ in range(REPEATS):
            before = sites[moving]
            after = before.copy()
            cavity = _cavities(mean[moving], variance[moving], before, share[moving])
            kernels.skill_update(
                self.games.chosen(games[moving], codes[moving]),
                self.games.rule_of(games[moving]),
                cavity,
                1.0,
                after,
            )
            sites[moving] = after
            has_moved = np.abs(after[:, 0] - before[:, 0]) > SETTLED * np.abs(after[:, 0])
            moving = moving[has_moved]
            if not len(moving):
                break
        return sites

    def _posterior_variance(self, games: Places) -> Array:
        """Variances of the differences of some games, (n,), points^2: those at which the sites have the precision that
        the run stores of each pair of players in a period.

        Skills of a pair may be correlated by many games, so that independent variances are too large. The variance is
        found by the secant method.
        """
        pair_of_game = self.games.pair
        pairs, pair_index = np.unique(pair_of_game[games], return_inverse=True)
        of_pairs = np.flatnonzero(np.isin(pair_of_game, pairs))
        number = np.searchsorted(pairs, pair_of_game[of_pairs])
        mean = self.games.difference[of_pairs]
        stored = self.games.stored_precision(pairs)

        def excess(variance: Array) -> Array:
            """Relative excess of the precision of the sites of each pair over the stored one."""
            sites = self._sites(of_pairs, mean, variance[number])
            total = np.bincount(number, self.games.weight[of_pairs] * sites[:, 0], len(pairs))
            return np.asarray(total / stored - 1.0)

        largest = np.empty(len(pairs))
        largest[number] = self.games.variance[of_pairs]
        last = largest.copy()
        last_excess = excess(last)
        variance = SHRUNK * largest
        for _ in range(SECANTS):
            new_excess = excess(variance)
            if (np.abs(new_excess) <= FLAT).all():
                break
            slope = new_excess - last_excess
            steep = np.abs(slope) > FLAT
            step = np.where(
                steep, new_excess / np.where(steep, slope, 1.0) * (variance - last), 0.0
            )
            last = variance
            last_excess = new_excess
            variance = np.clip(variance - step, LEAST * largest, MOST * largest)
        return variance[pair_index]

    def _growth(self, change: SiteChange) -> Array:
        """By how much the variance of each variable grows, (variables,), points^2.

        As if only the player's own chain moved. For this chain a game is a message from the others in it, as uncertain
        as these are: a precision q of the difference is one of q / (1 + q v), with the variance v of the others.
        """
        games = self.games
        size = len(games.deviation)
        terms = games.terms_of(change.games)
        added = terms.square * change.precision[terms.game]
        of_others = (
            games.variance[change.games][terms.game]
            - terms.square * games.deviation[terms.variable] ** 2
        )
        # equal games of a pair are one message
        _, pair = np.unique(games.pair[change.games], return_inverse=True)
        of_pair = np.abs(np.bincount(pair, change.precision)[pair])
        messages = added / (1.0 + of_pair[terms.game] * of_others)
        added_to: Array = np.bincount(terms.variable, added, size).astype(np.float64)
        messages_to: Array = np.bincount(terms.variable, messages, size).astype(np.float64)
        return self._growth_of_chains(added_to, messages_to)

    def _growth_of_chains(self, added: Array, messages: Array) -> Array:
        """By how much variances grow where games add precisions, (variables,), points^2.

        `added` (variables,) is added to the diagonal of the precision matrix, below 0 where games are left out. A
        variance grows by the ratio of that of the chain alone with `added` to the same with the `messages` left.
        """
        growth = np.zeros(len(added))
        end = 0  # of the last chain that is done
        for variable in np.flatnonzero(added).tolist():
            if variable < end:
                continue
            chain = self._precision.chain_of(variable)
            variables = chain.variables
            end = variables.stop
            matrix = chain.matrix + np.diag(added[variables])
            after = np.diag(np.linalg.inv(matrix))
            before = np.diag(np.linalg.inv(matrix - np.diag(messages[variables])))
            growth[variables] = self.games.deviation[variables] ** 2 * (after / before - 1.0)
        return growth

    def solved(self, b: Array, residual: float, change: SiteChange | None = None) -> Solved:
        """x of A x = b for the precision matrix A of all sites, or of changed ones; `residual`: of b."""
        if not b.any():
            return Solved(np.zeros(len(b)), np.zeros(len(b)))
        added: Solver | None = None
        if change is not None:

            def added(x: Array) -> Array:
                along = self.games.between(x, change.games)
                return self.games.gathered(change.games, change.precision * along)

        return self._precision.solve(b, residual=residual, added=added)


def _cavities(mean: Array, variance: Array, sites: Array, share: Array) -> Array:
    """Means and variances (n, 2) of differences without these sites, -1 where that is improper."""
    precision = 1.0 / variance - share * sites[:, 0]
    proper = precision > 0.0
    positive = np.where(proper, precision, 1.0)
    mean_without = (mean / variance - share * sites[:, 1]) / positive
    return np.column_stack([mean_without, np.where(proper, 1.0 / positive, -1.0)])


@dataclass(frozen=True)
class Supposed:
    """The posterior under a supposition.

    | name | |
    |---|---|
    | influence | of all games |
    | supposition | what is supposed |
    | first | the change of the sites of its games |
    | second | the change of the sites of all games that are played, which follows from the first one |
    | shift | change of the mean of each variable by the first one, points: solved roughly |
    | growth | of the variance of each variable, as if only the player's own chain moved, (variables,), points^2 |
    """

    influence: Influence
    supposition: Supposition
    first: SiteChange
    second: SiteChange
    shift: Solved
    growth: Array

    @cached_property
    def total_shift(self) -> Array:
        """Change of the mean of each variable, (variables,), points."""
        return self.influence.solved(self._force + self._second_force, EXACT, self.first).x

    @cached_property
    def _force(self) -> Array:
        return self.influence.games.gathered(self.first.games, self.first.force)

    @cached_property
    def _second_force(self) -> Array:
        return self.influence.games.gathered(self.second.games, self.second.force)

    def of(self, target: Target) -> SkillChange:
        """What it changes in a sum of skills: mean and variance of c'x, c the weights of `target`.

        A' is the precision matrix after the first change, and b the force of both changes. The mean moves by
        c'A'^-1 b, where c'A'^-1 is the covariance with all variables after the first change. The variance is
        c'A'^-1 c, less what the second change of sites takes off.

        Errors of rough solutions x of A x = b and y of A y = c enter only by their product: b'A^-1 c is near
        b'y + x'(c - A y).
        """
        lost = self._lost(target)
        more = self._more_covariance(lost)
        covariance = target.covariance + more.x
        change = dot(covariance, self._force + self._second_force)
        change += dot(self.shift.x, more.residual)
        by_games = self.influence.games.between(covariance, self.second.games)
        variance = target.sd**2 + dot(covariance, lost) + dot(more.x, more.residual)
        variance -= dot(self.second.precision, by_games**2)
        return SkillChange(change, float(np.sqrt(variance)))

    def sd_of(self, skills: SkillSum) -> float:
        """The sd of a sum of skills, points: from one solution, where `of` takes two."""
        covariance, residual = self.influence.solved(skills.weights, EXACT_SD, self.first)
        by_games = self.influence.games.between(covariance, self.second.games)
        variance = dot(covariance, skills.weights + residual) + skills.noise
        return float(np.sqrt(variance - dot(self.second.precision, by_games**2)))

    def _lost(self, target: Target) -> Array:
        """What the first change takes off A, times the covariances of a sum of skills, (variables,)."""
        games = self.influence.games
        along = games.between(target.covariance, self.first.games)
        return games.gathered(self.first.games, -self.first.precision * along)

    def _more_covariance(self, lost: Array) -> Solved:
        """By how much covariances with all variables grow by the first change.

        That of games between the same two skills is a multiple of `shift`, as both are solutions for their difference.
        """
        variable = self.influence.games.white[self.first.games[0]]
        force = self._force[variable]
        pairs = self.influence.games.pair[self.first.games]
        if force != 0.0 and (pairs == pairs[0]).all():
            return self.shift.times(lost[variable] / force)
        return self.influence.solved(lost, ROUGH, self.first)

    def one_game(self, target: Target) -> OneGame:
        """The only game of a supposition that it was not played: what was expected, and what each outcome changes."""
        games = self.influence.games
        (game,) = self.supposition.games
        (precision,) = self.first.precision
        (force,) = self.first.force
        # `shift` is the solution for the difference of the game times `force`: with it the variance of the difference
        # without the game
        variance = dot(self.shift.x, self._force + self.shift.residual) / force**2
        mean = games.difference[game] + force * variance
        with_game = games.between(target.covariance, self.first.games)[0]
        covariance = with_game * (1.0 - precision * variance)
        change_without = covariance * force
        probabilities = []
        changes = []
        for outcome in (LOSS, DRAW, WIN):
            site = self._site_of_only_game(outcome, mean, variance)
            probabilities.append(site.probability)
            changes.append(float(change_without + games.weight[game] * covariance * site.score))
        expected = probabilities[WIN] + 0.5 * probabilities[DRAW]
        return OneGame(expected, tuple(changes))

    def _site_of_only_game(self, outcome: int, mean: float, variance: float) -> _OutcomeSite:
        """The outcome of the only game, whose difference has this mean and variance without it."""
        games = self.influence.games
        number = self.supposition.games
        code = self.influence.codes(number, np.array([outcome], np.int8))
        chosen = games.chosen(number, code)
        rule = games.rule_of(number)
        cavity = np.array([[mean, variance]])
        site = np.zeros((1, 2))
        kernels.skill_update(chosen, rule, cavity, 1.0, site)
        _, log_probability = kernels.skill_evidence(chosen, rule, cavity, site)
        ((precision, weighted_mean),) = site
        score = (weighted_mean - precision * mean) / (1.0 + precision * variance)
        return _OutcomeSite(float(np.exp(log_probability)), float(score))


class _OutcomeSite(NamedTuple):
    """An outcome of a game: its probability before, and the score of the difference that its site adds, 1/points.

    A site of precision q and precision times mean h has the score (h - q m) / (1 + q v) at a mean m and variance v
    without it: it moves every sum of skills by its covariance with the difference times the score.
    """

    probability: float
    score: float
