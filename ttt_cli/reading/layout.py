"""The meaning of the columns of a table, by configured names, its header, or its values."""

import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np

from ttt_cli.config.schema import DataConfig, Period
from ttt_cli.reading.batches import BLACKS, DATES, RESULTS, WEIGHTS, WHITES, Layout, ResultKind
from ttt_cli.reading.covariates import find_covariates, find_single, sided_names, single_columns
from ttt_cli.reading.dates import joined_date, known_date, parse_dates
from ttt_cli.reading.members import TeamFields, find_team_fields
from ttt_cli.reading.recognition import is_rating_list, rating_list
from ttt_cli.reading.results import is_score, match_result, match_scores
from ttt_cli.support.errors import ConfigError, DataError, suggested

WINNER: Final = ("winnername", "winnerteam", "winningteam", "winningplayer", "wteam", "wteamid")
LOSER: Final = ("loser", "losername", "loserteam", "losingteam", "losingplayer", "lteam", "lteamid")
HOME: Final = ("home", "hometeam", "homeplayer", "homeid")
VISITOR: Final = ("away", "awayteam", "awayplayer", "visitor", "visitorteam", "awayid")
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
              "teama", *HOME[:3], "whiteusername", *WINNER),
    "black": ("black", "blackplayer", "playerblack", "blackname", "player2", "playerb", "p2", "team2",
              "teamb", *VISITOR[:5], "blackusername", *LOSER),
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
    "termination": ("termination",),
    "ply_count": ("plycount", "plies"),
    "white_type": ("whitetype",),
    "black_type": ("blacktype",),
    "white_title": ("whitetitle", "titlewhite"),
    "black_title": ("blacktitle", "titleblack"),
    "status": ("status",),
    "odds": ("odds",),
    "odds_giver": ("oddsgiver", "giver"),
    "neutral": ("neutral", "isneutral", "neutralground", "neutralvenue", "neutralsite"),
}  # fmt: skip
FURTHER: Final = (
    *("event", "site", "round", "white_id", "black_id", "variant", "time_control"),
    *("termination", "ply_count", "white_type", "black_type", "white_title", "black_title"),
    *("games", "status", "odds", "odds_giver", "neutral"),
)
IGNORED: Final = ("id", "eco", "_")
_OURS_BY_WORD: Final = {word: ours for ours, words in SYNONYMS.items() for word in words}


def word_of(cell: str) -> str:
    """A header cell in lower case, without blanks, underscores and punctuation."""
    return re.sub(r"[\W_]", "", cell.casefold())


def column_of(cell: str) -> str | None:
    """Our name of a column by its header, None for a column that is not used."""
    return _OURS_BY_WORD.get(word_of(cell))


# of the sample of the first TTT program, which has no header
_PLAIN_LAYOUT: Final = ("id", "year", "white", "black", "white_score", "black_score")
_PLAIN_ROW: Final = re.compile(r"\d+,\d{4}(,(?!\d+,)[^,]*){2}(,(0|0\.5|1|2)){2}")
_RESULTS: Final[tuple[tuple[tuple[str, ...], ResultKind], ...]] = (
    (("result",), "text"),
    (("white_score", "black_score"), "scores"),
    (("white_goals", "black_goals"), "goals"),
    (("white_score",), "text"),
)
_IN_PLACE_OF: Final = {"white": "white_id", "black": "black_id", "date": "utc_date"}
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


