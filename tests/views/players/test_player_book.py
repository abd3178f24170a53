"""A player's games, opponents, events and series against pandas; groups, pairs and overtaking."""

from __future__ import annotations

import math
from pathlib import Path
from statistics import NormalDist

import numpy as np
import pandas as pd
import pytest

from tests.support.cases import each
from tests.views.records_by_hand import expected_scores, series, sides_of
from tests.views.report.site.conftest import TOLD, Told
from tests.views.report.site.conftest import run_of as told_run_of
from tests.views.test_records import random_games
from ttt_cli import fit, leaders, top
from ttt_cli.runs.run import Run
from ttt_cli.support.errors import DataError, LookupFailed
from ttt_cli.views.event import standing_rows
from ttt_cli.views.figures.figure import FigureOptions, make_figure
from ttt_cli.views.lead_history import lead_rows
from ttt_cli.views.name_lists import find_players
from ttt_cli.views.played_games import played_game_rows
from ttt_cli.views.player_book import book_rows, player_at
from ttt_cli.views.players import player_view
from ttt_cli.views.rankings.eligible import Eligible, eligible
from ttt_cli.views.rows import Rows, write_parquet
from ttt_cli.views.superiority import superiority_of_field, superiority_of_names
from ttt_cli.views.versus import versus_view

NAME = "p02"


@pytest.fixture(scope="module")
def run() -> Run:
    return fit(random_games(), model="ttt", white_advantage=30.0)


@pytest.fixture(scope="module")
def sides(run: Run) -> pd.DataFrame:
    sides = sides_of(run, Eligible())
    sides["expected"] = expected_scores(run, sides).to_numpy()
    return sides[sides.player == NAME]


def frame(rows: Rows) -> pd.DataFrame:
    return pd.DataFrame(rows.rows, columns=list(rows.columns))


def test_games(run: Run, sides: pd.DataFrame) -> None:
    games = frame(book_rows(run, NAME, "games"))
    assert list(games.date) == list(sides.date)
    assert list(games.opponent) == list(sides.opponent)
    assert list(games.expected) == pytest.approx(list(sides.expected), abs=1e-9)
    assert list(games.result.map({"1-0": 1.0, "1/2-1/2": 0.5, "0-1": 0.0})) == list(sides.points)
    assert list(games.colour == "white") == list(sides.is_white)
    limited = frame(book_rows(run, NAME, "games", 1902, 1904))
    assert len(limited) == sides.year.between(1902, 1904).sum()


def test_opponents(run: Run, sides: pd.DataFrame) -> None:
    opponents = frame(book_rows(run, NAME, "opponents")).set_index("opponent")
    by_hand = sides.groupby("opponent")
    assert dict(opponents.games) == dict(by_hand.size())
    assert dict(opponents.points) == pytest.approx(dict(by_hand.points.sum()))
    assert dict(opponents.expected) == pytest.approx(dict(by_hand.expected.sum()))
    assert dict(opponents["from"]) == dict(by_hand.date.first())
    assert dict(opponents["to"]) == dict(by_hand.date.last())
    assert opponents.games.is_monotonic_decreasing


def test_events_are_those_of_the_event_itself(run: Run) -> None:
    events = frame(book_rows(run, NAME, "events"))
    assert len(events) > 10
    order = list(zip(events["from"], events.event, strict=True))
    assert order == sorted(order)
    row = events.iloc[3]
    standing = frame(standing_rows(run, row.event)).set_index("player").loc[NAME]
    for column in ("games", "points", "expected", "performance", "sd"):
        assert row[column] == pytest.approx(standing[column])
    won = {
        (True, False): "all won", (False, True): "all lost", (False, False): None,
    }  # fmt: skip
    expected = [
        won[pair] for pair in zip(events.points == events.games, events.points == 0.0, strict=True)
    ]
    assert [row[7] for row in book_rows(run, NAME, "events").rows] == expected
    assert "all won" in expected or "all lost" in expected


def test_games_of_an_event_on_one_date_are_in_the_order_of_rounds() -> None:
    told: list[Told] = [
        ("1992", "Fischer", "Spassky", "1-0", "Match", "", "10"),
        ("1992", "Fischer", "Tal", "1-0", "Cup", "", "3"),
        ("1992", "Fischer", "Spassky", "0-1", "Match", "", "2"),
        ("1992", "Fischer", "Byrne", "0-1", "", "", "1"),
        ("1993", "Fischer", "Spassky", "0-1", "Match", "", "1"),
    ]
    games = frame(book_rows(told_run_of(told), "Fischer", "games"))
    assert list(zip(games.opponent, games["round"], strict=True)) == [
        ("Spassky", "2"), ("Spassky", "10"), ("Tal", "3"), ("Byrne", "1"), ("Spassky", "1"),
    ]  # fmt: skip


