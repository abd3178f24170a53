"""Slices in files or on workers of Dask: the same fit, also when a worker is killed; clear errors without room."""

from __future__ import annotations

import errno
import gc
import mmap
import os
import signal
from collections import Counter
from itertools import count

import numpy as np
import pytest

from tests.support.apart import agree, history
from tests.support.builders import EXACT, make_games
from ttt_cli import api
from ttt_cli.config.schema import SolverConfig
from ttt_cli.inference.ep import parts, slices_in_files, through_time
from ttt_cli.inference.ep.cutting import Cutter
from ttt_cli.inference.ep.slices_in_files import FilesPlacement
from ttt_cli.inference.ep.slices_on_cluster import Cluster, SlicesOnCluster
from ttt_cli.inference.ep.start import load_sites, save_sites
from ttt_cli.inference.ep.transport import SliceLost
from ttt_cli.kernels.ep.structures import Sites
from ttt_cli.parallel.cluster import cluster_client
from ttt_cli.support.errors import ConfigError, SetupError
from ttt_cli.systems import ttt, ttt_d

TAKEN = 1_000_000  # bytes that the process takes, as these tests have it
PARAMS = ttt.Params(beta=300, tau=70)
NEWCOMERS = {"growth": 300.0, "prior_mean_drift": 30.0, "draw_margin_strength": 0.2}
needs_signals = pytest.mark.skipif(os.name != "posix", reason="needs the signals of POSIX")


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """A few games are slices enough, and of few games many players cross borders."""
    monkeypatch.setattr(parts, "GAMES_EACH", 5)
    monkeypatch.setattr(slices_in_files, "resident", lambda: TAKEN)
    monkeypatch.setattr(slices_in_files, "SEGMENT", 1)


@pytest.fixture(scope="module")
def timeline():
    return history(5)


@pytest.fixture
def over(request):
    """The cluster."""
    return Cluster(request.getfixturevalue("client"))


@pytest.mark.parametrize(
    ("model", "threads", "others"),
    [
        (ttt, 1, {}),
        (ttt, 2, NEWCOMERS),
        (ttt_d, 2, {}),
        (ttt_d, 1, NEWCOMERS),
        pytest.param(ttt, None, {}, marks=pytest.mark.large),
        pytest.param(ttt_d, None, NEWCOMERS, marks=pytest.mark.large),
    ],
)
def test_slices_in_files_and_on_workers_come_to_what_the_whole_comes_to(
    tmp_path, request, timeline, model, threads, others
):
    params = model.Params(beta=300, tau=70, **others)
    if threads:
        placement = FilesPlacement(tmp_path, TAKEN + 10_000, threads)
        assert not placement.fits_in_memory(timeline)
        assert len(placement.cuts(timeline)) > 3
    else:
        placement = request.getfixturevalue("over")
        assert len(placement.cuts(timeline)) == 3
    whole, apart = (
        model.fit(timeline, params, EXACT),
        model.fit(timeline, params, EXACT, placement=placement),
    )
    agree(whole, apart)
    assert apart.posterior == "factorised"
    assert f"slices of time {placement.name}" in apart.notes[-1]
    agree(whole, model.fit(timeline, params, EXACT, placement=placement, start=apart))
    assert not list(tmp_path.iterdir())


def test_there_are_no_borders_before_all_slices_have_been_made(timeline):
    pieces = Cutter(timeline, np.array([0, 5, 14]), [PARAMS.skill_prior(timeline)], colours=False)
    with pytest.raises(ValueError, match="once all slices have been made"):
        _ = pieces.borders
    assert len(list(pieces)) == len(pieces.borders.start) - 1


@pytest.mark.slow
def test_workers_hold_nothing_after_a_fit(client, over, timeline):
    gc.disable()
    try:
        ttt.fit(timeline, PARAMS, EXACT, placement=over)
    finally:
        gc.enable()
    held = client.submit(actors_held, pure=False)  # which comes after what was let go
    assert held.result() == 0


def actors_held() -> int:
    """Of the worker that is asked."""
    from distributed import get_worker

    return len(get_worker().state.actors)


