from tests.support.joint_runs import run_of
from ttt_cli.views.rankings import Eligible, peaks, ranking

ROWS = [(year, "sure", "other", 2 if k % 4 else 1) for year in (1900, 1902) for k in range(40)]
ROWS += [(1901, "new", "other", 2)]


def test_who_is_surely_strong_stands_above_who_may_be_stronger() -> None:
    _, run = run_of(rows=ROWS)
    by_mean, by_lower = (list(ranking(run, "1901", Eligible(), 1, by=by).rows) for by in ("mean", "lower"))
    assert (by_mean[0][1], by_lower[0][1]) == ("new", "sure")
    everybody = ranking(run, "1901", Eligible(), None, by="lower")
    lower = {row[1]: row[7] for row in everybody.rows}
    assert everybody.columns[7] == "lower"
    assert lower == {row[1]: row[3] - 2.0 * row[4] for row in everybody.rows}
    assert list(lower.values()) == sorted(lower.values(), reverse=True)
    chances = {row[1]: row[6] for row in ranking(run, "1901", Eligible(), None).rows}
    assert {row[1]: row[6] for row in everybody.rows} == chances
    assert by_lower[0][6] == chances["sure"]


def test_peaks_by_what_is_surpassed_for_sure() -> None:
    _, run = run_of(rows=ROWS)
    rows = run.select("SELECT player, mean - 2 * sd, period FROM skills WHERE games > 0 ORDER BY ALL")[1]
    best = {player: (lower, period) for player, lower, period in rows}
    for player, lower, period in rows:
        best[player] = max(best[player], (lower, period))
    found = list(peaks(run, Eligible(), None, "lower").rows)
    assert {row[1]: (row[3], row[2]) for row in found} == best
    assert [row[1] for row in found] == sorted(best, key=best.__getitem__, reverse=True)
    assert list(peaks(run, Eligible(), 1, "lower").rows) == found[:1]
    assert {row[1] for row in peaks(run, Eligible(min_games=10), None, "lower").rows} == {"sure", "other"}


def test_a_system_without_sds_is_ranked_by_its_means() -> None:
    _, run = run_of("elo", rows=ROWS)
    assert [row[1:3] for row in peaks(run, Eligible(), None, "lower").rows]
    (first, *_) = ranking(run, "1902", Eligible(), None, by="lower").rows
    assert first[7] == first[3]
