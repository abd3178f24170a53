"""Expectation propagation of games as links, from the definition: dense matrices, one site after the other.

A link says in which interval d + noise lies, where d = sum_v c_v x_v + offset and noise ~ N(0, `noise`). An
interval of no width is an exact observation, which has a density instead of a probability. With a `lapse` l the result
has the probability (1 - l) P + l `base`, and moments are those of the mixture. `JointTwin` has a
one-dimensional site exp(-q y^2 / 2 + h y) of y = sum_v c_v x_v for each link, `FactorisedTwin` one of each variable
by itself. A link of weight w stands for w equal ones, which share a site.

The prior of `JointTwin` is a covariance matrix, in which performances are sums of skills and their own noise
(`performed`). That of `FactorisedTwin` is a precision matrix, in which performances have no entries: an exact
observation of the sum of skills minus the performance defines each.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy.special import log_ndtr, ndtr

LOG_SQRT_2PI = 0.5 * math.log(2.0 * math.pi)


@dataclass(frozen=True)
class Link:
    """One game: coefficients by variable, and the interval of its difference; points."""

    coefficients: dict[int, float]
    low: float
    high: float
    noise: float
    offset: float = 0.0
    weight: float = 1.0
    lapse: float = 0.0
    base: float = 0.0

    def row(self, size: int) -> np.ndarray:
        """Coefficients of all variables, (size,)."""
        row = np.zeros(size)
        for variable, coefficient in self.coefficients.items():
            row[variable] += coefficient
        return row


def truncated(mean: float, variance: float, low: float, high: float) -> tuple[float, float, float]:
    """Log mass, mean and variance of N(mean, variance) between low and high; of a density if these are equal."""
    sd = math.sqrt(variance)
    if low == high:
        distance = (low - mean) / sd
        return -0.5 * distance**2 - LOG_SQRT_2PI - math.log(sd), low, 0.0
    below = (low - mean) / sd
    above = (high - mean) / sd
    if below > 0.0:  # the lower tail has more digits
        log_mass, turned, spread = truncated(-mean, variance, -high, -low)
        return log_mass, -turned, spread
    log_mass = float(log_ndtr(above))
    if math.isfinite(below):
        log_mass += math.log1p(-math.exp(log_ndtr(below) - log_ndtr(above)))
    at_low = math.exp(-0.5 * below**2 - LOG_SQRT_2PI - log_mass) if math.isfinite(below) else 0.0
    at_high = math.exp(-0.5 * above**2 - LOG_SQRT_2PI - log_mass) if math.isfinite(above) else 0.0
    shift = at_low - at_high
    edge = (below * at_low if at_low else 0.0) - (above * at_high if at_high else 0.0)
    return log_mass, mean + sd * shift, variance * (1.0 + edge - shift**2)


class Played(NamedTuple):
    """Log probability of a link's result, and mean and variance of y given it."""

    log_p: float
    mean: float
    variance: float


def played(link: Link, mean: float, variance: float) -> Played:
    """What a result says of y ~ N(mean, variance): by skill, or nothing where chance decided the game."""
    total = variance + link.noise
    log_p, centre, spread = truncated(mean + link.offset, total, link.low, link.high)
    of_mean = mean + variance / total * (centre - mean - link.offset)
    of_variance = variance - variance**2 / total * (1.0 - spread / total)
    if not link.lapse:
        return Played(log_p, of_mean, of_variance)
    by_skill = (1.0 - link.lapse) * math.exp(log_p)
    result = by_skill + link.lapse * link.base
    share = by_skill / result
    mixed = share * of_mean + (1.0 - share) * mean
    square = share * (of_variance + of_mean**2) + (1.0 - share) * (variance + mean**2)
    return Played(math.log(result), mixed, square - mixed**2)


def log_integral(mean: float, variance: float, q: float, h: float) -> float:
    """log of the integral of N(y; mean, variance) exp(-q y^2 / 2 + h y)."""
    precision = 1.0 / variance
    peak = precision * mean + h
    exponent = 0.5 * (peak**2 / (precision + q) - precision * mean**2)
    return exponent + 0.5 * math.log(precision / (precision + q))


