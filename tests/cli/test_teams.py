"""Teams from files through every view: published figures, columns and separators, shares, updates, what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.reference.link_histories import FIGURES
from tests.support.cases import each
from tests.support.commands import Ran, rows
from ttt_cli import open_run
from ttt_cli.config.schema import DataConfig, FilterConfig
from ttt_cli.games.read import read_games
from ttt_cli.games.table import GAME_COLUMNS
from ttt_cli.timeline import build_timeline

IN_NAMES = """date,event,white,black,result
1900-05-01,Open,M / A,B / C,1-0
1900-06-01,Singles,M,B,0-1
1902-05-01,Open,A / B,M / C,1/2-1/2
1902-06-01,Singles,C,A,1-0
"""
IN_COLUMNS = """date,event,white_1,white_2,black_1,black_2,result
1900-05-01,Open,M,A,B,C,1-0
1900-06-01,Singles,M,,B,,0-1
1902-05-01,Open,A,B,M,C,1/2-1/2
1902-06-01,Singles,C,,A,,1-0
"""
FIT = [
    "fit", "games.csv", "-q", "-c", "ttt", "-s", "model.draw_margin=250", "-s", "model.prior_sd=400", "-s",
    "model.beta=480", "-s", "model.tau=60", "-s", "model.prior_mean=1200", "-s", "solver.tol=1e-6",
]  # fmt: skip
SEPARATOR = ["-s", 'data.team_separator=" / "']


@pytest.fixture
def here(folder: Path, ran: Ran) -> Path:
    (folder / "games.csv").write_text(IN_NAMES)
    ran([*FIT, *SEPARATOR])
    return folder


@each("text, options", [(IN_NAMES, SEPARATOR), (IN_COLUMNS, [])])
def test_teams_are_fitted_without_naming_a_model(
    folder: Path, ran: Ran, text: str, options: list[str]
) -> None:
    """The default of chess, `ttt-career`, has draws that move, which games of teams have not."""
    (folder / "games.csv").write_text(text)
    ran(["fit", "games.csv", "-q", *options])
    with open_run("games.ttt") as run:
        assert run.meta.model == "ttt"
        assert run.meta.config["model"].get("draw_margin_drift", 0) == 0
        assert run.meta.config["data"]["sides"] == ["white", "black"]


@each("text, options", [(IN_NAMES, SEPARATOR), (IN_COLUMNS, [])])
def test_published_figures(folder: Path, ran: Ran, text: str, options: list[str]) -> None:
    """Those of a dense EP written from the definition, to 1e-4 in log Z and 0.001 points."""
    (folder / "games.csv").write_text(text)
    ran([*FIT, *options])
    assert json.loads(ran("evidence -f json").out)["log_evidence"] == pytest.approx(
        -5.0294498, abs=1e-4
    )
    for (player, year), (mean, sd) in FIGURES["teams"][2].items():
        (row,) = [row for row in rows(ran(f"player {player}").out) if row["period"] == f"{year}"]
        assert float(row["mean"]) == pytest.approx(mean, abs=1e-3)
        if sd is not None:
            assert float(row["sd"]) == pytest.approx(sd, abs=1e-3)


def test_names_with_a_slash_are_players_without_the_key(folder: Path, ran: Ran) -> None:
    (folder / "games.csv").write_text(IN_NAMES)
    ran([*FIT, "-s", "data.filter.exclude=[]"])
    assert {row["player"] for row in rows(ran("players").out)} >= {"M / A", "B / C", "M"}


def test_members_are_players_in_every_view(here: Path, ran: Ran) -> None:
    assert [(row["player"], row["games"]) for row in rows(ran("players").out)] == [
        ("A", "3"), ("B", "3"), ("C", "3"), ("M", "3"),
    ]  # fmt: skip
    assert [row["white"] for row in rows(ran("export games").out)] == ["M / A", "M", "A / B", "C"]
    games = rows(ran("player C --games").out)
    assert [(row["opponent"], row["result"], row["colour"]) for row in games] == [
        ("M / A", "0-1", "black"), ("A / B", "1/2-1/2", "black"), ("A", "1-0", "white"),
    ]  # fmt: skip
    record = rows(ran("player C --record").out)
    assert [(row["period"], row["games"]) for row in record if row["colour"] == "both"] == [
        ("1900", "1.0"), ("1902", "2.0"),
    ]  # fmt: skip
    lead = json.loads(ran("versus C A -f json").out)
    assert (lead["played"], lead["wins"], lead["draws"], lead["losses"]) == (3, 1, 1, 1)
    standings = rows(ran("event Open --at 1900").out)
    assert {(row["player"], row["points"]) for row in standings} == {
        ("M", "1.0"), ("A", "1.0"), ("B", "0.0"), ("C", "0.0"),
    }  # fmt: skip
    assert {row["performance"] for row in standings} == {""}
    assert {row["player"] for row in rows(ran("top --at 1902").out)} == set("MABC")


def test_expected_scores_of_teams_are_those_of_sums(here: Path, ran: Ran) -> None:
    """In exports and in the games of each member: a sum of four skills with the noise of four players."""
    with open_run("games.ttt") as run:
        skills = {(row.player, row.period): row for row in run.skills().itertuples()}
    expected = [float(row["expected"]) for row in rows(ran("export games").out)]
    for index, year, white, black in ((0, "1900", "MA", "BC"), (2, "1902", "AB", "MC")):
        mean = sum(skills[name, year].mean for name in white) - sum(
            skills[name, year].mean for name in black
        )
        variance = sum(skills[name, year].sd ** 2 for name in white + black) + 4 * 480.0**2
        ends = (250.0 * np.sqrt(2.0) + np.array([mean, -mean])) / np.sqrt(variance)
        from scipy.special import ndtr

        loss, win = 1.0 - ndtr(ends)
        assert expected[index] == pytest.approx(win + 0.5 * (1.0 - win - loss), abs=1e-9)
    of_member = rows(ran("player C --games").out)
    assert float(of_member[1]["expected"]) == pytest.approx(1.0 - expected[2], abs=1e-9)


def test_shares_are_coefficients(folder: Path) -> None:
    (folder / "games.csv").write_text(
        "date,home_1,home_1_share,home_2,home_2_share,away_1,away_2,result\n"
        "1900,A,1,B,0.25,C,D,1-0\n1900,A,,B,0,C,D,1-0\n1901,A,1,B,x,C,D,0-1\n"
    )
    games = read_games(["games.csv"])
    timeline = build_timeline(games, "year", "known")
    members = timeline.members
    assert games.teams.names(games.players) == ["", "A / B (0.25)", "C / D"]
    assert members.share.tolist() == [1.0, 0.25, 1.0, 1.0, 1.0, 1.0, 1.0]
    assert [games.players[player] for player in timeline.node_player[members.node]] == list(
        "ABCDACD"
    )
    assert games.report.dropped == {"no player": 1}


def test_members_are_united_by_their_spellings(folder: Path) -> None:
    (folder / "games.csv").write_text(
        'date,white,black,result\n1900,"Dr. Roe, Jane + Poe, E.",Abe Lee,1-0\n1901,"Roe, Jane","Poe, E",1-0\n'
    )
    games = read_games(["games.csv"], DataConfig(team_separator="+"))
    assert len(games.players) == 3
    assert games.players[games.teams.player[1]] in ("Poe, E", "Poe, E.")
    assert games.white.tolist() == [2, 2]


@each(
    "white, black, reason",
    [
        ("A / B", "C / A", "same player twice"),
        ("A / A", "C", "same player twice"),
        ("A / ?", "C", "no player"),
        ("A / NN", "C", "unnamed player"),
    ],
)
def test_teams_that_cannot_play_are_dropped(
    folder: Path, white: str, black: str, reason: str
) -> None:
    (folder / "games.csv").write_text(
        f"date,white,black,result\n1900,{white},{black},1-0\n1900,A / B,C / D,1-0\n1900,A,B,1-0\n"
    )
    games = read_games(["games.csv"], DataConfig(team_separator=" / "))
    assert len(games) == 2
    assert games.report.dropped == {reason: 1}


def test_a_run_gives_its_games_back_and_takes_more(here: Path, ran: Ran) -> None:
    games = read_games(["games.csv"], DataConfig(team_separator=" / "))
    with open_run("games.ttt") as run:
        stored = run.stored_games()
    assert stored.teams == games.teams
    for name in GAME_COLUMNS:
        assert np.array_equal(getattr(stored, name), getattr(games, name)), name
    (here / "more.csv").write_text("date,event,white,black,result\n1903,Open,M / D,A / B,1-0\n")
    ran("update games.ttt more.csv -q")
    assert [row["games"] for row in rows(ran("players D").out)] == ["1"]
    assert rows(ran("player B --games").out)[-1]["opponent"] == "M / D"
    (here / "all.csv").write_text(IN_NAMES + "1903,Open,M / D,A / B,1-0\n")
    ran(["fit", "all.csv", *FIT[2:], *SEPARATOR])
    means = [
        [row["mean"] for row in rows(ran(f"player M -r {run}").out)]
        for run in ("games.ttt", "all.ttt")
    ]
    assert np.array(means[0], float) == pytest.approx(np.array(means[1], float), abs=1e-3)


def test_systems_for_two_players_refuse_teams(here: Path, ran: Ran) -> None:
    result = ran(["fit", "games.csv", "-c", "ttt-d", *SEPARATOR], code=2)
    assert "ttt-d rates games of two players, not those of teams or orders of finish" in result.err
    compared = ran("compare ttt naive elo --from 1902", code=4)
    assert {row["system"]: bool(row["log_loss"]) for row in rows(compared.out)} == {
        "ttt": True, "naive": True, "elo": False,
    }  # fmt: skip
    assert "elo rates games of two players" in compared.err


def test_what_runs_with_teams_do_not_have_yet_is_said(here: Path, ran: Ran) -> None:
    assert (
        "chains of opponents are not computed for teams"
        in ran("why M --by chain --versus A", code=2).err
    )


def test_why_knows_teams(here: Path, ran: Ran) -> None:
    """C's opponents are on the other side, never partners; sides are named in full."""
    by_opponent = rows(ran("why C --at 1902 --by opponent").out)
    assert {row["opponent"] for row in by_opponent} == {"M", "A", "B"}
    by_game = rows(ran("why C --at 1902").out)
    assert {row["white"] for row in by_game} == {"M / A", "A / B", "C", "M"}


