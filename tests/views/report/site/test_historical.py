"""The site of 345,000 games in a real browser, every kind of page; by default that of two of its years."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.support.browser import Browser
from tests.views.report.site.conftest import judge
from tests.views.report.site.pages import broken
from tests.views.report.site.test_browser import told, with_scripts
from ttt_cli.cli import main
from ttt_cli.runs.run import open_run
from ttt_cli.views.report import links

pytestmark = pytest.mark.slow


@pytest.fixture(
    scope="module",
    params=["1963-1964", pytest.param("1700-2100", marks=pytest.mark.large)],
    ids=["part", "whole"],
)
def place(
    request: pytest.FixtureRequest, data: Path, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """The site as the commands write it; of the part, more players share a page."""
    folder = tmp_path_factory.mktemp("historical")
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("TTT_RUN", raising=False)
        if request.param == "1963-1964":
            patch.setattr(links, "OWN_PAGES", 50)
            patch.setattr(links, "SHARED_PAGES", 31)
        run, site = f"{folder / 'a.ttt'}", f"{folder / 'site'}"
        games = str(data / "historical.csv.gz")
        assert (
            main.run(["fit", games, "--years", request.param, "-o", run, "-q", "--no-suspects"])
            == 0
        )
        assert main.run(["report", site, "-r", run, "-q"]) == 0
    return folder / "site"


def entries(site: Path, name: str) -> list[list[Any]]:
    """What the search of a site knows of players or events."""
    text = (site / "data" / f"{name}.js").read_text(encoding="utf-8")
    found: list[list[Any]] = json.loads(text[text.index("(") + 1 : text.rindex(")")])
    return found


def kinds(site: Path) -> dict[str, str]:
    """A page of every kind, the largest where there are many."""

    def largest(pattern: str, holding: str = "") -> str:
        pages = sorted(site.glob(pattern), key=lambda path: (-path.stat().st_size, path.name))
        found = next(page for page in pages if holding in page.read_text(encoding="utf-8"))
        return found.relative_to(site).as_posix()

    few = largest("players/few_*")
    part = re.findall("<section id=([^>]+)", (site / few).read_text(encoding="utf-8"))[3]
    alone = (page for page in site.glob("players/*") if not page.name.startswith("few_"))
    busiest = max(alone, key=lambda page: page.stat().st_size).relative_to(site).as_posix()
    return {
        "first": "index.html",
        "players": largest("players*.html"),
        "years": "years.html",
        "events": largest("events*.html"),
        "records": "records.html",
        "year": largest("years/*"),
        "player": busiest,
        "several": few,
        "one of several": f"{few}#{part}",
        "crosstable": largest("events/*", "id=crosstable-table"),
        "standings": largest("events/*", "id=standings-table"),
        "several events": largest("events/few_*"),
        "compare": f"compare.html#p={Path(busiest).stem},{part}",
    }


def test_no_page_is_above_its_size_and_no_link_leads_nowhere(place: Path) -> None:
    pages = [*place.rglob("*.html")]
    assert max(page.stat().st_size for page in pages) < 600_000
    assert broken(place) == []
    assert any(page.stem.startswith("few_") for page in pages)


def test_everybody_of_the_run_is_found_and_has_a_page(place: Path) -> None:
    run = open_run(place.parent / "a.ttt")
    everybody = run.select("SELECT player FROM names JOIN players USING (player) ORDER BY id")[1]
    found = entries(place, "names")
    assert [one[0] for one in found] == [name for (name,) in everybody]
    assert all(one[4] is not None for one in found)


def test_every_kind_of_page_works_in_a_browser(browser: Browser, place: Path) -> None:
    pages = kinds(place)
    with_scripts(place, [page.partition("#")[0] for page in pages.values()])
    name = max(entries(place, "names"), key=lambda one: one[3])[0]
    misspelt = name[:2] + name[3] + name[2] + name[4:].partition(",")[0]
    seen = {kind: told(place, page, browser, misspelt, width=1300) for kind, page in pages.items()}
    for kind, found in seen.items():
        assert (kind, found["errors"], found["requests"], found["overflow"]) == (kind, [], [], 0)
        assert any(one.startswith(name) for one in found["found"]), (kind, found["found"])
        assert found["nobody"] == ["No player of this name."]
        for link in found["links"]:
            path, _, part = link.removeprefix("file://").partition("#")
            assert Path(path).is_file(), (kind, link)
            if "/few_" in path and part:
                assert f"<section id={part}>" in Path(path).read_text(encoding="utf-8"), (
                    kind,
                    link,
                )
    assert len(seen["compare"]["curves"]) == 2
    assert seen["one of several"]["shown"] == [seen["one of several"]["title"]]
    player = seen["player"]
    assert (player["sorted"], player["address"]) == ("ascending", "#sort=games-table.3.up")
    assert player["first"] == sorted(player["first"], key=["1", "½", "0"].index)
    again = told(place, f"{pages['player']}#sort=games-table.4.down", browser)
    assert again["ordered"] == ["games-table.4.descending"]
    for kind, page in pages.items():
        phone = told(place, page, browser, misspelt, width=390)
        assert (kind, phone["errors"], phone["requests"], phone["overflow"]) == (kind, [], [], 0)


@pytest.mark.large
@pytest.mark.parametrize("width", [1300, 390])
def test_axe_finds_nothing_serious_on_any_kind_of_page(
    browser: Browser, place: Path, axe: Path, tmp_path: Path, width: int
) -> None:
    site = tmp_path / "site"
    shutil.copytree(place, site)
    pages = kinds(site)
    judge(site, axe, {page.partition("#")[0] for page in pages.values()})
    for kind, page in pages.items():
        judged = browser.told(f"{site.as_uri()}/{page}", width=width)
        assert (kind, judged["found"]) == (kind, [])
