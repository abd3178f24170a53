import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import log_ndtr

from tests.support.cases import each
from ttt_cli.views.strongest import contest, independent, log_cdf

Floats = NDArray[np.float64]


def best_probabilities(mean: Floats, sd: Floats, chosen: NDArray[np.intp]) -> Floats:
    """For each of the chosen the probability that nobody in the field is stronger, skills independent."""
    order = np.argsort(-mean, kind="stable")
    field = contest(1900, [str(k) for k in order], mean[order], sd[order], len(order))
    found = np.empty(len(order))
    found[order] = independent(field)
    return found[chosen]


def by_quadrature(mean: Floats, sd: Floats, one: int) -> float:
    """The same integral by brute force around one player."""
    x = np.linspace(mean[one] - 9 * sd[one], mean[one] + 9 * sd[one], 4001)
    product = np.zeros_like(x)
    for m, s in zip(mean, sd, strict=True):
        product += log_ndtr((x - m) / s)
    z = (x - mean[one]) / sd[one]
    density = np.exp(product - log_ndtr(z) - 0.5 * z * z) / np.sqrt(2 * np.pi) / sd[one]
    return float(np.trapezoid(density, x))


def a_field(n: int, low: float, high: float, seed: int = 1) -> tuple[Floats, Floats]:
    random = np.random.default_rng(seed)
    return random.normal(1300.0, 150.0, n), random.uniform(low, high, n)


@each("n, low, high", [(1, 50, 60), (3, 40, 400), (60, 60, 350), (300, 60, 350), (2000, 100, 101)])
def test_probabilities_are_exact_to_a_millionth(n: int, low: float, high: float) -> None:
    mean, sd = a_field(n, low, high)
    chosen = np.argsort(-(mean + sd))[:3]
    exact = [by_quadrature(mean, sd, int(one)) for one in chosen]
    assert best_probabilities(mean, sd, chosen) == pytest.approx(exact, abs=1e-6)


@each("n", [1, 2, 30, 150, 3000])
def test_somebody_is_the_best(n: int) -> None:
    mean, sd = a_field(n, 30, 400, seed=n)
    assert best_probabilities(mean, sd, np.arange(n)).sum() == pytest.approx(1.0, abs=1e-6)


def test_log_cdf_is_accurate_in_both_tails() -> None:
    z = np.linspace(-8.9, 8.0, 30011)
    assert np.abs(log_cdf(z) / log_ndtr(z) - 1.0).max() < 1e-7
    assert log_cdf(np.array([50.0]))[0] == pytest.approx(0.0, abs=1e-15)