def test_a_skill_after_the_last_game_is_said_to_be_one() -> None:
    run = told_run_of(TOLD)
    remark = "the last game is of 1858: this is what the model expects without further ones"
    assert remark in player_at(run, "Morphy, Paul", "1861", Eligible()).title
    assert remark not in player_at(run, "Morphy, Paul", "1858", Eligible()).title


def test_streaks(run: Run, sides: pd.DataFrame) -> None:
    streaks = frame(book_rows(run, NAME, "streaks"))
    kinds = {
        "unbeaten": lambda points: points > 0, "wins": lambda points: points == 1,
        "without a win": lambda points: points < 1, "losses": lambda points: points == 0,
    }  # fmt: skip
    for kind, goes_on in kinds.items():
        lengths = [of_player.games for of_player in series(sides, goes_on)]
        assert list(streaks[streaks.series == kind].games) == lengths[:5]


def test_a_player_in_a_period(run: Run, sides: pd.DataFrame) -> None:
    (row,) = player_at(run, NAME, "1903", eligible(run)).records()
    ranking = top(run, 1903, None).set_index("player")
    assert (row["rank"], row["field"]) == (ranking.loc[NAME, "rank"], len(ranking))
    assert (row["mean"], row["sd"]) == (ranking.loc[NAME, "mean"], ranking.loc[NAME, "sd"])
    year = sides[sides.year == 1903]
    assert (row["games"], row["points"]) == (len(year), year.points.sum())
    assert row["expected"] == pytest.approx(year.expected.sum())


def test_a_history_of_some_years(run: Run) -> None:
    rows = player_view(run, NAME, 1902, 1903).rows
    assert [record["period"] for record in rows.records()] == ["1902", "1903"]
    with pytest.raises(LookupFailed, match="no skill in these years"):
        player_view(run, NAME, 1950)
    with pytest.raises(LookupFailed, match="no games in these years"):
        book_rows(run, NAME, "games", 1950)


def test_exported_games_have_the_probabilities_of_white(run: Run, tmp_path: Path) -> None:
    games = frame(played_game_rows(run))
    sides = sides_of(run, Eligible())
    white = sides[sides.is_white]
    assert list(games.expected) == pytest.approx(list(expected_scores(run, white)), abs=1e-9)
    assert games[["p_win", "p_draw", "p_loss"]].sum(axis=1).to_numpy() == pytest.approx(
        np.ones(len(games))
    )
    write_parquet(played_game_rows(run), tmp_path / "g.parquet")
    stored = pd.read_parquet(tmp_path / "g.parquet")
    assert list(stored.columns) == ["period", "year", *games.columns[1:]]
    assert list(stored.expected) == list(games.expected)


def test_a_lead_over_time_is_that_of_the_figure_and_says_who_overtook_whom(run: Run) -> None:
    rows = lead_rows(run, "p03", "p04")
    leads = frame(rows)
    skills = run.skills().set_index(["player", "period"])["mean"]
    assert list(leads.lead) == pytest.approx(
        [skills["p03", at] - skills["p04", at] for at in leads.period]
    )
    covariance = run.covariance([("p03", 1903), ("p04", 1903)]).to_numpy()
    row = leads[leads.period == "1903"].iloc[0]
    weights = np.array([1.0, -1.0])
    assert row.sd_lead == pytest.approx(np.sqrt(weights @ covariance @ weights), rel=1e-4)
    figure = make_figure(run, "difference", FigureOptions(["p03", "p04"])).spec
    drawn = {point["period"]: point["value"] for point in figure["datasets"]["points"]}
    lead_in = dict(zip(leads.period, leads.lead, strict=True))
    assert drawn == pytest.approx({period: lead_in[period] for period in drawn}, abs=0.1)
    changes = (leads.ahead != leads.ahead.shift()).sum()
    assert sum("is ahead from" in line or "overtakes" in line for line in rows.title) == changes
    assert [*lead_rows(run, "p03", "p04", 1903, 1904).rows] == [*rows.rows][3:5]


