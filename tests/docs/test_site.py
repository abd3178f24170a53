"""The documentation as a site: strict, complete, and nothing in it comes from elsewhere."""

from __future__ import annotations

import os
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

pytest.importorskip("mkdocs", reason="needs the extra `docs`")
pytest.importorskip("mkdocstrings", reason="needs the extra `docs`")

from site_pages import BESIDE, ROOT, relinked

import ttt_cli
from tests.support.cases import each
from ttt_cli.api import Run
from ttt_cli.support import errors

NOWHERE = "http://127.0.0.1:9"  # the port of discarded packets: whoever asks the network is refused
KNOWN = {*BESIDE.values(), "index.md", "runs.md", "models/ttt.md", "images/a.svg"}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    environment = {
        **os.environ,
        "NO_MKDOCS_2_WARNING": "1",
        "https_proxy": NOWHERE,
        "http_proxy": NOWHERE,
    }
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    built = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert built.returncode == 0, built.stderr
    return folder


class Targets(HTMLParser):
    """What a page loads, and where it leads to."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.loaded: list[str] = []
        self.links: list[str] = []
        self.feed(page.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in ("src", "href") and value:
                (self.links if tag == "a" else self.loaded).append(value)


@pytest.mark.slow
def test_every_page_is_built_and_loads_and_leads_to_what_is_there(site: Path) -> None:
    pages = [
        page.relative_to(ROOT / "docs").with_suffix(".html") for page in ROOT.glob("docs/**/*.md")
    ]
    pages += [Path(of_site).with_suffix(".html") for of_site in BESIDE.values()]
    for page in pages:
        found = Targets(site / page)
        assert found.loaded
        for target in (*found.loaded, *found.links):
            link = urlsplit(target)
            assert not (target in found.loaded and (link.scheme or link.netloc)), (
                f"{page} loads {target}"
            )
            if not (link.scheme or link.netloc) and link.path:
                assert (site / page.parent / unquote(link.path)).exists(), f"{page}: {target}"
    assert not list(site.rglob("*.py"))


@pytest.mark.slow
def test_the_reference_has_the_face_and_every_error(site: Path) -> None:
    page = (site / "reference.html").read_text(encoding="utf-8")
    for name in ("skills", "players", "games", "evidence", "covariance", "samples", "query"):
        assert callable(getattr(Run, name))
        assert f'id="ttt_cli.runs.run.Run.{name}"' in page
    for name in {*dir(ttt_cli)} - {"__version__"}:
        assert f'id="ttt_cli.api.{name}"' in page
    for name, value in vars(errors).items():
        if isinstance(value, type) and issubclass(value, errors.TttError):
            assert f'id="ttt_cli.support.errors.{name}"' in page
    assert "store it as a run at <code>output</code>" in page


@each(
    "page, text, expected",
    [
        ("index.md", "[a](runs.md) [b](models/ttt.md#c)", "[a](runs.md) [b](models/ttt.md#c)"),
        ("index.md", "[a](../README.md#b)", "[a](readme.md#b)"),
        ("readme.md", "![a](docs/images/a.svg) [b](LICENSE)", "![a](images/a.svg) b"),
        (
            "models/ttt.md",
            "[a](../../CHANGELOG.md) [b](../runs.md)",
            "[a](../changelog.md) [b](../runs.md)",
        ),
        ("sample.md", "[a](../docs/runs.md) [b](broken/a.pgn)", "[a](runs.md) b"),
        (
            "index.md",
            "[`a`](../tests/x.py), [b [c]](#d) <https://e.org>",
            "`a`, [b [c]](#d) <https://e.org>",
        ),
        ("index.md", "[a](https://e.org/runs.md)", "[a](https://e.org/runs.md)"),
    ],
)
def test_links_are_those_of_the_site(page: str, text: str, expected: str) -> None:
    assert relinked(text, page, KNOWN) == expected