def find_layout(
    sample: Sequence[Sequence[str]], data: DataConfig, name: str, *, named: bool = False
) -> Layout:
    """The layout of a table from its first rows (at least one); `named`: the first row is certainly a header.

    Raises ConfigError when configured columns are missing, DataError when the columns cannot be determined.
    """
    first = [cell.strip() for cell in sample[0]]
    said = ", ".join(first)
    configured = data.columns
    header = named or (
        _looks_like_header(first, configured) if data.header is None else data.header
    )
    width = len(first) if header else _usual_width(sample)
    column_names = _column_names(configured, first if header else [])
    words = _header_words(column_names)
    teams = find_team_fields(words)
    if teams is not None:
        # the first member stands for the side
        words[teams.white.members[0]], words[teams.black.members[0]] = teams.names
    plain = [",".join(cell.strip().replace(",", " ") for cell in row) for row in sample]
    if isinstance(configured, list):
        expected = len(first) if named else _usual_width(sample)
        if len(configured) != expected:
            message = f"data.columns names {len(configured)} columns, rows have {expected}"
            raise ConfigError(message, where=name, hint=f"the first line is {said}")
        members = [] if teams is None else [configured[field] for field in teams.fields]
        _check_names(configured, words, [*_named_columns(data), *members])
        columns = _by_names(words, {}, sample)
    elif configured is not None and not header:
        hint = f"the first line is {said}; without names, -s 'data.columns=[date, white, ...]'"
        raise ConfigError(
            "data.columns maps names that the file does not have", where=name, hint=hint
        )
    elif header:
        columns = _by_names(words, _configured(configured or {}, first, name), sample[1:])
    elif is_rating_list(" ".join(first)):
        raise rating_list(name)
    elif len([row for row in plain if _PLAIN_ROW.fullmatch(row)]) >= 0.9 * len(sample):
        columns = {ours: index for index, ours in enumerate(_PLAIN_LAYOUT)}
    else:
        raise DataError(
            f"its columns are not known; the first line is {said}"[:300], where=name, hint=_HINT
        )
    for number, ours in enumerate(data.constant):
        if ours not in SYNONYMS:
            raise _unknown(ours, SYNONYMS, where="data.constant")
        columns[ours] = -1 - number
    covariates = _covariate_columns(data, column_names, name)
    try:
        layout = _complete(columns, words, width, data, header=header)
    except DataError as error:
        if is_rating_list(" ".join(first)):
            raise rating_list(name) from None
        among = f" among {said}" if header else ""
        raise DataError(error.message + among, where=name, hint=_HINT) from None
    fields = {ours: (index,) for ours, index in covariates.items()}
    layout = layout._replace(columns={**layout.columns, **fields})
    return layout if teams is None else _with_teams(layout, teams)


def _with_teams(layout: Layout, teams: TeamFields) -> Layout:
    """The layout with the members of both sides."""
    columns = {WHITES: teams.white.fields, BLACKS: teams.black.fields}
    return layout._replace(columns={**layout.columns, **columns}, teams=teams)


def _named_columns(data: DataConfig) -> list[str]:
    """Names of columns of covariates, of the category and of the margin."""
    return [*data.covariates.values(), *single_columns(data).values()]


def _covariate_columns(data: DataConfig, column_names: Sequence[str], name: str) -> dict[str, int]:
    """Indices of the columns of covariates, of the category and of the margin, none without any.

    Raises ConfigError, also where the columns have no names.
    """
    if not column_names and _named_columns(data):
        of_games = "data.category" if data.category_column else "data.margin"
        key = "data.covariates" if data.covariates else of_games
        hint = "name all columns in order: -s 'data.columns=[date, white, black, result, NAME]'"
        raise ConfigError(f"{key} names columns, which the file does not", where=name, hint=hint)
    columns = find_covariates(data.covariates, column_names, word_of, name)
    return columns | find_single(single_columns(data), column_names, name)


