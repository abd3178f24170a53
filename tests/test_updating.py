"""Games added to a run: the same as a fresh fit of all, whole or not at all."""

from __future__ import annotations

import csv
import hashlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from tests.support.cases import each
from tests.support.handmade import CONFIG, RECORDS, fit_of, games_of, write_small_run
from tests.support.handmade import run_of as small_run_of
from ttt_cli.api import configure, fit, open_run, read_games, update
from ttt_cli.cli import main
from ttt_cli.config.schema import DataConfig
from ttt_cli.fitted import Fit
from ttt_cli.games.extend import Extended
from ttt_cli.runs.run import Run
from ttt_cli.runs.write import memory_run
from ttt_cli.support.errors import ConfigError, DataError, RunError
from ttt_cli.systems import registry
from ttt_cli.systems.resolve import Resolved
from ttt_cli.timeline import Timeline, build_timeline
from ttt_cli.updating import start_from, update_config

pytestmark = pytest.mark.slow

NAMES = (
    "Anderssen, Adolf",
    "Kolisch, Ignatz",
    "Löwenthal, Johann",
    "Morphy, Paul",
    "Paulsen, Louis",
)
RESULTS = ("1-0", "0-1", "1/2-1/2")
SAME = {"abs": 1e-5}
ALIKE = {
    "trueskill",
    "glicko",
    "elo-historical",
    "spinrad",
    "naive",
}  # updated as another system is


def write(
    path: Path, years: Sequence[int], names: Sequence[str], *, games: int = 40, seed: int = 0
) -> Path:
    rng = np.random.default_rng(seed)
    with path.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["date", "white", "black", "result"])
        for _ in range(games):
            white, black = rng.choice(len(names), 2, replace=False)
            date = f"{rng.choice(years)}.{rng.integers(1, 13):02d}.{rng.integers(1, 29):02d}"
            rows.writerow([date, names[white], names[black], RESULTS[rng.integers(3)]])
    return path


@pytest.fixture
def old(tmp_path: Path) -> Path:
    return write(tmp_path / "old.csv", range(1850, 1860), NAMES)


@pytest.fixture
def new(tmp_path: Path) -> Path:
    names = ("LOWENTHAL, Johann", "Paul Morphy", "Steinitz, William", "Paulsen, Louis")
    return write(tmp_path / "new.csv", range(1855, 1864), names, games=15, seed=1)


def fine(model: str) -> Resolved:
    return configure(overrides=[f"model.name={model}", "solver.tol=1e-7"])


def assert_same(one: Run, other: Run) -> None:
    """The same games, players and, within the tolerance, skills."""
    assert one.games().equals(other.games())
    assert one.meta.params.keys() == other.meta.params.keys()
    assert one.meta.config == other.meta.config
    for mine, theirs in ((one.skills(), other.skills()), (one.players(), other.players())):
        numbers = mine.select_dtypes("number").columns
        assert mine.drop(columns=numbers).equals(theirs.drop(columns=numbers))
        for name in numbers:
            assert mine[name].to_numpy() == pytest.approx(
                theirs[name].to_numpy(), nan_ok=True, **SAME
            )
    for key in ("log_evidence", "leave_one_out"):
        assert getattr(one.meta, key) == pytest.approx(
            getattr(other.meta, key), nan_ok=True, **SAME
        )
    for table in ("inputs", "dropped", "noticed", "problems"):
        assert one.select(f"FROM {table}")[1] == other.select(f"FROM {table}")[1]


@pytest.mark.parametrize(
    "model",
    [pytest.param(name, marks=[pytest.mark.large] * (name in ALIKE)) for name in registry.MODULES],
)
def test_an_update_and_a_started_fit_are_a_fresh_fit_of_all_games(
    model: str, old: Path, new: Path
) -> None:
    resolved, games = fine(model), read_games(old, new)
    run, fresh = fit(read_games(old), resolved), fit(games, resolved)
    updated = update(run, new)
    assert_same(updated, fresh)
    assert len(updated.players()) == 6
    assert updated.path is None
    assert_same(fit(games, resolved, start=run), fresh)


