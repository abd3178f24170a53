"""A site: front page, lists, the page that compares players, and all files written into a folder."""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

from ttt_cli.runs.run import Run
from ttt_cli.support.progress import SILENT, Progress
from ttt_cli.views.beside import Beside
from ttt_cli.views.evidence import gain_per_game
from ttt_cli.views.figures.kinds.leaders import reigns_figure
from ttt_cli.views.figures.spec import embedded, showable
from ttt_cli.views.rankings.eligible import Eligible, eligible
from ttt_cli.views.rankings.leaders import CHALLENGES, reigns
from ttt_cli.views.rankings.peaks import most_dominant, peaks
from ttt_cli.views.rankings.rows import Leader
from ttt_cli.views.report import markup as html
from ttt_cli.views.report.book import Book, Event, Person, predicted, span
from ttt_cli.views.report.folder import new_folder
from ttt_cli.views.report.page import LATE, pictures
from ttt_cli.views.report.pages import event_subject, player_subject, year_page
from ttt_cli.views.rows import Rows, counted, finite
from ttt_cli.views.run import scale_note

_SHOWN: Final = 50
BELOW: Final = (
    f"Below the line: other players with at least a {100 * CHALLENGES:.0f} % chance of having been number one."
)  # fmt: skip
_LISTED: Final = 1500  # players or events in one list
_HEADS: Final = {
    "rank": "#rank", "mean": "#skill", "sd": "#± sd", "games": "#games", "period": "in",
    "dominance": "#lead", "sd_dominance": "#± its sd",
}  # fmt: skip


def front_page(book: Book) -> str:
    """Number ones, the greatest players, and links to the other pages."""
    run = book.run
    notes = [html.part("warning", showable(line)) for line in run.meta.notes]
    late = "" if run.meta.converged else html.part("warning", LATE)
    games = f'<dl class="cards">{html.part("game_cards", run.meta)}</dl>'
    model = f'<dl class="cards">{html.part("model_cards", run.meta, finite(gain_per_game(run.meta)))}</dl>'
    ones = html.section("Number ones", _number_ones(book)) if book.rankings else ""
    ranked = [ranking(run, book.limits, _SHOWN) for ranking in (most_dominant, peaks)]
    greatest = [html.section(rows.title[0], _table(book, rows)) for rows in ranked if rows.rows]
    years = "".join(f"<li>{html.link(f'years/{year}.html', str(year))}" for year in book.all_years)
    return html.page(
        book.title, book.title, late, games, ones, *greatest,
        *(html.section(title.capitalize(), drawn) for title, drawn in pictures(run)),
        html.section("Published ratings", html.part("published", book.beside) if book.beside else ""),
        html.section("Years", f'<ul class="years">{years}</ul>'),
        html.section("About the model", model, *notes),
        up="", facts=f"{run.meta.describe()}; {scale_note(run)}", named=book.title,
    )  # fmt: skip


def _number_ones(book: Book) -> str:
    """Every reign: mean and least probability of being the strongest over its years, skill in the best of them.

    Above the table a picture of all years, if there are two or more.
    """
    links = book.players("players/")
    leaders = []
    for year, one in sorted(book.rankings.items()):
        if len(one.id) >= book.limits.fewest:
            first, *others = [book.people[at].name for at in one.id[: max(len(one.best), 1)].tolist()]
            p = [round(value, 4) for value in one.best]
            mean, sd, games = (column[0].item() for column in (one.mean, one.sd, one.games))
            found = year, str(year), first, mean, sd, games, p[0] if p else None, len(one.id)
            leaders.append(Leader(*found, others=tuple(zip(others, p[1:], strict=True))))
    merged = reigns(leaders)
    best = [reign.best for reign in merged]
    chances = {
        "#p best": [_chance(reign.mean_p_best) for reign in merged],
        "#least": [_chance(reign.least_p_best) for reign in merged],
    }
    table = {
        "from": [reign.first.period for reign in merged],
        "to": [reign.last.period for reign in merged],
        "player": [links[book.number[one.player]] for one in best],
        "#years": [str(len(reign.leaders)) for reign in merged],
        **(chances if book.remark else {}),
        "#highest skill": [html.skill(one.mean, one.sd) for one in best],
        "in": [html.link(f"years/{one.period}.html", one.period) for one in best],
    }
    limits = f"eligible: {book.limits.words()}" if book.limits.words() else ""
    notes = map(html.note, (limits, book.limits.left_out(book.run), book.remark))
    listed = html.table("number ones", table) + "".join(notes)
    if len(leaders) < 2:
        return listed
    period = f"{leaders[0].period} to {leaders[-1].period}"
    longest = max(merged, key=lambda reign: len(reign.leaders)).first.player
    spec = reigns_figure(leaders, "year", [f"{period}; the longest reign is that of {longest}"])
    drawn = html.figure(spec, "reigns", height=420, width=1000)
    return f"<div class=scroll>{drawn}</div>{html.note(BELOW if book.remark else '')}{listed}"


