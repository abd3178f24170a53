"""The parts of the page that stand still: summary, evidence, parameters, what was read and what was dropped."""

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any, Final

from ttt_cli.inference.switches import in_use
from ttt_cli.reading.reports import place_text
from ttt_cli.runs.curves import COLUMNS
from ttt_cli.runs.curves import rows as curve_rows
from ttt_cli.runs.meta import RunMeta
from ttt_cli.runs.run import Run
from ttt_cli.views.beside import Beside
from ttt_cli.views.evidence.report import gain_per_game, has_evidence, naive_log_evidence
from ttt_cli.views.report.site.curve import career
from ttt_cli.views.report.words import say, say_line
from ttt_cli.views.run import across, curve_title

LATE: Final = "This fit had not converged: skills may be off by more than it was asked for."
LONG: Final = 200  # characters of a note that is folded
_PROBLEMS: Final = 100
_CURVE: Final = "{}: {} in {} to {} in {}, highest {} in {}"


def game_cards(meta: RunMeta) -> str:
    """What was played, in numbers."""
    return _cards(
        ("games", f"{meta.weight:,.10g}"),
        ("players", f"{meta.players:,}"),
        ("years", f"{meta.first[:4]}–{meta.last[:4]}"),
        ("drawn", f"{100 * meta.draw_share:.1f} %"),
    )


def model_cards(meta: RunMeta) -> str:
    """The model and how it fits; of the evidence where the system has any."""
    evidence = (
        ("log-evidence, nats", f"{meta.log_evidence:,.2f}"),
        ("gain per game over the naive model, nats", f"{gain_per_game(meta):.5f}"),
    )
    converged = say("yes") if meta.converged else say("NO")
    return _cards(("model", meta.model), *(evidence if has_evidence(meta) else ()), ("converged", converged))


def _cards(*facts: tuple[str, str]) -> str:
    return "".join(f"<div><dt>{escape(say(key))}</dt><dd>{escape(value)}</dd></div>" for key, value in facts)


def notes(meta: RunMeta, data: Mapping[str, Any]) -> str:
    """Paragraphs that a reader must not miss: a fit that did not converge, players left out, the model's notes."""
    lines = []
    if not meta.converged:
        lines.append(LATE)
    if data["leftOut"]:
        lines.append(
            f"To stay small, this page carries the {len(data['players']):,} players with at least "
            f"{data['minGames']:g} games; {data['leftOut']:,} others are in the run but not here."
        )
    lines += meta.notes
    return "".join(map(warning, lines))


def warning(line: str) -> str:
    """A paragraph in a box; of a long one is seen what it is about, and the rest when asked for."""
    head, _, rest = line.partition(": ")
    if len(line) <= LONG or not rest:
        return f'<p class="note">{escape(line)}</p>'
    return f'<details class="note"><summary>{escape(head)}</summary><p>{escape(rest)}</p></details>'


def beside_section(beside: Beside) -> str:
    """Published ratings: how they were matched and scaled, and how well they agree with skills, year by year."""
    title = escape(f"Beside {beside.name}")
    words = "".join(f'<p class="help">{escape(line)}</p>' for line in beside.words())
    rows = [(str(one.year), one.players, f"{one.correlation:.2f}") for one in beside.years]
    table = _table("Correlation of ratings with skills", ("year", "players rated", "correlation"), rows)
    heading = f'<section id="beside" aria-labelledby="beside-title"><h2 id="beside-title">{title}</h2>'
    return f"{heading}{words}<details><summary>Correlation by year</summary>{table}</details></section>"


def pictures(run: Run) -> list[tuple[str, str]]:
    """A heading for every curve that the run has, and the curve with a band of one sd as SVG."""
    found = []
    for name in COLUMNS:
        if every := [row for row in curve_rows(run, name) if row[0] % 1 == 0]:
            at, mean, sd = zip(*(row[:3] for row in every), strict=True)
            title, years = curve_title(run, name), [int(year) for year in at]
            unit = say_line(f"{run.scale.unit}, by {across(name)}")
            drawn = career(say_line(title), unit, years, mean, sd, [0.0] * len(years), {}, _CURVE)
            if drawn:
                found.append((title, drawn))
    return found


def moving_section(run: Run) -> str:
    """Careers, and draw margins and newcomers that move with the years; nothing where they do not."""
    found = "".join(f"<h3>{escape(title.capitalize())}</h3>{drawn}" for title, drawn in pictures(run))
    heading = '<section id="moving" aria-labelledby="moving-title"><h2 id="moving-title">What moves</h2>'
    return f'{heading}<p class="help">Band: one sd to either side.</p>{found}</section>' if found else ""


def evidence_section(meta: RunMeta) -> str:
    """Evidence beside the naive model, how inference ended, and the parameters."""
    naive = naive_log_evidence(meta.weight, meta.draw_share)
    known, evidence = math.isfinite(meta.remaining_error), has_evidence(meta)
    report = [
        ("log-evidence, nats", f"{meta.log_evidence:,.4f}" if evidence else f"{meta.model} has none"),
        ("naive model (always the share of draws), nats", f"{naive:,.4f}"),
        *([("gain per game, nats", f"{gain_per_game(meta):.6f}")] if evidence else ()),
        ("converged", "yes" if meta.converged else "no"),
        ("sweeps", f"{meta.sweeps:,}"),
        ("largest error left, points", f"{meta.remaining_error:.3g}" if known else "unknown"),
        *([("posterior", meta.posterior)] if meta.posterior else ()),
        ("updates left out", f"{meta.skipped_sites:,}"),
    ]
    params = [(key, _value(value)) for key, value in in_use(meta.params).items()]
    config = escape(json.dumps(meta.config, indent=2, ensure_ascii=False))
    return (
        _table("Evidence", ("what", "value"), report)
        + _table(f"Parameters of {meta.model}", ("parameter", "value"), params)
        + f"<details><summary>The whole config</summary><pre>{config}</pre></details>"
    )


def data_section(run: Run) -> str:
    """Files, dropped rows by reason, and problems with file and line."""
    _, inputs = run.query("SELECT path, kind, rows, used, digest FROM inputs")
    _, dropped = run.query("SELECT file, reason, rows FROM dropped ORDER BY rows DESC, reason")
    _, listed = run.query(f"SELECT file, line, action, reason, detail FROM problems LIMIT {_PROBLEMS}")
    problems = [(place_text(path, place), *what) for path, place, *what in listed]
    ((found,),) = run.query("SELECT count(*) FROM problems")[1]
    parts = [_table("Files", ("file", "kind", "rows", "games used", "digest"), inputs)]
    parts.append(
        _table("Rows that were dropped", ("file", "reason", "rows"), dropped)
        if dropped
        else "<p>No row was dropped.</p>"
    )
    if problems:
        some = f", the first {_PROBLEMS} of {found:,}" if found > _PROBLEMS else ""
        listing = _table(f"Problems{some}", ("where", "action", "reason", "what stood there"), problems)
        parts.append(f"<details><summary>{found:,} rows had problems</summary>{listing}</details>")
    return "".join(parts)


def _table(caption: str, heads: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    head = "".join(f'<th scope="col">{escape(text)}</th>' for text in heads)
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows)
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(caption)}">'
        f"<table><caption>{escape(caption)}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _cell(value: Any) -> str:
    text = f"{value:,}" if isinstance(value, int) else str(value)
    kind = ' class="number"' if isinstance(value, int) else ""
    return f"<td{kind}>{escape(text)}</td>"


def _value(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)
