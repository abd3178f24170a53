"""Ready-made sets of games, such as simultaneous exhibitions or blitz, by event, variant and time control."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Final

import numpy as np

from ttt_cli.games.odds import is_even
from ttt_cli.reading.columns import spread
from ttt_cli.support.arrays import Mask
from ttt_cli.support.folding import fold, fold_all

if TYPE_CHECKING:
    from ttt_cli.games.table import Records

_WORDS_OF_SETS: Final[Mapping[str, str]] = {
    "simul": (
        r"sim|simul|simuls|sims|simult\w*|simulan\w*|clocksim\w*|blindsim\w*|reihenspiel\w*|uhrensim\w*|"
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
CONSULTATION: Final = "consultation"
EXHIBITIONS: Final = ("simul", "blindfold", CONSULTATION, "odds")
LEFT_OUT: Final = (*EXHIBITIONS, "variants")  # of chess by default
_USUAL_VARIANTS: Final = frozenset(
    {"", "chess", "classic", "classical", "normal", "orthodox", "regular", "standard"}
)
_CHESS960: Final = re.compile(
    r"(?:standard |chess ?|c)?960|fischer ?r?andom ?(?:chess)?|frc|freestyle(?: chess)?"
)
_SET_UP: Final = frozenset(
    {"set up", "setup", "from position", "fromposition", "custom", "thematic"}
)
_CONTROL: Final = re.compile(r"\*?(?:(\d+)/)?(\d+)(?:\+(\d+(?:\.\d+)?))?(?::.*)?", re.ASCII)
_COUNTED_MOVES: Final = 40
# Seconds for 40 moves.
_BLITZ_FROM: Final = 180  # less is bullet, which the set `blitz` includes
_RAPID_FROM: Final = 600
_RAPID_BELOW: Final = 3600
_DAY: Final = 86400  # seconds for a move from which on a game is by correspondence
# A base below 180 with an increment of 10 or more is in minutes.
_MINUTES_BELOW: Final = 180
_MINUTES_IF_INCREMENT: Final = 10
# Words of time controls, besides those of events.
_SETS_OF_CONTROLS: Final = {"daily": "correspondence", "ultrabullet": "blitz"}
_BULLET_WORDS: Final = re.compile(r"(?<!\w)(?:ultra|hyper)?bullet(?!\w)|(?<!\w)lightning(?!\w)")
_CLASSICAL: Final = frozenset({"classical", "standard", "slow", "klassisch"})


@cache
def _pattern(name: str) -> re.Pattern[str]:
    """The words of a set in folded texts of event, site or round."""
    return re.compile(rf"(?<!\w)(?:{_WORDS_OF_SETS[name]})(?!\w)")


def event_text_is_in_set(folded: str, name: str) -> bool:
    """Whether a folded text of event, site or round has a word of a set."""
    return _pattern(name).search(folded) is not None


def event_texts_in_sets(folded: Sequence[str], names: Sequence[str]) -> dict[str, Mask]:
    """Masks of the folded texts that have a word of each set.

    A pattern looks at all texts at once, joined by line feeds, since a search has its own cost.
    """
    joined = "\n".join(folded)
    lengths = np.array([len(text) for text in folded], np.int64)
    ends = np.cumsum(lengths + 1)  # of each text in `joined`, after its line feed
    masks = {}
    for name in names:
        starts = np.array([match.start() for match in _pattern(name).finditer(joined)], np.int64)
        masks[name] = np.zeros(len(folded), np.bool_)
        masks[name][np.searchsorted(ends, starts, side="right")] = True
    return masks


def variant_is_in_set(folded: str, name: str) -> bool:
    """Whether a folded variant belongs to the set `variants` or `set-up`."""
    if name == "set-up":
        return folded in _SET_UP
    return name == "variants" and folded not in _USUAL_VARIANTS and folded not in _SET_UP


def time_control_is_in_set(text: str, name: str) -> bool:
    """Whether a time control, as written, belongs to the set `blitz` (bullet too), `rapid` or another one.

    PGN, lichess and chess.com write seconds with the increment of each move, `300+3`, `600`; moves in seconds,
    `40/7200:3600`, `1/86400`; and minutes, `90+30`, `15+10`, where the increment is too long for seconds. The time
    for 40 moves decides.
    """
    seconds = _seconds_of_game(text)
    if seconds is None:
        folded = fold(text)
        return _SETS_OF_CONTROLS.get(folded, "") == name or event_text_is_in_set(folded, name)
    if name == "correspondence":
        return seconds >= _COUNTED_MOVES * _DAY
    if name == "blitz":
        return seconds < _RAPID_FROM
    return name == "rapid" and _RAPID_FROM <= seconds < _RAPID_BELOW


def _seconds_of_game(text: str) -> float | None:
    """Seconds of each side for 40 moves by a time control as written, None where it has no such numbers."""
    match = _CONTROL.fullmatch("".join(text.split()))
    if match is None:
        return None
    moves = int(match[1] or 0)
    base = float(match[2])
    increment = float(match[3] or 0)
    if moves:
        return base / moves * _COUNTED_MOVES
    if base < _MINUTES_BELOW and increment >= _MINUTES_IF_INCREMENT:
        base *= 60
    return base + _COUNTED_MOVES * increment


def control_category(text: str) -> str | None:
    """The category of chess by a time control, as written, None where it is not understood.

    By the seconds for 40 moves (see `time_control_is_in_set`): bullet below 180, blitz below 600, rapid below 3600,
    else classical, or correspondence from a day for each move on.
    """
    seconds = _seconds_of_game(text)
    if seconds is None:
        return _category_by_words(text)
    if seconds >= _COUNTED_MOVES * _DAY:
        return "correspondence"
    if seconds < _BLITZ_FROM:
        return "bullet"
    if seconds < _RAPID_FROM:
        return "blitz"
    return "rapid" if seconds < _RAPID_BELOW else "classical"


def _category_by_words(text: str) -> str | None:
    """The category of chess by the words of a time control without numbers, None where it is not understood."""
    folded = fold(text)
    if event_text_is_bullet(folded):
        return "bullet"
    for name in ("correspondence", "rapid", "blitz"):
        if time_control_is_in_set(text, name):
            return name
    return "classical" if folded in _CLASSICAL else None


def event_text_is_bullet(folded: str) -> bool:
    """Whether a folded text calls games bullet or lightning chess."""
    return _BULLET_WORDS.search(folded) is not None


def records_of_events(records: Records, texts: Sequence[str]) -> Mask:
    """Mask of records whose event or site has one of the texts: words in any case and accents, or /patterns/."""
    from ttt_cli.config.schema import pattern_of

    rows = np.zeros(len(records), np.bool_)
    for text in texts:
        pattern = pattern_of(text)
        words = f" {fold(text)} "
        for column in (records.event, records.site):
            if pattern is None:
                matches = [
                    value != "" and words in f" {value} " for value in fold_all(column.values)
                ]
            else:
                matches = [
                    value != "" and pattern.search(value) is not None for value in column.values
                ]
            rows |= np.array(matches, np.bool_)[column.codes]
    return rows


def records_by_event_words(records: Records, names: Sequence[str]) -> dict[str, Mask]:
    """Masks of records of ready-made sets, by the words of event, site and round alone."""
    masks = {name: np.zeros(len(records), np.bool_) for name in names}
    for column in (records.event, records.site, records.round):
        for name, matches in event_texts_in_sets(fold_all(column.values), names).items():
            if matches.any():
                masks[name] |= matches[column.codes]
    return masks


def one_against_many(records: Records, rows: Mask) -> Mask:
    """Mask of exhibitions among the records of a mask: one player against several others in an event of a year.

    Several rounds make a tournament, two players a match.
    """
    from ttt_cli.games.duplicates import round_key

    is_exhibition = np.zeros(len(rows), np.bool_)
    candidates = np.flatnonzero(rows)
    event_and_year = (
        records.event.codes[candidates].astype(np.int64) * 10_000 + records.year[candidates]
    )
    for event_year in np.unique(event_and_year).tolist():
        games = candidates[event_and_year == event_year]
        sides = np.concatenate([records.white[games], records.black[games]])
        players, counts = np.unique(sides, return_counts=True)
        texts = {records.round.values[code] for code in records.round.codes[games].tolist()}
        rounds = {round_key(text).partition(".")[0] for text in texts} - {""}
        is_exhibition[games] = len(players) > 2 and counts.max() == len(games) and len(rounds) < 2
    return is_exhibition


def variants_but_chess960(records: Records) -> Mask:
    """Mask of records of variants by their tag or column, without Chess960 and other initial positions."""
    is_other = [
        variant_is_in_set(text, "variants") and not _CHESS960.fullmatch(text)
        for text in fold_all(records.variant.values)
    ]
    return spread(np.array(is_other, np.bool_), records.variant.codes)


def records_in_set(records: Records, name: str) -> Mask:
    """Mask of records of a ready-made set, by event, site, round, variant, time control and odds."""
    rows = records_by_event_words(records, (name,))[name]
    is_variant = np.array(
        [variant_is_in_set(text, name) for text in fold_all(records.variant.values)], np.bool_
    )
    is_time_control = np.array(
        [time_control_is_in_set(text, name) for text in records.time_control.values], np.bool_
    )
    rows |= is_variant[records.variant.codes] | is_time_control[records.time_control.codes]
    if name == "odds":
        is_at_odds = np.array([not is_even(text) for text in records.odds.values], np.bool_)
        rows |= is_at_odds[records.odds.codes]
    return rows