def _chance(p: float | None) -> str:
    return "" if p is None else html.chance(p)


def _table(book: Book, rows: Rows) -> str:
    """Rows of a view with links to players, and its remarks below."""
    links = book.players("players/")
    shown: dict[str, Callable[[Any], str]] = {
        **dict.fromkeys(("mean", "sd", "dominance", "sd_dominance"), html.points),
        "player": lambda player: links[book.number[player]],
        "games": html.number,
    }
    table = {
        _HEADS.get(column, column): map(shown.get(column, str), values)
        for column, values in zip(rows.columns, zip(*rows.rows, strict=True), strict=True)
    }
    heading, *remarks, _ = rows.title
    return html.table(heading, table) + "".join(map(html.note, remarks))


def player_lists(book: Book) -> Iterator[tuple[str, str]]:
    """Pages that list all players by name."""
    links = sorted(zip(book.people, book.players("players/"), strict=True), key=lambda one: one[0].folded)
    table = {
        "player": [link for _, link in links],
        "#from": [str(one.first) for one, _ in links],
        "#to": [str(one.last) for one, _ in links],
        "#games": [html.number(one.games) for one, _ in links],
        "#highest skill": [html.points(one.peak_mean) for one, _ in links],
        "in": [one.peak_period for one, _ in links],
    }
    yield from _lists(book, "players", "Players", table, [one.name for one, _ in links])


def event_lists(book: Book) -> Iterator[tuple[str, str]]:
    """Pages that list all events by year."""
    events = book.events
    table = {
        "year": [str(event.year) for event in events.all],
        "event": book.occasions("events/"),
        "#games": [f"{event.games:,}" for event in events.all],
        "#players": [*map(str, np.diff(events.entry_starts))],
    }
    yield from _lists(book, "events", "Events", table, table["year"])


def _lists(
    book: Book, file: str, title: str, table: dict[str, list[str]], keys: list[str]
) -> Iterator[tuple[str, str]]:
    """Pages of a long list; `keys`: for the range in the title of each."""
    parts = [slice(start, start + _LISTED) for start in range(0, max(len(keys), 1), _LISTED)]
    files = [f"{file}{f'~{at}' if at > 1 else ''}.html" for at in range(1, len(parts) + 1)]
    spans = [f"{keys[part][0]} – {keys[part][-1]}" if keys else "" for part in parts]
    several = len(files) > 1
    count = f"{len(keys):,} in all"
    links = "".join(f"<li>{html.link(*one)}" for one in zip(files, spans, strict=True))
    around = html.section("All", f"<ul>{links}</ul>" if several else "")
    for part, name, here in zip(parts, files, spans, strict=True):
        some = html.table(file, {head: column[part] for head, column in table.items()})
        facts = f"{count}; here {here}" if several else count
        content = some or html.note(f"No {file} are known in this run.")
        yield name, html.page(book.title, title, content, around, up="", facts=facts)


