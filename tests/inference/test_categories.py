"""Offsets of categories: published figures, the dense twin, gradients, idle years, moving margins."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.reference.link_histories import categories
from tests.reference.links_dense import JointTwin
from tests.support.builders import make_games
from tests.support.cases import each
from tests.support.random_sides import as_history
from ttt_cli.config.schema import SolverConfig
from ttt_cli.fitted import Fit, skills_in_category
from ttt_cli.games.table import Games
from ttt_cli.inference.joint.samples import sampled_histories
from ttt_cli.inference.model import NO_OFFSETS
from ttt_cli.inference.solver import Pace
from ttt_cli.reading.columns import CodedColumn
from ttt_cli.support.errors import ConfigError
from ttt_cli.systems import ttt
from ttt_cli.timeline import Timeline, build_timeline

JOINT = SolverConfig(tol=1e-9, posterior="joint")
RAPID = {"rapid": {"sd": 100.0, "tau": 30.0}}
FIGURES = {
    "prior_mean": 1200.0,
    "prior_sd": 400.0,
    "beta": 480.0,
    "tau": 60.0,
    "draw_margin": 250.0,
}
HISTORY = [
    ("", 1858, "M", "A", 2), ("", 1858, "M", "A", 2), ("rapid", 1858, "A", "M", 2), ("rapid", 1858, "A", "M", 2),
    ("rapid", 1861, "A", "M", 1), ("", 1861, "M", "A", 2),
]  # fmt: skip


def games_in_categories(rows) -> Games:
    """Games of (category, year, white, black, outcome, ...) as `make_games`."""
    rows = sorted(rows, key=lambda row: row[1])
    names = ("", *sorted({row[0] for row in rows} - {""}))
    codes = np.array([names.index(row[0]) for row in rows], np.int32)
    return replace(make_games([row[1:] for row in rows]), category=CodedColumn(codes, names))


def fitted(rows, solver=JOINT, **params) -> tuple[Timeline, Fit]:
    timeline = build_timeline(games_in_categories(rows), "year", "known")
    return timeline, ttt.fit(
        timeline, ttt.Params(**{**FIGURES, "white_advantage": 0.0, **params}), solver
    )


def belief(timeline: Timeline, fit: Fit, player: str, year: int, category: str | None = None):
    node = next(
        node
        for node in range(timeline.n_nodes)
        if timeline.players[timeline.node_player[node]] == player
        and timeline.label(int(timeline.node_period[node])) == f"{year}"
    )
    if category is None:
        return fit.mean[node], fit.sd[node]
    skill = fit.categories[category]
    (index,) = np.flatnonzero(skill.nodes == node)
    return skill.walk.mean[index], skill.walk.sd[index]


def test_published_figures():
    """Of a dense EP written from the definition."""
    timeline, fit = fitted(HISTORY, offsets=RAPID)
    assert fit.posterior == "joint"
    assert fit.log_evidence == pytest.approx(-6.9305438, abs=1e-6)
    assert belief(timeline, fit, "M", 1858) == pytest.approx((1272.88489, 317.93259), abs=1e-5)
    assert belief(timeline, fit, "M", 1861, "rapid")[0] == pytest.approx(1248.76080, abs=1e-5)
    offset = belief(timeline, fit, "A", 1858, "rapid")[0] - belief(timeline, fit, "A", 1858)[0]
    assert offset == pytest.approx(35.63797, abs=1e-5)


def test_skills_in_categories_are_sums():
    """Their sds, and covariances along the chain, are those of the dense twin."""
    history = categories()
    twin_mean, twin_covariance = JointTwin(*history.prior(), history.links).run().gaussian()
    timeline, fit = fitted(HISTORY, offsets=RAPID)
    walk = fit.categories["rapid"].walk
    names = [
        timeline.players[player] for player in timeline.node_player[fit.categories["rapid"].nodes]
    ]
    assert names == ["A", "M", "A", "M"]
    for index, (name, year) in enumerate(zip(names, [1858, 1858, 1861, 1861], strict=True)):
        sum_of = [history.number(name, year), history.number(f"{name} rapid", year)]
        assert walk.mean[index] == pytest.approx(twin_mean[sum_of].sum(), abs=1e-6)
        variance = twin_covariance[np.ix_(sum_of, sum_of)].sum()
        assert walk.sd[index] == pytest.approx(np.sqrt(variance), abs=1e-6)
        if year == 1861:
            before = [history.number(name, 1858), history.number(f"{name} rapid", 1858)]
            covariance = twin_covariance[np.ix_(sum_of, before)].sum()
            assert walk.covariance[index] == pytest.approx(covariance, rel=1e-8)
    assert walk.drift == pytest.approx(np.hypot(60.0, 30.0))


def random_rows(seed: int, games: int = 40):
    """Games of three categories, one of which has no offset, in several years, of several weights and handicaps."""
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(games):
        first, second = rng.choice(["a", "b", "c", "d"], 2, replace=False)
        category = str(rng.choice(["", "rapid", "blitz"]))
        year = int(rng.choice([1900, 1901, 1904]))
        handicap = float(rng.choice([0.0, 0.0, 60.0]))
        rows.append(
            (
                category,
                year,
                first,
                second,
                int(rng.integers(3)),
                float(rng.choice([1.0, 1.0, 2.0])),
                handicap,
            )
        )
    return rows


TWO = {"rapid": {"sd": 90.0, "tau": 40.0}, "blitz": {"sd": 140.0, "tau": 25.0}}


@each(
    "posterior, seed, correlation",
    [("joint", 1, 0.0), ("joint", 2, 0.6), ("factorised", 1, 0.0), ("factorised", 1, 0.6)],
)
def test_log_evidence_and_gradient(posterior, seed, correlation):
    """Gradient in sd and tau of categories, and in what links and pairs share, against differences."""
    solver = SolverConfig(tol=1e-10, posterior=posterior)
    timeline = build_timeline(games_in_categories(random_rows(seed)), "year", "known")
    params = ttt.Params(
        **FIGURES, white_advantage=35.0, offsets=TWO, offset_correlation=correlation
    )
    gradient = ttt.gradient(timeline, params, ttt.fit(timeline, params, solver))

    def log_evidence(changed):
        return ttt.fit(timeline, changed, solver).log_evidence

    def slope(change, step=0.05):
        ends = [log_evidence(change(sign * step)) for sign in (1.0, -1.0)]
        return (ends[0] - ends[1]) / (2.0 * step)

    for key in ("prior_sd", "beta", "tau", "draw_margin", "white_advantage"):
        value = getattr(params, key)
        by_difference = slope(
            lambda step, key=key, value=value: params.model_copy(update={key: value + step})
        )
        assert gradient[key] == pytest.approx(by_difference, rel=2e-4, abs=2e-7), key
    if correlation:
        by_difference = slope(
            lambda step: params.model_copy(update={"offset_correlation": correlation + step}), 1e-3
        )
        assert gradient["offset_correlation"] == pytest.approx(by_difference, rel=2e-4)
    for category, setting in TWO.items():
        for key, value in setting.items():

            def changed(step, category=category, setting=setting, key=key, value=value):
                offsets = {**TWO, category: {**setting, key: value + step}}
                return params.model_copy(update={"offsets": offsets})

            expected = pytest.approx(slope(changed), rel=2e-4, abs=2e-7)
            assert gradient[f"offsets.{category}.{key}"] == expected, (category, key)


@each("seed, margins", [(1, False), (2, False), (3, True)])
def test_correlated_offsets(seed, margins):
    """Of the dense twin, whose prior has the covariances of offsets; with margins of victory links are sums."""
    rows = random_rows(seed)
    more = {"margin_steps": {"2": 120.0, "3": 90.0}} if margins else {}
    if margins:
        rows = [
            (*row, False, float(number % 4) if row[4] != 1 else 0.0)
            for number, row in enumerate(rows)
        ]
    timeline, fit = fitted(rows, offsets=TWO, offset_correlation=0.6, **more)
    params = ttt.Params(**FIGURES, white_advantage=0.0, offsets=TWO, offset_correlation=0.6, **more)
    history = as_history(timeline, params, fit.elo_unit)
    twin = JointTwin(*history.prior(), history.links).run()
    mean, covariance = twin.gaussian()
    assert fit.log_evidence == pytest.approx(twin.log_z(), abs=1e-7)
    labels = [
        (timeline.players[player], int(timeline.label(int(period))))
        for player, period in zip(timeline.node_player, timeline.node_period, strict=True)
    ]
    for name, skill in fit.categories.items():
        before: dict[str, list[int]] = {}
        for index, node in enumerate(skill.nodes):
            player, year = labels[node]
            sum_of = [history.number(player, year), history.number(f"{player} {name}", year)]
            assert skill.walk.mean[index] == pytest.approx(mean[sum_of].sum(), abs=1e-5)
            variance = covariance[np.ix_(sum_of, sum_of)].sum()
            assert skill.walk.sd[index] == pytest.approx(np.sqrt(variance), abs=1e-5)
            if player in before:
                with_before = covariance[np.ix_(sum_of, before[player])].sum()
                assert skill.walk.covariance[index] == pytest.approx(with_before, rel=1e-7)
            before[player] = sum_of


def test_offsets_in_one_category_tell_about_another():
    """Before a first game there: by the joint Gaussian of skill and offset, with the part that the prior predicts."""
    rows = [
        ("rapid", 1900, "a", "b", 2),
        ("rapid", 1901, "a", "b", 2),
        ("", 1901, "a", "b", 0),
        ("blitz", 1901, "b", "c", 2),
    ]
    correlation = 0.7
    timeline, fit = fitted(rows, offsets=TWO, offset_correlation=correlation)
    params = ttt.Params(**FIGURES, white_advantage=0.0, offsets=TWO, offset_correlation=correlation)
    history = as_history(timeline, params, fit.elo_unit)
    # an offset that nobody has played with yet: what the first of rapid says about it
    history.add_chain("a blitz", [1901], TWO["blitz"]["sd"], 0.0, 0.0)
    of_both = correlation * TWO["blitz"]["sd"] * TWO["rapid"]["sd"]
    history.correlated.append(("a rapid", "a blitz", of_both))
    mean, covariance = JointTwin(*history.prior(), history.links).run().gaussian()
    sum_of = [history.number("a", 1901), history.number("a blitz", 1901)]
    expected = skills_in_category(fit, "blitz", TWO["blitz"]["sd"])
    node = next(
        node
        for node in range(timeline.n_nodes)
        if timeline.players[timeline.node_player[node]] == "a" and timeline.next[node] < 0
    )
    assert expected.mean[node] == pytest.approx(mean[sum_of].sum(), abs=1e-5)
    variance = covariance[np.ix_(sum_of, sum_of)].sum()
    assert expected.sd[node] == pytest.approx(np.sqrt(variance), abs=1e-5)


@pytest.mark.parametrize("seed", [1, 2])
def test_margins_of_victory_in_categories(seed):
    """Of the dense twin, with known and unknown margins; an sd near 0 is the model without offsets."""
    steps = {"2": 120.0, "3": 90.0}
    rows = [
        (*row, False, float(number % 4) if row[4] != 1 else 0.0)
        for number, row in enumerate(random_rows(seed))
    ]
    timeline, fit = fitted(rows, offsets=TWO, margin_steps=steps)
    params = ttt.Params(**FIGURES, white_advantage=0.0, offsets=TWO, margin_steps=steps)
    history = as_history(timeline, params, fit.elo_unit)
    twin = JointTwin(*history.prior(), history.links).run()
    assert fit.log_evidence == pytest.approx(twin.log_z(), abs=1e-7)
    small = {name: {"sd": 0.01, "tau": 0.0} for name in TWO}
    _, near = fitted(rows, offsets=small, margin_steps=steps)
    _, plain = fitted([("", *row[1:]) for row in rows], margin_steps=steps)
    assert near.log_evidence == pytest.approx(plain.log_evidence, abs=1e-5)
    assert near.mean == pytest.approx(plain.mean, abs=1e-3)


def test_categories_without_offsets_change_nothing():
    rows = random_rows(3)
    _, with_categories = fitted(rows)
    _, plain = fitted([("", *row[1:]) for row in rows])
    assert with_categories.log_evidence == plain.log_evidence
    assert np.array_equal(with_categories.mean, plain.mean)
    assert not with_categories.categories


def test_an_offset_without_spread_is_none():
    """The limit of small sds is the model without offsets, with moving margins and careers too."""
    rows = random_rows(4)
    more = {"draw_margin_drift": 0.2, "draw_margin_strength": 0.1, "growth": 150.0, "early": 2.0}
    _, plain = fitted([("", *row[1:]) for row in rows], **more)
    small = {"rapid": {"sd": 0.01, "tau": 0.0}, "blitz": {"sd": 0.01, "tau": 0.0}}
    _, fit = fitted(rows, offsets=small, **more)
    assert fit.log_evidence == pytest.approx(plain.log_evidence, abs=1e-5)
    assert fit.mean == pytest.approx(plain.mean, abs=1e-3)
    assert fit.draws.margin == pytest.approx(plain.draws.margin, abs=1e-4)


def test_estimated_parameters():
    """White's advantage and a covariate are estimated from games of all categories."""
    rows = [
        row if index % 3 else (*row[:4], 2, *row[5:])
        for index, row in enumerate(random_rows(5, 80))
    ]
    small = {"rapid": {"sd": 0.01, "tau": 0.0}, "blitz": {"sd": 0.01, "tau": 0.0}}
    _, plain = fitted([("", *row[1:]) for row in rows], white_advantage="estimate")
    _, fit = fitted(rows, white_advantage="estimate", offsets=small)
    assert fit.params["white_advantage"] == pytest.approx(plain.params["white_advantage"], abs=0.01)
    assert fit.params["offsets.rapid.sd"] == 0.01