def test_a_run_of_another_system_and_period_is_a_start_too(old: Path, new: Path) -> None:
    elo = fit(read_games(old), model="elo", period="month")
    assert_same(fit(read_games(new), fine("ttt-d"), start=elo), fit(read_games(new), fine("ttt-d")))


def test_updates_follow_each_other(tmp_path: Path, old: Path, new: Path) -> None:
    third = write(
        tmp_path / "third.csv", [1870], ["Steinitz, William", "Zukertort, Johannes"], games=3
    )
    place = tmp_path / "a.ttt"
    fit(read_games(old), fine("ttt"), output=place)
    update(place, new)
    run = update(place, third)
    assert run.path == place
    assert_same(run, fit(read_games(old, new, third), fine("ttt")))
    assert run.meta.last == "1870"


def test_settings_on_top_are_those_of_the_new_run(tmp_path: Path, old: Path, new: Path) -> None:
    overrides = ["model.beta=300", "solver.tol=1e-7", "data.period=quarter"]
    run = update(fit(read_games(old)), new, overrides=overrides)
    assert_same(run, fit(read_games(old, new), configure(overrides=overrides)))


@pytest.mark.parametrize("model", ["ttt", "ttt-d"])
@pytest.mark.parametrize("posterior", ["factorised", "joint"])
def test_careers_and_margins_that_move_are_updated_too(
    model: str, posterior: str, old: Path, new: Path
) -> None:
    """The new games change the levels of years, and so the margins of old ones."""
    moving = (
        "growth=200",
        "prior_mean_drift=20",
        "draw_margin_drift=0.2",
        "draw_margin_strength=0.3",
    )
    given = [f"model.name={model}", "solver.tol=1e-7", f"solver.posterior={posterior}"]
    resolved = configure(overrides=[*given, *(f"model.{one}" for one in moving)])
    updated, fresh = (
        update(fit(read_games(old), resolved), new),
        fit(read_games(old, new), resolved),
    )
    assert_same(updated, fresh)
    for curve in ("draws", "newcomers", "career"):
        found, expected = (getattr(run, curve)().to_numpy() for run in (updated, fresh))
        assert found == pytest.approx(expected, **SAME)


@each("override", ["model.name=elo", "model=elo", "data.names=clean", "data.filter={}", "data={}"])
def test_what_the_old_games_depend_on_cannot_change(override: str) -> None:
    with pytest.raises(ConfigError, match="cannot change") as caught:
        update_config(small_run_of(games_of(RECORDS)), [override])
    assert caught.value.where == f"-s {override}"


@pytest.mark.parametrize("key", ["min_games=2", "largest_group=true"])
def test_filters_of_all_games_together_are_refused(key: str, old: Path, new: Path) -> None:
    run = fit(read_games(old), configure(overrides=[f"data.filter.{key}"]))
    with pytest.raises(ConfigError, match=f"data.filter.{key.partition('=')[0]}"):
        update(run, new)


def test_a_file_that_was_read_is_refused_unless_asked_for_again(
    tmp_path: Path, old: Path, new: Path
) -> None:
    run = fit(read_games(old, new))
    copy = tmp_path / "copy.csv"
    copy.write_bytes(new.read_bytes())
    with pytest.raises(DataError, match=f"is in memory already, as {new}") as caught:
        update(run, copy)
    assert caught.value.where == str(copy)
    assert "--again" in (caught.value.hint or "")
    assert update(run, copy, again=True).meta.games == 70


