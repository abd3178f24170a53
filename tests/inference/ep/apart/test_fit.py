"""What a fit in slices takes of the timeline: no whole of it is in one place."""

from __future__ import annotations

from contextlib import contextmanager

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.apart import Serial, asked_of, history
from ttt_cli.inference.ep import through_time
from ttt_cli.inference.ep.apart.fit import FitsApart
from ttt_cli.inference.ep.apart.held import HeldSlice
from ttt_cli.systems import ttt_d

MOVING = {"growth": 300.0, "prior_mean_drift": 30.0, "draw_margin_drift": 0.3}
TOL = 1e-9


class Here:
    """Slices in this process."""

    name, scratch = "here", None

    def __init__(self, cuts):
        self.cut = cuts

    def cuts(self, _):
        return np.array(self.cut)

    def finds(self, _):
        return False

    @contextmanager
    def hold(self, pieces, play, _):
        yield Serial([HeldSlice(piece, play) for piece in pieces])


@settings(max_examples=20)
@given(
    st.integers(0, 2**32 - 1),
    st.sets(st.integers(1, 13)),
    st.sampled_from([{}, MOVING, {"draw_margin_sd": 400.0, "draw_margin_tau": 0.0}]),
)
def test_the_evidence_without_games_is_that_of_the_whole(seed, inner, others):
    timeline, params = history(seed), ttt_d.Params(beta=300, **others).resolved()
    cuts = sorted({0, *(cut for cut in inner if cut < len(timeline.periods)), len(timeline.periods)})
    priors, play = asked_of(timeline, params)
    found = FitsApart(timeline, lambda: priors, Here(cuts), {}).without_games(play, TOL)
    whole = ttt_d.through_time(timeline, params).without_games(TOL)
    assert found == pytest.approx(whole.log_evidence()[0], abs=1e-9)


def test_nothing_of_ttt_d_is_done_with_the_whole_timeline(monkeypatch):
    def refused(*_, **__):
        raise AssertionError("the whole timeline in one place")

    timeline, params = history(3), ttt_d.Params(beta=300)
    monkeypatch.setattr(through_time, "merge_games", refused)
    monkeypatch.setattr(through_time, "Inference", refused)
    fit = ttt_d.fit(timeline, params, ttt_d.SolverConfig(), place=Here([0, 5, 14]))
    assert fit.status.converged
