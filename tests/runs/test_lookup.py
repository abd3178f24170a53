import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.cases import each
from tests.support.handmade import (
    CONFIG,
    GAPS,
    Record,
    fit_of,
    games_of,
    put_small_run,
    run_by,
    run_of,
)
from ttt_cli.config.schema import Period, ScaleConfig
from ttt_cli.runs.lookup import Anchor, Found, Scale, parse_anchor
from ttt_cli.runs.run import Run, open_run
from ttt_cli.runs.write import memory_run
from ttt_cli.support.errors import ConfigError, LookupFailed
from ttt_cli.timeline import build_timeline

Finder = Callable[[str], Found]


def finder(games: dict[str, int]) -> Finder:
    """Look-up in a run where each player has played so many games in 1900, against `Opponent`."""
    records: list[Record] = []
    for player, count in games.items():
        records += [("1900", player, "Opponent", "1-0")] * count
    return run_of(games_of(records)).find_player


@pytest.fixture(scope="module")
def find() -> Finder:
    return finder(
        {
            "Morphy, Paul": 40,
            "Morphy, Alonzo": 3,
            "Morphy, Ernest": 1,
            "Müller, Hans": 5,
            "Mueller, Hans": 5,
            "Tal, Mihail": 9,
            "Tal, Boris": 1,
            "Thomas, George Alan": 2,
            "Smith, Thomas": 1,
            "Jones, Thomas": 30,
            "de la Bourdonnais, Louis": 4,
            "O'Kelly de Galway, Alberic": 2,
            "Capablanca, Jose Raul": 7,
            "NN": 1,
            "Fischer, Robert James": 30,
            "Fischer, Daniel": 4,
        }
    )


@each(
    "typed, meant",
    [
        ("Morphy, Paul", "Morphy, Paul"),
        ("morphy,PAUL ", "Morphy, Paul"),
        ("Paul Morphy", "Morphy, Paul"),
        ("Bourdonnais", "de la Bourdonnais, Louis"),
        ("de la bourdonnais", "de la Bourdonnais, Louis"),
        ("Capablanca, J R", "Capablanca, Jose Raul"),
        ("J.R. Capablanca", "Capablanca, Jose Raul"),
        ("Capablanca, Jo", "Capablanca, Jose Raul"),
        ("bori tal", "Tal, Boris"),
        ("Morphy, Pa", "Morphy, Paul"),
        ("nn", "NN"),
        ("Thomas", "Thomas, George Alan"),
        ("/^tal, m/", "Tal, Mihail"),
        ("Morphy, E", "Morphy, Ernest"),
        ("A. Morphy", "Morphy, Alonzo"),
        ("Bobby Fischer", "Fischer, Robert James"),
        ("Misha Tal", "Tal, Mihail"),
    ],
)
def test_a_name_that_means_one_player_finds_him_silently(
    find: Finder, typed: str, meant: str
) -> None:
    assert find(typed) == Found(meant)


def test_the_others_of_a_shared_surname_are_noted(find: Finder) -> None:
    found = find("morphy")
    assert found.player == "Morphy, Paul"
    assert "Morphy, Alonzo (3 games, 1900)" in found.note
    assert "Morphy, Ernest (1 game, 1900)" in found.note


@pytest.mark.parametrize(("games", "decided"), [(30, True), (29, False)])
def test_ten_times_the_games_of_the_next_decide(games: int, decided: bool) -> None:
    look_up = finder({"Morphy, Paul": games, "Morphy, Alonzo": 3, "Morphy, Ernest": 2})
    if decided:
        assert look_up("Morphy").player == "Morphy, Paul"
    else:
        with pytest.raises(LookupFailed, match="3 players"):
            look_up("Morphy")


def test_ambiguous_short_forms_and_shared_first_names_are_refused() -> None:
    look_up = finder({"Fischer, Robert James": 30, "Fischer, Rob": 4})
    assert look_up("Robert Fischer").player == "Fischer, Robert James"
    with pytest.raises(LookupFailed, match="2 players"):
        look_up("Bobby Fischer")
    with pytest.raises(LookupFailed, match="Jones, Thomas"):
        finder({"Smith, Thomas": 1, "Jones, Thomas": 30})("Thomas")


