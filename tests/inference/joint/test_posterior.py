"""Which posterior a fit has, and sds by samples against exact ones."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import ndtr

from tests.support.builders import fit_rows, make_games
from ttt_cli.config.schema import SolverConfig
from ttt_cli.gaussian import factor
from ttt_cli.inference.joint import choose, samples
from ttt_cli.inference.joint.samples import SAMPLES
from ttt_cli.systems import registry, ttt_d
from ttt_cli.timeline import build_timeline

ROWS = [
    (1900 + k // 6, "abcd"[k % 4], "bcda"[k % 4 - (k // 8) % 2], (k * 7) % 3, 1.0 + k % 2)
    for k in range(60)
]
ROWS = [row for row in ROWS if row[1] != row[2]]


def fitted(kind, model="ttt", **given):
    return fit_rows(ROWS, model, solver=SolverConfig(tol=1e-4, posterior=kind), **given)[1]


@pytest.mark.parametrize("model", ["ttt", "ttt-d"])
def test_sds_by_samples_are_the_exact_ones(model, monkeypatch):
    """Within a few of the standard errors of 100 samples; means and evidence are those of the factorised fit."""
    monkeypatch.setattr(choose, "ROUNDS", 1e12)
    exact = fitted("auto", model)
    monkeypatch.setattr(factor, "MOST_ENTRIES", 0)
    monkeypatch.setattr(samples, "MOST_SAMPLED", 1.0)
    found = fitted("joint", model)
    apart = fitted("factorised", model)
    assert (exact.posterior, found.posterior, apart.posterior) == (
        "joint sds",
        "joint sds",
        "factorised",
    )
    for name, chain in exact.chains.items():
        other = found.chains[name]
        assert other.mean == pytest.approx(chain.mean, abs=1e-2)
        assert np.abs(np.log(other.sd / chain.sd)).max() < 4 / np.sqrt(2 * SAMPLES)
        assert np.abs(other.covariance - chain.covariance).max() < 0.3 * (chain.sd**2).max()
    assert (exact.sd > apart.sd).all()
    assert found.links.precision == pytest.approx(exact.links.precision, rel=1e-12)
    assert apart.links is None
    assert found.log_evidence == exact.log_evidence == apart.log_evidence
    (note,) = found.notes
    assert note.startswith("sds are those of the joint posterior by 100 samples: standard error ")


@pytest.mark.parametrize("model", ["ttt", "ttt-d"])
def test_what_samples_tell_worst_is_solved_for(model, monkeypatch):
    """Here that is nearly everything: the circle is small, so a level is far less certain than a difference."""
    monkeypatch.setattr(choose, "ROUNDS", 1e12)
    exact = fitted("auto", model)
    monkeypatch.setattr(factor, "MOST_ENTRIES", 0)
    chain, other = exact.chains["skill"], fitted("joint", model).chains["skill"]
    close = np.abs(np.log(other.sd / chain.sd)) < 2e-4
    assert close.mean() > 0.9
    assert np.abs((other.covariance - chain.covariance) / chain.sd**2)[close].max() < 1e-3


def test_auto_is_joint_for_few_games_and_factorised_for_too_many(monkeypatch):
    assert fitted("auto").posterior == "joint"
    monkeypatch.setattr(choose, "LARGE", 0)
    assert fitted("auto").posterior == "joint sds"
    monkeypatch.setattr(choose, "PATIENCE", 0.0)
    assert fitted("auto").posterior == "factorised"


def test_of_very_many_games_no_factor_is_looked_for(monkeypatch):
    monkeypatch.setattr(choose, "HUGE", 0)
    monkeypatch.setattr(choose, "shape_of", None)
    assert fitted("joint").posterior == "joint sds"


@pytest.mark.parametrize("model", ["ttt", "ttt-d"])
def test_who_wants_the_evidence_only_gets_that_without_joint_sds(model, monkeypatch):
    monkeypatch.setattr(choose, "ROUNDS", 1e12)
    module, timeline = registry.load(model), build_timeline(make_games(ROWS))
    whole, only = (
        module.fit(timeline, module.Params(), SolverConfig(tol=1e-4), evidence_only=alone)
        for alone in (False, True)
    )
    assert (whole.posterior, only.posterior) == ("joint sds", "factorised")
    assert only.log_evidence == whole.log_evidence
    monkeypatch.setattr(choose, "ROUNDS", 1)
    assert (
        module.fit(timeline, module.Params(), SolverConfig(), evidence_only=True).posterior
        == "joint"
    )


def test_samples_are_the_same_every_time(monkeypatch):
    monkeypatch.setattr(factor, "MOST_ENTRIES", 0)
    assert (fitted("joint").sd == fitted("joint").sd).all()


def test_a_start_with_other_nodes_is_no_start():
    """As many games, more nodes: sites of margins do not fit, and the fit is that from nowhere."""
    timeline = build_timeline(make_games(ROWS))
    solver = SolverConfig(tol=1e-6, posterior="joint")
    fit = ttt_d.fit(timeline, ttt_d.Params(), solver)
    fewer = replace(fit, state=fit.state | {"joint positivity": fit.state["joint positivity"][:-2]})
    other = ttt_d.fit(timeline, ttt_d.Params(), solver, start=fewer)
    assert other.mean == pytest.approx(fit.mean, abs=1e-4)


def test_one_game_between_two_is_exact():
    """One site on one direction: mean and variance are those of the posterior itself, by quadrature."""
    given = {"beta": 200, "prior_mean": 0, "prior_sd": 300, "draw_margin": 50}
    _, fit = fit_rows(
        [(1900, "a", "b", 2)], solver=SolverConfig(tol=1e-7, posterior="joint"), **given
    )
    d = np.linspace(-4000, 4000, 400_001)
    density = np.exp(-0.25 * (d / 300) ** 2) * ndtr((d - 50) / (200 * np.sqrt(2)))
    density /= density.sum()
    mean = (density * d).sum()
    variance = (density * (d - mean) ** 2).sum()
    assert fit.mean[0] - fit.mean[1] == pytest.approx(mean, abs=1e-6)
    assert fit.sd[0] ** 2 == pytest.approx((2 * 300**2 + variance) / 4, rel=1e-9)