def test_players_linked_by_teams_are_of_one_group(folder: Path, ran: Ran) -> None:
    """A and B never stand first on opposite sides of anybody else."""
    (folder / "games.csv").write_text(
        "date,white,black,result\n1900,A / B,C / D,1-0\n1900,B,E,1-0\n1900,F,D,1-0\n"
    )
    assert "groups of players" not in ran(["fit", "games.csv", "-c", "ttt", *SEPARATOR]).err


def test_filters_count_every_member(folder: Path) -> None:
    """E is never named first, and plays once; F and G are linked to the others by a partner alone."""
    (folder / "games.csv").write_text(
        "date,white,black,result\n1900,A / B,C / D,1-0\n1901,A / E,C / D,1-0\n1901,B / C,A / D,0-1\n"
        "1902,F,B / H,1-0\n1902,K,L,1-0\n"
    )

    def players(**filters: object) -> str:
        data = DataConfig(team_separator=" / ", filter=FilterConfig(**filters))
        return "".join(read_games(["games.csv"], data).players)

    assert players() == "ABCDEFHKL"
    assert players(min_games=2) == "ABCD"
    assert players(largest_group=True) == "ABCDEFH"


def test_games_with_other_partners_are_no_duplicates(folder: Path) -> None:
    (folder / "games.csv").write_text(
        "date,round,white,black,result\n1900-05-01,1,A / B,C / D,1-0\n1900-05-01,1,A / E,C / D,1-0\n"
        "1900-05-01,1,A / B,C / D,1-0\n"
    )
    data = DataConfig(team_separator=" / ", filter=FilterConfig(dedupe=True))
    games = read_games(["games.csv"], data)
    assert games.report.dropped == {"duplicate": 1}
    assert len(games.players) == 5


def test_names_with_a_slash_hint_at_the_key(folder: Path, ran: Ran) -> None:
    (folder / "games.csv").write_text(IN_NAMES)
    fit = ["fit", "games.csv", "-c", "ttt", "-s", "data.filter.exclude=[]"]
    assert "4 names with ` / `: -s 'data.team_separator" in ran(fit).err
    assert "names with ` / `" not in ran([*fit, *SEPARATOR]).err


def test_pages_of_a_site_name_all_members_of_teams(folder: Path, ran: Ran) -> None:
    """A year's games of no event, and a player's least expected wins."""
    losses = "".join(f"19{year},B / C,M / A,1-0\n" for year in range(10, 22))
    (folder / "games.csv").write_text(f"date,home,away,result\n{losses}1922,M / A,B / C,1-0\n")
    ran([*FIT, *SEPARATOR])
    ran("report site")
    year = (folder / "site" / "years" / "1910.html").read_text()
    assert "<th>home" in year
    assert "<td>B / C<td>M / A<td>" in year
    wins = (folder / "site" / "players" / "m.html").read_text().split("Best wins")[1]
    assert "B / C" in wins.split("</table>")[0]
