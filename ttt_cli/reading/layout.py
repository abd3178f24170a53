"""The meaning of the columns of a table, by configured names, its header, or its values."""

import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from ttt_cli.config.schema import DataConfig, Period
from ttt_cli.reading.batches import (
    BLACKS,
    DATES,
    RESULTS,
    WEIGHTS,
    WHITES,
    Batch,
    Note,
    ResultKind,
    Table,
)
from ttt_cli.reading.columns import Strings
from ttt_cli.reading.dates import known_date, parse_date
from ttt_cli.reading.input import is_rating_list, rating_list
from ttt_cli.reading.results import is_score, match_result, match_scores
from ttt_cli.support.arrays import Ids, Places
from ttt_cli.support.errors import ConfigError, DataError, suggested

WINNER: Final = ("winnername", "winnerteam", "winningteam", "winningplayer", "wteam", "wteamid")
LOSER: Final = ("loser", "losername", "loserteam", "losingteam", "losingplayer", "lteam", "lteamid")
SYNONYMS: Final[dict[str, tuple[str, ...]]] = {
    "date": ("date", "gamedate", "playedon", "dateplayed", "playedat", "tourneydate", "matchdate",
             "createdat", "startedat"),
    "year": ("year", "yr", "season"),
    "month": ("month", "monthid", "monthno", "monthnumber"),
    "day": ("day",),
    "utc_date": ("utcdate",),
    "week": ("week", "weekid", "weekno", "weeknumber", "gameweek", "matchweek"),
    "period": ("period", "periodid", "ratingperiod", "timestep"),
    "white": ("white", "whiteplayer", "playerwhite", "whitename", "player1", "playera", "p1", "team1",
              "teama", "home", "hometeam", "homeplayer", "whiteusername", *WINNER),
    "black": ("black", "blackplayer", "playerblack", "blackname", "player2", "playerb", "p2", "team2",
              "teamb", "away", "awayteam", "awayplayer", "visitor", "visitorteam", "blackusername", *LOSER),
    "white_id": ("whiteid", "whitefideid", "fideidwhite", "whiteplayerid", "player1id", "homeid", "winnerid"),
    "black_id": ("blackid", "blackfideid", "fideidblack", "blackplayerid", "player2id", "awayid", "loserid"),
    "result": ("result", "outcome", "gameresult", "res", "ftr", "winner"),
    "score": ("score", "matchscore"),
    "games": ("games", "numberofgames", "numgames", "ngames", "gamesplayed", "gamecount"),
    "white_score": ("whitescore", "scorewhite", "whiteresult", "resultwhite", "whitepoints", "pointswhite",
                    "score1", "player1score", "scorea", "playerascore"),
    "black_score": ("blackscore", "scoreblack", "blackresult", "resultblack", "blackpoints", "pointsblack",
                    "score2", "player2score", "scoreb", "playerbscore"),
    "white_goals": ("whitegoals", "goalswhite", "homescore", "scorehome", "homegoals", "goalshome", "fthg", "hg",
                    "hometeamgoals", "homepoints", "homepts"),
    "black_goals": ("blackgoals", "goalsblack", "awayscore", "scoreaway", "awaygoals", "goalsaway", "ftag", "ag",
                    "awayteamgoals", "awaypoints", "awaypts"),
    "weight": ("weight",),
    "event": ("event", "eventname", "tournament", "tournamentname", "competition", "tourneyname", "league",
              "div", "division"),
    "site": ("site", "place", "location", "venue", "city"),
    "round": ("round", "rd", "rnd"),
    "variant": ("variant",),
    "time_control": ("timecontrol", "timeclass"),
    "status": ("status",),
    "odds": ("odds",),
    "odds_giver": ("oddsgiver", "giver"),
    "neutral": ("neutral", "isneutral", "neutralground", "neutralvenue", "neutralsite"),
}  # fmt: skip
FURTHER: Final = (
    *("event", "site", "round", "white_id", "black_id", "variant", "time_control"),
    *("games", "status", "odds", "odds_giver", "neutral"),
)
IGNORED: Final = ("id", "eco", "_")
_WORDS: Final = {word: ours for ours, words in SYNONYMS.items() for word in words}


def word_of(cell: str) -> str:
    """A header cell in lower case, without blanks, underscores and punctuation."""
    return re.sub(r"[\W_]", "", cell.casefold())


