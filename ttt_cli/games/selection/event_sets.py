"""Ready-made sets of events: what simuls, blindfold games, rapid chess and the like are called, or their time control.

Patterns are for folded texts (`ttt_cli.folding`) of event, site and round: lower case, no accents, single blanks.
Matches by cable, telegraph, telephone or radio are not correspondence: they were played in one sitting.

Time controls are as PGN, lichess and chess.com write them: seconds, with the increment of each move, `300+3`, `600`;
moves in seconds, `40/7200:3600`, `1/86400`; and minutes, `90+30`, `15+10`, for so long an increment is not added to
seconds. What counts is the time for 40 moves.
"""

import re
from collections.abc import Mapping
from typing import Final

from ttt_cli.folding import fold

_EVENTS: Final[Mapping[str, str]] = {
    "simul": (
        r"sim|simul|simuls|fsim|sims|simult\w*|simulan\w*|clocksim\w*|blindsim\w*|reihenspiel\w*|uhrensim\w*|"
        r"vorgabesim\w*|seans\w*|сеанс\w*"
    ),
    "blindfold": (
        r"blindfold\w*|blindf|blindsim\w*|blindlings\w*|blindspiel\w*|blindpartie\w*|blindschach\w*|blindskak\w*|"
        r"blind(?! (?:ch|wch|ech|ol|olympiad\w*|championship\w*|people|persons|players|team\w*|chess players))"
        r"(?<!the blind)|sans voir|aveugle|a l aveugle|(?:a la |a )?ciegas?|alla cieca|cieca|vslepuju|вслепую"
    ),
    "correspondence": (
        r"corr|corres|corresp\w*|correspond\w*|korrespond\w*|fernschach\w*|fernpartie\w*|fernturnier\w*|fern|postal\w*|"
        r"email\w*|e mail|iccf\w*|webserver|telex\w*|telechess|teleschach|briefschach\w*|briefpartie\w*|brevskak\w*|"
        r"brevsjakk\w*|korrschack\w*|posta|per posta|levelezesi\w*|perepisk\w*|zaochn\w*|заочн\w*|переписк\w*"
    ),
    "consultation": r"consult\w*|konsult\w*|allies|alliierte\w*|beratung\w*|beratende\w*|сов(?:ещат\w*|етова\w*)",
    "odds": (
        r"odds|handicap\w*|handikap\w*|vorgabe\w*|pawn (?:and )?(?:move|two|2)|p and (?:m|move|2)|con vantaggio|"
        r"con ventaja|partie a avantage|a avantage|фор[аыу]"
    ),
    "rapid": (
        r"(?<!grand )rapid(?! city)\w*|rpd|semirapid\w*|semi rapid\w*|quickplay|quick|g (?:15|20|25|30)|active|"
        r"activeplay|aktiv\w*schach|aktivschach\w*|schnellschach\w*|schnellturnier\w*|semilampo|rapidas?|rapides?|snabbschack\w*|"
        r"hurtigskak\w*|hurtigsjakk\w*|быстры\w*|рапид\w*"
    ),
    "blitz": (
        r"blitz\w*|blits\w*|blixt\w*|blic\w*|bullet|lightning|lynskak\w*|lynsjakk\w*|snelschaak\w*|vluggeren|lampo|"
        r"relampago\w*|armageddon|armag|блиц\w*|молни\w*"
    ),
    "variants": (
        r"chess ?960|960|c960|fischer ?random\w*|fischerandom|frc|fischer chess|freestyle(?: chess)?|random chess|"
        r"shuffle\w*|bughouse|crazyhouse|kriegspiel|atomic|suicide|giveaway|antichess|losing chess|three check|3 check|"
        r"horde|racing kings|king of the hill|marseill\w* chess|progressive chess|no castling|transcendental chess"
    ),
    "set-up": r"set ?up(?: position\w*)?|from position|composition\w*|(?:endgame|end game) stud(?:y|ies)|problem",
}
_PATTERNS: Final = {name: re.compile(rf"(?<!\w)(?:{words})(?!\w)") for name, words in _EVENTS.items()}
_USUAL_VARIANTS: Final = frozenset(
    {"", "chess", "classic", "classical", "normal", "orthodox", "regular", "standard"}
)
_SET_UP: Final = frozenset({"set up", "setup", "from position", "fromposition", "custom", "thematic"})
_CONTROL: Final = re.compile(r"\*?(?:(\d+)/)?(\d+)(?:\+(\d+(?:\.\d+)?))?(?::.*)?", re.ASCII)
_MOVES: Final = 40
_BLITZ: Final = 600  # seconds, from which on a game is rapid
_RAPID: Final = 3600  # and from which on it is not
_DAY: Final = 86400  # seconds for a move by correspondence
_SHORT: Final = 180  # seconds that are minutes when each move adds so many of them:
_LONG: Final = 10
_WORDS: Final = {"daily": "correspondence", "ultrabullet": "blitz"}  # besides those of events


def names_set(folded: str, name: str) -> bool:
    """Whether a folded text of event, site or round says that its games belong to a set."""
    return _PATTERNS[name].search(folded) is not None


def variant_is(folded: str, name: str) -> bool:
    """Whether a folded variant belongs to the set `variants`, or to `set-up`."""
    if name == "set-up":
        return folded in _SET_UP
    return name == "variants" and folded not in _USUAL_VARIANTS and folded not in _SET_UP


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
