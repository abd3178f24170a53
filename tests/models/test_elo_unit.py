"""Elo points: a lead of 200 is an expected score of 76 %."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.special import ndtr

from tests.builders import fit_rows
from ttt_cli.chains import Walk
from ttt_cli.models import registry
from ttt_cli.models.elo_unit import CLASS, EXPECTED, elo_unit

ROWS = [
    (1850, "a", "b", 2),
    (1850, "b", "a", 1),
    (1851, "b", "c", 2),
    (1851, "c", "a", 0),
    (1852, "a", "c", 2),
]


def test_76_percent():
    assert round(EXPECTED, 4) == 0.7597


@pytest.mark.parametrize("margin", [1e-9, 80.0, 300.0])
def test_ttt(margin):
    """The score expected of a lead d: the mean of two normal probabilities."""
    _, fit = fit_rows(ROWS, beta=300.0, draw_margin=margin)
    lead = CLASS * elo_unit(registry.load("ttt"), fit)
    sd = math.sqrt(2) * 300
    assert (ndtr((lead - margin) / sd) + ndtr((lead + margin) / sd)) / 2 == pytest.approx(EXPECTED, abs=1e-9)


@pytest.mark.parametrize("name", registry.MODULES)
def test_every_system_expects_76_percent_of_a_lead_of_200(name):
    module = registry.load(name)
    _, fit = fit_rows(ROWS, name)
    lead = CLASS * elo_unit(module, fit)
    further = {
        key: np.array([value])
        for chain, own in fit.chains.items() if chain != "skill"
        for key, value in ((chain, float(np.median(own.mean))), (f"{chain}_sd", 0.0))
    }  # fmt: skip
    strong, weak = (
        {"mean": np.array([mean]), "sd": np.zeros(1), **further} for mean in (1200.0 + lead, 1200.0)
    )
    as_white, as_black = (
        module.predict(fit.params, strong, weak)[0],
        module.predict(fit.params, weak, strong)[0][::-1],
    )
    _, draw, win = (as_white + as_black) / 2
    if name == "naive":
        assert win + draw / 2 == pytest.approx(0.5)
    else:
        assert win + draw / 2 == pytest.approx(EXPECTED, abs=1e-6)


def test_white_advantage_goes_to_both():
    _, fit = fit_rows(ROWS, beta=300.0, draw_margin=80.0)
    even = elo_unit(registry.load("ttt"), fit)
    _, white = fit_rows(ROWS, beta=300.0, draw_margin=80.0, white_advantage=1e-3)
    assert elo_unit(registry.load("ttt"), white) == pytest.approx(even, rel=1e-6)


def test_it_does_not_depend_on_the_level():
    _, fit = fit_rows(ROWS, beta=300.0)
    chain = fit.chains["skill"]
    moved = replace(fit, chains={"skill": Walk(chain.mean + 5000, chain.sd, chain.covariance, chain.drift)})
    module = registry.load("ttt")
    assert elo_unit(module, moved) == pytest.approx(elo_unit(module, fit), rel=1e-9)
