"""The page on which any players are compared, at any time, and what the scripts of a site work on."""

from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from ttt_cli.arrays import Array
from ttt_cli.views.report.page import short
from ttt_cli.views.report.site.book import Book, Person
from ttt_cli.views.report.site.lines import follows, number_of
from ttt_cli.views.report.site.markup import note, page, text
from ttt_cli.views.report.site.played import Event, predicted
from ttt_cli.views.report.words import say, say_line
from ttt_cli.views.run import axis_title
from ttt_cli.views.templates import embedded, filled

_TEXTS: Final = {
    "choose": "Choose players, each at a time of the career. The address of this page keeps them.",
    "needs": "Choosing players needs JavaScript; the other pages do not.",
    "add": "Add a player",
    "type": "type a name",
    "shown": "Players shown",
    "against": "Against each other",
    "what": "Score expected in a game with colours by lot, the probability of being the stronger, and the games they "
    "played. Skills are taken as independent.",
    "curves": "The curves as a table",
    "players": "Players",
}
_CAUTION: Final = (
    "Skills of different times are tied only through chains of opponents: compare them with caution."
)
_JOINT: Final = "This run knows more: `ttt versus` takes skills together."
_TOGETHER: Final = 200  # players whose histories are in one file
_STEPS: Final = 75  # of the difference of two skills
_FURTHEST: Final = 1500.0  # difference, Elo points
_SPREADS: Final = 12
_WIDEST: Final = 600.0  # root of the sum of two variances, Elo points


def compare_page(book: Book) -> str:
    """The page itself; its curves and tables are made by its script."""
    first, last = book.all_years[0], book.all_years[-1]
    data = {
        "period": "year",
        "years": [first, 1],
        "labels": [str(year) for year in range(first, last + 1)],
        "hasSd": book.has_sd,
        "unitTitle": say_line(axis_title(book.run.scale)),
        "together": _TOGETHER,
        "chances": _chances(book),
        "beside": book.beside is not None,
    }
    cautions = [say(_CAUTION), *([say(_JOINT)] if book.run.has_joint else [])]
    parts = {"data": embedded(data), "caution": text(" ".join(cautions))}
    parts["dotted"] = note(say("Dotted and rating: {}, scaled", book.beside.name)) if book.beside else ""
    parts |= {name: text(say(english)) for name, english in _TEXTS.items()}
    return page(book.title, say("Compare"), filled("compare.html", parts), up="")


def history_scripts(book: Book) -> Iterator[tuple[str, str]]:
    """The histories of all players by year, and whom they met, so many to a file.

    By player: first year, means, sds, games, and of every opponent of a higher number: it, wins, draws and losses;
    then, where there are any, published ratings: places of years, from the site's first on, and values.
    """
    years, met, start_year = book.years, _met(book), book.all_years[0]
    for start in range(0, len(book.people), _TOGETHER):
        some = {}
        for player in range(start, min(start + _TOGETHER, len(book.people))):
            rows = slice(*years.starts[player : player + 2].tolist())
            shown = (years.mean, *([years.sd] if book.has_sd else []), years.games)
            mean, *sd, games = ([short(value) for value in column[rows].tolist()] for column in shown)
            some[player] = [
                years.year[rows].tolist()[0],
                mean,
                sd[0] if sd else [],
                games,
                met.get(player, []),
            ]
            if book.beside and (rated := book.beside.by_year(book.people[player].name, book.run.meta.period)):
                some[player].append([[year - start_year, short(value)] for year, value in rated.items()])
        number = start // _TOGETHER
        yield f"data/histories-{number}.js", handed_over(f"histories-{number}", some)


def _met(book: Book) -> dict[int, list[Any]]:
    """By the lower number of two players: the other, and the first's wins, draws and losses."""
    played = book.played
    low, high = np.minimum(played.white, played.black), np.maximum(played.white, played.black)
    outcome = np.where(played.white == low, played.outcome, 2 - played.outcome)
    pairs, place = np.unique(low * np.int64(1 << 32) + high, return_inverse=True)
    counts = np.bincount(3 * place + outcome, played.weight, 3 * len(pairs)).reshape(-1, 3)
    found: dict[int, list[Any]] = {}
    for pair, (lost, drawn, won) in zip(pairs.tolist(), counts.tolist(), strict=True):
        found.setdefault(pair >> 32, []).append([pair & 0xFFFFFFFF, *map(short, (won, drawn, lost))])
    return found


def _chances(book: Book) -> dict[str, Any]:
    """What games promise at differences of skill from 0 on, by the root of the sum of both variances: colours by lot.

    `win` and `loss` are those of the better side, a row for each spread, `step` and `width` apart on the run's scale.
    Draw margins of one's own are taken at their medians, those that move as in the last year.
    """
    run = book.run
    points = run.meta.elo_unit
    difference = np.tile(np.linspace(0.0, _FURTHEST * points, _STEPS + 1), _SPREADS + 1)
    spread = np.repeat(np.linspace(0.0, _WIDEST * points, _SPREADS + 1), _STEPS + 1)
    centre = float(np.median(book.played.nodes["mean"]))
    white, black = (
        _strengths(book, centre + sign * difference / 2.0, spread * np.sqrt(0.5)) for sign in (1.0, -1.0)
    )
    year = np.full(len(difference), book.all_years[-1])
    as_white, as_black = predicted(run, year, white, black), predicted(run, year, black, white)
    win, loss = (as_white[:, 2] + as_black[:, 0]) / 2.0, (as_white[:, 0] + as_black[:, 2]) / 2.0
    rows = [[round(value, 4) for value in column.tolist()] for column in (win, loss)]
    wide = _STEPS + 1
    tables = ([row[start : start + wide] for start in range(0, len(row), wide)] for row in rows)
    unit = points * run.scale.slope
    steps = {"step": _FURTHEST / _STEPS * unit, "width": _WIDEST / _SPREADS * unit}
    return steps | dict(zip(("win", "loss"), tables, strict=True))


def _strengths(book: Book, mean: Array, sd: Array) -> dict[str, Array]:
    further = {
        name: np.full(len(mean), float(np.nanmedian(column)))
        for name, column in book.played.nodes.items()
        if column.dtype == np.float64 and not np.isnan(column).all()
    }
    return further | {"mean": mean, "sd": sd}


def names_script(book: Book) -> str:
    """Every player by number: name, first and last year, games, slug (null without a page; 0: as the name says).

    Then a 1 for those who are on a shared page.
    """
    told = [[one.name, one.first, one.last, short(one.games), *_place(one)] for one in book.people]
    return handed_over("names", told)


def events_script(book: Book) -> str:
    """The events that have a page: name, year, games, slug as above."""
    told = [[one.name, one.year, one.games, *_place(one)] for one in book.events.all if one.slug]
    return handed_over("events", told)


def _place(one: Person | Event) -> Iterator[str | int | None]:
    yield 0 if one.slug and follows(one.slug, one.folded) else one.slug
    if number_of(one.page) is not None:
        yield 1


def handed_over(name: str, data: Any) -> str:
    """A script that gives a value to the page that asked for it."""
    return f'take["{name}"]({embedded(data)});\n'
