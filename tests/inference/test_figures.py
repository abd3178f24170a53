"""Figures of the project's design and of independent programs, made without this code."""

import numpy as np
import pytest

from tests.support.builders import fit_rows, historical, make_games, skills, small_chess_base
from ttt_cli import read_games
from ttt_cli.config.schema import SolverConfig
from ttt_cli.evaluate.forecast import Forecaster, find_period_index
from ttt_cli.systems import ttt
from ttt_cli.timeline import build_timeline

MATCH = [
    (1858, "M", "A", 2), (1858, "M", "A", 2), (1858, "M", "A", 1), (1858, "M", "A", 0),
    (1861, "A", "M", 1), (1861, "M", "A", 2),
]  # fmt: skip
CAREER = {"growth": 200.0, "decline": 10.0, "early": 3.0}
NEWCOMERS = CAREER | {"prior_mean_drift": 15.0}
PLAY = {"beta": 480, "tau": 60}
OWN_MARGINS = {"draw_margin_mean": 265, "draw_margin_sd": 150, "draw_margin_tau": 30}
DRIFT, STRENGTH = {"draw_margin_drift": 0.06}, {"draw_margin_strength": 0.15}
MARGIN = 253.178118
MORPHY, LASKER, KASPAROV = (
    ("Morphy, Paul", 1858),
    ("Lasker, Emanuel", 1896),
    ("Kasparov, Gary", 1999),
)
FACTORISED, JOINT = (SolverConfig(tol=1e-9, posterior=kind) for kind in ("factorised", "joint"))


@pytest.mark.parametrize(
    ("model", "solver", "given", "log_evidence", "figures", "near"),
    [
        ("ttt", FACTORISED, CAREER, -7.211026, {1858: [1316.4514], 1861: [1463.2472]}, 1e-4),
        (
            "ttt",
            JOINT,
            CAREER,
            -7.0120,
            {1858: [1314.8], 1861: [1461.5]},
            0.5,
        ),  # of the exact posterior
        ("ttt", JOINT, PLAY, -6.974888, {1858: [1318.13156, 315.51350]}, 1e-5),
        ("ttt-d", JOINT, PLAY | OWN_MARGINS, -7.084245, {1858: [1319.2600, 317.6782]}, 1e-4),
    ],
)
def test_a_match(model, solver, given, log_evidence, figures, near):
    draws = {} if model == "ttt-d" else {"draw_probability": 0.303}
    timeline, fit = fit_rows(MATCH, model, solver, **draws, **given)
    assert fit.log_evidence == pytest.approx(log_evidence, abs=5e-4 if near > 0.1 else 1e-6)
    found = skills(timeline, fit)
    for year, figure in figures.items():
        assert found["M", year][: len(figure)] == pytest.approx(figure, abs=near)


def as_read(data, name):
    return read_games(data / f"{name}.csv.gz", filter={"exclude": []}, drop=[])


def as_in_the_file(data, name):
    return make_games(historical(data, f"{name}.csv.gz"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("games", "given", "log_evidence", "figures", "of_1900"),
    [
        (as_read, CAREER | {"early": 0.0}, -19296.6562,
         {MORPHY: [2160.4058, 71.0370], LASKER: [1879.7288, 68.0700]}, ()),
        (as_read, CAREER, -19310.3720, {MORPHY: [2166.4142, 71.8308], LASKER: [1884.3084, 72.4481]}, ()),
        (as_read, NEWCOMERS, -19312.0084, {MORPHY: [2149.2092], LASKER: [1927.6342]}, (51.9435, 33.3137)),
        pytest.param(as_in_the_file, DRIFT, -18874.28414, {MORPHY: [2027.99566]}, 270.81438, marks=pytest.mark.large),
        (as_in_the_file, STRENGTH, -19246.12828, {MORPHY: [2096.91372]}, MARGIN),
        (as_in_the_file, DRIFT | STRENGTH, -18807.80282, {MORPHY: [2028.13727]}, 268.73146),
        pytest.param(as_read, STRENGTH | CAREER, -19235.3861, {MORPHY: [2166.7499]}, MARGIN, marks=pytest.mark.large),
        (as_read, DRIFT | CAREER, -18862.2720, {MORPHY: [2098.8996]}, 273.0588),
        pytest.param(as_read, CAREER, -333010.332, {KASPAROV: [2695.1502, 51.3442]}, (), marks=pytest.mark.large),
    ],
)  # fmt: skip
def test_real_games(data, games, given, log_evidence, figures, of_1900):
    """`of_1900`: mean and sd of newcomers' mean in 1900, or the draw margin."""
    margin = {"draw_margin": MARGIN} if isinstance(of_1900, float) else {}
    timeline = build_timeline(
        games(data, "historical" if KASPAROV in figures else "historical_pre1942")
    )
    fit = ttt.fit(timeline, ttt.Params(**margin, **given), SolverConfig(posterior="factorised"))
    assert fit.status.sweeps <= 6
    assert fit.log_evidence == pytest.approx(log_evidence, abs=0.002)
    found = skills(timeline, fit)
    for who, figure in figures.items():
        assert found[who][: len(figure)] == pytest.approx(figure, abs=0.01)
    if margin:
        assert fit.draws.at(1900)["draw_margin"] == pytest.approx(of_1900, abs=0.01)
    elif of_1900:
        place = fit.newcomers.year.tolist().index(1900)
        assert (fit.newcomers.mean[place], fit.newcomers.sd[place]) == pytest.approx(
            of_1900, abs=0.01
        )


def test_joint_posteriors_of_real_games(data):
    """How much wider joint sds are than factorised ones; few rounds."""
    solver = SolverConfig(posterior="joint")
    _, fit = fit_rows(small_chess_base(data), solver=solver, beta=600, tau=40)
    assert fit.log_evidence == pytest.approx(-952.8473, abs=2e-3)
    timeline = build_timeline(as_read(data, "historical_pre1942"))
    apart, joint = (
        ttt.fit(timeline, ttt.Params(**PLAY), SolverConfig(posterior=kind))
        for kind in ("factorised", "joint")
    )
    assert joint.log_evidence == pytest.approx(-19302.2710, abs=2e-3)
    wider = joint.sd / apart.sd
    assert (np.median(wider), np.percentile(wider, 95), wider.max()) == pytest.approx(
        (1.0054, 1.0923, 4.8058), abs=2e-4
    )
    assert joint.status.sweeps - apart.status.sweeps <= 5


@pytest.mark.slow
@pytest.mark.parametrize(
    ("given", "log_loss"),
    [
        (NEWCOMERS, 1.013041),
        pytest.param(CAREER, 1.014964, marks=pytest.mark.large),
        pytest.param({}, 1.014993, marks=pytest.mark.large),
    ],
)
def test_predictions_of_a_year_from_all_games_before(data, given, log_loss):
    timeline = build_timeline(as_read(data, "historical_pre1942"))
    step = find_period_index(timeline, "1930")
    games = slice(int(timeline.game_start[step]), int(timeline.game_start[step + 1]))
    params = ttt.Params(draw_margin=250.0, **given)
    forecaster = Forecaster(timeline, ttt, params, SolverConfig(posterior="factorised"))
    predicted = forecaster.predict(step, step + 1)[
        range(games.stop - games.start), timeline.outcome[games]
    ]
    assert len(predicted) == 429
    assert -np.log(predicted).mean() == pytest.approx(log_loss, abs=1e-6)
