"""Tables that say who played at home: the advantage is estimated by default, in every system that can."""

from __future__ import annotations

import io
import math

import pytest
from scipy.stats import norm

from ttt_cli import api
from ttt_cli.config.schema import DataConfig
from ttt_cli.evaluate.compare import games_of_files, games_of_run, read_systems
from ttt_cli.support.errors import ConfigError
from ttt_cli.systems.resolve import for_sides
from ttt_cli.views.fit_summary import fit_lines

HEADERS = [
    "date,home_team,away_team,home_score,away_score",
    "Date,HomeTeam,AwayTeam,FTHG,FTAG",
    "date,home,away,hg,ag",
]
ESTIMATING = [
    "ttt",
    "ttt-d",
    "trueskill",
    "glicko",
    "glicko2",
    "elo",
    "whr",
    "chessmetrics",
    "naive",
]
PLAIN = ["edo", "elo-historical", "spinrad", "weighted-ep"]


def table(header=HEADERS[0], *, neutral=False, games=48):
    """Games of four equal sides, of which the one at home wins two of three."""
    rows = [header + (",neutral" if neutral else "")]
    for i in range(games):
        home, away = "abcd"[i % 4], "abcd"[(i + 1 + i // 4 % 3) % 4]
        result = ("2,0", "1,0", "0,1", "1,1")[i % 4 if i % 5 else 3]
        rows.append(f"{1990 + i // 8}-05-01,{home},{away},{result}" + (",true" if neutral else ""))
    return io.BytesIO("\n".join(rows).encode())


@pytest.mark.parametrize("header", HEADERS)
def test_columns_named_home_and_away_are_sides_at_home(header):
    run = api.fit(table(header), model="ttt")
    assert run.meta.config["data"]["sides"] == ["home", "away"]
    assert run.meta.config["model"]["white_advantage"] == "estimate"


@pytest.mark.parametrize("system", [*ESTIMATING, "ttt-career", "ttt-d-career"])
def test_the_home_advantage_is_estimated_and_named(system):
    run = api.fit(table(), system)
    error = run.meta.standard_errors["white_advantage"]
    assert run.meta.params["white_advantage"] > error > 5.0
    (line,) = [line for line in fit_lines(run.meta) if line.startswith("home advantage")]
    advantage = f"home advantage: {run.meta.params['white_advantage']:.1f} +- {error:.1f} points"
    assert line.partition("; ")[0] == advantage


def test_the_home_advantage_is_told_as_a_score_between_equals():
    """P(home) + P(draw) / 2 at performances of sd sqrt(2) beta, by the normal distribution."""
    run = api.fit(table(), "ttt")
    params = run.meta.params
    spread = math.sqrt(2.0) * params["beta"]
    win, not_lost = (
        norm.cdf((params["white_advantage"] + sign * params["draw_margin"]) / spread)
        for sign in (-1.0, 1.0)
    )
    (line,) = [line for line in fit_lines(run.meta) if line.startswith("home advantage")]
    assert line.endswith(f"; between equals the home side scores {(win + not_lost) / 2.0:.2f}")


@pytest.mark.parametrize("system", PLAIN)
def test_systems_that_cannot_estimate_it_have_none(system):
    run = api.fit(table(), system)
    assert run.meta.params["white_advantage"] == 0.0
    assert run.meta.standard_errors == {}


def test_a_filter_says_that_it_passes_once():
    (line,) = [line for line in fit_lines(api.fit(table(), "elo").meta) if "pass" in line]
    assert line == "computed in one pass over the games"


def test_the_advantage_as_configured_stays():
    assert (
        api.fit(table(), model="elo", white_advantage=12.0).meta.params["white_advantage"] == 12.0
    )
    assert api.fit(table(), model="whr", deviations="own").meta.params["white_advantage"] == 0.0


def test_neutral_ground_gives_no_advantage():
    run = api.fit(table(neutral=True), model="elo")
    assert run.meta.config["model"]["white_advantage"] == "estimate"
    assert run.meta.params["white_advantage"] == 0.0
    assert run.meta.standard_errors == {}


@pytest.mark.parametrize(
    ("header", "sides"),
    [
        ("date,white,black,white_goals,black_goals", ["first", "second"]),
        ("date,team1,team2,score1,score2", ["first", "second"]),
    ],
)
def test_other_tables_have_none_unless_the_sides_are_named(header, sides):
    run = api.fit(table(header), model="elo")
    assert run.meta.config["data"]["sides"] == sides
    assert run.meta.config["model"]["white_advantage"] == 0.0
    config = api.configure(None, ["data.sides=[Home, Away]"], model="elo")
    assert api.fit(table(header), config).meta.config["model"]["white_advantage"] == "estimate"


def test_some_files_without_home_sides_are_games_without(tmp_path):
    first, second = tmp_path / "a.csv", tmp_path / "b.csv"
    first.write_bytes(table().getvalue())
    second.write_bytes(table("date,white,black,white_goals,black_goals").getvalue())
    data = DataConfig()
    assert api.read_games(first).report.home
    assert not api.read_games(first, second).report.home
    assert data.sides == ["white", "black"]


def test_compare_estimates_it_too(tmp_path):
    path = tmp_path / "games.csv"
    path.write_bytes(table().getvalue())
    systems = read_systems(["elo", "ttt", "edo"])
    assert games_of_files([str(path)], systems).home
    run = api.fit(path, model="ttt")
    assert games_of_run(run).home
    named = tmp_path / "named.yaml"  # as `ttt tune -o` writes it
    named.write_text("model: {name: ttt}\ndata: {sides: [home, away]}\n")
    assert games_of_files([str(path)], read_systems(["elo", str(named), "ttt"])).home
    other = tmp_path / "other.yaml"
    other.write_text("model: {name: ttt}\ndata: {sides: [left, right]}\n")
    with pytest.raises(ConfigError, match=r"differ in data\.sides") as differing:
        games_of_files([str(path)], read_systems([str(named), str(other)]))
    assert differing.value.hint == "set it for all, as -s 'data.sides=[home, away]'"
    settings = [for_sides(system, home=True).params.white_advantage for system in systems]
    assert settings == ["estimate", "estimate", 0.0]
    assert [for_sides(system, home=False).params.white_advantage for system in systems] == [
        0.0,
        0.0,
        0.0,
    ]
