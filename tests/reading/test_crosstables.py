"""Crosstables: cells, totals, headers, errors that name the cell, round trips, and mutated files."""

import io
import random
from itertools import combinations
from pathlib import Path

import pytest

from tests.support.cases import each
from ttt_cli import api
from ttt_cli.config.schema import DataConfig
from ttt_cli.games.read import read_games, read_records
from ttt_cli.support.errors import DataError

PETERSBURG = """\
event: St Petersburg
date: 1895
site: St Petersburg

Lasker, Emanuel          *        11½01½   00½1½½   1½11½1   11½
Steinitz, William        00½10½   *        1½½111   01100=   9½
Pillsbury, Harry Nelson  11½0½½   0==000   *        11100½   8
Chigorin, Mikhail        0½00½0   10011½   00011½   *        7
"""


def games_of(text: str, **data) -> list[tuple[str, str, str]]:
    """Games as (winner or first, other, result), sorted."""
    games = read_games([io.BytesIO(text.encode())], DataConfig(format="crosstable", **data))
    players = games.players
    return sorted(
        (players[white], players[black], ("0-1", "1/2-1/2", "1-0")[outcome])
        for white, black, outcome in zip(games.white, games.black, games.outcome, strict=True)
    )


def as_pairs(games):
    """Games without regard to who of a drawn game is named first."""
    return sorted(
        (*sorted(pair), result) if result == "1/2-1/2" else (*pair, result)
        for *pair, result in games
    )


SMALL = "date: 1851\nAnn Lee * 1 ½ 1½\nBob 0 * 1 1\nCid ½ 0 * ½\n"
GAMES = [("Ann Lee", "Bob", "1-0"), ("Ann Lee", "Cid", "1/2-1/2"), ("Bob", "Cid", "1-0")]
FORMS = [
    SMALL,
    "date: 1851\n\n1. Ann Lee x 1 = 1½\n2. Bob 0 x 1 1\n3. Cid = 0 x 0.5\n",
    "date: 1851\nAnn Lee,*,1,0.5\nBob,0,,1\nCid,½,0,*\n",
    "date: 1851\nNo;Name;1;2;3;Points\n1;Ann Lee;;1;½;1,5\n2;Bob;0;;1;1\n3;Cid;½;0;;½\n",
    "date: 1851\n| Player | Elo | 1 | 2 | 3 | Total | Place |\n| Ann Lee | 2000 | * | 1 | 1/2 | 1½ | 1 |\n"
    "| Bob | | 0 | * | 1 | 1 | 2 |\n| Cid | | 1/2 | 0 | * | 1/2 | 3 |\n",
    "date: 1851\nAnn Lee\t\t1\t½\nBob\t0\t\t1\nCid\t½\t0\t\n",
    "date: 1851\nname 1 2 3 total\nAnn Lee * 1 ½ 1.5\nBob 0 * 1 1.0\nCid ½ 0 * .5\n",
]  # fmt: skip


@each("text", FORMS)
def test_tables_of_every_form(text):
    assert as_pairs(games_of(text)) == GAMES


def test_a_match_tournament_with_what_is_said_of_it():
    games = read_games([io.BytesIO(PETERSBURG.encode())])
    assert len(games) == 36
    assert set(games.event) == {"St Petersburg"}
    assert set(games.site) == {"St Petersburg"}
    assert games.report.files[0].winner_first  # colours are unknown
    points = dict.fromkeys(games.players, 0.0)
    for white, black, outcome in zip(games.white, games.black, games.outcome, strict=True):
        points[games.players[white]] += outcome / 2
        points[games.players[black]] += 1 - outcome / 2
    assert points == {
        "Lasker, Emanuel": 11.5, "Steinitz, William": 9.5, "Pillsbury, Harry Nelson": 8.0, "Chigorin, Mikhail": 7.0,
    }  # fmt: skip


