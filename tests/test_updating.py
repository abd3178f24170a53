"""Games added to a run: the same as a fresh fit of all, whole or not at all."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from ttt_cli.api import configure, fit, open_run, read_games, update
from ttt_cli.config.schema import DataConfig
from ttt_cli.runs import columns
from ttt_cli.runs.run import Run
from ttt_cli.support.errors import ConfigError, DataError, RunError
from ttt_cli.systems import registry, ttt
from ttt_cli.systems.resolve import Resolved
from ttt_cli.updating import Extended, update_config

pytestmark = pytest.mark.slow

NAMES = ("Anderssen, Adolf", "Kolisch, Ignatz", "Löwenthal, Johann", "Morphy, Paul", "Paulsen, Louis")
RESULTS = ("1-0", "0-1", "1/2-1/2")
SAME = {"abs": 1e-5}


def write(path: Path, years: Sequence[int], names: Sequence[str], *, games: int = 40, seed: int = 0) -> Path:
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
            assert mine[name].to_numpy() == pytest.approx(theirs[name].to_numpy(), nan_ok=True, **SAME)
    for key in ("log_evidence", "leave_one_out"):
        assert getattr(one.meta, key) == pytest.approx(getattr(other.meta, key), nan_ok=True, **SAME)
    for table in ("inputs", "dropped", "noticed", "problems"):
        assert one.select(f"FROM {table}")[1] == other.select(f"FROM {table}")[1]


@pytest.mark.parametrize("model", registry.MODULES)
def test_an_update_and_a_started_fit_are_a_fresh_fit_of_all_games(model: str, old: Path, new: Path) -> None:
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


def test_the_start_reaches_the_model(old: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    games, resolved = read_games(old), fine("ttt")
    run = fit(games, resolved)
    assert fit(games, resolved, start=run).meta.trace[0][0] < 0.2 * run.meta.trace[0][0]


def test_updates_follow_each_other(tmp_path: Path, old: Path, new: Path) -> None:
    third = write(tmp_path / "third.csv", [1870], ["Steinitz, William", "Zukertort, Johannes"], games=3)
    place = tmp_path / "a.ttt"
    fit(read_games(old), fine("ttt"), output=place)
    update(place, new)
    run = update(place, third)
    assert run.path == place
    assert_same(run, fit(read_games(old, new, third), fine("ttt")))
    assert run.meta.last == "1870"


def test_another_place_leaves_the_run(tmp_path: Path, old: Path, new: Path) -> None:
    place = tmp_path / "a.ttt"
    before = fit(read_games(old), output=place).meta
    after = update(place, new, output=tmp_path / "b.ttt")
    assert after.path == tmp_path / "b.ttt"
    assert open_run(place).meta == before
    assert after.meta.games == 55


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
    moving = "growth=200", "prior_mean_drift=20", "draw_margin_drift=0.2", "draw_margin_strength=0.3"
    given = [f"model.name={model}", "solver.tol=1e-7", f"solver.posterior={posterior}"]
    resolved = configure(overrides=[*given, *(f"model.{one}" for one in moving)])
    updated, fresh = update(fit(read_games(old), resolved), new), fit(read_games(old, new), resolved)
    assert_same(updated, fresh)
    for curve in ("draws", "newcomers", "career"):
        found, expected = (getattr(run, curve)().to_numpy() for run in (updated, fresh))
        assert found == pytest.approx(expected, **SAME)


@pytest.mark.parametrize(
    "override",
    [
        "model.name=elo",
        "model=elo",
        "data.names=clean",
        "data.filter.years=1850-",
        "data.filter={}",
        "data={}",
    ],
)
def test_what_the_old_games_depend_on_cannot_change(override: str, old: Path) -> None:
    with pytest.raises(ConfigError, match="cannot change") as caught:
        update_config(fit(read_games(old)), [override])
    assert caught.value.where == f"-s {override}"


@pytest.mark.parametrize("key", ["min_games=2", "largest_group=true"])
def test_filters_of_all_games_together_are_refused(key: str, old: Path, new: Path) -> None:
    run = fit(read_games(old), configure(overrides=[f"data.filter.{key}"]))
    with pytest.raises(ConfigError, match=f"data.filter.{key.partition('=')[0]}"):
        update(run, new)


def test_a_file_that_was_read_is_refused_unless_asked_for_again(tmp_path: Path, old: Path, new: Path) -> None:
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
    once = update(run, both, overrides=["data.filter.dedupe=true"], on_read=lambda *what: found.append(what))
    assert [(extended.repeats, extended.repeats_dropped) for extended, _ in found] == [
        (40, False),
        (40, True),
    ]
    assert [len(extended.added) for extended, _ in found] == [55, 15]
    assert [data.filter.dedupe for _, data in found] == [False, True]
    assert (kept.meta.games, once.meta.games) == (95, 55)
    again = tmp_path / "again.csv"
    again.write_bytes(old.read_bytes() + b"\n")
    with pytest.raises(DataError, match="all games read are in memory already"):
        update(run, again, overrides=["data.filter.dedupe=true"])


def test_whatever_stops_an_update_leaves_the_run(
    tmp_path: Path, old: Path, new: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "a.ttt"
    fit(read_games(old), output=place)
    before, names = place.read_bytes(), sorted(tmp_path.iterdir())

    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    for module, function in ((ttt, "fit"), (columns, "describe")):
        with monkeypatch.context() as patch:
            patch.setattr(module, function, stop)
            with pytest.raises(KeyboardInterrupt):
                update(place, new)
        assert place.read_bytes() == before
        assert sorted(tmp_path.iterdir()) == names


def test_a_run_that_was_replaced_meanwhile_is_left_alone(tmp_path: Path, old: Path, new: Path) -> None:
    place = tmp_path / "a.ttt"
    fit(read_games(old), output=place)
    with pytest.raises(RunError, match="replaced meanwhile"):
        update(place, new, on_read=lambda *_: fit(read_games(new), output=place) and None)
    assert open_run(place).meta.games == 15


def test_a_place_that_cannot_be_written_stops_before_reading(tmp_path: Path, old: Path) -> None:
    with pytest.raises(RunError, match="folder"):
        update(fit(read_games(old)), tmp_path / "missing.pgn", output=tmp_path)


def test_the_anchors_of_a_scale_stay(tmp_path: Path, old: Path, new: Path) -> None:
    place = tmp_path / "a.ttt"
    scaled = configure(
        overrides=["model.name=ttt", "scale.anchors=['Morphy @ 1857 = 2600']", "solver.tol=1e-8"]
    )
    run = fit(read_games(old), scaled, output=place)
    updated = update(run, new)
    assert_same(updated, fit(read_games(old, new), scaled))
    assert updated.select("SELECT mean FROM skills WHERE player LIKE 'Morphy%' AND period = '1857'")[1] == [
        (pytest.approx(2600),)
    ]
