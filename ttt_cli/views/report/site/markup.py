"""Pieces of pages: texts, numbers, links, tables. What is called HTML here is safe to put into a page."""

import math
from collections.abc import Iterable, Sequence
from html import escape

from ttt_cli.views.report.words import LANG, say, say_line, spoken
from ttt_cli.views.templates import filled, showable

_RESULTS = ("0", "½", "1")
# On the pages above; elsewhere the script adds them: of many pages every byte counts.
_LISTS = ("Players", "Years", "Events", "Compare")


def text(value: str) -> str:
    """Any text as HTML."""
    return escape(showable(value))


def link(href: str, name: str) -> str:
    """A link to a page of the site; `href` is of slugs, safe without quotes."""
    return f"<a href={href}>{text(name)}</a>"


def points(value: float | None) -> str:
    """A skill, to the point; empty for None and NaN."""
    return "" if value is None or math.isnan(value) else f"{value:.0f}"


def skill(mean: float, sd: float | None) -> str:
    """A skill with its sd, where there is one."""
    return points(mean) if sd is None or math.isnan(sd) else f"{mean:.0f} ± {sd:.0f}"


def number(value: float) -> str:
    """A number of games or of points scored: 12, 7.5."""
    return f"{value:.10g}" if value % 1 == 0 else f"{value:.1f}"


def chance(value: float) -> str:
    """A probability, or a score per game."""
    return f"{value:.2f}"


def result(outcome: int) -> str:
    """A result from one's own side: 0 lost, 1 drawn, 2 won."""
    return _RESULTS[outcome]


def record(wins: float, draws: float, losses: float) -> str:
    """`+wins =draws -losses`."""
    return f"+{wins:.10g} ={draws:.10g} −{losses:.10g}"


def row(*cells: str) -> str:
    """A row of a table, of HTML."""
    return f"<tr><td>{'<td>'.join(cells)}"


def table(name: str, heads: Sequence[str], rows: Iterable[str], kind: str = "") -> str:
    """A table of rows of HTML. A head that starts with # is of numbers."""
    classes = [kind] * bool(kind) + [f"r{at}" for at, head in enumerate(heads, 1) if head[:1] == "#"]
    cells = "".join(f"<th>{text(say(head.removeprefix('#')))}" for head in heads)
    opened = f'<table id={anchor(name)}-table class="{" ".join(classes)}"><thead><tr>{cells}<tbody>'
    return f"<div class=scroll>{opened}{''.join(rows)}</table></div>"


def anchor(name: str) -> str:
    """The id of a section."""
    return "-".join(name.lower().split())


def section(name: str, *content: str) -> str:
    """A part of a page under its heading; nothing where there is no content."""
    return f"<h2 id={anchor(name)}>{text(say(name))}</h2>{''.join(content)}" if any(content) else ""


def note(words: str) -> str:
    """A note, of text; nothing where there is none."""
    return f"<p class=help>{text(words)}</p>" if words else ""


def rest(count: int, words: str = "and {} more") -> str:
    """A note on how many are not shown; nothing where all are."""
    return note(say(words, f"{count:,}")) if count else ""


def remark(line: str) -> str:
    """A note in words that others wrote in English."""
    return note(say_line(line))


def page(site: str, title: str, *content: str, up: str = "../", facts: str = "", named: str = "") -> str:
    """A whole page: `title` and `site` are texts, `facts` a line of text under the title, `content` HTML.

    `up`: the way to the site's first page. `named`: the window's title, where it is not `title - site`.
    """
    head = f"<h1>{text(title)}</h1>" + (f"<p class=facts>{text(facts)}</p>" if facts else "")
    parts = {
        "title": text(named or f"{title} – {site}"),
        "site": text(site),
        "up": up,
        "lang": text(say(LANG)) if LANG in spoken() else "en",
        "lists": "" if up else "".join(f" {link(f'{name.lower()}.html', say(name))}" for name in _LISTS),
        "main": "\n".join([head, *filter(None, content)]),
    }
    return filled("site.html", parts)


def turn(*links: str) -> str:
    """Links to neighbouring pages, those that are there."""
    there = [one for one in links if one]
    return f"<p class=turn>{' '.join(there)}</p>" if there else ""
