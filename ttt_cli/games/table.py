"""Tables of columns: Records, the whole content of the files, and Games, the records that every model starts from."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import compress
from typing import Any, Final, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from ttt_cli.games.covariates import CovariateTexts
from ttt_cli.games.people import NO_PEOPLE, PeopleTable
from ttt_cli.games.teams import NO_TEAM, NO_TEAMS, Teams, without_unused_teams
from ttt_cli.reading.columns import (
    CodedColumn,
    Codes,
    Dictionary,
    has_stride_0,
    rows_of_column,
    spread,
)
from ttt_cli.reading.reports import (
    FileReport,
    InputFile,
    PeopleReport,
    Problem,
    ReadReport,
    position_text,
)
from ttt_cli.reading.text_columns import TEXT_COLUMNS
from ttt_cli.storage import MEMORY, ArrayStorage
from ttt_cli.support.arrays import Mask, Places

LOSS: Final = 0
DRAW: Final = 1
WIN: Final = 2

PRECISION_YEAR: Final = 0
PRECISION_MONTH: Final = 1
PRECISION_DAY: Final = 2

GAME_DTYPES: Final[dict[str, type[np.generic]]] = {
    "date": np.int32,
    "date_precision": np.int8,
    "white": np.int32,
    "black": np.int32,
    "outcome": np.int8,
    "weight": np.float64,
    "offset": np.float64,
    "source_file": np.int32,
    "source_line": np.int64,
    "neutral": np.bool_,
    "victory_margin": np.float64,
    "p_true": np.float64,
    "white_team": np.int32,
    "black_team": np.int32,
    "race": np.int32,
}
GAME_COLUMNS: Final = tuple(GAME_DTYPES)
GAME_TEXTS: Final = (*TEXT_COLUMNS, "category", "source")  # columns of `Games`
# columns of `Records`
RECORD_TEXTS: Final = (
    *TEXT_COLUMNS,
    *("variant", "time_control", "status", "odds", "category_written", "source"),
)


def no_texts(count: int) -> CodedColumn[str]:
    """A column of empty texts."""
    return CodedColumn(np.broadcast_to(np.uint8(0), count), ("",))


def no_numbers(count: int) -> NDArray[np.int32]:
    """A column of zeros: no teams, or no order of finish."""
    return np.broadcast_to(np.int32(0), count)


class GameColumns(NamedTuple):
    """Columns of games, (games,) each, as in `Games`, but in any order."""

    date: NDArray[np.int32]
    date_precision: NDArray[np.int8]
    white: NDArray[np.int32]
    black: NDArray[np.int32]
    outcome: NDArray[np.int8]
    weight: NDArray[np.float64]
    offset: NDArray[np.float64]
    source_file: NDArray[np.int32]
    source_line: NDArray[np.int64]
    neutral: NDArray[np.bool_]
    victory_margin: NDArray[np.float64]
    p_true: NDArray[np.float64]
    white_team: NDArray[np.int32]
    black_team: NDArray[np.int32]
    race: NDArray[np.int32]
    event: CodedColumn[str]
    site: CodedColumn[str]
    round: CodedColumn[str]
    category: CodedColumn[str]
    source: CodedColumn[str]
    covariates: tuple[CovariateTexts, ...] = ()

    def take(self, rows: Places | Mask) -> Self:
        """Some rows, by indices or a mask."""
        return self._replace(
            date=self.date[rows],
            date_precision=self.date_precision[rows],
            white=self.white[rows],
            black=self.black[rows],
            outcome=self.outcome[rows],
            weight=self.weight[rows],
            offset=self.offset[rows],
            source_file=self.source_file[rows],
            source_line=self.source_line[rows],
            neutral=self.neutral[rows],
            victory_margin=self.victory_margin[rows],
            p_true=self.p_true[rows],
            white_team=self.white_team[rows],
            black_team=self.black_team[rows],
            race=self.race[rows],
            event=texts_of_rows(self.event, rows),
            site=texts_of_rows(self.site, rows),
            round=texts_of_rows(self.round, rows),
            category=texts_of_rows(self.category, rows),
            source=texts_of_rows(self.source, rows),
            covariates=covariates_of_rows(self.covariates, rows),
        )


# sentinel, replaced in `Games.__post_init__` by as many empty texts as games
_TEXTS_NOT_GIVEN: Final = no_texts(0)
# So many wins in a row have a chance of 2 in a million where the first side wins 65 % of the decisive games
_NO_CHANCE: Final = 30


def winner_named_first(lost: int, won: int) -> bool:
    """Whether numbers of lost and won records show that the winner is always named first."""
    return lost == 0 and won >= _NO_CHANCE


@dataclass(frozen=True)
class Games:
    """Game records as read-only columns of equal length, sorted by date, then as read; in `storage`.

    | column (games,) | |
    |---|---|
    | date | days since 1970-01-01 (proleptic Gregorian): the middle of the year or month if that is all that is known |
    | date_precision | whether the day, the month or only the year is known |
    | white, black | indices of `players`; of a team the first member |
    | outcome | White's: 0 loss, 1 draw, 2 win |
    | weight | the game counts so many times |
    | offset | Elo points added to White's strength, negative where White gave odds |
    | source_file, source_line | index of `report.files`, and the record's place there (see `reading.reports`) |
    | neutral | neutral ground: no side has an advantage; nowhere by default |
    | victory_margin | by how much the winner won, 0 of draws and where it is unknown, which is the default |
    | p_true | probability that the record is right, 1 by default |
    | white_team, black_team | numbers of `teams`, 0 where the side is one player, which is the default |
    | race | above 0: rows with the same number are neighbours in one order of finish; 0 by default |
    | event, site, round | texts as written |
    | category, source | kind of game, and where the record is from; empty where unknown |
    | covariates | texts as written, by name |

    Columns from `neutral` to `race` may have stride 0 where all values are equal.

    - `players`: names, sorted and unique; `spellings`: sorted pairs of a player and another spelling
    - `teams`: members of teams; `people`: what else is known of players
    - `report`: what became of all records that were read

    Raises ValueError for a wrong length, or an index or code out of range.
    """

    date: NDArray[np.int32]
    date_precision: NDArray[np.int8]
    white: NDArray[np.int32]
    black: NDArray[np.int32]
    outcome: NDArray[np.int8]
    weight: NDArray[np.float64]
    offset: NDArray[np.float64]
    source_file: NDArray[np.int32]
    source_line: NDArray[np.int64]
    players: tuple[str, ...]
    report: ReadReport = field(default_factory=ReadReport)
    event: CodedColumn[str] = field(default=_TEXTS_NOT_GIVEN, repr=False)
    site: CodedColumn[str] = field(default=_TEXTS_NOT_GIVEN, repr=False)
    round: CodedColumn[str] = field(default=_TEXTS_NOT_GIVEN, repr=False)
    category: CodedColumn[str] = field(default=_TEXTS_NOT_GIVEN, repr=False)
    source: CodedColumn[str] = field(default=_TEXTS_NOT_GIVEN, repr=False)
    spellings: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    neutral: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, np.bool_), repr=False)
    victory_margin: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0), repr=False)
    p_true: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0), repr=False)
    white_team: NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, np.int32), repr=False)
    black_team: NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, np.int32), repr=False)
    race: NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, np.int32), repr=False)
    teams: Teams = field(default=NO_TEAMS, repr=False)
    covariates: tuple[CovariateTexts, ...] = field(default=(), repr=False)
    people: PeopleTable = field(default=NO_PEOPLE, repr=False)
    storage: ArrayStorage = field(default=MEMORY, repr=False, compare=False)

    def __post_init__(self) -> None:
        n = len(self.date)
        usual = {"neutral": np.False_, "victory_margin": np.float64(0.0), "p_true": np.float64(1.0)}
        for name, value in usual.items():
            if not len(vars(self)[name]):
                object.__setattr__(self, name, np.broadcast_to(value, n))
        for name in ("white_team", "black_team", "race"):
            if not len(vars(self)[name]):
                object.__setattr__(self, name, no_numbers(n))
        for covariate in self.covariates:
            lengths = {len(column) for column in covariate.columns.values()}
            _require(
                lengths == {n},
                f"the covariate {covariate.name} has as many texts as there are games",
            )
        for name, column in self.columns._asdict().items():
            if name == "covariates":
                continue
            if name in GAME_TEXTS:
                texts = no_texts(n) if column is _TEXTS_NOT_GIVEN else column
                if len(texts) != n:
                    raise ValueError(f"games: column {name} has {len(texts)} texts, not {n}")
                object.__setattr__(self, name, texts)
            else:
                numbers = _read_only(column, GAME_DTYPES[name])
                if numbers.shape != (n,):
                    raise ValueError(f"games: column {name} has shape {numbers.shape}, not ({n},)")
                object.__setattr__(self, name, numbers)
        indices = f"white and black are indices of the {len(self.players)} players"
        _require(_all_below(self.white, len(self.players)), indices)
        _require(_all_below(self.black, len(self.players)), indices)
        _require(_all_below(self.outcome, WIN + 1), "outcomes are 0, 1 or 2")
        is_weight = (self.weight > 0) & np.isfinite(self.weight)
        _require(np.all(is_weight), "weights are positive and finite")
        _require(np.all(np.isfinite(self.offset)), "offsets are finite")
        is_margin = (self.victory_margin >= 0) & np.isfinite(self.victory_margin)
        _require(np.all(is_margin), "margins of victory are at least 0 and finite")
        _require(np.all((self.p_true > 0) & (self.p_true <= 1)), "p_true is above 0 and at most 1")
        _require(np.all(self.white != self.black), "nobody plays against himself")
        if len(self.teams) > 1 or self.white_team.any() or self.black_team.any():
            self._check_teams()
        _require(np.all(self.date[1:] >= self.date[:-1]), "rows are sorted by date")

    def _check_teams(self) -> None:
        """Raise ValueError for teams out of range."""
        _require(
            _all_below(self.teams.player, len(self.players)),
            "members of teams are indices of the players",
        )
        first_players = self.teams.first_players()
        for side, team in ((self.white, self.white_team), (self.black, self.black_team)):
            _require(
                _all_below(team, len(self.teams)), "white_team and black_team are numbers of teams"
            )
            is_first = (first_players[team] == side) | (team == NO_TEAM)
            _require(np.all(is_first), "white and black are the first members of their teams")

    def __len__(self) -> int:
        return len(self.date)

    @property
    def has_sums(self) -> bool:
        """Whether any game has a team or is part of an order of finish: such are fitted as sums of skills."""
        return len(self.teams) > 1 or bool(self.race.any())

    @property
    def columns(self) -> GameColumns:
        """All columns of the games."""
        return GameColumns(
            date=self.date,
            date_precision=self.date_precision,
            white=self.white,
            black=self.black,
            outcome=self.outcome,
            weight=self.weight,
            offset=self.offset,
            source_file=self.source_file,
            source_line=self.source_line,
            neutral=self.neutral,
            victory_margin=self.victory_margin,
            p_true=self.p_true,
            white_team=self.white_team,
            black_team=self.black_team,
            race=self.race,
            event=self.event,
            site=self.site,
            round=self.round,
            category=self.category,
            source=self.source,
            covariates=self.covariates,
        )

    def _repr_html_(self) -> str:
        days = (
            [str(np.datetime64(int(day), "D")) for day in self.date[[0, -1]]] if len(self) else []
        )
        facts = {
            "games": f"{len(self):,}",
            "players": f"{len(self.players):,}",
            "dates": " to ".join(days),
            "drawn": f"{100.0 * self.draw_share:.1f} %",
            "files": ", ".join(file.path for file in self.report.files),
        }
        from pandas import Series

        return str(Series(facts, name="games").to_frame().to_html())

    @property
    def winner_first(self) -> bool:
        """Whether the winner is always named first, so that colours are unknown; orders of finish have no colours."""
        outcome = self.outcome[self.race == 0] if self.race.any() else self.outcome
        lost = np.count_nonzero(outcome == LOSS)
        won = np.count_nonzero(outcome == WIN)
        return winner_named_first(int(lost), int(won))

    @property
    def draw_share(self) -> float:
        """The weighted share of draws, 0 when there are no games."""
        total = float(self.weight.sum())
        return float(self.weight[self.outcome == DRAW].sum()) / total if total else 0.0


def _read_only(values: Any, dtype: type[np.generic]) -> NDArray[Any]:
    """The values as a read-only array; a column of stride 0 keeps it."""
    column: NDArray[Any] = np.asarray(values, dtype=dtype)
    if not has_stride_0(column):
        column = np.ascontiguousarray(column)
    if column is values and column.flags.writeable:
        column = column.view()  # the caller's own array stays writeable
    column.flags.writeable = False
    return column


def _all_below(column: NDArray[np.integer], end: int) -> bool:
    """Whether all numbers are from 0 to `end` - 1."""
    return bool(column.min(initial=0) >= 0 and column.max(initial=-1) < end)


def _require(holds: bool | np.bool_, what: str) -> None:
    """Raise ValueError if something does not hold of games."""
    if not holds:
        raise ValueError(f"games: {what}")


def texts_of_rows(column: CodedColumn[str], rows: NDArray[Any] | slice) -> CodedColumn[str]:
    """The texts of some rows, by indices, a mask or a slice. A column of one text (stride 0) stays one."""
    if isinstance(rows, slice) or not has_stride_0(column.codes):
        return CodedColumn(column.codes[rows], column.values)
    count = int(np.count_nonzero(rows)) if rows.dtype == np.bool_ else len(rows)
    if not len(column) or column.values[column.codes[0]] == "":
        return no_texts(count)
    return CodedColumn(np.broadcast_to(column.codes[:1], count), column.values)


def covariates_of_rows(
    covariates: tuple[CovariateTexts, ...], rows: NDArray[Any]
) -> tuple[CovariateTexts, ...]:
    """The covariates of some rows, by indices or a mask."""
    return tuple(
        covariate._replace(
            single=texts_of_rows(covariate.single, rows),
            white=texts_of_rows(covariate.white, rows),
            black=texts_of_rows(covariate.black, rows),
        )
        for covariate in covariates
    )


def without_unused_texts(column: CodedColumn[str]) -> CodedColumn[str]:
    """The column with only those of its distinct texts that occur, in their order, and new codes of these."""
    present = np.zeros(len(column.values), np.bool_)
    present[column.codes] = True
    number = (np.cumsum(present) - 1).astype(np.int32)
    return CodedColumn(
        spread(number, column.codes), tuple(compress(column.values, present.tolist()))
    )


def joined(first: CodedColumn[str], second: CodedColumn[str]) -> CodedColumn[str]:
    """Two columns of texts, one after the other."""
    dictionary = Dictionary("")
    parts = [without_unused_texts(column) for column in (first, second)]
    codes = [dictionary.numbers_of(part.values)[part.codes] for part in parts]
    return CodedColumn(np.concatenate(codes), tuple(dictionary.values))


@dataclass(frozen=True)
class Records:
    """All records of all files in the order of reading; arrays of shape (records,) unless noted otherwise.

    | name | shape | |
    |---|---|---|
    | files | | their reports |
    | starts | (files + 1,) | records `starts[i]` up to `starts[i + 1]` are those of `files[i]` |
    | line | | the place of each there |
    | date to odds | | texts as written |
    | category | | the kind of game |
    | source | | where the record is from |
    | date_day, date_precision | (distinct dates,) | of each distinct date |
    | tally | (distinct results, 3) | numbers of games that White lost, drew and won |
    | players | | all names united |
    | white, black | | indices of `players`, -1 where nobody is named |
    | weight, offset, neutral, victory_margin, p_true, white_team, black_team, teams, race | | as in `Games` |
    | computer | | whether a side is a program by its type or title |
    | moves | | a hash of the moves, 0 where they are not known |
    | reject_code | | 0 for a record that is used, else 1 + the index in DROP_REASONS |
    | problems | | oddities of single records, without what filters did |

    `weight` to `moves` may have stride 0. Of rejected records the other columns may mean nothing. The rest is as in
    `Games`.
    """

    files: tuple[FileReport, ...]
    starts: NDArray[np.int64]
    line: Codes
    date: CodedColumn[str]
    white_written: CodedColumn[str]
    black_written: CodedColumn[str]
    result: CodedColumn[str]
    event: CodedColumn[str]
    site: CodedColumn[str]
    round: CodedColumn[str]
    variant: CodedColumn[str]
    time_control: CodedColumn[str]
    status: CodedColumn[str]
    odds: CodedColumn[str]
    category: CodedColumn[str]
    source: CodedColumn[str]
    date_day: NDArray[np.int32]
    date_precision: NDArray[np.int8]
    tally: NDArray[np.float64]
    players: tuple[str, ...]
    white: Codes
    black: Codes
    weight: NDArray[np.float64]
    offset: NDArray[np.float64]
    neutral: NDArray[np.bool_]
    victory_margin: NDArray[np.float64]
    p_true: NDArray[np.float64]
    computer: NDArray[np.bool_]
    moves: NDArray[np.int64]
    reject_code: NDArray[np.int8]
    white_team: NDArray[np.int32]
    black_team: NDArray[np.int32]
    race: Codes
    teams: Teams = NO_TEAMS
    problems: tuple[Problem, ...] = ()
    aliases: InputFile | None = None
    spellings: tuple[tuple[str, str], ...] = ()
    covariates: tuple[CovariateTexts, ...] = ()
    people: PeopleTable = NO_PEOPLE
    people_report: PeopleReport | None = None

    def __post_init__(self) -> None:
        for column in vars(self).values():
            if isinstance(column, np.ndarray):
                column.flags.writeable = False

    def __len__(self) -> int:
        return len(self.reject_code)

    @property
    def file(self) -> NDArray[np.int32]:
        """The file of each record, an index of `files`."""
        return np.repeat(np.arange(len(self.files), dtype=np.int32), np.diff(self.starts))

    @property
    def day(self) -> NDArray[np.int32]:
        """Days since 1970-01-01, the middle of what is known."""
        return self.date_day[self.date.codes]

    @property
    def precision(self) -> NDArray[np.int8]:
        """How exact the date is, as in `Games`."""
        return self.date_precision[self.date.codes]

    @property
    def year(self) -> NDArray[np.int16]:
        """The year of each record."""
        return years_of(self.date_day)[self.date.codes]

    @property
    def used(self) -> NDArray[np.bool_]:
        """Which records are games."""
        return np.equal(self.reject_code, 0)

    @property
    def report(self) -> ReadReport:
        """The report on the reading of all files."""
        return ReadReport(self.files, self.problems, self.aliases, self.people_report)

    def place(self, row: int) -> str:
        """`file:line` of a record, with its number where several share the line."""
        file = int(np.searchsorted(self.starts, row, side="right")) - 1
        return position_text(self.files[file].path, int(self.line[row]))


def years_of(days: NDArray[np.int32]) -> NDArray[np.int16]:
    """Years of days since 1970-01-01."""
    return (days.astype("datetime64[D]").astype("datetime64[Y]").astype(np.int64) + 1970).astype(
        np.int16
    )


def games_of(records: Records) -> Games:
    """The games of the records that are used, by date, then as read; players are those who have games."""
    columns = game_columns(records)
    return games_from_columns(
        columns,
        records.players,
        records.report,
        records.spellings,
        records.people,
        teams=records.teams,
    )


def game_columns(records: Records) -> GameColumns:
    """Columns of the games of `games_of`; `white` and `black` are numbers in `records.players`.

    A match is up to three rows of one source line, for the games that White lost, drew and won.
    """
    unordered = _rows_of_games(records)
    order = _order_by_day(records.date_day[records.date.codes[unordered.record]])
    rows = unordered.record[order]
    outcome = unordered.outcome[order]
    n_games = rows_of_column(unordered.n_games, order)
    del unordered, order
    weight = rows_of_column(records.weight, rows)
    if has_stride_0(n_games) and has_stride_0(weight):
        # equal weights stay one number in memory
        weight = np.broadcast_to(n_games[:1] * weight[:1], len(rows))
    else:
        weight = n_games * weight
    dates = records.date.codes[rows]
    return GameColumns(
        date=records.date_day[dates],
        date_precision=records.date_precision[dates],
        white=records.white[rows].astype(np.int32, copy=False),
        black=records.black[rows].astype(np.int32, copy=False),
        outcome=outcome,
        weight=weight,
        offset=rows_of_column(records.offset, rows),
        source_file=records.file[rows] if len(records.files) > 1 else np.zeros(len(rows), np.int32),
        source_line=records.line[rows].astype(np.int64),
        neutral=rows_of_column(records.neutral, rows),
        victory_margin=rows_of_column(records.victory_margin, rows),
        p_true=rows_of_column(records.p_true, rows),
        white_team=rows_of_column(records.white_team, rows),
        black_team=rows_of_column(records.black_team, rows),
        race=rows_of_column(records.race, rows).astype(np.int32, copy=False),
        event=texts_of_rows(records.event, rows),
        site=texts_of_rows(records.site, rows),
        round=texts_of_rows(records.round, rows),
        category=texts_of_rows(records.category, rows),
        source=texts_of_rows(records.source, rows),
        covariates=covariates_of_rows(records.covariates, rows),
    )


class _UnorderedGames(NamedTuple):
    """Rows of games in the order of their records, (games,) each."""

    record: Codes
    outcome: NDArray[np.int8]
    n_games: NDArray[np.float64]  # how many games of the record ended so


def _rows_of_games(records: Records) -> _UnorderedGames:
    """The rows of the records that are used: one each, or those of a match."""
    record: Codes = np.flatnonzero(records.used)
    if len(records) < 1 << 31:
        record = record.astype(np.int32)
    result = records.result.codes[record]
    is_played = records.tally > 0  # (results, 3)
    occurs = np.zeros(len(is_played), np.bool_)
    occurs[result] = True
    has_one_outcome = np.all(is_played[occurs].sum(axis=1) == 1)
    if has_one_outcome and np.all(records.tally[occurs].max(axis=1, initial=0) == 1):
        # its only outcome is the column
        outcome_of_result = np.argmax(is_played, axis=1).astype(np.int8)
        return _UnorderedGames(record, outcome_of_result[result], np.broadcast_to(1.0, len(record)))
    position, outcome = np.nonzero(is_played[result])
    n_games = records.tally[result[position], outcome]
    return _UnorderedGames(record[position], outcome.astype(np.int8), n_games)


def _order_by_day(days: NDArray[np.int32]) -> NDArray[np.int64]:
    """The order of rows by day; rows of one day stay in theirs."""
    first = days.min(initial=np.iinfo(np.int32).max)
    if (
        int(days.max(initial=first)) - int(first) < 1 << 16
    ):  # 179 years, which are sorted by counting
        return np.argsort((days - first).astype(np.uint16), kind="stable")
    return np.argsort(days, kind="stable")


def games_from_columns(
    columns: GameColumns,
    players: Sequence[str],
    report: ReadReport,
    spellings: Sequence[tuple[str, str]],
    people: PeopleTable = NO_PEOPLE,
    storage: ArrayStorage = MEMORY,
    teams: Teams = NO_TEAMS,
) -> Games:
    """The table of games with these columns (as `game_columns` makes them), which lie in `storage`.

    Its players are those of `players` who have games: `white`, `black` and the `teams` are renumbered to these, the
    first two in place. Its teams are those of games.
    """
    if len(teams) > 1:
        used_teams = without_unused_teams(teams, columns.white_team, columns.black_team)
        teams = used_teams.teams
        columns = columns._replace(white_team=used_teams.white, black_team=used_teams.black)
    white = columns.white
    black = columns.black
    has_games = np.zeros(len(players), np.bool_)
    for rows in storage.parts(len(white)):
        has_games[white[rows]] = True
        has_games[black[rows]] = True
    has_games[teams.player] = True
    new_number = (np.cumsum(has_games) - 1).astype(np.int32)
    for rows in storage.parts(len(white)):
        white[rows] = new_number[white[rows]]
        black[rows] = new_number[black[rows]]
    names = tuple(compress(players, has_games.tolist()))
    present = frozenset(names)
    spellings_here = {(player, spelling) for player, spelling in spellings if player in present}
    return Games(
        **columns._asdict(),
        players=names,
        teams=teams.of_players(new_number),
        report=report,
        spellings=tuple(sorted(spellings_here)),
        people=people.only(names),
        storage=storage,
    )
