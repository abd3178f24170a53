"""Read games: files, folders and streams in, one table of all records or of games out."""

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from itertools import groupby
from pathlib import Path
from typing import Final

from ttt_cli.config.schema import DataConfig, SolverConfig
from ttt_cli.games.assemble import make_games, make_records
from ttt_cli.games.collect import Collected, Collector
from ttt_cli.games.corrections import correct_games, read_corrections
from ttt_cli.games.selection import filters_need_all_games
from ttt_cli.games.table import Games, Records
from ttt_cli.parallel.cluster import cluster_asked, local_workers
from ttt_cli.reading import reports as reasons
from ttt_cli.reading.archives import OTHER_FILE
from ttt_cli.reading.input import Input
from ttt_cli.reading.reports import FileReport, Problem, ReadReport
from ttt_cli.reading.sources import Named, find_sources, read_sources
from ttt_cli.storage import MEMORY, ArrayFiles, ArrayStorage, folder_of_files
from ttt_cli.support.errors import DataError
from ttt_cli.support.progress import SILENT, Progress

_DEFAULT: Final = DataConfig()

# Problems by which no record is lost or changed.
_HARMLESS: Final = (
    OTHER_FILE,
    reasons.NUMBERED_DATE,
    reasons.IDLE_ALIAS,
    reasons.UNKNOWN_PEOPLE,
    reasons.CORRECTION,
)


def read_games(
    sources: Sequence[Named],
    data: DataConfig = _DEFAULT,
    *,
    progress: Progress = SILENT,
    storage: ArrayStorage = MEMORY,
    jobs: int | None = None,
) -> Games:
    """Read files (`-` is standard input, streams give bytes), folders and patterns into one table of games.

    The columns are in `storage`. Records that cannot be used, or that the filters of `data` do not want, are left
    out, counted and reported in `Games.report`; `data.corrections` are applied to the others, in memory. `jobs`
    processes read, None: as many as pay off. Raises DataError when a file cannot be read, when what was named has no
    record that could be a game, when filters leave none, and for what `data.strict` and `data.max_errors` do not let
    pass; ConfigError when configured columns, players or an encoding do not exist; SetupError when the disk is full.
    """
    collector = Collector(data, storage=storage)
    games = make_games(_collect(sources, collector, data, progress, jobs=jobs), progress)
    if data.corrections is not None:
        games = correct_games(games, read_corrections(data.corrections))
    if data.strict:
        _refuse_problems(games.report.problems)
    if not len(games):
        what = f"none of the {games.report.rows:,} records is left: {games.report.dropped_words}"
        hint = "ask for less with --years, --players and the like, or in data.filter"
        if reasons.ENGINE in games.report.dropped and data.drop is None:
            hint = "data.drop: [] keeps games with computers"
        raise DataError(what, hint=hint)
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
    if not needs_files(solver):
        yield read_games(named, data, progress=progress)
        return
    if filters_need_all_games(data):
        tell(
            "all games are held in memory: filter.min_games and filter.largest_group look at all games"
        )
    scratch = None if solver.scratch is None else Path(solver.scratch)
    with folder_of_files(scratch, "games") as folder:
        jobs = 1 if solver.memory else None
        yield read_games(named, data, progress=progress, storage=ArrayFiles(folder), jobs=jobs)


def needs_files(solver: SolverConfig) -> bool:
    """Whether the games of a fit are in files: in bounded memory, or for workers of a cluster that find these."""
    address = cluster_asked(solver.cluster)
    if solver.memory:
        return True
    if not address:
        return False
    return bool(solver.scratch) or local_workers(address) is not None


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
    records = make_records(_collect(sources, collector, data, progress, on_unusable))
    if data.strict:
        _refuse_problems(records.problems)
    return records