def test_slices_are_refused():
    timeline = build_timeline(games_in_categories(HISTORY), "year", "known")
    shared = ttt.through_time(timeline, ttt.Params(offsets=RAPID), 250.0)
    with pytest.raises(ConfigError, match="not fitted with --memory or on a cluster yet"):
        shared.fit(Fit, SolverConfig(), {"placement": object()})


def test_unknown_colours_are_refused_where_they_count():
    timeline = build_timeline(games_in_categories(HISTORY), "year", "unknown")
    params = ttt.Params(**FIGURES, white_advantage=35.0, offsets=RAPID)
    with pytest.raises(ConfigError, match="need known colours"):
        ttt.fit(timeline, params, JOINT)
    assert ttt.fit(
        timeline, params.model_copy(update={"white_advantage": 0.0}), JOINT
    ).status.converged


def test_other_posteriors():
    """Sds by samples are near those of the joint posterior; without factors skill and offset are independent."""
    rows = random_rows(6, 60)
    timeline, joint = fitted(rows, offsets=TWO)
    _, factorised = fitted(rows, SolverConfig(tol=1e-9, posterior="factorised"), offsets=TWO)
    shared = ttt.through_time(
        timeline, ttt.Params(**FIGURES, white_advantage=0.0, offsets=TWO), 250.0
    )
    inference = shared.inference(NO_OFFSETS, factorised)
    inference.sweep(Pace.PLAIN)
    sampled = sampled_histories(inference, 400)
    of_samples = shared.sums.player_offsets.skills(sampled.chains["skill"], sampled.extra)
    for name in TWO:
        walk = joint.categories[name].walk
        ratio = of_samples[name].walk.sd / walk.sd
        assert np.sqrt(np.mean((ratio - 1.0) ** 2)) < 0.06
        assert len(factorised.categories[name].walk.sd) == len(walk.sd)
        assert np.all(factorised.categories[name].walk.sd > 0.0)
