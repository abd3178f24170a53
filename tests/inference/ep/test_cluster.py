"""A fit over workers of Dask: the same as in one process, also when one is killed on the way."""

from __future__ import annotations

import gc
import os
import signal
from itertools import count

import dask
import pytest
from distributed import get_worker

from tests.support.builders import EXACT, make_games, random_rows
from ttt_cli import api
from ttt_cli.cluster import cluster_client
from ttt_cli.config.schema import SolverConfig
from ttt_cli.inference.ep import slices, through_time
from ttt_cli.inference.ep.cutting import Cutter
from ttt_cli.inference.ep.inference import SliceLost
from ttt_cli.inference.ep.places import Cluster
from ttt_cli.support.errors import ConfigError, SetupError
from ttt_cli.systems import ttt, ttt_d
from ttt_cli.timeline import build_timeline

pytestmark = pytest.mark.slow
PARAMS = ttt.Params(beta=300, tau=70, growth=310)


@pytest.fixture(scope="module")
def games():
    return make_games(random_rows(3, 150, 8, 12))


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """A few games are slices enough."""
    monkeypatch.setattr(slices, "GAMES_EACH", 5)


def agree(one, other):
    """Two fits of the same games are the same."""
    assert other.status.converged
    assert other.mean == pytest.approx(one.mean, abs=1e-6)
    assert other.sd == pytest.approx(one.sd, abs=1e-6)
    assert other.log_evidence == pytest.approx(one.log_evidence, abs=1e-7)
    assert other.leave_one_out == pytest.approx(one.leave_one_out, abs=1e-6)
    assert (other.newcomers is None) == (one.newcomers is None)
    if one.newcomers:
        assert other.newcomers.mean == pytest.approx(one.newcomers.mean, abs=1e-6)
        assert other.newcomers.sd == pytest.approx(one.newcomers.sd, abs=1e-6)


@pytest.mark.parametrize(
    ("model", "moving"), [(ttt, {}), (ttt_d, {"prior_mean_drift": 30.0, "draw_margin_strength": 0.2})]
)
def test_two_workers_come_to_what_one_process_comes_to(client, games, model, moving):
    timeline, params = build_timeline(games), model.Params(beta=300, tau=70, growth=310, **moving)
    over = model.fit(timeline, params, EXACT, place=Cluster(client))
    agree(model.fit(timeline, params, EXACT), over)
    assert over.posterior == "factorised"
    assert "2 slices of time" in over.notes[-1]
    again = model.fit(timeline, params, EXACT, place=Cluster(client), start=over)
    agree(over, again)


def test_workers_hold_nothing_after_a_fit(client, games):
    gc.disable()
    try:
        ttt.fit(build_timeline(games), PARAMS, EXACT, place=Cluster(client))
    finally:
        gc.enable()
    held = client.submit(actors_held, pure=False)  # which comes after what was let go
    assert held.result() == 0


def actors_held() -> int:
    """Of the worker that is asked."""
    return len(get_worker().state.actors)


def test_an_estimated_advantage_is_that_of_one_process_and_slices_are_cut_once(client, games, monkeypatch):
    timeline, cut = build_timeline(games), []
    monkeypatch.setattr(
        through_time, "Cutter", lambda *args, **rest: cut.append(Cutter(*args, **rest)) or cut[-1]
    )
    moves = {"white_advantage": "estimate", "draw_margin_drift": 0.2, "prior_mean_drift": 30.0}
    params = PARAMS.model_copy(update=moves)
    over, whole = (ttt.fit(timeline, params, EXACT, place=where) for where in (Cluster(client), None))
    found = over.params["white_advantage"]
    assert found == pytest.approx(whole.params["white_advantage"], abs=1e-3 * PARAMS.beta)
    agree(ttt.fit(timeline, params.model_copy(update={"white_advantage": found}), EXACT), over)
    assert len(cut) == 1


@pytest.mark.skipif(os.name != "posix", reason="needs the signals of POSIX")
@pytest.mark.parametrize(
    "moving",
    [
        {"draw_margin_drift": 0.2, "draw_margin_strength": 0.2},
        pytest.param({}, marks=pytest.mark.large),
        pytest.param({"prior_mean_drift": 30.0}, marks=pytest.mark.large),
    ],
)
def test_a_worker_that_is_killed_costs_a_sweep(client, games, tmp_path, moving):
    timeline, sweeps, params = build_timeline(games), count(), PARAMS.model_copy(update=moving)
    whole = ttt.fit(timeline, params, EXACT, place=Cluster(client, tmp_path))
    agree(ttt.fit(timeline, params, EXACT), whole)

    def kill(*_: object) -> None:
        if next(sweeps) == 2:
            os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)

    over = ttt.fit(timeline, params, EXACT, place=Cluster(client, tmp_path), on_sweep=kill)
    agree(whole, over)
    assert 3 < next(sweeps) <= whole.status.sweeps + 2
    assert not list(tmp_path.iterdir())


def test_where_everything_is_lost_it_is_said(client, games, monkeypatch):
    def lost(*_: object) -> None:
        raise SliceLost("all workers of the cluster are lost")

    monkeypatch.setattr("ttt_cli.inference.ep.places.Cluster.ask", lost)
    with pytest.raises(SliceLost, match="are lost"):
        ttt.fit(build_timeline(games), PARAMS, EXACT, place=Cluster(client))


@pytest.mark.skipif(os.name != "posix", reason="needs the signals of POSIX")
def test_a_lost_scheduler_is_said(games, monkeypatch):
    monkeypatch.setattr("ttt_cli.cluster.CONNECTED", 10)
    soon = dask.config.set({"distributed.comm.timeouts.connect": "1s"})
    with soon, cluster_client("local:1") as client:
        scheduler = client.run_on_scheduler(os.getpid)

        def kill(sweep: int, *_: object) -> None:
            if sweep == 2:
                os.kill(scheduler, signal.SIGKILL)

        with pytest.raises(SetupError, match="the scheduler of the cluster is lost") as caught:
            ttt.fit(build_timeline(games), PARAMS, EXACT, place=Cluster(client), on_sweep=kill)
    assert "--scratch" in (caught.value.hint or "")


def test_a_joint_posterior_is_refused(games):
    with pytest.raises(ConfigError, match="joint posterior is not fitted over a cluster yet"):
        ttt.fit(build_timeline(games), PARAMS, SolverConfig(posterior="joint"), place=Cluster(None))


def test_other_systems_are_refused(games):
    with pytest.raises(ConfigError, match="elo is not fitted over a cluster yet"):
        api.fit(games, model="elo", cluster="local:2")


def test_workers_that_are_lost_while_a_slice_is_sent_are_waited_for(client, games, monkeypatch):
    """The scheduler may know one no more that it has just named, or none at all."""
    real, named = client.scheduler_info, iter([{}, {"tcp://127.0.0.1:9": {}}])

    def info(**how):
        found = real(**how)
        return {**found, "workers": next(named, found["workers"])}

    over = Cluster(client)
    cuts = over.cuts(build_timeline(games))
    monkeypatch.setattr(client, "scheduler_info", info)
    monkeypatch.setattr(over, "cuts", lambda _: cuts)
    agree(
        ttt.fit(build_timeline(games), PARAMS, EXACT),
        ttt.fit(build_timeline(games), PARAMS, EXACT, place=over),
    )
