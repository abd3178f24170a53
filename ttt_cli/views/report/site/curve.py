"""A player's career as a picture: the curve of the skill with a band of one sd, as SVG that needs no script."""

import math
from collections.abc import Sequence
from typing import Final

from ttt_cli.views.report.site.markup import points, text

_WIDTH: Final = 720
_HEIGHT: Final = 260
_LEFT, _RIGHT, _TOP, _BOTTOM = 48, 12, 20, 26


def career(
    name: str,
    unit: str,
    years: Sequence[int],
    mean: Sequence[float],
    sd: Sequence[float],
    games: Sequence[float],
) -> str:
    """The skill by year with its band; empty for less than three years. Years with games have a dot."""
    if len(years) < 3:
        return ""
    wide = [0.0 if math.isnan(one) else one for one in sd]
    low = min(m - s for m, s in zip(mean, wide, strict=True))
    high = max(m + s for m, s in zip(mean, wide, strict=True))

    def x(year: float) -> float:
        return _LEFT + (year - years[0]) / (years[-1] - years[0]) * (_WIDTH - _LEFT - _RIGHT)

    def y(value: float) -> float:
        return _TOP + (high - value) / ((high - low) or 1.0) * (_HEIGHT - _TOP - _BOTTOM)

    def line(values: Sequence[float], at: Sequence[int]) -> str:
        return " ".join(f"{x(year):.0f},{y(value):.0f}" for year, value in zip(at, values, strict=True))

    upper = line([m + s for m, s in zip(mean, wide, strict=True)], years)
    lower = line([m - s for m, s in zip(reversed(mean), reversed(wide), strict=True)], years[::-1])
    dots = "".join(
        f"M{x(year):.0f} {y(value):.0f}h0"
        for year, value, played in zip(years, mean, games, strict=True)
        if played
    )
    grid = "".join(
        f"<path class=grid d='M{_LEFT} {y(value):.0f}H{_WIDTH}'/>"
        f"<text class=tick x={_LEFT - 6} y={y(value) + 4:.0f} text-anchor=end>{value:.0f}</text>"
        for value in _ticks(low, high, 4)
    )
    axis = "".join(
        f"<text class=tick x={x(year):.0f} y={_HEIGHT - 6} text-anchor=middle>{year:.0f}</text>"
        for year in _ticks(years[0], years[-1], 8)
        if year % 1 == 0
    )
    top = max(range(len(mean)), key=lambda at: mean[at])
    first, last, best = (f"{points(mean[at])} in {years[at]}" for at in (0, -1, top))
    label = text(f"{name}: skill from {first} to {last}, highest {best}")
    return (
        f'<div class="chart career"><svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role=img aria-label="{label}">{grid}{axis}'
        f"<text class=unit x=0 y=11>{text(unit)}</text><polygon class=band points='{upper} {lower}'/>"
        f"<polyline class=curve points='{line(mean, years)}'/><path class=dots d='{dots}'/></svg></div>"
    )


def _ticks(low: float, high: float, count: int) -> list[float]:
    """Round numbers between two, about `count` of them."""
    raw = (high - low) / count or 1.0
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(m * power for m in (1, 2, 5, 10) if m * power >= raw * 0.999)
    return [n * step for n in range(math.ceil(low / step), math.floor(high / step + 1e-9) + 1)]