def year_list(book: Book) -> str:
    """The list of all years: number one, games, events."""
    years = book.all_years
    links = book.players("players/")
    ranked = [book.rankings.get(year) for year in years]
    games = np.bincount(book.played.year - years[0], minlength=len(years))
    table = {
        "year": [html.link(f"years/{year}.html", str(year)) for year in years],
        "number one": [links[one.id[0]] if one else "" for one in ranked],
        "#skill": [html.points(one.mean[0]) if one else "" for one in ranked],
        "#games": [f"{count:,}" for count in games],
        "#ranked": [f"{len(one.id) if one else 0:,}" for one in ranked],
        "#events": [f"{len(book.events_in[year]):,}" for year in years],
    }
    listed = html.table("years", table)
    return html.page(book.title, "Years", listed, up="", facts=counted(len(years), "year"))


_TOGETHER: Final = 200  # players whose histories are in one file
_STEPS: Final = 75  # of the difference of two skills
_FURTHEST: Final = 1500.0  # difference, Elo points
_SPREADS: Final = 12
_WIDEST: Final = 600.0  # root of the sum of two variances, Elo points


def compare_page(book: Book) -> str:
    """The page itself; its curves and tables are made by its script."""
    first = book.all_years[0]
    last = book.all_years[-1]
    data = {
        "period": "year",
        "years": [first, 1],
        "labels": [str(year) for year in range(first, last + 1)],
        "hasSd": book.has_sd,
        "together": _TOGETHER,
        "chances": _chances(book),
        "beside": book.beside is not None,
    }
    parts = {"data": embedded(data), "has_joint": book.run.has_joint, "dotted": html.dotted(book.beside)}
    return html.page(book.title, "Compare", html.filled("compare.html", parts), up="")


def history_scripts(book: Book) -> Iterator[tuple[str, str]]:
    """The histories of all players by year, and their opponents, so many to a file.

    By player: first year, means, sds, games, and of every opponent of a higher number: it, wins, draws and losses;
    then, where there are any, published ratings: places of years, from the site's first on, and values.
    """
    years = book.years
    start_year = book.all_years[0]
    for start in range(0, len(book.people), _TOGETHER):
        some = {}
        for player in range(start, min(start + _TOGETHER, len(book.people))):
            rows = span(book.year_starts, player)
            shown = (years["mean"], *([years["sd"]] if book.has_sd else []), years["games"])
            mean, *sd, games = ([html.short(value) for value in column[rows].tolist()] for column in shown)
            first = years["year"][rows].tolist()[0]
            sides = book.played.of(player)
            others, _, _, *record, _, _ = sides.sums(sides.opponent)
            against = zip(others.tolist(), *record, strict=True)
            met = [[other, *map(html.short, counts)] for other, *counts in against if other > player]
            some[player] = [first, mean, sd[0] if sd else [], games, met]
            if book.beside and (rated := book.beside.by_year(book.people[player].name, book.run.meta.period)):
                some[player].append([[year - start_year, html.short(value)] for year, value in rated.items()])
        number = start // _TOGETHER
        yield f"data/histories-{number}.js", handed_over(f"histories-{number}", some)


def _chances(book: Book) -> dict[str, Any]:
    """Expected results by difference of skill, from 0, and root of the summed variances; averaged over both colours.

    `win` and `loss` are those of the better side, a row for each spread, `step` and `width` apart on the run's scale.
    Draw margins of one's own are taken at their medians, those that move as in the last year.
    """
    run = book.run
    points = run.meta.elo_unit
    difference = np.tile(np.linspace(0.0, _FURTHEST * points, _STEPS + 1), _SPREADS + 1)
    spread = np.repeat(np.linspace(0.0, _WIDEST * points, _SPREADS + 1), _STEPS + 1)
    further = {
        name: np.full(len(difference), float(np.nanmedian(column)))
        for name, column in book.played.nodes.items()
        if column.dtype == np.float64 and not np.isnan(column).all()
    }
    centre = float(np.median(book.played.nodes["mean"]))
    white, black = (
        {**further, "mean": centre + sign * difference / 2.0, "sd": spread * np.sqrt(0.5)}
        for sign in (1.0, -1.0)
    )
    year = np.full(len(difference), book.all_years[-1])
    as_white = predicted(run, year, white, black)
    as_black = predicted(run, year, black, white)
    win = (as_white[:, 2] + as_black[:, 0]) / 2.0
    loss = (as_white[:, 0] + as_black[:, 2]) / 2.0
    tables = (np.round(one, 4).reshape(_SPREADS + 1, -1).tolist() for one in (win, loss))
    unit = points * run.scale.slope
    steps = {"step": _FURTHEST / _STEPS * unit, "width": _WIDEST / _SPREADS * unit}
    return steps | dict(zip(("win", "loss"), tables, strict=True))


