"""FIDE's tournament report files: games of both lines, points, byes and forfeits, dates, and mutated files."""

import io
import random

import pytest

from tests.support.cases import each
from ttt_cli.config.schema import DataConfig
from ttt_cli.games.read import read_games, read_records
from ttt_cli.support.errors import DataError

NAMES = [
    "Alekhine, Alexander",
    "Bogoljubow, Efim",
    "Capablanca, Jose",
    "Duras, Oldrich",
    "Euwe, Max",
    "Flohr, Salo",
]


def player_line(rank, name, points, rounds, fide_id=""):
    """A line 001, column by column; `rounds`: (opponent, colour, result)."""
    cells = "".join(f"{opponent:>4} {colour} {result}  " for opponent, colour, result in rounds)
    about = f"001 {rank:>4} m{'GM':>3} {name:<33} {2500:>4} FRA {fide_id:>11} {'1892/10/31'} {points:>4} {rank:>4}"
    return f"{about}  {cells}"


def trf(lines, head=("012 Spring Open", "022 Paris", "042 1925/02/01", "052 1925/02/03")):
    return "\n".join([*head, *lines]) + "\n"


SMALL = trf(
    [
        player_line(1, NAMES[0], "2.5", [(2, "w", "1"), (3, "b", "="), (4, "w", "+")], "100"),
        player_line(2, NAMES[1], "0.0", [(1, "b", "0"), (4, "w", "0"), (3, "b", "0")]),
        player_line(3, NAMES[2], "2.5", [("0000", "-", "U"), (1, "w", "="), (2, "w", "1")], "300"),
        player_line(4, NAMES[3], "1.5", [("0000", "-", "H"), (2, "b", "1"), (1, "b", "-")]),
    ]
)  # fmt: skip


def games_of(text, **data):
    """Games as (round, date, White, Black, result)."""
    games = read_games([io.BytesIO(text.encode())], DataConfig(**data))
    days = games.date.astype("datetime64[D]").astype(str)
    return sorted(
        (games.round[row], str(days[row]), games.players[games.white[row]], games.players[games.black[row]],
         ("0-1", "1/2-1/2", "1-0")[games.outcome[row]])
        for row in range(len(games))
    )  # fmt: skip


def test_games_of_a_tournament():
    games = read_games([io.BytesIO(SMALL.encode())])
    assert [row[:1] + row[2:] for row in games_of(SMALL)] == [
        ("1", NAMES[0], NAMES[1], "1-0"),
        ("2", NAMES[1], NAMES[3], "0-1"),
        ("2", NAMES[2], NAMES[0], "1/2-1/2"),
        ("3", NAMES[2], NAMES[1], "1-0"),
    ]
    assert set(games.event) == {"Spring Open"}
    assert set(games.site) == {"Paris"}
    assert set(games.date_precision.tolist()) == {1}  # the month that both days have in common
    assert games.report.dropped == {"forfeit": 1}
    assert games.report.files[0].kind == "trf"


def test_unplayed_games_may_be_kept():
    assert len(games_of(SMALL, drop=[])) == 5


@each("head, days", [
    (("132" + " " * 88 + "25/02/01  25/02/02  25/02/03", "042 1925/02/01"), ["1925-02-01", "1925-02-02", "1925-02-03"]),
    (("132" + " " * 88 + "00/01/01  00/01/02  00/01/03", "042 1999/12/31"), ["2000-01-01", "2000-01-02", "2000-01-03"]),
    (("042 1925/02/01", "052 1925/02/01"), ["1925-02-01"] * 3),
    (("042 1925/02/01", "052 1925/03/01"), ["1925-07-02"] * 3),  # the middle of the year
    (("042 1925-02-01",), ["1925-02-01"] * 3),
])  # fmt: skip
def test_dates(head, days):
    text = trf(SMALL.splitlines()[4:], head)
    assert [row[1] for row in games_of(text)] == [days[0], days[1], days[1], days[2]]


def test_other_points_for_results():
    """Three for a win: TRF26."""
    lines = SMALL.splitlines()[4:]
    points = {" 2.5": " 7.0", " 0.0": " 0.0", " 1.5": " 4.0"}
    changed = [line[:80] + points[line[80:84]] + line[84:] for line in lines]
    head = ["012 Open", "042 1925/02/01", "162  W  3.0    D  1.0"]
    assert len(games_of(trf(changed, head))) == 4
    with pytest.raises(
        DataError, match=r"has 2\.5 points by the results, and 7 in columns 81 to 84"
    ):
        games_of(trf(changed, head[:2]))
    unchecked = [*head[:2], "299 W         3.0"]
    assert len(games_of(trf(changed, unchecked))) == 4


def replaced(line, begin, text):
    """SMALL with a text in a line, from a column counted from 1."""
    lines = SMALL.splitlines()
    lines[line - 1] = lines[line - 1][: begin - 1] + text + lines[line - 1][begin - 1 + len(text) :]
    return "\n".join(lines) + "\n"


