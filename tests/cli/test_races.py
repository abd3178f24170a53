"""Orders of finish from files through every view: published figures, ties, teams, places, what is left out."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import numpy as np
import pytest

from tests.reference.link_histories import FIGURES
from tests.support.cases import each
from tests.support.commands import Ran, rows
from ttt_cli.config.schema import DataConfig
from ttt_cli.games.read import read_games
from ttt_cli.views.places import place_probabilities, sampled_place_probabilities

OF_PARTICIPANTS = """event_id,date,player,rank,team
1,1900-01-01,M,1,
1,1900-01-01,C,4,
1,1900-01-01,B,3,
1,1900-01-01,A,2,
2,1901-01-01,M,2,
2,1901-01-01,A,1,
2,1901-01-01,B,1,
3,1903-01-01,C,1,x
3,1903-01-01,A,2,
3,1903-01-01,M,1,x
3,1903-01-01,B,3,
"""
OF_EVENTS = """date,1st,2nd,3rd,4th
1900-01-01,M,A,B,C
1901-01-01,A = B,M,,
1903-01-01,C / M,A,B,
"""
BY_SCORE = """Race;Year;Driver;Points
Open;1900;M;9
Open;1900;A;6
Open;1900;B;4
Open;1900;C;0
Open;1901;A;5
Open;1901;B;5
Open;1901;M;1
"""
FIT = [
    "fit", "races.csv", "-q", "-c", "ttt", "-s", "model.draw_margin=250", "-s", "model.prior_sd=400", "-s",
    "model.beta=480", "-s", "model.tau=60", "-s", "model.prior_mean=1200", "-s", "solver.tol=1e-6",
]  # fmt: skip
SEPARATOR = ["-s", 'data.team_separator=" / "']


@each("text, options", [(OF_PARTICIPANTS, []), (OF_EVENTS, SEPARATOR)])
def test_published_figures(folder: Path, ran: Ran, text: str, options: list[str]) -> None:
    """Those of a dense EP written from the definition, to 1e-4 in log Z and 0.001 points."""
    (folder / "races.csv").write_text(text)
    ran([*FIT, *options])
    assert json.loads(ran("evidence -f json").out)["log_evidence"] == pytest.approx(
        -9.2423100, abs=1e-4
    )
    for (player, year), (mean, sd) in FIGURES["sides"][2].items():
        (row,) = [row for row in rows(ran(f"player {player}").out) if row["period"] == f"{year}"]
        assert float(row["mean"]) == pytest.approx(mean, abs=1e-3)
        assert float(row["sd"]) == pytest.approx(sd, abs=1e-3)


def outcomes(games) -> list[tuple[str, str, int, int]]:
    return [
        (games.players[white], games.players[black], outcome, race)
        for white, black, outcome, race in zip(
            games.white.tolist(),
            games.black.tolist(),
            games.outcome.tolist(),
            games.race.tolist(),
            strict=True,
        )
    ]


def test_a_table_of_scores_is_an_order(folder: Path) -> None:
    """More points are better; events of one name are those of its years; columns as the file calls them."""
    (folder / "table.csv").write_text(BY_SCORE)
    games = read_games(["table.csv"])
    assert outcomes(games) == [
        ("M", "A", 2, 1), ("A", "B", 2, 1), ("B", "C", 2, 1), ("A", "B", 1, 2), ("B", "M", 2, 2),
    ]  # fmt: skip
    assert games.neutral.all()
    named = BY_SCORE.replace("Driver", "who").replace("Race", "where")
    (folder / "named.csv").write_text(named)
    again = read_games(["named.csv"], DataConfig(columns={"player": "who", "event_id": "where"}))
    assert outcomes(again)[0] == ("M", "A", 2, 1)


def test_races_of_several_files_are_different(folder: Path) -> None:
    for name in ("a.csv", "b.csv"):
        (folder / name).write_text(OF_EVENTS)
    games = read_games(["a.csv", "b.csv"])
    assert np.bincount(games.race).tolist() == [0, 3, 2, 2, 3, 2, 2]


def test_what_cannot_be_placed_is_reported(folder: Path) -> None:
    (folder / "races.csv").write_text(
        "event_id,date,player,rank\n1,1900,A,1\n1,1900,B,2\n1,1900,C,DNF\n2,1900,D,1\n1,1900,E\n1,1900,?,3\n"
    )
    games = read_games(["races.csv"])
    assert outcomes(games) == [("A", "B", 2, 1)]
    assert games.report.dropped == {"no player": 1, "bad row": 3}
    details = [(problem.line, problem.detail) for problem in games.report.problems]
    assert (4, "without a rank: C") in details
    assert (5, "nobody to compare in the order of finish") in details
    assert (6, "3 fields, not 4") in details


@each(
    "text",
    [
        "date,white,black,result\n1900,A,B,1-0\n",
        "event,date,player1,player2,score\nOpen,1900,A,B,1-0\n",
        "event,date,white,black,result,place\nOpen,1900,A,B,1-0,Here\n",
    ],
)
def test_games_of_two_are_no_races(folder: Path, text: str) -> None:
    (folder / "games.csv").write_text(text)
    games = read_games(["games.csv"])
    assert outcomes(games) == [("A", "B", 2, 0)]
    assert not games.neutral.any()


@each("text, options, rows_of_file", [(OF_PARTICIPANTS, [], 11), (OF_EVENTS, SEPARATOR, 3)])
def test_rows_are_those_of_the_file(
    folder: Path, ran: Ran, text: str, options: list[str], rows_of_file: int
) -> None:
    """Each order of finish is several results, of which none is a row."""
    (folder / "races.csv").write_text(text)
    printed = ran(["fit", "races.csv", "-c", "ttt", *options]).err
    wanted = f"races.csv: {rows_of_file} rows, 7 results of neighbours in orders of finish\n"
    assert wanted in printed


def test_covariates_of_participants_are_differences(folder: Path) -> None:
    """Each result has that of the side less that of the next one behind it."""
    text = "event_id,date,player,rank,rest\n1,1900,A,1,7\n1,1900,B,2,4\n1,1900,C,3,6\n"
    (folder / "races.csv").write_text(text)
    games = read_games(["races.csv"], DataConfig(covariates={"rest": "rest"}))
    columns = games.covariates[0].columns
    values = [
        [columns[side].values[code] for code in columns[side].codes] for side in ("white", "black")
    ]
    assert values == [["7", "4"], ["4", "6"]]


def test_races_are_seen_as_results_of_neighbours(folder: Path, ran: Ran) -> None:
    (folder / "races.csv").write_text(OF_PARTICIPANTS)
    ran(FIT)
    assert [(row["player"], row["games"]) for row in rows(ran("players").out)] == [
        ("A", "5"), ("B", "5"), ("M", "3"), ("C", "2"),
    ]  # fmt: skip
    games = rows(ran("player M --games").out)
    assert [(row["opponent"], row["result"], row["side"]) for row in games] == [
        ("A", "won", "neutral"), ("B", "lost", "neutral"), ("A", "won", "neutral"),
    ]  # fmt: skip
    (folder / "more.csv").write_text("date,1st,2nd,3rd\n1904,B,M,D\n")
    ran("update races.ttt more.csv -q")
    assert [row["games"] for row in rows(ran("players").out) if row["player"] == "D"] == ["1"]
    compared = ran("compare ttt naive whr --from 1903", code=4)
    assert "whr rates games of two players" in compared.err


def test_places_of_all_are_one(folder: Path, ran: Ran) -> None:
    (folder / "races.csv").write_text(OF_PARTICIPANTS)
    ran(FIT)
    table = rows(ran("versus M A B C --places --at 1903").out)
    places = np.array([[float(row[f"p_{place}"]) for place in (1, 2, 3, 4)] for row in table])
    assert places.sum(axis=0) == pytest.approx(np.ones(4), abs=1e-9)
    assert places.sum(axis=1) == pytest.approx(np.ones(4), abs=1e-9)
    assert float(table[0]["place"]) == pytest.approx(places[0] @ [1, 2, 3, 4])
    assert "takes no option but --at" in ran("versus M A --places --games 3", code=2).err


def test_probabilities_of_places() -> None:
    """Of two they are P(t_1 > t_2); of equals 1 / n; of three as many samples say."""
    from scipy.special import ndtr

    p = float(ndtr(100.0 / np.hypot(300.0, 400.0)))
    of_two = place_probabilities(np.array([1300.0, 1200.0]), np.array([300.0, 400.0]))
    assert of_two == pytest.approx(np.array([[p, 1.0 - p], [1.0 - p, p]]), abs=1e-9)
    assert place_probabilities(np.zeros(5), np.ones(5)) == pytest.approx(
        np.full((5, 5), 0.2), abs=1e-9
    )
    mean = np.array([0.0, 1.0, 0.3])
    sd = np.array([1.0, 2.0, 0.5])
    samples = np.random.default_rng(1).normal(mean, sd, (200_000, 3))
    place = 2 - samples.argsort(axis=1).argsort(axis=1)
    shares = np.array([np.bincount(place[:, player], minlength=3) for player in range(3)]) / 200_000
    assert place_probabilities(mean, sd) == pytest.approx(shares, abs=5e-3)
    correlated = np.array([[300.0**2, 40_000.0], [40_000.0, 400.0**2]])
    p = float(ndtr(100.0 / np.sqrt(300.0**2 + 400.0**2 - 80_000.0)))
    assert sampled_place_probabilities(np.array([1300.0, 1200.0]), correlated) == pytest.approx(
        np.array([[p, 1.0 - p], [1.0 - p, p]]), abs=3e-3
    )


@each("text", [OF_PARTICIPANTS, OF_EVENTS])
def test_json_and_parquet_are_read_as_csv(folder: Path, text: str) -> None:
    import pyarrow.csv
    import pyarrow.parquet

    (folder / "races.csv").write_text(text)
    header, *lines = csv.reader(io.StringIO(text))
    objects = [json.dumps(dict(zip(header, line, strict=True))) for line in lines]
    (folder / "races.jsonl").write_text("\n".join(objects))
    pyarrow.parquet.write_table(
        pyarrow.csv.read_csv(folder / "races.csv"), folder / "races.parquet"
    )
    expected = read_games(["races.csv"], DataConfig(team_separator=" / "))
    for name in ("races.jsonl", "races.parquet"):
        games = read_games([name], DataConfig(team_separator=" / "))
        assert games.players == expected.players, name
        assert games.teams == expected.teams, name
        for column in ("white", "black", "outcome", "race", "date", "white_team", "neutral"):
            assert np.array_equal(getattr(games, column), getattr(expected, column)), name


def test_the_summary_counts_orders_of_finish(folder: Path, ran: Ran) -> None:
    (folder / "races.csv").write_text(OF_PARTICIPANTS)
    summary = ran(["fit", "races.csv", "-c", "ttt"]).err
    assert "games (3 orders of finish, each counted by its neighbours)" in summary
