import io
import math
import os
import pickle
import re
import signal
import traceback
from dataclasses import fields
from pathlib import Path
from threading import Event, main_thread
from typing import Any

import numpy as np
import pandas as pd
import pytest

import ttt_cli
from tests.support.cases import each
from tests.support.handmade import RECORDS, games_of
from tests.support.recorder import Recorder
from ttt_cli import api
from ttt_cli.api import (
    configure,
    evidence,
    fit,
    open_run,
    player,
    plot,
    read_games,
    report,
    top,
    update,
    versus,
)
from ttt_cli.fitting import Sweeps
from ttt_cli.games.table import Games
from ttt_cli.inference.solver import OnSweep
from ttt_cli.support.errors import ConfigError, DataError, RunError
from ttt_cli.systems import registry, ttt

CSV = "1857,a,b,1-0\n1858,b,a,1/2-1/2\n"


def test_the_python_face_is_what_dir_shows() -> None:
    assert dir(ttt_cli) == [
        "__version__", "configure", "doubt", "event", "events", "evidence", "fit", "leaders", "open_run", "player",
        "plot", "read_games", "records", "report", "top", "tournament", "update", "versus", "why",
    ]  # fmt: skip
    assert all(getattr(ttt_cli, name) is not None for name in dir(ttt_cli))
    assert ttt_cli.read_games is read_games
    assert ttt_cli.fit is fit
    assert ttt_cli.open_run is open_run
    with pytest.raises(AttributeError, match="nothing"):
        _ = ttt_cli.nothing


def test_everything_that_the_page_offers_is_there() -> None:
    """A module of the same name, `ttt_cli.update`, would take the place of the function."""
    page = (Path(__file__).parents[1] / "docs/reference.md").read_text(encoding="utf-8")
    offered = re.findall(r"^::: ttt_cli\.api\.(\w+)$", page, re.MULTILINE)
    assert len(offered) > 6
    assert [getattr(ttt_cli, name) for name in offered] == [getattr(api, name) for name in offered]


def test_the_page_can_be_read_in_the_repository_and_has_every_function() -> None:
    page = (Path(__file__).parents[1] / "docs/api.md").read_text(encoding="utf-8")
    assert "\n:::" not in page
    named = set(re.findall(r"^\| `(\w+)\(", page, re.MULTILINE))
    assert named == {name for name in dir(ttt_cli) if name != "__version__"}


FRAME = pd.DataFrame(
    {
        "Date": [1857, 1858, None, 1859, 1860, 1861],
        "White": ["a", "b", "a", "c", "a", "b"],
        "Black": ["b", "a", "b", "c", "c", "c"],
        "Result": ["1-0", "1/2-1/2", "1-0", "0-1", "quickly", "0-1"],
    }
)


def account(games: Games) -> tuple[object, ...]:
    """What became of the records, by their numbers in the table."""
    report = games.report
    problems = [(problem.line, problem.reason, problem.action) for problem in report.problems]
    return report.rows, report.used, report.dropped, problems


def test_a_frame_is_read_as_the_file_with_its_columns(tmp_path: Path) -> None:
    FRAME.to_parquet(tmp_path / "a.parquet")
    from_file = read_games(tmp_path / "a.parquet")
    games = read_games(FRAME)
    assert account(games) == account(from_file)
    assert games.report.dropped == {"no date": 1, "same player twice": 1, "unknown result": 1}
    assert games.report.problems[0].place == "<DataFrame>:3"
    for column in ("date", "white", "black", "outcome"):
        assert np.array_equal(getattr(games, column), getattr(from_file, column)), column
    run = fit(FRAME, model="elo")
    assert run.skills().equals(fit(from_file, model="elo").skills())
    new = pd.DataFrame({"date": ["1862"], "white": ["a"], "black": ["b"], "result": ["0-1"]})
    assert update(run, new).meta.games == run.meta.games + 1


@each(
    "frame",
    [
        FRAME.set_index("Date"),
        FRAME.assign(Date=pd.PeriodIndex(["1857", "1858", None, "1859", "1860", "1861"], freq="Y")),
        FRAME.assign(
            Date=pd.to_datetime(["1857", "1858", None, "1859", "1860", "1861"], format="%Y")
        ),
        FRAME.assign(White=FRAME.White.astype("category"), note=None),
        FRAME.assign(Result=pd.Series(["1-0", 0.5, "1-0", 0, "quickly", 0], dtype=object)),
    ],
)
def test_frames_may_have_columns_of_any_type(frame: pd.DataFrame) -> None:
    games = read_games(frame)
    assert account(games)[:2] == (6, 3)
    assert games.players == read_games(FRAME).players


@each(
    "source, named, hint",
    [
        (["a.csv", "b.csv"], "list", "read_games"),
        ([("1858", "a", "b", "1-0")], "list", "DataFrame"),
        ({"date": [1858]}, "dict", "DataFrame"),
        (7, "int", "DataFrame"),
        (io.StringIO(CSV), "StringIO", "rb"),
    ],
)
def test_what_is_no_file_and_no_frame_is_refused_with_a_hint(
    source: Any, named: str, hint: str
) -> None:
    for read in (read_games, fit):
        with pytest.raises(DataError, match=f"not {named}") as raised:
            read(source)
        assert hint in (raised.value.hint or "")


def test_two_columns_of_a_frame_with_one_name_are_refused() -> None:
    twice = pd.concat([FRAME, FRAME[["White"]]], axis=1)
    with pytest.raises(DataError, match="two columns are named White"):
        read_games(twice)


