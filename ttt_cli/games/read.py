"""Files of games in, one table of games out, unless more is wrong with them than may be."""

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Final

from ttt_cli.cluster import cluster_asked, local_workers
from ttt_cli.config.schema import DataConfig, SolverConfig
from ttt_cli.games.ingest import Collector
from ttt_cli.games.records import Records
from ttt_cli.games.selection import needs_all
from ttt_cli.games.table import Games
from ttt_cli.reading.input import Input
from ttt_cli.reading.reports import (
    DROPPED,
    IDLE_ALIAS,
    LINES,
    NUMBERED_DATE,
    OF_COLUMNS,
    FileReport,
    Problem,
    ReadReport,
)
from ttt_cli.reading.sources import OTHER_FILE, Named, find_sources, read_sources
from ttt_cli.room import MEMORY, FileRoom, Room, folder_of_files
from ttt_cli.support.errors import DataError
from ttt_cli.support.progress import SILENT, Progress

_DEFAULT: Final = DataConfig()


def read_games(
    sources: Sequence[Named],
    data: DataConfig = _DEFAULT,
    *,
    progress: Progress = SILENT,
    room: Room = MEMORY,
    jobs: int | None = None,
) -> Games:
    """Read files (`-` is standard input, streams give bytes), folders and patterns into one table of games in `room`.

    Records that cannot be used, or that the filters of `data` do not want, are left out, counted and reported in
    `Games.report`. `jobs` processes read, None: as many as pay off. Raises DataError when a file cannot be read, when
    what was named has no record that could be a game, when filters leave none, and for what `data.strict` and
    `data.max_errors` do not let pass; ConfigError when configured columns, players or an encoding do not exist;
    SetupError when there is no room.
    """
    collector = Collector(data, room=room)
    skipped = _collect(sources, collector, data, progress, jobs=jobs)
    games = collector.games(skipped, progress)
    if data.strict:
        _refuse_problems(games.report.problems)
    if not len(games):
        dropped = ", ".join(f"{reason} {count:,}" for reason, count in games.report.dropped.items())
        what = f"none of the {games.report.rows:,} records is left: {dropped}"
        raise DataError(what, hint="ask for less with --years, --players and the like, or in data.filter")
    return games


@contextmanager
def games_for(
    named: Sequence[Named],
    data: DataConfig,
    solver: SolverConfig,
    *,
    progress: Progress = SILENT,
    tell: Callable[[str], object] = lambda _: None,
) -> Iterator[Games]:
    """The games in files for a fit, valid inside the block; `tell` receives notes on how they were read.

    They are in files with `solver.memory`, and on a cluster whose workers find these files, else in memory. Raises as
    `read_games`.
    """
    where = cluster_asked(solver.cluster)
    if not (solver.memory or (where and (solver.scratch or local_workers(where)))):
        yield read_games(named, data, progress=progress)
        return
    if needs_all(data):
        tell("all games are held in memory: filter.min_games and filter.largest_group look at all games")
    scratch = None if solver.scratch is None else Path(solver.scratch)
    with folder_of_files(scratch, "games") as folder:
        jobs = 1 if solver.memory else None
        yield read_games(named, data, progress=progress, room=FileRoom(folder), jobs=jobs)


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
    collector = Collector(data, everything=True)
    skipped = _collect(sources, collector, data, progress, on_unusable)
    records = collector.records()
    problems = (*skipped, *records.problems)
    if data.strict:
        _refuse_problems(problems)
    return replace(records, problems=problems)


def _collect(
    named: Sequence[Named],
    collector: Collector,
    data: DataConfig,
    progress: Progress,
    on_unusable: Callable[[DataError], None] | None = None,
    jobs: int | None = None,
) -> list[Problem]:
    """Add all files to the collector; returns those that were passed over.

    Raises DataError for sources without games, and for more problems than `data` lets pass.
    """
    if not named:
        raise DataError("no file of games was named", hint="name PGN or CSV files, or - for standard input")
    sources, skipped = find_sources(named)
    sizes = [Input(source.what).size for source in sources]
    total = None if None in sizes else float(sum(size or 0 for size in sizes))
    dropped = 0
    with (
        progress.task("reading games", total, "B") as bar,
        closing(read_sources(sources, data, bar, jobs=jobs)) as parts,
    ):
        for origin, group in groupby(parts, lambda part: part[0].origin):
            reports = []
            for _, part in group:
                if isinstance(part, Problem):
                    skipped.append(part)
                    continue
                reports.append(collector.add(part.records, part.kind, digest=part.digest, size=part.size))
                dropped += sum(reports[-1].dropped.values())
                if data.max_errors is not None and dropped > data.max_errors:
                    first = _first_dropped(collector.problems)
                    what = f"{first.reason}: {first.detail}; {dropped:,} records so far cannot be used"
                    hint = f"data.max_errors lets {data.max_errors:,} pass"
                    raise DataError(what, where=first.place, hint=hint)
            if not any(report.used for report in reports):
                error = _nothing(named[origin], reports, collector.problems)
                if on_unusable is None or not any(report.rows for report in reports):
                    raise error
                on_unusable(error)
    if arrow := sys.modules.get("pyarrow"):
        arrow.default_memory_pool().release_unused()
    if data.strict:
        _refuse_problems((*skipped, *collector.problems))
    return skipped


def _first_dropped(problems: Iterable[Problem]) -> Problem:
    return next(one for one in problems if one.action == DROPPED and one.reason not in OF_COLUMNS)


def _nothing(named: Named, reports: Sequence[FileReport], problems: Sequence[Problem]) -> DataError:
    """The error for a source without a single game."""
    if not reports:
        return DataError("contains no file of games", where=str(named))
    rows = sum(report.rows for report in reports)
    where, what = (reports[0].path, "") if len(reports) == 1 else (str(named), f" in {len(reports):,} files")
    if not rows:
        hint = "set data.format to pgn or csv if it was taken for the wrong kind"
        return DataError(f"holds no records{what} (read as {reports[0].kind})", where=where, hint=hint)
    paths = {report.path for report in reports}
    ours = [problem for problem in problems if problem.file in paths and problem.action == DROPPED]
    first = _first_dropped(ours)
    place = f"in line {first.line:,}" if len(reports) == 1 and first.line < LINES else first.place
    dropped = reports[0].dropped if len(reports) == 1 else ReadReport(tuple(reports)).dropped
    reasons = ", ".join(f"{reason} {count:,}" for reason, count in dropped.items())
    remedy = next((problem.detail for problem in ours if problem.reason in OF_COLUMNS), None)
    return DataError(
        f"none of its {rows:,} records{what} can be used: {reasons}",
        where=where,
        hint=remedy or f"the first is {place}: {first.reason} ({first.detail})",
    )


def _refuse_problems(problems: Sequence[Problem]) -> None:
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
