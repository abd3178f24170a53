"""Records that may be wrong: against exact enumeration, and what a run keeps."""

import io
import math
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from scipy.special import ndtr

from tests.support.builders import assert_slopes, make_games, random_rows
from tests.support.cases import each
from ttt_cli import api
from ttt_cli.config.schema import DataConfig, SolverConfig
from ttt_cli.games.read import read_games
from ttt_cli.inference.influence import Influence, Supposition
from ttt_cli.support.errors import ConfigError
from ttt_cli.systems import ttt
from ttt_cli.timeline import build_timeline

JOINT = SolverConfig(tol=1e-9, posterior="joint")
PLAY = {"beta": 480.0, "tau": 60.0, "draw_margin": 150.0}
ROWS = [
    (1900, "a", "b", 2), (1900, "b", "c", 2), (1900, "c", "a", 1), (1901, "a", "c", 2), (1901, "d", "a", 2),
    (1901, "b", "d", 0), (1902, "c", "b", 2),
]  # fmt: skip
P_TRUE = [0.5, 1.0, 0.8, 1.0, 0.3, 1.0, 0.9]


def doubtful_games(rows, p_true):
    """Games with the probabilities that their records are right."""
    return replace(make_games(rows), p_true=np.array(p_true))


def by_enumeration(timeline, params, base, p_true):
    """(log Z, means, sds): the sum over which of the records are right, each by a fit of these alone.

    A record that is wrong has the share of its result among all games, whatever the skills are.
    """
    doubtful = [index for index, p in enumerate(p_true) if p < 1.0]
    parts = []
    for right in product([True, False], repeat=len(doubtful)):
        mask = np.ones(timeline.n_games, np.bool_)
        log_weight = 0.0
        for index, is_right in zip(doubtful, right, strict=True):
            mask[index] = is_right
            p = p_true[index]
            log_weight += math.log(p if is_right else (1.0 - p) * base[timeline.outcome[index]])
        fit = ttt.fit(replace(timeline.with_games_where(mask), doubt=None), params, JOINT)
        parts.append((log_weight + fit.log_evidence, fit.mean, fit.sd))
    log_z = np.array([part[0] for part in parts])
    total = log_z.max() + math.log(np.exp(log_z - log_z.max()).sum())
    weight = np.exp(log_z - total)
    mean = sum(w * part[1] for w, part in zip(weight, parts, strict=True))
    second = sum(w * (part[2] ** 2 + part[1] ** 2) for w, part in zip(weight, parts, strict=True))
    return total, mean, np.sqrt(second - mean**2)


def base_rates(timeline):
    """Shares of losses, draws and wins of records that are wrong."""
    draws = float(np.mean(timeline.outcome == 1))
    return 0.5 * (1.0 - draws), draws, 0.5 * (1.0 - draws)


@pytest.mark.parametrize("seed", range(4))
def test_few_games_are_near_exact_enumeration(seed):
    """The sum over all choices of records that are right; a Gaussian stands for a mixture of them."""
    rows = ROWS if seed == 0 else random_rows(seed, 7, players=4, years=3)
    rows = sorted(rows, key=lambda row: row[0])
    timeline = build_timeline(doubtful_games(rows, P_TRUE), "year", "known")
    params = ttt.Params(**PLAY)
    fit = ttt.fit(timeline, params, JOINT)
    log_evidence, mean, sd = by_enumeration(timeline, params, base_rates(timeline), P_TRUE)
    assert fit.log_evidence == pytest.approx(log_evidence, abs=0.01)
    assert fit.mean == pytest.approx(mean, abs=4.0)
    assert fit.sd == pytest.approx(sd, abs=4.0)


@pytest.mark.parametrize("p_true", [0.9, 0.4])
def test_one_game_is_exact(p_true):
    """The evidence and moments of a difference of two skills, by quadrature."""
    timeline = build_timeline(doubtful_games([(1900, "a", "b", 2)], [p_true]), "year", "known")
    fit = ttt.fit(timeline, ttt.Params(**PLAY), JOINT)
    x, step = np.linspace(-6000.0, 6000.0, 200_001, retstep=True)
    sd = math.sqrt(2.0) * 400.0
    density = np.exp(-0.5 * (x / sd) ** 2) / (sd * math.sqrt(2.0 * math.pi)) * step
    by_skill = ndtr((x - 150.0) / (math.sqrt(2.0) * 480.0))
    density *= p_true * by_skill + (1.0 - p_true) * 0.5
    mass = density.sum()
    mean = density @ x / mass
    assert fit.log_evidence == pytest.approx(math.log(mass), abs=1e-7)
    assert fit.mean - 1200.0 == pytest.approx([0.5 * mean, -0.5 * mean], abs=1e-3)


@each("solver", [JOINT, SolverConfig(tol=1e-9, posterior="factorised")])
def test_certain_records_are_plain_games_bit_for_bit(solver):
    plain = build_timeline(make_games(ROWS), "year", "known")
    certain = build_timeline(doubtful_games(ROWS, [1.0] * 7), "year", "known")
    assert certain.doubt is None
    params = ttt.Params(**PLAY)
    expected = ttt.fit(plain, params, solver)
    fit = ttt.fit(certain, params, solver)
    assert np.array_equal(fit.mean, expected.mean)
    assert np.array_equal(fit.sd, expected.sd)
    assert fit.log_evidence == expected.log_evidence
    assert fit.params == expected.params


