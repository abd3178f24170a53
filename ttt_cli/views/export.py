"""The tables of a run as rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ttt_cli.runs.evidence import evidence_table
from ttt_cli.runs.schema import PUBLIC
from ttt_cli.views.rows import Rows

if TYPE_CHECKING:
    from ttt_cli.runs.run import Run


def table_rows(run: Run, table: str) -> Rows:
    """`skills`, `players`, `games` or `evidence`; the rows come from the file as they are asked for."""
    if table == "evidence":
        columns, points = evidence_table(run.evidence_points())
        return Rows(columns, points, decimals={"log_evidence": 3})
    columns, rows = run.stream(PUBLIC[table])
    return Rows(columns, rows, parquet=lambda path: run.copy_to(path, "parquet", PUBLIC[table]))
