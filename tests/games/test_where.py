"""Conditions on players: what they mean, what is not known, and what cannot be read."""

from __future__ import annotations

import pytest

from tests.support.cases import each
from ttt_cli.games.where import parse_condition
from ttt_cli.support.errors import ConfigError

FACTS = {
    "player": "Morphy, Paul",
    "born": "1837-06-22",
    "federation": "USA",
    "club": "O'Hara's",
    "age": 21.0,
    "elo": "2690",
}


@each(
    "condition, truth",
    [
        ("federation = 'USA'", True),
        ('FEDERATION = "usa"', True),
        ("federation <> 'USA'", False),
        ("club = 'O''Hara''s'", True),
        ("player < 'Paulsen, Louis'", True),
        ("born < 1850", True),
        ("born = 1837", True),
        ("born >= '1837-06-22'", True),
        ("born > '1837-06-22'", False),
        ("age < 20", False),
        ("age <= 21 and age>=21", True),
        ("elo > 2689.5", True),
        ("elo > -1", True),
        ("federation in ('GER', 'usa')", True),
        ("age not in (20, 22)", True),
        ("died = 1884", None),
        ("died is null", True),
        ("born is not null", True),
        ("not died = 1884", None),
        ("federation > 5", None),
        ("died = 1884 or age = 21", True),
        ("died = 1884 and age = 20", False),
        ("died = 1884 and age = 21", None),
        ("age = 20 or age = 21 and federation = 'GER'", False),
        ("(age = 20 or age = 21) and federation = 'USA'", True),
        ("not (age = 20 or not federation = 'USA')", True),
        ("not not age = 21", True),
    ],
)
def test_a_condition_is_true_false_or_unknown(condition: str, truth: bool | None) -> None:
    assert parse_condition(condition).holds(FACTS) is truth


@each(
    "condition, message",
    [
        ("", "a field is expected at the end"),
        ("age", "=, !=, <, <=, >, >=, in or is is expected at the end"),
        ("age <", "a number or a text in quotes is expected at the end"),
        ("age < young", "a number or a text in quotes is expected before 'young'"),
        (
            "age < 20 federation = 'USA'",
            "'and', 'or' or the end is expected before \"federation = 'USA'\"",
        ),
        ("(age < 20", "'\\)' is expected at the end"),
        ("age in 20", "'\\(' is expected before '20'"),
        ("age is 20", "'null' is expected before '20'"),
        ("age not = 20", "'in' is expected before '= 20'"),
        ("and = 1", "a field is expected before 'and = 1'"),
        ("age < 20; drop table players", "an operator.* is expected before '; drop table players'"),
        ("federation = 'USA", 'is expected before "\'USA"'),
        ("age = 2 0", "is expected before '0'"),
    ],
)
def test_what_cannot_be_read_says_where(condition: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        parse_condition(condition)
