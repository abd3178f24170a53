"""One figure of a run, by its kind."""

import json
from collections.abc import Mapping, Sequence
from html import escape
from math import log
from typing import Any, Final, NamedTuple

import vl_convert

from ttt_cli.runs.lookup import EXAMPLE
from ttt_cli.runs.run import Run
from ttt_cli.support.errors import ConfigError, LookupFailed
from ttt_cli.support.folding import fold_surname
from ttt_cli.support.progress import SILENT, Progress
from ttt_cli.views.beside import Beside
from ttt_cli.views.evidence import stored_surface
from ttt_cli.views.figures.curves import (
    Curves,
    Words,
    curves_figure,
    difference_figure,
    dominance_figure,
    histories,
    leading_players,
    moving_figure,
    of_ratings,
    title_of,
)
from ttt_cli.views.figures.spec import MENU, Spec, embedded, showable
from ttt_cli.views.rankings import Eligible, eligible
from ttt_cli.views.run import axis_title

MOST_CURVES: Final = 30
_LEADERS: Final = 8
_ALIKE: Final = 0.1  # of the logarithms of what an Elo point is
_NAMED: Final = 4  # players in the name of a file
_PLACEHOLDER: Final = {"description": "where the figure comes"}
_FILLING: Final = {
    "width": "container", "height": "container", "autosize": {"type": "fit", "contains": "padding"},
    "usermeta": {"embedOptions": MENU},
}  # fmt: skip
_STYLE: Final = (
    "<style>body { margin: 0 } "
    "#vega-chart { display: block; width: 100vw; height: 100vh; min-width: 36rem; min-height: 22rem }</style>"
)
_SHARPNESS: Final = 2.0  # pixels of a PNG per pixel of the figure


class Figure(NamedTuple):
    """A Vega-Lite figure, the notes that belong on standard error, and a name for its file without ending."""

    spec: Spec
    notes: tuple[str, ...]
    stem: str


def make_figure(
    run: Run,
    kind: str = "skills",
    names: Sequence[str] = (),
    *,
    by: str = "mean",
    other: Run | None = None,
    beside: Beside | None = None,
    count: int = 10,
    limits: Eligible | None = None,
    since: str | None = None,
    every: int = 1,
    progress: Progress = SILENT,
) -> Figure:
    """The figure of a kind in `ttt_cli.views.figures.KINDS`.

    `names` are the players to show, as users type them (none: those who led in the most
    periods), or the two to subtract for `difference`. `other`: a second run to compare their skills with, `beside`:
    published ratings. `limits`: who is eligible to lead (None: by default); `count`: of how many the mean is `top`.
    `by` `dominance`: the leads of players over the best others are shown. `since`, `every`: first period predicted for
    `calibration`, and periods between refits. Raises LookupFailed for unknown names and for an empty figure.
    """
    from ttt_cli.views.figures import periods

    with run:
        limits = limits or eligible(run)
        found = [run.find_player(name) for name in names]
        players = [*dict.fromkeys(one.player for one in found)]
        notes, stem = [one.note for one in found if one.note], kind
        match kind:
            case "skills":
                players = players or leading_players(run, _LEADERS, limits)
                notes += [] if names else ["no names given: those who led in the most periods"]
                if len(players) > MOST_CURVES:
                    many = f"{len(players)} curves are too many to be distinguished"
                    raise LookupFailed(many, hint=f"at most {MOST_CURVES}")
                stem = f"{_stem(players)}{'-dominance' if by == 'dominance' else ''}"
                dominance = by == "dominance" and dominance_figure(run, players, limits)
                chart = dominance or _skills(run, players, other, beside, notes)
            case "difference":
                if len(players) == 1:
                    both = f"{' and '.join(map(repr, names))} both match {players[0]}"
                    raise LookupFailed(both, hint="give more of the names")
                chart, stem = difference_figure(run, *players), f"{_stem(players)}-difference"
            case "calibration":
                from ttt_cli.evaluate.forecast import predict_run

                chart = periods.calibration_figure(run, predict_run(run, since, every, progress=progress))
            case "leaders":
                chart = periods.leaders_figure(run, limits)
            case "games":
                chart = periods.games_figure(run)
            case "evidence":
                chart = periods.surface_figure(run, stored_surface(run.evidence_points()))
            case "draws" | "newcomers" | "career":
                chart = moving_figure(run, kind)
            case "top":
                chart = periods.top_figure(run, count=count, limits=limits)
            case _:
                raise ValueError(kind)
        return Figure(chart, tuple(notes), stem)