def test_evidence_has_grids_and_scores(tmp_path: Path) -> None:
    run = fit(games_of(RECORDS), "ttt", output=tmp_path / "a.ttt")
    grid = evidence(run, grid="beta=400:600:2,tau=40:60:2", settings=["model.prior_sd=300"], jobs=1)
    assert list(grid.columns[:2]) == ["beta", "tau"]
    assert grid.best.sum() == 1
    assert set(grid.prior_sd) == {300.0}
    single = fit(games_of(RECORDS), "ttt", beta=600, tau=40, prior_sd=300)
    (of_grid,) = grid.query("beta == 600 and tau == 40").log_evidence
    assert of_grid == pytest.approx(single.meta.log_evidence, abs=1e-6)
    scored = evidence(run, scores=True, since=int(run.meta.first), every=2)
    assert scored.loc[0, "prequential"] < 0.0
    assert (scored.loc[0, "every"], str(scored.loc[0, "from"])) == (2, run.meta.first)
    for options in ({"grid": "tau", "scores": True}, {"jobs": 2}, {"every": 2}):
        with pytest.raises(ConfigError, match="go"):
            evidence(run, **options)


def test_the_views_of_the_command_line_are_there_in_python(tmp_path: Path) -> None:
    run = fit(games_of(RECORDS), output=tmp_path / "a.ttt")
    last = int(run.meta.last)
    a, b = run.skills().query("period == @run.meta.last").player[:2]
    assert top(run, last, everyone=True).equals(top(run, str(last), everyone=True))
    duel = versus(run, a, b, at=last)
    assert duel.equals(versus(run, a, b, at=str(last)))
    assert duel.loc[0, ["win", "draw", "loss"]].sum() == pytest.approx(1)
    assert evidence(run).loc[0, "log_evidence"] == run.meta.log_evidence
    assert set(versus(run, a, b, each=True).ahead) <= {a, b}
    assert list(player(run, a).player.unique()) == [a]
    assert player(run, a, "games").opponent.notna().all()
    with pytest.raises(ConfigError, match="no table 'game' of a player"):
        player(run, a, "game")
    assert plot(run, a, output=tmp_path / "a.svg").read_text(encoding="utf-8").startswith("<svg")
    assert "<title>" in report(run, tmp_path / "a.html").read_text(encoding="utf-8")
    assert (
        report(run, tmp_path / "site", title="Masters").read_text(encoding="utf-8").count("Masters")
        > 0
    )


@pytest.mark.slow
def test_figures_and_sites_have_what_the_commands_have(tmp_path: Path) -> None:
    run = fit(games_of(RECORDS), output=tmp_path / "a.ttt")
    drawn = plot(run, "Anderssen", output=tmp_path / "two.svg", second_run=tmp_path / "a.ttt")
    assert "dotted: skill by a.ttt" in drawn.read_text(encoding="utf-8")
    skills = run.skills().head(6)
    ratings = skills.assign(rating=skills["mean"])[["player", "period", "rating"]]
    ratings.to_csv(tmp_path / "r.csv", index=False)
    drawn = plot(run, "Anderssen", output=tmp_path / "beside.svg", beside=tmp_path / "r.csv")
    assert "dotted: ratings of r" in drawn.read_text(encoding="utf-8")
    assert plot(run, output=tmp_path / "c.svg", kind="calibration", since=1860, every=2).exists()
    front = report(run, tmp_path / "site", pages=1, beside=tmp_path / "r.csv")
    assert len([*(front.parent / "players").iterdir()]) == 1
    assert "Published ratings" in front.read_text(encoding="utf-8")


@each(
    "names, settings, message, hint",
    [
        (["a"], {"output": "a.bmp"}, "figures are png", "skills.svg"),
        ([], {"output": "a.svg", "kind": "leders"}, "leders", "leaders"),
        (["a"], {"output": "a.svg", "kind": "games"}, "no names", "leave"),
        (["a"], {"output": "a.svg", "kind": "difference"}, "two players", "both"),
        ([], {"output": "a.svg", "kind": "games", "by": "dominance"}, "these options", "skills"),
        ([], {"output": "a.svg", "since": 1900}, "these options", "calibration"),
        ([], {"output": "a.svg", "beside": "r.csv", "second_run": "b.ttt"}, "only one", "others"),
    ],
)
def test_a_figure_that_there_is_not_is_refused(
    names: list[str], settings: dict[str, Any], message: str, hint: str
) -> None:
    with pytest.raises(ConfigError, match=message) as raised:
        plot("a.ttt", *names, **settings)
    assert hint in (raised.value.hint or "")


def test_games_are_read_with_the_keys_of_the_data_section(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(CSV)
    games = read_games(
        tmp_path / "a.csv", header=False, columns=["date", "white", "black", "result"]
    )
    assert games.players == ("a", "b")
    assert len(games) == 2
    with pytest.raises(ConfigError, match="headr"):
        read_games(tmp_path / "a.csv", headr=False)


def test_a_file_is_fitted_as_the_config_says(tmp_path: Path) -> None:
    place = tmp_path / "a.csv"
    place.write_text(CSV)
    (tmp_path / "a.yaml").write_text(
        "data: {header: false, columns: [date, white, black, result]}\n"
    )
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
    sweeps = Sweeps(bar, tol=0.01)
    for number, error in enumerate([math.inf, 1.0, 0.1, 0.5, math.nan, 0.009], start=1):
        sweeps(number, 2 * error, error)
    assert np.cumsum(bar.told).tolist() == pytest.approx([0, 0, 0.45, 0.45, 0.45, 0.9])
    assert min(bar.told) >= 0
    assert bar.notes[1] == "sweep 2: largest change 2 points, error about 1"
    assert bar.notes[0] == "sweep 1: largest change inf points"
    assert bar.notes[-1] == (
        "sweep 6: largest change 0.018 points, error about 0.009: converged; computing uncertainties"
    )
    at_once = Recorder()
    Sweeps(at_once, tol=0.01)(1, 0.0, 0.0)
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
