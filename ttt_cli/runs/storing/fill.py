"""The tables of a run from games and their fit."""

from datetime import UTC, datetime
from typing import Any

import numpy as np

from ttt_cli import __version__
from ttt_cli.config.schema import Config
from ttt_cli.fitted import Fit, by_player
from ttt_cli.games.table import Games
from ttt_cli.processes import Engine
from ttt_cli.reading.reports import ReadReport
from ttt_cli.runs.evidence import INSERT, EvidencePoint
from ttt_cli.runs.meta import WHERE, RunMeta
from ttt_cli.runs.schema import ALIASES, FORMAT, definitions
from ttt_cli.runs.storing.columns import Labels, link_columns, player_columns, texts, written_texts
from ttt_cli.runs.storing.large import Tables
from ttt_cli.runs.storing.parts import Rows, insert_parts
from ttt_cli.timeline import Timeline


def fill(
    tables: Tables,
    games: Games,
    timeline: Timeline,
    fit: Fit,
    config: Config,
    workers: Engine | None = None,
) -> None:
    """Create and fill all tables of a run in an empty database; `workers` write the large ones (`insert_parts`)."""
    connection = tables.connection
    weight = games.weight if games.weight.strides[0] else games.weight[:1]
    tables.define(definitions(list(fit.chains), timeline.period, whole=bool((weight % 1 == 0).all())))
    labels, names = Labels(timeline), texts(games.players)
    ids = np.arange(len(games.players), dtype=np.int32)
    tables.insert("names", {"id": ids, "player": names})
    tables.insert("periods", {"period_number": labels.numbers, "period": labels.texts})
    _insert_report(tables, games.report)
    written, numbers = written_texts(games)
    if written:
        tables.insert("texts", written)
    tables.insert("neutral_games", {"row": np.flatnonzero(games.neutral)})
    if games.spellings:
        pairs = zip(("player", "spelling"), zip(*games.spellings, strict=True), strict=True)
        tables.insert("spellings", {name: texts(values) for name, values in pairs})

    rows = Rows(games, timeline, fit, numbers)
    marks = insert_parts(tables, rows, rows.parts(names), workers)
    tables.insert("players", player_columns(games, marks, labels))
    if fit.links is not None:
        for table, columns in link_columns(fit.links, by_player(timeline)).items():
            tables.insert(table, columns)
    for table, curve in (("draws", fit.draws), ("newcomers", fit.newcomers)):
        if curve is not None:
            tables.insert(table, vars(curve))
    meta = describe(games, timeline, fit, config)
    connection.executemany("INSERT INTO meta VALUES (?, ?)", meta.to_rows())
    connection.execute(INSERT.format(table="evidence"), EvidencePoint.of(fit, config.model.params).to_row())


def describe(games: Games, timeline: Timeline, fit: Fit, config: Config) -> RunMeta:
    """What the run will say about itself."""
    return RunMeta(
        format=FORMAT,
        version=__version__,
        created=datetime.now(UTC).isoformat(timespec="microseconds"),
        model=fit.model,
        kind=fit.kind,
        period=timeline.period,
        config=config.model_dump(mode="json", exclude={"solver": set(WHERE)}),
        params=fit.params,
        log_evidence=float(fit.log_evidence),
        leave_one_out=float(fit.leave_one_out),
        elo_unit=float(fit.elo_unit),
        converged=bool(fit.status.converged),
        sweeps=int(fit.status.sweeps),
        remaining_error=float(fit.status.remaining_error),
        posterior=fit.posterior,
        skipped_sites=int(fit.status.skipped_sites),
        trace=tuple((float(change), float(error)) for change, error in fit.trace),
        games=len(games),
        weight=float(games.weight.sum()),
        draw_share=games.draw_share,
        nodes=timeline.n_nodes,
        players=len(games.players),
        first=timeline.label(int(timeline.periods[0])) if len(games) else "",
        last=timeline.label(int(timeline.periods[-1])) if len(games) else "",
        notes=fit.notes,
    )


def _insert_report(tables: Tables, report: ReadReport) -> None:
    files = list(enumerate(report.files))
    aliases = [] if report.aliases is None else [report.aliases]
    rows: dict[str, list[tuple[Any, ...]]] = {
        "inputs": [
            *((f.path, f.kind, f.digest, f.size, f.rows, f.used) for f in report.files),
            *((f.path, ALIASES, f.digest, f.size, 0, 0) for f in aliases),
        ],
        "dropped": [(f.path, why, n, number) for number, f in files for why, n in f.dropped.items()],
        "noticed": [(f.path, what, n, number) for number, f in files for what, n in f.noticed.items()],
        "problems": [(p.file, p.line, p.reason, p.detail, p.action) for p in report.problems],
    }
    for table, values in rows.items():
        if values:
            columns = {f"c{i}": _column(list(column)) for i, column in enumerate(zip(*values, strict=True))}
            tables.insert(table, columns)


def _column(values: list[Any]) -> Any:
    return texts(values) if isinstance(values[0], str) else np.array(values, dtype=np.int64)
