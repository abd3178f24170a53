"""TTT and TTT-D by expectation propagation, as slowly and plainly as it can be written: dense matrices, sites in turn.

The prior of all skills and margins is one Gaussian, computed from the definition of careers, walks and newcomers. Each
game of the timeline is a site. Moments come from scipy, those of a draw in TTT-D from quadrature. Draw margins that
move take a Newton step after each sweep; their scores are differences of log normalisers.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
import pytest
from numpy.polynomial.legendre import leggauss
from scipy.special import log_ndtr, ndtr

from ttt_cli.periods import STEPS_PER_YEAR, calendar_year
from ttt_cli.timeline import KNOWN, UNKNOWN

STEP = 5e-5  # of log margins


def density(x: float) -> float:
    return math.exp(-0.5 * x * x) / math.sqrt(2 * math.pi)


def tilted(mean: float, var: float, outcome: int, margin: float) -> tuple[float, float, float]:
    """Mean, variance and log normaliser of N(mean, var) truncated by an outcome: 1, 0, -1."""
    low = {1: margin, 0: -margin, -1: -math.inf}[outcome]
    high = {1: math.inf, 0: margin, -1: -margin}[outcome]
    return truncated(mean, var, low, high)


def truncated(mean: float, var: float, low: float, high: float) -> tuple[float, float, float]:
    """Mean, variance and log normaliser of N(mean, var) between two ends."""
    sd = math.sqrt(var)
    low, high = (low - mean) / sd, (high - mean) / sd
    if low > 0:  # by the nearer tail
        mean_below, variance, log_mass = truncated(-mean, var, -high * sd - mean, -low * sd - mean)
        return -mean_below, variance, log_mass
    log_mass = log_ndtr(high) + math.log1p(-math.exp(log_ndtr(low) - log_ndtr(high)))
    mass = math.exp(log_mass)
    p_low = density(low) if math.isfinite(low) else 0.0
    p_high = density(high) if math.isfinite(high) else 0.0
    shift = (p_low - p_high) / mass
    edge = (low * p_low if p_low else 0.0) - (high * p_high if p_high else 0.0)
    return mean + sd * shift, var * (1 + edge / mass - shift * shift), log_mass


def one_sided(mean: float, var: float) -> tuple[float, float, float]:
    """Mean, variance and log normaliser of N(mean, var) above zero."""
    return tilted(mean, var, 1, 0.0)


_X, _W = leggauss(400)


def both_positive(mean, cov):
    """(log Z, mean, covariance) of a two-dimensional Gaussian where both are positive, by quadrature in the first."""
    sd = math.sqrt(cov[0, 0])
    low, high = max(0.0, mean[0] - 12 * sd), max(mean[0], 0.0) + 12 * sd
    x = low + (high - low) / 2 * (_X + 1)
    density = (
        _W
        * (high - low)
        / 2
        * np.exp(-0.5 * ((x - mean[0]) / sd) ** 2)
        / (math.sqrt(2 * math.pi) * sd)
    )
    slope = cov[0, 1] / cov[0, 0]
    centre, rest = mean[1] + slope * (x - mean[0]), math.sqrt(cov[1, 1] - slope * cov[0, 1])
    t = centre / rest
    mass, edge = ndtr(t), np.exp(-0.5 * t * t) / math.sqrt(2 * math.pi)
    first, second = centre * mass + rest * edge, (centre**2 + rest**2) * mass + centre * rest * edge
    z = (density * mass).sum()
    m = np.array([(density * x * mass).sum(), (density * first).sum()]) / z
    cross = (density * x * first).sum() / z
    square = np.array(
        [[(density * x * x * mass).sum() / z, cross], [cross, (density * second).sum() / z]]
    )
    return math.log(z), m, square - np.outer(m, m)


def ends_of_game(outcome, margin, steps, victory_margin):
    """Between which ends d is: `steps` by margin of victory, or `victory_margin` 0 for any win."""
    if outcome == 0:
        return -margin, margin
    thresholds = {int(least): step for least, step in steps.items()}
    low = margin + sum(step for least, step in thresholds.items() if victory_margin >= least)
    above = [step for least, step in sorted(thresholds.items()) if victory_margin < least]
    high = low + above[0] if above and victory_margin > 0 else math.inf
    return (low, high) if outcome == 1 else (-high, -low)


def of_difference(ends, noise, lead, m, c):
    """(log Z, mean, covariance) of x = s_i - s_j, (1,), given a game of TTT; `lead` is given to the first."""
    total = c[0, 0] + noise
    mean, variance, log_z = truncated(m[0] + lead, total, *ends)
    gain = c[0, 0] / total
    return log_z, m + gain * (mean - m[0] - lead), c - gain**2 * (total - variance)


def of_sides(outcome, noise, lead, m, c):
    """The same of x1 = s_i - s_j + e_i and x2 = e_j - s_i + s_j, given a game of TTT-D."""
    total = c + noise * np.array([[1.0, -1.0], [-1.0, 1.0]])
    centre = m + np.array([lead, -lead])
    if outcome == 0:
        log_z, mean, covariance = both_positive(centre, total)
    else:
        side = 1 if outcome == 1 else 0
        low, variance, log_z = one_sided(-centre[side], total[side, side])
        gain = total[:, side] / total[side, side]
        mean = centre + gain * (-low - centre[side])
        covariance = total - np.outer(gain, gain) * (total[side, side] - variance)
    gain = c @ np.linalg.inv(total)
    return log_z, m + gain @ (mean - centre), c - gain @ (total - covariance) @ gain.T


def above_zero(m, c):
    """The same of a draw margin, which is positive."""
    mean, variance, log_z = one_sided(m[0], c[0, 0])
    return log_z, np.array([mean]), np.array([[variance]])


def either(tilts, m, c):
    """The same of a game of which nobody knows which of these it is."""
    found = [tilt(m, c) for tilt in tilts]
    log_z = np.logaddexp.reduce([log_p for log_p, _, _ in found])
    shares = [math.exp(log_p - log_z) for log_p, _, _ in found]
    mean = sum(share * own for share, (_, own, _) in zip(shares, found, strict=True))
    square = sum(
        share * (cov + np.outer(own, own))
        for share, (_, own, cov) in zip(shares, found, strict=True)
    )
    return log_z - math.log(len(found)), mean, square - np.outer(mean, mean)


def or_by_chance(chance, by_skill, m, c):
    """The same of a game that chance decides with this probability; then x is N(m, c) still."""
    log_skill, mean, cov = by_skill
    z = math.exp(log_skill) + chance
    skill = math.exp(log_skill) / z
    mixed = skill * mean + (1 - skill) * m
    square = skill * (cov + np.outer(mean, mean)) + (1 - skill) * (c + np.outer(m, m))
    return (math.log(z) if chance else log_skill), mixed, square - np.outer(mixed, mixed)


def log_integral(mean, cov, p, h):
    """log of the integral of N(s; mean, cov) exp(-s'p s / 2 + h's); the covariance may be singular."""
    grown = np.eye(len(mean)) + cov @ p
    pull = h - p @ mean
    constant = h @ mean - 0.5 * mean @ p @ mean
    return (
        constant
        + 0.5 * pull @ np.linalg.solve(grown, cov) @ pull
        - 0.5 * np.linalg.slogdet(grown)[1]
    )


def career(params, years):
    """D and A of careers so many years after the first game, as they are defined."""
    change = params.growth * (1 - np.exp(-years / params.growth_years))
    change -= params.decline * np.maximum(0.0, years - params.decline_after)
    return change, years + params.early * params.early_years * (
        1 - np.exp(-years / params.early_years)
    )


def skill_prior(timeline, params):
    """Mean and covariance of all skills before any game."""
    year, player = timeline.node_period / STEPS_PER_YEAR[timeline.period], timeline.node_player
    debut = np.array([year[player == own].min() for own in player])
    gained, walked = career(params, year - debut)
    walk = params.prior_sd**2 + params.tau**2 * np.minimum.outer(walked, walked)
    covariance = walk * np.equal.outer(player, player)
    if drift := getattr(params, "prior_mean_drift", 0.0):
        covariance += 1.0 + drift**2 * (np.minimum.outer(debut, debut) - debut.min())
    return params.prior_mean + gained, covariance


def newcomers_mean(timeline, params, mean, covariance):
    """Mean and sd, by year, of newcomers' mean above the prior's, from mean and covariance of all skills.

    Given all skills it is a Gaussian, which moves as these do.
    """
    first = np.flatnonzero(timeline.previous < 0)
    years, variance = np.unique(timeline.node_period[first]), params.prior_sd**2
    prior = 1.0 + params.prior_mean_drift**2 * (np.minimum.outer(years, years) - years[0])
    of = np.equal.outer(years, timeline.node_period[first]).astype(float)
    given = np.linalg.inv(np.linalg.inv(prior) + of @ of.T / variance)
    by_skills = given @ of / variance
    spread = given + by_skills @ covariance[np.ix_(first, first)] @ by_skills.T
    return by_skills @ (mean[first] - params.prior_mean), np.sqrt(np.diag(spread))


class Years:
    """theta of each year, a random walk that begins at N(0, 1), with a dense precision matrix."""

    def __init__(self, years, drift):
        self.years, self.theta = sorted(set(years)), dict.fromkeys(years, 0.0)
        n = len(self.years)
        self.precision = np.zeros((n, n))
        self.precision[0, 0] = 1.0
        for k in range(1, n):
            u = np.zeros(n)
            u[k], u[k - 1] = 1.0, -1.0
            self.precision += np.outer(u, u) / (drift**2 * (self.years[k] - self.years[k - 1]))

    def step(self, score, information):
        theta = np.array([self.theta[y] for y in self.years])
        move = np.linalg.solve(
            self.precision + np.diag(information), score - self.precision @ theta
        )
        self.theta = dict(zip(self.years, (theta + move).tolist(), strict=True))
        return np.abs(move).max()

    def log_evidence(self, information):
        theta = np.array([self.theta[y] for y in self.years])
        posterior = self.precision + np.diag(information)
        logs = [np.linalg.slogdet(of)[1] for of in (self.precision, posterior)]
        return 0.5 * (logs[0] - logs[1] - theta @ self.precision @ theta)


@dataclass
class Site:
    """exp(-y'Q y / 2 + b'y) for so many equal games; `moments(m, c)` are log Z, mean and covariance of x = U s.

    y is x in joint propagation, and the variables s by themselves in factorised.
    """

    variables: list[int]
    u: np.ndarray
    moments: Callable
    joint: bool
    times: float = 1.0

    def __post_init__(self):
        self.to = self.u if self.joint else np.eye(len(self.variables))
        self.q, self.b = np.zeros((len(self.to), len(self.to))), np.zeros(len(self.to))

    def tilt(self, m, c):
        """log Z of the game, and mean and covariance of y, from those of the cavity."""
        u = np.eye(len(self.u)) if self.joint else self.u
        across, cov = c @ u.T, u @ c @ u.T
        log_z, mean, new = self.moments(u @ m, cov)
        gain = across @ np.linalg.inv(cov)
        spread = c - gain @ (cov - new) @ gain.T
        return log_z, m + gain @ (mean - u @ m), spread if self.joint else np.diag(np.diag(spread))


class Twin:
    """TTT or TTT-D, by the parameters; `unit`: points per Elo point of handicaps."""

    def __init__(self, timeline, params, *, joint=False, unit=1.0, games=True):
        self.timeline, self.params, self.joint, self.unit = timeline, params, joint, unit
        n, kind = timeline.n_nodes, timeline.period
        self.year = [calendar_year(int(period), kind) for period in timeline.node_period]
        self.of_margins = hasattr(params, "draw_margin_mean")
        self.prior_mean, self.covariance = skill_prior(timeline, params)
        self.drift, self.strength = params.draw_margin_drift, params.draw_margin_strength
        self.walk = Years(self.year, self.drift or 1.0)
        self.sites = [self.site(g) for g in range(timeline.n_games if games else 0)]
        self.games, self.above = len(self.sites), np.zeros(timeline.n_games)
        if self.of_margins:
            years = timeline.node_period / STEPS_PER_YEAR[kind]
            walk = params.draw_margin_sd**2 + params.draw_margin_tau**2 * np.minimum.outer(
                years, years
            )
            walk -= params.draw_margin_tau**2 * self.debut(years)[:, None]
            nothing, same = (
                np.zeros((n, n)),
                np.equal.outer(timeline.node_player, timeline.node_player),
            )
            self.prior_mean = np.append(self.prior_mean, np.full(n, params.draw_margin_mean))
            self.covariance = np.block([[self.covariance, nothing], [nothing, walk * same]])
            self.sites += [Site([n + i], np.eye(1), above_zero, joint) for i in range(n)]
        self.p, self.h = np.zeros_like(self.covariance), np.zeros(len(self.covariance))

    def debut(self, of):
        """The value at the first node of each node's player."""
        player = self.timeline.node_player
        return np.array([of[np.flatnonzero(player == own)[0]] for own in player])

    def site(self, g):
        line, n = self.timeline, self.timeline.n_nodes
        i, j = int(line.game_white[g]), int(line.game_black[g])
        variables = [i, j, n + i, n + j] if self.of_margins else [i, j]
        u = np.array([[1.0, -1.0]])
        if self.of_margins:
            u = np.array([[1.0, -1.0, 1.0, 0.0], [-1.0, 1.0, 0.0, 1.0]])
        return Site(variables, u, partial(self.moments, g), self.joint, float(line.weight[g]))

    def moments(self, g, m, c, outcome=None, more=0.0):
        """Of x, given the outcome of a game or another one, with a wider margin."""
        line, params, noise = self.timeline, self.params, 2 * self.params.beta**2
        outcome = int(line.outcome[g]) - 1 if outcome is None else outcome
        signs = {KNOWN: (1,), UNKNOWN: (1, -1)}.get(int(line.advantage_owner[g]), (0,))
        leads = [self.unit * line.offset[g] + sign * params.given_advantage for sign in signs]
        if self.of_margins:
            return either([partial(of_sides, outcome, noise, lead) for lead in leads], m, c)
        return or_by_chance(
            self.chance(outcome), self.moments_by_skill(g, outcome, more, leads, m, c), m, c
        )

    def chance(self, outcome):
        """The probability that a game has this outcome because chance decided it."""
        line = self.timeline
        draws = line.weight @ (line.outcome == 1) / line.weight.sum()
        return self.params.lapse * (draws if outcome == 0 else (1 - draws) / 2)

    def moments_by_skill(self, g, outcome, more, leads, m, c):
        """Of x, if chance did not decide the game; log Z is less than 0 by what chance decides."""
        line, params, noise = self.timeline, self.params, 2 * self.params.beta**2
        theta = self.walk.theta[self.year[line.game_white[g]]] if self.drift else 0.0
        margin = params.draw_margin * math.exp(theta + self.strength * self.above[g] + more)
        width = 0.0 if line.victory_margin is None else line.victory_margin[g]
        ends = ends_of_game(outcome, margin, getattr(params, "margin_steps", {}), width)
        log_z, *tilted = either([partial(of_difference, ends, noise, lead) for lead in leads], m, c)
        return log_z + math.log1p(-params.lapse), *tilted

    def gaussian(self):
        """Mean and covariance of all variables given all sites."""
        covariance = np.linalg.solve(
            np.eye(len(self.p)) + self.covariance @ self.p, self.covariance
        )
        return self.prior_mean + covariance @ (self.h - self.p @ self.prior_mean), covariance

    def cavity(self, site, gaussian=None):
        mean, covariance = gaussian or self.gaussian()
        m, c = (
            site.to @ mean[site.variables],
            site.to @ covariance[np.ix_(*[site.variables] * 2)] @ site.to.T,
        )
        left = np.linalg.inv(c if self.joint else np.diag(np.diag(c)))
        c = np.linalg.inv(left - site.q)
        return c @ (left @ m - site.b), c

    def update(self, site, share):
        m, c = self.cavity(site)
        _, mean, covariance = site.tilt(m, c)
        new, old = np.linalg.inv(covariance), np.linalg.inv(c)
        target = new - old
        least = -0.5 * old if self.joint else 0.0 * old
        if getattr(self.params, "lapse", 0.0) and (np.diag(target) < np.diag(least)).any():
            target = least  # a surprise: the mean is right, the variance is not
        q = share * (target - site.q)
        b = share * ((old + target) @ mean - old @ m - site.b)
        site.q, site.b = site.q + q, site.b + b
        self.p[np.ix_(*[site.variables] * 2)] += site.times * site.to.T @ q @ site.to
        np.add.at(self.h, site.variables, site.times * site.to.T @ b)

    def beliefs(self):
        mean, covariance = self.gaussian()
        return np.array([mean, np.sqrt(np.diag(covariance))])

    def run(self, tol=1e-9, most=2000):
        share = 0.7 if self.joint else 1.0
        for _ in range(most):
            before = self.beliefs()
            for site in self.sites:
                self.update(site, share)
            moved = self.move_margins()
            if max(np.abs(self.beliefs() - before).max(initial=0.0), moved) < tol:
                return self
        raise AssertionError("the slow twin did not converge")

    def move_margins(self):
        if self.strength:
            half, level = self.levels()
            self.above = np.clip(
                [(x - level[y]) / 400 for x, y in zip(half, self.years_of_games(), strict=True)],
                -2,
                2,
            )
        moved = self.walk.step(*self.scores()) if self.drift else 0.0
        if self.of_margins and self.drift:
            n = self.timeline.n_nodes
            self.prior_mean[n:] = self.debut(self.newcomers_margins())
        return moved

    def years_of_games(self):
        return [self.year[i] for i in self.timeline.game_white]

    def newcomers_margins(self):
        """The mean of a newcomer's margin in the year of each node."""
        return self.params.draw_margin_mean * np.exp([self.walk.theta[year] for year in self.year])

    def levels(self):
        """Half the sum of the skills of every game's players, and its mean over the games of the year."""
        mean, line = self.gaussian()[0], self.timeline
        half, of = (
            (mean[line.game_white] + mean[line.game_black]) / 2,
            np.array(self.years_of_games()),
        )
        return half, {
            year: np.average(half[of == year], weights=line.weight[of == year])
            for year in set(of.tolist())
        }

    def scores(self):
        """Score and Fisher information of each year's theta."""
        score, information = np.zeros((2, len(self.walk.years)))
        gaussian, n = self.gaussian(), self.timeline.n_nodes
        if self.of_margins:  # the mean m of a Gaussian prior has score (E[e] - m) / s^2
            prior, m = self.params.draw_margin_sd**2, self.newcomers_margins()
            for i in np.flatnonzero(self.timeline.previous < 0):
                at, mean, variance = (
                    self.walk.years.index(self.year[i]),
                    gaussian[0][n + i],
                    gaussian[1][n + i, n + i],
                )
                score[at] += m[i] * (mean - m[i]) / prior
                information[at] += m[i] ** 2 * (1 - variance / prior) / prior
            return score, information
        for g, site in enumerate(self.sites):
            m, c = self.cavity(site, gaussian)
            x, spread = (m, c) if self.joint else (site.u @ m, site.u @ c @ site.u.T)
            at = self.walk.years.index(self.year[self.timeline.game_white[g]])
            for outcome in (1, 0, -1):
                up, here, down = (
                    self.moments(g, x, spread, outcome, h)[0] for h in (STEP, 0.0, -STEP)
                )
                slope = (up - down) / (2 * STEP)
                information[at] += site.times * math.exp(here) * slope**2
                score[at] += site.times * slope * (outcome == int(self.timeline.outcome[g]) - 1)
        return score, information

    def log_z(self):
        """log Z of all sites, those of positive margins included."""
        total, gaussian = (
            log_integral(self.prior_mean, self.covariance, self.p, self.h),
            self.gaussian(),
        )
        for site in self.sites:
            m, c = self.cavity(site, gaussian)
            total += site.times * (site.tilt(m, c)[0] - log_integral(m, c, site.q, site.b))
        return total + (self.walk.log_evidence(self.scores()[1]) if self.drift else 0.0)

    def log_evidence(self):
        """log Z(games) - log Z(no games)."""
        return self.log_z() - (self.without_games().log_z() if self.of_margins else 0.0)

    def without_games(self):
        """The same with positive margins alone."""
        return Twin(self.timeline, self.params, joint=self.joint, games=False).run()


