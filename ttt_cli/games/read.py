"""Files of games in, one table of games out, unless more is wrong with them than may be."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from itertools import groupby
from typing import Final

from ttt_cli.config.schema import DataConfig
from ttt_cli.errors import DataError
from ttt_cli.games.ingest import Collector
from ttt_cli.games.records import Records, games_of
from ttt_cli.games.table import Games
from ttt_cli.progress import SILENT, Progress
from ttt_cli.reading.reasons import DROPPED, IDLE_ALIAS, NUMBERED_DATE, OF_COLUMNS
from ttt_cli.reading.reports import LINES, FileReport, Problem, ReadReport
from ttt_cli.reading.source import read_sources
from ttt_cli.reading.sources import OTHER_FILE, Named, Source, find_sources
from ttt_cli.reading.streams import Input

_DEFAULT: Final = DataConfig()


def read_games(
    sources: Sequence[Named],
    data: DataConfig = _DEFAULT,
    *,
    progress: Progress = SILENT,
) -> Games:
    """Read files (`-` is standard input, streams give bytes), folders and patterns into one table of games.

    Records that cannot be used, or that the filters of `data` do not want, are left out, counted and reported in
    `Games.report`. Raises DataError when a file cannot be read, when what was named has no record that could be a game,
    when filters leave none, and for what `data.strict` and `data.max_errors` do not let pass; ConfigError when
    configured columns, players or an encoding do not exist.
    """
    games = games_of(_collect(sources, Collector(data), data, progress))
    if not len(games):
        raise no_games(games.report)
    return games


def no_games(report: ReadReport) -> DataError:
    """The error for records of which filters leave no game."""
    dropped = ", ".join(f"{reason} {count:,}" for reason, count in report.dropped.items())
    said = f"none of the {report.rows:,} records is left: {dropped}"
    return DataError(said, hint="ask for less with --years, --players and the like, or in data.filter")


def read_records(
    sources: Sequence[Named],
    data: DataConfig = _DEFAULT,
    *,
    progress: Progress = SILENT,
    on_unusable: Callable[[DataError], None] | None = None,
) -> Records:
    """Read files as `read_games` does into the table of all records, with what became of each.

    Raises as `read_games`, except that filters may leave nothing. `on_unusable` is called instead where a source has
    records, none of which could be a game.
    """
    return _collect(sources, Collector(data, everything=True), data, progress, on_unusable or _refuse)


def _refuse(error: DataError) -> None:
    raise error


def _collect(
    named: Sequence[Named],
    collector: Collector,
    data: DataConfig,
    progress: Progress,
    on_unusable: Callable[[DataError], None] = _refuse,
) -> Records:
    """All records, and what was odd about them and about files."""
    sources, skipped = files_named(named)
    with (
        progress.task("reading games", bytes_of(sources), "B") as bar,
        closing(read_sources(sources, data, bar)) as parts,
    ):

        def taken() -> Iterator[tuple[Source, FileReport | Problem]]:
            for source, part in parts:
                if isinstance(part, Problem):
                    yield source, part
                else:
                    added = collector.add(part.records, part.kind, digest=part.digest, size=part.size)
                    yield source, added

        skipped += checked(named, taken(), lambda: collector.problems, data, on_unusable)
    records = collector.records()
    problems = (*skipped, *records.problems)
    if data.strict:
        refuse_problems(problems)
    return replace(records, problems=problems)


def files_named(named: Sequence[Named]) -> tuple[list[Source], list[Problem]]:
    """The files to read, and those that are passed over. Raises DataError."""
    if not named:
        raise DataError("no file of games was named", hint="name PGN or CSV files, or - for standard input")
    return find_sources(named)


def bytes_of(sources: Sequence[Source]) -> float | None:
    """How much there is to read, as stored; None where that is not known."""
    sizes = [Input(source.what).size for source in sources]
    return None if None in sizes else float(sum(size or 0 for size in sizes))


def checked(
    named: Sequence[Named],
    taken: Iterable[tuple[Source, FileReport | Problem]],
    problems: Callable[[], Sequence[Problem]],
    data: DataConfig,
    on_unusable: Callable[[DataError], None] = _refuse,
) -> list[Problem]:
    """Go through the files that were `taken` in, in the order of their sources; returns those that were passed over.

    `problems` are those of records so far. Raises DataError for sources without games, and for more problems than
    `data` lets pass.
    """
    dropped, skipped = 0, []
    for origin, group in groupby(taken, lambda part: part[0].origin):
        reports = []
        for _, report in group:
            if isinstance(report, Problem):
                skipped.append(report)
                continue
            dropped += sum(report.dropped.values())
            if data.max_errors is not None and dropped > data.max_errors:
                raise _too_many(problems(), dropped, data.max_errors)
            reports.append(report)
        if not any(report.used for report in reports):
            error = _nothing(named[origin], reports, problems())
            (on_unusable if any(report.rows for report in reports) else _refuse)(error)
    if data.strict:
        refuse_problems((*skipped, *problems()))
    return skipped


def _nothing(named: Named, reports: Sequence[FileReport], problems: Sequence[Problem]) -> DataError:
    """The error for a source without a single game."""
    if not reports:
        return DataError("holds no file of games", where=str(named))
    rows = sum(report.rows for report in reports)
    where, what = (reports[0].path, "") if len(reports) == 1 else (str(named), f" in {len(reports):,} files")
    if not rows:
        hint = "set data.format to pgn or csv if it was taken for the wrong kind"
        return DataError(f"holds no records{what} (read as {reports[0].kind})", where=where, hint=hint)
    paths = {report.path for report in reports}
    ours = [problem for problem in problems if problem.file in paths and problem.action == DROPPED]
    first = next(problem for problem in ours if problem.reason not in OF_COLUMNS)
    place = f"in line {first.line:,}" if len(reports) == 1 and first.line < LINES else first.place
    dropped = reports[0].dropped if len(reports) == 1 else ReadReport(tuple(reports)).dropped
    reasons = ", ".join(f"{reason} {count:,}" for reason, count in dropped.items())
    remedy = next((problem.detail for problem in ours if problem.reason in OF_COLUMNS), None)
    return DataError(
        f"none of its {rows:,} records{what} can be used: {reasons}",
        where=where,
        hint=remedy or f"the first is {place}: {first.reason} ({first.detail})",
    )


def _too_many(problems: Sequence[Problem], dropped: int, most: int) -> DataError:
    """The error for more records that cannot be used than `data.max_errors`, given all problems up to now."""
    first = next(one for one in problems if one.action == DROPPED and one.reason not in OF_COLUMNS)
    return DataError(
        f"{first.reason}: {first.detail}; {dropped:,} records so far cannot be used",
        where=first.place,
        hint=f"data.max_errors lets {most:,} pass",
    )


def refuse_problems(problems: Sequence[Problem]) -> None:
    """Raise DataError, with the first of them, when there are problems; files that are no games by name are none."""
    serious = [
        problem for problem in problems if problem.reason not in (OTHER_FILE, NUMBERED_DATE, IDLE_ALIAS)
    ]
    if not serious:
        return
    first = serious[0]
    more = f"; {len(serious):,} problems in all" if len(serious) > 1 else ""
    raise DataError(
        f"{first.reason}: {first.detail}{more}",
        where=first.place,
        hint="under data.strict every problem is an error; `ttt games` lists them",
    )