def column_of(cell: str) -> str | None:
    """Our name of a column by its header, None for a column that is not used."""
    return _WORDS.get(word_of(cell))


Row = tuple[int, Sequence[str]]  # line and used fields
_PLAIN_LAYOUT: Final = ("id", "year", "white", "black", "white_score", "black_score")
_PLAIN_ROW: Final = re.compile(r"\d+,\d{4}(,(?!\d+,)[^,]*){2}(,(0|0\.5|1|2)){2}")
_RESULTS: Final[tuple[tuple[tuple[str, ...], ResultKind], ...]] = (
    (("result",), "text"),
    (("white_score", "black_score"), "scores"),
    (("white_goals", "black_goals"), "goals"),
    (("white_score",), "text"),
)
_KIND_IN_SPORT: Final[Mapping[ResultKind, ResultKind]] = {
    "text": "sport",
    "scores": "goals",
    "goals": "goals",
}
_RIVALS: Final = {  # columns that would override a configured one, such as a date beside a configured year
    **dict.fromkeys(("date", "utc_date"), ("year",)),
    "white_score": ("white_goals",),
    "result": ("white_score", "white_goals"),
}
_SPORT: Final = re.compile("home|away|visitor|team|winn|los[ei]")
_HINT: Final = (
    "name the columns in order: -s 'data.columns=[date, white, black, result]' (with -s data.header=true "
    "when the first line holds names), or by their header: -s 'data.columns={white: NAME, black: NAME}'"
)


@dataclass(frozen=True)
class Layout:
    """The used columns of a table with rows of `width` fields.

    `columns` are their indices by the names of `batches.Table`, which also describes the other fields. The index
    -1 - k is not in the file: its value is `constants[k]` in all rows.
    """

    width: int
    header: bool
    columns: Mapping[str, tuple[int, ...]]
    kind: ResultKind = "text"
    made: Mapping[str, Callable[..., Hashable]] = field(default_factory=dict)
    constants: tuple[str, ...] = ()
    unit: Period | None = None
    chess: bool = True
    winners: bool = False

    @property
    def used(self) -> tuple[int, ...]:
        """All columns of the file that are used, each once, in its order."""
        return tuple(sorted({index for indices in self.columns.values() for index in indices if index >= 0}))

    def table(self, strings: Strings, batches: Iterator[Batch]) -> Table:
        """The file with these records; codes of batches are in the order of `used`, then of `constants`."""
        places = [*self.used, *(-1 - k for k in range(len(self.constants)))]
        rows = {name: tuple(map(places.index, indices)) for name, indices in self.columns.items()}
        return Table(self.kind, strings, batches, rows, self.made, self.unit, self.chess, self.winners)

    def batch(
        self,
        strings: Strings,
        lines: Sequence[int] | Places = (),
        codes: Sequence[Ids] = (),
        rows: Sequence[Row] = (),
        rejects: Sequence[Note] = (),
    ) -> Batch:
        """Records sorted by line: `codes` (used columns, n) of the strings at `lines` (n,), and rows of texts."""
        texts = [text.encode("utf-8", "surrogateescape") for _, row in rows for text in row]
        more = strings.ids(texts).reshape(len(rows), len(self.used)).T
        some = np.array(codes, np.int32).reshape(len(self.used), len(lines))
        places = np.array([*lines, *(line for line, _ in rows)] if rows else lines, np.int64)
        found = np.concatenate([some, more], axis=1) if rows else some
        if rows and len(lines):
            order = np.argsort(places, kind="stable")
            places, found = places[order], found[:, order]
        if self.constants:
            same = strings.ids([text.encode() for text in self.constants])
            found = np.concatenate([found, np.repeat(same[:, np.newaxis], len(places), axis=1)])
        return Batch(places, found, rejects)


