from contextlib import nullcontext

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import log_ndtr

from tests.reference.ttt_ep import Twin
from tests.support.cases import each
from tests.support.handmade import CONFIG, GAPS, RECORDS, fit_of, games_of
from tests.support.handmade import run_of as handmade_run_of
from tests.support.joint_runs import PLAY, run_of
from ttt_cli.gaussian import factor
from ttt_cli.runs import joint
from ttt_cli.runs.run import Run
from ttt_cli.runs.write import memory_run
from ttt_cli.support.errors import LookupFailed, RunError
from ttt_cli.systems import ttt
from ttt_cli.timeline import build_timeline
from ttt_cli.views.probability import stronger
from ttt_cli.views.rankings import strongest
from ttt_cli.views.rankings.columns import (
    BEST_YEARS_COLUMNS,
    LEADER_COLUMNS,
    PEAK_COLUMNS,
    PERIOD_COLUMNS,
    REIGN_COLUMNS,
)
from ttt_cli.views.rankings.eligible import Eligible
from ttt_cli.views.rankings.leaders import leader_rows, leaders, reign_rows, vacancies
from ttt_cli.views.rankings.peaks import best_years, peaks
from ttt_cli.views.rankings.period import ranking
from ttt_cli.views.rankings.strongest import find_contenders, independent_probabilities, log_cdf

HISTORIES = 3  # of weakly tied groups
SKILLS = {
    ("A", 1850): 1500, ("A", 1851): 1600, ("A", 1856): 1500, ("B", 1850): 1400, ("B", 1853): 1700,
    ("B", 1857): 1450, ("C", 1851): 1200, ("C", 1853): 1300, ("C", 1856): 1620, ("C", 1859): 1300,
    ("D", 1857): 1500, ("D", 1859): 1510,
}  # fmt: skip


@pytest.fixture(scope="module")
def run() -> Run:
    games = games_of(GAPS)
    timeline = build_timeline(games)
    fit = fit_of(timeline)
    for node in range(timeline.n_nodes):
        key = timeline.players[timeline.node_player[node]], int(timeline.node_period[node])
        fit.mean[node] = SKILLS[key]
    return memory_run(games, timeline, fit, CONFIG)


def test_the_ranking_of_a_period(run: Run) -> None:
    rows = ranking(run, "1856", Eligible(0), 20)
    assert rows.columns[:7] == ("rank", "player", "period", "mean", "sd", "games", "p_best")
    first, second = rows.rows
    assert first[:6] == (1, "C", "1856", 1620.0, 50.0, 1)
    assert second[:6] == (2, "A", "1856", 1500.0, 50.0, 1)
    chance = stronger({"mean": 1620.0, "sd": 50.0}, {"mean": 1500.0, "sd": 50.0})
    assert (first[6], second[6]) == pytest.approx((chance, 1 - chance), abs=1e-6)
    assert rows.title[0] == "The best of 1856: 2 eligible players"
    assert rows.title[1:3] == (
        "eligible: with games in the period",
        "1 left out: 1 without a game so recently",
    )
    assert "independent" in rows.title[3]
    assert "; points" in rows.title[-1]


def test_the_chance_of_being_best_is_among_all_who_count_not_only_those_shown(run: Run) -> None:
    everybody = list(ranking(run, "1856", Eligible(), None).rows)
    assert len(everybody) == 3
    assert sum(row[6] for row in everybody) == pytest.approx(1.0, abs=1e-6)
    (only,) = ranking(run, "1856", Eligible(), 1).rows
    assert only[:6] == everybody[0][:6]
    assert only[6] == pytest.approx(everybody[0][6], abs=1e-9)


def test_the_default_leaves_out_who_stopped(run: Run) -> None:
    assert {row[1] for row in ranking(run, "1855", Eligible(2), 9).rows} == {"B", "C"}
    assert {row[1] for row in ranking(run, None, Eligible(2), 9).rows} == {"B", "C", "D"}
    assert {row[1] for row in ranking(run, None, Eligible(), 9).rows} == {"A", "B", "C", "D"}
    with pytest.raises(LookupFailed, match="nobody is eligible in 1855") as caught:
        ranking(run, "1855", Eligible(0), 9)
    assert "--everyone" in (caught.value.hint or "")


