"""Matches given by their score, and large weights, in the filters that take one game after the other."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.builders import EXACT, make_games, skills
from tests.support.strategies import examples
from ttt_cli.systems import registry
from ttt_cli.timeline import Timeline, build_timeline

SYSTEMS = ("elo", "trueskill", "spinrad")
PARAMS = {"draw_margin": 100}
Match = tuple[
    int, str, str, tuple[float, float, float]
]  # year, White, Black, games lost, drawn and won

matches = st.lists(
    st.tuples(
        st.integers(1900, 1903),
        st.permutations("abcd").map(lambda p: (p[0], p[1])),
        st.tuples(*[st.sampled_from([0.0, 1.0, 2.0, 7.5, 400.0, 5000.0])] * 3).filter(any),
    ).map(lambda row: (row[0], *row[1], row[2])),
    min_size=1,
    max_size=8,
).map(lambda rows: sorted(rows, key=lambda row: row[0]))
laws = examples(15)


def timeline_of(rows: list[Match]) -> Timeline:
    """As the reading makes it: a row for each outcome, all of one line."""
    parts = [
        (line, (year, white, black, outcome, count))
        for line, (year, white, black, tally) in enumerate(rows)
        for outcome, count in enumerate(tally)
        if count
    ]
    games = make_games([row for _, row in parts])
    return build_timeline(
        replace(games, source_line=np.array([line for line, _ in parts], np.int64))
    )


def found(timeline: Timeline, system: str, **params: object) -> dict[tuple[str, int], float]:
    module = registry.load(system)
    fit = module.fit(timeline, module.Params(**PARAMS | params), EXACT)
    return {key: mean for key, (mean, _) in skills(timeline, fit).items()}


@pytest.mark.parametrize("system", SYSTEMS)
def test_a_match_leads_to_where_its_score_is_expected(system: str) -> None:
    """400 of 600: 120.4 Elo points; all losses first led by 811 (TrueSkill 1,329)."""
    skill = found(timeline_of([(1850, "a", "b", (200, 0, 400))]), system, draw_margin=0)
    lead = skill["a", 1850] - skill["b", 1850]
    if (
        system == "trueskill"
    ):  # a lead x wins with Phi(x / (sqrt(2) beta)); the prior holds it a little
        assert 0.5 * math.erfc(-lead / (2.0 * 480.0)) == pytest.approx(2 / 3, abs=0.005)
    else:
        assert lead == pytest.approx(400 * math.log10(2), abs=1e-6)


@pytest.mark.parametrize("system", SYSTEMS)
@laws
@given(matches)
def test_the_order_of_rows_and_sides_does_not_matter(system: str, rows: list[Match]) -> None:
    timeline = timeline_of(rows)
    expected = found(timeline, system)
    turned = [(year, black, white, tally[::-1]) for year, white, black, tally in rows]
    assert found(timeline_of(turned), system) == pytest.approx(expected, abs=1e-6)
    if timeline.joined is not None:
        start = np.flatnonzero(~timeline.joined)
        order = np.concatenate(
            [part[::-1] for part in np.split(np.arange(timeline.n_games), start[1:])]
        )
        swapped = replace(timeline, outcome=timeline.outcome[order], weight=timeline.weight[order])
        assert found(swapped, system) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("system", SYSTEMS)
def test_large_weights_are_so_many_games(system: str) -> None:
    before = [(1899, "a", "c", 2), (1899, "c", "b", 0)]
    once = build_timeline(make_games([*before, (1900, "a", "b", 2, 20_000.0), (1901, "b", "a", 2)]))
    often = [(1900, "a", "b", 2, 1.0)] * 20_000
    singly = build_timeline(make_games([*before, *often, (1901, "b", "a", 2)]))
    assert found(once, system) == pytest.approx(found(singly, system), abs=0.5)


def test_the_largest_weights_take_bounded_work_and_stay_finite() -> None:
    for system in SYSTEMS:
        rows = [(1900, "a", "b", 2, 1e9), (1900, "a", "b", 0, 5e8), (1901, "b", "c", 1, 1e9)]
        rows += [(1901, "a", "c", 2, 1e-9)]
        skill = found(build_timeline(make_games(rows)), system)
        assert all(map(math.isfinite, skill.values()))
        match = found(timeline_of([(1900, "a", "b", (4e8, 0, 6e8))]), system, draw_margin=0)
        if system != "trueskill":
            assert match["a", 1900] - match["b", 1900] == pytest.approx(
                400 * math.log10(1.5), abs=1e-6
            )


def test_a_shuffle_moves_records() -> None:
    tallies = {
        ("a", "b"): (3, 0, 2),
        ("b", "c"): (1, 1, 1),
        ("c", "a"): (0, 0, 4),
        ("c", "b"): (2, 0, 0),
    }
    rows = [(1900, *pair, tally) for pair, tally in tallies.items()]
    found_by = [
        found(timeline_of(rows), "trueskill", order="shuffled", seed=seed) for seed in range(12)
    ]
    orders = {tuple(skill.items()) for skill in found_by}
    assert 1 < len(orders) <= 24
