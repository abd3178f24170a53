"""The number one of every period, with the probability of being the strongest, and challengers."""

from collections.abc import Sequence
from typing import Any, Final

from ttt_cli.periods import STEPS_PER_YEAR, year_of
from ttt_cli.runs.run import Run
from ttt_cli.views.figures import spec as vega
from ttt_cli.views.figures.figure import Figure, FigureOptions
from ttt_cli.views.figures.histories import MANY_DAYS
from ttt_cli.views.figures.reign_names import name_layers, reign_names, reigns_of
from ttt_cli.views.figures.spec import Records, Spec
from ttt_cli.views.rankings.leaders import leaders
from ttt_cli.views.rankings.rows import Leader

_NAMES_FROM: Final = 1.04  # on the axis of probabilities
_FOR_NAMES: Final = 0.5  # of the axis above 1, and below challengers
_NAMES_BELOW: Final = 0.04  # of the axis between challengers and their names
_HEIGHT: Final = 500
_SAME_YEAR: Final = 1e-6  # years between the end of a period and the start of the next
_MONTH: Final = 1.0 / 12.0
LEAST_P_BEST_SHOWN: Final = 0.2  # players other than the leader are shown from this p_best on
_CHALLENGERS: Final = (
    f"others with at least a {100 * LEAST_P_BEST_SHOWN:.0f} % chance, grey if never number one"
)


def draw_leaders(run: Run, options: FigureOptions) -> Figure:
    """The number ones of all periods. Raises LookupFailed when there is none."""
    limits = options.eligible(run)
    all_leaders, _ = leaders(run, limits)
    eligible = f" · eligible: {limits.words()}" if limits.words() else ""
    subtitle = f"{run.name} · above: the number one, below: {_CHALLENGERS}{eligible}"
    spec = reigns_figure(all_leaders, run.meta.period, [subtitle])
    return Figure(spec, "leaders")


def reigns_figure(leaders: Sequence[Leader], period: Any, subtitle: list[str]) -> Spec:
    """A bar for each leader, as high as the probability of being the strongest (1 without sds), names above reigns.

    Below zero are those of the challengers, the most probable first, with names below. Of many days only the first of
    each month.
    """
    # neighbours have different colours
    players = list(dict.fromkeys(leader.player for leader in leaders))
    by_month = period == "day" and len(leaders) > MANY_DAYS
    width = _MONTH if by_month else 1.0 / STEPS_PER_YEAR[period]
    bars: Records = []
    for leader in leaders:
        if not by_month or leader.period.endswith("-01"):
            bars += _bars(leader, year_of(leader.period_number, period), width, players)
    first = bars[0]["year"]
    last = bars[-1]["end"]
    low = min(bar["low"] for bar in bars)
    number_ones = [bar for bar in bars if bar["of"] == "number one"]
    labels = reign_names(reigns_of(number_ones), first, last, _NAMES_FROM)
    labels_below = reign_names(_challenges(bars), first, last, low - _NAMES_BELOW, joined="low")
    lowest = low - _FOR_NAMES if labels_below else low
    axis = {
        "title": "probability of being the strongest", "titleAnchor": "start",
        "values": [fifth / 5 for fifth in range(int(low * 5), 6)], "labelExpr": "format(abs(datum.value), '.1f')",
    }  # fmt: skip
    x = vega.years([first, last])
    y = vega.number("low", axis=axis, scale={"domain": [lowest, 1.0 + _FOR_NAMES], "nice": False})
    colours = {"domain": [*players, ""], "range": [*vega.colours_of(len(players)), vega.PALE]}
    chance = vega.number("p", title="p_best", format=".3f")
    tooltip = [vega.name("player"), vega.name("period"), chance, vega.name("of")]
    bar = {
        "x": x, "x2": {"field": "end"}, "y": y, "y2": {"field": "high"}, "opacity": vega.number("shade", scale=None),
        "color": vega.name("led", legend=None, scale=colours), "tooltip": tooltip,
    }  # fmt: skip
    layers = [
        vega.layer("bars", "rect", bar, kind="reign", strokeWidth=0),
        vega.layer("zero", "rule", {"y": y}, color=vega.INK),
        *name_layers(x, y),
        *name_layers(x, y, "labels below", below=True),
    ]
    datasets: dict[str, Records] = {
        "bars": bars, "zero": [{"low": 0.0}], "labels": labels, "labels below": labels_below,
    }  # fmt: skip
    return vega.finish(layers, datasets, "Who was number one", subtitle, height=_HEIGHT)


def _challenges(bars: Records) -> list[Records]:
    """The bars of challengers, grouped by periods in a row of one player."""
    challenges: dict[str, list[Records]] = {}
    for bar in bars:
        if bar["of"] != "number one":
            of_player = challenges.setdefault(bar["player"], [])
            if of_player and abs(of_player[-1][-1]["end"] - bar["year"]) < _SAME_YEAR:
                of_player[-1].append(bar)
            else:
                of_player.append([bar])
    return [challenge for of_player in challenges.values() for challenge in of_player]


def _bars(leader: Leader, year: float, width: float, leading: Sequence[str]) -> Records:
    """The bar of a leader upwards, and those of challengers downwards, one below the other.

    `leading`: players who are leaders in some period; only they have a colour.
    """
    period = {"year": year, "end": year + width, "period": leader.period}
    bars: Records = [
        {
            **period, "player": leader.player, "led": leader.player, "p": leader.p_best, "of": "number one",
            "shade": 1.0, "low": 0.0, "high": 1.0 if leader.p_best is None else leader.p_best,
        }
    ]  # fmt: skip
    high = 0.0
    for player, p in sorted(leader.rivals, key=lambda rival: -rival[1]):
        if p >= LEAST_P_BEST_SHOWN:
            colour_of = player if player in leading else ""
            bars.append(
                {
                    **period, "player": player, "led": colour_of, "p": p, "of": "challenger",
                    "shade": 0.6, "low": high - p, "high": high,
                }
            )  # fmt: skip
            high -= p
    return bars