def test_candidates_are_listed_with_games_and_years(find: Finder) -> None:
    with pytest.raises(LookupFailed) as caught:
        find("Tal")
    assert caught.value.exit_code == 2
    assert caught.value.message.splitlines()[1:] == [
        "  Tal, Mihail (9 games, 1900)",
        "  Tal, Boris (1 game, 1900)",
    ]


@each(
    "typed, message, hint",
    [
        ("/xyz/", "no player matches", "regular expression"),
        ("/(/", "regular expression", ""),
        ("/Thomas/", "3 players", ""),
        # Each word typed needs a word of its own, parts of surnames are not taken, initials alone are no name
        *(
            (typed, "no player", "")
            for typed in ("Capablanca Capablanca", "Capablanca, J J", "P M")
        ),
        *((typed, "no player", "") for typed in ("Morph", "Morp, Paul", "Morphy, Pax")),
        *(
            (typed, "no player", "did you mean 'Morphy, Paul'")
            for typed in ("Morfy", "paul morfy", "Mophry, Paul")
        ),
        *((typed, "no player", "") for typed in ("xyzzyx", "?", "")),
    ],
)
def test_a_name_that_nobody_or_several_have_is_refused(
    find: Finder, typed: str, message: str, hint: str
) -> None:
    with pytest.raises(LookupFailed, match=message) as caught:
        find(typed)
    assert hint in (caught.value.hint or "")
    if typed in ("xyzzyx", "?", ""):
        assert "did you mean" not in (caught.value.hint or "")


def test_a_long_list_is_cut_and_says_so() -> None:
    look_up = finder({f"Smith, A{i}": 1 for i in range(15)})
    with pytest.raises(LookupFailed, match="and 5 more"):
        look_up("Smith")


def test_a_bare_surname_is_decided_by_games_even_where_a_player_is_spelled_so() -> None:
    look_up = finder({"Morphy": 2, "Morphy, Paul": 40, "Lange": 5, "Lange, Max": 40})
    assert look_up("Morphy").player == "Morphy, Paul"
    assert "Morphy (2 games" in look_up("morphy").note
    assert look_up("=Morphy") == Found("Morphy")
    with pytest.raises(LookupFailed, match="2 players") as caught:
        look_up("Lange")
    assert "'=Lange' selects" in (caught.value.hint or "")
    with pytest.raises(LookupFailed, match="no player is spelled"):
        look_up("=morphy")


def test_two_spellings_of_one_name_are_told_apart_by_the_exact_one() -> None:
    look_up = finder({"Müller, Hans": 3, "Muller, Hans": 2})
    assert look_up("Müller, Hans").player == "Müller, Hans"
    assert look_up("Muller, Hans").player == "Muller, Hans"
    with pytest.raises(LookupFailed, match="2 players"):
        look_up("muller hans")


@pytest.fixture
def run(small_run: Callable[..., Run]) -> Run:
    return small_run(*GAPS)


def test_the_last_period_is_meant_by_default(run: Run) -> None:
    assert run.find_period(None) == ("1859", 1859)
    assert run.find_period(None, "A") == ("1856", 1856)
    assert run.find_period("1859", "A") == ("1859", 1859)


@pytest.mark.slow
@each(
    "period, at, meant",
    [
        ("year", "1858", "1858"),
        ("month", "1858", "1858-12"),
        ("month", " 1858.08 ", "1858-08"),
        ("month", "1858-Q3", "1858-09"),
        ("quarter", "1858", "1858-Q4"),
        ("quarter", "1858-Q2", "1858-Q2"),
        ("week", "1858-06", "1858-W25"),
        ("week", "1858-W23", "1858-W23"),
        ("day", "1858-06", "1858-06-30"),
        ("day", "1858-W23", "1858-06-13"),
    ],
)
def test_a_longer_period_is_its_last_one(period: Period, at: str, meant: str) -> None:
    assert run_by(period).find_period(at)[0] == meant


@each("period, at, containing", [("year", "1858-08", "1858"), ("week", "1858-01-01", "1857-W53")])
def test_a_shorter_period_is_refused_with_the_one_that_contains_it(
    period: Period, at: str, containing: str
) -> None:
    with pytest.raises(LookupFailed, match=f"the run is by the {period}: .* is shorter") as caught:
        run_by(period).find_period(at)
    assert caught.value.hint == f"use {containing}, which contains it"


