from collections.abc import Callable

import pytest

from tests.support.builders import make_games
from tests.support.cases import each
from tests.support.handmade import RECORDS
from tests.support.handmade import games_of as handmade_games
from tests.support.handmade import run_of as handmade_run
from tests.support.joint_runs import run_of
from ttt_cli.config.documents import Document
from ttt_cli.runs.run import Run
from ttt_cli.runs.write import memory_run
from ttt_cli.systems import ttt
from ttt_cli.systems.resolve import resolve
from ttt_cli.timeline import build_timeline
from ttt_cli.views.games_of_player import GameOfPlayer, games_of
from ttt_cli.views.players import (
    best_period,
    facts_line,
    peak_remark,
    player_chart,
    player_games,
    player_view,
    players_rows,
    record_rows,
    tally,
    upset_rows,
    with_record,
)
from ttt_cli.views.probability import Outcome, outcomes
from ttt_cli.views.versus import versus_view

MORPHY = "Morphy, Paul"


@pytest.fixture
def run(small_run: Callable[..., Run]) -> Run:
    return small_run()


def played(
    period: str, result: int, weight: float, opponent: float, chance: Outcome
) -> GameOfPlayer:
    """A game of a player with White."""
    own, their = {"mean": 1500.0}, {"mean": opponent}
    return GameOfPlayer(
        period, period, True, "b", result, weight, "a.pgn", 1, own, their, False, chance
    )


EASY, HARD = Outcome(0.8, 0.1, 0.1), Outcome(0.1, 0.2, 0.7)
WEIGHTED = [
    played("1900", 2, 3.0, 1000.0, EASY), played("1900", 1, 2.0, 1000.0, EASY), played("1901", 2, 1.0, 2000.0, HARD),
    played("1901", 0, 0.5, 1700.0, HARD),
]  # fmt: skip


def test_games_are_seen_from_the_players_side(run: Run) -> None:
    games = games_of(run, MORPHY)
    assert [(g.date, g.is_white, g.opponent.partition(",")[0], g.result) for g in games] == [
        ("1857", True, "Paulsen", 2), ("1857", True, "Paulsen", 1), ("1858", False, "Anderssen", 2),
        ("1858-12", True, "Anderssen", 2), ("1858-12-27", False, "Anderssen", 0),
    ]  # fmt: skip
    assert [(g.strength["mean"], g.opponent_strength["mean"]) for g in games[:1] + games[2:3]] == [
        (1000.0, 1001.0),
        (1003.0, 1002.0),
    ]
    assert (games[0].file, games[0].line) == ("a.pgn", 10)
    (chance,) = outcomes("ttt", run.meta.params, [games[2].opponent_strength], [games[2].strength])
    assert games[2].chance == chance.turned()
    assert games_of(run, MORPHY, "Paulsen, Louis") == games[:2]
    assert [g.result for g in games_of(run, "Paulsen, Louis", MORPHY)] == [0, 1]


def test_expectations_know_odds_and_neutral_ground() -> None:
    """A game at odds is expected to go as one of players who are so much apart, on neutral ground without advantage."""
    rows = [(1900, "a", "b", outcome, 1.0, given, neutral)
            for outcome, given, neutral in ((2, 0.0, False), (0, 200.0, False), (1, 0.0, True))]  # fmt: skip
    games = make_games(rows)
    timeline = build_timeline(games)
    resolved = resolve(
        Document(
            values={
                "model": {"name": "ttt", "white_advantage": 80},
                "solver": {"posterior": "factorised"},
            }
        )
    )
    fit = ttt.fit(timeline, resolved.params, resolved.config.solver)
    run = memory_run(games, timeline, fit, resolved.config)
    found = games_of(run, "a")
    one, params, unit = found[0], run.meta.params, run.meta.elo_unit
    rows = record_rows("a", found).rows
    assert [(row[2], row[3], row[8]) for row in rows] == [
        ("both", 3, pytest.approx(sum(g.chance.expected for g in found) / 3)),
        ("white", 2, pytest.approx(sum(g.chance.expected for g in found[:2]) / 2)),
        ("neutral", 1, found[2].chance.expected),
    ]
    report = versus_view(run, "a", "b").report
    (values,) = report.rows
    facts = dict(zip(report.columns, values, strict=True))
    assert facts["win_white"] > facts["win_neutral"] > facts["win_black"]
    level = {**params, "white_advantage": 0.0}
    ahead = {**one.strength, "mean": one.strength["mean"] + 200.0 * unit}
    assert sorted((g.result, g.chance.expected) for g in found) == [
        (
            result,
            pytest.approx(
                outcomes("ttt", given, [own], [one.opponent_strength])[0].expected, abs=1e-12
            ),
        )
        for result, given, own in (
            (0, params, ahead),
            (1, level, one.strength),
            (2, params, one.strength),
        )
    ]