def _complete(
    columns: dict[str, int], words: Sequence[str], width: int, data: DataConfig, *, header: bool
) -> Layout:
    """The layout of these columns; `words` are the names of all fields. Raises DataError when one is missing."""
    constants = [
        f"{value:g}" if isinstance(value, float) else value for value in data.constant.values()
    ]
    for ours, substitute in _IN_PLACE_OF.items():
        if ours not in columns and substitute in columns:
            columns[ours] = columns.pop(substitute)
    word_by_ours = {
        ours: words[index] for ours, index in columns.items() if 0 <= index < len(words)
    }
    won = word_by_ours.get("white", "")
    lost = word_by_ours.get("black", "")
    sport = bool(_SPORT.search(won) or _SPORT.search(lost))
    winners = won in (*WINNER, "winnerid") and lost in (*LOSER, "loserid")
    if winners:
        for column in (
            "score",
            "games",
            "white_score",
            "black_score",
            "white_goals",
            "black_goals",
        ):
            columns.pop(column, None)
        if "result" not in columns:
            columns["result"] = -1 - len(constants)
            constants.append("1-0")
    dates = _date_columns(columns, data.period)
    result, kind = _result_columns(columns)
    score = "score" if "score" in columns and len(result) < 2 else None
    if result == ("white_score",) and "games" in columns:
        result = ()
        kind = "scores"
        score = score or "white_score"
    required = {
        "white": "white" in columns,
        "black": "black" in columns,
        "date": bool(dates.names),
        "result": bool(result) or score is not None,
    }
    missing = [ours for ours, is_there in required.items() if not is_there]
    if missing:
        raise DataError(f"no column for {' and '.join(missing)}")
    fields: dict[str, tuple[str, ...]] = {
        DATES: dates.names,
        WHITES: ("white",),
        BLACKS: ("black",),
    }
    fields[RESULTS] = (*result, score, "games") if score else result
    fields |= {ours: (ours,) for ours in FURTHER if ours in columns}
    combiners: dict[str, Callable[..., Hashable]] = (
        {DATES: joined_date} if len(dates.names) > 1 else {}
    )
    if "utc_date" in columns:  # only beside a `date`, so that `known_date` gets two
        fields[DATES] = (*dates.names, "utc_date")
        combiners[DATES] = known_date
    if score:
        combiners[RESULTS] = match_result if result else match_scores
    if "weight" in columns:
        fields[WEIGHTS] = ("weight",)
    if winners and word_by_ours.get("result") in SYNONYMS["score"]:
        kind = "winners"
    elif sport:
        kind = "sport" if kind == "text" else "goals"
    return Layout(
        columns={name: tuple(columns[ours] for ours in names) for name, names in fields.items()},
        kind=kind,
        combiners=combiners,
        unit=dates.unit,
        chess=not (sport or kind == "goals" or "neutral" in columns),
        winners=winners,
        width=width,
        header=header,
        constants=tuple(constants),
        home=won in HOME and lost in VISITOR,
    )


class _DateColumns(NamedTuple):
    """The columns of the date, and the period that they count, None for calendar dates."""

    names: tuple[str, ...]
    unit: Period | None = None


def _date_columns(columns: Mapping[str, int], period: Period) -> _DateColumns:
    """The columns of the date: a date, else without a year numbers of periods, else the parts of a date."""
    if "date" in columns:
        return _DateColumns(("date",))
    if "year" not in columns:
        units: dict[str, Period] = {
            "period": period,
            "day": "day",
            "week": "week",
            "month": "month",
        }
        for ours, unit in units.items():
            if ours in columns:
                return _DateColumns((ours,), unit)
    return _DateColumns(tuple(part for part in ("year", "month", "day") if part in columns))


def _result_columns(columns: Mapping[str, int]) -> tuple[tuple[str, ...], ResultKind]:
    """The first columns of results that a table has, and how results are written in them; none without any."""
    for names, kind in _RESULTS:
        if columns.keys() >= set(names):
            return names, kind
    return (), "scores"


def _usual_width(sample: Sequence[Sequence[str]]) -> int:
    widths = sorted(len(row) for row in sample)
    return Counter(widths).most_common(1)[0][0]


def _column_names(
    configured: list[str] | dict[str, str] | None, header: Sequence[str]
) -> Sequence[str]:
    """The names of all columns, from a config that lists them, else from the header; none without either."""
    return configured if isinstance(configured, list) else header


def _header_words(cells: Sequence[str]) -> list[str]:
    """Names of columns as words; `winner` is a player if the other one is the loser, else a result."""
    words = [word_of(cell) for cell in cells]
    black = next((word for word in SYNONYMS["black"] if word in words), "")
    return [WINNER[0] if word == "winner" and black in LOSER else word for word in words]