def _address(one: Person | Event) -> list[str | int | None]:
    if one.page is None:
        return [None]
    slug = html.slug_of(one.page)
    return [0 if html.follows(slug, one.folded) else slug, *([1] * html.is_shared(one.page))]


def handed_over(name: str, data: Any) -> str:
    """A script that hands a value to the page that loads it."""
    return f'take["{name}"]({embedded(data)});\n'


MOST: Final = 30_000  # players with pages of their own, and events
_SCRIPTS: Final = ("base.js", "element.js", "fold.js", "combobox.js", "lines.js", "figure.js", "site.js")
_COMPARE: Final = ("periods.js", "dom.js", "table.js", "curves.js", "hover.js", "compare.js")


class Written(NamedTuple):
    """Files and bytes of a site, and the numbers of players and events without a page."""

    files: int
    size: int
    players_left_out: int
    events_left_out: int


def write_site(
    run: Run,
    place: Path,
    limits: Eligible | None = None,
    *,
    title: str | None = None,
    most: int = MOST,
    beside: Beside | None = None,
    progress: Progress = SILENT,
) -> Written:
    """Write a folder of pages about a run, complete or not at all; equal runs give equal bytes.

    `limits`: who is eligible for rankings (None: by default). `most`: players with a page of their own, those of the
    most games, and events likewise. `beside`: published ratings to show, too. Raises RunError when it cannot be
    written.
    """
    files = size = 0
    with run, new_folder(place) as write:
        book = Book(run, limits or eligible(run), title or f"{run.name}: skill histories", most, beside)
        with progress.task("writing pages", None, "pages") as bar:
            for path, text in site_files(book):
                files = files + 1
                size = size + write(path, text)
                bar.advance(1)
    left_out = (sum(one.page is None for one in found) for found in (book.people, book.events.all))
    return Written(files, size, *left_out)


def site_files(book: Book) -> Iterator[tuple[str, str]]:
    """Path and text of every file."""
    yield "site.css", html.assets("style.css") + html.assets("site.css")
    pages = {"players": [one.page for one in book.people], "events": [one.page for one in book.events.all]}
    given = {"CURVES": html.curves_frame(book.run), "SHARED": html.SHARED}
    constants = "".join(f"globalThis.{name} = {embedded(value)};\n" for name, value in given.items())
    yield "site.js", constants + html.assets(*_SCRIPTS)
    # The slug of a page: null without a page, 0 if it follows from the name; then a 1 on a shared page.
    players = [[one.name, one.first, one.last, html.short(one.games), *_address(one)] for one in book.people]
    yield "data/names.js", handed_over("names", players)
    events = [[one.name, one.year, one.games, *_address(one)] for one in book.events.all if one.page]
    yield "data/events.js", handed_over("events", events)
    yield "compare.js", html.assets(*_COMPARE)
    yield "compare.html", compare_page(book)
    yield from history_scripts(book)
    yield "index.html", front_page(book)
    yield "years.html", year_list(book)
    yield from player_lists(book)
    yield from event_lists(book)
    for year in book.all_years:
        yield f"years/{year}.html", year_page(book, year)
    subjects = {"events": event_subject, "players": player_subject}
    for folder, subject in subjects.items():
        few = f"{folder.capitalize()} of a few games"
        for name, written in html.subject_pages(book.title, few, pages[folder], partial(subject, book)):
            yield f"{folder}/{name}", written