@each("text, message", [
    (replaced(5, 92, "   3"), r":5: round 1 of player 1: opponent 3, whose opponent is nobody \(line 7\)"),
    (replaced(5, 92, "   9"), ":5: round 1 of player 1: there is no opponent 9"),
    (replaced(5, 92, "   1"), ":5: round 1 of player 1: there is no opponent 1"),
    (replaced(5, 99, "="), ":5: Alekhine, Alexander has 2 points by the results, and 2.5 in columns 81 to 84"),
    (replaced(5, 97, "b"), ":5: round 1 of player 1: colour 'b' against 'b' in line 6"),
    (replaced(5, 97, "q"), ":5: round 1 of player 1, columns 92 to 99: '   2 q 1' is no opponent, colour and result"),
    (replaced(5, 5, "   2"), ":6: starting rank 2 has two players, the first in line 5"),
    (replaced(5, 5, "    "), ":5: no starting rank in columns 5 to 8"),
    (replaced(5, 15, " " * 33), ":5: player 1 has no name in columns 15 to 47"),
    (replaced(5, 81, "   x"), ":5: points of player 1 in columns 81 to 84 are no number: 'x'"),
    (replaced(7, 99, "W"), ":7: round 1: result 'W' against nobody"),
    (replaced(6, 99, "="), "line 6|points"),
    ("012 Open\n042 1925/02/01\n", "has no players"),
])  # fmt: skip
def test_errors_name_the_line(text, message):
    with pytest.raises(DataError, match=message):
        games_of(text)


def test_results_of_both_have_to_agree():
    text = replaced(5, 99, "=").replace(" 2.5    1  ", " 2.0    1  ")
    with pytest.raises(
        DataError, match=":5: round 1 of player 1: result '=' against '0' in line 6"
    ):
        games_of(text)


def random_tournament(seed):
    """A round robin of six by Berger's table with byes, forfeits and results at random, and its games."""
    rng = random.Random(seed)
    rounds = []
    order = list(range(1, 7))
    for _ in range(rng.randint(1, 5)):
        rounds.append([(order[index], order[5 - index]) for index in range(3)])
        order = [order[0], order[5], *order[1:5]]
    cells = {rank: [] for rank in range(1, 7)}
    points = dict.fromkeys(range(1, 7), 0.0)
    games = []
    for number, pairs in enumerate(rounds, 1):
        for white, black in pairs:
            results = rng.choice(["10", "01", "==", "10", "01", "==", "+-", "HZ", "FZ"])
            if results in ("HZ", "FZ"):
                cells[white].append(("0000", "-", results[0]))
                cells[black].append(("", " ", " ") if rng.random() < 0.5 else ("0000", "-", "Z"))
            else:
                cells[white].append((black, "w", results[0]))
                cells[black].append((white, "b", results[1]))
            value = {"1": 1.0, "+": 1.0, "F": 1.0, "=": 0.5, "H": 0.5}
            points[white] += value.get(results[0], 0.0)
            points[black] += value.get(results[1], 0.0)
            if results in ("10", "01", "=="):
                result = {"10": "1-0", "01": "0-1", "==": "1/2-1/2"}[results]
                games.append((str(number), NAMES[white - 1], NAMES[black - 1], result))
    lines = [player_line(rank, NAMES[rank - 1], points[rank], cells[rank]) for rank in range(1, 7)]
    return trf(lines), sorted(games)


@pytest.mark.parametrize("seed", range(20))
def test_games_in_and_out(seed):
    text, games = random_tournament(seed)
    if games:
        assert [row[:1] + row[2:] for row in games_of(text)] == games


@pytest.mark.parametrize("part", range(3))
def test_mutated_files_give_an_error_or_the_right_games(part):
    """Changes of players' lines beside names, ids and ratings: characters and lines."""
    errors = 0
    for seed in range(100 * part, 100 * (part + 1)):
        rng = random.Random(seed)
        text, games = random_tournament(seed)
        if not games:
            continue
        lines = text.splitlines()
        number = rng.randrange(4, len(lines))
        line = lines[number]
        kind = rng.randrange(5)
        if kind == 0:
            position = rng.choice([*range(9), *range(80, len(line))])
            line = line[:position] + rng.choice("0123456789 wb=-+1HZ") + line[position + 1 :]
            lines[number] = line
        elif kind == 1:
            position = rng.randrange(len(line))
            lines[number] = line[:position] + line[position + 1 :]
        elif kind == 2:
            position = rng.randrange(len(line))
            lines[number] = line[:position] + rng.choice(" 1w") + line[position:]
        elif kind == 3:
            lines[number] = line[: rng.randrange(len(line))]
        else:
            del lines[number]
        try:
            records = read_records([io.BytesIO(("\n".join(lines) + "\n").encode())])
            rows = [row for row in range(len(records)) if records.reject_code[row] == 0]
            results = sorted((records.round[row], records.result[row]) for row in rows)
        except DataError as error:
            errors += bool(error.where)
            continue
        assert results == sorted((game[0], game[3]) for game in games), (
            seed,
            text,
            "\n".join(lines),
        )
    assert errors > 30  # each with its place