def _skills(
    run: Run, players: Sequence[str], other: Run | None, beside: Beside | None, notes: list[str]
) -> Spec:
    curves = histories(run, players)
    if not curves:
        raise LookupFailed("no player asked for has a game")
    second: Curves = {}
    dotted = whose = ""
    if other:
        notes += _one_axis(run, other)
        second, dotted, whose = histories(other, players), f"skill by {other.name}", other.name
    elif beside:
        notes += beside.words()
        second = of_ratings(beside.ratings, players, run.meta.period)
        dotted, whose = f"ratings of {beside.name}, scaled", beside.name
    notes += [f"{whose} does not have {player}" for player in players if whose and player not in second]
    words = Words(f"Skill of {title_of([*curves])}", axis_title(run.scale), "skill")
    return curves_figure(run, curves, words, other=second, dotted=dotted, zero=False)


def _one_axis(run: Run, other: Run) -> list[str]:
    """Remarks on two runs on one axis. Raises ConfigError where they are in different units."""
    if run.scale.unit != other.scale.unit:
        raise ConfigError(
            f"{run.name} is in {run.scale.unit}, {other.name} in {other.scale.unit}: one axis cannot show both",
            hint=f"give both one scale: --scale '{EXAMPLE}', or --scale points",
        )
    apart = abs(log(run.meta.elo_unit / other.meta.elo_unit)) > _ALIKE and not run.scale.anchors
    if not apart and run.scale.anchors == other.scale.anchors:
        return []
    return [
        f"{run.name} and {other.name} are measured differently (200 Elo points are {200 * run.meta.elo_unit:.0f} and "
        f"{200 * other.meta.elo_unit:.0f} points): --scale '{EXAMPLE}' gives both one scale"
    ]


def _stem(players: Sequence[str]) -> str:
    """A name for the file: the first surnames, safe for every file system."""
    words = ["-".join(fold_surname(player).split()) or "player" for player in players]
    shown = [word[:40] for word in words[:_NAMED]]
    return "-".join(shown) + (f"-and-{len(words) - _NAMED}" if len(words) > _NAMED else "")


def render(spec: Mapping[str, Any], fmt: str) -> bytes:
    """A Vega-Lite figure in one of `ttt_cli.views.figures.FIGURE_FORMATS`, as bytes; without browser or network."""
    figure = showable(spec)
    match fmt:
        case "png":
            return bytes(vl_convert.vegalite_to_png(figure, scale=_SHARPNESS))
        case "svg":
            return str(vl_convert.vegalite_to_svg(figure)).encode()
        case "pdf":
            return bytes(vl_convert.vegalite_to_pdf(figure))
        case "html":
            return _page(figure).encode()
    raise ValueError(fmt)


def _page(figure: Mapping[str, Any]) -> str:
    """The page of vl-convert with our figure in place of a placeholder, escaped so that it cannot end the script.

    The figure fills the window. The page offers it as PNG and SVG; the library's view of the source would take names
    for markup.
    """
    title = escape(figure["title"]["text"] if isinstance(figure.get("title"), dict) else "Figure")
    head = f'<meta name="viewport" content="width=device-width"><title>{title}</title>{_STYLE}'
    page = str(vl_convert.vegalite_to_html(_PLACEHOLDER, bundle=True))
    for old, new in (
        ("<html>", '<html lang="en">'),
        ("<title>Chart</title>", head),
        (json.dumps(_PLACEHOLDER, separators=(",", ":")), embedded({**figure, **_FILLING})),
    ):
        before, place, after = page.partition(old)
        assert place, "the page of a figure is not what it was"
        page = before + new + after
    return page
