"""Pages as axe-core judges them: nothing serious, on every kind of page, light and dark."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.browser import Browser
from tests.views.report.site.conftest import TOLD, judge, run_of
from ttt_cli.views.report import links
from ttt_cli.views.report.page import report_page
from ttt_cli.views.report.site import write_site

pytestmark = pytest.mark.slow
PAGES = (
    "index.html",
    "players.html",
    "years.html",
    "records.html",
    "events.html",
    "players/morphy-paul.html",
    "years/1859.html",
    "events/1861-london-eng.html",
    "compare.html#p=morphy-paul:1857,anderssen-adolf",
    "report.html",
    "few/players/few_0.html",
    "few/players/few_0.html#kolisch-ignaz",
    "few/events/few_0.html",
)


@pytest.fixture(scope="module")
def judged(axe: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site, in its folder the single page and a site of shared pages, with axe-core in every page."""
    place = tmp_path_factory.mktemp("judged") / "site"
    write_site(run_of(TOLD), place)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(links, "OWN_PAGES", 1)
        patch.setattr(links, "SHARED_PAGES", 1)
        write_site(run_of(TOLD), place / "few")
    (place / "report.html").write_text(report_page(run_of(TOLD)), encoding="utf-8")
    judge(place, axe, [page.relative_to(place).as_posix() for page in place.rglob("*.html")])
    return place


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("page", PAGES)
def test_nothing_serious_is_found(page: str, dark: bool, judged: Path, browser: Browser) -> None:
    assert browser.told(f"{judged.as_uri()}/{page}", dark=dark) == {"dark": dark, "found": []}
