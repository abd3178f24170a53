"""What all figures share: size, colours, letters."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

import altair as alt

WIDTH: Final = 860
HEIGHT: Final = 440
INK: Final = "#222222"
PALE: Final = "#777777"
# Okabe and Ito's colours, told apart by the colour-blind; their yellow is too pale for lines on white.
COLOURS: Final = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#000000", "#E69F00", "#56B4E9")
SHAPES: Final = ("circle", "square", "triangle-up", "diamond")
UPRIGHT: Final[dict[str, Any]] = {  # of text that begins at its place and goes up
    "angle": 270, "align": "left", "baseline": "middle", "fontSize": 12, "color": INK, "aria": False
}  # fmt: skip
_YEAR_STEPS: Final = (1, 2, 5, 10, 20, 50, 100, 200)
_TICKS: Final = 12
LEGEND: Final = alt.Legend(title=None, orient="top", labelFontSize=12, offset=0)
MENU: Final = {"actions": {"export": True, "source": False, "compiled": False, "editor": False}}


def colour(index: int) -> str:
    """The colour of the n-th player; they come round again."""
    return COLOURS[index % len(COLOURS)]


def shape(index: int) -> str:
    """The point of the n-th player; it changes when the colours come round."""
    return SHAPES[index // len(COLOURS) % len(SHAPES)]


def chart_of(records: Sequence[Mapping[str, Any]]) -> alt.Chart:
    """An unmarked chart of these records, which it carries inside; copies of the chart do not copy them."""
    data = alt.InlineData(values=list(records))
    object.__setattr__(data, "__deepcopy__", lambda _: data)
    return alt.Chart(data)


def tooltips(*fields: str) -> list[alt.Tooltip]:
    """What is told of a mark: typed, since for a channel that is a text all types of altair are looked at."""
    return [alt.Tooltip(field) for field in fields]


def finish(
    layers: Sequence[alt.Chart], title: str, subtitle: str | list[str], *, height: int = HEIGHT
) -> alt.LayerChart:
    """Layers as one figure with its size, its title and the common look."""
    head = alt.TitleParams(
        title, subtitle=subtitle, anchor="start", fontSize=17, subtitleColor=PALE, subtitleFontSize=12, offset=12
    )  # fmt: skip
    figure: Any = alt.layer(*layers)
    finished: alt.LayerChart = (
        figure.properties(width=WIDTH, height=height, title=head, padding=14, usermeta={"embedOptions": MENU})
        .configure(background="white", font="Liberation Sans, Arial, Helvetica, sans-serif")
        .configure_axis(
            labelFontSize=12, titleFontSize=13, gridColor="#e6e6e6", titleColor=INK, titleFontWeight=500
        )
        .configure_view(stroke=None)
    )
    return finished


def years(first: float, last: float, domain: Sequence[float] | None = None, title: str = "year") -> alt.X:
    """The encoding of years with ticks at round ones from the first to the last that has data."""
    step = next((step for step in _YEAR_STEPS if (last - first) / step <= _TICKS), _YEAR_STEPS[-1])
    ticks = [step * n for n in range(math.ceil(first / step), math.floor(last / step) + 1)]
    axis = alt.Axis(format="d", title=title, grid=False, values=ticks)
    return alt.X("year:Q", axis=axis, scale=alt.Scale(domain=domain or alt.Undefined, nice=False))
