"""The filter against golden numbers of other packages."""

import math

import numpy as np
import pytest
from numpy.polynomial.legendre import leggauss
from scipy.special import ndtr

from tests.support.builders import fit_rows, skills

UNITS = {"prior_mean": 25, "prior_sd": 25 / 3, "beta": 25 / 6, "tau": 0}


def test_one_win():
    """29.20522074 / 7.19448142, trueskillthroughtime 1.1.0 and sublee/trueskill without draws."""
    _, fit = fit_rows([(2000, "a", "b", 2)], "trueskill", draw_margin=0, **UNITS)
    assert (fit.mean[0], fit.sd[0]) == pytest.approx((29.20522074, 7.19448142), abs=1e-6)
    assert (fit.mean[1], fit.sd[1]) == pytest.approx((20.79477926, 7.19448142), abs=1e-6)
    assert fit.log_evidence == pytest.approx(math.log(0.5))


def test_one_draw():
    """25 / 6.469481 at a draw probability of .25; margin 1.8776005988 (trueskillthroughtime 1.1.0)."""
    _, fit = fit_rows([(2000, "a", "b", 1)], "trueskill", draw_probability=0.25, **UNITS)
    assert fit.params["draw_margin"] == pytest.approx(
        1.8776005988, abs=2e-7
    )  # its inverse of erfc keeps seven digits
    assert fit.mean == pytest.approx([25, 25])
    assert fit.sd == pytest.approx([6.469481] * 2, abs=1e-6)


def test_order_inside_a_year_is_as_given_or_as_the_seed_says():
    rows = [(1900, "a", "b", 2), (1900, "b", "c", 2), (1900, "c", "a", 2), (1900, "a", "b", 1)]
    given = fit_rows(rows, "trueskill")[1].mean
    assert not np.array_equal(given, fit_rows(rows[::-1], "trueskill")[1].mean)
    shuffled = [
        fit_rows(rows, "trueskill", order="shuffled", seed=seed)[1].mean for seed in (1, 1, 2)
    ]
    assert np.array_equal(shuffled[0], shuffled[1])
    assert not np.array_equal(shuffled[0], shuffled[2])


def moments(mean, variance, other, others_variance, chance):
    """(chance, mean, variance) of a skill after a game won with `chance(lead, variance of the rest)`, by quadrature."""
    x, w = leggauss(200)
    skill = mean + 12 * math.sqrt(variance) * x
    density = w * 12 / math.sqrt(2 * math.pi) * np.exp(-0.5 * (12 * x) ** 2)
    weight = density * chance(skill - other, others_variance + 2 * 480**2)
    after = weight @ skill / weight.sum()
    return weight.sum(), after, weight @ (skill - after) ** 2 / weight.sum()


@pytest.mark.parametrize("colours", ["known", "unknown"])
def test_updates_are_the_moments_of_the_skills_given_the_outcome(colours):
    """Wins, draws and losses of unequal players, at odds and with White's advantage, integrated over the skill."""
    rows = [
        (1900, "a", "b", 1),
        (1900, "b", "c", 2, 1.0, 120.0),
        (1900, "c", "a", 1),
        (1903, "a", "b", 0),
    ]
    timeline, fit = fit_rows(
        rows, "trueskill", colours=colours, draw_margin=200, white_advantage=90
    )
    belief, evidence, last = {}, 0.0, {}
    for year, white, black, outcome, *rest in rows:
        for name in (white, black):
            mean, variance = belief.get(name, (1200.0, 400.0**2))
            belief[name], last[name] = (
                (mean, variance + 60**2 * (year - last.get(name, year))),
                year,
            )
        given = fit.elo_unit * rest[1] if rest else 0.0

        def chance(lead, variance, shift, outcome=outcome):
            low, high = ((ndtr((side + lead + shift) / np.sqrt(variance))) for side in (-200, 200))
            return (1 - high, high - low, low)[outcome]

        def of_white(lead, variance, given=given):
            shifts = [given + 90, given - 90] if colours == "unknown" else [given + 90]
            return sum(chance(lead, variance, shift) for shift in shifts) / len(shifts)

        one, other = belief[white], belief[black]
        probability, *belief[white] = moments(*one, *other, of_white)
        _, *belief[black] = moments(*other, *one, lambda lead, variance: of_white(-lead, variance))
        evidence += math.log(probability)
    found = skills(timeline, fit)
    for name, (mean, variance) in belief.items():
        assert found[name, last[name]] == pytest.approx((mean, math.sqrt(variance)), abs=1e-6)
    assert fit.log_evidence == pytest.approx(evidence, abs=1e-9)
