"""The front page of a site: number ones, the greatest players, curves of the model, and links to the other pages."""

from collections.abc import Callable
from typing import Any, Final

from ttt_cli.views.evidence import gain_per_game
from ttt_cli.views.figures.kinds.leaders import LEAST_P_BEST_SHOWN, reigns_figure
from ttt_cli.views.figures.spec import showable
from ttt_cli.views.history.years import YearRanking
from ttt_cli.views.rankings.leaders import reigns
from ttt_cli.views.rankings.peaks import dominant_rows, peaks
from ttt_cli.views.rankings.rows import Leader
from ttt_cli.views.report import markup
from ttt_cli.views.report.book import Book
from ttt_cli.views.report.highlights import highlights
from ttt_cli.views.report.page import LATE, pictures
from ttt_cli.views.report.record_page import RecordsByKind
from ttt_cli.views.rows import Rows, finite
from ttt_cli.views.run import scale_note

_RANKED: Final = 50  # players of a ranking
_SHOWN: Final = 10  # others are folded
BELOW: Final = (
    f"Below the line: other players with at least a {100 * LEAST_P_BEST_SHOWN:.0f} % chance of having been number one."
)  # fmt: skip
_HEADS: Final = {
    "rank": "#rank", "mean": "#skill", "games": "#games", "period_games": "#games then", "period": "in",
    "dominance": "#lead",
}  # fmt: skip
_SD_OF: Final = {"mean": "sd", "dominance": "sd_dominance"}  # shown in one column


def front_page(book: Book, records: RecordsByKind) -> str:
    """Number ones, striking records, the greatest players, and links to the other pages."""
    run = book.run
    notes = [markup.part("warning", showable(markup.signs(line))) for line in run.meta.notes]
    late = "" if run.meta.converged else markup.part("warning", LATE)
    games = f'<dl class="cards">{markup.part("game_cards", run.meta)}</dl>'
    model = f'<dl class="cards">{markup.part("model_cards", run.meta, finite(gain_per_game(run.meta)))}</dl>'
    rankings = (dominant_rows(run, book.limits, book.dominant), peaks(run, book.limits, _RANKED))
    striking = markup.section("Highlights", highlights(book, records))
    greatest = [markup.section(rows.title[0], _table(book, rows)) for rows in rankings if rows.rows]
    years = "".join(f"<li>{markup.link(f'years/{year}.html', str(year))}" for year in book.years)
    return markup.page(
        book.title, book.title, late, games, *_number_ones(book, striking), markup.columns(*greatest),
        markup.section("Published ratings", markup.part("published_ratings", book.published) if book.published else ""),
        markup.section("Years", f'<ul class="years">{years}</ul>'),
        markup.section("About the model", model, *notes),
        *(markup.section(title.capitalize(), drawn) for title, drawn in pictures(run)),
        up="", facts=f"{run.meta.describe()}; {scale_note(run)}", named=book.title,
    )  # fmt: skip


def _number_ones(book: Book, striking: str) -> list[str]:
    """Sections: a picture of all years if there are two or more, `striking` records, and every reign.

    Of a reign mean and least probability of being the strongest over its years, and the skill in the best of them.
    """
    if not book.rankings.by_year:
        return [striking]
    links = book.player_pages.links("players/")
    leaders = [
        _leader(book, year, ranking)
        for year, ranking in sorted(book.rankings.by_year.items())
        if len(ranking.id) >= book.limits.fewest
    ]
    all_reigns = reigns(leaders)
    best = [reign.best for reign in all_reigns]
    chances = {
        "#p best": [_chance(reign.mean_p_best) for reign in all_reigns],
        "#least": [_chance(reign.least_p_best) for reign in all_reigns],
    }
    table = {
        "from": [reign.first.period for reign in all_reigns],
        "to": [reign.last.period for reign in all_reigns],
        "player": [links[book.people.number[leader.player]] for leader in best],
        "#years": [str(len(reign.leaders)) for reign in all_reigns],
        **(chances if book.rankings.remark else {}),
        "#highest skill": [markup.skill(leader.mean, leader.sd) for leader in best],
        "in": [markup.link(f"years/{leader.period}.html", leader.period) for leader in best],
    }
    limits = f"eligible: {book.limits.words()}" if book.limits.words() else ""
    notes = [
        markup.note(words)
        for words in (limits, book.limits.left_out(book.run), book.rankings.remark)
    ]
    listed = markup.table("number ones", table) + "".join(notes)
    if len(leaders) < 2:
        return [markup.section("Number ones", listed), striking]
    span = f"{leaders[0].period} to {leaders[-1].period}"
    longest = max(all_reigns, key=lambda reign: len(reign.leaders)).first.player
    spec = reigns_figure(leaders, "year", [f"{span}; the longest reign is that of {longest}"])
    figure = markup.figure(spec, "reigns", height=500, width=1000)
    picture = (
        f"<div class=scroll>{figure}</div>{markup.note(BELOW if book.rankings.remark else '')}"
    )
    return [
        markup.section("Number ones", picture),
        markup.columns(striking, markup.section("All number ones", listed)),
    ]


def _leader(book: Book, year: int, ranking: YearRanking) -> Leader:
    """The number one of a year, and the others with a probability."""
    players = ranking.id[: max(len(ranking.best), 1)].tolist()
    first, *rivals = [book.people.rows[player].name for player in players]
    chances = [round(p, 4) for p in ranking.best]
    return Leader(
        year, str(year), first, ranking.mean[0].item(), ranking.sd[0].item(), ranking.games[0].item(),
        p_best=chances[0] if chances else None, field=len(ranking.id),
        rivals=tuple(zip(rivals, chances[1:], strict=True)),
    )  # fmt: skip


def _chance(p: float | None) -> str:
    return "" if p is None else markup.chance(p)


def _table(book: Book, rows: Rows) -> str:
    """Rows of a view with links to players, and its remarks below."""
    links = book.player_pages.links("players/")
    formats: dict[str, Callable[[Any], str]] = {
        "player": lambda player: links[book.people.number[player]],
        **dict.fromkeys(("games", "period_games"), markup.number),
    }
    values_of = dict(zip(rows.columns, zip(*rows.rows, strict=True), strict=True))
    table = {}
    for column, values in values_of.items():
        if column in _SD_OF:
            sds = values_of[_SD_OF[column]]
            cells = [markup.skill(mean, sd) for mean, sd in zip(values, sds, strict=True)]
        elif column in _SD_OF.values():
            continue
        else:
            cells = [formats.get(column, str)(value) for value in values]
        table[_HEADS.get(column, column)] = cells
    heading, *remarks, _ = rows.title
    notes = "".join([markup.note(remark) for remark in remarks])
    return markup.first_rows(heading, table, _SHOWN) + notes