def test_repeats_are_counted_or_left_out(tmp_path: Path, old: Path, new: Path) -> None:
    both = tmp_path / "both.csv"
    both.write_bytes(old.read_bytes() + new.read_bytes().partition(b"\n")[2])
    found: list[tuple[Extended, DataConfig]] = []
    run = fit(read_games(old))
    kept = update(run, both, on_read=lambda *what: found.append(what))
    once = update(
        run, both, overrides=["data.filter.dedupe=true"], on_read=lambda *what: found.append(what)
    )
    assert [extended.repeats for extended, _ in found] == [40, 40]
    assert [len(extended.added) for extended, _ in found] == [55, 15]
    assert [data.filter.dedupe for _, data in found] == [False, True]
    assert (kept.meta.games, once.meta.games) == (95, 55)
    again = tmp_path / "again.csv"
    again.write_bytes(old.read_bytes() + b"\n")
    with pytest.raises(DataError, match="all games read are in memory already"):
        update(run, again, overrides=["data.filter.dedupe=true"])


def test_a_run_that_was_replaced_meanwhile_is_left_alone(
    tmp_path: Path, old: Path, new: Path
) -> None:
    place = tmp_path / "a.ttt"
    fit(read_games(old), output=place)
    with pytest.raises(RunError, match="replaced meanwhile"):
        update(place, new, on_read=lambda *_: fit(read_games(new), output=place) and None)
    assert open_run(place).meta.games == 15


def test_the_anchors_of_a_scale_stay(tmp_path: Path, old: Path, new: Path) -> None:
    place = tmp_path / "a.ttt"
    scaled = configure(
        overrides=["model.name=ttt", "scale.anchors=['Morphy @ 1857 = 2600']", "solver.tol=1e-8"]
    )
    run = fit(read_games(old), scaled, output=place)
    updated = update(run, new)
    assert_same(updated, fit(read_games(old, new), scaled))
    assert updated.select(
        "SELECT mean FROM skills WHERE player LIKE 'Morphy%' AND period = '1857'"
    )[1] == [(pytest.approx(2600),)]


OTHERS = (
    ("1850", "Morphy, Paul", "Anderssen, Adolf", "1-0"),
    ("1857", "Morphy, Paul", "Newcomer, A", "1-0"),
    ("1860", "Anderssen, Adolf", "Paulsen, Louis", "1-0"),
    ("1900", "Paulsen, Louis", "Émile, É", "1-0"),
)


def started(further: str | None = None, period: str = "year") -> tuple[Run, Timeline, Fit]:
    games = games_of((*RECORDS, ("1863", "Émile, É", "Öst, O", "1-0")))
    timeline = build_timeline(games, period)  # type: ignore[arg-type]
    fit = fit_of(timeline, further=further)
    return memory_run(games, timeline, fit, CONFIG), timeline, fit


def believed(fit: Fit, timeline: Timeline) -> dict[tuple[str, int], tuple[float, float]]:
    nodes = zip(timeline.node_player, timeline.node_period.tolist(), fit.mean, fit.sd, strict=True)
    return {(timeline.players[player], period): (mean, sd) for player, period, mean, sd in nodes}


def test_the_nodes_of_the_run_itself_have_its_skills() -> None:
    run, timeline, fit = started("draw_margin")
    start = start_from(run, timeline)
    assert start.chains.keys() == {"skill", "draw_margin"}
    for name, chain in start.chains.items():
        assert np.array_equal(chain.mean, fit.chains[name].mean)
        assert np.array_equal(chain.sd, fit.chains[name].sd)


def test_other_nodes_have_the_nearest_period_and_strangers_nothing() -> None:
    run, timeline, fit = started()
    known = believed(fit, timeline)
    others = build_timeline(games_of(OTHERS))
    found = believed(start_from(run, others), others)
    rows = run.select(
        "SELECT mean, sd FROM skills WHERE player = 'Anderssen, Adolf' AND period = '1860'"
    )[1]
    assert found["Morphy, Paul", 1850] == known["Morphy, Paul", 1857]
    assert found["Anderssen, Adolf", 1850] == known["Anderssen, Adolf", 1858]
    assert found["Anderssen, Adolf", 1860] == rows[0]
    assert found["Paulsen, Louis", 1900] == known["Paulsen, Louis", 1862]
    assert found["Émile, É", 1900] == known["Émile, É", 1863]
    assert np.isnan(found["Newcomer, A", 1857]).all()


