"""Records of small tables, for tests of what comes after reading."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from ttt_cli.config.schema import DataConfig
from ttt_cli.games.assemble import make_records
from ttt_cli.games.collect import Collected, Collector
from ttt_cli.games.table import Records
from ttt_cli.reading.batches import FileRecords, Note, text_table
from ttt_cli.reading.reports import DROP_REASONS

_OWN = ("date", "white", "black", "result", "weight", "moves")
Row = Mapping[str, object]


def collected_of(
    *files: Iterable[Row], data: DataConfig | None = None, rejects: Iterable[int] = ()
) -> Collected:
    """Records collected from files of rows, each with columns by name.

    `result` may be a pair of scores. Row i stands in line i + 1; lines of `rejects` are rows more of the first file.
    """
    collector = Collector(data or DataConfig(), everything=True)
    bad = list(rejects)
    for number, rows in enumerate(files):
        table = [{"date": "1858", "result": "1-0", **row} for row in rows]
        kind = "scores" if any(isinstance(row["result"], tuple) for row in table) else "text"
        names = sorted({name for row in table for name in row if name not in _OWN})
        lines = [line for line in range(1, len(table) + len(bad) + 1) if line not in bad]
        columns = {
            f"{name}s": [row[name] for row in table]
            for name in ("date", "white", "black", "result")
        }
        if any("weight" in row for row in table):
            columns["weights"] = [row.get("weight", "1") for row in table]
        columns |= {name: [row.get(name, "") for row in table] for name in names}
        rejects = [Note(line, "bad row", "...", "dropped") for line in bad]
        moves = np.array([row.get("moves", 0) for row in table], np.int64)
        read = text_table(lines[: len(table)], columns, rejects, moves, kind=kind)
        records = FileRecords(f"file{number}", read)
        collector.add(records, "csv", digest="", size=0)
        bad = []
    return collector.collected()


def records_of(
    *files: Iterable[Row], data: DataConfig | None = None, rejects: Iterable[int] = ()
) -> Records:
    """The records of `collected_of`, selected."""
    return make_records(collected_of(*files, data=data, rejects=rejects))


def game(
    white: str, black: str, result: object = "1-0", date: str = "1858", **further: object
) -> dict[str, object]:
    """One row."""
    return {"white": white, "black": black, "result": result, "date": date, **further}


def reasons(records: Records) -> list[str | None]:
    """Why each record is not used."""
    return [(None, *DROP_REASONS)[code] for code in records.reject_code.tolist()]
