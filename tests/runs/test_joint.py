"""Covariances and samples of skills from a run, against the dense twin of joint expectation propagation."""

from __future__ import annotations

from pathlib import Path

import duckdb
import numpy as np
import pytest

from tests.reference.ttt_ep import Twin
from tests.support.builders import CAREER, fit_rows, make_games
from tests.support.handmade import CONFIG, written
from tests.support.joint_runs import JOINT, PLAY, ROWS, run_of
from ttt_cli import api
from ttt_cli.config.schema import SolverConfig
from ttt_cli.gaussian import factor
from ttt_cli.runs import joint
from ttt_cli.runs.run import open_run
from ttt_cli.runs.write import memory_run, write_run
from ttt_cli.support.errors import ConfigError, LookupFailed, RunError
from ttt_cli.support.progress import listening
from ttt_cli.systems import ttt, ttt_d


def fresh(run):
    """The joint posterior of a run, without what was computed before."""
    vars(run).pop("joint", None)
    return run.joint


def nodes_of(timeline):
    return [
        (timeline.players[player], str(period))
        for player, period in zip(timeline.node_player, timeline.node_period, strict=True)
    ]


@pytest.mark.parametrize(
    ("model", "rows", "given"),
    [
        ("ttt", ROWS, {"draw_margin": 150.0, "white_advantage": 35.0}),
        ("ttt", ROWS, {"draw_margin": 150.0, "prior_mean_drift": 40.0, **CAREER}),
        ("ttt", ROWS, {"draw_margin": 150.0, "prior_mean_drift": 1e-6, **CAREER}),
        pytest.param("ttt-d", ROWS[:6], {"draw_margin_tau": 9.0}, marks=pytest.mark.slow),
        ("ttt-d", [*ROWS[:4], (1854, "c", "d", 2)], {"prior_mean_drift": 40.0, **CAREER}),
    ],
)
def test_skills_are_the_dense_inverse(model, rows, given):
    """Of players who met, who met through others, in other eras, who never met; newcomers' mean may move."""
    timeline, run = run_of(model, rows=rows, **given)
    params = {"ttt": ttt, "ttt-d": ttt_d}[model].Params(**PLAY, **given)
    params = params if model == "ttt" else params.resolved()
    n, nodes = timeline.n_nodes, nodes_of(timeline)
    exact = Twin(timeline, params, joint=True).run().gaussian()[1][:n, :n]
    found = run.covariance(nodes)
    assert found.to_numpy() == pytest.approx(
        exact, rel=1e-6 if model == "ttt" else 1e-5, abs=2e-3 if model == "ttt" else 1e-2
    )
    assert found.index.names == ["player", "period"]
    every = run.joint.within([[(name, int(period))] for name, period in nodes] * 5)  # by a factor
    assert [matrix.item() for matrix in every[:n]] == pytest.approx(np.diag(found), rel=1e-6)
    drawn = run.samples(40_000, 3)
    expected = run.covariance(list(drawn.columns)).to_numpy()
    scale = np.sqrt(np.outer(np.diag(expected), np.diag(expected)))
    assert list(drawn.columns) == sorted(nodes)
    assert np.cov(drawn.to_numpy().T) / scale == pytest.approx(expected / scale, abs=0.03)


@pytest.mark.slow
@pytest.mark.parametrize("model", ["ttt", "ttt-d"])
@pytest.mark.parametrize(
    "given",
    [
        {"tau": 0.0},
        {"tau": 40.0},
        {"growth": 200.0, "decline": 10.0, "decline_after": 4.0, "early": 3.0},
        {"growth": 200.0, "prior_mean_drift": 15.0},
    ],
)
def test_variances_are_those_of_the_histories(model, given):
    """Of nodes, of periods without games, and after the last; also of skills that do not move, and along careers."""
    _, run = run_of(model, **given)
    rows = run.select("SELECT player, period, sd FROM skills_within(NULL, NULL, NULL)")[1]
    found = run.covariance([row[:2] for row in rows])
    assert np.sqrt(np.diag(found)) == pytest.approx([row[2] for row in rows], rel=1e-6)


def test_a_factor_of_many_skills_is_announced(monkeypatch):
    _, run = run_of()
    first = run.select("SELECT player, period_number FROM skills LIMIT 1")[1]
    told = []
    monkeypatch.setattr(joint, "FEW", 0)
    for least, expected in ((1000, []), (0, [False, True])):
        monkeypatch.setattr(joint, "LONG", least)
        with listening(told.append):
            run.joint.within([first])
        assert [wait.over for wait in told] == expected