class JointTwin:
    """One Gaussian over all variables, with `mean` and `covariance` before any game; `q` and `h` are the sites."""

    def __init__(self, mean, covariance, links: list[Link]) -> None:
        self.prior_mean = np.asarray(mean, float)
        self.prior_covariance = np.asarray(covariance, float)
        self.links = links
        self.rows = [link.row(len(self.prior_mean)) for link in links]
        self.q = np.zeros(len(links))
        self.h = np.zeros(len(links))

    def gaussian(self):
        """Mean and covariance of all variables, given the sites."""
        precision = np.zeros_like(self.prior_covariance)
        weighted = np.zeros_like(self.prior_mean)
        for link, row, q, h in zip(self.links, self.rows, self.q, self.h, strict=True):
            precision += link.weight * q * np.outer(row, row)
            weighted += link.weight * h * row
        grown = np.eye(len(weighted)) + self.prior_covariance @ precision
        covariance = np.linalg.solve(grown, self.prior_covariance)
        mean = self.prior_mean + covariance @ (weighted - precision @ self.prior_mean)
        return mean, covariance

    def cavity(self, number: int, mean, covariance) -> tuple[float, float]:
        """Mean and variance of y without one such game, or without the share of it that counts."""
        row = self.rows[number]
        once = min(self.links[number].weight, 1.0)
        variance = float(row @ covariance @ row)
        precision = 1.0 / variance - once * self.q[number]
        return (float(row @ mean) / variance - once * self.h[number]) / precision, 1.0 / precision

    def probability(self, number: int, mean, covariance) -> float:
        """Log probability of a game without its own site."""
        link = self.links[number]
        return played(link, *self.cavity(number, mean, covariance)).log_p

    def update(self, number: int, share: float) -> None:
        """Move one site by `share` towards the moments of its game."""
        link = self.links[number]
        m, v = self.cavity(number, *self.gaussian())
        _, mean, variance = played(link, m, v)
        self.q[number] += share * (1.0 / variance - 1.0 / v - self.q[number])
        self.h[number] += share * (mean / variance - m / v - self.h[number])

    def run(self, tol: float = 1e-10, most: int = 5000, share: float = 0.7) -> JointTwin:
        """Update all sites until no mean or sd moves."""
        before = np.inf
        for _ in range(most):
            for number in range(len(self.links)):
                self.update(number, share)
            after = np.array(self.beliefs())
            if np.max(np.abs(after - before)) < tol:
                return self
            before = after
        raise AssertionError("the dense twin did not converge")

    def beliefs(self):
        """Means and sds of all variables."""
        mean, covariance = self.gaussian()
        return mean, np.sqrt(np.diag(covariance))

    def predictive(self) -> np.ndarray:
        """Leave-one-out log probability of each game."""
        gaussian = self.gaussian()
        return np.array([self.probability(number, *gaussian) for number in range(len(self.links))])

    def log_z(self) -> float:
        """Log-evidence."""
        mean, covariance = gaussian = self.gaussian()
        total = _log_integral_of_all(
            self.prior_mean, self.prior_covariance, self.rows, self.links, self.q, self.h
        )
        for number, link in enumerate(self.links):
            absorbed = log_integral(
                *self.cavity(number, mean, covariance), self.q[number], self.h[number]
            )
            total += link.weight * (self.probability(number, *gaussian) - absorbed)
        return total


class Sampled(NamedTuple):
    """Log-evidence, and means and sds of all variables, by samples from the prior weighted by the likelihood."""

    log_z: float
    mean: np.ndarray
    sd: np.ndarray


def by_importance(mean, covariance, links: list[Link], samples: int = 400_000) -> Sampled:
    """What games say, without any approximation but that of the samples, which the dense twin draws, a bit wider."""
    twin_mean, twin_covariance = JointTwin(mean, covariance, links).run().gaussian()
    root = np.linalg.cholesky(1.5 * twin_covariance)
    prior_root = np.linalg.cholesky(covariance)
    rng = np.random.default_rng(0)
    z = rng.standard_normal((samples, len(mean)))
    x = z @ root.T + twin_mean
    of_prior = np.linalg.solve(prior_root, (x - mean).T)
    log_weight = 0.5 * (np.sum(z**2, axis=1) - np.sum(of_prior**2, axis=0))
    log_weight += np.log(np.diag(root)).sum() - np.log(np.diag(prior_root)).sum()
    weight = np.exp(log_weight)
    for link in links:
        difference = x @ link.row(len(mean)) + link.offset
        by_skill = (difference > link.low) & (difference <= link.high)
        if link.noise:
            sd = math.sqrt(link.noise)
            by_skill = ndtr((link.high - difference) / sd) - ndtr((link.low - difference) / sd)
        weight *= ((1.0 - link.lapse) * by_skill + link.lapse * link.base) ** link.weight
    total = weight.sum()
    first = weight @ x / total
    return Sampled(math.log(total / samples), first, np.sqrt(weight @ x**2 / total - first**2))


