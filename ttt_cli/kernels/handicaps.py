"""Handicaps: the code of a game's outcome also tells what fixed number of points is added to the first player's skill.

The low bits of a code are the outcome (see `colours`), the others a place in `handicap`, in points; place 0 is
none. Few different handicaps were ever given, so a game needs no number of its own. A game on neutral ground is one at
White's advantage taken back.
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
def place_of(code):
    """The place of the handicap in a code."""
    return code >> OUTCOME_BITS


@inner
def handicap_of(code, handicap):
    """What is added to the first player's skill, points."""
    return handicap[place_of(code)]