def _collect(
    named: Sequence[Named],
    collector: Collector,
    data: DataConfig,
    progress: Progress,
    on_unusable: Callable[[DataError], None] | None = None,
    jobs: int | None = None,
) -> Collected:
    """Collect the records of all files. Raises DataError for sources without games, and beyond `data.max_errors`."""
    if not named:
        raise DataError(
            "no file of games was named", hint="name PGN or CSV files, or - for standard input"
        )
    sources, skipped_by_name = find_sources(named)
    skipped = list(skipped_by_name)
    sizes = [Input(source.what).size for source in sources]
    known_sizes = [size for size in sizes if size is not None]
    total = float(sum(known_sizes)) if len(known_sizes) == len(sizes) else None
    n_dropped = 0
    with (
        progress.task("reading games", total, "B") as bar,
        closing(read_sources(sources, data, bar, jobs=jobs)) as parts,
    ):
        for origin, parts_of_origin in groupby(parts, lambda part: part.source.origin):
            reports = []
            for part in parts_of_origin:
                file = part.file
                if isinstance(file, Problem):
                    skipped.append(file)
                    continue
                report = collector.add(file.records, file.kind, digest=file.digest, size=file.size)
                reports.append(report)
                n_dropped += sum(report.dropped.values())
                if data.max_errors is not None and n_dropped > data.max_errors:
                    raise _too_many_errors(collector.problems, n_dropped, data.max_errors)
            if not any(report.used for report in reports):
                error = _nothing_usable(named[origin], reports, collector.problems)
                if on_unusable is None or not any(report.rows for report in reports):
                    raise error
                on_unusable(error)
    if arrow := sys.modules.get("pyarrow"):
        arrow.default_memory_pool().release_unused()
    return collector.collected(skipped)


def _too_many_errors(problems: Iterable[Problem], n_dropped: int, max_errors: int) -> DataError:
    first = _first_dropped(problems)
    what = f"{first.reason}: {first.detail}; {n_dropped:,} records so far cannot be used"
    return DataError(what, where=first.place, hint=f"data.max_errors lets {max_errors:,} pass")


def _first_dropped(problems: Iterable[Problem]) -> Problem:
    """The first problem of a single record that was dropped, passing over those of whole columns."""
    return next(
        problem
        for problem in problems
        if problem.action == reasons.DROPPED and problem.reason not in reasons.OF_COLUMNS
    )


def _nothing_usable(
    named: Named, reports: Sequence[FileReport], problems: Sequence[Problem]
) -> DataError:
    """The error for what was named, where no record can be a game; `reports` are those of its files."""
    if not reports:
        return DataError("contains no file of games", where=str(named))
    total = ReadReport(tuple(reports))
    is_single = len(reports) == 1
    where = reports[0].path if is_single else str(named)
    in_files = "" if is_single else f" in {len(reports):,} files"
    if not total.rows:
        hint = "set data.format to pgn or csv if it was taken for the wrong kind"
        return DataError(
            f"holds no records{in_files} (read as {reports[0].kind})", where=where, hint=hint
        )
    paths = {report.path for report in reports}
    dropped = [
        problem
        for problem in problems
        if problem.file in paths and problem.action == reasons.DROPPED
    ]
    hint = _remedy_of_column(dropped) or _first_dropped_words(dropped, is_single=is_single)
    message = f"none of its {total.rows:,} records{in_files} can be used: {total.dropped_words}"
    return DataError(message, where=where, hint=hint)


def _remedy_of_column(dropped: Sequence[Problem]) -> str:
    """What to do about all records of a column, by the first problem of a whole column; empty without one."""
    remedies = [problem.detail for problem in dropped if problem.reason in reasons.OF_COLUMNS]
    return remedies[0] if remedies else ""


def _first_dropped_words(dropped: Sequence[Problem], *, is_single: bool) -> str:
    """Where the first dropped record is, and why: its line in a single file, unless other records share that."""
    first = _first_dropped(dropped)
    has_own_line = first.line < reasons.LINES
    where = f"in line {first.line:,}" if is_single and has_own_line else first.place
    return f"the first is {where}: {first.reason} ({first.detail})"


def _refuse_problems(problems: Sequence[Problem]) -> None:
    """Raise DataError, with the first of them, when there are problems by which a record is lost or changed."""
    if serious := [problem for problem in problems if problem.reason not in _HARMLESS]:
        first = serious[0]
        more = f"; {len(serious):,} problems in all" if len(serious) > 1 else ""
        hint = "under data.strict every problem is an error; `ttt games` lists them"
        raise DataError(f"{first.reason}: {first.detail}{more}", where=first.place, hint=hint)
