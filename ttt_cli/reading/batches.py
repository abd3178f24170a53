"""What readers hand over: records as written, column by column, with what was odd about them."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ttt_cli.config.schema import Period

ResultKind = Literal["text", "scores", "goals", "sport", "winners"]  # how results are written

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
STATUS: Final = "status"
TEAM: Final = "team"
ENGINE: Final = "engine"
OTHER_YEARS: Final = "other years"
OTHER_PLAYERS: Final = "other players"
OTHER_EVENT: Final = "other event"
EXCLUDED_EVENT: Final = "excluded event"
EVENT_SETS: Final = (  # ready-made sets of events, each a reason of its own
    *("simul", "blindfold", "correspondence", "consultation", "odds", "rapid", "blitz", "variants", "set-up"),
)
DUPLICATE: Final = "duplicate"
FEW_GAMES: Final = "too few games"
OTHER_GROUP: Final = "outside the largest group"
DROP_REASONS: Final = (
    *(
        BAD_ROW,
        AMBIGUOUS_TAGS,
        TOO_LONG,
        NO_PLAYER,
        UNNAMED_PLAYER,
        SAME_PLAYER,
        NO_DATE,
        BAD_DATE,
        NO_RESULT,
    ),
    *(FORFEIT, UNKNOWN_RESULT, BAD_SCORE, BAD_WEIGHT, UNKNOWN_ODDS, BAD_NEUTRAL, STATUS, TEAM, ENGINE),
    *(
        OTHER_YEARS,
        OTHER_PLAYERS,
        OTHER_EVENT,
        EXCLUDED_EVENT,
        *EVENT_SETS,
        DUPLICATE,
        FEW_GAMES,
        OTHER_GROUP,
    ),
)
REJECT_CODE: Final = {reason: code for code, reason in enumerate(DROP_REASONS, 1)}  # 0: used

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
AMBIGUOUS_DATE: Final = "day or month first"
TWO_DIGIT_YEAR: Final = "years of two digits"
NUMBERED_DATE: Final = "numbers for dates"
IDLE_ALIAS: Final = "aliases of nobody"
WINNER_FIRST: Final = "winner named first"
# Reported once of a file.
OF_COLUMNS: Final = (
    AMBIGUOUS_DATE,
    TWO_DIGIT_YEAR,
    NUMBERED_DATE,
    UNKNOWN_STATUS,
    OTHER_ODDS,
    WINNER_FIRST,
    IDLE_ALIAS,
)

DROPPED: Final = "dropped"
REPAIRED: Final = "repaired"
KEPT: Final = "kept"


class Note(NamedTuple):
    """Something odd at a place in the file being read: a Problem that does not know its file yet."""

    line: int
    reason: str
    detail: str
    action: str


class Batch(NamedTuple):
    """Consecutive records as columns of equal length, values as written (bytes, text, or tuples of text).

    `dates` are texts or (year, month, day) parts; `results` are texts or (White's, Black's) score.
    `weights` is None where there is no such column. `rejects` are records that could not be split into columns:
    each is one more, dropped. `notes` are oddities of records that are counted elsewhere. `further` holds more
    columns by name (`event`, `round`); `moves` a hash of each game's moves, 0 where there are none.
    """

    lines: Sequence[int] | NDArray[np.int64]
    dates: Sequence[Hashable]
    whites: Sequence[Hashable]
    blacks: Sequence[Hashable]
    results: Sequence[Hashable]
    weights: Sequence[Hashable] | None = None
    rejects: Sequence[Note] = ()
    notes: Sequence[Note] = ()
    further: Mapping[str, Sequence[Hashable]] = MappingProxyType({})
    moves: NDArray[np.int64] | None = None


class Table(NamedTuple):
    """A file about to be read: how its results are written, its records, of which periods dates may be numbers,
    whether it may be of chess, and whether its columns are of winners and losers.
    """

    kind: ResultKind
    batches: Iterator[Batch]
    unit: Period | None = None
    chess: bool = True
    winners: bool = False
