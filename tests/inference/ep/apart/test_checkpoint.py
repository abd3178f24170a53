"""Sites that are kept after every sweep: a fit that was ended goes on, whatever it was cut into."""

from __future__ import annotations

import errno

import numpy as np
import pytest

from tests.support.apart import history
from tests.support.builders import EXACT
from ttt_cli.errors import SetupError
from ttt_cli.inference.ep import slices
from ttt_cli.inference.ep.apart import stored
from ttt_cli.inference.ep.apart.checkpoint import keep_sites, kept_sites
from ttt_cli.inference.ep.apart.stored import Storage
from ttt_cli.kernels.ep.structures import Sites
from ttt_cli.systems import ttt

TAKEN = 1_000_000


class Ended(Exception):
    """Ctrl-C, for instance."""


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setattr(slices, "GAMES_EACH", 5)
    monkeypatch.setattr(stored, "resident", lambda: TAKEN)
    monkeypatch.setattr(stored, "SEGMENT", 1)  # of few games there are many


def fitted(scratch, timeline, params, memory=10_000, end_after=None):
    """A fit, ended after so many sweeps; (fit, changes)."""
    changes = []

    def on_sweep(sweep: int, change: float, _: float) -> None:
        changes.append(change)
        if sweep == end_after:
            raise Ended

    place = Storage(scratch, TAKEN + memory, 1)
    return ttt.fit(timeline, params, EXACT, place=place, on_sweep=on_sweep), changes


@pytest.mark.parametrize("memory", [10_000, 40_000])
def test_an_ended_fit_goes_on(tmp_path, memory):
    timeline, params = history(5), ttt.Params(beta=300)
    whole, changes = fitted(tmp_path, timeline, params)
    with pytest.raises(Ended):
        fitted(tmp_path, timeline, params, end_after=3)
    folder = next(tmp_path.iterdir())
    assert len(list(folder.glob("message-*.npy"))) == len(np.load(folder / "cuts.npy")) - 1
    again, further = fitted(tmp_path, timeline, params, memory)
    assert further[0] < changes[1]
    assert again.mean == pytest.approx(whole.mean, abs=1e-7)
    assert again.log_evidence == pytest.approx(whole.log_evidence, abs=1e-9)
    assert not list(tmp_path.iterdir())


def test_other_games_and_parameters_begin_anew(tmp_path):
    timeline, params = history(5), ttt.Params(beta=300)
    with pytest.raises(Ended):
        fitted(tmp_path, timeline, params, end_after=3)
    for other in (
        (history(6), params),
        (timeline, ttt.Params(beta=301)),
        (timeline, ttt.Params(beta=300, tau=50)),
    ):
        fresh, _ = fitted(tmp_path / "other", *other)
        found, changes = fitted(tmp_path, *other)
        assert found.log_evidence == fresh.log_evidence
        assert changes[0] > 1.0
    assert len(list(tmp_path.glob("ttt-fit-*"))) == 1


def test_a_slice_that_was_given_up_but_lives_spoils_nothing(tmp_path, monkeypatch):
    """It is half way in keeping its sites when the one that took its place keeps others."""
    old, new, found = (sites_of(value) for value in (1.0, 2.0, 0.0))
    save = np.save

    def slow(file, values):
        monkeypatch.setattr(np, "save", save)
        keep_sites(tmp_path, 0, new)
        save(file, values)

    monkeypatch.setattr(np, "save", slow)
    keep_sites(tmp_path, 0, old)
    assert kept_sites(tmp_path, 0, found)
    assert set(np.unique(found.message)) < {1.0, 2.0}
    assert len(list(tmp_path.iterdir())) == 2


def sites_of(value):
    """Those of five games, alike."""
    return Sites(np.full((5, 4), value), np.zeros((5, 2)), np.zeros((0, 2)))


def test_sites_that_cannot_be_kept_are_an_error(tmp_path, monkeypatch):
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    timeline = history(5)
    with pytest.raises(Ended):
        fitted(tmp_path, timeline, ttt.Params(), end_after=1)
    monkeypatch.setattr(np, "save", full)
    with pytest.raises(SetupError, match=r"message-0\.npy cannot be written: No space left on device"):
        fitted(tmp_path, timeline, ttt.Params())
    assert not list(tmp_path.rglob("*.part"))
    monkeypatch.undo()
