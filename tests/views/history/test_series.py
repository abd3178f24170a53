"""Which events are series: by hand-made friendlies, leagues and tournaments."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import pytest

from tests.views.report.site.conftest import Told, run_of
from ttt_cli.views.history.events import SERIES, find_events
from ttt_cli.views.history.played import played_games

Pairs = Sequence[tuple[int, int]]
RING: Pairs = [(i, (i + step) % 24) for i in range(24) for step in (1, 5)]  # no opponents meet
GROUPS: Pairs = [
    pair for first in range(0, 24, 4) for pair in combinations(range(first, first + 4), 2)
]
KNOCKOUT: Pairs = [(i, i + half) for half in (16, 8, 4, 2, 1) for i in range(half)]


def kind_of(pairs: Pairs, months: int = 12, rounds: str = "") -> str:
    """The kind of an event of games between these players, in the first months of a year."""
    told: list[Told] = [
        (
            f"1900-{1 + number % months:02}-10", f"p{white:02}", f"p{black:02}", "1-0", "Open house",
            "", rounds,
        )
        for number, (white, black) in enumerate(pairs)
    ]  # fmt: skip
    (event,) = find_events(played_games(run_of(sorted(told)))).rows
    return event.kind


def test_games_through_a_year_between_players_without_common_opponents_are_a_series() -> None:
    assert kind_of(RING) == SERIES


@pytest.mark.parametrize(
    ("pairs", "months", "rounds"),
    [
        pytest.param(RING, 6, "", id="less than half a year, as a Swiss tournament"),
        pytest.param(RING, 12, "1", id="with rounds, as a league of teams"),
        pytest.param(GROUPS, 12, "", id="groups of a qualification"),
        pytest.param(KNOCKOUT, 12, "", id="a knockout cup"),
        pytest.param([*combinations(range(8), 2)], 12, "", id="few players"),
    ],
)
def test_contests_are_no_series(pairs: Pairs, months: int, rounds: str) -> None:
    assert kind_of(pairs, months, rounds) == ""