def test_no_calendar_has_these() -> None:
    run = run_by("day")
    for at in ("185", "1858-13", "1858-02-30", "1858-W60", "0000", "1858-Q5", "x"):
        with pytest.raises(LookupFailed, match="is not a period"):
            run.find_period(at)


def test_a_period_without_anybody_says_what_there_is(run: Run) -> None:
    with pytest.raises(LookupFailed, match="no player has a skill at 1900") as caught:
        run.find_period("1900")
    assert caught.value.hint == "the run covers 1850 to 1859, by the year"
    for year in ("1856", "1900"):
        with pytest.raises(LookupFailed, match=f"D has no skill at {year}") as caught:
            run.find_period(year, "D")
        assert caught.value.hint == "the history starts in 1857, the run ends in 1859"


RECORDS = (
    ("1850", "Anderssen, Adolf", "Dufresne, Jean", "1-0"),
    ("1852", "Anderssen, Adolf", "Kieseritzky, Lionel", "1-0"),
    ("1852", "Kieseritzky, Lionel", "Dufresne, Jean", "1/2-1/2"),
)
UNIT = 2.5
ALL = "SELECT player, period, mean, sd FROM skills"


def scaled(anchors: list[str] | None = None, slope: str = "elo", further: str | None = None) -> Run:
    games = games_of(RECORDS)
    timeline = build_timeline(games)
    fit = replace(fit_of(timeline, further=further), elo_unit=UNIT)
    scale = ScaleConfig(anchors=anchors or [], slope=slope)  # type: ignore[arg-type]
    return memory_run(games, timeline, fit, CONFIG.model_copy(update={"scale": scale}))


def rows(run: Run) -> dict[tuple[str, str], tuple[float, float]]:
    return {row[:2]: row[2:] for row in run.select(ALL)[1]}


def test_one_anchor_sets_the_level_and_leads_keep_their_meaning() -> None:
    assert (scaled().scale, scaled().scale.unit) == (Scale(), "points")
    points, elo = rows(scaled()), rows(scaled(["Anderssen @ 1852 = 2600"]))
    assert elo["Anderssen, Adolf", "1852"][0] == pytest.approx(2600)
    base = points["Anderssen, Adolf", "1852"][0]
    for key, (mean, sd) in points.items():
        assert elo[key] == pytest.approx((2600 + (mean - base) / UNIT, sd / UNIT))


def test_elo_in_a_word_gives_its_differences_at_the_level_of_the_points() -> None:
    games = games_of(RECORDS)
    timeline = build_timeline(games)
    fit = fit_of(timeline)
    fit = replace(fit, elo_unit=UNIT, params={**fit.params, "prior_mean": 1200.0})
    elo = memory_run(games, timeline, fit, CONFIG, ["elo"])
    shown = rows(elo)
    for key, (mean, sd) in rows(memory_run(games, timeline, fit, CONFIG)).items():
        assert shown[key] == pytest.approx((1200.0 + (mean - 1200.0) / UNIT, sd / UNIT))
    assert (elo.scale.unit, elo.scale.anchors) == ("Elo", ())
    with pytest.raises(ConfigError, match="give points, elo, or anchors"):
        _ = memory_run(games, timeline, fit, CONFIG, ["elo", "Anderssen @ 1852 = 2600"]).scale


@pytest.mark.parametrize("slope", ["elo", "matched"])
def test_several_anchors_are_met_on_average_and_by_a_matched_slope(slope: str) -> None:
    run = scaled(["Anderssen @ 1852 = 2600", "Dufresne @ 1850 = 2400"], slope)
    found = rows(run)
    missed = found["Anderssen, Adolf", "1852"][0] - 2600, found["Dufresne, Jean", "1850"][0] - 2400
    assert sum(missed) == pytest.approx(0)
    assert (run.scale.slope == 1 / UNIT) == (slope == "elo")
    assert (missed == pytest.approx((0, 0))) == (slope == "matched")


@pytest.mark.parametrize(
    "anchors", [["Anderssen @ 1852 = 2600"], ["Anderssen @ 1852 = 2400", "Dufresne @ 1850 = 2600"]]
)
def test_no_slope_to_be_matched(anchors: list[str]) -> None:
    with pytest.raises(ConfigError, match="no slope"):
        _ = scaled(anchors, "matched").scale


