"""The page: sound HTML that needs nothing else, and data that say what the run says."""

import json
import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.builders import fit_rows, make_games
from tests.support.cases import each
from tests.support.handmade import CONFIG, games_of, put_small_run, run_of
from tests.support.recorder import Recorder
from tests.views.report.site.pages import Page
from ttt_cli.runs.evidence_points import EvidencePoint
from ttt_cli.runs.run import Run, open_run
from ttt_cli.runs.write import memory_run
from ttt_cli.views.figures.spec import embedded
from ttt_cli.views.report.markup import assets, short
from ttt_cli.views.report.page import DATA_SCRIPTS, report_data, report_page


@pytest.fixture
def run(small_run: Callable[..., Run]) -> Run:
    return small_run()


@pytest.fixture(scope="module")
def page(small_run: Callable[..., Run]) -> Page:
    return Page(report_page(small_run()))


def test_the_page_is_whole_and_needs_nothing_from_anywhere(page: Page) -> None:
    assert page.open == []
    assert len(page.ids) == len(set(page.ids))
    assert "{{" not in page.text
    assert not re.search(r"https?://|@import", str(page.path))
    assert "default-src 'none'" in str(page.path)
    assert all(link.startswith(("#", "data:")) for link in page.links)


def test_labels_links_and_the_script_find_their_elements(page: Page) -> None:
    wanted = set(re.findall(r'(?:byId|getElementById)\("([\w-]+)"\)', page.scripts[1]))
    wanted |= {link.removeprefix("#") for link in page.links if link.startswith("#")}
    keys = ("for", "aria-controls", "aria-labelledby", "aria-describedby")
    wanted |= {value or "" for _, key, value in page.attributes if key in keys}
    assert wanted <= set(page.ids)
    inputs = {value for tag, key, value in page.attributes if tag == "input" and key == "id"}
    assert inputs == {
        value for tag, key, value in page.attributes if tag == "label" and key == "for"
    }


def test_facts_are_the_runs(page: Page, tmp_path: Path) -> None:
    for fact in ("-1.3333", "beta", "no result", "a.pgn:12"):
        assert fact in page.text
    late = run_of(games_of([("1858", "A", "B", "1-0")]))
    late.meta = replace(late.meta, converged=False)
    assert "had not converged" in report_page(late)
    assert "had not converged" not in page.text


@each(
    "evil",
    [
        '<b>"Bold"</b>',
        "</script><script>alert(1)</script>",
        "O'Kelly & <!-- Sons\u2028",
        "{{title}}",
    ],
)
def test_names_are_text_in_the_page(evil: str) -> None:
    page = Page(
        report_page(
            run_of(games_of([("1858", evil, "Bishop", "1-0"), ("1859", "Bishop", evil, "1-0")]))
        )
    )
    assert len(page.scripts) == 2
    assert "<b>" not in str(page.path)
    assert {player[0] for player in json.loads(page.scripts[0])["players"]} == {evil, "Bishop"}


def test_the_notes_of_the_model_are_for_every_reader(run: Run, page: Page) -> None:
    assert "2 players left out" not in page.text
    groups = "; ".join(f"{number} players around <A>" for number in range(20))
    shown = replace(
        run.meta,
        notes=("2 players left out: A < B", "H (+-155 points)", f"loosely tied groups: {groups}"),
    )
    noted = run_of(games_of([("1858", "A", "B", "1-0")]))
    noted.meta = shown
    text = report_page(noted)
    assert '<p class="note">2 players left out: A &lt; B</p>' in text
    assert '<p class="note">H (±155 points)</p>' in text
    assert (
        '<details class="note"><summary>loosely tied groups</summary><p>0 players around &lt;A&gt;;'
        in text
    )


def test_a_stored_grid_is_carried_with_its_best(tmp_path: Path, page: Page) -> None:
    assert json.loads(page.scripts[0])["surface"] is None
    run = open_run(put_small_run(tmp_path / "a.ttt"))
    run.store_evidence(
        EvidencePoint({"beta": b, "tau": t}, {}, -b - t, True, 3, 0.0)
        for b, t in [(100.0, 10.0), (100.0, 20.0), (200.0, 10.0), (200.0, 20.0), (300.0, 10.0)]
    )
    surface = json.loads(Page(report_page(run)).scripts[-2])["surface"]
    assert surface["keys"] == ["beta", "tau"]
    assert surface["points"] == [
        [100.0, 10.0, -110.0], [100.0, 20.0, -120.0], [200.0, 10.0, -210.0], [200.0, 20.0, -220.0],
    ]  # fmt: skip


@given(st.text())
def test_embedded_json_comes_back_and_holds_no_markup(text: str) -> None:
    inside = embedded([text])
    assert json.loads(inside) == [text]
    assert not set(inside) & set("<>&\u2028\u2029")


