"""The mean skill of the best of every period, and the number one's."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from ttt_cli.periods import year_of
from ttt_cli.runs.run import Run
from ttt_cli.support.errors import LookupFailed
from ttt_cli.views.figures import spec as vega
from ttt_cli.views.figures.figure import Figure, FigureOptions
from ttt_cli.views.figures.histories import drawn_when_idle
from ttt_cli.views.figures.reign_names import name_layers, reign_names, reigns_of, without_gaps
from ttt_cli.views.figures.spec import Records, Spec
from ttt_cli.views.rankings.eligible import Eligible
from ttt_cli.views.rankings.leaders import NumberOne, number_ones
from ttt_cli.views.run import axis_title

_FOR_NAMES: Final = 0.25  # of the height, above the curves
_WIDER: Final = (
    "--number asks for fewer; --everyone, --min-games, --min-opponents and --max-sd for more"
)
# max(mean, n) is the list of the n largest means
_MEANS: Final = """
SELECT period_number, list_avg(max(mean, {count:d})) FROM ({eligible}) WHERE {drawn}
GROUP BY period_number HAVING count(*) >= {count:d}
"""


def draw_top(run: Run, options: FigureOptions) -> Figure:
    """The mean skill of the best of every period, and the number one's."""
    return Figure(top_figure(run, count=options.count, limits=options.eligible(run)), "top")


def top_figure(run: Run, *, count: int, limits: Eligible) -> Spec:
    """The mean skill of the best `count` of every period, and the number one's (TTT paper, figure 2 left).

    Runs of very many days show the first day of each month. Raises LookupFailed when no period has `count` eligible
    players.
    """
    drawn_condition = drawn_when_idle(run)
    means: dict[int, float] = dict(
        run.select(_MEANS.format(count=count, eligible=limits.skills(run), drawn=drawn_condition))[
            1
        ]
    )
    if not means:
        raise LookupFailed(
            f"no {run.meta.period} has {count} players who are eligible", hint=_WIDER
        )
    names = (f"mean of the top {count}", "number one")
    lines, firsts = _curve_records(run, means, number_ones(run, limits, drawn_condition), names)
    first = firsts[0]["year"]
    last = max(firsts[-1]["year"], first + 1.0)
    # means of the best have no band
    low = min(float(record["low"] if "low" in record else record["value"]) for record in lines)
    high = max(record["high"] for record in firsts)
    x = vega.years([first, last])
    scale = {"domain": [low, high + _FOR_NAMES * (high - low)], "nice": False, "zero": False}
    y = vega.number("value", axis={"format": "d", "title": axis_title(run)}, scale=scale)
    hue = vega.name(
        "of", scale={"domain": [*names], "range": [*vega.COLOURS[:2]]}, legend=vega.LEGEND
    )
    tooltip = [vega.name("of"), vega.name("player"), vega.name("period"), vega.number("value")]
    piece = {"detail": vega.name("piece")}
    band = {"x": x, "y": y | {"field": "low"}, "y2": {"field": "high"}}
    layers = [
        vega.layer("firsts", "area", band | piece, opacity=0.15, color=vega.COLOURS[1]),
        vega.layer("lines", "line", {"x": x, "y": y, "color": hue, "tooltip": tooltip} | piece, strokeWidth=2,
              point={"size": 18, "aria": False}),
        *name_layers(x, y | {"field": "low"}),
    ]  # fmt: skip
    certain = all(record["low"] == record["high"] for record in firsts)
    subtitle = run.name if certain else f"{run.name} · band: one sd to either side"
    if limits.words():
        subtitle += f" · eligible: {limits.words()}"
    labels = reign_names(reigns_of(firsts), first, last, high)
    datasets = {"firsts": [] if certain else firsts, "lines": lines, "labels": labels}
    return vega.finish(layers, datasets, f"The top {count} through time", subtitle)


class _CurveRecords(NamedTuple):
    """Records of both curves, and those of number ones alone, for their band.

    A line joins the records of a `piece`: those of the mean, and those of each reign, so that no line leads from one
    number one to the next, or over years without any.
    """

    lines: Records
    firsts: Records


def _curve_records(
    run: Run,
    means: Mapping[int, float],
    firsts_by_time: Iterable[NumberOne],
    names: tuple[str, str],
) -> _CurveRecords:
    """The records by period; `means`: of the best, by the number of the period; `names`: of both curves."""
    name_of_mean, name_of_first = names
    records_of_mean: Records = []
    firsts: Records = []
    for number_one in firsts_by_time:
        period = {
            "year": year_of(number_one.period_number, run.meta.period),
            "period": number_one.period,
        }
        if number_one.period_number in means:
            mean = round(means[number_one.period_number], 1)
            records_of_mean.append({**period, "value": mean, "of": name_of_mean, "player": ""})
        firsts.append(_first_record(number_one, period, name_of_first))
    means_in_pieces = _with_pieces(without_gaps(records_of_mean), "mean")
    firsts_in_pieces = _with_pieces(reigns_of(firsts), "reign")
    return _CurveRecords([*means_in_pieces, *firsts_in_pieces], firsts_in_pieces)


def _with_pieces(groups: Sequence[Records], name: str) -> Records:
    """The records of all groups, each with its `piece`."""
    return [
        {**record, "piece": f"{name} {number}"}
        for number, group in enumerate(groups)
        for record in group
    ]


def _first_record(number_one: NumberOne, period: dict[str, Any], name: str) -> dict[str, Any]:
    return {
        **period, "value": round(number_one.mean, 1), "of": name, "player": number_one.player,
        "low": round(number_one.mean - number_one.sd, 1), "high": round(number_one.mean + number_one.sd, 1),
    }  # fmt: skip
