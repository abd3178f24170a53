"""Who was number one, a picture that needs no script: bars as high as that is probable, beneath who else may be it."""

from collections.abc import Sequence
from typing import Final

from ttt_cli.views.charts.labels import upright
from ttt_cli.views.rankings.leaders import CHALLENGES, Leader, reigns
from ttt_cli.views.report.site.book import Book
from ttt_cli.views.report.site.curve import round_numbers
from ttt_cli.views.report.site.markup import text
from ttt_cli.views.report.words import say

_WORDS: Final = "Number ones from {} to {}; the longest reign is that of {}, {} to {}"
WHOLE: Final = 200  # units of a bar that is certain
_WIDTH: Final = 1080
_LEFT: Final = 30
_NAMES: Final = 110  # above the bars
_COLOURS: Final = 7


def reign_picture(book: Book, leaders: Sequence[Leader]) -> str:
    """The leaders of all years, by year; empty for less than two years."""
    if len(leaders) < 2:
        return ""
    first, end = leaders[0].number, leaders[-1].number + 1
    step = (_WIDTH - _LEFT) / (end - first)
    colour = {name: at % _COLOURS for at, name in enumerate(dict.fromkeys(one.player for one in leaders))}
    up: dict[int, list[str]] = {}
    down: dict[str, list[str]] = {}
    deepest = 0.0
    for one in leaders:
        x = f"{_LEFT + (one.number - first) * step:.1f}"
        high = WHOLE * (1.0 if one.p_best is None else one.p_best)
        up.setdefault(colour[one.player], []).append(f"M{x} 0v-{high:.1f}h{step:.1f}v{high:.1f}")
        low = 0.0
        for name, chance in _challengers(book, one.number):
            kind = f"c{colour[name]}" if name in colour else "others"
            deep = WHOLE * chance
            down.setdefault(kind, []).append(f"M{x} {low:.1f}v{deep:.1f}h{step:.1f}v-{deep:.1f}")
            low += deep
        deepest = max(deepest, low)
    bars = "".join(f"<path class='reign c{kind}' d='{''.join(d)}'/>" for kind, d in up.items())
    beneath = "".join(f"<path class='challenger {kind}' d='{''.join(d)}'/>" for kind, d in down.items())
    bottom = round(deepest) + 24
    years = "".join(
        f"<text x={_LEFT + (year - first) * step:.0f} y={bottom - 6} text-anchor=middle>{year:.0f}</text>"
        for year in round_numbers(first, end, 12)
        if year % 1 == 0
    )
    grid = "".join(
        f"<path class=grid d='M{_LEFT} {-WHOLE * part / 4:.0f}H{_WIDTH}'/>"
        f"<text x={_LEFT - 4} y={4 - WHOLE * part / 4:.0f} text-anchor=end>{part / 4:.2g}</text>"
        for part in (2, 4)
    )
    longest = max(reigns(leaders), key=len)
    words = text(say(_WORDS, first, end - 1, longest[0].player, longest[0].period, longest[-1].period))
    box = f"0 {-WHOLE - _NAMES} {_WIDTH} {WHOLE + _NAMES + bottom}"
    return (
        f"<div class=scroll><div class='chart reigns'><svg viewBox='{box}' "
        f'role=img aria-label="{words}">{grid}{bars}{beneath}<path class=axis d="M{_LEFT} 0H{_WIDTH}"/>{years}'
        f"{_names(leaders, first, end, step)}</svg></div></div>"
    )


def _challengers(book: Book, year: int) -> list[tuple[str, float]]:
    """Who else may have been the strongest, the likeliest first."""
    ranking = book.rankings[year]
    others = zip(ranking.id[1 : len(ranking.best)].tolist(), ranking.best[1:], strict=True)
    found = [(book.people[player].name, chance) for player, chance in others if chance >= CHALLENGES]
    return sorted(found, key=lambda one: -one[1])


def _names(leaders: Sequence[Leader], first: int, end: int, step: float) -> str:
    """Surnames above the reigns, as many as stand beside each other."""
    found = reigns(leaders)
    spans = [(reign[0].number, reign[-1].number + 1) for reign in found]
    return "".join(
        f"<text class=name transform='translate({_LEFT + (middle - first) * step + 4:.1f} {-WHOLE - 6})rotate(-90)'>"
        f"{text(found[at][0].player.partition(',')[0])}</text>"
        for at, middle in upright(spans, first, end, _WIDTH - _LEFT).items()
    )