def test_periods_without_games_follow_from_their_neighbours():
    """As if the player had a node there: games of no weight change nothing but give one."""
    idle = [
        (1851, "a", "b", 1, 1e-12),
        (1855, "a", "b", 1, 1e-12),
        (1899, "a", "b", 1, 1e-12),
        (1903, "a", "b", 2, 1e-12),
    ]
    skills = [
        ("a", "1851"),
        ("a", "1855"),
        ("b", "1855"),
        ("a", "1899"),
        ("a", "1903"),
        ("b", "1903"),
        ("c", "1895"),
    ]
    further = [(1904, "d", "e", 1)]
    bare, full = (run_of(rows=ROWS + further + more, draw_margin=150.0)[1] for more in ([], idle))
    assert bare.covariance(skills).to_numpy() == pytest.approx(
        full.covariance(skills).to_numpy(), rel=1e-6, abs=1e-3
    )


def test_a_run_on_another_scale_gives_its_numbers():
    timeline, fit = fit_rows(ROWS, "ttt", JOINT, **PLAY)
    run = memory_run(make_games(ROWS), timeline, fit, CONFIG, ["a @ 1850 = 2500"])
    (sd,), *_ = run.select("SELECT sd FROM skills WHERE player = 'b' AND period = '1853'")[1]
    assert run.covariance([("b", "1853")]).to_numpy() == pytest.approx(sd**2)
    drawn = run.samples(20_000, 1, [("a", "1850")]).to_numpy()
    assert drawn.mean() == pytest.approx(2500.0, abs=0.03 * drawn.std())


def test_skills_may_be_named_by_numbers():
    """`samples` raised AttributeError for a period that is a number."""
    rows = [(1850, "1", "2", 2), (1851, "2", "1", 1), (1851, "1", "2", 0)]
    timeline, fit = fit_rows(rows, "ttt", JOINT, **PLAY)
    run = memory_run(make_games(rows), timeline, fit, CONFIG)
    text = run.samples(20, 3, [("1", "1850"), ("2", "1851")])
    numbers = run.samples(20, 3, [(1, 1850), (2, np.int64(1851))])
    assert numbers.equals(text)
    assert run.covariance([(1, 1850)]).equals(run.covariance([("1", "1850")]))
    assert run.skills(2).equals(run.skills("2"))
    assert api.top(run, at=1850).equals(api.top(run, at="1850"))
    for skill in [(1, 1850.0), (1, True), (1.5, 1850), (None, 1850), (1, b"1850"), (1,), 1]:
        with pytest.raises(LookupFailed):
            run.samples(20, 3, [skill])


def test_what_is_not_there_is_said():
    _, run = run_of()
    with pytest.raises(LookupFailed, match="d has no skill at 1850"):
        run.covariance([("d", "1850")])
    _, run = run_of(solver=SolverConfig(posterior="factorised"))
    with pytest.raises(RunError, match="no joint posterior") as caught:
        run.covariance([("a", "1850")])
    assert "solver.posterior=joint" in str(caught.value.hint)


def stored(place: Path, **more: float) -> Path:
    def write() -> None:
        timeline, fit = fit_rows(ROWS, "ttt", JOINT, **PLAY, **more)
        write_run(place, make_games(ROWS), timeline, fit, CONFIG)

    return written(place, write, "joint", *more)


def test_a_stored_run_keeps_it_and_one_from_before_opens(tmp_path):
    place = stored(tmp_path / "x.ttt")
    run = open_run(place)
    assert run.covariance([("a", "1850"), ("b", "1850")]).iloc[0, 1] > 100.0
    run.close()
    with duckdb.connect(str(place)) as database:
        database.execute("DROP TABLE links; DROP TABLE steps")
    run = open_run(place)
    assert len(run.skills())
    with pytest.raises(RunError, match="no joint posterior"):
        run.covariance([("a", "1850")])


