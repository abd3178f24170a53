"""What a run would say without some of its games."""

from dataclasses import replace
from functools import partial
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from tests.support.builders import make_games, random_rows
from tests.support.handmade import CONFIG
from tests.support.joint_runs import JOINT, PLAY, run_of
from tests.support.sides import games_of_sides
from ttt_cli import api
from ttt_cli.inference.influence import Influence
from ttt_cli.reading.columns import CodedColumn
from ttt_cli.runs.write import memory_run
from ttt_cli.support.errors import ConfigError, DataError, LookupFailed
from ttt_cli.systems import ttt
from ttt_cli.timeline import build_timeline
from ttt_cli.views.doubt import DoubtedGames, EligibleSkills, doubt_view, eligible_skills
from ttt_cli.views.fewest_removals import fewest_removals
from ttt_cli.views.game_choice import games_in_file, games_where, with_whole_races
from ttt_cli.views.rankings.eligible import Eligible
from ttt_cli.views.without import WithoutToFirstOrder

EVERYONE = Eligible()
ROWS = random_rows(3, 90, players=7, years=4)
GIVEN = {"draw_margin": 150.0, "white_advantage": 35.0}


@pytest.fixture(scope="module")
def run():
    return run_of(rows=ROWS, **GIVEN)[1]


@pytest.fixture(scope="module")
def games():
    """Games with events and rounds."""
    made = make_games(ROWS)
    codes = np.arange(len(made)) % 4
    return replace(
        made,
        event=CodedColumn(codes, ("", "London", "Paris", "o'Hare")),
        round=CodedColumn(codes, ("", "1", "2", "10")),
    )


def refit(games):
    """The run of a fit of games with the parameters of `run`."""
    timeline = build_timeline(games, "year", "known")
    fit = ttt.fit(timeline, ttt.Params(**{**PLAY, **GIVEN}), JOINT)
    return memory_run(games, timeline, fit, CONFIG)


