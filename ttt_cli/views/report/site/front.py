"""The first page of a site, and the lists of all players, years and events."""

from collections.abc import Callable, Iterator
from typing import Any, Final

from ttt_cli.runs.run import Run
from ttt_cli.views.rankings.eligible import Eligible
from ttt_cli.views.rankings.leaders import CHALLENGES, Leader, reigns
from ttt_cli.views.rankings.peaks_by import most_dominant
from ttt_cli.views.rankings.top import peaks
from ttt_cli.views.report.facts import LATE, game_cards, model_cards, pictures, warning
from ttt_cli.views.report.site.book import Book
from ttt_cli.views.report.site.curve import reign_picture
from ttt_cli.views.report.site.markup import (
    chance,
    link,
    note,
    number,
    page,
    points,
    remark,
    row,
    section,
    skill,
    table,
    text,
)  # fmt: skip
from ttt_cli.views.report.words import counted, say, say_line
from ttt_cli.views.rows import Rows
from ttt_cli.views.run import scale_note
from ttt_cli.views.templates import showable

_SHOWN: Final = 50
_LISTED: Final = 1500  # players or events in one list
# What the first page ranks players by: a heading, and who asks the run for the rows.
GREATEST: Final[tuple[tuple[str, Callable[[Run, Eligible, int], Rows]], ...]] = (
    ("The most dominant", most_dominant),
    ("The highest peaks", peaks),
)
_HEADS: Final = {
    "rank": "#rank", "mean": "#skill", "sd": "#± sd", "games": "#games", "period": "in",
    "dominance": "#lead", "sd_dominance": "#± its sd",
}  # fmt: skip


def front_page(book: Book) -> str:
    """Who was number one when, the greatest, and where to go on."""
    run = book.run
    notes = [warning(showable(say_line(line))) for line in run.meta.notes]
    late = "" if run.meta.converged else warning(say(LATE))
    ones = section("Number ones", _number_ones(book)) if book.rankings else ""
    ranked = [(head, ask(run, book.limits, _SHOWN)) for head, ask in GREATEST]
    greatest = [section(head, _table(book, head, rows)) for head, rows in ranked if rows.rows]
    years = "".join(f"<li>{link(f'years/{year}.html', str(year))}" for year in book.all_years)
    return page(
        book.title, book.title, late, f'<dl class="cards">{game_cards(run.meta)}</dl>', ones, *greatest,
        *(section(title.capitalize(), drawn) for title, drawn in pictures(run)),
        _beside(book),
        section("Years", f'<ul class="years">{years}</ul>'),
        section("About the model", f'<dl class="cards">{model_cards(run.meta)}</dl>', *notes),
        up="", facts=say_line(f"{run.meta.describe()}; {scale_note(run)}"), named=book.title,
    )  # fmt: skip


def _beside(book: Book) -> str:
    if book.beside is None:
        return ""
    rows = [
        row(link(f"years/{one.year}.html", str(one.year)), str(one.players), f"{one.correlation:.2f}")
        for one in book.beside.years
    ]
    told = table("correlation by year", ("year", "#players rated", "#correlation"), rows)
    folded = f"<details><summary>{text(say('Correlation by year'))}</summary>{told}</details>" if rows else ""
    return section("Published ratings", *map(remark, book.beside.words()), folded)


def _number_ones(book: Book) -> str:
    """Every reign: mean and least probability of being the strongest over its years, skill in the best of them."""
    rows, links = [], book.of_players.links("players/")
    leaders = [_leader(book, year) for year in sorted(book.rankings)]
    for reign in reigns(leaders):
        best = max(reign, key=lambda one: one.mean)
        p = [one.p_best for one in reign if one.p_best is not None]
        chances = (chance(sum(p) / len(p)), chance(min(p))) if p else ()
        who = links[book.number[best.player]], str(len(reign))
        when = link(f"years/{best.period}.html", best.period)
        rows.append(row(reign[0].period, reign[-1].period, *who, *chances, skill(best.mean, best.sd), when))
    known = ["#p best", "#least"] if book.remark else []
    limits = f"eligible: {book.limits.words()}" if book.limits.words() else ""
    told = filter(None, (limits, book.limits.left_out(book.run), book.remark))
    heads = ("from", "to", "player", "#years", *known, "#highest skill", "in")
    beneath = say("Beneath: who else may have been it, from {} on.", CHALLENGES) if book.remark else ""
    picture = reign_picture(book, leaders)
    listed = table("number ones", heads, rows) + "".join(map(remark, told))
    return picture + note(beneath if picture else "") + listed


