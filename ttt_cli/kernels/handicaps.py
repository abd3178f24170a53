"""Handicaps: the code of a game's outcome also tells which fixed skill difference was added to the first player's.

The low bits of a code are the outcome (see `colours`), the others a place in `handicap`, in points; place 0 is
none. Few different handicaps were ever given, so a game needs no number of its own.
"""

from typing import Final

from ttt_cli.kernels.compile import inner

OUTCOME_BITS: Final = 3
PLACES: Final = 1 << (8 - OUTCOME_BITS)  # in a byte
_OUTCOME: Final = (1 << OUTCOME_BITS) - 1


@inner
def outcome_of(code):
    """The outcome in a code."""
    return code & _OUTCOME


@inner
def handicap_of(code, handicap):
    """What is added to the first player's skill, points."""
    return handicap[code >> OUTCOME_BITS]
