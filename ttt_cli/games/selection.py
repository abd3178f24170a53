"""Filters: sets of events, duplicates, and the records that a config selects."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from ttt_cli.config.schema import DataConfig, pattern_of, year_range
from ttt_cli.games.groups import label_groups
from ttt_cli.games.names import clean_name, comma_keys, name_key, teams_and_engines
from ttt_cli.games.table import PRECISION_DAY, PRECISION_MONTH, PRECISION_YEAR, Records
from ttt_cli.games.validate import is_even
from ttt_cli.reading import reports as reasons
from ttt_cli.reading.columns import Column, Dictionary, spread
from ttt_cli.support.arrays import Ids, Mask, Places
from ttt_cli.support.errors import ConfigError, suggested
from ttt_cli.support.folding import fold, fold_all, fold_surname

_EVENTS: Final[Mapping[str, str]] = {
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
EXHIBITIONS: Final = ("simul", "blindfold", "consultation", "odds")
_PATTERNS: Final[dict[str, re.Pattern[str]]] = {}
for _name, _words in _EVENTS.items():
    _PATTERNS[_name] = re.compile(rf"(?<!\w)(?:{_words})(?!\w)")
LEFT_OUT: Final = (*EXHIBITIONS, "variants")  # of chess by default
_MOSTLY_ENGINES: Final = 0.25  # the share of sides from which on games are of computers
_USUAL_VARIANTS: Final = frozenset(
    {"", "chess", "classic", "classical", "normal", "orthodox", "regular", "standard"}
)
_CHESS960: Final = re.compile(
    r"(?:standard |chess ?|c)?960|fischer ?r?andom ?(?:chess)?|frc|freestyle(?: chess)?"
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
    """Whether a folded text of event, site or round belongs to a set."""
    return _PATTERNS[name].search(folded) is not None


def variant_is(folded: str, name: str) -> bool:
    """Whether a folded variant belongs to the set `variants` or `set-up`."""
    if name == "set-up":
        return folded in _SET_UP
    return name == "variants" and folded not in _USUAL_VARIANTS and folded not in _SET_UP


def control_is(text: str, name: str) -> bool:
    """Whether a time control, as written, belongs to the set `blitz` (bullet too), `rapid` or another one.

    PGN, lichess and chess.com write seconds with the increment of each move, `300+3`, `600`; moves in seconds,
    `40/7200:3600`, `1/86400`; and minutes, `90+30`, `15+10`, where the increment is too long for seconds. The time
    for 40 moves decides.
    """
    match = _CONTROL.fullmatch("".join(text.split()))
    if match is None:
        folded = fold(text)
        return _WORDS.get(folded, "") == name or names_set(folded, name)
    moves = int(match[1] or 0)
    base = float(match[2])
    increment = float(match[3] or 0)
    if not moves and base < _SHORT and increment >= _LONG:
        base *= 60
    seconds = base / moves * _MOVES if moves else base + _MOVES * increment
    if name == "correspondence":
        return seconds >= _MOVES * _DAY
    return name == ("blitz" if seconds < _BLITZ else "rapid" if seconds < _RAPID else "")


_ZEROS: Final = re.compile(r"\b0+(?=\d)")


def find_duplicates(records: Records, among: Mask | None = None) -> Places:
    """Records that repeat a better one, and these; shape (duplicates, 2). Takes O(n log n) time.

    Only records that are used are compared, or those of `among`.
    Players, colours and result must be equal and the dates compatible (the same day, or one of them less exact). Then
    the moves are the same; or one has no moves, the round is the same, and the full date or the event is too. Matches
    given by their score are never compared. The better record has moves, then the more exact date, then is earlier.
    """
    round_ = _key_numbers(records.round, _round_key)
    rows = np.zeros(0, np.int64)
    if round_.any() or records.moves.any():
        single = spread(records.tally.sum(axis=1) == 1, records.result.codes)
        distinct = (records.moves != 0) | spread(round_ > 0, records.round.codes)
        rows = np.flatnonzero((records.used if among is None else among) & single & distinct)
        del single, distinct
    # White, Black, result and year together
    meeting = records.white[rows].astype(np.int64) * len(records.players) + records.black[rows]
    meeting = meeting * 3 + np.argmax(records.tally, axis=1)[records.result.codes[rows]]
    meeting = meeting * 10_000 + records.year[rows]
    ordered = np.sort(meeting)
    again = ordered[1:][ordered[1:] == ordered[:-1]]
    del ordered
    if not len(again):
        return np.zeros((0, 2), np.int64)
    met = np.take(again, np.searchsorted(again, meeting), mode="clip") == meeting
    rows = rows[met]
    meeting = meeting[met]

    moves = records.moves[rows]
    rounds = round_[records.round.codes[rows]]
    events = _key_numbers(records.event, fold)[records.event.codes[rows]]
    bare = moves == 0
    precision = records.precision[rows]
    days = records.day[rows].astype("datetime64[D]")
    months = days.astype("datetime64[M]").astype(np.int64)
    dates = {PRECISION_DAY: days.astype(np.int64), PRECISION_MONTH: months, PRECISION_YEAR: 0 * months}
    by_round = (meeting, rounds)
    every = np.ones(len(rows), np.bool_)
    better = np.arange(len(rows))
    for keys, compared, may_repeat in (
        ((meeting, moves), ~bare, every),
        (by_round, (rounds > 0) & (precision == PRECISION_DAY), bare),
        ((*by_round, events), (rounds > 0) & (events > 0), bare),
    ):
        for level, date in dates.items():
            here = np.flatnonzero(compared & (precision >= level))
            same = np.stack([*keys, date])[:, here]
            found = here[_better(same, bare[here], precision[here], level)]
            better[here] = np.where(may_repeat[here] & (better[here] == here), found, better[here])
    while np.any(better[better] != better):
        better = better[better]
    row = np.flatnonzero(better != np.arange(len(rows)))
    return np.stack([rows[row], rows[better[row]]], axis=1)


def _better(same: NDArray[np.integer], bare: Mask, precision: NDArray[np.int8], level: int) -> Places:
    """The best place with equal columns, for each, if the less exact of both has the precision `level`."""
    order = np.lexsort([-precision, bare, *same])
    place = np.arange(len(order))
    first = np.ones(len(order), np.bool_)
    first[1:] = np.any(np.diff(same[:, order], axis=1), axis=0)
    start = np.maximum.accumulate(np.where(first, place, 0))
    exactly = precision[order] == level
    bare = bare[order]
    moved = np.flatnonzero(exactly & ~bare)[::-1]
    with_moves = np.full(len(order), -1)
    with_moves[start[moved]] = moved
    with_moves = with_moves[start]
    best = np.where(exactly, start, np.where(bare & (with_moves >= 0), with_moves, place))
    found = np.empty_like(order)
    found[order] = order[best]
    return found


def _key_numbers(texts: Column[str], key: Callable[[str], str]) -> Ids:
    """Numbers of the keys of the distinct texts; 0 where the key is empty."""
    return Dictionary("").ids(map(key, texts.values))


def _round_key(text: str) -> str:
    """A round for comparison; empty where unknown."""
    plain = text.strip(" ()?-.")
    return _ZEROS.sub("", plain.casefold())


NOTICED: Final = reasons.DUPLICATE, reasons.TEAM, reasons.ENGINE  # reported of records that are used


class People(NamedTuple):
    """Masks of players, shape (players,): teams, engines, and those that a filter lists.

    `drop_engines`: whether games with engines are left out; `anywhere`, in other games than chess too.
    """

    teams: Mask
    engines: Mask
    listed: Mask
    drop_engines: bool
    anywhere: bool

    @classmethod
    def of(cls, players: Sequence[str], data: DataConfig, games: Places, computers: int) -> Self:
        """Classify players by name. Raises ConfigError for a player of the filter who does not exist.

        `games` (players,) are their records, `computers` is the number of records with an engine by type or title. By
        default engines are dropped, unless they are a quarter of all sides: then the games are theirs.
        """
        teams, engines = np.array(teams_and_engines(players), np.bool_)
        wanted = data.filter.players
        listed = matching_players(players, wanted) if wanted else np.zeros_like(teams)
        by_name = int(games[engines].sum())
        mostly_engines = max(by_name, computers) >= _MOSTLY_ENGINES * int(games.sum())
        drop_engines = not mostly_engines if data.drop is None else "engines" in data.drop
        return cls(teams, engines, listed, drop_engines, anywhere=data.drop is not None)


def needs_all(data: DataConfig) -> bool:
    """Whether a filter depends on all games."""
    return data.filter.min_games > 1 or data.filter.largest_group


def select(records: Records, data: DataConfig, people: People) -> tuple[NDArray[np.int8], dict[str, Mask]]:
    """Reject codes of records after all filters of `data`, applied in the order of DROP_REASONS.

    `people` are those of the records' players. Also returns masks of used records by reasons in NOTICED.
    """
    wanted = data.filter
    reject_code = records.reject_code.copy()
    white = records.white
    black = records.black

    def drop(reason: str, rows: Mask) -> None:
        reject_code[(reject_code == 0) & rows] = reasons.REJECT_CODE[reason]

    teams = _with_one(people.teams, records)
    engines = _with_one(people.engines, records) | records.computer
    chess = np.repeat([file.chess for file in records.files], np.diff(records.starts))
    if data.drop is not None and "teams" in data.drop:
        drop(reasons.TEAM, teams)
    if people.drop_engines:
        drop(reasons.ENGINE, engines if people.anywhere else engines & chess)
    if wanted.years is not None:
        first, last = year_range(wanted.years)
        drop(reasons.OTHER_YEARS, (records.year < first) | (records.year > last))
    if wanted.players:
        listed = people.listed[white], people.listed[black]
        drop(reasons.OTHER_PLAYERS, ~(listed[0] & listed[1] if wanted.among else listed[0] | listed[1]))
    if wanted.events:
        drop(reasons.OTHER_EVENT, ~of_events(records, wanted.events))
    if wanted.exclude_events:
        drop(reasons.EXCLUDED_EVENT, of_events(records, wanted.exclude_events))
    for chosen in wanted.exclude or ():
        drop(chosen, in_set(records, chosen) | (teams if chosen == "consultation" else False))
    if wanted.exclude is None and chess.any():
        sets = in_sets(records, EXHIBITIONS)
        sets["consultation"] |= teams
        sets["odds"] &= records.offset == 0
        sets["variants"] = variants_but_chess960(records)
        for name, rows in sets.items():
            used = rows & chess & (reject_code == 0)
            drop(name, one_against_many(records, used) if name == "blindfold" else used)

    duplicate = np.zeros(len(records), np.bool_)
    duplicate[find_duplicates(records, reject_code == 0)[:, 0]] = True
    if wanted.dedupe:
        drop(reasons.DUPLICATE, duplicate)
    few = np.array([wanted.min_games > 1])
    while few.any():  # until all players left have enough games
        left = np.flatnonzero(reject_code == 0)
        players = np.concatenate([white[left], black[left]])
        count = records.tally.sum(axis=1)
        played = np.bincount(players, np.tile(count[records.result.codes[left]], 2), len(records.players))
        few = (played > 0) & (played < wanted.min_games)
        reject_code[left[few[white[left]] | few[black[left]]]] = reasons.REJECT_CODE[reasons.FEW_GAMES]
    if wanted.largest_group:
        left = np.flatnonzero(reject_code == 0)
        ends = white[left].astype(np.int32), black[left].astype(np.int32)
        label = label_groups(*ends, len(records.players))
        reject_code[left[label[white[left]] > 0]] = reasons.REJECT_CODE[reasons.OTHER_GROUP]
    used = reject_code == 0
    of_chess = used & records.report.chess
    noticed = duplicate & used, teams & of_chess, engines & of_chess
    return reject_code, dict(zip(NOTICED, noticed, strict=True))


def _with_one(kind: Mask, records: Records) -> Mask:
    return kind[records.white] | kind[records.black] if kind.any() else np.zeros(len(records), np.bool_)


def of_events(records: Records, texts: Sequence[str]) -> Mask:
    """Mask of records whose event or site has one of the texts: words in any case and accents, or /patterns/."""
    rows = np.zeros(len(records), np.bool_)
    for text in texts:
        pattern = pattern_of(text)
        words = f" {fold(text)} "
        for column in (records.event, records.site):
            if pattern is None:
                hit = [value != "" and words in f" {value} " for value in fold_all(column.values)]
            else:
                hit = [value != "" and pattern.search(value) is not None for value in column.values]
            rows |= np.array(hit, np.bool_)[column.codes]
    return rows


def in_sets(records: Records, names: Sequence[str]) -> dict[str, Mask]:
    """Masks of records of ready-made sets, by the words of event, site and round."""
    found = dict(zip(names, np.zeros((len(names), len(records)), np.bool_), strict=True))
    for column in (records.event, records.site, records.round):
        texts = fold_all(column.values)
        ends = np.cumsum(list(map(len, texts))) + np.arange(1, len(texts) + 1)
        joined = "\n".join(texts)
        for name in names:
            at = list(map(re.Match.start, _PATTERNS[name].finditer(joined)))
            if at:
                hit = np.zeros(len(texts), np.bool_)
                hit[np.searchsorted(ends, at, side="right")] = True
                found[name] |= hit[column.codes]
    return found


def one_against_many(records: Records, rows: Mask) -> Mask:
    """Mask of exhibitions among some records: one player against several others in an event of a year.

    Several rounds make a tournament, two players a match.
    """
    found = np.zeros(len(rows), np.bool_)
    chosen = np.flatnonzero(rows)
    event = records.event.codes[chosen].astype(np.int64) * 10_000 + records.year[chosen]
    for one in np.unique(event).tolist():
        games = chosen[event == one]
        ends = np.concatenate([records.white[games], records.black[games]])
        players, counts = np.unique(ends, return_counts=True)
        texts = {records.round.values[code] for code in records.round.codes[games].tolist()}
        rounds = {_round_key(text).partition(".")[0] for text in texts} - {""}
        found[games] = len(players) > 2 and counts.max() == len(games) and len(rounds) < 2
    return found


def variants_but_chess960(records: Records) -> Mask:
    """Mask of records of variants by their tag or column, without Chess960 and other initial positions."""
    is_other = [
        variant_is(text, "variants") and not _CHESS960.fullmatch(text)
        for text in fold_all(records.variant.values)
    ]
    return spread(np.array(is_other, np.bool_), records.variant.codes)


def in_set(records: Records, name: str) -> Mask:
    """Mask of records of a ready-made set, by event, variant, time control and odds."""
    rows = in_sets(records, (name,))[name]
    of_variant = np.array([variant_is(text, name) for text in fold_all(records.variant.values)], np.bool_)
    of_control = np.array([control_is(text, name) for text in records.time_control.values], np.bool_)
    rows |= of_variant[records.variant.codes] | of_control[records.time_control.codes]
    if name == "odds":
        given = np.array([not is_even(text) for text in records.odds.values], np.bool_)
        rows |= given[records.odds.codes]
    return rows


def matching_players(players: Sequence[str], texts: Sequence[str]) -> Mask:
    """Mask of the players selected by `texts`, shape (players,).

    A text is a name in any spelling (`First Last` too), a surname, for all who have it, or a /pattern/. Raises
    ConfigError when nobody is selected.
    """
    keys: dict[str, list[int]] = {}
    for number, player in enumerate(players):
        for key in {name_key(player), fold_surname(player)}:
            keys.setdefault(key, []).append(number)
    chosen = np.zeros(len(players), np.bool_)
    for text in texts:
        pattern = pattern_of(text)
        key = name_key(clean_name(text))
        if pattern is not None:
            found = [number for number, player in enumerate(players) if pattern.search(player)]
        else:
            found = keys.get(key) or [number for other in comma_keys(key) for number in keys.get(other, ())]
        if not found:
            hint = suggested(text, players, "names are those that `ttt games` shows")
            raise ConfigError(f"there is no player {text!r}", where="data.filter.players", hint=hint)
        chosen[found] = True
    return chosen