@pytest.fixture(scope="module")
def run_of_teams():
    """Games of two against two, and against one."""
    rng = np.random.default_rng(7)
    rows = []
    for number in range(90):
        a, b, c, d = rng.permutation(list("abcdefgh"))[:4].tolist()
        second = f"{c} / {d}" if number % 3 else c
        rows.append((1900 + number // 30, f"{a} / {b}", second, int(rng.integers(3))))
    return refit(games_of_sides(rows))


def records(games):
    """Games as dictionaries of their fields, None where nothing is known."""
    return [
        {
            "year": 1970
            + int(np.datetime64(int(games.date[row]), "D").astype("datetime64[Y]").astype(int)),
            "white": games.players[games.white[row]],
            "black": games.players[games.black[row]],
            "result": ("0-1", "1/2-1/2", "1-0")[games.outcome[row]],
            "event": games.event[row] or None,
            "round": games.round[row] or None,
        }
        for row in range(len(games))
    ]


@pytest.mark.parametrize(
    ("condition", "is_meant"),
    [
        ("event = 'london'", lambda game: game["event"] == "London"),
        ("event = 'o''Hare'", lambda game: game["event"] == "o'Hare"),
        ("event != 'London'", lambda game: game["event"] not in (None, "London")),
        ("event is null", lambda game: game["event"] is None),
        ("not event = 'London'", lambda game: game["event"] not in (None, "London")),
        ("year >= 1902 and white = 'p01'", lambda game: game["year"] >= 1902 and game["white"] == "p01"),
        ("date = '1901'", lambda game: game["year"] == 1901),
        ("player = 'p02'", lambda game: "p02" in (game["white"], game["black"])),
        ("player != 'p02'", lambda game: "p02" not in (game["white"], game["black"])),
        ("player in ('p01', 'p02')", lambda game: {"p01", "p02"} & {game["white"], game["black"]}),
        ("result in ('1-0', '0-1')", lambda game: game["result"] != "1/2-1/2"),
        ("round > 1 or (event = 'London' and not black = 'p03')",
         lambda game: (game["round"] in ("2", "10")) or (game["event"] == "London" and game["black"] != "p03")),
        ("event is null or year < 1902", lambda game: game["event"] is None or game["year"] < 1902),
    ],
)  # fmt: skip
def test_games_are_those_that_meet_the_condition(run, games, condition, is_meant):
    rows = games_where(run, games, condition).rows
    assert rows.tolist() == [row for row, game in enumerate(records(games)) if is_meant(game)]


@pytest.mark.parametrize(
    ("condition", "error", "message"),
    [
        ("events = 'London'", ConfigError, "games have no field 'events'"),
        ("event 'London'", ConfigError, "is expected before"),
        ("event = 'London'; DROP TABLE games", ConfigError, "is expected before"),
        ("event = 'Londn'", LookupFailed, "no game of memory meets"),
        ("year > 2000", LookupFailed, "no game of memory meets"),
    ],
)
def test_other_conditions_are_refused(run, games, condition, error, message):
    with pytest.raises(error, match=message):
        games_where(run, games, condition)


def test_a_similar_text_is_suggested(run, games):
    with pytest.raises(LookupFailed) as raised:
        games_where(run, games, "event = 'Londn' and year = 1901")
    assert raised.value.hint == "did you mean 'London'?"
    with pytest.raises(LookupFailed) as with_year:
        games_where(run, games, "event = 'London 1901'")
    assert (
        with_year.value.hint == "the year is a field of its own: event = 'London' and year = 1901"
    )
    with pytest.raises(ConfigError) as raised:
        games_where(run, games, "event")
    assert raised.value.hint == "for instance --where \"event = 'London' and year = 1851\""


def test_a_file_names_each_of_its_games_once(run, games, tmp_path: Path):
    game = records(games)[5]
    equal = [row for row, record in enumerate(records(games)) if record == game]
    file = tmp_path / "games.csv"
    line = f"{game['year']},{game['white']},{game['black']},{game['result']}"
    file.write_text(
        f"date,white,black,result,event\n{line},{game['event']}\n1850,Nobody,Somebody,1-0,\n"
    )
    chosen = games_in_file(run, games, str(file))
    assert chosen.rows.tolist() == equal[:1]
    assert chosen.notes == (f"1 game of {file} not found in memory",)
    file.write_text(f"date,white,black,result,event\n{line},Elsewhere\n")
    with pytest.raises(LookupFailed, match="none of the 1 game"):
        games_in_file(run, games, str(file))
    file.write_text("nothing\n")
    with pytest.raises(DataError):
        games_in_file(run, games, str(file))


@pytest.mark.parametrize(
    "condition",
    ["year = 1901 and player = 'p01'", "white = 'p03' and black = 'p04'", "year = 1903"],
)
def test_first_order_is_near_a_refit(run, condition):
    assert_first_order_is_near_a_refit(run, condition)


@pytest.mark.parametrize("condition", ["player = 'b' and year = 1901", "year = 1902"])
def test_first_order_is_near_a_refit_for_teams(run_of_teams, condition):
    assert_first_order_is_near_a_refit(run_of_teams, condition)


def assert_first_order_is_near_a_refit(run, condition):
    def frame(refitting):
        view = doubt_view(run, DoubtedGames(condition), EVERYONE, refitting, None, every=True)
        return {row[:2]: row[2:] for row in view.skills.rows}, view

    first_order, _ = frame(None)
    exact, _ = frame(refit)
    for key, (mean, sd, mean_without, sd_without) in exact.items():
        if key not in first_order:  # it changes by no more than what is not listed, about
            assert mean_without == pytest.approx(mean, abs=1.0)
            continue
        assert first_order[key][:2] == (mean, sd)
        if mean_without is None:
            assert first_order[key][2] is None
            continue
        change = mean_without - mean
        assert first_order[key][2] - mean == pytest.approx(change, abs=max(1.0, 0.05 * abs(change)))
        assert first_order[key][3] == pytest.approx(sd_without, abs=2.0)


def test_conditions_know_all_members_of_teams(run_of_teams):
    games = run_of_teams.stored_games()
    names = games.teams.names(games.players)
    of_sides = [
        (
            names[games.white_team[row]] or games.players[games.white[row]],
            names[games.black_team[row]] or games.players[games.black[row]],
        )
        for row in range(len(games))
    ]
    meant = {
        "player = 'b'": lambda white, black: "b" in white + black,
        "player != 'b'": lambda white, black: "b" not in white + black,
        "not player = 'b'": lambda white, black: "b" not in white + black,
        "white = 'b'": lambda white, _: "b" in white,
        "black = 'b' and not black in ('c', 'd')": lambda _, black: (
            "b" in black and not {"c", "d"} & {*black}
        ),
    }
    for condition, is_meant in meant.items():
        rows = games_where(run_of_teams, games, condition).rows.tolist()
        assert rows == [row for row, sides in enumerate(of_sides) if is_meant(*sides)], condition


def test_orders_of_finish_are_left_out_whole():
    """The middle player of three is asked about."""
    rows = [((1900, 1), "a", "b", 2), ((1900, 1), "b", "c", 2), ((1901, 2), "c", "a", 2),
            ((1901, 2), "a", "b", 1), ((1901, 3), "b", "a", 2)]  # fmt: skip
    games = games_of_sides(rows)
    chosen = with_whole_races(games, games_where(refit(games), games, "white = 'c'"))
    assert chosen.rows.tolist() == [2, 3]
    assert chosen.notes == ("orders of finish are left out whole",)
    whole = games_where(refit(games), games, "year = 1900")
    assert with_whole_races(games, whole) is whole
    with pytest.raises(ConfigError, match="not computed for orders of finish"):
        api.doubt(refit(games), "year = 1900")
    view = doubt_view(refit(games), DoubtedGames("white = 'c'"), EVERYONE, refit, None, every=False)
    assert "Without 2 of 5 games" in view.skills.title[0]


def test_players_in_no_other_team_have_no_mean(run_of_teams):
    games = run_of_teams.stored_games()
    doubted = DoubtedGames("player = 'b'")
    view = doubt_view(run_of_teams, doubted, EVERYONE, None, None, every=False)
    assert [row[0] for row in view.skills.rows if row[4] is None] == ["b"]
    removals = fewest_removals(run_of_teams, games, 1902, EVERYONE, refit)
    assert removals.new_leader != removals.leader


def test_players_without_other_games_have_no_mean_and_come_last():
    rows = [*ROWS, (1901, "p00", "visitor", 2)]
    _, run = run_of(rows=rows, **GIVEN)
    for refitting in (None, refit):
        view = doubt_view(
            run, DoubtedGames("player = 'visitor'"), EVERYONE, refitting, None, every=False
        )
        assert view.skills.rows[-1][0] == "visitor"
        assert view.skills.rows[-1][-2:] == (None, None)
        assert "without a mean" in view.skills.title[1]


def test_the_largest_changes_come_first_and_each_player_once(run):
    view = doubt_view(run, DoubtedGames("year = 1901"), EVERYONE, None, None, every=False)
    sizes = [abs(row[4] - row[2]) for row in view.skills.rows]
    assert sizes == sorted(sizes, reverse=True)
    players = [row[0] for row in view.skills.rows]
    assert len(players) == len(set(players))
    every = doubt_view(run, DoubtedGames("year = 1901"), EVERYONE, None, 3, every=True)
    assert len(every.skills.rows) == 3


@pytest.mark.parametrize("refitting", [None, refit])
def test_number_ones_that_change_are_those_of_the_skills_without(run, refitting):
    """By the skills of a refit, period by period."""
    doubted = "player = 'p06' and year = 1901"
    view = doubt_view(run, DoubtedGames(doubted), EVERYONE, refitting, None, every=False)
    games = run.stored_games()
    chosen = set(games_where(run, games, doubted).rows.tolist())
    rows = [
        row
        for number, row in enumerate(sorted(ROWS, key=lambda row: row[0]))
        if number not in chosen
    ]
    after = refit(make_games(rows))
    changes = {}
    for year in range(1900, 1904):
        before_skills = run.query(f"FROM skills_within({year}, {year}, NULL)").set_index("player")[
            "mean"
        ]
        after_skills = after.query(f"FROM skills_within({year}, {year}, NULL)").set_index("player")[
            "mean"
        ]
        if before_skills.idxmax() != after_skills.idxmax():
            changes[str(year)] = (before_skills.idxmax(), after_skills.idxmax())
    assert changes
    listed = {}
    for first, last, leader, leader_without in view.leaders.rows:
        for year in range(int(first), int(last) + 1):
            listed[str(year)] = (leader, leader_without)
    assert listed == changes


def test_doubt_in_python(run):
    frame = api.doubt(run, "year = 1901", number=4)
    assert list(frame) == ["player", "period", "mean", "sd", "mean_without", "sd_without"]
    assert len(frame) == 4
    leaders = api.doubt(run, "year = 1901", kind="leaders", everyone=True)
    assert list(leaders) == ["from", "to", "number_one", "number_one_without"]
    with pytest.raises(ConfigError, match="no kind of doubt"):
        api.doubt(run, "year = 1901", kind="games")
    with pytest.raises(ConfigError, match="one of them"):
        api.doubt(run)
    with pytest.raises(ConfigError, match="leader goes without"):
        api.doubt(run, "year = 1901", leader=1901)
    with pytest.raises(ConfigError, match="all games of memory"):
        api.doubt(run, "year > 1800")


def test_a_system_without_influence_is_refitted():
    run = api.fit(make_games(ROWS), "elo")
    with pytest.raises(ConfigError, match="not computed for the model elo"):
        api.doubt(run, "year = 1901")
    exact = api.doubt(run, "year = 1901", refit=True, number=None)
    rows = [row for row in ROWS if row[0] != 1901]
    without = api.fit(make_games(rows), "elo").skills().set_index(["player", "period"])["mean"]
    for player, period, mean_without in zip(
        exact["player"], exact["period"], exact["mean_without"], strict=True
    ):
        if (player, period) in without.index:
            assert mean_without == pytest.approx(without[player, period])
    doubted = DoubtedGames("year = 1901")
    refitted = partial(api.fit, config="elo")
    shown = list(doubt_view(run, doubted, EVERYONE, refitted, None, every=False).skills.records())
    assert {(row["sd"], row["sd_without"]) for row in shown} == {(None, None)}


def test_a_scale_applies_to_both(run):
    timeline, _ = run_of(rows=ROWS, **GIVEN)
    fit = ttt.fit(timeline, ttt.Params(**{**PLAY, **GIVEN}), JOINT)
    in_elo = memory_run(make_games(ROWS), timeline, fit, CONFIG, ["elo"])
    slope = in_elo.scale.slope
    assert slope != 1.0
    in_points = api.doubt(run, "year = 1901").set_index("player")
    first_order = api.doubt(in_elo, "year = 1901").set_index("player")
    for column in ("sd", "sd_without"):
        assert first_order[column].to_numpy() == pytest.approx(slope * in_points[column].to_numpy())
    change = first_order["mean_without"] - first_order["mean"]
    change_in_points = in_points["mean_without"] - in_points["mean"]
    assert change.to_numpy() == pytest.approx(slope * change_in_points.to_numpy())
    refitted = doubt_view(in_elo, DoubtedGames("year = 1901"), EVERYONE, refit, None, every=True)
    refitted_in_points = doubt_view(
        run, DoubtedGames("year = 1901"), EVERYONE, refit, None, every=True
    )
    rows_in_points = {row[:2]: row for row in refitted_in_points.skills.rows}
    for row in refitted.skills.rows:
        in_points_row = rows_in_points[row[:2]]
        assert row[4] - row[2] == pytest.approx(slope * (in_points_row[4] - in_points_row[2]))
        assert row[5] == pytest.approx(slope * in_points_row[5])


def smallest_by_exhaustion(rows, field, leader):
    """The size of the smallest set of games without which `leader` has not the highest mean, by refits of all sets."""
    skills = field.skills
    for size in range(1, len(rows)):
        for removed in combinations(range(len(rows)), size):
            remaining = [row for index, row in enumerate(rows) if index not in removed]
            timeline = build_timeline(make_games(remaining), "year", "known")
            fit = ttt.fit(timeline, ttt.Params(**{**PLAY, **GIVEN}), JOINT)
            at = {
                (timeline.players[player], period): mean
                for player, period, mean in zip(
                    timeline.node_player, timeline.node_period, fit.mean, strict=True
                )
            }
            present = {
                player: at[player, period] for player, period in skills if (player, period) in at
            }
            if (
                present
                and max(present, key=lambda player: (present[player], player == leader)) != leader
            ):
                return size
    return None


@pytest.mark.slow
@pytest.mark.parametrize(
    "seed", [*range(2), *(pytest.param(seed, marks=pytest.mark.large) for seed in range(2, 20))]
)
def test_the_fewest_removals_are_those_of_exhaustive_search(seed):
    """All in one year, so that nobody has a skill without games in it."""
    rows = random_rows(100 + seed, 8, players=5, years=1)
    _, run = run_of(rows=rows, **GIVEN)
    field = eligible_skills(run, EVERYONE, 1900)
    exhaustive = smallest_by_exhaustion(rows, field, field.players[0])
    removals = fewest_removals(run, run.stored_games(), 1900, EVERYONE, refit)
    assert len(removals.rows) == exhaustive
    assert removals.leader == field.players[0]
    assert removals.new_leader != removals.leader


def test_the_fewest_removals_do_not_depend_on_the_size_of_a_point():
    """The lead is lost by games each of which moves it by less than one point of the original TrueSkill."""
    rows = random_rows(107, 30, players=4, years=1)
    unit = 100.0
    prior = {"prior_mean": 1200.0, "prior_sd": 400.0}
    small = {name: value / unit for name, value in {**PLAY, **GIVEN, **prior}.items()}

    def refit_small(games):
        timeline = build_timeline(games, "year", "known")
        return memory_run(games, timeline, ttt.fit(timeline, ttt.Params(**small), JOINT), CONFIG)

    small_run = refit_small(make_games(rows))
    removals = fewest_removals(small_run, make_games(rows), 1900, EVERYONE, refit_small)
    _, usual_run = run_of(rows=rows, **GIVEN)
    usual = fewest_removals(usual_run, usual_run.stored_games(), 1900, EVERYONE, refit)
    assert removals.rows == usual.rows
    assert removals.new_leader == usual.new_leader
    assert removals.leads == pytest.approx([lead / unit for lead in usual.leads], rel=1e-3)


def test_the_leader_of_a_period_changes_without_the_games_found(run):
    table = api.doubt(run, leader=1902, everyone=True)
    assert list(table) == ["date", "white", "black", "result", "lead", "event"]
    leads = table["lead"].tolist()
    assert leads == sorted(leads, reverse=True)
    with pytest.raises(LookupFailed):
        api.doubt(run, leader=1700)


@pytest.mark.parametrize("rows", [[0], [3, 40], list(range(20)), list(range(10, 80, 7))])
def test_nobody_who_is_passed_over_would_be_number_one(run, games, rows):
    without = WithoutToFirstOrder(run, Influence(run, games), games, np.array(rows))
    field = eligible_skills(run, EVERYONE)
    rivals = field.take(without.may_lead(field.skills, field.mean))
    leaders = rivals.leaders(without.means(rivals.skills, rivals.mean))
    assert leaders == field.leaders(without.means(field.skills, field.mean))


def test_the_first_by_name_of_equal_players_is_number_one_and_no_one_without_means():
    field = EligibleSkills(
        np.array([1900, 1900, 1900, 1901, 1901, 1902]), list("cabcba"), np.zeros(6)
    )
    mean = np.array([5.0, 5.0, np.nan, 1.0, 2.0, np.nan])
    assert field.leaders(mean) == {1900: "a", 1901: "b"}


def test_players_who_may_lead_are_fewer_than_all(run, games):
    without = WithoutToFirstOrder(run, Influence(run, games), games, np.array([0]))
    field = eligible_skills(run, EVERYONE)
    may_lead = without.may_lead(field.skills, field.mean)
    assert 0 < may_lead.sum() < len(may_lead)
