"""Draw margins by year and strength against slow twins and brute force."""

import math

import numpy as np
import pytest

from tests.inference.test_twins import drawn_more as random_rows
from tests.reference.ttt_ep import tilted
from tests.support.builders import CAREER, EXACT, fit_rows, historical, make_games, skills
from ttt_cli import read_games
from ttt_cli.config.schema import SolverConfig
from ttt_cli.inference.ep.merged import merge_games, points_given
from ttt_cli.systems import ttt, ttt_d
from ttt_cli.timeline import build_timeline

DESIGN = {"growth": 200.0, "decline": 10.0, "early": 3.0}


@pytest.mark.parametrize("name", ["ttt", "ttt-d"])
@pytest.mark.parametrize("posterior", ["factorised", "joint"])
def test_off_is_bit_for_bit_what_one_margin_gives(name, posterior):
    solver = SolverConfig(posterior=posterior)
    for rows in (random_rows(0), [(*row, 1.5) for row in random_rows(1)]):
        _, plain = fit_rows(rows, name, solver)
        _, off = fit_rows(rows, name, solver, draw_margin_drift=0.0, draw_margin_strength=0.0)
        _, tiny = fit_rows(rows, name, solver, draw_margin_strength=1e-12)
        assert np.array_equal(plain.mean, off.mean)
        assert np.array_equal(plain.sd, off.sd)
        assert off.draws is None
        assert tiny.mean == pytest.approx(plain.mean, abs=1e-6)
        assert tiny.log_evidence == pytest.approx(plain.log_evidence, abs=1e-6)


def exact_log_evidence(rows, theta, **params):
    """Of given margins by year: a fit of each year's games alone, where skills do not last."""
    return sum(
        fit_rows([r for r in rows if r[0] == year], draw_margin=params["draw_margin"] * math.exp(t), **{
            key: value for key, value in params.items() if key != "draw_margin"
        })[1].log_evidence
        for year, t in theta.items()
    )  # fmt: skip


def test_laplace_is_near_the_integral_over_the_years():
    """Players of one year each: the games of years depend on each other through the margins alone."""
    rows = [(y, f"{w}{y}", f"{b}{y}", o) for y, w, b, o in random_rows(4, games=300, years=2)]
    given = {"beta": 300.0, "draw_margin": 150.0}
    drift = 0.5
    _, fit = fit_rows(rows, draw_margin_drift=drift, **given)
    years = fit.draws.year.tolist()
    assert len(years) == 2
    grid = np.linspace(-2, 2, 41)
    of_year = [[exact_log_evidence(rows, {year: t}, **given) for t in grid] for year in years]
    first, second = np.meshgrid(grid, grid, indexing="ij")
    variance = drift**2 * (years[1] - years[0])
    prior = np.exp(-0.5 * first**2 - 0.5 * (second - first) ** 2 / variance) / (2 * math.pi * variance**0.5)
    weight = np.exp(np.add.outer(*of_year)) * prior
    exact = math.log(weight.sum() * (grid[1] - grid[0]) ** 2)
    assert fit.log_evidence == pytest.approx(exact, abs=0.02)


@pytest.mark.parametrize("posterior", ["factorised", "joint"])
def test_theta_is_the_maximum_of_the_evidence(posterior):
    """Its score at the joint fixed point is P theta, by differences of the evidence at given margins."""
    rows = [(y, f"{w}{y}", f"{b}{y}", o) for y, w, b, o in random_rows(5, games=60, years=3)]
    solver = EXACT.model_copy(update={"posterior": posterior, "tol": 1e-8})
    drift = 0.4
    _, fit = fit_rows(rows, solver=solver, beta=300, draw_margin=150, draw_margin_drift=drift)
    years, theta = fit.draws.year, np.log(fit.draws.margin / 150)
    variance = np.append(1.0, drift**2 * np.diff(years))
    u = np.diff(theta, prepend=0.0) / variance
    by_theta = u - np.append(u[1:], 0.0)
    for k, year in enumerate(years.tolist()):
        ends = [
            fit_rows([r for r in rows if r[0] == year], solver=solver, beta=300,
                     draw_margin=150 * math.exp(theta[k] + h))[1].log_evidence
            for h in (1e-3, -1e-3)
        ]  # fmt: skip
        assert by_theta[k] == pytest.approx((ends[0] - ends[1]) / 2e-3, abs=1e-4)


