"""What a page says, for tests: links, ids, texts, scripts, tables."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from posixpath import dirname, normpath
from urllib.parse import unquote

_LINK = re.compile(r'\b(?:href|src)="?([^ >"]+)')
_ID = re.compile(r'\bid="?([^\s>"]+)')
_VOID = {"meta", "link", "input"}
_OPTIONAL = {
    "tr",
    "td",
    "th",
    "thead",
    "tbody",
    "li",
    "p",
    "html",
    "body",
}  # may stay open in a site


@dataclass
class Page(HTMLParser):
    """A parsed page of a site, or the text of a single page.

    Elements must close in order; in a site, the end of some may be left out.
    """

    path: Path | str
    open: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)
    attributes: list[tuple[str, str, str | None]] = field(default_factory=list)
    scripts: list[str] = field(default_factory=list)
    tables: dict[str, list[list[str]]] = field(default_factory=dict)
    text: str = ""
    title: str = ""
    section: str = ""
    sections: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()
        self._unclosed = _VOID if isinstance(self.path, str) else _VOID | _OPTIONAL
        self._table = self._lines = self._block = self._year = ""
        self.feed(
            self.path if isinstance(self.path, str) else self.path.read_text(encoding="utf-8")
        )
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.attributes += [(tag, key, value) for key, value in attrs]
        if tag == "script":
            self.scripts.append("")
        if tag not in ("a", "b", "i", "span"):
            self.text += "\n"
        if tag not in self._unclosed:
            self.open.append(tag)
        self.links += [value or "" for key, value in attrs if key in ("href", "src")]
        if "id" in given:
            self.ids.append(given["id"] or "")
        if tag == "section":
            self.section = given["id"] or ""
            self.sections.append(self.section)
        if tag == "pre" and "lines" in (given.get("class") or ""):
            self._lines = (given["class"] or "").removeprefix("lines ")
            self._block, self._year = "", given.get("data-year") or ""
        if tag == "table":
            self._table = (given.get("id") or f"{self.section} {len(self.tables)}").removesuffix(
                "-table"
            )
            self.tables[self._table] = []
        if self._table and tag == "tr":
            self.tables[self._table].append([])
        if self._table and tag in ("td", "th"):
            self.tables[self._table][-1].append("")

    def handle_endtag(self, tag: str) -> None:
        if tag not in self._unclosed:
            assert self.open.pop() == tag, (self.path, tag)
        if tag == "table":
            self._table = ""
        if tag == "pre" and self._lines:
            self._take_lines()
        if tag == "section":
            self.section = ""

    def handle_data(self, data: str) -> None:
        if self.open[-1:] == ["title"]:
            self.title += data
        elif self.open[-1:] == ["script"]:
            self.scripts[-1] += data
        elif self._lines:
            self._block += data
        elif "table" in self.open and self._table and self.tables[self._table][-1:]:
            self.tables[self._table][-1][-1] += data.rstrip("\n")
        self.text += "" if self.open[-1:] in (["script"], ["style"]) else data

    def _take_lines(self) -> None:
        """Tables of lines, as the script makes them: events and games of a player, or the games of an event."""
        rows = [line.split("\t") for line in self._block.removeprefix("\n").split("\n")]
        if self._lines == "rounds":
            games = [["round", "date", "white", "black", "result", "expected"]]
            games += [
                [row[0], _dated(row[1], self._year), *row[2:5], _chance(row[5])] for row in rows
            ]
        else:
            year = event = ""
            games = [["date", "colour", "opponent", "result", "expected", "event"]]
            events = [["year", "event", "place", "games", "points", "expected", "performance"]]
            for row in rows:
                if len(row) == 5:
                    games.append([_dated(row[0], year), *row[1:4], _chance(row[4]), event])
                else:
                    year, event = row[:2]
                    events += [row] if len(row) == 7 else []
            self.tables[f"{self.section} events".lstrip()] = events
        self.tables[f"{self.section} games".lstrip()] = games
        self._lines = ""


def _dated(date: str, year: str) -> str:
    return date if date[:4].isdecimal() else "-".join(filter(None, (year, date)))


def _chance(text: str) -> str:
    return f"0{text}" if text.startswith(".") else text


def all_pages(site: Path) -> dict[str, Page]:
    """Every page of a site by its path in it."""
    return {path.relative_to(site).as_posix(): Page(path) for path in sorted(site.rglob("*.html"))}


def broken(site: Path) -> list[tuple[str, str]]:
    """Links of a site that lead nowhere, or out of it."""
    files = {path.relative_to(site).as_posix(): path for path in site.rglob("*") if path.is_file()}
    pages = {
        name: path.read_text(encoding="utf-8")
        for name, path in files.items()
        if name.endswith(".html")
    }
    places = files.keys() | {
        f"{name}#{one}" for name, text in pages.items() for one in ["", *_ID.findall(text)]
    }
    found = []
    for name, text in pages.items():
        for link in {*map(unquote, _LINK.findall(text))} - {"data:,"}:
            target = (
                f"{name}{link}"
                if link.startswith("#")
                else normpath(f"{dirname(name)}/{link}").lstrip("/")
            )
            found += [(name, link)] if target not in places else []
    return found