@pytest.mark.slow
@pytest.mark.large
def test_an_estimated_advantage_is_that_of_one_process_and_slices_are_cut_once(
    over, timeline, monkeypatch
):
    cut, moves = [], {"white_advantage": "estimate", "draw_margin_drift": 0.2, **NEWCOMERS}
    monkeypatch.setattr(
        through_time, "Cutter", lambda *args, **rest: cut.append(Cutter(*args, **rest)) or cut[-1]
    )
    params = PARAMS.model_copy(update=moves)
    apart, whole = (ttt.fit(timeline, params, EXACT, placement=where) for where in (over, None))
    found = apart.params["white_advantage"]
    assert found == pytest.approx(whole.params["white_advantage"], abs=1e-3 * PARAMS.beta)
    agree(ttt.fit(timeline, params.model_copy(update={"white_advantage": found}), EXACT), apart)
    assert len(cut) == 1


@pytest.mark.slow
@needs_signals
@pytest.mark.parametrize(
    "moving",
    [
        pytest.param(
            {"draw_margin_drift": 0.2, "draw_margin_strength": 0.2}, marks=pytest.mark.large
        ),
        {},
        pytest.param(NEWCOMERS, marks=pytest.mark.large),
    ],
)
def test_a_worker_that_is_killed_costs_a_sweep(client, timeline, tmp_path, moving):
    sweeps, params = count(), PARAMS.model_copy(update=moving)
    whole = ttt.fit(timeline, params, EXACT, placement=Cluster(client, tmp_path))
    agree(ttt.fit(timeline, params, EXACT), whole)

    def kill(*_: object) -> None:
        if next(sweeps) == 2:
            os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)

    agree(
        whole, ttt.fit(timeline, params, EXACT, placement=Cluster(client, tmp_path), on_sweep=kill)
    )
    assert 3 < next(sweeps) <= whole.status.sweeps + 2
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_where_everything_is_lost_it_is_said(over, timeline, monkeypatch):
    def lost(*_: object) -> None:
        raise SliceLost("all workers of the cluster are lost")

    monkeypatch.setattr(SlicesOnCluster, "run", lost)
    with pytest.raises(SliceLost, match="are lost"):
        ttt.fit(timeline, PARAMS, EXACT, placement=over)


@pytest.mark.slow
@needs_signals
def test_a_lost_scheduler_is_said(timeline, monkeypatch):
    monkeypatch.setattr("ttt_cli.parallel.cluster.CONNECTED", 10)
    import dask
    import distributed  # noqa: F401 - sets its own defaults, which the end of the block below would take away

    soon = dask.config.set({"distributed.comm.timeouts.connect": "1s"})
    with soon, cluster_client("local:1") as client:
        scheduler = client.run_on_scheduler(os.getpid)

        def kill(sweep: int, *_: object) -> None:
            if sweep == 2:
                os.kill(scheduler, signal.SIGKILL)

        with pytest.raises(SetupError, match="the scheduler of the cluster is lost") as caught:
            ttt.fit(timeline, PARAMS, EXACT, placement=Cluster(client), on_sweep=kill)
    assert "--scratch" in (caught.value.hint or "")


def test_a_joint_posterior_and_other_systems_are_refused(timeline):
    with pytest.raises(ConfigError, match="joint posterior is not fitted over a cluster yet"):
        ttt.fit(timeline, PARAMS, SolverConfig(posterior="joint"), placement=Cluster(None))
    with pytest.raises(ConfigError, match="elo is not fitted over a cluster yet"):
        api.fit(make_games([(1900, "a", "b", 1)]), model="elo", cluster="local:2")


@pytest.mark.slow
def test_workers_that_are_lost_while_a_slice_is_sent_are_waited_for(
    client, over, timeline, monkeypatch
):
    """The scheduler may know one no more that it has just named, or none at all."""
    real, named, cuts = (
        client.scheduler_info,
        iter([{}, {"tcp://127.0.0.1:9": {}}]),
        over.cuts(timeline),
    )

    def info(**how):
        found = real(**how)
        return {**found, "workers": next(named, found["workers"])}

    monkeypatch.setattr(client, "scheduler_info", info)
    monkeypatch.setattr(over, "cuts", lambda _: cuts)
    agree(ttt.fit(timeline, PARAMS, EXACT), ttt.fit(timeline, PARAMS, EXACT, placement=over))