@pytest.mark.parametrize("colours", [True, False])
def test_score_and_information_by_brute_force(colours):
    from ttt_cli.kernels.ep.margins import margin_information
    from ttt_cli.kernels.ep.structures import Rule
    from ttt_cli.kernels.ep.ttt import gradient

    rows = [(1900, "a", "b", o, w, 60.0) for o, w in ((2, 1.0), (1, 2.5), (0, 1.0))]
    timeline = build_timeline(make_games(rows), "year", "known" if colours else "unknown")
    merged = merge_games(timeline, colours=True)
    margin = np.array([120.0, 200.0, 90.0])
    cavity = np.array([[130.0, 200.0**2], [-250.0, 90.0**2], [40.0, 300.0**2]])
    rule = Rule(2 * 200.0**2, margin, 150.0, 35.0, points_given(merged.handicap, 1.0, 35.0))
    score, information, by_margin = np.empty((3, 3))
    margin_information(0, 3, merged.games, rule, cavity, score, information)
    gradient(merged.games, merged.balance, rule, cavity, by_margin, np.zeros(len(merged.handicap)))
    for g in range(3):
        lead = rule.handicap[merged.games.code[g] >> 3]
        weight, outcome = merged.games.weight[g], int(merged.games.code[g] & 7) % 3 - 1

        def log_p(which, log_margin, g=g, lead=lead):
            signs = (1,) if colours else (1, -1)
            found = [tilted(cavity[g, 0] + lead + s * 35.0, 2 * 200.0**2 + cavity[g, 1], which, log_margin)[2]
                     for s in signs]  # fmt: skip
            return np.logaddexp.reduce(found) - math.log(len(found))

        slopes = {
            which: (log_p(which, margin[g] * math.exp(1e-5)) - log_p(which, margin[g] * math.exp(-1e-5)))
            / 2e-5
            for which in (1, 0, -1)
        }
        fisher = sum(math.exp(log_p(which, margin[g])) * s**2 for which, s in slopes.items())
        assert score[g] == pytest.approx(weight * slopes[outcome], rel=1e-7)
        assert information[g] == pytest.approx(weight * fisher, rel=1e-7)
        assert by_margin[g] * margin[g] == pytest.approx(score[g], rel=1e-9)


@pytest.mark.parametrize("name", ["ttt", "ttt-d"])
@pytest.mark.parametrize("posterior", ["factorised", "joint"])
@pytest.mark.parametrize("more", [{"growth": 150.0, "early": 2.0, "prior_mean_drift": 20.0}])
def test_a_fit_started_at_another_ends_where_a_cold_one_does(name, posterior, more):
    module = {"ttt": ttt, "ttt-d": ttt_d}[name]
    timeline = build_timeline(make_games(random_rows(3, games=120, years=8)))
    solver = SolverConfig(posterior=posterior, tol=1e-6)
    params = module.Params(beta=300, draw_margin_drift=0.2, draw_margin_strength=0.2, **more)
    cold = module.fit(timeline, params, solver)
    near = module.fit(timeline, params.model_copy(update={"beta": 310}), solver)
    warm = module.fit(timeline, params, solver, start=near)
    early = module.fit(timeline.until(len(timeline.periods) - 2), params, solver)
    grown = module.fit(timeline, params, solver, start=early)
    for other in (warm, grown):
        assert other.mean == pytest.approx(cold.mean, abs=1e-4)
        assert other.draws.margin == pytest.approx(cold.draws.margin, abs=1e-4)
        assert other.log_evidence == pytest.approx(cold.log_evidence, abs=1e-6)
    assert warm.status.sweeps <= cold.status.sweeps


def test_days_as_periods_have_margins_by_calendar_year():
    rows = random_rows(6)
    for period in ("year", "month", "day"):
        _, fit = fit_rows(rows, period=period, draw_margin_drift=0.2, tau=0)
        assert fit.draws.year.tolist() == sorted({year for year, *_ in rows})
        if period == "year":
            expected = fit.draws.margin
        assert fit.draws.margin == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("name", ["ttt", "ttt-d"])
@pytest.mark.parametrize("posterior", ["factorised", "joint"])
def test_every_game_twice_or_of_weight_two_is_the_same(name, posterior):
    rows, solver = random_rows(7), EXACT.model_copy(update={"posterior": posterior, "tol": 1e-8})
    given = {"draw_margin_drift": 0.2, "draw_margin_strength": 0.3, "prior_mean_drift": 20.0} | CAREER
    _, twice = fit_rows([*rows, *rows], name, solver, **given)
    _, heavy = fit_rows([(*row, 2.0) for row in rows], name, solver, **given)
    assert heavy.newcomers.mean == pytest.approx(twice.newcomers.mean, abs=1e-6)
    assert heavy.mean == pytest.approx(twice.mean, abs=1e-6)
    assert heavy.draws.margin == pytest.approx(twice.draws.margin, abs=1e-6)
    assert heavy.log_evidence == pytest.approx(twice.log_evidence, abs=1e-7)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("given", "evidence", "morphy", "margin_1900"),
    [
        ({"draw_margin_drift": 0.06}, -18_874.28414, 2027.99566, 270.81438),
        ({"draw_margin_strength": 0.15}, -19_246.12828, 2096.91372, 253.178118),
        ({"draw_margin_drift": 0.06, "draw_margin_strength": 0.15}, -18_807.80282, 2028.13727, 268.73146),
        ({"draw_margin_strength": 0.15, **DESIGN}, -19_235.3861, 2166.7499, 253.178118),
        ({"draw_margin_drift": 0.06, **DESIGN}, -18_862.2720, 2098.8996, 273.0588),
    ],
)
def test_real_games(data, given, evidence, morphy, margin_1900):
    """Figures of an independent program, on the games as the file has them, and of the project's design."""
    if "growth" in given:
        games = read_games(data / "historical_pre1942.csv.gz", filter={"exclude": []})
    else:
        games = make_games(historical(data, "historical_pre1942.csv.gz"))
    timeline = build_timeline(games)
    fit = ttt.fit(timeline, ttt.Params(draw_margin=253.178118, **given), SolverConfig(posterior="factorised"))
    assert fit.status.sweeps <= 6
    assert fit.log_evidence == pytest.approx(evidence, abs=0.002)
    assert skills(timeline, fit)["Morphy, Paul", 1858][0] == pytest.approx(morphy, abs=0.01)
    assert fit.draws.at(1900)["draw_margin"] == pytest.approx(margin_1900, abs=0.01)