def test_the_record_by_period_and_colour(run: Run) -> None:
    rows = record_rows(MORPHY, games_of(run, MORPHY))
    assert [row[1:8] for row in rows.rows] == [
        ("1857", "both", 2, 1, 1, 0, 0.75), ("1857", "white", 2, 1, 1, 0, 0.75),
        ("1858", "both", 3, 2, 0, 1, 2 / 3), ("1858", "white", 1, 1, 0, 0, 1.0), ("1858", "black", 2, 1, 0, 1, 0.5),
    ]  # fmt: skip
    assert [row[9] for row in rows.rows] == [1001.0, 1001.0, 1002.0, 1002.0, 1002.0]
    games = games_of(run, MORPHY)
    assert list(rows.rows)[2][8] == pytest.approx(sum(g.chance.expected for g in games[2:]) / 3)


def test_upsets_are_wins_against_the_odds_least_likely_first(run: Run) -> None:
    games = games_of(run, MORPHY)
    rows = list(upset_rows(MORPHY, games).rows)
    assert len(rows) == sum(g.result == 2 and g.chance.expected < 0.5 for g in games) > 0
    assert [row[3] for row in rows] == sorted(row[3] for row in rows)
    assert rows[0][:3] == (MORPHY, "1857", "Paulsen, Louis")
    assert rows[0][4:] == ("white", 1000.0, 1001.0, "", "a.pgn", 10)


def test_a_favourite_who_mostly_draws_wins_against_no_odds() -> None:
    games = [
        played("1900", 2, 1.0, 1500.0, Outcome(0.45, 0.4, 0.15)),
        played("1901", 2, 1.0, 1500.0, HARD),
    ]
    assert [row[1] for row in upset_rows("a", games).rows] == ["1901"]


@pytest.mark.slow
def test_expectations_are_joint_where_the_run_is() -> None:
    """As `versus` has them: who met often has more in common than independent skills have."""
    rows = [(year, "a", other, k % 3) for year in (1900, 1902) for k in range(8) for other in "bc"]
    _, run = run_of(rows=[*rows, (1901, "a", "c", 2), (1901, "b", "c", 2)], draw_margin=150.0)
    games = games_of(run, "a")
    for game in games:
        report = versus_view(run, "a", game.opponent, at=game.period).report
        facts = dict(zip(report.columns, next(iter(report.rows)), strict=True))
        assert facts["skills"] == "joint"
        assert game.chance.expected == pytest.approx(facts["expected"], abs=1e-5)
    (alone,) = outcomes("ttt", run.meta.params, [games[0].strength], [games[0].opponent_strength])
    assert abs(games[0].chance.expected - alone.expected) > 1e-3


def test_the_best_period_is_the_one_most_above_expectation(run: Run) -> None:
    found = best_period(games_of(run, "Paulsen, Louis"))
    assert found is not None
    assert (found[0], found[1].points, found[1].games) == ("1861", 1, 1)
    assert best_period([]) is None
    assert tally([]).opponents_mean is None


def test_a_weight_is_so_many_games() -> None:
    sums = tally(WEIGHTED)
    assert (sums.games, sums.wins, sums.draws, sums.losses, sums.points) == (
        6.5,
        4.0,
        2.0,
        0.5,
        5.0,
    )
    assert sums.expected == pytest.approx(5 * 0.85 + 1.5 * 0.2)
    assert sums.opponents_mean == pytest.approx((5 * 1000 + 2000 + 850) / 6.5)
    both = next(iter(record_rows("a", WEIGHTED).rows))
    best = best_period(
        WEIGHTED
    )  # 1 of 1.5 where 0.3 were to be expected, not 4 of 5 where 4.25 were
    assert best is not None
    assert (best[0], best[1].points) == ("1901", 1.0)
    assert both[1:9] == ("1900", "both", 5.0, 3.0, 2.0, 0.0, 0.8, pytest.approx(0.85))


def test_what_lies_behind_a_history(run: Run) -> None:
    record, upsets = player_games(run, "Paulsen, Louis", short=True)
    assert record.title[0] == "Paulsen, Louis: +1 =2 -1"
    assert record.title[1].startswith("opponents' mean 1002; best year 1861: 1 of 1, +0.5 on")
    period, *short = next(iter(record.rows))[1:]
    assert (period, short[0], short[-2:]) == ("1857", "+0 =1 -1", ["", "+0 =1 -1"])
    assert upsets.title == ("Wins against the odds",)


def test_a_history_on_a_terminal_has_records_and_scores_by_period(run: Run) -> None:
    """From the games alone, so that no expected scores have to be computed."""
    history = player_view(run, MORPHY).rows
    rows = with_record(run, MORPHY, history)
    by_period = {row["period"]: (row["record"], row["score"]) for row in rows.records()}
    assert by_period == {"1857": ("+1 =1 -0", 0.75), "1858": ("+2 =0 -1", pytest.approx(2 / 3))}
    assert [row["mean"] for row in rows.records()] == [row["mean"] for row in history.records()]
    idle = with_record(run, "Anderssen, Adolf", player_view(run, "anderssen").rows)
    assert [row["record"] is None for row in idle.records()] == [
        row["games"] == 0 for row in idle.records()
    ]


