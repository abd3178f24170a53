"""Pages as axe-core judges them: nothing serious, on every kind of page, light and dark."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support.browser import Browser
from tests.views.report.site.conftest import TOLD, run_of
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
def axe(request: pytest.FixtureRequest) -> Path:
    """axe-core from npm, kept in pytest's cache."""
    npm, cache = shutil.which("npm"), getattr(request.config, "cache", None)
    if npm is None or cache is None:
        pytest.skip("axe-core is not here: no npm")
    folder = Path(cache.mkdir("axe"))
    script = folder / "node_modules" / "axe-core" / "axe.min.js"
    if not script.exists():
        command = [npm, "install", "--prefix", str(folder), "--no-audit", "--no-fund", "axe-core@4"]
        try:
            subprocess.run(command, check=True, capture_output=True, timeout=120)
        except (subprocess.SubprocessError, OSError) as error:
            pytest.skip(f"axe-core is not here: npm cannot install it ({error})")
    return script


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
    for script in (axe, Path(__file__).with_name("drive_axe.js")):
        shutil.copy(script, place)
    for page in place.rglob("*.html"):
        up = "../" * (len(page.relative_to(place).parts) - 1)
        scripts = "".join(
            f"<script src={up}{name}></script>" for name in ("axe.min.js", "drive_axe.js")
        )
        text = page.read_text(encoding="utf-8").replace(
            "script-src 'unsafe-inline'", "script-src 'unsafe-inline' file:"
        )
        page.write_text(text + scripts, encoding="utf-8")
    return place


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("page", PAGES)
def test_nothing_serious_is_found(page: str, dark: bool, judged: Path, browser: Browser) -> None:
    assert browser.told(f"{judged.as_uri()}/{page}", dark=dark) == {"dark": dark, "found": []}
