"""Fits over slices of time that are held apart, all in this process."""

from __future__ import annotations

from contextlib import contextmanager

import numpy as np
import pytest

from tests.support.builders import make_games
from ttt_cli.inference.ep.state import make_state
from ttt_cli.inference.ep.transport import SliceLost, Slices
from ttt_cli.timeline import build_timeline


def history(seed, players=9, years=14, games=70):
    """Random games; of all players but two each plays in some of the years only, one of them once."""
    rng = np.random.default_rng(seed)
    here = rng.random((years, players)) < 0.5
    here[:, :2] = True
    here[:, -1] = np.arange(years) == rng.integers(years)
    rows = []
    for year in rng.integers(0, years, games):
        i, j = rng.choice(np.flatnonzero(here[year]), 2, replace=False)
        rows.append((1900 + int(year), f"p{i}", f"p{j}", int(rng.integers(3))))
    rows += [(1900 + year, "p0", "p1", 1, 1.0, 0.0, year % 2 == 0) for year in range(years)]
    return build_timeline(make_games(rows))


class Apart(Slices):
    """Slices cut at these periods, in this process one after the other.

    `lost`: number of a step to the slice that is lost before it, while the others do it.
    """

    name = "in a test"

    def __init__(self, periods, lost=None, scratch=None):
        self.periods, self.lost, self.scratch = np.array(periods), lost or {}, scratch

    def cuts(self, _):
        return self.periods

    @contextmanager
    def hold(self, pieces, play, folder):
        self.make = lambda number: make_state(pieces[number], play, folder)
        self.states, self.steps = [self.make(number) for number, _ in enumerate(pieces)], 0
        yield self

    def run(self, step, arguments):
        self.steps += 1
        if self.steps in self.lost:
            self.states[self.lost[self.steps] % len(self.states)] = None
        left = [number for number, state in enumerate(self.states) if state]
        results = [step(self.states[number], *arguments[number]) for number in left]
        if len(results) < len(self.states):
            raise SliceLost("lost")
        return results

    def recover(self):
        for number, state in enumerate(self.states):
            self.states[number] = state or self.make(number)


def agree(one, other, *, tol=1e-7, evidence=1e-9):
    """Two fits of the same games are the same."""
    assert other.status.converged
    for name, chain in one.chains.items():
        found = other.chains[name]
        assert found.mean == pytest.approx(chain.mean, abs=tol)
        assert found.sd == pytest.approx(chain.sd, abs=tol)
        assert found.covariance == pytest.approx(chain.covariance, abs=100 * tol, rel=1e-9)
    assert other.log_evidence == pytest.approx(one.log_evidence, abs=evidence)
    assert other.leave_one_out == pytest.approx(one.leave_one_out, abs=1e-9)
    assert (other.draws is None, other.newcomers is None) == (
        one.draws is None,
        one.newcomers is None,
    )
    if one.draws:
        for column in ("margin", "sd", "level"):
            assert getattr(other.draws, column) == pytest.approx(
                getattr(one.draws, column), abs=1e-6
            )
    if one.newcomers:
        assert other.newcomers.year.tolist() == one.newcomers.year.tolist()
        assert other.newcomers.mean == pytest.approx(one.newcomers.mean, abs=1e-7)
        assert other.newcomers.sd == pytest.approx(one.newcomers.sd, abs=1e-7)
