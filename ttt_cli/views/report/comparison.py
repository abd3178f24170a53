"""The page of a site that compares players, and the data that its script reads."""

from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from ttt_cli.views.figures.spec import embedded
from ttt_cli.views.history.prediction import predicted
from ttt_cli.views.people import AGE
from ttt_cli.views.rankings.peaks import find_peaks
from ttt_cli.views.report import markup
from ttt_cli.views.report.book import Book
from ttt_cli.views.report.folder import SiteFile

_FIRST: Final = 3  # players that the page begins with, those of the highest peaks
_TOGETHER: Final = 200  # players whose histories are in one file
_STEPS: Final = 75  # of the difference of two skills
_FURTHEST: Final = 1500.0  # difference, Elo points
_SPREADS: Final = 12
_WIDEST: Final = 600.0  # root of the sum of two variances, Elo points


def compare_page(book: Book) -> str:
    """The page itself; its curves and tables are made by its script."""
    first = book.years[0]
    data = {
        "period": "year",
        "years": [first, 1],
        "labels": [str(year) for year in book.years],
        "hasSd": book.skills.has_sd,
        "together": _TOGETHER,
        "chances": _chances(book),
        "first": [
            book.people.number[peak.player] for peak in find_peaks(book.run, book.limits, _FIRST)
        ],
        "beside": book.published is not None,
    }
    parts = {
        "data": embedded(data),
        "has_joint": book.run.has_joint,
        "averaged": markup.text(book.words.averaged),
        "has_births": bool(book.about.births),
        "dotted": markup.dotted(book.published),
    }
    return markup.page(book.title, "Compare", markup.filled("compare.html", parts), up="")


def history_scripts(book: Book) -> Iterator[SiteFile]:
    """The histories of all players by year, and their opponents, so many to a file."""
    n_players = len(book.people.rows)
    for number, start in enumerate(range(0, n_players, _TOGETHER)):
        players = range(start, min(start + _TOGETHER, n_players))
        histories = {player: _history(book, player) for player in players}
        yield SiteFile(
            f"data/histories-{number}.js", markup.handed_over(f"histories-{number}", histories)
        )


def _history(book: Book, player: int) -> list[Any]:
    """What scripts read of a player, a list of five, six or seven:

    | index | |
    |---|---|
    | 0 | first year |
    | 1, 2, 3 | means, sds (none where the system has none) and games, by year |
    | 4 | of each opponent: number, wins, draws and losses; a pair is stored once, with the lower of both numbers |
    | 5 | published ratings: years after the site's first, and values; empty for a player who only has a birth |
    | 6 | the birth, as the year in whose middle the age is 0 |
    """
    skills = book.skills.of(player)
    name = book.people.rows[player].name
    totals = book.opponents.of(player)
    columns = (
        totals.opponent.tolist(),
        totals.won.tolist(),
        totals.drawn.tolist(),
        totals.lost.tolist(),
    )
    opponents = [
        [opponent, markup.short(won), markup.short(drawn), markup.short(lost)]
        for opponent, won, drawn, lost in zip(*columns, strict=True)
        if opponent > player
    ]
    history = [
        skills.year.tolist()[0],
        [markup.short(mean) for mean in skills.mean.tolist()],
        [markup.short(sd) for sd in skills.sd.tolist()] if book.skills.has_sd else [],
        [markup.short(games) for games in skills.games.tolist()],
        opponents,
    ]
    ratings = book.published.by_year(name, book.run.meta.period) if book.published else {}
    has_birth = name in book.about.births
    if ratings or has_birth:
        first = book.years[0]
        history.append([[year - first, markup.short(rating)] for year, rating in ratings.items()])
    if has_birth:
        year = int(skills.year[0])
        [age] = book.about.texts(AGE, [name], year)
        history.append(year - int(age))
    return history


def _chances(book: Book) -> dict[str, Any]:
    """Expected results by difference of skill, from 0, and root of the summed variances; averaged over both sides.

    `win` and `loss` are those of the better side, a row for each spread, `step` and `width` apart on the run's scale.
    Draw margins of one's own are taken at their medians, those that move as in the last year.
    """
    run = book.run
    elo_unit = run.meta.elo_unit
    difference = np.tile(np.linspace(0.0, _FURTHEST * elo_unit, _STEPS + 1), _SPREADS + 1)
    spread = np.repeat(np.linspace(0.0, _WIDEST * elo_unit, _SPREADS + 1), _STEPS + 1)
    # beside mean and sd those with draw margins have theirs
    strengths = {
        name: np.full(len(difference), float(np.nanmedian(column)))
        for name, column in book.played.nodes.items()
        if column.dtype == np.float64 and not np.isnan(column).all()
    }
    centre = float(np.median(book.played.nodes["mean"]))
    sd = spread * np.sqrt(0.5)
    better = {**strengths, "mean": centre + difference / 2.0, "sd": sd}
    worse = {**strengths, "mean": centre - difference / 2.0, "sd": sd}
    year = np.full(len(difference), book.years[-1])
    as_white = predicted(run, year, better, worse)
    as_black = predicted(run, year, worse, better)
    win = (as_white[:, 2] + as_black[:, 0]) / 2.0
    loss = (as_white[:, 0] + as_black[:, 2]) / 2.0
    unit = elo_unit * run.scale.slope
    return {
        "step": _FURTHEST / _STEPS * unit,
        "width": _WIDEST / _SPREADS * unit,
        "win": np.round(win, 4).reshape(_SPREADS + 1, -1).tolist(),
        "loss": np.round(loss, 4).reshape(_SPREADS + 1, -1).tolist(),
    }