def test_memory_decides_how_many_slices_there_are(tmp_path, timeline, monkeypatch):
    def cuts(memory: int, **more: object) -> int:
        return len(FilesPlacement(tmp_path, TAKEN + memory, 1, **more).cuts(timeline))

    assert 2 < cuts(20_000) < cuts(5_000)
    assert cuts(6_000) < cuts(6_000, newcomers=True)  # levels of years take some, too
    assert FilesPlacement(tmp_path, 100 * TAKEN, 1).fits_in_memory(timeline)
    with pytest.raises(ConfigError, match=r"0\.001 GB are too little: .* takes 0\.001 GB already"):
        cuts(10)
    monkeypatch.setattr(slices_in_files, "SEGMENT", 20_000)
    with pytest.raises(ConfigError, match="are too little"):
        cuts(20_000)


def test_players_who_cross_borders_are_counted(timeline):
    cuts = np.array([0, 4, 9, len(timeline.periods)])
    inside = np.searchsorted(
        timeline.node_start[cuts[1:-1]], np.arange(timeline.n_nodes), side="right"
    )
    played = {
        (int(player), int(piece))
        for player, piece in zip(timeline.node_player, inside, strict=True)
    }
    often = Counter(player for player, _ in played)
    assert (
        slices_in_files.count_segments(timeline, cuts)
        == sum(count for count in often.values() if count > 1)
        > 5
    )


def full(*_: object) -> None:
    """What a full disk does."""
    raise OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.skipif(not hasattr(os, "posix_fallocate"), reason="room is not reserved here")
def test_a_full_disk_is_said_and_nothing_is_left(tmp_path, timeline, monkeypatch):
    """A mapped file without room would end the process later."""

    monkeypatch.setattr(os, "posix_fallocate", full)
    with pytest.raises(
        SetupError, match=r"cannot be stored in .*No space left on device"
    ) as caught:
        ttt.fit(timeline, PARAMS, EXACT, placement=FilesPlacement(tmp_path, TAKEN + 10_000, 1))
    assert "--scratch" in (caught.value.hint or "")
    assert not list(tmp_path.glob(".slices*"))


def test_nothing_is_left_of_a_fit_that_is_given_up(tmp_path, timeline):
    """The thread of a fit that is interrupted ends with the process."""
    storage = FilesPlacement(tmp_path, TAKEN + 10_000, 1)
    left = []

    def end(*_: object) -> None:
        left.append(len(list(tmp_path.glob(".slices*"))))
        storage.close()
        left.append(len(list(tmp_path.glob(".slices*"))))
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ttt.fit(timeline, PARAMS, EXACT, placement=storage, on_sweep=end)
    assert left == [2, 0]  # the folder, and its lock beside it


@pytest.mark.skipif(not hasattr(mmap, "MADV_DONTNEED"), reason="memory is the system's affair here")
@pytest.mark.parametrize(("taken", "unloads"), [(TAKEN, False), (TAKEN + 9_000, True)])
def test_slices_are_unloaded_where_memory_is_short(tmp_path, timeline, monkeypatch, taken, unloads):
    unloaded = []

    class Watched(mmap.mmap):
        def madvise(self, option: int, *_: int) -> None:
            unloaded.append(option)

    storage = FilesPlacement(tmp_path, TAKEN + 12_000, 1)
    cuts = storage.cuts(timeline)
    monkeypatch.setattr(storage, "cuts", lambda _: cuts)
    monkeypatch.setattr(slices_in_files, "resident", lambda: taken)
    monkeypatch.setattr(mmap, "mmap", Watched)
    ttt.fit(timeline, PARAMS, EXACT, placement=storage)
    assert bool(unloaded) == unloads


class Ended(Exception):
    """Ctrl-C, for instance."""


