from collections.abc import Callable

import pytest

from tests.support.handmade import GAPS, run_by
from ttt_cli.errors import LookupFailed
from ttt_cli.runs.run import Run
from ttt_cli.runs.when import find_period


@pytest.fixture
def run(small_run: Callable[..., Run]) -> Run:
    return small_run(*GAPS)


def test_the_last_period_is_meant_by_default(run: Run) -> None:
    assert find_period(run, None) == ("1859", 1859)
    assert find_period(run, None, "A") == ("1856", 1856)


def test_a_label_may_be_cut_short_or_finer() -> None:
    months = run_by("month")
    assert find_period(months, "1858")[0] == "1858-12"
    assert find_period(months, "1858-08")[0] == "1858-08"
    assert find_period(months, "1858-08-20")[0] == "1858-08"
    with pytest.raises(LookupFailed, match="'185' is no period"):
        find_period(months, "185")


def test_a_period_without_anybody_says_what_there_is(run: Run) -> None:
    with pytest.raises(LookupFailed, match="covers 1900") as caught:
        find_period(run, "1900")
    assert caught.value.hint == "the run goes from 1850 to 1859, by the year"
    for year in ("1856", "1900"):
        with pytest.raises(LookupFailed, match=f"D has no skill at {year}") as caught:
            find_period(run, year, "D")
        assert caught.value.hint == "the history goes from 1857 on, the run to 1859"


def test_a_players_periods_go_on_after_the_last_game(run: Run) -> None:
    assert find_period(run, "1859", "A") == ("1859", 1859)