def test_peaks_are_of_periods_with_games(run: Run) -> None:
    rows = peaks(run, Eligible(2), 3)
    assert rows.columns[:6] == ("rank", "player", "period", "mean", "sd", "games")
    assert [row[:6] for row in rows.rows] == [
        (1, "B", "1853", 1700.0, 50.0, 3), (2, "C", "1856", 1620.0, 50.0, 4), (3, "A", "1851", 1600.0, 50.0, 3),
    ]  # fmt: skip
    assert list(peaks(run, Eligible(2, max_sd=50.5), 3).rows) == list(rows.rows)
    assert list(peaks(run, Eligible(2, max_sd=49.0), 3).rows) == []
    assert [row[1] for row in peaks(run, Eligible(2, min_games=4), None).rows] == ["C"]


def test_peaks_say_how_many_games_the_period_has_and_may_need_several() -> None:
    """Anderssen's mean is higher in 1861 and 1862, with one game each, than in 1858 with three."""
    run = handmade_run_of(games_of(RECORDS))
    highest = {row["player"]: row for row in peaks(run, Eligible(), None).records()}
    anderssen = highest["Anderssen, Adolf"]
    assert (anderssen["period"], anderssen["games"], anderssen["period_games"]) == ("1862", 5, 1)
    rows = peaks(run, Eligible(), None, least_games=2)
    several = {row["player"]: (row["period"], row["period_games"]) for row in rows.records()}
    assert several == {
        "Anderssen, Adolf": ("1858", 3), "Morphy, Paul": ("1858", 3), "Paulsen, Louis": ("1857", 2),
    }  # fmt: skip
    assert rows.title[0] == "The highest peaks, in years with at least 2 games"
    caution = "skills of different times are tied only through chains of opponents: compare them with caution"
    assert caution in rows.title
    assert caution in best_years(run, Eligible(), 2, None).title


def test_reigns_say_what_is_of_which_period_and_where_there_is_none() -> None:
    run = handmade_run_of(games_of(RECORDS))
    title = reign_rows(run, Eligible()).title
    assert any(line.startswith("of a reign: p_best is the mean") for line in title)
    found = leaders(run, Eligible()).leaders
    years = [leader.period for leader in found]
    assert vacancies([*years, "1999"], found) == []
    later = [found[0], *found[2:]]
    assert vacancies(years, later) == [f"too few were eligible for a number one in {years[1]}"]


@each("years", [1, 2, 5, 7, 11])
def test_best_years_average_consecutive_periods(run: Run, years: int) -> None:
    histories: dict[str, list[tuple]] = {}
    for row in run.select("SELECT player, period, mean, sd, games FROM skills ORDER BY ALL")[1]:
        histories.setdefault(row[0], []).append(row)
    spans = []
    for player, rows in histories.items():
        windows = [rows[i : i + years] for i in range(len(rows) - years + 1)]
        if windows:
            best = max(windows, key=lambda window: sum(row[2] for row in window))
            sums = [sum(row[k] for row in best) for k in (2, 3, 4)]
            spans.append(
                (player, best[0][1], best[-1][1], sums[0] / years, sums[1] / years, sums[2])
            )
    spans.sort(key=lambda span: -span[3])
    found = list(best_years(run, Eligible(2), years, None).rows)
    assert [row[1:4] for row in found] == [span[:3] for span in spans]
    for row, span in zip(found, spans, strict=True):
        assert row[4:7] == pytest.approx(span[3:])


