"""What becomes of records and why, in the words that are counted in reports."""

from collections.abc import Iterable
from typing import Final

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
    *(BAD_ROW, AMBIGUOUS_TAGS, TOO_LONG, NO_PLAYER, UNNAMED_PLAYER, SAME_PLAYER, NO_DATE, BAD_DATE),
    *(NO_RESULT, FORFEIT, UNKNOWN_RESULT, BAD_SCORE, BAD_WEIGHT, UNKNOWN_ODDS, BAD_NEUTRAL),
    *(STATUS, TEAM, ENGINE, OTHER_YEARS, OTHER_PLAYERS, OTHER_EVENT, EXCLUDED_EVENT, *EVENT_SETS),
    *(DUPLICATE, FEW_GAMES, OTHER_GROUP),
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
    *(AMBIGUOUS_DATE, TWO_DIGIT_YEAR, NUMBERED_DATE, UNKNOWN_STATUS, OTHER_ODDS, WINNER_FIRST, IDLE_ALIAS),
)

DROPPED: Final = "dropped"
REPAIRED: Final = "repaired"
KEPT: Final = "kept"


def codes_of(why: Iterable[str | None]) -> list[int]:
    """The reject code of each reason, 0 for None."""
    return [REJECT_CODE[reason] if reason else 0 for reason in why]
