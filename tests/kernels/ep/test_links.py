"""Links of any number of variables against dense expectation propagation, written from the definition."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from tests.reference.link_histories import random_history, with_lapses
from tests.reference.links_dense import FactorisedTwin, JointTwin, performances, shifted
from tests.support.cases import each
from ttt_cli.kernels.ep import links as kernels
from ttt_cli.kernels.ep.chains import chain_evidence, smooth
from ttt_cli.kernels.ep.structures import (
    Chains,
    ExtraStarts,
    LinkRows,
    LinkSites,
    LinkSlopes,
    Messages,
    Part,
)

SEEDS = range(6)
WITH_LAPSES = [*((seed, 0.0) for seed in SEEDS), *((seed, 0.15) for seed in range(3))]


class Laid:
    """A history with its variables in the order of time, as the kernels take it."""

    def __init__(self, history) -> None:
        self.history = history
        self.defining = performances(history.sums, history.spread, history.size)
        self.links = self.defining + history.links
        self.periods = sorted({year for _, years, _, _ in history.chains for year in years})
        base = [
            (year, chain, place)
            for chain, (_, years, _, _) in enumerate(history.chains)
            for place, year in enumerate(years)
        ]
        self.order = sorted(range(history.size), key=lambda old: base[old])
        number = np.empty(history.size, int)
        number[self.order] = np.arange(history.size)
        self.number = np.append(number, history.size + np.arange(len(history.sums)))
        self.period_of = {
            int(number[old]): self.periods.index(base[old][0]) for old in range(history.size)
        }
        previous = np.full(history.size, -1, np.int32)
        mean = np.zeros(history.size)
        variance = np.zeros(history.size)
        for old, (year, chain, place) in enumerate(base):
            _, years, sd, drift = history.chains[chain]
            new = number[old]
            if place:
                previous[new] = number[old - 1]
                variance[new] = drift**2 * (year - years[place - 1])
            else:
                mean[new] = history.means[chain]
                variance[new] = sd**2
        following = np.full(history.size, -1, np.int32)
        later = np.flatnonzero(previous >= 0)
        following[previous[later]] = later
        free = np.full(len(history.sums), -1, np.int32)
        none = np.zeros(len(history.sums))
        counts = np.bincount(
            [self.period_of[v] for v in range(history.size)], minlength=len(self.periods)
        )
        start = np.append(0, counts.cumsum())
        self.chains = Chains(
            start, np.append(previous, free), np.append(following, free), np.append(mean, none),
            np.append(variance, none + math.inf),
        )  # fmt: skip
        self.rows = self.laid_rows()
        periods = len(self.periods)
        self.part = Part(0, periods, 0, history.size, 0, 0)
        ends = np.zeros(periods + 1, np.int64)
        of_performances = [self.period_of_sum(members) for members in history.sums]
        free = (
            np.append(0, np.bincount(of_performances, minlength=periods).cumsum())
            if of_performances
            else ends
        )
        self.extra = ExtraStarts(ends + history.size, history.size + free.astype(np.int64))

    def period_of_sum(self, members) -> int:
        return self.period_of[int(self.number[next(iter(members))])]

    def period(self, link) -> int:
        variable = next(int(self.number[v]) for v in link.coefficients if v < self.history.size)
        return self.period_of[variable]

    def laid_rows(self) -> LinkRows:
        """Rows by period, observations first."""
        of_performance = {}
        for link in self.defining:
            for variable in link.coefficients:
                if variable >= self.history.size:
                    of_performance[variable] = self.period(link)
        period = [
            self.period(link) if link in self.defining or min(link.coefficients) < self.history.size
            else of_performance[min(link.coefficients)]
            for link in self.links
        ]  # fmt: skip
        self.link_order = sorted(range(len(self.links)), key=lambda g: (period[g], g))
        links = [self.links[g] for g in self.link_order]
        starts = np.append(0, np.bincount(period, minlength=len(self.periods)).cumsum())
        entries = [(int(self.number[v]), c) for link in links for v, c in link.coefficients.items()]
        return LinkRows(
            starts.astype(np.int64),
            np.append(0, np.cumsum([len(link.coefficients) for link in links])).astype(np.int64),
            np.array([v for v, _ in entries], np.int32),
            np.array([c for _, c in entries]),
            *(
                np.array([getattr(link, name) for link in links])
                for name in ("offset", "noise", "low", "high", "weight", "lapse", "base")
            ),
        )

    @property
    def size(self) -> int:
        return len(self.number)

    def prior_precision(self):
        """Mean and precision of all variables in their new order; nothing of performances."""
        mean, covariance = self.history.chain_prior()
        precision = np.zeros((self.size, self.size))
        known = self.number[: self.history.size]
        precision[np.ix_(known, known)] = np.linalg.inv(covariance)
        full = np.zeros(self.size)
        full[known] = mean
        return full, precision


class Swept:
    """The factorised fixed point by the kernels."""

    def __init__(self, laid: Laid) -> None:
        self.laid, rows = laid, laid.rows
        self.sites = LinkSites(np.zeros((len(rows.variable), 2)), np.zeros((len(rows.weight), 2)))
        self.messages = Messages(*np.zeros((3, laid.size, 2)))
        self.smoothed()
        for _ in range(2000):
            before = self.messages.marginal.copy()
            for back in (False, True):
                self.skipped = kernels.sweep(
                    laid.part, back, 50, laid.chains, laid.extra, rows, self.messages, self.sites
                )
            if np.allclose(before, self.messages.marginal, rtol=1e-14, atol=1e-18):
                break
        self.smoothed()

    def smoothed(self) -> None:
        laid = self.laid
        self.messages.marginal[:] = 0.0
        kernels.gather(laid.part, laid.extra, laid.rows, self.sites, self.messages.marginal)
        smooth(0, self.laid.size, self.laid.chains, self.messages)

    def beliefs(self):
        precision, weighted = self.messages.marginal.T
        return weighted / precision, precision**-0.5

    def log_z(self) -> float:
        laid = self.laid
        total, self.predicted = kernels.evidence(
            laid.part, laid.extra, laid.rows, self.messages.marginal, self.sites
        )
        return total + chain_evidence(0, laid.history.size, self.messages)

    def cavities(self):
        cavity = np.empty((len(self.laid.rows.weight), 2))
        kernels.cavities(self.laid.rows, self.messages.marginal, self.sites, cavity)
        return cavity


@each("seed, lapse", WITH_LAPSES)
def test_sweeps_reach_the_dense_twin(seed, lapse):
    laid = Laid(with_lapses(random_history(seed), lapse))
    swept = Swept(laid)
    assert swept.skipped == 0
    mean, precision = laid.prior_precision()
    twin = FactorisedTwin(
        mean, precision, [renamed(link, laid.number) for link in laid.links]
    ).run()
    for found, wanted in zip(swept.beliefs(), twin.beliefs(), strict=True):
        assert found == pytest.approx(wanted, abs=1e-6)
    assert swept.log_z() == pytest.approx(twin.log_z(), abs=1e-9)
    log_p = np.empty(len(laid.links))
    kernels.log_probabilities(laid.rows, swept.cavities(), log_p)
    assert log_p == pytest.approx(twin.predictive()[laid.link_order], abs=1e-8)
    games = laid.rows.low != laid.rows.high
    assert swept.predicted == pytest.approx((laid.rows.weight * log_p)[games].sum(), abs=1e-8)


def renamed(link, number):
    return replace(link, coefficients={int(number[v]): c for v, c in link.coefficients.items()})


class Joint:
    """The fixed point of joint propagation by the kernels, with a dense matrix."""

    def __init__(self, laid: Laid) -> None:
        self.laid, rows = laid, laid.rows
        self.rows = rows
        self.site = np.zeros((len(rows.weight), 2))
        self.dense = np.zeros((len(rows.weight), laid.size))
        for g in range(len(rows.weight)):
            entries = slice(rows.row[g], rows.row[g + 1])
            self.dense[g, rows.variable[entries]] = rows.coefficient[entries]
        self.mean, self.precision = laid.prior_precision()
        self.cavity = np.empty((len(rows.weight), 2))
        exact = rows.low == rows.high
        self.site[exact, 0] = 1.0 / rows.noise[exact]
        before = np.inf
        for _ in range(5000):
            self.believe()
            if np.max(np.abs(self.beliefs - before)) < 1e-11:
                break
            before = self.beliefs
            self.skipped = kernels.joint_update(rows, self.cavity, 0.6, self.site)

    def believe(self) -> None:
        q, h = self.rows.weight * self.site.T
        self.matrix = self.precision + (self.dense.T * q) @ self.dense
        self.b = self.precision @ self.mean + self.dense.T @ h
        covariance = np.linalg.inv(self.matrix)
        mean = covariance @ self.b
        pairs = [covariance[i, j] for i, j in self.pairs()]
        kernels.joint_cavities(
            self.rows, mean, np.diag(covariance).copy(), np.array(pairs), self.site, self.cavity
        )
        self.beliefs = np.array([mean, np.sqrt(np.diag(covariance))])

    def pairs(self):
        for g in range(len(self.rows.weight)):
            variables = self.rows.variable[self.rows.row[g] : self.rows.row[g + 1]]
            for e, v in enumerate(variables):
                for w in variables[e + 1 :]:
                    yield v, w

    def log_z(self) -> float:
        known = np.diag(self.precision) > 0
        prior, mean = self.precision[np.ix_(known, known)], self.mean[known]
        integral = self.b @ self.beliefs[0] - np.linalg.slogdet(self.matrix)[1]
        integral += np.linalg.slogdet(prior)[1] - mean @ prior @ mean
        total, self.predicted = kernels.joint_evidence(self.rows, self.cavity, self.site)
        return total + 0.5 * integral + 0.5 * math.log(2 * math.pi) * (~known).sum()


@each("seed, lapse", WITH_LAPSES)
def test_joint_sites_reach_the_dense_twin(seed, lapse):
    """The twin's performances are sums by their covariance, the kernels' are defined by observations."""
    history = with_lapses(random_history(seed), lapse)
    laid = Laid(history)
    joint = Joint(laid)
    assert joint.skipped == 0
    twin = JointTwin(*history.prior(), history.links).run()
    found = joint.beliefs[:, laid.number]
    assert found == pytest.approx(np.array(twin.beliefs()), abs=1e-6)
    assert joint.log_z() == pytest.approx(twin.log_z(), abs=1e-8)
    games = laid.rows.low != laid.rows.high
    log_p = np.empty(len(laid.links))
    kernels.log_probabilities(laid.rows, joint.cavity, log_p)
    by_number = dict(zip(laid.link_order, log_p, strict=True))
    wanted = twin.predictive()
    assert [by_number[len(laid.defining) + g] for g in range(len(history.links))] == pytest.approx(
        wanted, abs=1e-7
    )
    assert joint.predicted == pytest.approx((laid.rows.weight * log_p)[games].sum(), abs=1e-8)


@pytest.mark.slow
@each(
    "seed, lapse, name",
    [
        *((seed, 0.0, name) for seed in range(3) for name in ("offset", "noise", "low", "high")),
        *((1, 0.15, name) for name in ("offset", "noise", "low", "high", "lapse")),
    ],
)
def test_slopes_are_those_of_the_dense_twin(seed, lapse, name):
    """With weights below 1 log Z is not at a maximum in the sites, and they are right to 3 or 4 digits only."""
    history = with_lapses(random_history(seed, weights=(1.0, 2.0, 5.0)), lapse)
    laid = Laid(history)
    joint = Joint(laid)
    slopes = LinkSlopes(*np.empty((5, len(laid.links))))
    kernels.gradient(laid.rows, joint.cavity, slopes)
    rng = np.random.default_rng(seed)
    finite = [
        g
        for g, link in enumerate(history.links)
        if math.isfinite(getattr(link, name)) and (name != "noise" or link.noise)
    ]
    for g in rng.choice(finite, min(3, len(finite)), replace=False):
        step = 1e-2 * {"noise": 300.0, "lapse": 0.1}.get(name, 1.0)
        ends = []
        for sign in (1.0, -1.0):
            links = list(history.links)
            links[g] = shifted(links[g], **{name: sign * step})
            ends.append(JointTwin(*history.prior(), links).run().log_z())
        found = getattr(slopes, name)[laid.link_order.index(len(laid.defining) + g)]
        assert found == pytest.approx((ends[0] - ends[1]) / (2 * step), rel=1e-4, abs=2e-9)


@each("seed", range(3))
def test_couplings_are_those_of_the_dense_matrix(seed):
    laid = Laid(random_history(seed))
    rows, rng = laid.rows, np.random.default_rng(seed)
    links = len(rows.weight)
    sites = LinkSites(
        rng.exponential(1e-5, (len(rows.variable), 2)), rng.exponential(1e-5, (links, 2))
    )
    dense = np.zeros((links, laid.size))
    for g in range(links):
        entries = slice(rows.row[g], rows.row[g + 1])
        dense[g, rows.variable[entries]] = rows.coefficient[entries]
    q, h = rows.weight * sites.site.T
    matrix = (dense.T * q) @ dense
    means, z = rng.normal(0.0, 300.0, (2, laid.size))
    coupling = np.empty(links)
    diagonal, out, az = np.zeros((3, laid.size))
    kernels.add_residual(laid.part, rows, sites, means, coupling, diagonal, out)
    assert diagonal == pytest.approx(np.diag(matrix))
    assert out == pytest.approx(dense.T @ h - matrix @ means)
    product = kernels.add_couplings(laid.part, rows, coupling, z, az)
    assert az == pytest.approx(matrix @ z - np.diag(matrix) * z)
    assert product == pytest.approx(z @ az)
    kernels.move_sites(laid.part, rows, sites, means)
    marginal = np.zeros((laid.size, 2))
    kernels.gather(laid.part, laid.extra, rows, sites, marginal)
    assert marginal[:, 1] == pytest.approx(marginal[:, 0] * means + dense.T @ h - matrix @ means)
    pulled, noise = np.zeros(laid.size), rng.standard_normal(links)
    kernels.pull(rows, sites.site, means, noise, pulled)
    assert pulled == pytest.approx(dense.T @ (np.sqrt(q) * noise) - matrix @ means)