def test_it_is_the_tournament_of_the_sample():
    """Scores of all pairs as in the sample, which has its games one by one."""
    sample = api.read_games(str(Path(__file__).parents[2] / "sample_pgn" / "classics.pgn"))
    event = [index for index, text in enumerate(sample.event) if text == "St Petersburg9596"]
    table = read_games([io.BytesIO(PETERSBURG.encode())])

    def scores(games, rows):
        by_pair: dict[tuple[str, str], list[float]] = {}
        for row in rows:
            players = (
                games.players[games.white[row]].split(",")[0],
                games.players[games.black[row]].split(",")[0],
            )
            outcome = games.outcome[row] / 2
            by_pair.setdefault(players, []).append(outcome)
            by_pair.setdefault(players[::-1], []).append(1 - outcome)
        return {pair: sorted(results) for pair, results in by_pair.items()}

    assert len(event) == 36
    assert scores(sample, event) == scores(table, range(36))


def test_several_tables_and_headers_of_each():
    text = f"event: First\n{SMALL}\nevent: Second\ndate: 1852-07-01\nround: final\nAnn * 11\nBob 00 *\n"
    games = read_games([io.BytesIO(text.encode())])
    assert list(games.event) == ["First"] * 3 + ["Second"] * 2
    assert list(games.round) == [""] * 3 + ["final"] * 2
    assert games.date_precision.tolist() == [0, 0, 0, 2, 2]


def test_forfeits_and_unplayed_games_are_no_games():
    text = "date: 1851\nAnn * + - 1\nBob - * 1 1\nCid - 0 * 0\n"
    records = read_records([io.BytesIO(text.encode())], DataConfig(format="crosstable"))
    assert records.report.dropped == {"forfeit": 1}
    assert games_of(text) == [("Bob", "Cid", "1-0")]


def test_a_date_for_all_tables():
    text = SMALL.partition("\n")[2]
    with pytest.raises(DataError, match="a crosstable without a date"):
        games_of(text)
    assert games_of(text, constant={"date": 1851}) == games_of(SMALL)


@each("text, message", [
    (SMALL.replace("Bob 0", "Bob 1").replace("* 1 1\nCid", "* 1 2\nCid"),
     r":2: Ann Lee against Bob \(column 2\): '1' does not agree with '1' in line 3"),
    (SMALL.replace("Lee *", "Lee 1").replace("½ 1½", "½ 2½"), r":2: Ann Lee against Ann Lee \(column 1\): '1' "),
    (SMALL.replace("1 ½ 1½", "½ ½ 1½"), ":2: the results of Ann Lee add up to 1, and the total is 1½"),
    (SMALL.replace("Bob 0", "Bob 2"), r":3: Bob against Ann Lee \(column 1\): '2' is no result"),
    (SMALL.replace("Cid", "Bob"), ":4: 'Bob' has two rows, the first in line 3"),
    (SMALL.replace("Cid ½ 0 * ½\n", ""), ":2: Ann Lee . against Ann Lee"),
    ("date: 1851\nAnn,*,1,1\nBob,0,*\n", ":3: a row of 3 cells"),
    ("date: 1851\nname;1;2\nAnn;*;1\nBob;0\n", ":4: a row of 2 cells below 3"),
    ("date: 1851\nAnn *\n", ":2: a crosstable of fewer than two players"),
    ("date: 1851\n;*;1\nBob;0;*\n", ":2: a row without a name"),
    ("date: 1851\nAnn;*;1;1\nBob;0;*;\n", ":3: Bob has no total"),
    ("date: 1851\nAnn;*;1;1\nBob;0;*;o\n", ":3: the total of Bob is no number: 'o'"),
    ("date: 1851\nAnn;*;11;2\nBob;0;*;0\n", r"Ann against Bob \(column 2\): '11' does not agree with '0' in line 3"),
])  # fmt: skip
def test_errors_name_the_cell(text, message):
    with pytest.raises(DataError, match=message):
        games_of(text)


