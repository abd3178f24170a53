"""Pictures that need no script, as SVG: a career with a band of one sd, and who was number one."""

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Final

from ttt_cli.views.charts.labels import upright
from ttt_cli.views.rankings.leaders import CHALLENGES, Leader, reigns
from ttt_cli.views.report.site.book import Book
from ttt_cli.views.report.site.markup import points, text
from ttt_cli.views.report.words import say

_WIDTH: Final = 720
_HEIGHT: Final = 270
_LEFT, _RIGHT, _TOP, _BOTTOM = 48, 12, 34, 26
_WORDS: Final = "Number ones from {} to {}; the longest reign is that of {}, {} to {}"
WHOLE: Final = 200  # units of a bar that is certain
_ACROSS: Final = 1080
_BEFORE: Final = 30
_NAMES: Final = 110  # above the bars
_COLOURS: Final = 7


def career(
    name: str,
    unit: str,
    years: Sequence[int],
    mean: Sequence[float],
    sd: Sequence[float],
    games: Sequence[float],
    rated: Mapping[int, float],
    words: str = "{}: skill {} in {} to {} in {}, highest {} in {}",
) -> str:
    """The skill by year with its band, ratings by year dotted; empty for less than three years.

    Years with games have a dot. `words` are for those who do not see: name, value and year of first, last and highest.
    """
    if len(years) < 3:
        return ""
    wide = [0.0 if math.isnan(one) else one for one in sd]
    low = min([*(m - s for m, s in zip(mean, wide, strict=True)), *rated.values()])
    high = max([*(m + s for m, s in zip(mean, wide, strict=True)), *rated.values()])

    def x(year: float) -> float:
        return _LEFT + (year - years[0]) / (years[-1] - years[0]) * (_WIDTH - _LEFT - _RIGHT)

    def y(value: float) -> float:
        return _TOP + (high - value) / ((high - low) or 1.0) * (_HEIGHT - _TOP - _BOTTOM)

    at = [round(x(year)) for year in years]
    middle = [(place, round(y(m))) for place, m in zip(at, mean, strict=True)]
    upper, lower = (
        [(place, round(y(m + sign * s))) for place, m, s in zip(at, mean, wide, strict=True)]
        for sign in (1, -1)
    )
    published = [(round(x(year)), round(y(value))) for year, value in rated.items()]
    played = [place for place, count in zip(middle, games, strict=True) if count]
    grid = round_numbers(low, high, 4)
    lines = "".join(f"M{_LEFT} {y(value):.0f}H{_WIDTH}" for value in grid)
    skills = "".join(f"<text x={_LEFT - 6} y={y(value) + 4:.0f}>{value:.0f}</text>" for value in grid)
    below = "".join(
        f"<text x={x(year):.0f} y={_HEIGHT - 6}>{year:.0f}</text>"
        for year in round_numbers(years[0], years[-1], 8)
        if year % 1 == 0
    )
    band = _path(_bends(upper) + _bends(lower)[::-1], "l")
    dots = f"<path class=dots d='{_path(played, 'h0m')}h0'/>" if played else ""
    dotted = f"<path class='curve rated' d='{_path(published, 'l')}'/>" if published else ""
    top = max(range(len(mean)), key=lambda at: mean[at])
    told = (value for at in (0, -1, top) for value in (points(mean[at]), years[at]))
    label = text(say(words, name, *told))
    return (
        f'<div class="chart career"><svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role=img aria-label="{label}">'
        f"<path class=grid d='{lines}'/><g class=skills>{skills}</g><g class=below>{below}</g>"
        f"<text class=unit x=0 y=14>{text(unit)}</text><path class=band d='{band}z'/>"
        f"<path class=curve d='{_path(_bends(middle), 'l')}'/>"
        f"{dotted}{dots}</svg></div>"
    )


def _path(places: Sequence[tuple[int, int]], step: str) -> str:
    """A path from place to place by steps, which are shorter than places."""
    start = "M{} {}".format(*places[0]) if places else ""
    further = (f"{step}{b[0] - a[0]} {b[1] - a[1]}" for a, b in pairwise(places))
    return (start + "".join(further)).replace(" -", "-")


def _bends(places: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The places at which a line bends: what lies within a unit of the straight way between them is left out."""
    kept, low, high = [places[0]], -math.inf, math.inf
    for before, (x, y) in pairwise(places):
        x0, y0 = kept[-1]
        if not low <= (y - y0) / (x - x0) <= high:
            kept.append(before)
            (x0, y0), low, high = before, -math.inf, math.inf
        low, high = max(low, (y - y0 - 1) / (x - x0)), min(high, (y - y0 + 1) / (x - x0))
    return [*kept, places[-1]]


def round_numbers(low: float, high: float, count: int) -> list[float]:
    """Round numbers between two, about `count` of them."""
    raw = (high - low) / count or 1.0
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(m * power for m in (1, 2, 5, 10) if m * power >= raw * 0.999)
    return [n * step for n in range(math.ceil(low / step), math.floor(high / step + 1e-9) + 1)]


def reign_picture(book: Book, leaders: Sequence[Leader]) -> str:
    """The leaders of all years, by year; empty for less than two years."""
    if len(leaders) < 2:
        return ""
    first, end = leaders[0].number, leaders[-1].number + 1
    step = (_ACROSS - _BEFORE) / (end - first)
    colour = {name: at % _COLOURS for at, name in enumerate(dict.fromkeys(one.player for one in leaders))}
    up: dict[int, list[str]] = {}
    down: dict[str, list[str]] = {}
    deepest = 0.0
    for one in leaders:
        x = f"{_BEFORE + (one.number - first) * step:.1f}"
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
        f"<text x={_BEFORE + (year - first) * step:.0f} y={bottom - 6} text-anchor=middle>{year:.0f}</text>"
        for year in round_numbers(first, end, 12)
        if year % 1 == 0
    )
    grid = "".join(
        f"<path class=grid d='M{_BEFORE} {-WHOLE * part / 4:.0f}H{_ACROSS}'/>"
        f"<text x={_BEFORE - 4} y={4 - WHOLE * part / 4:.0f} text-anchor=end>{part / 4:.2g}</text>"
        for part in (2, 4)
    )
    longest = max(reigns(leaders), key=len)
    words = text(say(_WORDS, first, end - 1, longest[0].player, longest[0].period, longest[-1].period))
    box = f"0 {-WHOLE - _NAMES} {_ACROSS} {WHOLE + _NAMES + bottom}"
    return (
        f"<div class=scroll><div class='chart reigns'><svg viewBox='{box}' "
        f'role=img aria-label="{words}">{grid}{bars}{beneath}<path class=axis d="M{_BEFORE} 0H{_ACROSS}"/>{years}'
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
        f"<text class=name transform='translate({_BEFORE + (middle - first) * step + 4:.1f} {-WHOLE - 6})rotate(-90)'>"
        f"{text(found[at][0].player.partition(',')[0])}</text>"
        for at, middle in upright(spans, first, end, _ACROSS - _BEFORE).items()
    )