def _log_integral_of_all(mean, covariance, rows, links, q, h) -> float:
    """log of the integral of N(x; mean, covariance) times all sites."""
    precision = np.zeros_like(covariance)
    weighted = np.zeros_like(mean)
    for link, row, site_q, site_h in zip(links, rows, q, h, strict=True):
        precision += link.weight * site_q * np.outer(row, row)
        weighted += link.weight * site_h * row
    grown = np.eye(len(mean)) + covariance @ precision
    pull = weighted - precision @ mean
    constant = weighted @ mean - 0.5 * mean @ precision @ mean
    return float(
        constant
        + 0.5 * pull @ np.linalg.solve(grown, covariance) @ pull
        - 0.5 * np.linalg.slogdet(grown)[1]
    )


class FactorisedTwin:
    """A message of each link to each of its variables; `precision` is that of all variables before any game.

    Variables without entries in `precision` have no prior: links that are exact observations define them, and are
    passed first.
    """

    def __init__(self, mean, precision, links: list[Link]) -> None:
        self.prior_precision = np.asarray(precision, float)
        self.prior_weighted = self.prior_precision @ np.asarray(mean, float)
        self.free = ~self.prior_precision.any(axis=0)
        self.links = links
        self.messages = [
            {variable: np.zeros(2) for variable in link.coefficients} for link in links
        ]  # precision, precision times mean

    def gaussian(self):
        """Mean and covariance of all variables, given the messages; variables without any message are left out."""
        precision = self.prior_precision.copy()
        weighted = self.prior_weighted.copy()
        for link, messages in zip(self.links, self.messages, strict=True):
            for variable, message in messages.items():
                precision[variable, variable] += link.weight * message[0]
                weighted[variable] += link.weight * message[1]
        empty = ~precision.any(axis=0)
        precision[empty, empty] = 1e-300
        covariance = np.linalg.inv(precision)
        return covariance @ weighted, covariance, empty

    def cavities(self, number: int, gaussian) -> dict[int, tuple[float, float]]:
        """Precision and precision times mean of each variable of a link without this game."""
        mean, covariance, empty = gaussian
        found = {}
        for variable, message in self.messages[number].items():
            precision = 0.0 if empty[variable] else 1.0 / covariance[variable, variable]
            found[variable] = precision - message[0], precision * mean[variable] - message[1]
        return found

    def update(self, number: int) -> None:
        """Replace the messages of one link."""
        link = self.links[number]
        cavities = self.cavities(number, self.gaussian())
        if link.low == link.high:
            self._observe(number, cavities)
            return
        total, difference = self._difference(number, cavities)
        noiseless = replace(link, noise=0.0, offset=0.0)
        _, centre, spread = played(noiseless, difference, total)
        if link.lapse:  # the site of a surprise has the right mean, and next to no precision
            spread = min(spread, total - 1e-6 * total**2 / (total - link.noise))
        for variable, (precision, weighted) in cavities.items():
            gain = link.coefficients[variable] / precision / total
            mean = weighted / precision + gain * (centre - difference)
            variance = 1.0 / precision - gain**2 * (total - spread)
            self.messages[number][variable] = np.array(
                [1.0 / variance - precision, mean / variance - weighted]
            )

    def _observe(self, number: int, cavities) -> None:
        """The exact messages of an observation: to a variable from those of the others, which need not be proper."""
        link = self.links[number]
        for variable, coefficient in link.coefficients.items():
            others = [name for name in cavities if name != variable]
            if any(cavities[name][0] <= 0.0 for name in others):
                message = np.zeros(2)
            else:
                variance = link.noise
                mean = link.low - link.offset
                for name in others:
                    variance += link.coefficients[name] ** 2 / cavities[name][0]
                    mean -= link.coefficients[name] * cavities[name][1] / cavities[name][0]
                message = np.array([coefficient**2, coefficient * mean]) / variance
            self.messages[number][variable] = message

    def _difference(self, number: int, cavities) -> tuple[float, float]:
        """Variance, noise included, and mean of a link's difference under its cavities."""
        link = self.links[number]
        total = link.noise
        difference = link.offset
        for variable, (precision, weighted) in cavities.items():
            total += link.coefficients[variable] ** 2 / precision
            difference += link.coefficients[variable] * weighted / precision
        return total, difference

    def run(self, tol: float = 1e-10, most: int = 5000) -> FactorisedTwin:
        """Update all messages, observations first, until no mean or sd moves."""
        exact = [link.low == link.high for link in self.links]
        order = sorted(range(len(self.links)), key=lambda number: not exact[number])
        before = np.inf
        for _ in range(most):
            for number in order:
                self.update(number)
            after = np.array(self.beliefs())
            if np.max(np.abs(after - before)) < tol:
                return self
            before = after
        raise AssertionError("the dense twin did not converge")

    def beliefs(self):
        """Means and sds of all variables."""
        mean, covariance, _ = self.gaussian()
        return mean, np.sqrt(np.diag(covariance))

    def predictive(self) -> np.ndarray:
        """Leave-one-out log probability of each game."""
        gaussian = self.gaussian()
        found = []
        for number, link in enumerate(self.links):
            total, difference = self._difference(number, self.cavities(number, gaussian))
            noiseless = replace(link, noise=0.0, offset=0.0)
            found.append(played(noiseless, difference, total).log_p)
        return np.array(found)

    def log_z(self) -> float:
        """Log-evidence."""
        gaussian = mean, covariance, _ = self.gaussian()
        priors = np.flatnonzero(~self.free)
        prior = self.prior_precision[np.ix_(priors, priors)]
        weighted = self.prior_weighted[priors]
        before = 0.5 * (weighted @ np.linalg.solve(prior, weighted) - np.linalg.slogdet(prior)[1])
        pull = np.linalg.solve(covariance, mean)
        total = 0.5 * (pull @ mean + np.linalg.slogdet(covariance)[1]) - before
        total += self.free.sum() * LOG_SQRT_2PI
        for number, (link, log_p) in enumerate(zip(self.links, self.predictive(), strict=True)):
            absorbed = 0.0
            for variable, (precision, weighted_mean) in self.cavities(number, gaussian).items():
                message = self.messages[number][variable]
                absorbed += log_integral(weighted_mean / precision, 1.0 / precision, *message)
            total += link.weight * (log_p - absorbed)
        return float(total)