def test_for_every_pair_the_probability_that_the_row_is_stronger(run: Run) -> None:
    table = frame(superiority_of_names(run, ["p00", "p03", "p05"], 1904).rows).set_index("player")
    chances = table[["p00", "p03", "p05"]].to_numpy(float)
    assert np.isnan(np.diag(chances)).all()
    off = ~np.eye(3, dtype=bool)
    assert (chances + chances.T)[off] == pytest.approx(np.ones(6))
    samples = run.samples(100_000, 1, [("p00", 1904), ("p03", 1904)]).to_numpy()
    assert chances[0, 1] == pytest.approx((samples[:, 0] > samples[:, 1]).mean(), abs=0.006)
    best = frame(superiority_of_field(run, 1904, eligible(run), 4))
    assert list(best.player) == list(top(run, 1904, 4).player)
    numbered = superiority_of_names(run, ["p00", "p03"], 1904, numbered=True).rows
    assert numbered.columns == ("no", "player", "period", "mean", "sd", "1", "2")
    assert numbered.title[0] == "Probability that the row is stronger than the column, 1904"
    assert numbered.hidden == {"sd", "period"}


def test_skills_without_a_joint_posterior_are_independent_on_any_scale(tmp_path: Path) -> None:
    fit(random_games(), model="glicko", output=tmp_path / "a.ttt")
    names = ["p00", "p03", "p05"]
    plain, scaled = (
        frame(superiority_of_names(Run(tmp_path / "a.ttt", scale), names, 1904).rows)
        for scale in ((), ("p00 @ 1904 = 2500", "p03 @ 1904 = 2100", "matched"))
    )
    assert plain["mean"][0] != pytest.approx(scaled["mean"][0])
    lead = plain["mean"][0] - plain["mean"][1]
    sd = math.hypot(plain["sd"][0], plain["sd"][1])
    assert plain["p03"][0] == pytest.approx(NormalDist().cdf(lead / sd), abs=1e-9)
    for name in names:
        assert scaled[name].tolist() == pytest.approx(plain[name].tolist(), abs=1e-9, nan_ok=True)


def test_without_a_period_each_of_several_is_compared_at_the_peak(run: Run) -> None:
    names = ["p00", "p03", "p05"]
    view = superiority_of_names(run, names, None)
    assert view.notes == ("each at the peak",)
    peaks = run.players().set_index("player").peak_period
    assert len({peaks[name] for name in names}) > 1
    assert view.rows.title[0] == "Probability that the row is stronger than the column"
    assert view.rows.hidden == {"sd"}
    table = frame(view.rows)
    assert list(table.period) == [peaks[name] for name in names]
    (row,) = versus_view(run, "p00", "p03").report.records()
    assert table["p03"][0] == pytest.approx(row["stronger"], abs=1e-6)


@each(
    "texts, players",
    [
        (["p01"], ["p01"]),
        (["p01, p03"], ["p01", "p03"]),
        (["p01; p03", "p03", "p00"], ["p01", "p03", "p00"]),
        (["list.txt"], ["p05", "p02"]),
    ],
)  # fmt: skip
def test_lists_of_players(
    texts: list[str], players: list[str], run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "list.txt").write_text("# two\np05\n\np02  # the best\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert find_players(run, texts).players == players


def test_a_name_with_a_comma_is_one_player() -> None:
    table = random_games().replace(
        {"white": {"p00": "Lasker, Emanuel"}, "black": {"p00": "Lasker, Emanuel"}}
    )
    run = fit(table, model="elo")
    assert find_players(run, ["Lasker, Emanuel"]).players == ["Lasker, Emanuel"]
    assert find_players(run, ["lasker,p01"]).players == ["Lasker, Emanuel", "p01"]


def test_a_file_without_names_is_refused(run: Run, tmp_path: Path) -> None:
    (tmp_path / "list.txt").write_text("# nobody\n", encoding="utf-8")
    with pytest.raises(DataError, match="has no names"):
        find_players(run, [str(tmp_path / "list.txt")])


def test_a_group_has_rankings_and_number_ones_of_its_own(run: Run) -> None:
    everybody = top(run, 1904, None)
    group = top(run, 1904, None, players=["p05,p07,p09"])
    members = everybody[everybody.player.isin(["p05", "p07", "p09"])]
    assert list(group.player) == list(members.player)
    assert list(group["rank"]) == [1, 2, 3]
    assert set(leaders(run, players=["p05", "p07"]).player) <= {"p05", "p07"}
    both = top(run, 1904, None, players=["p05,p07"], where="player = 'p07'")
    assert list(both.player) == ["p07"]
