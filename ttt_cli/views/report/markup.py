"""Pieces of a site's pages: texts, tables, and games as lines of text that a script turns into tables."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, lru_cache
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

from jinja2 import Environment, PackageLoader

from ttt_cli.histories import javascript_later_on
from ttt_cli.runs.run import Run
from ttt_cli.views.figures.curves import curve_layers
from ttt_cli.views.figures.spec import Spec, embedded, showable
from ttt_cli.views.figures.spec import number as number_of_field
from ttt_cli.views.history.events import Events
from ttt_cli.views.history.performances import clean_score
from ttt_cli.views.published_ratings import PublishedRatings
from ttt_cli.views.run import axis_title
from ttt_cli.views.sides import GameWords

_WHOLE: Final = 1e15  # larger numbers are not written as integers
RESULTS: Final = ("0", "½", "1")  # from one's own side
_PAGES: Final = Environment(
    loader=PackageLoader("ttt_cli.views.report", "assets"), autoescape=False
)


@cache
def assets(*names: str) -> str:
    """The texts of styles or scripts; `onward.js` is generated from the formulas of idle periods."""
    folder = files("ttt_cli.views.report") / "assets"
    return "\n".join(
        javascript_later_on()
        if name == "onward.js"
        else (folder / name).read_text(encoding="utf-8")
        for name in names
    )


def filled(name: str, parts: Mapping[str, Any]) -> str:
    """A page frame filled with parts, which are HTML."""
    return _PAGES.get_template(name).render(parts)


def part(name: str, *arguments: Any) -> str:
    """A part of the page frames by its name in `parts.html`."""
    macro = vars(_PAGES.get_template("parts.html").module)[name]
    return str(macro(*arguments))


def figure(spec: Spec, kind: str = "", **sizes: int) -> str:
    """A figure that the script of the page draws. `sizes`: height and width in pixels; as wide as the page without."""
    title = spec["title"]
    subtitle = title["subtitle"]
    first_line = subtitle if isinstance(subtitle, str) else subtitle[0]
    label = f"{title['text']}: {first_line}"
    data = embedded({"label": label, "layer": spec["layer"], "datasets": spec["datasets"]})
    attributes = "".join(f" data-{name}={size}" for name, size in sizes.items())
    return f'<div class="chart {kind}"{attributes}><script type="application/json">{data}</script></div>'


def curves_frame(run: Run) -> Spec:
    """The layers of a figure of skill curves, for scripts that have the histories."""
    x = number_of_field("year", axis={})
    y = number_of_field("value", axis={"title": axis_title(run)})
    return {"layer": curve_layers(x, y, (), "skill", margins=True)}


def short(value: float) -> float | int:
    """A number to one decimal, an integer where it is one."""
    rounded = round(float(value), 1)
    return int(rounded) if rounded.is_integer() and abs(rounded) < _WHOLE else rounded


def text(value: str) -> str:
    """Any text as HTML."""
    return escape(showable(value))


def link(href: str, name: str) -> str:
    """A link to a page of the site; `href` is of slugs, safe without quotes."""
    return f"<a href={href}>{text(name)}</a>"


def points(value: float | None) -> str:
    """A skill, or a difference or sd of skills, in whole points of the scale; empty for None and NaN."""
    return "" if value is None or math.isnan(value) else f"{value:.0f}"


def skill(mean: float, sd: float | None) -> str:
    """A skill with its sd, where there is one."""
    return points(mean) if sd is None or math.isnan(sd) else f"{mean:.0f} ± {sd:.0f}"


def performance(events: Events, event: int, entry: int) -> str:
    """The performance of an entry of an event, with a word where all games were won or all lost."""
    if events.rows[event].kind:
        return ""
    entries = events.entries
    mean = float(entries.performances.mean[entry])
    score = clean_score(float(entries.points[entry]), float(entries.played[entry]))
    return with_clean_score(skill(mean, float(entries.performances.sd[entry])), score)


def with_clean_score(performance: str, score: str | None) -> str:
    """A performance, which may be empty, and after it the score where all games were won or all lost."""
    if score is None or not performance:
        return performance or score or ""
    return f"{performance}, {score}"


def number(value: float) -> str:
    """A number of games or of points scored: 12, 7.5."""
    return f"{value:.10g}" if value % 1 == 0 else f"{value:.1f}"


def chance(value: float) -> str:
    """A probability, or a score per game."""
    return f"{value:.2f}"


def table(name: str, columns: Mapping[str, Iterable[str]], kind: str = "") -> str:
    """A table of columns of HTML by their heads, without those that are empty; nothing without rows.

    A head of numbers starts with #: the class `r3` of the table aligns its third column to the right. `kind`: a
    further class.
    """
    lists = {head: list(column) for head, column in columns.items()}
    return _table(name, _filled(lists), kind)


def _filled(columns: Mapping[str, Sequence[str]]) -> Mapping[str, Sequence[str]]:
    """The columns that have a text in any row."""
    return {head: column for head, column in columns.items() if any(column)}


def _table(name: str, columns: Mapping[str, Sequence[str]], kind: str = "") -> str:
    """`table` of all columns."""
    rows = [f"<tr><td>{'<td>'.join(cells)}" for cells in zip(*columns.values(), strict=True)]
    if not rows:
        return ""
    return f"{_start_of_table(name, tuple(columns), kind)}{''.join(rows)}</table></div>"


def first_rows(name: str, columns: Mapping[str, Sequence[str]], shown: int, after: str = "") -> str:
    """A table of the first rows; the others are folded, in a table of their own. `after`: HTML after the last row."""
    columns = _filled(columns)
    total = len(next(iter(columns.values()), ()))
    if total <= shown:
        return table(name, columns) + after
    first = {head: column[:shown] for head, column in columns.items()}
    others = {head: column[shown:] for head, column in columns.items()}
    further = _table(f"more {name}", others) + after
    return _table(name, first) + folded(f"{total - shown:,} more", further)


@lru_cache(maxsize=1000)
def _start_of_table(name: str, heads: tuple[str, ...], kind: str) -> str:
    """A table up to its rows, which many tables share."""
    classes = [f"r{at}" for at, head in enumerate(heads, 1) if head.startswith("#")]
    if kind:
        classes.insert(0, kind)
    cells = "".join([f"<th>{text(head.removeprefix('#'))}" for head in heads])
    return f'<div class=scroll><table id={anchor(name)}-table class="{" ".join(classes)}"><thead><tr>{cells}<tbody>'


def anchor(name: str) -> str:
    """The id of a section."""
    return "-".join(name.lower().split())


def section(name: str, *content: str) -> str:
    """A part of a page under its heading; nothing where there is no content."""
    return f"<h2 id={anchor(name)}>{text(name)}</h2>{''.join(content)}" if any(content) else ""


def note(words: str) -> str:
    """A note, of text; nothing where there is none."""
    return f"<p class=help>{text(signs(words))}</p>" if words else ""


def signs(words: str) -> str:
    """Words of messages as on a page: `±`, and no marks around commands."""
    return words.replace("+-", "±").replace("`", "")


def readable(name: str) -> str:
    """The title by the file's name: `old_masters.ttt` is `Old masters: skill histories`."""
    words = " ".join(re.split(r"[\s_-]+", Path(name).stem)).strip()
    return f"{words[:1].upper()}{words[1:]}: skill histories"