@pytest.mark.parametrize(
    "evil",
    [
        'UPDATE links SET "second" = 1000', 'UPDATE links SET "first" = -1', 'UPDATE links SET "second" = "first"',
        "UPDATE links SET q11 = 'nan'", "UPDATE links SET q11 = NULL", "UPDATE steps SET variance = -1",
        "INSERT INTO steps VALUES (1, NULL, NULL)", "UPDATE steps SET variance = NULL",
        "UPDATE links SET q11 = -1e9", "UPDATE steps SET variance = 0",
        'UPDATE newcomers SET "year" = "year" + 1', 'DELETE FROM newcomers WHERE "year" = 1890',
        """UPDATE meta SET value = replace(value, '"prior_mean_drift":40.0', '"prior_mean_drift":[]')""",
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused(tmp_path, evil):
    place = stored(tmp_path / "x.ttt", growth=100.0, prior_mean_drift=40.0)
    with duckdb.connect(str(place)) as database:
        database.execute(evil)
    with pytest.raises(RunError, match=r"inconsistent|impossible"):
        open_run(place).covariance([("a", "1850"), ("b", "1857")])


@pytest.mark.parametrize("model", ["ttt", "ttt-d"])
@pytest.mark.parametrize("tau", [0.0, 40.0])
def test_many_are_asked_by_a_factor(monkeypatch, model, tau):
    """Skills at nodes, in periods without games, and after the last."""
    _, run = run_of(model, tau=tau)
    rows = run.select(
        "SELECT player, period_number FROM skills_within(1850, 1896, NULL) ORDER BY ALL"
    )[1][::4]
    half = len(rows) // 2
    rows = rows[: 2 * half]
    skills, others, found = rows[:half], rows[half:], fresh(run)
    pairs = [list(pair) for pair in zip(skills, others, strict=True)]
    weights = [np.array([1.0, -1.0 - 0.1 * k]) for k in range(half)]
    whole, deviations = found.covariance(rows), found.shown_sds(pairs, weights)
    groups = [matrix for pair in [*pairs, []] for matrix in found.within([pair])]
    for k, (w, deviation) in enumerate(zip(weights, deviations, strict=True)):
        variance = w @ whole[np.ix_([k, half + k], [k, half + k])] @ w
        assert (deviation / run.scale.slope) ** 2 == pytest.approx(variance, rel=1e-9, abs=1e-6)
    monkeypatch.setattr(joint, "FEW", 1)
    monkeypatch.setattr(joint, "AT_ONCE", 7)
    assert found.covariance(rows) == pytest.approx(whole, rel=1e-9, abs=1e-6)
    assert np.square(found.shown_sds(pairs, weights)) == pytest.approx(
        np.square(deviations), rel=1e-9, abs=1e-6
    )
    for group, few in zip(found.within([*pairs, []]), groups, strict=True):
        assert group == pytest.approx(few, rel=1e-9, abs=1e-6)
    monkeypatch.setattr(factor, "MOST_ENTRIES", 0)
    assert fresh(run).covariance(rows) == pytest.approx(whole, rel=1e-9, abs=1e-6)
    with pytest.raises(ConfigError, match="skills need a factor of"):
        fresh(run).within(pairs)


def test_few_at_once_are_asked_by_a_factor_in_the_end(monkeypatch):
    """Unless it is out of reach; samples stay those of their seed."""
    _, run = run_of(growth=200.0, prior_mean_drift=15.0)
    skills = [("a", 1852), ("b", 1855), ("d", 1898)]
    expected = fresh(run).covariance(skills)
    monkeypatch.setattr(joint, "FEW", 5)
    found, beyond = fresh(run), fresh(run)
    drawn = found.samples(skills, 10, 1)
    for by_factor in (False, True, True):
        assert found.within([skills[:2], skills[2:]], 1e-3)[0] == pytest.approx(
            expected[:2, :2], rel=1e-6
        )
        assert ("_factor" in vars(found)) == by_factor
    assert found.within([skills], 1.0)[0] == pytest.approx(expected, rel=1e-9, abs=1e-6)
    assert (found.samples(skills, 10, 1) == drawn).all()
    monkeypatch.setattr(factor, "MOST_ENTRIES", 0)
    for _ in range(3):
        assert beyond.within([skills])[0] == pytest.approx(expected, rel=1e-9, abs=1e-6)


def test_a_looser_solution_is_off_by_the_square_of_its_residual():
    _, run = run_of()
    skills, found = [("a", 1855), ("b", 1857), ("d", 1895)], fresh(run)
    (exact,), (loose,) = found.within([skills]), found.within([skills], 1e-3)
    scale = np.sqrt(np.outer(exact.diagonal(), exact.diagonal()))
    assert 0.0 < np.abs((loose - exact) / scale).max() < 1e-6


def test_samples_of_many_are_those_of_their_covariance_matrix(monkeypatch):
    """With two points of one bridge, which share its noise, and two after a player's last game."""
    _, run = run_of()
    skills = [
        ("a", 1850),
        ("a", 1851),
        ("a", 1852),
        ("b", 1855),
        ("d", 1896),
        ("d", 1898),
        ("c", 1895),
    ]
    found = fresh(run)
    covariance, few = found.covariance(skills), found.samples(skills, 40_000, 4)
    monkeypatch.setattr(joint, "MOST_TOGETHER", 3)
    drawn = found.samples(skills, 40_000, 3)
    sd = np.sqrt(covariance.diagonal())
    assert np.cov(drawn.T) / np.outer(sd, sd) == pytest.approx(
        covariance / np.outer(sd, sd), abs=0.03
    )
    assert np.abs((drawn.mean(axis=0) - few.mean(axis=0)) / sd).max() < 0.03
    assert (drawn == found.samples(skills, 40_000, 3)).all()
    assert not (drawn[:100] == found.samples(skills, 100, 4)).any()
