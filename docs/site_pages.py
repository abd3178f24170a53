"""The site's pages from beside `docs`, for mkdocs: links lead to them, and those to files that are no pages are text.

`mkdocs.yml` names this file as a hook. A forge shows the same Markdown with all its links.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Container
from pathlib import Path
from typing import Final

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT: Final = Path(__file__).resolve().parents[1]
BESIDE: Final = {  # where they stand in the repository, and on the site
    "README.md": "readme.md",  # a file called README would be the first page, which is docs/index.md
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "benchmarks/README.md": "benchmark_scripts.md",
    "sample_pgn/README.md": "sample.md",
}
_FENCED: Final = re.compile(r"(^```.*?^```$)", re.MULTILINE | re.DOTALL)
_LINK: Final = re.compile(r"(!?)\[((?:[^][]|\[[^]]*\])*)\]\((?!\w+:|#)([^)#\s]+)(#[^)]*)?\)")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages beside `docs`."""
    for path, of_site in BESIDE.items():
        files.append(
            File.generated(config, of_site, content=(ROOT / path).read_text(encoding="utf-8"))
        )
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """The page with links as the site has them."""
    known = {file.src_uri for file in files}
    parts = _FENCED.split(markdown)
    parts[::2] = [relinked(part, page.file.src_uri, known, config.repo_url) for part in parts[::2]]
    return "".join(parts)


def relinked(text: str, page: str, known: Container[str], repository: str | None = None) -> str:
    """Text with links from a page of the site; to what is not `known` there, into the repository if there is one."""
    origins = {of_site: path for path, of_site in BESIDE.items()}
    here = posixpath.dirname(origins.get(page, f"docs/{page}"))

    def link(match: re.Match[str]) -> str:
        image, words, target, anchor = match.groups(default="")
        path = posixpath.normpath(posixpath.join(here, target))
        of_site = BESIDE.get(path, posixpath.relpath(path, "docs"))
        if of_site in known:
            return f"{image}[{words}]({posixpath.relpath(of_site, posixpath.dirname(page) or '.')}{anchor})"
        return f"[{words}]({repository.rstrip('/')}/blob/HEAD/{path})" if repository else words

    return _LINK.sub(link, text)
