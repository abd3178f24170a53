"""Names that are markup, script or no text at all, in every page and figure that is written: shown, never obeyed."""

import json
import math
from html import unescape
from pathlib import Path

import pytest

from tests.support.browser import Browser
from tests.support.handmade import CONFIG, REPORT, fit_of, games_of
from ttt_cli.cli.main import run as ttt
from ttt_cli.runs.write import write_run
from ttt_cli.timeline import build_timeline
from ttt_cli.views.figures.spec import embedded, showable

OBEYED = "window.obeyed=(window.obeyed||0)+1;document.documentElement.dataset.obeyed=1"
NAMES = (
    f"</script><script>{OBEYED}</script>",
    f"<img src=x onerror={OBEYED}>",
    f"\"'><svg onload={OBEYED}>",
    f"<!--<script>{OBEYED}//",
    f"]]></style></title></textarea><script>{OBEYED}</script>",
    f"';{OBEYED};//\\",
    f"${{{OBEYED}}}{{{{{OBEYED}}}}}",
    "\u202eRight, To Left\u2028\u2029",
    "Control\x01\x08\x0b\x1b[31m, C\x7f\x85",
    "&lt;Entity&amp;",
)
PAGES = {
    "report": ["report"],
    "skills": ["plot", *NAMES[:4]],
    "names": ["plot", *NAMES[4:]],
    "top": ["plot", "--kind", "top", "--number", "2"],
    "games": ["plot", "--kind", "games"],
    "player": ["player", NAMES[0], "--plot"],
}
ALIKE = ("names", "top", "games")  # drawn as skills are


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("hostile") / "x<script>.ttt"
    records = [
        (str(1850 + year), white, black, result)
        for year, result in enumerate(("1-0", "0-1", "1/2-1/2"))
        for white, black in zip(NAMES, (*NAMES[1:], NAMES[0]), strict=True)
    ]
    games = games_of(records, report=REPORT)
    timeline = build_timeline(games)
    write_run(place, games, timeline, fit_of(timeline), CONFIG)
    return place


def written(place: Path, what: str, out: Path) -> Path:
    command = PAGES[what]
    where = [str(out)] if command[-1] == "--plot" else ["-o", str(out)]
    assert ttt([*command, *where, "-r", str(place), "-q"]) == 0
    return out


@pytest.mark.slow
@pytest.mark.parametrize(
    "what", [pytest.param(page, marks=[pytest.mark.large] * (page in ALIKE)) for page in PAGES]
)
def test_nothing_is_obeyed_and_all_is_shown(
    what: str, hostile: Path, browser: Browser, tmp_path: Path
) -> None:
    page = written(hostile, what, tmp_path / "page.html")
    dom = browser.shown(page.as_uri())
    assert "data-obeyed" not in dom[: dom.index("<head")]
    rendered = dom[dom.index("<body") :]
    for element in ("<img", "<svg onload", "onerror=x", "<textarea"):
        assert element not in rendered.replace("&lt;", "")
    assert "View Source" not in rendered
    if what in ("skills", "player", "report"):
        assert "</script><script>window" in unescape(rendered)


def test_numbers_that_json_lacks_are_null() -> None:
    data = {"a": [math.nan, math.inf, -math.inf, 1.5], "b": {"c": (math.nan, "x")}}
    assert json.loads(embedded(data)) == {"a": [None, None, None, 1.5], "b": {"c": [None, "x"]}}
    assert showable(data) == {"a": [None, None, None, 1.5], "b": {"c": [None, "x"]}}