def test_equal_runs_give_equal_pages_and_progress_counts_players(run: Run, page: Page) -> None:
    shown = Recorder()
    assert report_page(run, progress=shown) == page.path
    assert shown.told == [("writing the page", run.meta.players), *[1] * run.meta.players]


def unpacked(data: dict[str, Any]) -> dict[tuple[str, str], tuple[float, ...]]:
    """{(player, period): (mean, sd, games)}, as the page's script reads it."""
    found = {}
    for name, *_, start, offsets, means, sds, played, _ in data["players"]:
        for i, row in enumerate(zip(means, sds, played, strict=True)):
            step = offsets[i] if offsets else i
            found[name, data["labels"][start - data["base"] + step]] = row
    return found


def test_records_and_skills_are_carried_as_the_run_has_them(small_run: Callable[..., Run]) -> None:
    run = small_run(further="draw_margin")
    data = report_data(run)
    _, rows = run.select(
        "SELECT player, games, wins, draws, losses, opponents FROM players ORDER BY player"
    )
    assert [tuple(player[:6]) for player in data["players"]] == rows
    _, rows = run.select("SELECT player, period, mean, sd, games FROM skills")
    found = unpacked(data)
    assert len(found) == len(rows)
    for player, period, mean, sd, games in rows:
        assert found[player, period] == (
            pytest.approx(mean, abs=0.05),
            pytest.approx(sd, abs=0.05),
            games,
        )
    assert data["players"][0][12][0] == pytest.approx(100.2)


def test_a_small_budget_keeps_those_who_played_most_and_says_so(run: Run) -> None:
    counts = dict(run.select("SELECT player, games FROM players")[1])
    data = report_data(run, budget=300)
    kept = {player[0] for player in data["players"]}
    assert 0 < len(kept) < 3
    assert data["leftOut"] == 3 - len(kept)
    assert kept == {player for player, games in counts.items() if games >= data["minGames"]}
    assert min(counts[p] for p in kept) > max(games for p, games in counts.items() if p not in kept)
    text = Page(report_page(run, budget=300)).text
    assert re.search(r"with at least \d+ games; [12] others are in the run but not here", text)
    assert report_data(run, budget=1)["players"]


def test_fine_periods_without_games_are_thinned_to_one_a_year() -> None:
    records = [
        ("1858-06", "A", "B", "1-0"),
        ("1858-09", "B", "A", "1-0"),
        ("1861-03", "A", "B", "1/2-1/2"),
    ]
    data = report_data(run_of(games_of(records), period="month"))
    labels = {label for player, label in unpacked(data) if player == "A"}
    assert labels == {"1858-06", "1858-09", "1859-01", "1860-01", "1861-01", "1861-03"}
    assert data["years"] == [pytest.approx(1858 + 5 / 12, abs=1e-5), pytest.approx(1 / 12)]
    assert (data["labels"][0], data["labels"][-1]) == ("1858-06", "1861-03")


@each("value, text", [(1200.04, "1200"), (1200.06, "1200.1"), (0.5, "0.5"), (-0.01, "0")])
def test_numbers_are_short(value: float, text: str) -> None:
    assert str(short(value)) == text


ROWS = [
    (1850, "a", "b", 2), (1850, "b", "c", 1), (1851, "b", "a", 1), (1857, "a", "c", 0), (1870, "d", "e", 2),
    (1890, "e", "d", 1),
]  # fmt: skip
CAREER = {"growth": 300, "decline": 9, "decline_after": 10, "early": 3}
ASK = """
globalThis.document = {{ getElementById: () => ({{ textContent: {data!r} }}) }};
{script}
const last = D.labels.length - 1;
console.log(JSON.stringify(Object.fromEntries(players.map((player) => {{
  const skill = skillAt(player, player.at.length - 1, last);
  return [player.name, [skill.mean, skill.sd]];
}}))));
"""


@pytest.mark.skipif(shutil.which("node") is None, reason="needs node")
@pytest.mark.parametrize(
    ("model", "given"),
    [("ttt", {}), ("ttt", CAREER), ("trueskill", CAREER), ("glicko", {}), ("edo", {})],
)
def test_the_page_goes_on_after_the_last_game_as_the_run_does(
    model: str, given: dict[str, float]
) -> None:
    timeline, fit = fit_rows(ROWS, model, **given)
    run = memory_run(make_games(ROWS), timeline, fit, CONFIG)
    asked = ASK.format(data=json.dumps(report_data(run)), script=assets(*DATA_SCRIPTS))
    told = subprocess.run(["node", "-"], input=asked, capture_output=True, text=True, check=True)
    found = json.loads(told.stdout)
    rows = run.select("SELECT player, mean, sd FROM skills_within(1890, 1890, NULL)")[1]
    assert len(rows) == 5
    for player, mean, sd in rows:
        assert found[player] == pytest.approx([mean, sd], abs=0.2), player
