"""Newcomers' means by groups: the mixed model against dense algebra, the most probable effects, and predictions."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.support.builders import EXACT, make_games, random_rows
from ttt_cli import api
from ttt_cli.config.schema import SolverConfig
from ttt_cli.games.people import PeopleTable
from ttt_cli.inference.newcomer_groups import (
    PlayerGroups,
    solve_mixed_model,
    with_effects,
    with_groups_of_fit,
)
from ttt_cli.support.errors import ConfigError
from ttt_cli.systems import ttt, ttt_d
from ttt_cli.timeline import Timeline, build_timeline
from ttt_cli.views.fit_summary import group_lines


def with_people(
    timeline: Timeline, federation: dict[str, str], born: dict[str, str] | None = None
) -> Timeline:
    values = {player: (text, (born or {}).get(player, "")) for player, text in federation.items()}
    return replace(timeline, people=PeopleTable(("federation", "born"), values))


@pytest.fixture(scope="module")
def timeline() -> Timeline:
    timeline = build_timeline(make_games(random_rows(4, 80, 12, 6)))
    federation = {
        player: ("GER", "SUI")[number % 2] for number, player in enumerate(timeline.players[:-2])
    }
    born = {player: str(1850 + 4 * number) for number, player in enumerate(timeline.players)}
    return with_people(timeline, federation, born)


def test_groups_are_values_births_are_by_decade_and_the_unknown_have_none() -> None:
    timeline = build_timeline(make_games([(1900, "a", "b", 2), (1900, "c", "d", 2)]))
    timeline = with_people(
        timeline, {"a": "SUI", "b": "GER", "c": ""}, {"a": "1879-12-31", "c": "1880"}
    )
    groups = PlayerGroups.of(timeline, ["federation", "born"])
    assert groups.values == ("GER", "SUI", "1870s", "1880s", "", "")
    assert groups.kind.tolist() == [0, 0, 1, 1, 2, 3]
    assert groups.means(np.array([1.0, 2.0, 10.0, 20.0, 100.0, 1000.0])).tolist() == [
        1112.0,
        101.0,
        1020.0,
        0.0,
    ]
    with pytest.raises(ConfigError, match="no field 'fed' of people"):
        PlayerGroups.of(timeline, ["fed"])


def test_the_mixed_model_has_the_effects_and_the_likelihood_of_a_dense_gaussian() -> None:
    """At the sds found, effects are those of the dense posterior; marginal likelihood times sds is at its maximum."""
    rng = np.random.default_rng(3)
    kind = np.repeat([0, 1, 2], [15, 10, 1])
    member = rng.random((400, len(kind))) < 0.2
    truth = rng.normal(0.0, np.array([30.0, 80.0, 100.0])[kind])
    noise = rng.uniform(20.0, 60.0, 400)
    observed = member @ truth + rng.normal(0.0, noise)
    information = member.T @ (member / noise[:, None] ** 2)
    weighted = member.T @ (observed / noise**2)
    free = np.array([True, True, False])
    found = solve_mixed_model(information, weighted, kind, np.array([50.0, 50.0, 100.0]), free, 0.1)

    def likelihood(sds):
        covariance = member @ np.diag(sds[kind] ** 2) @ member.T + np.diag(noise**2)
        exponent = np.linalg.slogdet(covariance)[1] + observed @ np.linalg.solve(
            covariance, observed
        )
        return -0.5 * exponent + np.log(sds[:2]).sum()

    prior = np.diag(found.sds[kind] ** 2)
    total = member @ prior @ member.T + np.diag(noise**2)
    assert found.effects == pytest.approx(
        prior @ member.T @ np.linalg.solve(total, observed), rel=1e-3, abs=1e-3
    )
    assert found.sds[2] == 100.0
    best = likelihood(found.sds)
    for index in (0, 1):
        for factor in (0.97, 1.03):
            assert likelihood(found.sds * np.where(np.arange(3) == index, factor, 1.0)) < best


@pytest.mark.parametrize(
    ("module", "posterior"),
    [
        (ttt, "joint"),
        pytest.param(ttt, "factorised", marks=pytest.mark.slow),
        pytest.param(ttt_d, "factorised", marks=pytest.mark.slow),
    ],
)
def test_effects_are_the_most_probable_ones(module, posterior: str, timeline: Timeline) -> None:
    """The slope of log-evidence plus log prior in each effect vanishes, by differences of fits."""
    solver = SolverConfig(tol=1e-7, posterior=posterior)
    params = module.Params(newcomers_by=["federation"], prior_sd=300.0)
    fit = module.fit(timeline, params, solver)
    (of_field,) = fit.groups
    groups = PlayerGroups.of(timeline, ["federation"])
    effects = np.array([*(group.mean for group in of_field.groups), of_field.mean])
    sds = np.array([of_field.sd, of_field.sd, 300.0])
    plain = params.model_copy(update={"newcomers_by": []})

    def log_posterior(effects):
        evidence = module.fit(with_effects(timeline, groups, effects), plain, solver).log_evidence
        return evidence - 0.5 * float(((effects / sds) ** 2).sum())

    for index in range(3):
        step = np.zeros(3)
        step[index] = 2.0
        slope = (log_posterior(effects + step) - log_posterior(effects - step)) / 4.0
        assert (
            abs(slope) * sds[index] ** 2 < 30.0
        )  # points to the maximum, at most, if only the prior bent it
        assert abs(slope) < 1e-3


def test_without_fields_nothing_changes_bit_for_bit(timeline: Timeline) -> None:
    plain = ttt.fit(timeline, ttt.Params(), EXACT)
    bare = ttt.fit(replace(timeline, people=PeopleTable()), ttt.Params(), EXACT)
    assert np.array_equal(plain.mean, bare.mean)
    assert plain.groups == ()
    assert with_groups_of_fit(timeline, plain) is timeline


def test_a_newcomer_without_games_is_believed_to_be_as_the_group() -> None:
    rows = [(year, f"g{number}", f"s{number}", 2) for year in (1900, 1901) for number in range(15)]
    rows += [(1902, "new g", "new s", 1, 1e-12)]
    timeline = build_timeline(make_games(rows))
    federation = {player: "GER" if "g" in player else "SUI" for player in timeline.players}
    fit = ttt.fit(with_people(timeline, federation), ttt.Params(newcomers_by=["federation"]), EXACT)
    (of_field,) = fit.groups
    mean = {group.value: of_field.mean + group.mean for group in of_field.groups}
    assert mean["GER"] - mean["SUI"] > 200.0
    for name, value in (("new g", "GER"), ("new s", "SUI")):
        (node,) = np.flatnonzero(timeline.node_player == timeline.players.index(name))
        assert fit.mean[node] == pytest.approx(1200.0 + mean[value], abs=1e-3)


def test_a_run_says_how_newcomers_differ_and_refuses_two_means() -> None:
    games = make_games([(1900, "a", "b", 2), (1901, "b", "c", 2)])
    games = replace(games, people=PeopleTable(("federation",), {"a": ("GER",), "b": ("SUI",)}))
    run = api.fit(games, model="ttt", newcomers_by=["federation"])
    assert set(run.meta.groups["federation"]["groups"]) == {"GER", "SUI"}
    (line,) = group_lines(run.meta)
    assert line.startswith("newcomers by federation: ")
    with pytest.raises(ConfigError, match="not both"):
        api.configure(model="ttt", newcomers_by=["born"], growth=100.0, prior_mean_drift=10.0)


@pytest.mark.slow
def test_the_gradient_at_a_fit_is_that_of_its_groups(timeline: Timeline) -> None:
    params = ttt.Params(newcomers_by=["federation", "born"], draw_margin=100.0)
    fit = ttt.fit(timeline, params, EXACT)
    slopes = ttt.gradient(timeline, params, fit)
    plain = params.model_copy(update={"newcomers_by": []})
    grouped = with_groups_of_fit(timeline, fit)
    high, low = (
        ttt.fit(grouped, plain.model_copy(update={"beta": 480.0 + step}), EXACT).log_evidence
        for step in (1.0, -1.0)
    )
    assert slopes["beta"] == pytest.approx((high - low) / 2.0, rel=1e-3)


def test_evidence_points_of_a_run_can_be_read_back(tmp_path) -> None:
    games = make_games([(1900, "a", "b", 2), (1901, "b", "c", 2)])
    games = replace(games, people=PeopleTable(("federation",), {"a": ("GER",), "b": ("SUI",)}))
    run = api.fit(games, model="ttt", newcomers_by=["federation"], output=tmp_path / "a.ttt")
    assert len(run.evidence_points()) == 1