def test_equally_doubtful_records_are_those_of_a_lapse():
    """The same mixture: chance decides a share of the games, or the records of as many are wrong."""
    timeline = build_timeline(doubtful_games(ROWS, [0.8] * 7), "year", "known")
    lapse = build_timeline(make_games(ROWS), "year", "known")
    fit = ttt.fit(timeline, ttt.Params(**PLAY), JOINT)
    expected = ttt.fit(lapse, ttt.Params(**PLAY, lapse=0.2), JOINT)
    assert fit.mean == pytest.approx(expected.mean, abs=1e-9)
    assert fit.log_evidence == pytest.approx(expected.log_evidence, abs=1e-12)


@each("colours", ["known", "unknown"])
def test_slopes_are_those_of_differences(colours):
    rows = random_rows(4, 30, 4)
    p_true = np.random.default_rng(0).choice([1.0, 0.9, 0.6], 30)
    timeline = build_timeline(doubtful_games(rows, p_true), colours=colours)
    params = ttt.Params(**PLAY, white_advantage=60.0, lapse=0.05)
    assert_slopes(
        ttt,
        timeline,
        params,
        ("lapse", "beta", "tau", "draw_margin", "white_advantage"),
        JOINT,
        rel=2e-4,
    )


def test_equal_games_of_other_probability_are_kept_apart():
    rows = [(1900, "a", "b", 2), (1900, "b", "a", 0), (1900, "a", "b", 2)]
    p_true = [0.5, 0.5, 1.0]
    timeline = build_timeline(doubtful_games(rows, p_true), "year", "known")
    params = ttt.Params(**PLAY)
    fit = ttt.fit(timeline, params, JOINT)
    log_evidence, mean, _ = by_enumeration(timeline, params, base_rates(timeline), p_true)
    assert fit.log_evidence == pytest.approx(log_evidence, abs=0.01)
    assert fit.mean == pytest.approx(mean, abs=4.0)


def test_a_surprising_record_counts_less_the_less_it_is_believed():
    rows = [*[(1900, "a", "b", 2)] * 6, *[(1900, "b", "c", 2)] * 6, (1900, "c", "a", 2)]
    means = []
    for p in (1.0, 0.9, 0.5, 0.1):
        timeline = build_timeline(doubtful_games(rows, [*[1.0] * 12, p]), "year", "known")
        means.append(ttt.fit(timeline, ttt.Params(**PLAY), JOINT).mean[0])
    assert means == sorted(means)


def test_games_in_slices_are_the_same(tmp_path):
    rows = random_rows(2, 60, players=6, years=6)
    p_true = np.random.default_rng(1).choice([1.0, 0.7], 60)
    games = doubtful_games(rows, p_true)
    keys = {
        "beta": 480.0,
        "tau": 60.0,
        "draw_margin": 150.0,
        "posterior": "factorised",
        "tol": 1e-6,
    }
    in_memory = api.fit(games, "ttt", **keys).skills()
    in_files = api.fit(games, "ttt", memory="1GB", scratch=str(tmp_path), **keys).skills()
    assert in_files["mean"].to_numpy() == pytest.approx(in_memory["mean"].to_numpy(), abs=1e-4)


def test_influence_knows_doubt():
    games = doubtful_games(
        random_rows(3, 60, players=6, years=3), np.random.default_rng(2).choice([1.0, 0.6], 60)
    )
    keys = {
        "beta": 480.0,
        "tau": 60.0,
        "draw_margin": 150.0,
        "white_advantage": 0.0,
        "posterior": "joint",
        "tol": 1e-6,
    }
    run = api.fit(games, "ttt", **keys)
    timeline = build_timeline(run.stored_games(), "year", "known")
    influence = Influence(run)
    rows = np.array([0, 7])
    shift = influence.suppose(Supposition(rows)).total_shift
    mask = np.ones(60, np.bool_)
    mask[rows] = False
    params = ttt.Params(**{**PLAY, "white_advantage": 0.0})
    before = ttt.fit(timeline, params, JOINT)
    after = ttt.fit(timeline.with_games_where(mask), params, JOINT)
    predicted = np.zeros(timeline.n_nodes)
    predicted[timeline.game_white] = shift[influence.games.white]
    predicted[timeline.game_black] = shift[influence.games.black]
    exact = after.mean - before.mean  # by other shares of draws, too
    assert np.all(np.abs(predicted - exact) <= np.maximum(1.5, 0.05 * np.abs(exact)))


CSV = b"date,white,black,result,trust\n1900,Ann,Bob,1-0,0.5\n1901,Bob,Ann,1-0,\n1902,Ann,Bob,1/2-1/2,1\n"


def test_a_column_of_probabilities_is_kept_in_the_run(tmp_path):
    file = tmp_path / "a.csv"
    file.write_bytes(CSV)
    run = api.fit(str(file), api.configure("ttt", ["data.p_true=trust"]), output=tmp_path / "a.ttt")
    assert run.stored_games().p_true.tolist() == [0.5, 1.0, 1.0]
    assert run.games()["p_true"].tolist() == [0.5, 1.0, 1.0]
    more = tmp_path / "b.csv"
    more.write_bytes(b"date,white,black,result,trust\n1903,Ann,Bob,1-0,0.25\n")
    assert api.update(run, str(more)).stored_games().p_true.tolist() == [0.5, 1.0, 1.0, 0.25]


@each("text", ["0", "-1", "1.5", "x"])
def test_other_probabilities_are_counted(text):
    rows = CSV + f"1903,Ann,Bob,1-0,{text}\n".encode()
    games = read_games([io.BytesIO(rows)], DataConfig(p_true="trust"))
    assert games.report.dropped == {"bad probability": 1}
    assert len(games) == 3


def test_other_models_are_refused_or_say_so():
    games = doubtful_games(ROWS, P_TRUE)
    with pytest.raises(ConfigError, match="doubtful records"):
        api.fit(games, "ttt-d")
    assert (
        "p_true counts for ttt only: elo takes all records as right"
        in api.fit(games, "elo").meta.notes
    )