def _leader(book: Book, year: int) -> Leader:
    one = book.rankings[year]
    mean, sd, games = (column[0].item() for column in (one.mean, one.sd, one.games))
    p_best = one.best[0] if one.best else None
    return Leader(year, str(year), book.people[one.id[0]].name, mean, sd, games, p_best, len(one.id))


def _table(book: Book, name: str, rows: Rows) -> str:
    """Rows of a view with links to players, and its remarks below."""
    heads = [_HEADS.get(column, f"#{column}" if column.endswith("s") else column) for column in rows.columns]
    body = [
        row(*(_cell(book, column, value) for column, value in zip(rows.columns, values, strict=True)))
        for values in rows.rows
    ]
    return table(name, heads, body) + "".join(map(remark, rows.title[1:-1]))


def _cell(book: Book, column: str, value: Any) -> str:
    if value is None:
        return ""
    if column == "player":
        return book.of_players.links("players/")[book.number[value]]
    if column in ("mean", "sd", "dominance", "sd_dominance"):
        return points(value)
    if isinstance(value, float):
        return number(value)
    return text(str(value))


def player_lists(book: Book) -> Iterator[tuple[str, str]]:
    """Pages that list all players by name."""
    order = sorted(range(len(book.people)), key=lambda at: (book.people[at].folded, at))
    links = book.of_players.links("players/")
    rows = [
        row(
            links[at], str(one.first), str(one.last), number(one.games), points(one.peak_mean),
            one.peak_period,
        )
        for at, one in ((at, book.people[at]) for at in order)
    ]  # fmt: skip
    names = [book.people[at].name for at in order]
    heads = ("player", "#from", "#to", "#games", "#highest skill", "in")
    yield from _lists(book, "players", "Players", heads, rows, names)


def event_lists(book: Book) -> Iterator[tuple[str, str]]:
    """Pages that list all events by year."""
    events = book.events
    ends = (events.entry_starts[1:] - events.entry_starts[:-1]).tolist()
    rows = [
        row(str(event.year), shown, f"{event.games:,}", str(players))
        for event, shown, players in zip(events.all, book.of_events.links("events/"), ends, strict=True)
    ]
    heads = ("year", "event", "#games", "#players")
    yield from _lists(book, "events", "Events", heads, rows, [str(event.year) for event in events.all])


def _lists(
    book: Book, file: str, title: str, heads: tuple[str, ...], rows: list[str], keys: list[str]
) -> Iterator[tuple[str, str]]:
    """Pages of a long list; `keys` tell from where to where each goes."""
    starts = range(0, max(len(rows), 1), _LISTED)
    files = [f"{file}{f'~{at}' if at > 1 else ''}.html" for at in range(1, len(starts) + 1)]
    spans = [
        f"{keys[start]} – {keys[min(start + _LISTED, len(rows)) - 1]}" if rows else "" for start in starts
    ]
    around = "".join(f"<li>{link(*one)}" for one in zip(files, spans, strict=True)) if len(files) > 1 else ""
    every, all_ = f"{len(rows):,}", section("All", f"<ul>{around}</ul>" if around else "")
    for start, name, span in zip(starts, files, spans, strict=True):
        some = table(file, heads, rows[start : start + _LISTED])
        part = some if rows else note(say(f"No {file} are known in this run."))
        facts = say("{} in all; here {}", every, span) if around else say("{} in all", every)
        yield name, page(book.title, say(title), part, all_, up="", facts=facts)


def year_list(book: Book) -> str:
    """The list of all years: who led, games, events."""
    games = dict.fromkeys(book.all_years, 0)
    for year in book.played.year.tolist():
        games[year] += 1
    rows, links = [], book.of_players.links("players/")
    for year in book.all_years:
        ranking = book.rankings.get(year)
        first = (links[ranking.id[0]], points(ranking.mean[0])) if ranking else ("", "")
        counts = games[year], len(ranking.id) if ranking else 0, len(book.events_in.get(year, []))
        rows.append(row(link(f"years/{year}.html", str(year)), *first, *(f"{count:,}" for count in counts)))
    listed = table("years", ("year", "number one", "#skill", "#games", "#ranked", "#events"), rows)
    return page(book.title, say("Years"), listed, up="", facts=counted(len(rows), "{} year", "{} years"))
