"""Predicted probabilities against observed frequencies."""

from typing import Final

from ttt_cli.evaluate.forecast import Forecast, predict_run
from ttt_cli.runs.run import Run
from ttt_cli.views.figures import spec as vega
from ttt_cli.views.figures.figure import Figure, FigureOptions
from ttt_cli.views.figures.spec import Records, Spec
from ttt_cli.views.sides import game_words

_LEAST_GAMES: Final = 10  # of a bin


def draw_calibration(run: Run, options: FigureOptions) -> Figure:
    """The calibration of predictions of each period from earlier ones."""
    forecast = predict_run(run, options.since, options.every, progress=options.progress)
    return Figure(calibration_figure(run, forecast), "calibration")


def calibration_figure(run: Run, forecast: Forecast) -> Spec:
    """Predicted probabilities of the three outcomes against observed frequencies, with two standard errors."""
    first, second = [side[:1].upper() + side[1:] for side in game_words(run).labels[:2]]
    names = {"win": f"{first} wins", "draw": "draw", "loss": f"{second} wins"}
    records: Records = [
        {
            "outcome": names[outcome],
            "predicted": round(bin_.predicted, 4),
            "observed": round(bin_.observed, 4),
            "low": round(max(bin_.observed - 2.0 * bin_.error, 0.0), 4),
            "high": round(min(bin_.observed + 2.0 * bin_.error, 1.0), 4),
            "games": bin_.games,
        }
        for outcome, bins in forecast.bins.items()
        for bin_ in bins
        if bin_.games >= _LEAST_GAMES
    ]
    axis = {"format": "%", "tickCount": 10}
    scale = {"domain": [0, 1]}
    x = vega.number("predicted", title="predicted probability", axis=axis, scale=scale)
    y = vega.number("observed", title="observed frequency", axis=axis, scale=scale)
    domain = [*names.values()]
    win_colour, loss_colour, draw_colour = vega.COLOURS[:3]
    colours = {"domain": domain, "range": [win_colour, draw_colour, loss_colour]}
    hue = vega.name("outcome", scale=colours, legend=vega.LEGEND)
    tooltip = [
        vega.name("outcome"),
        *(vega.number(name) for name in ("predicted", "observed", "games")),
    ]
    shapes = vega.name("outcome", scale={"domain": domain}, legend=vega.LEGEND)
    layers = [
        vega.layer("right", "line", {"x": x, "y": y}, strokeDash=[4, 4], color=vega.PALE),
        vega.layer("bins", "rule", {"x": x, "y": y | {"field": "low"}, "y2": {"field": "high"}, "color": hue},
              kind="error", strokeWidth=1.5, opacity=0.6),
        vega.layer("bins", "line", {"x": x, "y": y, "color": hue}, kind="line", strokeWidth=1.2, opacity=0.6),
        vega.layer("bins", "point", {"x": x, "y": y, "color": hue, "shape": shapes, "tooltip": tooltip}, filled=True,
              size=45, opacity=1),
    ]  # fmt: skip
    period = run.meta.period
    refitted = f"every {period}" if forecast.every == 1 else f"every {forecast.every} {period}s"
    subtitle = (
        f"{run.name} · {forecast.games:,.0f} games from {forecast.first} on, predicted from earlier ones "
        f"(learning {refitted}); bars: two standard errors"
    )
    diagonal: Records = [{"predicted": 0, "observed": 0}, {"predicted": 1, "observed": 1}]
    return vega.finish(
        layers, {"right": diagonal, "bins": records}, f"Calibration of {run.meta.label}", subtitle
    )
