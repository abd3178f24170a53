"""How much may be wrong with what is read: nothing under `data.strict`, so many records with `data.max_errors`."""

from collections.abc import Sequence

from ttt_cli.config.schema import DataConfig
from ttt_cli.errors import DataError
from ttt_cli.reading.reasons import DROPPED, IDLE_ALIAS, NUMBERED_DATE, OF_COLUMNS
from ttt_cli.reading.reports import FileReport, Problem
from ttt_cli.reading.sources import OTHER_FILE


class ErrorLimit:
    """Counts records that cannot be used, file by file, and knows when there are too many."""

    def __init__(self, data: DataConfig) -> None:
        self._limit = data.max_errors
        self._dropped = 0

    def exceeded_by(self, report: FileReport) -> bool:
        """Whether this file makes it more than `data.max_errors`."""
        self._dropped += sum(report.dropped.values())
        return self._limit is not None and self._dropped > self._limit

    def error(self, problems: Sequence[Problem]) -> DataError:
        """What is to be told, given all problems up to now."""
        dropped = [
            problem for problem in problems if problem.action == DROPPED and problem.reason not in OF_COLUMNS
        ]
        first = dropped[0]
        return DataError(
            f"{first.reason}: {first.detail}; {self._dropped:,} records so far cannot be used",
            where=first.place,
            hint=f"data.max_errors lets {self._limit:,} pass",
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