def crosstable(names, results, delimiter=","):
    """Games {(i, j): symbols of i}, i < j, as a crosstable with totals, written by hand."""
    answer = {"1": "0", "0": "1", "½": "½"}
    rows = []
    for row, name in enumerate(names):
        cells = []
        for column in range(len(names)):
            if row == column:
                cells.append("*")
            elif row < column:
                cells.append(results[row, column])
            else:
                cells.append("".join(answer[symbol] for symbol in results[column, row]))
        points = sum(
            {"1": 1.0, "0": 0.0, "½": 0.5, "*": 0.0}[symbol] for cell in cells for symbol in cell
        )
        rows.append([name, *cells, f"{points:g}"])
    return "\n".join([f"date: 18{50 + len(names)}", *(delimiter.join(row) for row in rows)]) + "\n"


def random_table(seed):
    rng = random.Random(seed)
    names = [f"Player {chr(65 + number)}" for number in range(rng.randint(2, 7))]
    results = {
        pair: "".join(rng.choice("10½") for _ in range(rng.randint(1, 3)))
        for pair in combinations(range(len(names)), 2)
    }
    return names, results


@pytest.mark.parametrize("seed", range(20))
def test_round_trip(seed):
    """Crosstable, games, crosstable."""
    names, results = random_table(seed)
    for delimiter in (",", "  "):
        text = crosstable(names, results, delimiter)
        games = read_games([io.BytesIO(text.encode())], DataConfig(format="crosstable"))
        back: dict[tuple[int, int], str] = {}
        for white, black, outcome in zip(games.white, games.black, games.outcome, strict=True):
            pair = [names.index(games.players[player]) for player in (white, black)]
            symbol = "0½1"[outcome]
            if pair[0] > pair[1]:
                pair.reverse()
                symbol = "1½0"[outcome]
            back[pair[0], pair[1]] = back.get((pair[0], pair[1]), "") + symbol
        assert crosstable(names, back, delimiter) == text


def results_and_points(games):
    """What names do not change: all results, and the points of all players."""
    points: dict[str, float] = {}
    for white, black, result in games:
        won = {"1-0": 1.0, "1/2-1/2": 0.5, "0-1": 0.0}[result]
        points[white] = points.get(white, 0.0) + won
        points[black] = points.get(black, 0.0) + 1.0 - won
    return sorted(result for *_, result in games), sorted(points.values())


def mutated(text, rng):
    """The text with one change below the date: a cell or character changed, removed or doubled, or lines so."""
    head, _, body = text.partition("\n")
    lines = body.splitlines()
    match rng.randrange(4):
        case 0:
            position = rng.randrange(len(body))
            body = body[:position] + rng.choice("10½=*-+x2, ;|\n") + body[position + 1 :]
        case 1:
            position = rng.randrange(len(body))
            body = body[:position] + body[position + 1 :]
        case 2:
            number = rng.randrange(len(lines))
            change = rng.choice([[], [lines[number]] * 2, [lines[number], ""]])
            body = "\n".join([*lines[:number], *change, *lines[number + 1 :]]) + "\n"
        case _:
            first, second = rng.sample(range(len(lines)), 2)
            lines[first], lines[second] = lines[second], lines[first]
            body = "\n".join(lines) + "\n"
    return f"{head}\n{body}"


@pytest.mark.parametrize("part", range(3))
def test_mutated_files_give_an_error_or_the_right_games(part):
    """Names may change, results not."""
    errors = 0
    for seed in range(100 * part, 100 * (part + 1)):
        rng = random.Random(seed)
        names, results = random_table(seed)
        text = crosstable(names, results, rng.choice([",", "  ", "|", ";"]))
        changed = mutated(text, rng)
        expected = results_and_points(games_of(text))
        try:
            games = games_of(changed)
        except DataError as error:
            errors += bool(error.where)
            continue
        assert results_and_points(games) == expected, (text, changed)
    assert errors > 40  # each with its place
