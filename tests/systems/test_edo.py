"""Edo against the literal method with a row for every year, worked figures of the source, and laws."""

import csv
import gzip
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.reference import edo_plain
from tests.support.builders import fit_rows, historical, random_rows, skills
from tests.support.laid_out import histories
from tests.support.strategies import examples
from ttt_cli.config.schema import SolverConfig
from ttt_cli.systems.edo import Params, fit

SCALE = 400 / math.log(10)
ROUND = [
    (1900, "a", "b", 2),
    (1900, "b", "c", 2),
    (1900, "c", "a", 2),
]  # everybody scores and concedes


def tied_rows(seed):
    """Games in some of the years; a round of all players in the first ties everybody to everybody."""
    ties = [(1900, f"p0{i}", f"p0{i - 1}", 1) for i in (1, 2, 3)]
    return [
        *ties,
        (1900, "p00", "p03", 1),
        *random_rows(seed, 24, 4, 10, (0.5, 1.0, 3.0), (0.0, 0.0, -163.0)),
    ]


def all_years(timeline, fit):
    """{(player, year): (mean, sd)}, gaps included."""
    found = histories(timeline, fit)
    keys = zip(found.player.tolist(), found.period.tolist(), strict=True)
    values = zip(found.columns["mean"].tolist(), found.columns["sd"].tolist(), strict=True)
    return {
        (timeline.players[player], year): value
        for (player, year), value in zip(keys, values, strict=True)
    }


@examples(8)
@given(st.integers(0, 2**32 - 1), st.sampled_from([(30.0, 2.0), (5.0, 1.0)]))
def test_it_is_the_method_with_a_row_for_every_year(seed, sizes):
    ties, comparisons = sizes
    lost = [(1900, "novice", "p00", 0), (1904, "novice", "p01", 0)]
    rows = [*tied_rows(seed), *lost, (1900, "winner", "p01", 2)]
    timeline, fit = fit_rows(rows, "edo", ties=ties, comparisons=comparisons, raw_mean=2400)
    expected, removed = edo_plain.edo(rows, 2400, ties, comparisons)
    found = all_years(timeline, fit)
    assert removed == {"novice", "winner"}
    assert fit.status.converged
    for name, year in found:
        if name in removed:
            assert found[name, year] == pytest.approx((1500, 300))
        else:
            assert found[name, year] == pytest.approx(expected[name, year], abs=1e-6)
    assert len(found) == len(expected) + 1 + 5  # also in years without games


@pytest.mark.parametrize(
    ("score", "games", "difference"), [(4, 5, 241), (3.5, 4, 338), (2, 3, 120), (77.9, 100, 219)]
)
def test_scores_are_the_differences_that_the_source_states(score, games, difference):
    """Figures of Edwards: 80 % is 241 points, 0.5 of 4 338, 2 to 1 about 120, 77.9 of 100 the odds of 219."""
    rows = [(1900, "a", "b", 2, score), (1900, "a", "b", 0, games - score)]
    _, fit = fit_rows(rows, "edo", prior_sd=1e6)
    assert fit.mean[0] - fit.mean[1] == pytest.approx(difference, abs=0.6)


@pytest.mark.parametrize(
    ("raw", "deviation", "adjusted", "adjusted_deviation"),
    [(2628, 293, 2077, 210), (2813, 283, 2194, 206), (2599, 91, 2507, 87)],
)
def test_adjustments_are_those_of_the_source(raw, deviation, adjusted, adjusted_deviation):
    """Petrov 1809, Petrov 1814 (as of 2024) and Lecrivain 1855 in the text of Edwards, there rounded.

    Two players who drew n games are uncertain by SCALE / sqrt(2 n) about their mean with 2 comparisons a game.
    """
    weight = SCALE**2 / (2 * deviation**2)
    _, fit = fit_rows([(1900, "a", "b", 1, weight)], "edo", raw_mean=raw, draw_margin=100)
    assert fit.chains["skill"].raw_sd == pytest.approx([deviation] * 2)
    assert fit.mean == pytest.approx([adjusted] * 2, abs=1.1)
    assert fit.sd == pytest.approx([adjusted_deviation] * 2, abs=0.6)


def two_groups(between):
    """A large and a small group who all play each other at length, and few games from one to the other."""
    rows = []
    for group, size in (("main", 12), ("apart", 4)):
        for i in range(size):
            for j in range(i):
                rows += [(year, f"{group}{i}", f"{group}{j}", 1, 10.0) for year in (1880, 1881)]
    return [*rows, *((1880, "main0", "apart0", 1) for _ in range(between))]


def test_a_group_tied_by_few_games_has_large_deviations():
    """The Italian players of Edwards' text: much played, and yet uncertain as a group."""
    rows = two_groups(between=2)
    timeline, fit = fit_rows(rows, "edo", draw_margin=100)
    _, alone = fit_rows(rows, "edo", draw_margin=100, deviations="own")
    expected, _ = edo_plain.raw_ratings(rows)
    for i in range(timeline.n_nodes):
        name, year = timeline.players[timeline.node_player[i]], int(timeline.node_period[i])
        raw, own = fit.chains["skill"].raw_sd[i], alone.chains["skill"].raw_sd[i]
        assert raw == pytest.approx(expected[name, year][1], abs=1e-6)
        assert own < 45
        assert raw > 120 if name.startswith("apart") else raw < 60


