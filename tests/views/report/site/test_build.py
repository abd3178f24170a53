"""How a site is written: the same every time, whole or not at all, and over nothing but a site."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.views.report.site.conftest import TOLD, run_of
from tests.views.report.site.pages import Page
from ttt_cli.views.report import site as build
from ttt_cli.views.report.site import write_site


def test_equal_runs_give_equal_bytes(site: Path, tmp_path: Path) -> None:
    write_site(run_of(TOLD), tmp_path / "again")
    here, there = (
        {path.relative_to(place).as_posix(): path.read_bytes() for path in place.rglob("*") if path.is_file()}
        for place in (site, tmp_path / "again")
    )
    assert here.keys() == there.keys()
    differ = [name for name in here if here[name] != there[name]]
    assert set(differ) <= {"index.html"}  # which says when the run was made


def test_the_title_is_ones_own(tmp_path: Path) -> None:
    write_site(run_of(TOLD), tmp_path / "s", title="Chess & <Masters>")
    page = Page(tmp_path / "s" / "players" / "morphy-paul.html")
    assert page.title == "Morphy, Paul – Chess & <Masters>"
    assert Page(tmp_path / "s" / "index.html").title == "Chess & <Masters>"


def test_an_interrupted_site_leaves_the_old_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_site(run_of(TOLD), tmp_path / "s")
    before = (tmp_path / "s" / "index.html").read_bytes()

    def broken_off(*_: object) -> str:
        raise KeyboardInterrupt

    monkeypatch.setattr(build, "year_page", broken_off)
    with pytest.raises(KeyboardInterrupt):
        write_site(run_of(TOLD[:3]), tmp_path / "s")
    assert (tmp_path / "s" / "index.html").read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["s"]


def test_a_new_site_replaces_an_old_one(tmp_path: Path) -> None:
    write_site(run_of(TOLD), tmp_path / "s")
    write_site(run_of(TOLD[:2]), tmp_path / "s")
    assert not (tmp_path / "s" / "players" / "kolisch-ignaz.html").exists()
