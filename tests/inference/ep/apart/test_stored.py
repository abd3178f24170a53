"""Slices in files: the same fit in less memory; clear errors where there is no room."""

from __future__ import annotations

import errno
import mmap
import os
from collections import Counter

import numpy as np
import pytest

from tests.support.apart import history
from tests.support.builders import EXACT
from ttt_cli.errors import ConfigError, SetupError
from ttt_cli.inference.ep import slices
from ttt_cli.inference.ep.apart import stored
from ttt_cli.inference.ep.apart.stored import Storage
from ttt_cli.systems import ttt, ttt_d

TAKEN = 1_000_000  # bytes that the process takes, as these tests have it

NEWCOMERS = {"growth": 300.0, "prior_mean_drift": 30.0}


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setattr(slices, "GAMES_EACH", 5)
    monkeypatch.setattr(stored, "resident", lambda: TAKEN)
    monkeypatch.setattr(stored, "SEGMENT", 1)  # of few games there are many


@pytest.mark.parametrize(
    ("model", "threads", "others"), [(ttt, 1, {}), (ttt, 2, NEWCOMERS), (ttt_d, 2, {}), (ttt_d, 1, NEWCOMERS)]
)
def test_slices_in_files_come_to_what_the_whole_comes_to(tmp_path, model, threads, others):
    timeline, params = history(5), model.Params(beta=300, **others)
    place = Storage(tmp_path, TAKEN + 10_000, threads)
    assert not place.holds(timeline)
    assert len(place.cuts(timeline)) > 3
    whole, apart = model.fit(timeline, params, EXACT), model.fit(timeline, params, EXACT, place=place)
    assert apart.status.converged
    for name, chain in whole.chains.items():
        assert apart.chains[name].mean == pytest.approx(chain.mean, abs=1e-7)
        assert apart.chains[name].sd == pytest.approx(chain.sd, abs=1e-7)
    assert apart.log_evidence == pytest.approx(whole.log_evidence, abs=1e-9)
    assert not list(tmp_path.iterdir())


def test_more_memory_makes_fewer_slices(tmp_path):
    timeline = history(5)
    few, many = (Storage(tmp_path, TAKEN + memory, 1).cuts(timeline) for memory in (20_000, 5_000))
    assert len(few) < len(many)
    assert Storage(tmp_path, 100 * TAKEN, 1).holds(timeline)


def test_levels_of_years_where_the_mean_of_newcomers_moves_count(tmp_path):
    timeline = history(5)
    plain, moves = (
        Storage(tmp_path, TAKEN + 20_000, 1, newcomers=moves)._whole(timeline) for moves in (False, True)
    )
    assert moves - plain == 40 * timeline.n_nodes


def test_what_is_held_of_crossing_players_counts(tmp_path, monkeypatch):
    timeline = history(5)
    cuts = np.array([0, 4, 9, len(timeline.periods)])
    inside = np.searchsorted(timeline.node_start[cuts[1:-1]], np.arange(timeline.n_nodes), side="right")
    played = {(int(player), int(piece)) for player, piece in zip(timeline.node_player, inside, strict=True)}
    often = Counter(player for player, _ in played)
    assert stored.segments(timeline, cuts) == sum(count for count in often.values() if count > 1) > 5
    assert len(Storage(tmp_path, TAKEN + 20_000, 1).cuts(timeline)) > 1
    monkeypatch.setattr(stored, "SEGMENT", 20_000)
    with pytest.raises(ConfigError, match="are too little"):
        Storage(tmp_path, TAKEN + 20_000, 2).cuts(timeline)


def test_too_little_memory_is_said(tmp_path):
    with pytest.raises(
        ConfigError,
        match=r"0\.001 GB are too little: with games and players the program takes 0\.001 GB already",
    ):
        Storage(tmp_path, TAKEN + 10, 1).cuts(history(5))


@pytest.mark.skipif(not hasattr(os, "posix_fallocate"), reason="room is not reserved here")
def test_a_full_disk_is_said_and_nothing_is_left(tmp_path, monkeypatch):
    """A mapped file without room would end the process later."""

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", full)
    with pytest.raises(SetupError, match=r"cannot be stored in .*No space left on device") as caught:
        ttt.fit(history(5), ttt.Params(), EXACT, place=Storage(tmp_path, TAKEN + 10_000, 1))
    assert "--scratch" in (caught.value.hint or "")
    assert not list(tmp_path.glob(".slices*"))


def test_nothing_is_left_of_a_fit_that_is_given_up(tmp_path):
    """The thread of a fit that is interrupted ends with the process."""
    timeline, params = history(5), ttt.Params(beta=300)
    place = Storage(tmp_path, TAKEN + 10_000, 1)
    left = []

    def end(*_: object) -> None:
        left.append(len(list(tmp_path.glob(".slices*"))))
        place.close()
        left.append(len(list(tmp_path.glob(".slices*"))))
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ttt.fit(timeline, params, EXACT, place=place, on_sweep=end)
    assert left == [1, 0]


@pytest.mark.skipif(not hasattr(mmap, "MADV_DONTNEED"), reason="memory is the system's affair here")
@pytest.mark.parametrize(("taken", "unloads"), [(TAKEN, False), (TAKEN + 9_000, True)])
def test_slices_are_unloaded_where_memory_is_short(tmp_path, monkeypatch, taken, unloads):
    unloaded = []

    class Watched(mmap.mmap):
        def madvise(self, option: int, *_: int) -> None:
            unloaded.append(option)

    timeline, params = history(5), ttt.Params(beta=300)
    place = Storage(tmp_path, TAKEN + 12_000, 1)
    cuts = place.cuts(timeline)
    monkeypatch.setattr(place, "cuts", lambda _: cuts)
    monkeypatch.setattr(stored, "resident", lambda: taken)
    monkeypatch.setattr(mmap, "mmap", Watched)
    ttt.fit(timeline, params, EXACT, place=place)
    assert bool(unloaded) == unloads
