"""What moves a skill or a lead most, as bars; and the chains of opponents through which it is known."""

from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

from ttt_cli.games.table import DRAW, LOSS, WIN
from ttt_cli.runs.run import Run
from ttt_cli.support.errors import LookupFailed
from ttt_cli.views.figures import spec as vega
from ttt_cli.views.figures.figure import Figure, FigureOptions
from ttt_cli.views.figures.histories import stem_of
from ttt_cli.views.figures.labels import shorten, surnames
from ttt_cli.views.figures.spec import Records, Spec
from ttt_cli.views.rows import Rows
from ttt_cli.views.run import unit_words
from ttt_cli.views.sides import game_words
from ttt_cli.views.why import why_rows
from ttt_cli.views.why_kinds import CHAIN, GAME

_ROW: Final = 30  # pixels
_LABELS: Final = 430  # pixels
_DOTS: Final = (vega.COLOURS[2], vega.PALE, vega.COLOURS[1])
_OTHERWISE: Final = (
    "dots: if it had ended otherwise; in brackets: expected score of the side named first"
)


def draw_why(run: Run, options: FigureOptions) -> Figure:
    """What moves the skill of a player most, or the lead over a second one. Raises as `why_rows`."""
    name, versus = (*options.names, None)[:2]
    by = options.by or GAME
    rows = why_rows(run, str(name), options.at, versus, by, options.count)
    return why_figure(run, rows, by, options.names)


def why_figure(run: Run, rows: Rows, by: str, names: Sequence[str]) -> Figure:
    """The figure of a table of `why_rows`; `names`: of the players. Raises LookupFailed for a table without rows."""
    records = [*rows.records()]
    if not records:
        raise LookupFailed("no game moves this skill", hint="draw another player or period")
    spec = _chains(run, rows, records) if by == CHAIN else _influences(run, rows, records, by)
    return Figure(spec, f"{stem_of(names)}-why")


def _influences(run: Run, rows: Rows, records: Records, by: str) -> Spec:
    """A bar for the change of the mean without each row's games; dots where a single game had ended otherwise."""
    texts = [
        _game_line(run, record) if by == GAME else f"{shorten(record[by])} ({record['games']:g})"
        for record in records
    ]
    labels = _distinct(texts)
    results = _results(run)
    bars: Records = []
    dots: Records = []
    for label, record in zip(labels, records, strict=True):
        bars.append({"label": label, **{column: record[column] for column in rows.columns}})
        dots += [
            {"label": label, "change": record[column], "result": result}
            for column, result in results.items()
            if record.get(column) is not None
        ]
    title, explanation = _title(rows)
    axis = f"change of the mean without {_left_out(by)}, {unit_words(run)}"
    change = vega.number("change", title=axis)
    encoding = {"y": _labels(labels), "x": change}
    tooltip = [
        vega.name("label", title=by),
        *(
            vega.number(column, format=".1f", title=column)
            for column in ("change", "mean_without", "sd_without")
        ),
    ]
    if by == GAME:
        tooltip += [vega.number("expected", format=".2f"), vega.name("event")]
    hue = vega.name(
        "result", scale={"domain": [*results.values()], "range": [*_DOTS]}, legend=vega.LEGEND
    )
    layers = [
        vega.layer("bars", "bar", {**encoding, "tooltip": tooltip}, color=vega.COLOURS[0], opacity=0.75, height=14),
        vega.layer("zero", "rule", {"x": change}, color=vega.INK),
        vega.layer("dots", "point", {**encoding, "color": hue, "tooltip": [
            vega.name("result"), vega.number("change", format=".1f")]}, filled=True, size=60, opacity=1),
    ]  # fmt: skip
    subtitle = f"{run.name} · bars: {explanation}"
    subtitle += f"; {_OTHERWISE}" if by == GAME else "; in brackets: games"
    datasets: dict[str, Records] = {"bars": bars, "zero": [{"change": 0.0}], "dots": dots}
    return vega.finish(layers, datasets, title, subtitle, height=_ROW * len(bars))


def _chains(run: Run, rows: Rows, records: Records) -> Spec:
    """A bar for the share of each chain, coloured by its end."""
    names = [*dict.fromkeys(name for record in records for name in _players(record))]
    short = dict(zip(names, surnames(names), strict=True))
    labels = _distinct(
        [" – ".join([short[name] for name in _players(record)]) for record in records]
    )
    bars = [{"label": label, **record} for label, record in zip(labels, records, strict=True)]
    ends = [*dict.fromkeys(record["end"] for record in records)]
    encoding = {
        "y": _labels(labels),
        "x": vega.number("share", title="share of what is known through it", axis={"format": ".0%"}),
        "color": vega.name("end", scale={"domain": ends, "range": [*vega.COLOURS[: len(ends)]]}, legend=vega.LEGEND),
        "tooltip": [vega.name("chain"), vega.name("end"), vega.number("share", format=".3f"), vega.number("games")],
    }  # fmt: skip
    layers = [vega.layer("bars", "bar", encoding, opacity=0.75, height=14)]
    title, explanation = _title(rows)
    subtitle = f"{run.name} · {explanation}; colours: where a chain ends"
    return vega.finish(layers, {"bars": bars}, title, subtitle, height=_ROW * len(bars))


def _players(record: dict[str, Any]) -> list[str]:
    """The players of a chain."""
    return str(record["chain"]).split(" - ")


def _title(rows: Rows) -> tuple[str, str]:
    """The skill that is explained, and what the rows are."""
    skill, _, explanation = rows.title[0].rpartition("; ")
    return f"Why {skill}".replace("+-", "±"), explanation


def _left_out(by: str) -> str:
    return "the game" if by == GAME else f"the games of the {by}"


def _results(run: Run) -> dict[str, str]:
    """What each result is called, by the column of the change of the mean with it, of the table and the figure."""
    words = game_words(run)
    columns = (f"if_{words.first}", "if_draw", f"if_{words.second}")
    outcomes = (WIN, DRAW, LOSS)
    return {
        column: words.result_of_game(outcome)
        for column, outcome in zip(columns, outcomes, strict=True)
    }


def _game_line(run: Run, record: dict[str, Any]) -> str:
    """A game in a line: date, players, result, expected score of the side named first, event."""
    words = game_words(run)
    first, second = surnames([record[words.first], record[words.second]])
    result = record["result"]
    game = f"{first} {result} {second}" if words.is_chess else f"{first} – {second} {result}"
    line = f"{record['date']} {game} ({record['expected']:.2f})"
    return f"{line}, {shorten(record['event'])}" if record["event"] else line


def _distinct(texts: Sequence[str]) -> list[str]:
    """Texts of which equal ones are numbered."""
    uses: Counter[str] = Counter()
    distinct = []
    for text in texts:
        uses[text] += 1
        distinct.append(text if uses[text] == 1 else f"{text} ({uses[text]})")
    return distinct


def _labels(labels: Sequence[str]) -> Spec:
    """The encoding of rows, from the top."""
    axis = {"labelLimit": _LABELS, "ticks": False, "domain": False}
    return vega.name("label", sort=[*labels], title=None, axis=axis)