def assert_is_twin(fit, twin, near=1e-6):
    """All beliefs and the log-evidence of a fit are those of its twin."""
    evidence = 2e-5 if twin.of_margins and twin.drift else 1e-7  # without games it is found roughly
    for found, wanted in zip(("mean", "sd"), twin.beliefs(), strict=True):
        column = np.concatenate([getattr(chain, found) for chain in fit.chains.values()])
        assert column == pytest.approx(wanted, abs=near)
    assert fit.log_evidence == pytest.approx(twin.log_evidence(), abs=evidence)
    if fit.newcomers is not None:
        mean, sd = newcomers_mean(twin.timeline, twin.params, *twin.gaussian())
        assert fit.newcomers.mean == pytest.approx(mean, abs=near)
        if twin.joint:
            assert fit.newcomers.sd == pytest.approx(sd, abs=near)
    if fit.draws is not None:
        base = twin.params.draw_margin_mean if twin.of_margins else twin.params.draw_margin
        theta = [twin.walk.theta[year] if twin.drift else 0.0 for year in fit.draws.year.tolist()]
        assert fit.draws.margin == pytest.approx(base * np.exp(theta), abs=near)
        levels = twin.levels()[1]
        assert fit.draws.level == pytest.approx(
            [levels[year] for year in fit.draws.year.tolist()], abs=near
        )
