"""What becomes of records and why: reasons, problems and the reports that count them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from ttt_cli.config.event_set_names import EVENT_SETS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# Why a record is not used, in the order in which the first that applies is counted.
BAD_ROW: Final = "bad row"
AMBIGUOUS_TAGS: Final = "ambiguous tags"
TOO_LONG: Final = "too long"
NO_PLAYER: Final = "no player"
UNNAMED_PLAYER: Final = "unnamed player"
SAME_PLAYER: Final = "same player twice"
NO_DATE: Final = "no date"
BAD_DATE: Final = "bad date"
NO_RESULT: Final = "no result"
FORFEIT: Final = "forfeit"
UNKNOWN_RESULT: Final = "unknown result"
BAD_SCORE: Final = "bad match score"
BAD_WEIGHT: Final = "bad weight"
UNKNOWN_ODDS: Final = "unknown odds"
BAD_NEUTRAL: Final = "bad neutral"
BAD_P_TRUE: Final = "bad probability"
NO_COVARIATE: Final = "missing covariate"
STATUS: Final = "status"
TEAM: Final = "team"
ENGINE: Final = "engine"
OTHER_YEARS: Final = "other years"
OTHER_PLAYERS: Final = "other players"
OTHER_EVENT: Final = "other event"
EXCLUDED_EVENT: Final = "excluded event"
DUPLICATE: Final = "duplicate"
FEW_GAMES: Final = "too few games"
OTHER_GROUP: Final = "outside the largest group"
DROP_REASONS: Final = (
    *(BAD_ROW, AMBIGUOUS_TAGS, TOO_LONG, NO_PLAYER, UNNAMED_PLAYER, SAME_PLAYER, NO_DATE, BAD_DATE),
    *(
        NO_RESULT,
        FORFEIT,
        UNKNOWN_RESULT,
        BAD_SCORE,
        BAD_WEIGHT,
        UNKNOWN_ODDS,
        BAD_NEUTRAL,
        BAD_P_TRUE,
        NO_COVARIATE,
    ),
    *(STATUS, TEAM, ENGINE, OTHER_YEARS, OTHER_PLAYERS, OTHER_EVENT, EXCLUDED_EVENT, *EVENT_SETS),
    *(DUPLICATE, FEW_GAMES, OTHER_GROUP),
)
# Reject codes by reason; 0 is that of records that are used
REJECT_CODE: Final = dict(zip(DROP_REASONS, range(1, len(DROP_REASONS) + 1), strict=True))

# What is odd about a record that may still be used (a bad date can also be repaired).
DUPLICATE_TAG: Final = "duplicate tag"
MALFORMED_TAG: Final = "malformed tag"
RESULT_FROM_MOVETEXT: Final = "result from movetext"
CONTRADICTING_RESULT: Final = "contradicting result"
UNCLOSED_COMMENT: Final = "unclosed comment"
STRAY_TEXT: Final = "stray text"
FURTHER_NOTES: Final = "further notes"
UNKNOWN_STATUS: Final = "unknown status"
OTHER_ODDS: Final = "odds column ignored"
UNKNOWN_COVARIATE: Final = "covariate not known"
UNKNOWN_MARGIN: Final = "margin not known"
AMBIGUOUS_DATE: Final = "day or month first"
TWO_DIGIT_YEAR: Final = "years of two digits"
NUMBERED_DATE: Final = "numbers for dates"
FUTURE_DATE: Final = "dates in the future"
MIXED_ORDERS: Final = "day first and month first"
RESULT_WORDS: Final = "wins and losses as words"
GOALS: Final = "goals without sides of a sport"
IDLE_ALIAS: Final = "aliases of nobody"
CORRECTION: Final = "correction"
IDLE_CORRECTION: Final = "corrections of no game"
UNKNOWN_PEOPLE: Final = "people without games"
CONTRADICTING_PEOPLE: Final = "people who are described differently"
BAD_LIFE_DATE: Final = "births and deaths that are no dates"
# Reasons reported of a file of people
OF_PEOPLE: Final = (
    UNKNOWN_PEOPLE,
    CONTRADICTING_PEOPLE,
    BAD_LIFE_DATE,
)
WINNER_FIRST: Final = "winner named first"
# Reported once of a file.
OF_COLUMNS: Final = (
    *(
        AMBIGUOUS_DATE,
        TWO_DIGIT_YEAR,
        NUMBERED_DATE,
        FUTURE_DATE,
        MIXED_ORDERS,
        RESULT_WORDS,
        GOALS,
    ),
    *(UNKNOWN_STATUS, OTHER_ODDS, UNKNOWN_COVARIATE, UNKNOWN_MARGIN, WINNER_FIRST, IDLE_ALIAS),
    *OF_PEOPLE,
)

DROPPED: Final = "dropped"
REPAIRED: Final = "repaired"
KEPT: Final = "kept"


def codes_of(why: Iterable[str | None]) -> list[int]:
    """The reject code of each reason, 0 for None."""
    return [REJECT_CODE[reason] if reason else 0 for reason in why]


LINES: Final = 10**10  # more lines than a file has


@dataclass(frozen=True, slots=True)
class Problem:
    """One record, or a part of one, that was not as it should be.

    `reason` is a word or two from a fixed vocabulary, counted in reports: "no result", "bad date".
    """

    file: str
    line: int  # its position (see `RecordPositions`)
    reason: str
    detail: str  # the text in question
    action: str  # "dropped", "repaired" or "kept"

    @property
    def place(self) -> str:
        """`file:line`, with the number of the record where several share the line."""
        return position_text(self.file, self.line)


@dataclass(frozen=True)
class FileReport:
    """The counts of one input file; `rows == used + sum(dropped.values())`."""

    path: str
    kind: str  # "pgn", "csv"
    digest: str  # sha256 of the bytes as stored
    size: int  # bytes as stored
    rows: int
    used: int
    dropped: dict[str, int]  # reason -> rows
    noticed: dict[str, int] = field(default_factory=dict)  # remark on used rows -> rows
    chess: bool = True  # no columns of another sport: players are people
    home: bool = False  # columns named home and away: the side named first plays at home
    # The winner is always named first: who had White is unknown under data.colours: auto
    winner_first: bool = False
    # Rows of a file of orders of finish, of which `rows` counts the results of neighbours; 0 of other files
    race_rows: int = 0

    def __post_init__(self) -> None:
        if self.rows != self.used + sum(self.dropped.values()):
            raise ValueError(
                f"{self.path}: {self.rows} rows are not {self.used} used + {self.dropped}"
            )


@dataclass(frozen=True)
class InputFile:
    """Another input file than games; `digest` (SHA-256) and `size` are of its bytes as stored."""

    path: str
    digest: str
    size: int


@dataclass(frozen=True)
class PeopleReport(InputFile):
    """The file of people: `rows` people, of whom `used` are players."""

    rows: int
    used: int


@dataclass(frozen=True)
class ReadReport:
    """All files, problems row by row, the alias file that united names, the files of people and of corrections."""

    files: tuple[FileReport, ...] = ()
    problems: tuple[Problem, ...] = ()
    aliases: InputFile | None = None
    people: PeopleReport | None = None
    corrections: InputFile | None = None

    @property
    def rows(self) -> int:
        """Records seen, over all files."""
        return sum(file.rows for file in self.files)

    @property
    def used(self) -> int:
        """Records that became games, over all files."""
        return sum(file.used for file in self.files)

    @property
    def dropped(self) -> dict[str, int]:
        """Dropped records by reason, over all files, most frequent first."""
        return _total([file.dropped for file in self.files])

    @property
    def dropped_words(self) -> str:
        """`dropped` in words."""
        return ", ".join(f"{reason} {count:,}" for reason, count in self.dropped.items())

    @property
    def chess(self) -> bool:
        """Whether any file may be of chess."""
        return not self.files or any(file.chess for file in self.files)

    @property
    def home(self) -> bool:
        """Whether the side named first plays at home in all files."""
        return bool(self.files) and all(file.home for file in self.files)

    @property
    def noticed(self) -> dict[str, int]:
        """Used records with remarks, by remark, most frequent first."""
        return _total([file.noticed for file in self.files])


def _total(counts: Iterable[dict[str, int]]) -> dict[str, int]:
    total: Counter[str] = Counter()
    for count in counts:
        total += Counter(count)
    return dict(sorted(total.items(), key=lambda item: (-item[1], item[0])))


def position_text(path: str, position: int) -> str:
    """`file:line`, with the number of the record in the file where several share the line."""
    record, line = divmod(position, LINES)
    return f"{path}:{line} record {record}" if record else f"{path}:{line}"


class RecordPositions:
    """Computes the positions of the records of a file from their first lines, in order.

    A position is the line, plus LINES times the number of the record where several share the line.
    """

    def __init__(self) -> None:
        self._count = 0
        self._last = -1  # line
        self._shared = False

    def next(self, line: int) -> int:
        """The position of the next record."""
        self._count += 1
        self._shared = self._shared or line == self._last
        self._last = line
        return line + LINES * self._count * self._shared

    def several(self, lines: NDArray[np.int64]) -> NDArray[np.int64]:
        """The positions of the next records, shape (n,)."""
        import numpy as np

        if not len(lines):
            return lines
        if self._shared or lines[0] == self._last or np.any(lines[1:] == lines[:-1]):
            return np.array([self.next(line) for line in lines.tolist()])
        self._count = self._count + len(lines)
        self._last = int(lines[-1])
        return lines