def test_periods_of_another_kind_are_found_by_their_middles() -> None:
    run, timeline, fit = started(period="month")
    by_year = build_timeline(games_of(RECORDS))
    found = believed(start_from(run, by_year), by_year)
    known = believed(fit, timeline)
    assert found["Morphy, Paul", 1857] == known["Morphy, Paul", 12 * 1857 + 6]
    assert found["Morphy, Paul", 1858] == known["Morphy, Paul", 12 * 1858 + 6]
    years, by_years, yearly = started()
    found = believed(start_from(years, timeline), timeline)
    assert found["Morphy, Paul", 12 * 1858 + 11] == believed(yearly, by_years)["Morphy, Paul", 1858]


def test_beliefs_are_in_points_whatever_the_scale_of_the_run(tmp_path: Path) -> None:
    timeline = build_timeline(write_small_run(tmp_path / "a.ttt", further="draw_margin"))
    run = open_run(
        tmp_path / "a.ttt", scale=["Morphy @ 1858 = 2700", "Paulsen @ 1862 = 2710", "matched"]
    )
    assert run.skills()["mean"].min() > 2000
    start = start_from(run, timeline)
    for name, chain in fit_of(timeline, further="draw_margin").chains.items():
        assert start.chains[name].mean == pytest.approx(chain.mean)
        assert start.chains[name].sd == pytest.approx(chain.sd)


ALIASES = '"Morphy, Paul",Morphy\n'
HEADER = "date,white,black,result\n"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "names.txt").write_text(ALIASES)
    (tmp_path / "old.csv").write_text(HEADER + "1858,Morphy,B,1-0\n1859,B,C,0-1\n")
    (tmp_path / "new.csv").write_text(HEADER + '1860,"Morphy, Paul",C,1-0\n')
    return tmp_path


def made(*files: str, aliases: str | None = "names.txt", output: str | None = "a.ttt") -> Run:
    config = configure(overrides=[] if aliases is None else [f"data.aliases={aliases}"])
    return fit(read_games(*files, aliases=aliases), config, output=output)


def inputs(run: Run) -> list[tuple[object, ...]]:
    return [
        tuple(row)
        for row in run.select("SELECT path, kind, digest, size, rows, used FROM inputs")[1]
    ]


def alias_row(content: str) -> tuple[object, ...]:
    digest = hashlib.sha256(content.encode()).hexdigest()
    return ("names.txt", "aliases", digest, len(content.encode()), 0, 0)


def test_path_and_digest_stand_behind_the_files_of_games(here: Path) -> None:
    run = made("old.csv", "new.csv")
    assert [row[0] for row in inputs(run)] == ["old.csv", "new.csv", "names.txt"]
    assert inputs(run)[-1] == alias_row(ALIASES)
    assert run.stored_games().report == read_games("old.csv", "new.csv", aliases="names.txt").report
    assert [row[1] for row in inputs(made("old.csv", aliases=None, output=None))] == ["csv"]


@pytest.mark.parametrize("content", [ALIASES, ALIASES + "B,Bee\n"])
def test_update_reads_it_anew_and_tells_when_it_has_changed(
    content: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made("old.csv")
    (here / "names.txt").write_text(content)
    assert main.run(["update", "a.ttt", "new.csv", "-o", "b.ttt"]) == 0
    assert ("alias file has changed" in capsys.readouterr().err) == (content != ALIASES)
    after = open_run("b.ttt")
    assert [row[0] for row in inputs(after)] == ["old.csv", "new.csv", "names.txt"]
    assert inputs(after)[-1] == alias_row(content)
    (here / "other.txt").write_text("B,Bee\n")
    after = update(open_run("a.ttt"), "new.csv", overrides=["data.aliases=other.txt"])
    assert [row[0] for row in inputs(after)] == ["old.csv", "new.csv", "other.txt"]