def folded(summary: str, content: str) -> str:
    """Content that a click opens; nothing where there is none."""
    return f"<details><summary>{text(summary)}</summary>{content}</details>" if content else ""


def columns(*sections: str) -> str:
    """Sections beside each other where there is room."""
    divided = [f"<div>{html}</div>" for html in sections if html]
    return f"<div class=columns>{''.join(divided)}</div>" if divided else ""


def dotted(published: PublishedRatings | None) -> str:
    """The note on published ratings in a figure and a table; nothing without ratings."""
    return note(f"Dotted line and rating: {published.name}, scaled" if published else "")


def more(count: int, where: str = "") -> str:
    """A note with the number of rows that are not shown; empty for 0."""
    return note(f"and {count:,} more{where}") if count else ""


def result_of_game(words: GameWords, outcome: int, margin: float) -> str:
    """A result as in `GameWords.result_of_game`, in chess as `1–0`."""
    if words.is_chess:
        return f"{RESULTS[outcome]}–{RESULTS[2 - outcome]}"
    return text(words.result_of_game(outcome, margin))


def result_of_side(words: GameWords, outcome: int, margin: float) -> str:
    """A result as in `GameWords.result_of_side`, in chess the point of the side."""
    return RESULTS[outcome] if words.is_chess else words.result_of_side(outcome, margin)


def page(
    site: str, title: str, *content: str, up: str = "../", facts: str = "", named: str = ""
) -> str:
    """A whole page: `title` and `site` are texts, `facts` a line of text under the title, `content` HTML.

    `up`: the way to the site's first page. `named`: the window's title, where it is not `title - site`.
    """
    head = f"<h1>{text(title)}</h1>" + (f"<p class=facts>{text(signs(facts))}</p>" if facts else "")
    main = "\n".join([head, *(html for html in content if html)])
    window = text(named or f"{title} – {site}")
    return filled("site.html", {"title": window, "site": text(site), "up": up, "main": main})


def turn(*links: str) -> str:
    """Links to neighbouring pages, if any."""
    return f"<p class=turn>{' '.join(links)}</p>" if links else ""


def field(value: str) -> str:
    """A text as a field of a line."""
    return text(" ".join(value.split()))


def date(value: str) -> str:
    """A date that stays on one line."""
    return f"<time>{value}</time>" if "-" in value else value


def within(date: str, year: int) -> str:
    """A date without the year, where it is of that year: `12-20`, or nothing."""
    return date.removeprefix(str(year)).removeprefix("-") if date.startswith(str(year)) else date


def expected_score(expected: float) -> str:
    """A score that was expected, without a zero in front: `.62`."""
    return f"{expected:.2f}".removeprefix("0")


def lines(kind: str, rows: Iterable[str], year: int | str = "") -> str:
    """Lines as HTML, which the script reads by `kind`, a class; `year`: of dates without one."""
    of_year = f" data-year={year}" if year else ""
    content = "\n".join(rows)
    return f"<pre class='lines {kind}'{of_year}>\n{content}</pre>" if content else ""


def is_shared(address: str | None) -> bool:
    """Whether an address is on a shared page."""
    return "#" in (address or "")


def slug_of(address: str) -> str:
    """The slug in an address."""
    return address.partition("#")[2] or address.removesuffix(".html")


def handed_over(name: str, data: Any) -> str:
    """A script that hands a value to the page that loads it."""
    return f'take["{name}"]({embedded(data)});\n'