def test_peaks_and_margins_are_on_the_scale_and_counts_are_not() -> None:
    points, elo = (
        scaled(further="draw_margin"),
        scaled(["Anderssen @ 1852 = 2600"], further="draw_margin"),
    )
    sql = "SELECT peak_mean, peak_sd, games, wins FROM players WHERE surname = 'anderssen'"
    ((peak, sd, *counts),), ((peak_elo, sd_elo, *counts_elo),) = (
        points.select(sql)[1],
        elo.select(sql)[1],
    )
    assert (peak_elo, sd_elo) == pytest.approx(
        (elo.scale.slope * peak + elo.scale.shift, sd / UNIT)
    )
    assert counts_elo == counts
    margins = "SELECT draw_margin, draw_margin_sd, games, period_number FROM skills"
    for (margin, margin_sd, *rest), (elo_margin, elo_sd, *elo_rest) in zip(
        points.select(margins)[1], elo.select(margins)[1], strict=True
    ):
        assert (elo_margin, elo_sd) == pytest.approx((margin / UNIT, margin_sd / UNIT))
        assert elo_rest == rest
    assert list(points.skills().columns) == list(elo.skills().columns)


def test_back_in_points() -> None:
    run = scaled(["Anderssen @ 1852 = 2600"], further="draw_margin")
    sql = "SELECT s FROM skills s ORDER BY player, period"
    plain = [row for (row,) in scaled(further="draw_margin").select(sql)[1]]
    for one, (other,) in zip(plain, run.select(sql)[1], strict=True):
        exact = {
            key: pytest.approx(value) if isinstance(value, float) else value
            for key, value in one.items()
        }
        assert run.scale.points(other) == exact


def test_a_stored_run_is_opened_on_any_scale(tmp_path: Path) -> None:
    put_small_run(tmp_path / "a.ttt", RECORDS)
    run = open_run(tmp_path / "a.ttt", ["Anderssen @ 1852 = 2600"])
    assert rows(run)["Anderssen, Adolf", "1852"][0] == pytest.approx(2600)
    with run:
        assert rows(run)["Anderssen, Adolf", "1852"][0] == pytest.approx(2600)
        assert rows(run) == rows(run)
    assert rows(open_run(tmp_path / "a.ttt"))["Anderssen, Adolf", "1852"][0] < 1100
    assert math.isclose(open_run(tmp_path / "a.ttt", ["points"]).scale.slope, 1.0)
    with pytest.raises(ConfigError, match="give points, elo, or anchors"):
        _ = open_run(tmp_path / "a.ttt", ["points", "Anderssen @ 1852 = 2600"]).scale


def test_anchors_as_they_are_written() -> None:
    assert parse_anchor(" Lasker, Emanuel@1900=2720.5 ") == Anchor(
        "Lasker, Emanuel", "1900", 2720.5
    )
    assert str(parse_anchor("A @ B @ 1900-Q1 = -3")) == "A @ B in 1900-Q1 = -3"
    for wrong in ("Lasker = 2720", "Lasker @ 1900", "@ 1900 = 2720", "Lasker @ 1900 = high"):
        with pytest.raises(ConfigError, match="not an anchor"):
            parse_anchor(wrong)


def test_an_anchor_must_have_a_skill_then() -> None:
    with pytest.raises(LookupFailed, match="no skill in 1900") as caught:
        _ = scaled(["Anderssen @ 1900 = 2600"]).scale
    assert caught.value.hint == "there are skills from 1850 to 1852"
    with pytest.raises(LookupFailed, match="no player"):
        _ = scaled(["Morphy @ 1852 = 2600"]).scale


def test_ids_of_players_are_those_of_the_games() -> None:
    run = run_of(games_of([("1900", "B", "A", "1-0"), ("1901", "A", "C", "1-0")]))
    pairs = run.select("SELECT white_id, black_id FROM games ORDER BY period")[1]
    assert run.player_ids("B", "A") + run.player_ids("A", "C") == [*pairs[0], *pairs[1]]
    assert run.player_ids("Nobody", None) == [-1, -1]
