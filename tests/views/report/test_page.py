import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.handmade import CONFIG, RECORDS, REPORT, fit_of, games_of, put_small_run, write_small_run
from tests.support.recorder import Recorder
from tests.views.report.site.pages import Page
from ttt_cli.runs.meta import EvidencePoint
from ttt_cli.runs.run import Run, open_run
from ttt_cli.runs.write import memory_run
from ttt_cli.timeline import build_timeline
from ttt_cli.views.figures.spec import embedded
from ttt_cli.views.report.page import report_page


@pytest.fixture
def run(small_run: Callable[..., Run]) -> Run:
    return small_run()


def test_the_page_is_whole_and_its_data_loads(run: Run) -> None:
    page = Page(report_page(run))
    assert page.open == []
    assert len(page.ids) == len(set(page.ids))
    data = json.loads(page.scripts[0])
    assert [player[0] for player in data["players"]] == ["Anderssen, Adolf", "Morphy, Paul", "Paulsen, Louis"]
    assert "{{" not in page.text


def test_nothing_is_fetched_from_anywhere(run: Run) -> None:
    text = report_page(run)
    assert not re.search(r"https?://", text)
    page = Page(text)
    references = [(tag, value) for tag, key, value in page.attributes if key in ("src", "href")]
    assert all(value and value.startswith(("#", "data:")) for _, value in references)
    assert "@import" not in text
    assert "default-src 'none'" in text


def test_labels_and_links_point_at_something(run: Run) -> None:
    page = Page(report_page(run))
    for _, key, value in page.attributes:
        if key in ("for", "aria-controls", "aria-labelledby", "aria-describedby"):
            assert value in page.ids
        if key == "href" and value and value.startswith("#"):
            assert value[1:] in page.ids
    inputs = [value for tag, key, value in page.attributes if tag == "input" and key == "id"]
    labelled = [value for tag, key, value in page.attributes if tag == "label" and key == "for"]
    assert set(inputs) == set(labelled)


def test_the_script_asks_for_elements_that_are_there(run: Run) -> None:
    page = Page(report_page(run))
    for name in re.findall(r'(?:byId|getElementById)\("([\w-]+)"\)', page.scripts[1]):
        assert name in page.ids


def test_facts_are_the_runs(run: Run) -> None:
    text = Page(report_page(run)).text
    assert "-1.3333" in text
    assert "beta" in text
    assert "no result" in text
    assert "a.pgn:12" in text
    assert "had not converged" not in text


def test_names_cannot_break_out_of_the_page(tmp_path: Path) -> None:
    evil = ('<b>"Bold"</b>', "</script><script>alert(1)</script>", "O'Kelly & <!-- Sons\u2028")
    games = games_of([("1858", evil[0], evil[1], "1-0"), ("1859", evil[2], evil[0], "1-0")], report=REPORT)
    timeline = build_timeline(games)
    run = memory_run(games, timeline, fit_of(timeline), CONFIG)
    text = report_page(run)
    page = Page(text)
    assert len(page.scripts) == 2
    assert "<b>" not in text
    assert {player[0] for player in json.loads(page.scripts[0])["players"]} == set(evil)


def test_a_template_sign_in_the_data_stays(tmp_path: Path) -> None:
    games = games_of([("1858", "{{title}}", "B", "1-0")])
    timeline = build_timeline(games)
    page = Page(report_page(memory_run(games, timeline, fit_of(timeline), CONFIG)))
    assert json.loads(page.scripts[0])["players"][1][0] == "{{title}}"


def test_what_did_not_converge_says_so(tmp_path: Path) -> None:
    write_small_run(tmp_path / "n.ttt", converged=False)
    assert "had not converged" in report_page(open_run(tmp_path / "n.ttt"))


def test_the_notes_of_the_model_are_for_every_reader(run: Run) -> None:
    assert "2 players left out" not in report_page(run)
    run.meta = replace(run.meta, notes=("2 players left out: A < B",))
    assert '<p class="note">2 players left out: A &lt; B</p>' in report_page(run)
    groups = "; ".join(f"{number} players around <A>" for number in range(20))
    run.meta = replace(run.meta, notes=(f"loosely tied groups: {groups}",))
    assert (
        '<details class="note"><summary>loosely tied groups</summary><p>0 players around &lt;A&gt;;'
        in report_page(run)
    )


def test_a_page_of_a_part_names_its_threshold(run: Run) -> None:
    text = Page(report_page(run, budget=300)).text
    assert re.search(r"with at least \d+ games; [12] others are in the run but not here", text)


def test_a_stored_grid_is_carried_with_its_best(tmp_path: Path) -> None:
    put_small_run(tmp_path / "a.ttt")
    run = open_run(tmp_path / "a.ttt")
    assert json.loads(Page(report_page(run)).scripts[0])["surface"] is None
    run.store_evidence(
        EvidencePoint({"beta": b, "tau": t}, {}, -b - t, True, 3, 0.0)
        for b, t in [(100.0, 10.0), (100.0, 20.0), (200.0, 10.0), (200.0, 20.0), (300.0, 10.0)]
    )
    surface = json.loads(Page(report_page(run)).scripts[-2])["surface"]
    assert surface["keys"] == ["beta", "tau"]
    assert surface["points"] == [
        [100.0, 10.0, -110.0], [100.0, 20.0, -120.0], [200.0, 10.0, -210.0], [200.0, 20.0, -220.0],
    ]  # fmt: skip


def test_equal_runs_give_equal_pages(run: Run) -> None:
    assert report_page(run) == report_page(run)
    assert len(RECORDS) == run.meta.games


@given(st.text())
def test_embedded_json_comes_back_and_holds_no_markup(text: str) -> None:
    inside = embedded([text])
    assert json.loads(inside) == [text]
    assert not set(inside) & set("<>&\u2028\u2029")


def test_progress_is_told_player_by_player(run: Run) -> None:
    shown = Recorder()
    assert report_page(run, progress=shown) == report_page(run)
    assert shown.told == [("writing the page", run.meta.players), *[1] * run.meta.players]