def test_leaders_and_their_reigns(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    found = leaders(run, Eligible(0))[0]
    assert [(one.period, one.player) for one in found] == [
        ("1850", "A"), ("1851", "A"), ("1853", "B"), ("1856", "C"), ("1857", "D"), ("1859", "D"),
    ]  # fmt: skip
    assert [one.field for one in found] == [2, 2, 2, 2, 2, 2]
    for one in found:
        assert one.p_best == pytest.approx(
            next(iter(ranking(run, one.period, Eligible(0), 1).rows))[6], abs=1e-9
        )
    rows = list(reign_rows(run, Eligible(0)).rows)
    assert [(*row[:4], row[7]) for row in rows] == [
        ("1850", "1851", "A", 2, "1851"), ("1853", "1853", "B", 1, "1853"), ("1856", "1856", "C", 1, "1856"),
        ("1857", "1857", "D", 1, "1857"), ("1859", "1859", "D", 1, "1859"),
    ]  # fmt: skip
    chances = [one.p_best for one in found[:2]]
    assert (rows[0][4], rows[0][8]) == pytest.approx((sum(chances) / 2, min(chances)))
    assert rows[0][5:7] == (1600.0, 50.0)
    assert [row[:2] for row in leader_rows(run, Eligible(0)).rows] == [
        (o.period, o.player) for o in found
    ]
    assert [row[:3] for row in reign_rows(run, Eligible(2)).rows][-1] == ("1858", "1859", "D")
    with pytest.raises(LookupFailed, match="nobody is eligible"):
        leaders(run, Eligible(2, max_sd=1.0))
    for at_once in (1, 2, 3):
        monkeypatch.setattr("ttt_cli.views.rankings.leaders._AT_ONCE", at_once)
        assert leaders(run, Eligible(0))[0] == found


def weakly_tied(random: np.random.Generator) -> tuple[Run, dict[str, float], list[str]]:
    """A field of 10 to 45 players, and a few who play only each other but for one who beat somebody of the field.

    A run of them, each one's share of 400,000 samples of all skills, and the names of the few.
    """
    field = [f"field {k}" for k in range(random.integers(10, 46))]
    few = [f"few {k}" for k in range(random.integers(3, 9))]
    rows = [(1900, *random.choice(some, 2, replace=False).tolist(), int(random.integers(3)))
            for some, n in ((field, 8 * len(field)), (few, 8 * len(few))) for _ in range(n)]  # fmt: skip
    rows += [(1900, few[0], field[0], 2)] * int(random.integers(1, 19))
    _, run = run_of(rows=rows, draw_margin=150.0)
    players, mean = zip(
        *run.select("SELECT player, mean FROM skills ORDER BY player")[1], strict=True
    )
    covariance = run.covariance([(player, "1900") for player in players]).to_numpy()
    drawn = random.multivariate_normal(mean, covariance, 400_000, method="eigh")
    shares = np.bincount(drawn.argmax(axis=1), minlength=len(players)) / len(drawn)
    return run, dict(zip(players, shares.tolist(), strict=True)), few


@pytest.mark.large
@pytest.mark.slow
def test_groups_that_are_weakly_tied_have_their_chances(monkeypatch: pytest.MonkeyPatch) -> None:
    """Within three standard errors of samples of everybody, however few are candidates."""
    random = np.random.default_rng(7)
    for _ in range(HISTORIES):
        run, expected, few = weakly_tied(random)
        rows = ranking(run, "1900", Eligible(), None)
        found = {row[1]: row[6] for row in rows.rows}
        assert sum(found.values()) == pytest.approx(1.0, abs=1e-4)
        for player, p in expected.items():
            assert abs(found[player] - p) <= 3.0 * stated(rows.title)
        assert sum(found[one] for one in few) == pytest.approx(
            sum(expected[one] for one in few), abs=0.01
        )
        first = next(iter(ranking(run, "1900", Eligible(), 1).rows))
        same = [first[6], leaders(run, Eligible())[0][0].p_best]
        assert same == pytest.approx([found[first[1]]] * 2, abs=1e-9)
    monkeypatch.setattr(strongest, "MOST_CANDIDATES", 8)
    found = {row[1]: row[6] for row in ranking(run, "1900", Eligible(), None).rows}
    assert found == pytest.approx(expected, abs=0.01)


def stated(title: tuple[str, ...]) -> float:
    """The Monte Carlo error in a title."""
    (line,) = [line for line in title if line.startswith("p_best")]
    return float(line.partition("error at most ")[2][:6])


MET = [(1900, "a", "b", k % 3) for k in range(12)] + [(1900, "b", "c", 2), (1900, "c", "d", 1)]
MET += [(1902, "a", "c", k % 2) for k in range(9)] + [(1903, "c", "b", 0, 5.0), (1903, "d", "a", 1)]


def test_number_ones_follow_from_the_joint_posterior(monkeypatch: pytest.MonkeyPatch) -> None:
    """Against samples of the dense twin, to which games of no weight give everybody a node in every year."""
    idle = [
        (year, *pair, 1, 1e-12)
        for year in (1900, 1901, 1902, 1903)
        for pair in (("a", "b"), ("c", "d"))
    ]
    timeline, _ = run_of(rows=MET + idle, draw_margin=150.0)
    mean, covariance = (
        Twin(timeline, ttt.Params(**PLAY, draw_margin=150.0), joint=True).run().gaussian()
    )
    drawn = np.random.default_rng(5).multivariate_normal(mean, covariance, 400_000)
    _, run = run_of(rows=MET, draw_margin=150.0)
    found = leaders(run, Eligible())[0]
    assert [one.period for one in found] == ["1900", "1901", "1902", "1903"]
    error = 4 * 0.5 / np.sqrt(strongest.SAMPLES)
    apart = []
    for one in found:
        here = np.flatnonzero(timeline.node_period == one.period_number)
        names = [timeline.players[player] for player in timeline.node_player[here]]
        shares = np.bincount(drawn[:, here].argmax(axis=1), minlength=len(here)) / len(drawn)
        expected = dict(zip(names, shares, strict=True))
        assert dict([(one.player, one.p_best), *one.rivals]) == pytest.approx(expected, abs=error)
        ranked = {row[1]: row[6] for row in ranking(run, one.period, Eligible(), None).rows}
        assert ranked == pytest.approx(dict([(one.player, one.p_best), *one.rivals]), abs=1e-9)
        alone = best_probabilities(
            mean[here], np.sqrt(covariance.diagonal()[here]), np.arange(len(here))
        )
        apart.append(np.abs(alone - shares).max())
    assert max(apart) > 5 * error
    title = leader_rows(run, Eligible()).title
    assert any(
        "40,000 samples of joint skills (seed 1); Monte Carlo error at most 0.002" in line
        for line in title
    )
    monkeypatch.setattr(joint, "FEW", 0)
    by_factor = leaders(run, Eligible())[0]
    assert [one.p_best for one in by_factor] == pytest.approx(
        [one.p_best for one in found], abs=1e-3
    )
    assert [one.p_best for one in leaders(run, Eligible(), 2)[0]] == pytest.approx(
        [one.p_best for one in found], abs=error
    )
    assert leaders(run, Eligible(), 2)[0] != found
    monkeypatch.setattr(factor, "MOST_ENTRIES", 0)
    assert any("taken as independent" in line for line in reign_rows(run, Eligible()).title)


def test_a_run_of_many_periods_takes_fewer_samples_in_every_view(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    _, run = run_of(rows=MET, draw_margin=150.0)
    monkeypatch.setattr(strongest, "ALL_SAMPLES", 20_000)
    found = leaders(run, Eligible(), 3)[0]
    for one in found:
        rows = ranking(run, one.period, Eligible(), 1, 3)
        assert next(iter(rows.rows))[6] == pytest.approx(one.p_best, abs=1e-9)
        assert any("from 5,000 samples" in line for line in rows.title)


SURE_ROWS = [(year, "sure", "other", 2 if k % 4 else 1) for year in (1900, 1902) for k in range(40)]
SURE_ROWS += [(1901, "new", "other", 2)]


def test_who_is_surely_strong_stands_above_who_may_be_stronger() -> None:
    _, run = run_of(rows=SURE_ROWS)
    by_mean, by_lower = (
        list(ranking(run, "1901", Eligible(), 1, by=by).rows) for by in ("mean", "lower")
    )
    assert (by_mean[0][1], by_lower[0][1]) == ("new", "sure")
    everybody = ranking(run, "1901", Eligible(), None, by="lower")
    lower = {row["player"]: row["lower"] for row in everybody.records()}
    assert lower == {row[1]: row[3] - 2.0 * row[4] for row in everybody.rows}
    assert list(lower.values()) == sorted(lower.values(), reverse=True)
    chances = {row[1]: row[6] for row in ranking(run, "1901", Eligible(), None).rows}
    assert {row[1]: row[6] for row in everybody.rows} == chances
    assert by_lower[0][6] == chances["sure"]


def test_peaks_by_what_is_surpassed_for_sure() -> None:
    _, run = run_of(rows=SURE_ROWS)
    rows = run.select(
        "SELECT player, mean - 2 * sd, period FROM skills WHERE games > 0 ORDER BY ALL"
    )[1]
    best = {player: (lower, period) for player, lower, period in rows}
    for player, lower, period in rows:
        best[player] = max(best[player], (lower, period))
    found = list(peaks(run, Eligible(), None, "lower").rows)
    assert {row[1]: (row[3], row[2]) for row in found} == best
    assert [row[1] for row in found] == sorted(best, key=best.__getitem__, reverse=True)
    assert list(peaks(run, Eligible(), 1, "lower").rows) == found[:1]
    assert {row[1] for row in peaks(run, Eligible(min_games=10), None, "lower").rows} == {
        "sure",
        "other",
    }


def test_a_system_without_sds_is_ranked_by_its_means() -> None:
    _, run = run_of("elo", rows=SURE_ROWS)
    assert [row[1:3] for row in peaks(run, Eligible(), None, "lower").rows]
    (first, *_) = ranking(run, "1902", Eligible(), None, by="lower").records()
    assert first["lower"] == first["mean"]


Floats = NDArray[np.float64]


def best_probabilities(mean: Floats, sd: Floats, chosen: NDArray[np.intp]) -> Floats:
    """For each of the chosen the probability that nobody in the field is stronger, skills independent."""
    order = np.argsort(-mean, kind="stable")
    contenders = find_contenders(
        1900, [str(k) for k in order], mean[order], sd[order], n_shown=len(order)
    )
    found = np.empty(len(order))
    found[order] = independent_probabilities(contenders)
    return found[chosen]


def by_quadrature(mean: Floats, sd: Floats, one: int) -> float:
    """The same integral by brute force around one player."""
    x = np.linspace(mean[one] - 9 * sd[one], mean[one] + 9 * sd[one], 4001)
    product = np.zeros_like(x)
    for m, s in zip(mean, sd, strict=True):
        product += log_ndtr((x - m) / s)
    z = (x - mean[one]) / sd[one]
    density = np.exp(product - log_ndtr(z) - 0.5 * z * z) / np.sqrt(2 * np.pi) / sd[one]
    return float(np.trapezoid(density, x))


def a_field(n: int, low: float, high: float, seed: int = 1) -> tuple[Floats, Floats]:
    random = np.random.default_rng(seed)
    return random.normal(1300.0, 150.0, n), random.uniform(low, high, n)


@each("n, low, high", [(1, 50, 60), (3, 40, 400), (60, 60, 350), (300, 60, 350), (2000, 100, 101)])
def test_probabilities_are_exact_to_a_millionth(n: int, low: float, high: float) -> None:
    mean, sd = a_field(n, low, high)
    chosen = np.argsort(-(mean + sd))[:3]
    exact = [by_quadrature(mean, sd, int(one)) for one in chosen]
    assert best_probabilities(mean, sd, chosen) == pytest.approx(exact, abs=1e-6)


def test_sds_that_are_too_unequal_are_refused_before_they_take_the_memory() -> None:
    mean = np.array([1500.0, 1400.0])
    for least, possible in ((1.0, True), (1e-3, False), (1e-9, False)):
        refused = (
            nullcontext() if possible else pytest.raises(RunError, match="too unequal to compare")
        )
        with refused:
            contenders = find_contenders(
                1900, ["a", "b"], mean, np.array([200.0, least]), n_shown=2
            )
            assert len(contenders.x) < 100_000
    contenders = find_contenders(
        1900, ["a", "b"], np.array([1e30, 1.0]), np.array([1e25, 1e-9]), n_shown=2
    )
    assert len(contenders.x) < 100_000


@each("n", [1, 2, 30, 150, 3000])
def test_somebody_is_the_best(n: int) -> None:
    mean, sd = a_field(n, 30, 400, seed=n)
    assert best_probabilities(mean, sd, np.arange(n)).sum() == pytest.approx(1.0, abs=1e-6)


def test_log_cdf_is_accurate_in_both_tails() -> None:
    z = np.linspace(-8.9, 8.0, 30011)
    assert np.abs(log_cdf(z) / log_ndtr(z) - 1.0).max() < 1e-7
    assert log_cdf(np.array([50.0]))[0] == pytest.approx(0.0, abs=1e-15)


@each("columns", [PERIOD_COLUMNS, PEAK_COLUMNS, BEST_YEARS_COLUMNS, LEADER_COLUMNS, REIGN_COLUMNS])
def test_points_have_one_decimal_and_probabilities_three(columns) -> None:
    decimals = {
        (column.unit, column.decimals)
        for column in columns
        if column.unit in ("points", "probability")
    }
    assert decimals <= {("points", 1), ("probability", 3)}


def test_a_last_period_with_hardly_any_games_names_the_one_before() -> None:
    rows = [("1900", "a", "b", "1/2-1/2")] * 41 + [("1901", "a", "b", "1-0")]
    run = handmade_run_of(games_of(rows))
    remark = "1901 has 1 game here, 1900 41: --at 1900"
    assert remark in ranking(run, None, Eligible(), 2).title
    assert remark not in ranking(run, 1901, Eligible(), 2).title
    few = handmade_run_of(games_of(rows[-11:]))
    assert not any("--at" in line for line in ranking(few, None, Eligible(), 2).title)
