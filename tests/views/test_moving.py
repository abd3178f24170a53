"""What moves with the years, under the evidence and in pages."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.views.test_figures import moving_run
from ttt_cli.runs.run import Run
from ttt_cli.views.report.page import pictures, report_page
from ttt_cli.views.report.site import write_site
from ttt_cli.views.run import short_tables

TITLES = ["draw margin", "newcomers above the prior mean", "gain since the debut"]
MOVING = {"growth": 200.0, "early": 2.0, "prior_mean_drift": 30.0, "draw_margin_drift": 0.2}


@pytest.fixture(scope="module")
def moving() -> Run:
    return moving_run(name="ttt", **MOVING)


def test_tables_have_few_rows_and_say_where_all_are(moving: Run) -> None:
    found = short_tables(moving)
    assert [table.title[0].partition(",")[0] for table in found] == TITLES
    for table, name in zip(found, ("draws", "newcomers", "career"), strict=True):
        every, kept = moving.curve(name), list(table.rows)
        assert f"ttt export {name}" in table.title[0]
        assert set(kept) <= set(every)
        assert kept[-1] == every[-1]
        assert len(kept) <= 14


def test_pictures_are_of_whole_years_with_their_band(moving: Run) -> None:
    found = dict(pictures(moving))
    assert list(found) == TITLES
    assert "years since the debut" in found["gain since the debut"]
    (data,) = re.findall(r"<script[^>]*>(.*)</script>", found["draw margin"])
    at, mean, sd, *_ = moving.curve("draws")[-1]
    last = json.loads(data)["datasets"]["active"][-1]
    assert (last["year"], last["low"], last["high"]) == pytest.approx((at, mean - sd, mean + sd), abs=0.001)


def test_pages_and_sites_show_them_where_a_run_has_them(moving: Run, tmp_path: Path) -> None:
    still = moving_run(name="ttt")
    assert short_tables(still) == pictures(still) == []
    assert 'id="moving"' not in report_page(still)
    assert report_page(moving).count('class="chart career"') == 3
    for run, count in ((moving, 3), (still, 0)):
        write_site(run, tmp_path / f"site{count}")
        front = (tmp_path / f"site{count}" / "index.html").read_text(encoding="utf-8")
        assert front.count('class="chart career"') == count
