"""Weighted EP for the periods that are asked for, and from sites that are there."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.support.builders import EXACT, make_games
from ttt_cli.systems import weighted_ep
from ttt_cli.timeline import Timeline, build_timeline

PARAMS = weighted_ep.Params(
    prior_sd=150, beta=180, draw_margin=90, white_advantage=25, fade_per_game=0.05
)


@pytest.fixture(scope="module")
def timeline() -> Timeline:
    rng = np.random.default_rng(15)
    rows = []
    for number in range(40):
        white, black = rng.choice(list("abcd"), 2, replace=False).tolist()
        weight, lead = float(rng.choice([1.0, 3.0, 0.4])), float(rng.choice([0.0, 80.0, -120.0]))
        rows.append((1900 + number // 5, white, black, int(rng.integers(3)), weight, lead))
    return build_timeline(make_games(rows))


@pytest.mark.parametrize("start", [False, True])
def test_what_is_foreseen_late_needs_no_fits_of_the_past(timeline: Timeline, start: bool) -> None:
    """One fit a period, from nothing or from a fit of an earlier part under other numbers."""
    whole = weighted_ep.fit(timeline, PARAMS, EXACT).chains["skill"]
    earlier = weighted_ep.fit(timeline.until(3), PARAMS.model_copy(update={"beta": 90.0}), EXACT)
    found = weighted_ep.fit_before(timeline, PARAMS, EXACT, 5, earlier if start else None)
    late = slice(int(timeline.node_start[5]), None)
    chain = found.chains["skill"]
    assert chain.before_mean[late] == pytest.approx(whole.before_mean[late], abs=1e-7)
    assert chain.before_sd[late] == pytest.approx(whole.before_sd[late], abs=1e-7)
    assert np.isnan(chain.before_mean[: late.start]).all()
    assert math.isnan(found.log_evidence)


def test_what_is_foreseen_from_the_beginning_has_the_evidence_of_a_fit(timeline: Timeline) -> None:
    found = weighted_ep.fit_before(timeline, PARAMS, EXACT, 0)
    assert found.log_evidence == pytest.approx(
        weighted_ep.fit(timeline, PARAMS, EXACT).log_evidence, abs=1e-7
    )


def test_a_fit_that_starts_at_its_end_has_less_to_do_and_says_the_same(timeline: Timeline) -> None:
    cold = weighted_ep.fit(timeline, PARAMS, EXACT)
    warm = weighted_ep.fit(timeline, PARAMS, EXACT, start=cold)
    assert warm.status.sweeps < cold.status.sweeps
    assert warm.mean == pytest.approx(cold.mean, abs=1e-6)
    assert warm.sd == pytest.approx(cold.sd, abs=1e-6)
