"""The package of docs/plugins.md, installed beside ttt."""

from __future__ import annotations

import importlib
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from run_blocks import ROOT

from tests.support.builders import fit_rows
from tests.support.commands import Ran, rows
from ttt_cli import plugins
from ttt_cli.reading.recognition import named_as_games
from ttt_cli.support.errors import ConfigError
from ttt_cli.support.installed import entry_points_of
from ttt_cli.systems import registry

PAGE = (ROOT / "docs" / "plugins.md").read_text(encoding="utf-8")
GAMES = "1851: Anderssen beats Staunton\n1858: Morphy beats Anderssen\n1858: Morphy beats Staunton\nno game\n"


def write_package(folder: Path) -> None:
    """The files of the page."""
    files = re.findall(r"<!-- file: (\S+) -->\n```\w+\n(.*?)```", PAGE, re.DOTALL)
    assert len(files) == 5
    for path, text in files:
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")


def write_entry_points(folder: Path, name: str, lines: str) -> None:
    """What an installer writes of a package."""
    about = folder / f"{name}-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n", encoding="utf-8"
    )
    (about / "entry_points.txt").write_text(lines, encoding="utf-8")


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder of packages, where those installed here are found."""
    folder = tmp_path / "packages"
    folder.mkdir()
    monkeypatch.syspath_prepend(folder)
    entry_points_of.cache_clear()
    yield folder
    entry_points_of.cache_clear()
    for name in [name for name in sys.modules if name.startswith("ttt_examples")]:
        del sys.modules[name]


@pytest.fixture
def installed(site: Path) -> None:
    """The package of the page, unpacked."""
    write_package(site)
    (table,) = re.findall(r"(\[project\.entry-points.*?)\n\[tool", PAGE, re.DOTALL)
    lines = table.replace('[project.entry-points."', "[").replace('"]', "]").replace('"', "")
    write_entry_points(site, "ttt_examples", lines)
    importlib.invalidate_caches()


@pytest.mark.usefixtures("installed")
def test_every_command_takes_the_system_and_the_format_of_a_package(here: Path, ran: Ran) -> None:
    (here / "old.beats").write_text(GAMES, encoding="utf-8")
    assert (
        "shares          Shares of points: one rating per player for all years."
        in ran("config list").out
    )
    assert '"shares"' in ran("config schema --model shares").out
    assert "drawn_before: 2" in ran("config show -c shares").out
    printed = ran("fit old.beats -c shares -s model.drawn_before=1")
    assert "4 rows, 3 games" in printed.err
    assert "bad row" in printed.err
    (best, *_) = rows(ran("top -r old.ttt --everyone -f tsv").out)
    assert best["player"] == "Morphy"
    assert float(best["mean"]) == pytest.approx(1500 + 400 * np.log10(2.5 / 0.5))
    compared = rows(ran("compare shares naive --games old.beats -f tsv").out)
    assert {row["system"] for row in compared} == {"shares", "naive"}
    assert named_as_games("old.beats.gz")
    assert "shares" in ran("fit old.beats -c shares2", 2).err


@pytest.mark.slow
@pytest.mark.usefixtures("installed")
def test_every_view_shows_the_system_of_a_package_and_it_can_be_tuned(here: Path, ran: Ran) -> None:
    rounds = "{0}: Morphy beats Paulsen\n{0}: Paulsen beats Bird\n{0}: Morphy beats Bird\n"
    years = "".join(rounds.format(year) for year in range(1851, 1860))
    (here / "old.beats").write_text(years + "1854: Bird beats Morphy\n", encoding="utf-8")
    ran("fit old.beats -c shares -q")
    for command in (
        "top --peak", "top --leaders", "player morphy", "player morphy --record", "versus morphy bird",
        "players", "records --kind wins --everyone", "evidence --scores", "tournament morphy bird --samples 100",
        "export skills", "export games", "doubt --where year=1858 --refit",
    ):  # fmt: skip
        shown = ran(f"{command} -r old.ttt -f csv -q").out
        assert len(shown.splitlines()) > 1, command
        assert not re.search(r"\bnan\b", shown), command
    ran("plot -r old.ttt -o skills.svg -q")
    ran("report -r old.ttt -o page.html -q")
    ran("report site/ -r old.ttt -q")
    pages = [here / "page.html", here / "site" / "index.html"]
    assert all("shares" in page.read_text(encoding="utf-8") for page in pages)
    tuned = rows(ran("compare shares naive -r old.ttt --tune --evaluations 20 -f tsv -q").out)
    (of_shares,) = [row for row in tuned if row["system"] == "shares"]
    assert of_shares["tuned_by"] == "score"
    assert "drawn_before=2 " not in f"{of_shares['parameters']} "
    refused = ran("tune drawn_before -r old.ttt", 2).err
    assert "`ttt compare --tune` tunes any system by what it predicts" in refused


@pytest.mark.usefixtures("installed")
def test_the_module_for_packages_has_what_its_page_says() -> None:
    table = PAGE.partition("## What may be imported")[2]
    assert set(
        re.findall(r"`(\w+)`", re.sub(r"(?m)\|[^|]*\|$", "", table.partition("|---|---|")[2]))
    ) == set(plugins.__all__)
    _, fit = fit_rows([(1900, "a", "b", 2)], "shares")
    assert fit.mean == pytest.approx([1500 + 400 * np.log10(2), 1500 - 400 * np.log10(2)])


def test_packages_that_cannot_be_imported_are_named(site: Path, here: Path, ran: Ran) -> None:
    points = "[ttt.systems]\nbroken = nowhere.module\nelo = nowhere.module\nother = json\n"
    write_entry_points(site, "broken_ones", f"{points}[ttt.formats]\nbroken = nowhere:FORMAT\n")
    importlib.invalidate_caches()
    with pytest.raises(
        ConfigError, match="the package broken_ones cannot be imported: No module named 'nowhere'"
    ):
        registry.load("broken")
    with pytest.raises(
        ConfigError, match=r"'other' of ttt\.systems is not a module with NAME = 'other'"
    ):
        registry.load("other")
    assert registry.load("elo").NAME == "elo"
    (here / "a.broken").write_text("x", encoding="utf-8")
    assert "the package broken_ones cannot be imported" in ran("fit a.broken", 2).err
    assert "ttt-career" in ran("config list").out


@pytest.mark.slow
@pytest.mark.skipif(
    not (find_spec("wheel") or find_spec("setuptools.command.bdist_wheel")),
    reason="nothing here builds wheels",
)
def test_the_package_is_installed_by_pip(tmp_path: Path) -> None:
    write_package(tmp_path / "ttt-examples")
    packages = tmp_path / "packages"
    subprocess.run(
        [sys.executable, "-m", "pip", "install", "-q", "--no-index", "--no-deps", "--no-build-isolation",
         "--disable-pip-version-check", "--target", packages, tmp_path / "ttt-examples"],
        check=True,
    )  # fmt: skip
    shown = subprocess.run(
        [sys.executable, "-m", "ttt_cli", "config", "show", "-c", "shares"],
        env={**os.environ, "PYTHONPATH": str(packages)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "drawn_before: 2" in shown.stdout
