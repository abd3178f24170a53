"""The page in a real browser: driven by a script of its own, what it became read back."""

import re
from pathlib import Path
from typing import Any

import pytest

from tests.support.browser import Browser
from tests.support.handmade import games_of, put_small_run, run_of
from tests.views.report.site.test_browser import WATCH
from ttt_cli.runs.evidence_points import EvidencePoint
from ttt_cli.runs.run import Run, open_run
from ttt_cli.views.report.page import report_page

pytestmark = pytest.mark.slow

RECORDS = (
    ("1857", "Morphy, Paul", "Paulsen, Louis", "1-0"),
    ("1858", "Anderßen, Ådolf", "Morphy, Paul", "0-1"),
    ("1858", "Anderßen, Ådolf", '<b>"Bold"</b>', "1-0"),
    ("1861", '<b>"Bold"</b>', "Paulsen, Louis", "0-1"),
    ("1862", "Paulsen, Louis", "Anderßen, Ådolf", "1/2-1/2"),
)
DRIVE = Path(__file__).with_name("drive_report.js").read_text(encoding="utf-8")


def make_run() -> Run:
    return run_of(games_of(RECORDS))


@pytest.fixture(scope="module")
def told(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("browser")
    page = report_page(make_run()).replace("<style>", f"<script>{WATCH}</script><style>", 1)
    (folder / "page.html").write_text(
        page.replace("</body>", f"<script>{DRIVE}</script></body>"), encoding="utf-8"
    )
    result: dict[str, Any] = browser.told((folder / "page.html").as_uri())
    return result


def by_mean(period: str) -> list[str]:
    """The players of a period with games in it, by descending mean."""
    _, rows = make_run().select(
        "SELECT player FROM skills WHERE period = ? AND games > 0 ORDER BY mean DESC", [period]
    )
    return [player for (player,) in rows]


def test_there_are_no_errors_and_no_requests(told: dict[str, Any]) -> None:
    assert told["errors"] == []
    assert told["requests"] == []


def test_players_are_found_by_typing_and_drawn(told: dict[str, Any]) -> None:
    assert told["none"] == []
    assert len(told["accents"]) == 1
    assert told["accents"][0].startswith("Anderßen, Ådolf 3 games, 1858–1862")
    assert (told["expanded"], told["closed"]) == ("true", "false")
    assert told["two"] == ["Anderßen, Ådolf", '<b>"Bold"</b>']
    assert told["bands"] == 2
    assert told["unknown"] == "No player of this name."
    assert len(told["misspelt"]) == 1
    assert told["misspelt"][0].startswith("Paulsen, Louis")


def test_the_slider_moves_the_ranking(told: dict[str, Any]) -> None:
    assert told["start"] == "1862"
    assert told["at1858"] == ["1858", by_mean("1858")]
    assert told["at1861"] == ["1861", by_mean("1861")]
    assert told["later"] == "1862"


def test_who_has_stopped_counts_when_asked_for(told: dict[str, Any]) -> None:
    everyone = ['<b>"Bold"</b>', "Anderßen, Ådolf", "Morphy, Paul", "Paulsen, Louis"]
    assert sorted(told["idle"]) == everyone


def test_leaders_are_the_best_of_every_year(told: dict[str, Any]) -> None:
    _, rows = make_run().select(
        "SELECT period, arg_max(player, mean) FROM skills_within(NULL, NULL, NULL) GROUP BY period ORDER BY period"
    )
    found = {}
    for when, player in told["leaders"]:
        first, _, last = when.partition("–")
        found.update({str(year): player for year in range(int(first), int(last or first) + 1)})
    assert found == dict(rows)


def test_peaks_are_ordered_by_height(told: dict[str, Any]) -> None:
    _, rows = make_run().select("SELECT player FROM players ORDER BY peak_mean DESC")
    assert told["peaks"] == [player for (player,) in rows]


def test_arrow_keys_read_the_curves_aloud(told: dict[str, Any]) -> None:
    assert told["home"].startswith("1858: ")
    assert told["end"].startswith("1862: Anderßen, Ådolf")
    assert "1 game" in told["end"]
    assert told["tip"] is True


def test_a_click_on_a_name_adds_its_curve(told: dict[str, Any]) -> None:
    assert told["clicked"] == 3


def test_tables_are_given_as_csv(told: dict[str, Any]) -> None:
    tables = told["tables"]
    assert told["buttons"] == ["skills", "players", "ranking", "leaders", "peaks"]
    head, *rows = tables["skills"].strip().split("\r\n")
    assert head == "player,period,mean,sd,games"
    count = make_run().select("SELECT count(*) FROM skills")[1][0][0]
    assert len(rows) == count
    assert any(row.startswith('"<b>""Bold""</b>",1858,') for row in rows)
    assert tables["players"].startswith("player,first,last,games,wins,draws,losses\r\n")


def test_a_single_period_has_a_band_and_long_names_end_where_the_picture_does(
    browser: Browser, tmp_path: Path
) -> None:
    long = " of Trinidad, Tobago and all Further Islands".join(
        ["The Most Honourable Society", ""] * 2
    )
    run = open_run(put_small_run(tmp_path / "a.ttt", [("1858", "Once", long, "1-0")]))
    (tmp_path / "page.html").write_text(report_page(run), encoding="utf-8")
    dom = browser.shown((tmp_path / "page.html").as_uri())
    ((low, high),) = {*re.findall(r'<line class="band"[^>]* y1="([\d.]+)" y2="([\d.]+)"', dom)}
    assert float(low) - float(high) > 10
    (name,) = re.findall(r'<text class="name"[^>]*>([^<]*)</text>', dom)
    assert name.endswith("…")
    assert long.startswith(name[:-1])


def test_tiles_of_the_evidence_are_all_of_one_size(browser: Browser, tmp_path: Path) -> None:
    """Also where points of the grid are missing."""
    run = open_run(put_small_run(tmp_path / "a.ttt"))
    places = [(beta, tau) for beta in (100.0, 300.0, 600.0) for tau in (10.0, 50.0, 200.0)][1:]
    run.store_evidence(
        EvidencePoint({"beta": b, "tau": t}, {}, -b - t, True, 3, 0.0) for b, t in places
    )
    (tmp_path / "page.html").write_text(report_page(run), encoding="utf-8")
    dom = browser.shown((tmp_path / "page.html").as_uri())
    found = re.findall(
        r'<rect class="tile"[^>]*? x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="([\d.]+)"',
        dom,
    )
    lefts, tops, widths, heights = ([*map(float, values)] for values in zip(*found, strict=True))
    assert len(found) == 8
    assert widths == pytest.approx([widths[0]] * 8)
    assert heights == pytest.approx([heights[0]] * 8)
    for places, size in ((lefts, widths[0]), (tops, heights[0])):
        first, *others = sorted(set(places))
        assert others == pytest.approx([first + size, first + 2 * size])
    (best,) = re.findall(r'<circle class="best"[^>]*? cx="([\d.]+)" cy="([\d.]+)"', dom)
    middle = min(lefts) + widths[0] / 2, sorted(set(tops))[1] + heights[0] / 2  # beta 100, tau 50
    assert tuple(map(float, best)) == pytest.approx(middle, abs=0.1)