def find_layout(
    sample: Sequence[Sequence[str]], data: DataConfig, name: str, *, named: bool = False
) -> Layout:
    """The layout of a table from its first rows (at least one); `named`: the first row is certainly a header.

    Raises ConfigError when configured columns are missing, DataError when the columns cannot be determined.
    """
    first = [cell.strip() for cell in sample[0]]
    configured = data.columns
    header = named or (_looks_like_header(first, configured) if data.header is None else data.header)
    if isinstance(configured, list):
        columns = _in_order(configured, sample[:1] if named else sample, name)
        _settle_score(columns, sample, keeps=True)
    elif configured is not None and not header:
        hint = f"the first line is {', '.join(first)}; without names, -s 'data.columns=[date, white, ...]'"
        raise ConfigError("data.columns maps names that the file does not have", where=name, hint=hint)
    elif header:
        columns = _by_names(first, configured or {}, sample[1:], name)
    elif is_rating_list(" ".join(first)):
        raise rating_list(name)
    elif _is_plain(sample):
        columns = {ours: index for index, ours in enumerate(_PLAIN_LAYOUT)}
    else:
        raise DataError(
            f"its columns are not known; the first line is {', '.join(first)}"[:300], where=name, hint=_HINT
        )
    for number, ours in enumerate(data.constant):
        if ours not in SYNONYMS:
            _unknown(ours, SYNONYMS, f"names are {', '.join(SYNONYMS)}", "data.constant")
        columns[ours] = -1 - number
    header_cells = configured if isinstance(configured, list) else first if header else []
    words = {index: word_of(cell) for index, cell in enumerate(header_cells)}
    width = len(first) if header else Counter(sorted(map(len, sample))).most_common(1)[0][0]
    try:
        return _complete(columns, words, width, data, header=header)
    except DataError as error:
        if is_rating_list(" ".join(first)):
            raise rating_list(name) from None
        among = f" among {', '.join(first)}" if header else ""
        raise DataError(error.message + among, where=name, hint=_HINT) from None


def _complete(
    columns: dict[str, int], words: Mapping[int, str], width: int, data: DataConfig, *, header: bool
) -> Layout:
    """The layout of these columns; `words` are the names of columns. Raises DataError when one is missing."""
    constants = [f"{value:g}" if isinstance(value, float) else value for value in data.constant.values()]
    for side in ("white", "black"):  # players known by their numbers alone
        if side not in columns and f"{side}_id" in columns:
            columns[side] = columns.pop(f"{side}_id")
    won, lost = (words.get(columns.get(side, width), "") for side in ("white", "black"))
    winners = won in (*WINNER, "winner", "winnerid") and lost in (*LOSER, "loserid")
    walkovers = winners and words.get(columns.get("result", width)) in SYNONYMS["score"]
    if winners:
        for other in ("score", "games", "white_score", "black_score", "white_goals", "black_goals"):
            columns.pop(other, None)
        if "result" not in columns:
            columns["result"] = -1 - len(constants)
            constants.append("1-0")
    if "date" not in columns and "utc_date" in columns:
        columns["date"] = columns.pop("utc_date")
    units: dict[str, Period] = {"period": data.period, "day": "day", "week": "week", "month": "month"}
    counted = [ours for ours in units if ours in columns and columns.keys().isdisjoint(("date", "year"))][:1]
    date = ["date"] if "date" in columns else counted or [p for p in ("year", "month", "day") if p in columns]
    result, kind = next(((r, k) for r, k in _RESULTS if columns.keys() >= set(r)), ((), "text"))
    score = "score" if "score" in columns and len(result) < 2 else None
    if result == ("white_score",) and "games" in columns:
        result, score = (), score or "white_score"
    missing = [ours for ours in ("white", "black") if ours not in columns]
    missing += ["date"] * (not date) + ["result"] * (not result and score is None)
    if missing:
        raise DataError(f"no column for {' and '.join(missing)}")
    sport = any(_SPORT.search(word) for word in (won, lost))
    kind = kind if result else "scores"
    utc = ("utc_date",) if "utc_date" in columns else ()
    names = {DATES: (*date, *utc), WHITES: ("white",), BLACKS: ("black",)}
    names |= {RESULTS: (*result, score, "games") if score else result}
    names |= {ours: (ours,) for ours in FURTHER if ours in columns}
    names |= {WEIGHTS: ("weight",)} if "weight" in columns else {}
    made: dict[str, Callable[..., Hashable]] = {DATES: known_date} if utc else {}
    return Layout(
        width,
        header,
        {name: tuple(columns[ours] for ours in several) for name, several in names.items()},
        "winners" if walkovers else _KIND_IN_SPORT[kind] if sport else kind,
        made | ({RESULTS: match_result if result else match_scores} if score else {}),
        tuple(constants),
        units[counted[0]] if counted else None,
        chess=not sport,
        winners=winners,
    )