def _looks_like_header(first: Sequence[str], configured: list[str] | dict[str, str] | None) -> bool:
    """Whether the first row names the columns.

    A map of names needs a header. So with one the row is a header also where all names in the map are misspelt, as
    long as no cell is a date, which every row of games has.
    """
    if isinstance(configured, dict):
        if any(cell in configured.values() for cell in first):
            return True
        dates = parse_dates(first, DataConfig())
        return bool(np.all(dates.repaired | (dates.reject_code > 0)))
    words = _header_words(first)
    if find_team_fields(words) is not None:
        return True
    if configured is not None and words == _header_words(configured):
        return True
    columns = {_OURS_BY_WORD.get(word) for word in words}
    return all(side in columns or f"{side}_id" in columns for side in ("white", "black"))


def _check_names(names: Sequence[str], words: Sequence[str], covariates: Iterable[str]) -> None:
    """Raise ConfigError where names of all columns in order are unknown or have the same meaning."""
    seen: set[str] = set()
    of_covariates = {word_of(column) for column in covariates}
    for column in tuple(of_covariates):
        for names_of_sides in sided_names(column):
            of_covariates.update(names_of_sides)
    for written, word in zip(names, words, strict=True):
        ours = _OURS_BY_WORD.get(word)
        is_ignored = (
            written in IGNORED or written.startswith("_") or word_of(written) in of_covariates
        )
        if ours is None and not is_ignored:
            raise _unknown(written, (*SYNONYMS, *IGNORED), ", and _ for the others")
        if ours in seen:
            raise ConfigError(f"data.columns names {ours} twice")
        seen |= {ours} if ours else set()


def _configured(names: Mapping[str, str], first: Sequence[str], name: str) -> dict[str, int]:
    columns: dict[str, int] = {}
    for ours, written in names.items():
        if ours not in SYNONYMS:
            raise _unknown(ours, SYNONYMS)
        same = [index for index, cell in enumerate(first) if cell.casefold() == written.casefold()]
        if not same:
            hint = suggested(written, first, f"columns are {', '.join(first)}")
            raise ConfigError(
                f"data.columns: there is no column {written!r}", where=name, hint=hint
            )
        columns[ours] = next((index for index in same if first[index] == written), same[0])
    return columns


def _by_names(
    words: Sequence[str], configured: Mapping[str, int], rows: Sequence[Sequence[str]]
) -> dict[str, int]:
    """The indices of columns: the configured ones, and others by their names."""
    taken = configured.values()
    free = {word: index for index, word in reversed(list(enumerate(words))) if index not in taken}
    columns = dict(configured)
    for ours, synonyms in SYNONYMS.items():
        free_synonyms = [word for word in synonyms if word in free]
        if ours not in columns and free_synonyms:
            columns[ours] = free[free_synonyms[0]]
    if "score" in columns:
        named_result = "result" in configured or ("result" in free and "score" not in configured)
        _settle_score_column(columns, rows, named_result=named_result)
    for ours, rivals in _RIVALS.items():
        if ours not in configured and not configured.keys().isdisjoint(rivals):
            columns.pop(ours, None)
    return columns


def _settle_score_column(
    columns: dict[str, int], rows: Sequence[Sequence[str]], *, named_result: bool
) -> None:
    """Keep `score` as White's score in a match if there is a number of games, and most cells are scores.

    Else it becomes the result, unless another column is called that (`named_result`).
    """
    index = columns["score"]
    cells = [row[index] for row in rows if len(row) > index and row[index].strip()]
    scores = [cell for cell in cells if is_score(cell)]
    if "games" not in columns or 2 * len(scores) < len(cells):
        del columns["score"]
        if not named_result:
            columns["result"] = index


def _unknown(
    written: str,
    names: Sequence[str] | Mapping[str, object],
    more: str = "",
    where: str = "data.columns",
) -> ConfigError:
    hint = suggested(written, names, f"names are {', '.join(SYNONYMS)}{more}")
    return ConfigError(f"{where}: unknown column name {written!r}", hint=hint)