def walk_covariance(years: list[float], sd: float, drift: float) -> np.ndarray:
    """Covariance of one quantity of a player in these years: N(., sd^2) in the first one, then a random walk."""
    since = np.asarray(years, float) - years[0]
    return sd**2 + drift**2 * np.minimum.outer(since, since)


def performed(mean, covariance, sums: list[dict[int, float]], noise: list[float]):
    """Mean and covariance with performances added: sums of variables, each with noise of its own."""
    mean = np.asarray(mean, float)
    covariance = np.asarray(covariance, float)
    size = len(mean)
    weights = np.eye(size + len(sums), size)
    spread = np.zeros(size + len(sums))
    for number, (members, variance) in enumerate(zip(sums, noise, strict=True)):
        for variable, coefficient in members.items():
            weights[size + number, variable] += coefficient
        spread[size + number] = variance
    return weights @ mean, weights @ covariance @ weights.T + np.diag(spread)


def performances(sums: list[dict[int, float]], noise: list[float], first: int) -> list[Link]:
    """The links that define performances, numbered from `first`, by exact observations."""
    return [
        Link({**members, first + number: -1.0}, 0.0, 0.0, variance)
        for number, (members, variance) in enumerate(zip(sums, noise, strict=True))
    ]


def shifted(link: Link, **changes: float) -> Link:
    """The link with offset, noise, low or high increased by so much."""
    return replace(link, **{name: getattr(link, name) + change for name, change in changes.items()})