def fitted(scratch, timeline, params=PARAMS, memory=10_000, end_after=None):
    """A fit, ended after so many sweeps; (fit, changes)."""
    changes = []

    def on_sweep(sweep: int, change: float, _: float) -> None:
        changes.append(change)
        if sweep == end_after:
            raise Ended

    storage = FilesPlacement(scratch, TAKEN + memory, 1)
    return ttt.fit(timeline, params, EXACT, placement=storage, on_sweep=on_sweep), changes


def ended(scratch, timeline, after=1):
    """The folder that keeps the sites of a fit ended after so many sweeps."""
    with pytest.raises(Ended):
        fitted(scratch, timeline, end_after=after)
    (found,) = scratch.glob("ttt-fit-*")
    return found


@pytest.mark.parametrize("memory", [10_000, 40_000])
def test_an_ended_fit_goes_on(tmp_path, timeline, memory):
    whole, changes = fitted(tmp_path, timeline)
    folder = ended(tmp_path, timeline, 3)
    assert len(list(folder.glob("message-*.npy"))) == len(np.load(folder / "cuts.npy")) - 1
    again, further = fitted(tmp_path, timeline, memory=memory)
    assert further[0] < changes[1]
    agree(whole, again)
    assert not list(tmp_path.iterdir())


def test_other_games_and_parameters_begin_anew(tmp_path, timeline):
    ended(tmp_path, timeline, 3)
    for other in (
        (history(6), PARAMS),
        (timeline, ttt.Params(beta=301, tau=70)),
        (timeline, ttt.Params(beta=300, tau=50)),
        (timeline, ttt.Params(beta=300, tau=70, white_advantage=150)),
    ):
        fresh, _ = fitted(tmp_path / "other", *other)
        found, changes = fitted(tmp_path, *other)
        assert found.log_evidence == fresh.log_evidence
        assert changes[0] > 1.0
    assert len(list(tmp_path.glob("ttt-fit-*"))) == 1


def test_a_slice_that_was_given_up_but_lives_spoils_nothing(tmp_path, monkeypatch):
    """It is half way in keeping its sites when the one that took its place keeps others."""
    old, new, found = (
        Sites(np.full((5, 4), value), np.zeros((5, 2)), np.zeros((0, 2)))
        for value in (1.0, 2.0, 0.0)
    )
    save = np.save

    def slow(file, values):
        monkeypatch.setattr(np, "save", save)
        save_sites(tmp_path, 0, new)
        save(file, values)

    monkeypatch.setattr(np, "save", slow)
    save_sites(tmp_path, 0, old)
    assert load_sites(tmp_path, 0, found)
    assert set(np.unique(found.message)) < {1.0, 2.0}
    assert len(list(tmp_path.iterdir())) == 2


def test_sites_that_cannot_be_kept_are_an_error(tmp_path, timeline, monkeypatch):
    ended(tmp_path, timeline)
    monkeypatch.setattr(np, "save", full)
    with pytest.raises(
        SetupError, match=r"message-0\.npy cannot be written: No space left on device"
    ):
        fitted(tmp_path, timeline)
    assert not list(tmp_path.rglob("*.part"))


@pytest.mark.skipif(os.name != "posix", reason="modes and pipes of POSIX")
@pytest.mark.parametrize("name", ["message-0.npy", "cuts.npy"])
@pytest.mark.parametrize("how", ["mode", "link", "pipe", "pickle", "shape", "text"])
def test_kept_files_of_others_are_not_trusted(tmp_path, timeline, name, how):
    """Nothing is unpickled, and nothing waits."""
    path = ended(tmp_path, timeline) / name
    if how == "mode":
        path.chmod(0o620)
    elif how == "link":
        path.symlink_to(path.rename(tmp_path / "other"))
    elif how == "pipe":
        path.unlink()
        os.mkfifo(path, 0o600)
    elif how == "text":
        path.write_text("no array")
    else:
        values = np.array([print], object) if how == "pickle" else np.zeros((3, 2))
        with path.open("wb") as file:
            np.save(file, values, allow_pickle=True)
    with pytest.raises(SetupError, match=r"is not trusted|was not written by a fit"):
        fitted(tmp_path, timeline)
