"""Games at odds: the code of a game's outcome also tells which fixed lead the first player had.

The low bits of a code are the outcome (see `colours`), the others a place in `odds`, the leads in points; place 0 is
none. Few different odds were ever given, so a game needs no lead of its own.
"""

from __future__ import annotations

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
def lead_of(code, odds):
    """The lead of the first player, points."""
    return odds[code >> OUTCOME_BITS]
