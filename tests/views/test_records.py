"""Records against loops and pandas, on random games and on the historical ones."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.support.cases import each
from tests.views.records_by_hand import (
    eligible_skills,
    expected_scores,
    gains,
    performance,
    reigns,
    rivalries,
    series,
    sides_of,
)
from ttt_cli import fit, open_run
from ttt_cli.cli import main
from ttt_cli.runs.run import Run
from ttt_cli.support.errors import ConfigError
from ttt_cli.views.history.events import find_events
from ttt_cli.views.history.played import played_games
from ttt_cli.views.rankings.eligible import Eligible, eligible
from ttt_cli.views.records import KINDS
from ttt_cli.views.records.table import RECORDS, record_rows


def random_games(seed: int = 1) -> pd.DataFrame:
    """Games of twelve players, the earlier the stronger, in 8 years, in events and without."""
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(400):
        first, second = rng.choice(12, 2, replace=False)
        year = int(rng.integers(1900, 1908))
        chance = 1.0 / (1.0 + np.exp((first - second) / 4.0))
        result = rng.choice(["1-0", "1/2-1/2", "0-1"], p=[0.7 * chance, 0.3, 0.7 * (1.0 - chance)])
        event = str(rng.choice(["", "Cup", "Masters", "Open"]))
        rows.append(
            (f"{year}-{rng.integers(1, 13):02d}", f"p{first:02d}", f"p{second:02d}", result, event)
        )
    return pd.DataFrame(rows, columns=["date", "white", "black", "result", "event"])


@pytest.fixture(scope="module")
def small() -> Run:
    return fit(random_games(), model="ttt", white_advantage=30.0)


@pytest.fixture(
    scope="module",
    params=[
        pytest.param("small"),
        pytest.param(
            ["-c", "ttt", "-s", "data.filter.exclude=[]"], marks=pytest.mark.large, id="ttt"
        ),
        pytest.param([], marks=pytest.mark.large, id="default"),
    ],
)
def run(
    request: pytest.FixtureRequest, small: Run, tmp_path_factory: pytest.TempPathFactory
) -> Run:
    """A small run; every night that of the historical games, by two configs."""
    if request.param == "small":
        return small
    data: Path = request.getfixturevalue("data")
    path = tmp_path_factory.mktemp("historical") / "a.ttt"
    games = str(data / "historical.csv.gz")
    assert main.run(["fit", games, *request.param, "-o", str(path), "-q", "--no-suspects"]) == 0
    return open_run(path)


@pytest.fixture(scope="module")
def limits(run: Run) -> Eligible:
    return eligible(run)


def found(run: Run, kind: str, limits: Eligible, **changes: int | None) -> pd.DataFrame:
    rows = record_rows(run, kind, limits, **changes)
    return pd.DataFrame(rows.rows, columns=list(rows.columns))


@pytest.mark.parametrize("years", [(None, None), (1902, 1905)])
@pytest.mark.parametrize("kind", ["unbeaten", "wins"])
def test_series(
    run: Run, limits: Eligible, kind: str, years: tuple[int | None, int | None]
) -> None:
    records = found(run, kind, limits, since=years[0], until=years[1], number=10)
    sides = sides_of(run, limits, (years[0] or 0, years[1] or 9999))
    expected = series(
        sides,
        (lambda points: points > 0.0) if kind == "unbeaten" else (lambda points: points == 1.0),
    )
    assert list(records.games) == [found.games for found in expected[:10]]
    as_found = {tuple(row) for row in expected if row.games >= records.games.min()}
    columns = ["games", "player", "from", "to"]
    assert {tuple(row) for row in records[columns].itertuples(index=False)} <= {
        row[:4] for row in as_found
    }
    if kind == "unbeaten":
        points = {row[:4]: row.points for row in expected}
        assert all(
            points[tuple(row)[:4]] == row.points
            for row in records[[*columns, "points"]].itertuples(index=False)
        )


def test_the_longest_series_without_a_loss_of_the_historical_games(
    run: Run, limits: Eligible
) -> None:
    if run.meta.games < 100_000:
        pytest.skip("a small run")
    records = found(run, "unbeaten", limits, number=5)
    longest = dict(zip(records.player, records.games, strict=True))
    assert longest["Granda Zuniga, Julio E"] == 86
    assert longest["Karpov, Anatoly"] == 84


def test_rivalries_and_most_games(run: Run, limits: Eligible) -> None:
    sides = sides_of(run, limits)
    pairs = rivalries(sides)
    records = found(run, "rivalries", limits, number=15)
    for row in records.itertuples():
        assert pairs[row.player, row.opponent] == (row.games, row.points)
        assert row.points >= row.games / 2
    assert (
        list(records.games) == sorted((games for games, _ in pairs.values()), reverse=True)[:30:2]
    )
    most = found(run, "games", limits, number=10)
    by_player = sides.groupby("player").points.agg(["count", "sum"])
    assert list(most.games) == sorted(by_player["count"], reverse=True)[:10]
    assert [by_player.loc[player, "sum"] for player in most.player] == list(most.points)
    dates = sides.groupby("player").date
    assert [dates.get_group(player).iloc[0] for player in most.player] == list(most["from"])
    assert [dates.get_group(player).iloc[-1] for player in most.player] == list(most["to"])


def test_upsets(run: Run, limits: Eligible) -> None:
    records = found(run, "upsets", limits, number=20)
    sides = sides_of(run, limits)
    won = sides[(sides.points == 1.0) & sides.opponent.isin(set(sides.player))]
    expected = expected_scores(run, won)
    assert list(records.expected) == pytest.approx(sorted(expected)[:20], abs=1e-9)
    least = (
        won.loc[expected.idxmin()]
        if expected.index.is_unique
        else won.iloc[int(np.argmin(expected))]
    )
    assert (records.player[0], records.opponent[0], records["from"][0]) == (
        least.player,
        least.opponent,
        least.date,
    )


def test_gains_and_peaks(run: Run, limits: Eligible) -> None:
    skills = eligible_skills(run, limits)
    largest = gains(skills)
    records = found(run, "gains", limits, number=10)
    assert list(records.gain) == pytest.approx(list(largest[:10]), abs=1e-9)
    assert list(records.player) == list(largest.index[:10])
    assert list(records["to"].astype(int) - records["from"].astype(int)) == [1] * len(records)
    enough = skills.groupby("year").player.transform("count") >= limits.fewest
    highest = (
        skills[enough & (skills.games > 0)]
        .groupby("player")["mean"]
        .max()
        .sort_values(ascending=False)
    )
    peaks = found(run, "peaks", limits, number=10)
    assert list(peaks["mean"]) == pytest.approx(list(highest[:10]), abs=1e-9)


def test_reigns(run: Run, limits: Eligible) -> None:
    longest = reigns(eligible_skills(run, limits), limits.fewest)[:10]
    records = found(run, "reigns", limits, number=10)
    assert [(row.years, row.player, int(row[4])) for row in records.itertuples()] == longest


@pytest.mark.parametrize("years", [(None, None), (1903, 1905)])
def test_the_best_who_were_never_number_one(
    run: Run, limits: Eligible, years: tuple[int | None, int | None]
) -> None:
    skills = eligible_skills(run, limits)
    enough = skills[skills.groupby("year").player.transform("count") >= limits.fewest]
    first = (
        enough.sort_values(["mean", "player"], ascending=[False, True])
        .groupby("year")
        .player.first()
    )
    others = enough[~enough.player.isin(set(first)) & (enough.games > 0)]
    others = others[others.year.between(years[0] or 0, years[1] or 9999)]
    highest = others.groupby("player")["mean"].max().sort_values(ascending=False)[:5]
    records = found(run, "uncrowned", limits, since=years[0], until=years[1], number=5)
    assert len(highest) > 1
    assert list(records.player) == list(highest.index)
    assert list(records["mean"]) == pytest.approx(list(highest), abs=1e-9)


def test_performances_of_the_best_are_those_of_all(run: Run, limits: Eligible) -> None:
    """The candidates, chosen by rough performances, miss nobody."""
    best = found(run, "performances", limits, number=20).fillna("")
    everybody = found(run, "performances", limits, number=None).fillna("")
    pd.testing.assert_frame_equal(best, everybody[: len(best)], rtol=1e-9, check_dtype=False)
    assert everybody.performance.is_monotonic_decreasing
    assert (everybody.games >= 6).all()


def test_the_best_performances_are_those_of_a_newcomer_with_these_games_alone(
    run: Run, limits: Eligible
) -> None:
    """Against the density of the skill on a grid; draw margins that follow the strength have a kink there."""
    tolerance = 0.02 if run.draws().empty else 0.4
    records = found(run, "performances", limits, number=10)
    sides = sides_of(run, limits)
    events = find_events(played_games(run))
    sides["title"] = [
        events.rows[event].title if event >= 0 else "" for event in events.of_game[sides.number]
    ]
    for row in records.itertuples():
        games = sides[(sides.player == row.player) & (sides.title == row.event)]
        assert (len(games), games.points.sum()) == (row.games, row.points)
        assert (row.performance, row.sd) == pytest.approx(performance(run, games), abs=tolerance)


def test_the_strongest_events(run: Run, limits: Eligible) -> None:
    records = found(run, "events", limits, number=5)
    played = played_games(run)
    events = find_events(played)
    games = run.games().assign(event=events.of_game)
    skills = run.skills().set_index(["player", "period"])["mean"]
    entries = pd.concat(
        [
            games[["event", "period", side]].rename(columns={side: "player"})
            for side in ("white", "black")
        ]
    )
    entries = entries[entries.event >= 0].drop_duplicates()
    entries["skill"] = skills.loc[list(zip(entries.player, entries.period, strict=True))].to_numpy()
    large = entries.groupby("event").skill.agg(["mean", "count"]).query("count >= 6")
    strongest = large.sort_values("mean", ascending=False)[:5]
    assert list(records.strength) == pytest.approx(list(strongest["mean"]), abs=1e-6)
    large["title"] = [events.rows[event].title for event in large.index]
    strength_of = large.set_index("title")["mean"]  # some have the same players
    assert list(strength_of[records.event]) == pytest.approx(list(records.strength), abs=1e-6)
    assert records.event.is_unique


def test_limits_leave_players_out(small: Run) -> None:
    everybody = found(small, "games", Eligible(), number=None)
    few = found(small, "games", Eligible(min_games=70.0), number=None)
    assert set(few.player) == set(everybody[everybody.games >= 70].player)
    assert len(found(small, "games", eligible(small, where="player = 'p03'"))) == 1


@each("kind", KINDS)
def test_every_kind_has_its_table_and_no_records_are_no_error(kind: str, small: Run) -> None:
    assert kind in RECORDS
    columns = found(small, kind, eligible(small), number=3).columns
    nothing = found(small, kind, eligible(small), since=2000)
    assert list(nothing.columns) == list(columns)
    assert nothing.empty


def test_an_unknown_kind_has_a_hint(small: Run) -> None:
    with pytest.raises(ConfigError, match="no kind of records 'upset'") as error:
        record_rows(small, "upset", Eligible())
    assert error.value.hint is not None
    assert "upsets" in error.value.hint


def test_the_title_says_who_is_eligible_and_which_years(small: Run) -> None:
    rows = record_rows(
        small, "unbeaten", eligible(small, min_games=30, min_opponents=2), since=1901, until=1903
    )
    assert rows.title[:2] == (
        "The longest series without a loss, 1901-1903",
        "eligible: at least 30 games, at least 2 opponents; games of one date in the order of the files, "
        "which may not be that of play",
    )


DECIMALS = {"points": 0, "points of games": 1, "probability": 3, "score": 3}


def test_a_unit_has_the_same_decimals_in_all_kinds() -> None:
    for kind in RECORDS.values():
        assert {
            column.unit: column.decimals for column in kind.columns if column.unit in DECIMALS
        }.items() <= (DECIMALS.items())
