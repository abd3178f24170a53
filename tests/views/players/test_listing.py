from collections.abc import Callable

import pytest

from tests.support.cases import each
from tests.support.handmade import RECORDS
from ttt_cli.runs.run import Run
from ttt_cli.views.players import players_rows


@pytest.fixture
def run(small_run: Callable[..., Run]) -> Run:
    more = [("1899", "Müller, Jörg", "O'Neil, Ann", "0-1"), ("1902", "Müller, Jörg", "O'Neil, Ann", "0-1")]
    return small_run(*RECORDS, *more)


def names(run: Run, *args: str, **limits: float) -> list[str]:
    return [row[0].partition(",")[0] for row in players_rows(run, *args, **limits).rows]  # type: ignore[arg-type]


def test_everyone_by_games(run: Run) -> None:
    assert names(run) == ["Anderssen", "Morphy", "Paulsen", "Müller", "O'Neil"]
    assert names(run, number=2) == ["Anderssen", "Morphy"]


def test_the_columns(run: Run) -> None:
    rows = players_rows(run, "paulsen")
    assert rows.columns == ("player", "first", "last", "games", "peak_mean", "peak_sd", "peak_period")
    assert list(rows.rows) == [("Paulsen, Louis", "1857", "1862", 4, 1007.0, 50.0, "1862")]
    assert rows.title[0] == "1 of 5 players"


@each("pattern, found", [
    ("MULL", ["Müller"]), ("jörg mü", ["Müller"]), ("oneil", ["O'Neil"]),
    ("a", ["Anderssen", "Morphy", "Paulsen", "O'Neil"]),
    ("paul", ["Morphy", "Paulsen"]), ("paul m", ["Morphy"]), ("xyz", []), ("?", []), ("%", []), ("_", []),
    (" ", ["Anderssen"]),
])  # fmt: skip
def test_parts_of_names(run: Run, pattern: str, found: list[str]) -> None:
    assert names(run, pattern)[: len(found) or None if pattern != " " else 1] == found


def test_years_overlap(run: Run) -> None:
    assert names(run, since=1862) == ["Anderssen", "Paulsen", "Müller", "O'Neil"]
    assert names(run, since=1900, until=1901) == ["Müller", "O'Neil"]
    assert names(run, until=1857) == ["Morphy", "Paulsen"]
    assert names(run, until=1857, min_games=5) == ["Morphy"]
