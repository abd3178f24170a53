"""Files of games in, one table of games out."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import BinaryIO, Final

from ttt_cli.config.schema import DataConfig
from ttt_cli.errors import DataError
from ttt_cli.games.collect import Collector
from ttt_cli.games.detect import Kind, recognise, refuse_foreign
from ttt_cli.games.file_records import FileRecords
from ttt_cli.games.records import DROPPED, Batch
from ttt_cli.games.results import ResultKind
from ttt_cli.games.streams import DamagedInputError, Input
from ttt_cli.games.table import FileReport, Games, Problem
from ttt_cli.games.text import HEAD, marked_encoding, peek, plain_blocks
from ttt_cli.progress import SILENT, Bar, Progress

_DEFAULT: Final = DataConfig()


def read_games(
    sources: Sequence[str | os.PathLike[str] | BinaryIO],
    data: DataConfig = _DEFAULT,
    *,
    progress: Progress = SILENT,
) -> Games:
    """Read files (`-` is standard input, streams give bytes) into one table of games.

    Records that cannot be used are left out, counted and told in `Games.report`.
    Raises DataError when a file cannot be read or gives no game at all, ConfigError when configured columns
    or an encoding do not exist.
    """
    if not sources:
        raise DataError("no file of games was named", hint="name PGN or CSV files, or - for standard input")
    inputs = [Input(source) for source in sources]
    sizes = [one.size for one in inputs]
    total = None if None in sizes else float(sum(size or 0 for size in sizes))
    collector = Collector()
    with progress.task("reading games", total, "B") as bar:
        for one in inputs:
            report = _read_file(one, data, collector, bar)
            if not report.used:
                raise _nothing(report, collector.problems)
    return collector.games()


def _read_file(source: Input, data: DataConfig, collector: Collector, bar: Bar) -> FileReport:
    head, unpacked = peek(source.blocks(bar), HEAD)
    refuse_foreign(head, source.name, encoding=data.encoding or marked_encoding(head))
    head, blocks = peek(plain_blocks(unpacked, data.encoding, source.name), HEAD)
    kind = recognise(head[:HEAD], source.name) if data.format == "auto" else data.format
    result_kind, batches = _reader(kind, blocks, data, source.name)
    records = FileRecords(source.name, result_kind)
    try:
        for batch in batches:
            records.add(batch)
    except DamagedInputError as error:
        message = f"{error.message}; {records.rows:,} records came before that"
        raise DataError(message, where=source.name, hint=error.hint) from error
    except DataError as error:
        if error.where:
            raise
        raise DataError(error.message, where=source.name, hint=error.hint) from error
    return collector.add(records, kind, digest=source.digest, size=source.count)


def _reader(
    kind: Kind, blocks: Iterator[bytes], data: DataConfig, name: str
) -> tuple[ResultKind, Iterator[Batch]]:
    if kind == "csv":
        from ttt_cli.games.delimited import read_delimited

        return read_delimited(blocks, data, name)
    if data.reader == "chess":
        from ttt_cli.games.pgn_chess import read_pgn_chess

        return "text", read_pgn_chess(blocks)
    from ttt_cli.games.pgn import scan_large_pgn

    return "text", scan_large_pgn(blocks)


def _nothing(report: FileReport, problems: Sequence[Problem]) -> DataError:
    """The error for a file without a single game."""
    if not report.rows:
        hint = "set data.format to pgn or csv if it was taken for the wrong kind"
        return DataError(f"holds no records (read as {report.kind})", where=report.path, hint=hint)
    first = next(problem for problem in problems if problem.file == report.path and problem.action == DROPPED)
    reasons = ", ".join(f"{reason} {count:,}" for reason, count in report.dropped.items())
    return DataError(
        f"none of its {report.rows:,} records can be used: {reasons}",
        where=report.path,
        hint=f"the first is in line {first.line:,}: {first.reason} ({first.detail})",
    )
