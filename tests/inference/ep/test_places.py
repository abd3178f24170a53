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
from ttt_cli.inference.ep import places, slices
from ttt_cli.inference.ep.places import Storage
from ttt_cli.inference.ep.start import keep_sites, kept_sites
from ttt_cli.kernels.ep.structures import Sites
from ttt_cli.support.errors import ConfigError, SetupError
from ttt_cli.systems import ttt, ttt_d

TAKEN = 1_000_000  # bytes that the process takes, as these tests have it

NEWCOMERS = {"growth": 300.0, "prior_mean_drift": 30.0}


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setattr(slices, "GAMES_EACH", 5)
    monkeypatch.setattr(places, "resident", lambda: TAKEN)
    monkeypatch.setattr(places, "SEGMENT", 1)  # of few games there are many


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
    assert places.segments(timeline, cuts) == sum(count for count in often.values() if count > 1) > 5
    assert len(Storage(tmp_path, TAKEN + 20_000, 1).cuts(timeline)) > 1
    monkeypatch.setattr(places, "SEGMENT", 20_000)
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
    monkeypatch.setattr(places, "resident", lambda: taken)
    monkeypatch.setattr(mmap, "mmap", Watched)
    ttt.fit(timeline, params, EXACT, place=place)
    assert bool(unloaded) == unloads


class Ended(Exception):
    """Ctrl-C, for instance."""


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


@pytest.mark.skipif(os.name != "posix", reason="modes and pipes of POSIX")
@pytest.mark.parametrize("name", ["message-0.npy", "cuts.npy"])
@pytest.mark.parametrize("how", ["mode", "link", "pipe", "pickle", "shape", "text"])
def test_kept_files_of_others_are_not_trusted(tmp_path, name, how):
    """Nothing is unpickled, and nothing waits."""
    timeline, params = history(5), ttt.Params(beta=300)
    with pytest.raises(Ended):
        fitted(tmp_path, timeline, params, end_after=1)
    (place,) = tmp_path.rglob(name)
    if how == "mode":
        place.chmod(0o620)
    elif how == "link":
        place.symlink_to(place.rename(tmp_path / "other"))
    elif how == "pipe":
        place.unlink()
        os.mkfifo(place, 0o600)
    elif how == "text":
        place.write_text("no array")
    else:
        with place.open("wb") as file:
            np.save(
                file, np.array([print], object) if how == "pickle" else np.zeros((3, 2)), allow_pickle=True
            )
    with pytest.raises(SetupError, match=r"is not trusted|was not written by a fit"):
        fitted(tmp_path, timeline, params)