def test_players_without_a_positive_or_negative_score_are_named_and_stand_at_the_prior():
    rows = [*ROUND, (1900, "loser", "a", 0), (1901, "pupil", "loser", 0)]
    timeline, fit = fit_rows(rows, "edo", prior_mean=1600, prior_sd=250)
    assert len(fit.notes) == 1
    assert fit.notes[0].endswith("against rated players: 2 of 5 (loser; pupil)")
    found = skills(timeline, fit)
    for node in (("loser", 1900), ("loser", 1901), ("pupil", 1901)):
        assert found[node] == (pytest.approx(1600), pytest.approx(250))
    assert found["a", 1900] == pytest.approx(
        skills(*fit_rows(ROUND, "edo", prior_mean=1600, prior_sd=250))["a", 1900]
    )


def test_years_whose_only_games_are_left_out_are_on_the_straight_line():
    """The source adjusts the years with results and draws straight lines between them; deviations grow all the same."""
    ends = [*ROUND, *((1910, *row[1:]) for row in ROUND)]
    idle = [(1904, "a", "novice", 2), (1907, "novice", "a", 0), (1905, "b", "novice", 2)]
    plain = skills(*fit_rows(ends, "edo"))
    timeline, fit = fit_rows([*ends, *idle, (1911, "c", "novice", 2)], "edo")
    found = skills(timeline, fit)
    for name, year in (("a", 1904), ("a", 1907), ("b", 1905)):
        share = (year - 1900) / 10
        line = (1 - share) * plain[name, 1900][0] + share * plain[name, 1910][0]
        assert found[name, year][0] == pytest.approx(line, abs=1e-6)
        assert found[name, year][1] > max(found[name, 1900][1], found[name, 1910][1])
    for node, (mean, sd) in plain.items():
        assert found[node] == (pytest.approx(mean, abs=1e-6), pytest.approx(sd, abs=1e-6))


def test_groups_without_games_both_ways_are_told_and_have_one_mean():
    far = [(1900, "x", "y", 2), (1900, "x", "y", 0, 2.0)]
    timeline, fit = fit_rows(
        [*ROUND, *far, (1900, "a", "x", 2, 9.0)], "edo", raw_mean=2000, prior_sd=1e6
    )
    assert fit.notes == (
        "2 groups of players are not connected by games that went both ways: each has the same mean",
    )
    apart = skills(*fit_rows(far, "edo", raw_mean=2000, prior_sd=1e6))
    found = skills(timeline, fit)
    assert found["x", 1900] == pytest.approx(apart["x", 1900])
    assert found["a", 1900][0] == pytest.approx(2000, abs=0.1)


def test_shorter_periods_leave_a_year_as_stiff():
    """Two years apart, four quarters of one tie each are as stiff as a year."""
    rows = [*ROUND, *((1902, *row[1:]) for row in ROUND[:2]), (1902, "a", "c", 2)]
    years = fit_rows(rows, "edo")[1]
    quarters = fit_rows(rows, "edo", period="quarter")[1]
    assert quarters.mean == pytest.approx(years.mean, abs=0.2)
    assert quarters.sd == pytest.approx(years.sd, rel=1e-3)


@pytest.mark.parametrize("deviations", ["exact", "own"])
def test_without_rated_players_there_is_the_prior(deviations):
    timeline, fit = fit_rows([(1900, "a", "b", 2)], "edo", deviations=deviations)
    assert fit.status.converged
    assert fit.mean.tolist() == [1500.0] * timeline.n_nodes
    assert fit.sd == pytest.approx([300.0] * timeline.n_nodes)


def test_it_comes_close_to_the_published_ratings(data):
    """Linear correlation within a year, of players with ten games, median over years with ten of them: TTT has 0.77."""
    with gzip.open(data / "ratings" / "published_yearly.csv.gz", "rt", encoding="utf-8") as file:
        published = {
            (row["player"], int(row["year"])): float(row["rating"])
            for row in csv.DictReader(file)
            if row["source"] == "edo"
        }
    rows = historical(data, "historical_pre1942.csv.gz")
    timeline, fit = fit_rows(rows, "edo")
    years: dict[int, list] = {}
    for i in np.flatnonzero(timeline.node_games >= 10):
        node = timeline.players[timeline.node_player[i]], int(timeline.node_period[i])
        if node in published:
            years.setdefault(node[1], []).append((fit.mean[i], published[node]))
    pairs = [np.array(year) for year in years.values() if len(year) >= 10]
    assert len(pairs) == 35
    assert np.median([np.corrcoef(year.T)[0, 1] for year in pairs]) == pytest.approx(
        0.849, abs=0.002
    )


def test_from_wherever_it_starts_it_ends_at_the_same():
    """From a hundred natural units away, too, where no curvature is left and steps follow the gradient."""
    timeline, expected = fit_rows(random_rows(4, 60, 6, 10), "edo")
    wild = np.random.default_rng(0).normal(0.0, 100.0, timeline.n_nodes)
    found = fit(timeline, Params(), SolverConfig(), start=replace(expected, state={"rating": wild}))
    assert found.status.converged
    assert found.mean == pytest.approx(expected.mean, abs=1e-6)