def test_the_chart_shows_the_history(run: Run) -> None:
    rows = player_view(run, "anderssen").rows
    lines = player_chart(rows, width=60)
    assert lines[-1].split() == ["1858", "1862"]
    columns = {name: [row[i] for row in rows.rows] for i, name in enumerate(rows.columns)}
    band = list(zip(columns["mean"], columns["sd"], strict=True))
    assert lines[0].split()[0] == f"{max(m + s for m, s in band):.0f}"
    assert lines[-2].split()[0] == f"{min(m - s for m, s in band):.0f}"
    assert player_chart(rows, width=20) == []


@pytest.fixture
def margins(small_run: Callable[..., Run]) -> Run:
    return small_run(further="draw_margin")


def test_rows_are_the_players_periods_in_order(margins: Run) -> None:
    view = player_view(margins, "anderssen")
    assert view.player == "Anderssen, Adolf"
    assert view.note == ""
    assert view.rows.columns == (
        *("player", "period", "mean", "sd", "games"),
        *("draw_margin", "draw_margin_sd"),
    )
    rows = list(view.rows.rows)
    assert [(row[0], row[1], row[4]) for row in rows] == [
        ("Anderssen, Adolf", year, games)
        for year, games in (("1858", 3), ("1859", 0), ("1860", 0), ("1861", 1), ("1862", 1))
    ]
    assert rows[0][2:4] == (1002.0, 50.0)


def test_a_peak_without_games_is_explained() -> None:
    history = [
        {"period": "1873", "mean": 2093.7, "games": 27},
        {"period": "1874", "mean": 2099.4, "games": 0},
    ]
    assert (
        peak_remark(history, "year")
        == "the peak is that of years with games; 1874, higher, has none"
    )
    assert peak_remark(history[:1], "year") == ""


def test_the_title_says_who_when_and_how_well(margins: Run) -> None:
    title = player_view(margins, "anderssen").rows.title
    assert title[0] == "Anderssen, Adolf"
    assert title[1] == "1858-1862, 5 games (+1 =1 -3), peak 1006 +- 50 in 1862 (1 game)"
    assert title[2].startswith("d.ttt: ttt, 7 games 1857-1862")


def test_a_single_year_and_game_read_well() -> None:
    facts = {"first": "1858", "last": "1858", "games": 1, "wins": 0.5, "draws": 0, "losses": 0.5,
             "peak_period": "1858", "peak_mean": 1200.4, "peak_sd": 99.6}  # fmt: skip
    assert facts_line(facts) == "1858, 1 game (+0.5 =0 -0.5), peak 1200 +- 100 in 1858"


@pytest.fixture
def listed(small_run: Callable[..., Run]) -> Run:
    more = [
        ("1899", "Müller, Jörg", "O'Neil, Ann", "0-1"),
        ("1902", "Müller, Jörg", "O'Neil, Ann", "0-1"),
    ]
    return small_run(*RECORDS, *more)


def names(listed: Run, *args: str, **limits: float) -> list[str]:
    return [row[0].partition(",")[0] for row in players_rows(listed, *args, **limits).rows]  # type: ignore[arg-type]


def test_everyone_by_games(listed: Run) -> None:
    assert names(listed) == ["Anderssen", "Morphy", "Paulsen", "Müller", "O'Neil"]
    assert names(listed, number=2) == ["Anderssen", "Morphy"]


def test_players_of_less_than_a_game_are_listed() -> None:
    run = handmade_run(handmade_games([("1858", "Morphy", "Paulsen", "1-0")], [0.5]))
    assert names(run) == ["Morphy", "Paulsen"]
    assert names(run, min_games=1.0) == []


def test_the_columns(listed: Run) -> None:
    rows = players_rows(listed, "paulsen")
    assert rows.columns == (
        "player",
        "first",
        "last",
        "games",
        "peak_mean",
        "peak_sd",
        "peak_period",
    )
    assert list(rows.rows) == [("Paulsen, Louis", "1857", "1862", 4, 1007.0, 50.0, "1862")]
    assert rows.title[0] == "1 of 5 players"


@each("pattern, found", [
    ("MULL", ["Müller"]), ("jörg mü", ["Müller"]), ("oneil", ["O'Neil"]),
    ("a", ["Anderssen", "Morphy", "Paulsen", "O'Neil"]),
    ("paul", ["Morphy", "Paulsen"]), ("paul m", ["Morphy"]), ("xyz", []), ("?", []), ("%", []), ("_", []),
    (" ", ["Anderssen"]),
])  # fmt: skip
def test_parts_of_names(listed: Run, pattern: str, found: list[str]) -> None:
    assert names(listed, pattern)[: len(found) or None if pattern != " " else 1] == found


def test_years_overlap(listed: Run) -> None:
    assert names(listed, since=1862) == ["Anderssen", "Paulsen", "Müller", "O'Neil"]
    assert names(listed, since=1900, until=1901) == ["Müller", "O'Neil"]
    assert names(listed, until=1857) == ["Morphy", "Paulsen"]
    assert names(listed, until=1857, min_games=5) == ["Morphy"]
