"""Which time controls are blitz, rapid or correspondence, as PGN, lichess and chess.com write them.

Seconds, with the increment of each move: `300+3`, `600`; `40/7200:3600` and `1/86400` are moves in seconds; `90+30` and
`15+10` are minutes, for so long an increment is not added to seconds. What counts is the time for 40 moves.
"""

import re
from typing import Final

from ttt_cli.folding import fold
from ttt_cli.games.selection.event_sets import names_set

_CONTROL: Final = re.compile(r"\*?(?:(\d+)/)?(\d+)(?:\+(\d+(?:\.\d+)?))?(?::.*)?", re.ASCII)
_MOVES: Final = 40
_BLITZ: Final = 600  # seconds, from which on a game is rapid
_RAPID: Final = 3600  # and from which on it is not
_DAY: Final = 86400  # seconds for a move by correspondence
_SHORT: Final = 180  # seconds that are minutes when each move adds so many of them:
_LONG: Final = 10
_WORDS: Final = {"daily": "correspondence", "ultrabullet": "blitz"}  # besides those of events


def control_is(text: str, name: str) -> bool:
    """Whether games with a time control, as written, belong to the set `blitz` (bullet too), `rapid` or another one."""
    match = _CONTROL.fullmatch("".join(text.split()))
    if match is None:
        folded = fold(text)
        return _WORDS.get(folded, "") == name or names_set(folded, name)
    moves, base, increment = int(match[1] or 0), float(match[2]), float(match[3] or 0)
    if not moves and base < _SHORT and increment >= _LONG:
        base *= 60
    seconds = base / moves * _MOVES if moves else base + _MOVES * increment
    limits = {
        "blitz": (0, _BLITZ),
        "rapid": (_BLITZ, _RAPID),
        "correspondence": (_MOVES * _DAY, float("inf")),
    }
    low, high = limits.get(name, (0, 0))
    return low <= seconds < high
