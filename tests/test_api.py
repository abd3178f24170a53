import math
import os
import pickle
import re
import signal
import traceback
from dataclasses import fields
from pathlib import Path
from threading import Event, main_thread

import numpy as np
import pytest

import ttt_cli
from tests.support.handmade import RECORDS, games_of
from tests.support.recorder import Recorder
from ttt_cli import api
from ttt_cli.api import _Sweeps, configure, fit, open_run, read_games
from ttt_cli.inference.solver import OnSweep
from ttt_cli.support.errors import ConfigError, DataError, RunError
from ttt_cli.systems import registry, ttt

CSV = "1857,a,b,1-0\n1858,b,a,1/2-1/2\n"


def test_the_python_face_is_what_dir_shows() -> None:
    assert dir(ttt_cli) == [
        "__version__", "configure", "fit", "leaders", "open_run", "read_games", "top", "update",
    ]  # fmt: skip
    assert all(getattr(ttt_cli, name) is not None for name in dir(ttt_cli))
    assert ttt_cli.read_games is read_games
    assert ttt_cli.fit is fit
    assert ttt_cli.open_run is open_run
    with pytest.raises(AttributeError, match="nothing"):
        _ = ttt_cli.nothing


def test_everything_that_the_page_offers_is_there() -> None:
    """A module of the same name, `ttt_cli.update`, would take the place of the function."""
    page = (Path(__file__).parents[1] / "docs/api.md").read_text(encoding="utf-8")
    offered = re.findall(r"^::: ttt_cli\.api\.(\w+)$", page, re.MULTILINE)
    assert len(offered) > 6
    assert [getattr(ttt_cli, name) for name in offered] == [getattr(api, name) for name in offered]


def test_games_are_read_with_the_keys_of_the_data_section(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(CSV)
    games = read_games(tmp_path / "a.csv", header=False, columns=["date", "white", "black", "result"])
    assert games.players == ("a", "b")
    assert len(games) == 2
    with pytest.raises(ConfigError, match="headr"):
        read_games(tmp_path / "a.csv", headr=False)


def test_a_file_is_fitted_as_the_config_says(tmp_path: Path) -> None:
    place = tmp_path / "a.csv"
    place.write_text(CSV)
    (tmp_path / "a.yaml").write_text("data: {header: false, columns: [date, white, black, result]}\n")
    run = fit(place, tmp_path / "a.yaml", output=tmp_path / "a.ttt")
    assert run.meta.games == 2
    assert run.meta.log_evidence == fit(run.stored_games(), "ttt").meta.log_evidence


def test_notebooks_show_games_and_runs(tmp_path: Path) -> None:
    games = games_of(RECORDS)
    assert f"<td>{len(games):,}</td>" in games._repr_html_()
    run = fit(games, output=tmp_path / "<b>.ttt")
    shown = run._repr_html_()
    assert "<th>&lt;b&gt;.ttt</th>" in shown
    assert f"<td>{run.meta.log_evidence}</td>" in shown


def test_a_fit_in_memory_and_on_disk_are_the_same(tmp_path: Path) -> None:
    games = games_of(RECORDS)
    here = fit(games, beta=600, period="quarter", tol=1e-6)
    there = fit(games, beta=600, period="quarter", tol=1e-6, output=tmp_path / "a.ttt")
    assert here.path is None
    assert there.path == tmp_path / "a.ttt"
    assert here.skills().equals(there.skills())
    assert here.meta.config == there.meta.config
    assert here.meta.params["beta"] == 600
    assert here.meta.config["solver"]["tol"] == 1e-6
    assert here.meta.period == "quarter"
    assert here.meta.log_evidence == there.meta.log_evidence


def test_a_config_file_and_overrides_on_top(tmp_path: Path) -> None:
    (tmp_path / "c.yaml").write_text("model:\n  name: ttt\n  beta: 500\n  tau: 30\n")
    meta = fit(games_of(RECORDS), tmp_path / "c.yaml", beta=510).meta
    assert (meta.params["beta"], meta.params["tau"]) == (510, 30)
    meta = fit(games_of(RECORDS), model="trueskill").meta
    assert (meta.model, meta.kind) == ("trueskill", "filtered")
    with pytest.raises(TypeError, match="configure"):
        fit(games_of(RECORDS), configure(), beta=510)


def test_no_games_is_a_data_error() -> None:
    games = games_of(RECORDS)
    empty = {name: getattr(games, name)[:0] for name in (f.name for f in fields(games)[:9])}
    with pytest.raises(DataError):
        fit(type(games)(**empty, players=()))


def test_the_bar_moves_with_the_logarithm_of_the_error_and_never_back() -> None:
    bar = Recorder()
    sweeps = _Sweeps(bar, tol=0.01)
    for number, error in enumerate([math.inf, 1.0, 0.1, 0.5, math.nan, 0.009], start=1):
        sweeps(number, 2 * error, error)
    assert np.cumsum(bar.told).tolist() == pytest.approx([0, 0, 0.45, 0.45, 0.45, 0.9])
    assert min(bar.told) >= 0
    assert bar.notes[-1] == "sweep 6, change 0.018, error 0.009: converged; computing uncertainties"
    at_once = Recorder()
    _Sweeps(at_once, tol=0.01)(1, 0.0, 0.0)
    assert at_once.told == [0.9]


@pytest.mark.skipif(os.name != "posix", reason="needs the signals of POSIX")
def test_a_fit_that_was_interrupted_ends_at_its_next_sweep(monkeypatch: pytest.MonkeyPatch) -> None:
    left, ended = Event(), Event()

    def fit_for_ever(*_: object, on_sweep: OnSweep, **__: object) -> None:
        signal.pthread_kill(main_thread().ident or 0, signal.SIGINT)
        left.wait()
        with pytest.raises(KeyboardInterrupt):
            on_sweep(1, 1.0, 1.0)
        ended.set()

    monkeypatch.setattr(ttt, "fit", fit_for_ever)
    monkeypatch.setattr(registry, "LARGE", 0)
    with pytest.raises(KeyboardInterrupt):
        fit(games_of(RECORDS))
    left.set()
    assert ended.wait(60)


def test_a_traceback_ends_with_the_hint(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as raised:
        configure(beat=5)
    *_, said, hint = traceback.format_exception(raised.value)
    assert "beat" in said
    assert hint == f"hint: {raised.value.hint}\n"
    assert raised.value.hint
    with pytest.raises(RunError) as found:
        open_run(tmp_path / "none.ttt")
    again = pickle.loads(pickle.dumps(found.value))
    assert traceback.format_exception_only(again)[1:] == [f"hint: {found.value.hint}\n"]
