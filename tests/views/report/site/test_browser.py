"""Sites in a real browser, from a disk: search, sorting, comparison, addresses; and names that are markup or script."""

from __future__ import annotations

import csv
import io
import itertools
import re
import shutil
from collections.abc import Iterable
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

import pytest

from tests.support.browser import Browser
from tests.views.report.site.conftest import TOLD, run_of
from tests.views.test_hostile_names import NAMES
from ttt_cli.api import fit
from ttt_cli.games.people import PeopleTable
from ttt_cli.views.probability import colour_blind, stronger
from ttt_cli.views.published_ratings import read_published_ratings
from ttt_cli.views.report import links
from ttt_cli.views.report.site import write_site

pytestmark = pytest.mark.slow

WATCH = """window.errors = [];
addEventListener("error", (event) => errors.push(event.message));
addEventListener("unhandledrejection", (event) => errors.push(String(event.reason)));
addEventListener("securitypolicyviolation", (event) => errors.push(`blocked ${event.blockedURI}`));
for (const level of ["error", "warn"]) console[level] = (...words) => errors.push(words.join(" "));
"""


@pytest.fixture(scope="module")
def driven(site: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same site with scripts that use its pages."""
    place = tmp_path_factory.mktemp("driven") / "site"
    shutil.copytree(site, place)
    return with_scripts(place)


def with_scripts(place: Path, pages: Iterable[str] | None = None) -> Path:
    """A site with scripts that use its pages, or these of them."""
    (place / "watch.js").write_text(WATCH, encoding="utf-8")
    shutil.copy(Path(__file__).with_name("drive_site.js"), place)
    for page in place.rglob("*.html") if pages is None else map(place.joinpath, set(pages)):
        up = "../" if page.parent != place else ""
        text = page.read_text(encoding="utf-8").replace(
            "<title>", f"<script src={up}watch.js></script><title>", 1
        )
        page.write_text(f"{text}<script src={up}drive_site.js defer></script>\n", encoding="utf-8")
    return place


def told(
    driven: Path, page: str, browser: Browser, find: str = "pualsen", width: int | None = None
) -> dict[str, Any]:
    path, _, state = page.partition("#")
    address = f"{(driven / path).as_uri()}?find={quote(find)}{f'#{state}' if state else ''}"
    found: dict[str, Any] = browser.told(address, width=width)
    found["links"] = [re.sub(r"\?find=[^#]*", "", link) for link in found["links"]]
    return found


@pytest.mark.parametrize(
    "page",
    [
        "index.html",
        "players.html",
        "years.html",
        "events.html",
        "records.html",
        "years/1861.html",
        "events/1861-london-eng.html",
    ],
)
def test_pages_make_no_error_and_no_request(browser: Browser, page: str, driven: Path) -> None:
    found = told(driven, page, browser)
    assert (found["errors"], found["requests"]) == ([], [])
    assert found["found"] == ["Paulsen, Louis 5 games, 1857–1861"]
    assert found["event"] == ["London ENG 3 games, 1861"]
    assert found["year"] == ["1861 ranking, newcomers, events", "London ENG 3 games, 1861"]
    assert found["nobody"] == ["No player of this name."]


def test_the_picture_of_number_ones_is_moved_by_keys_on_a_phone(
    browser: Browser, site: Path
) -> None:
    address = (site / "index.html").as_uri()
    box = '<div class="scroll" tabindex="0" role="region" aria-label="Number ones"><div class="chart reigns'
    assert box in browser.shown(address, width=390).replace(
        "<div class=scroll", '<div class="scroll"'
    )
    assert box not in browser.shown(address, width=1300)


def test_a_crosstable_of_22_and_the_columns_of_a_player_fit_in_1300_pixels(
    browser: Browser, tmp_path: Path
) -> None:
    """Also where a game is missing, so that points have the number of games."""
    names = [f"Stepanovich{n:02}, Emanuel Schi" for n in range(22)]
    pairs = [*itertools.combinations(names, 2)][:-1]
    games = [
        ("1895", white, black, "1/2-1/2", "Hastings", "Hastings ENG", "1") for white, black in pairs
    ]
    write_site(run_of(games), tmp_path / "site")
    player = sorted((tmp_path / "site" / "players").glob("stepanovich*"))[0].name
    for page in ("events/1895-hastings-eng.html", f"players/{player}"):
        shown = browser.shown((tmp_path / "site" / page).as_uri(), width=1300)
        assert "<table" in shown
        assert 'tabindex="0" role="region"' not in shown


def test_tables_are_sorted_and_the_address_keeps_it(
    browser: Browser, site: Path, driven: Path
) -> None:
    page = "players/morphy-paul.html"
    found = told(driven, page, browser)
    assert found["errors"] == []
    assert found["first"] == ["1", "1", "1", "½", "0"]
    assert sorted(found["events"]) == ["New York USA"] * 2 + ["Paris m"] * 3
    assert found["second"] == ["0", "½", "1", "1", "1"]
    assert (found["sorted"], found["address"]) == ("ascending", "#sort=games-table.3.up")
    again = browser.shown(f"{(site / page).as_uri()}#sort=games-table.3.down")
    assert 'aria-sort="descending"' in again


def test_games_of_another_sport_have_its_sides_and_grounds(
    browser: Browser, tmp_path: Path
) -> None:
    cup = (
        "date,home_team,away_team,home_score,away_score,tournament,neutral\n"
        "2014-06-04,Brazil,Chile,1,1,Cup,FALSE\n2014-06-08,Germany,Brazil,7,1,Cup,TRUE\n"
        "2014-06-12,Chile,Ghana,0,1,Cup,TRUE\n2014-06-14,Ghana,Italy,0,1,Cup,TRUE\n"
    )
    write_site(fit(io.BytesIO(cup.encode()), model="ttt"), tmp_path / "site")
    (page,) = (tmp_path / "site" / "events").glob("2014*")
    shown = browser.shown(page.as_uri())
    table = re.sub("</?a[^>]*>", "", shown.partition('<table id="games-table"')[2])
    assert re.findall("<th(?: [^>]*)?>(?:<button[^>]*>)?([^<]*)", table) == [
        "date", "home", "away", "result", "expected", "ground",
    ]  # fmt: skip
    cells = re.findall("<td[^>]*>([^<]*)", table)
    assert cells[3::6] == ["drawn", "home won", "away won", "away won"]
    assert cells[5::6] == ["", "neutral", "neutral", "neutral"]


def test_players_of_an_address_are_compared_as_the_commands_do(
    browser: Browser, driven: Path
) -> None:
    found = told(driven, "compare.html#p=morphy-paul:1857,anderssen-adolf", browser)
    assert (found["errors"], found["requests"]) == ([], [])
    assert found["curves"] == ["Morphy, Paul", "Anderssen, Adolf"]
    run = run_of(TOLD)
    skills = (
        run.query("SELECT * FROM skills WHERE games > 0").sort_values("mean").to_dict("records")
    )
    morphy = next(
        row for row in skills if row["player"] == "Morphy, Paul" and row["period"] == "1857"
    )
    anderssen = [row for row in skills if row["player"] == "Anderssen, Adolf"][-1]
    either = colour_blind(run.meta.model, run.meta.params, morphy, anderssen)
    assert found["cells"][0][2:] == [
        f"{morphy['mean']:.0f}\u00a0±\u00a050",
        "·",
        f"{either.expected:.2f} stronger {stronger(morphy, anderssen):.2f}; +2 =0 −1",
    ]
    assert found["cells"][1][3].endswith("; +1 =0 −2")
    assert found["address"] == "#p=morphy-paul%3A1858%2Canderssen-adolf%3A1861"
    assert found["more"] == ["Kolisch, Ignaz 3 games, 1859–1861"]


def test_curves_of_several_players_lie_above_their_ages(browser: Browser, tmp_path: Path) -> None:
    """In the middle of 1857 Morphy was 20, in that of 1858 Anderssen 40; nobody knows when Kolisch was born."""
    known = {"Morphy, Paul": ("1837-06-22",), "Anderssen, Adolf": ("1818",)}
    run = run_of(TOLD, people=PeopleTable(("born",), known))
    write_site(run, tmp_path / "site")
    page = "compare.html"
    driven = with_scripts(tmp_path / "site", [page])
    found = told(driven, f"{page}#p=anderssen-adolf,morphy-paul,kolisch-ignaz", browser)
    assert found["errors"] == []
    read, unit, curves, unknown = found["aged"]
    [mean] = run.query("SELECT mean FROM skills WHERE player LIKE 'Morphy%' AND period = '1857'")[
        "mean"
    ]
    assert read == f"age 20: Morphy, Paul {mean:.0f} ± 50, 2 games"
    assert unit.endswith(", by age")
    assert curves == ["Anderssen, Adolf", "Morphy, Paul"]
    assert unknown == "The births of these are not known: Kolisch, Ignaz."
    assert found["address"].endswith("&by=age")


@pytest.mark.large
def test_published_ratings_are_beside_the_curves_compared(browser: Browser, tmp_path: Path) -> None:
    run, ratings = run_of(TOLD), tmp_path / "edo.csv"
    rows = ["player,year,rating", '"Morphy, Paul",1858,2600', '"Anderssen, Adolf",1858,2500']
    ratings.write_text("\n".join([*rows, '"Anderssen, Adolf",1861,2450']), encoding="utf-8")
    published = read_published_ratings(str(ratings), run)
    write_site(run, tmp_path / "site", published=published)
    driven = with_scripts(tmp_path / "site")
    found = told(
        driven, "compare.html#p=morphy-paul:1858,anderssen-adolf:1861,kolisch-ignaz", browser
    )
    assert found["errors"] == []
    assert found["dotted"] == "Dotted line and rating: edo.csv, scaled"
    assert found["rated"] == 2
    morphy, anderssen = (
        [f"{rating:.0f}" for _, rating in sorted(published.ratings[name].items())]
        for name in ("Morphy, Paul", "Anderssen, Adolf")
    )
    assert [row[3] for row in found["cells"]] == [morphy[0], anderssen[1], ""]
    assert "rating" not in found["read"]
    assert told(driven, "compare.html#p=anderssen-adolf", browser)["read"].endswith(
        f", rating {anderssen[0]}"
    )


FOLDED = (
    "Łódź, Ħal",
    "O´Neil, J",
    "Straße, Ünal",
    "ŉ Ǆ, ℡",
    "Мюллер",
    "DʼArcy",
    "Löwenthal, János",
    "İnce, I",
    "x",
)


@pytest.mark.large
def test_links_that_the_script_makes_lead_to_pages(
    browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever the names fold to, also where some have no page, or share one."""
    monkeypatch.setattr(links, "SHARED_PAGES", 3)
    told_ = [
        ("1850", white, black, "1-0", f"{white} open", "?", "1")
        for white, black in zip(FOLDED, (*FOLDED[1:], FOLDED[0]), strict=True)
    ]
    for most, own, pages in ((100, 100, 24), (5, 100, 11), (100, 2, 24)):
        monkeypatch.setattr(links, "OWN_PAGES", own)
        place = tmp_path / f"{most}-{own}" / "site"
        place.parent.mkdir()
        write_site(run_of(told_), place, most=most)
        with_scripts(place)
        found = set()
        for path in sorted(place.glob("*s/*.html")):
            page = told(place, path.relative_to(place).as_posix(), browser)
            assert page["errors"] == []
            found |= {unquote(link).removeprefix("file://") for link in page["links"]}
        for link in sorted(found):
            path, _, part = link.partition("#")
            assert Path(path).is_file(), link
            if part and "compare.html" not in path:
                assert f" id={part}>" in Path(path).read_text(encoding="utf-8"), link
        assert len({link.partition("#p=")[0] for link in found}) >= pages


def test_one_of_several_on_a_page_is_shown_alone(
    browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(links, "OWN_PAGES", 1)
    monkeypatch.setattr(links, "FEW_GAMES", 5)
    monkeypatch.setattr(links, "SHARED_PAGES", 1)
    place = tmp_path / "site"
    write_site(run_of(TOLD), place)
    with_scripts(place)
    page = "players/few_0.html"
    everybody, one = told(place, page, browser), told(place, f"{page}#morphy-paul", browser)
    assert (everybody["errors"], one["errors"]) == ([], [])
    assert everybody["shown"] == [
        "Players of a few games",
        "Kolisch, Ignaz",
        "Morphy, Paul",
        "Paulsen, Louis",
    ]
    assert one["shown"] == ["Morphy, Paul"]
    assert (everybody["title"].partition(":")[0], one["title"]) == (
        "Players of a few games",
        "Morphy, Paul",
    )
    assert any(link.endswith("compare.html#p=morphy-paul") for link in one["links"])
    assert any(link.endswith("events/few_0.html#1861-london-eng") for link in everybody["links"])
    compared = told(place, "compare.html#p=morphy-paul:1857,anderssen-adolf", browser)
    assert any(link.endswith(f"{page}#morphy-paul") for link in compared["links"])


@pytest.mark.large
def test_no_name_is_obeyed_on_any_kind_of_page(
    browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(links, "OWN_PAGES", 6)
    monkeypatch.setattr(links, "SHARED_PAGES", 1)
    told_ = [
        (str(1850 + year), white, black, result, NAMES[at], NAMES[-1 - at], NAMES[at])
        for year, result in enumerate(("1-0", "0-1", "1/2-1/2"))
        for at, (white, black) in enumerate(zip(NAMES, (*NAMES[1:], NAMES[0]), strict=True))
    ]
    ratings = tmp_path / f"{NAMES[3][:12].replace('/', '')}.csv"
    with ratings.open("w", encoding="utf-8", newline="") as file:
        rows = [(name, 1851, 2000 + at) for at, name in enumerate((*NAMES, f"{NAMES[0]} again"))]
        csv.writer(file).writerows([("player", "year", "rating"), *rows])
    run = run_of(told_, spellings=((NAMES[0], NAMES[1]),))
    place = tmp_path / "site"
    write_site(run, place, title=NAMES[0], published=read_published_ratings(str(ratings), run))
    pages = [
        *(
            "index.html",
            "players.html",
            "events.html",
            "years.html",
            "compare.html",
            "years/1851.html",
        ),
        *(path.relative_to(place).as_posix() for path in sorted(place.glob("players/*"))),
        *(path.relative_to(place).as_posix() for path in sorted(place.glob("events/*"))[:4]),
        "events/few_0.html",
    ]
    slugs = [path.stem for path in sorted(place.glob("players/*~*"))[:4]]
    parts = re.findall(
        "<section id=([^>]+)", (place / "players" / "few_0.html").read_text(encoding="utf-8")
    )
    further = [
        f"compare.html#p={','.join([*slugs, *parts])}",
        *(f"players/few_0.html#{part}" for part in parts),
    ]
    for page in [*pages, *further]:
        dom = browser.shown(f"{place.as_uri()}/{page}")
        assert "data-obeyed" not in dom[: dom.index("<head")]
        rendered = dom[dom.index("<body") :].replace("&lt;", "")
        assert not [
            mark for mark in ("<img", "<svg onload", "onerror=x", "<textarea") if mark in rendered
        ], page
        assert "</script><script>window" in unescape(dom), page