def _settle_score(columns: dict[str, int], rows: Sequence[Sequence[str]], *, keeps: bool) -> None:
    """Decide what a column `score` means: White's score in a match if there is a number of games, else the result.

    As the result it replaces a column `result` unless that `keeps` its place.
    """
    index = columns.get("score", -1)
    cells = [row[index] for row in rows if len(row) > index and row[index].strip()]
    if index >= 0 and ("games" not in columns or 2 * sum(map(is_score, cells)) < len(cells)):
        del columns["score"]
        if "result" not in columns or not keeps:
            columns["result"] = index


def _looks_like_header(first: Sequence[str], configured: list[str] | dict[str, str] | None) -> bool:
    if isinstance(configured, dict):
        known = any(cell in configured.values() for cell in first)
        return known or all(parse_date(cell).reason for cell in first)
    words = [word_of(cell) for cell in first]
    if configured is not None and words == [word_of(name) for name in configured]:
        return True
    found = {_WORDS.get(word) for word in words}
    if "winner" in words and not {*LOSER}.isdisjoint(words):
        found.add("white")
    return all(side in found or f"{side}_id" in found for side in ("white", "black"))


def _in_order(names: Sequence[str], sample: Sequence[Sequence[str]], name: str) -> dict[str, int]:
    width = Counter(sorted(map(len, sample))).most_common(1)[0][0]
    if len(names) != width:
        said = f"data.columns names {len(names)} columns, rows have {width}"
        raise ConfigError(said, where=name, hint=f"the first line is {', '.join(sample[0])}")
    columns: dict[str, int] = {}
    for index, written in enumerate(names):
        ours = column_of(written)
        if ours is None and written not in IGNORED and not written.startswith("_"):
            hint = f"names are {', '.join(SYNONYMS)}, and _ for the others"
            _unknown(written, (*SYNONYMS, *IGNORED), hint)
        if ours in columns:
            raise ConfigError(f"data.columns names {ours} twice")
        if ours is not None:
            columns[ours] = index
    _prefer_losers(columns, names)
    return columns


def _by_names(
    first: Sequence[str], configured: Mapping[str, str], rows: Sequence[Sequence[str]], name: str
) -> dict[str, int]:
    columns: dict[str, int] = {}
    for ours, written in configured.items():
        if ours not in SYNONYMS:
            _unknown(ours, SYNONYMS, f"names are {', '.join(SYNONYMS)}")
        same = [index for index, cell in enumerate(first) if cell.casefold() == written.casefold()]
        if not same:
            hint = suggested(written, first, f"columns are {', '.join(first)}")
            raise ConfigError(f"data.columns: there is no column {written!r}", where=name, hint=hint)
        columns[ours] = next((index for index in same if first[index] == written), same[0])
    free = {word_of(cell): index for index, cell in reversed(list(enumerate(first)))}
    free = {word: index for word, index in free.items() if index not in columns.values()}
    for ours, synonyms in SYNONYMS.items():
        found = next((free[word] for word in synonyms if word in free), None)
        if ours not in columns and found is not None:
            columns[ours] = found
    _prefer_losers(columns, first)
    spelled_out = "score" not in configured and columns.get("result") == free.get("result", -1)
    _settle_score(columns, rows, keeps="result" in configured or spelled_out)
    for ours, others in _RIVALS.items():
        if ours not in configured and not configured.keys().isdisjoint(others):
            columns.pop(ours, None)
    return columns


def _prefer_losers(columns: dict[str, int], first: Sequence[str]) -> None:
    """If there is a column `loser`, read `winner` as the first player instead of as the result."""
    words = [word_of(cell) for cell in first]
    losers = "black" in columns and words[columns["black"]] in LOSER
    if losers and "winner" in words and "white" not in columns:
        columns["white"] = words.index("winner")
        if columns.get("result") == columns["white"]:
            del columns["result"]


def _unknown(
    written: str, known: Sequence[str] | Mapping[str, object], hint: str, where: str = "data.columns"
) -> None:
    raise ConfigError(f"{where}: unknown column name {written!r}", hint=suggested(written, known, hint))


def _is_plain(sample: Sequence[Sequence[str]]) -> bool:
    """Whether rows are id, year, white, black and two scores, as in the sample of the first TTT program."""
    rows = (",".join(cell.strip().replace(",", " ") for cell in row) for row in sample)
    return sum(_PLAIN_ROW.fullmatch(row) is not None for row in rows) >= 0.9 * len(sample)
