"""Which PGN tags are read, by number; shared by all scanners."""

from typing import Final

# The first are columns of the records as well; from FEN and SetUp follows whether a game is set up, and UTCDate stands
# for a Date that is not known.
(
    DATE,
    WHITE,
    BLACK,
    RESULT,
    EVENT,
    SITE,
    ROUND,
    WHITE_ID,
    BLACK_ID,
    VARIANT,
    TIME_CONTROL,
    SETUP,
    FEN,
    UTC_DATE,
) = range(14)
TAGS: Final = 14
COLUMNS: Final = TIME_CONTROL + 1
NAMES: Final = (
    *(b"Date", b"White", b"Black", b"Result", b"Event", b"Site", b"Round"),
    *(b"WhiteFideId", b"BlackFideId", b"Variant", b"TimeControl", b"SetUp", b"FEN", b"UTCDate"),
)
USUAL: Final = b"rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -"  # the position at the start, as in FEN
SET_UP: Final = b"set-up"  # the variant of a game from another one
SET_UP_NUMBER: Final = 1  # its number among the strings of a file
TAG_LIMIT: Final = 1 << 16  # bytes that a tag may take
