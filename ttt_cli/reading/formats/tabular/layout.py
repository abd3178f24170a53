"""Which column of a table is which: by configured names, by a header's words, or by what stands in it."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from ttt_cli.config.schema import DataConfig, Period
from ttt_cli.errors import ConfigError, DataError, suggested
from ttt_cli.reading.batches import Batch, ResultKind, Table
from ttt_cli.reading.formats.tabular.headers import (
    FURTHER,
    IGNORED,
    LOSER,
    SYNONYMS,
    WINNER,
    column_of,
    word_of,
)
from ttt_cli.reading.values.dates import parse_date
from ttt_cli.reading.values.results import is_score

_PLAIN_LAYOUT: Final = ("id", "year", "white", "black", "white_score", "black_score")
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
_SPORT: Final = re.compile("home|away|visitor|team|winn|los[ei]")
_HINT: Final = (
    "name the columns in order: -s 'data.columns=[date, white, black, result]' (with -s data.header=true "
    "when the first line holds names), or by their header: -s 'data.columns={white: NAME, black: NAME}'"
)


@dataclass(frozen=True)
class Layout:
    """Indices of the columns that are used, in rows of `width` fields.

    `date` is one column, or up to three of year, month and day, and `utc_date` stands for one that is missing; `result`
    is one (`text`) or White's and Black's, or none where all results are scores of matches. `score` is White's score in
    a match of `further["games"]` games, which counts where `result` is empty. `further` are the columns of
    `headers.FURTHER`. The column -1 - k stands in no row: it holds `constants[k]` throughout. `unit`, `chess` and
    `winners` are as in `batches.Table`.
    """

    width: int
    header: bool
    date: tuple[int, ...]
    white: int
    black: int
    result: tuple[int, ...]
    kind: ResultKind
    weight: int | None = None
    score: int | None = None
    further: Mapping[str, int] = field(default_factory=dict)
    constants: tuple[str, ...] = ()
    unit: Period | None = None
    chess: bool = True
    winners: bool = False
    utc_date: int | None = None

    def table(self, batches: Iterator[Batch]) -> Table:
        """The file whose records these are."""
        return Table(self.kind, batches, self.unit, self.chess, self.winners)

    @property
    def outcome(self) -> tuple[int, ...]:
        """The columns that tell the result: `result`, and for matches the score and the number of games."""
        return self.result if self.score is None else (*self.result, self.score, self.further["games"])

    @property
    def used(self) -> tuple[int, ...]:
        """All columns of the file that are used, each once, in its order."""
        columns = {self.white, self.black, *self.date, *self.outcome, *self.further.values()}
        columns |= {column for column in (self.weight, self.utc_date) if column is not None}
        return tuple(sorted(column for column in columns if column >= 0))


def find_layout(
    sample: Sequence[Sequence[str]], data: DataConfig, name: str, *, named: bool = False
) -> Layout:
    """The layout of a table from its first rows (at least one); `named` when the first surely holds names.

    Raises ConfigError when configured columns are not there, DataError when the columns cannot be told.
    """
    first = [cell.strip() for cell in sample[0]]
    said = True if named else data.header
    header = said if said is not None else _looks_like_header(first, data.columns)
    if isinstance(data.columns, list):
        columns = _in_order(data.columns, sample[:1] if named else sample, name)
        _settle_score(columns, sample, replacing=())
    elif data.columns is not None and not header:
        hint = f"the first line is {', '.join(first)}; without names, -s 'data.columns=[date, white, ...]'"
        raise ConfigError("data.columns maps names that the file does not have", where=name, hint=hint)
    elif header:
        columns = _by_names(first, data.columns or {}, sample[1:], name)
    elif _is_plain(sample):
        columns = {ours: index for index, ours in enumerate(_PLAIN_LAYOUT)}
    else:
        raise DataError(
            f"its columns are not known; the first line is {', '.join(first)}"[:300], where=name, hint=_HINT
        )
    constants = _constants(columns, data)
    names = data.columns if isinstance(data.columns, list) else first if header else []
    words = [word_of(cell) for cell in names]
    winners = _name_winners(columns, words)
    if winners and "result" not in columns:
        columns["result"], constants = -1 - len(constants), (*constants, "1-0")
    walkovers = winners and columns["result"] >= 0 and words[columns["result"]] in SYNONYMS["score"]
    width = len(first) if header else _usual_width(sample)
    layout = _complete(columns, first, width, data.period, header=header, name=name)
    sport = any(
        _SPORT.search(words[index]) for index in (layout.white, layout.black) if 0 <= index < len(words)
    )
    kind = "winners" if walkovers else _KIND_IN_SPORT[layout.kind] if sport else layout.kind
    return replace(layout, kind=kind, constants=constants, chess=not sport, winners=winners)


def _constants(columns: dict[str, int], data: DataConfig) -> tuple[str, ...]:
    """Take in the columns that are the same in all rows. Raises ConfigError for one that there is not."""
    for number, ours in enumerate(data.constant):
        if ours not in SYNONYMS:
            _unknown(ours, SYNONYMS, f"names are {', '.join(SYNONYMS)}", "data.constant")
        columns[ours] = -1 - number
    return tuple(f"{value:g}" if isinstance(value, float) else value for value in data.constant.values())


def _name_winners(columns: dict[str, int], words: Sequence[str]) -> bool:
    """Whether the first player is the winner, which makes scores and goals superfluous."""
    word = {ours: words[index] for ours, index in columns.items() if 0 <= index < len(words)}
    won, lost = (word.get(side, word.get(f"{side}_id")) for side in ("white", "black"))
    if won not in (*WINNER, "winner", "winnerid") or lost not in (*LOSER, "loserid"):
        return False
    for other in ("score", "games", "white_score", "black_score", "white_goals", "black_goals"):
        columns.pop(other, None)
    return True


def _usual_width(sample: Sequence[Sequence[str]]) -> int:
    widths = [len(row) for row in sample]
    return max(set(widths), key=widths.count)


def _complete(
    columns: dict[str, int], first: Sequence[str], width: int, period: Period, *, header: bool, name: str
) -> Layout:
    """The layout once it is known which column is which; DataError when one is missing."""
    for side in ("white", "black"):  # players known by their numbers alone
        if side not in columns and f"{side}_id" in columns:
            columns[side] = columns.pop(f"{side}_id")
    if "date" not in columns and "utc_date" in columns:
        columns["date"] = columns.pop("utc_date")
    date, unit = _date_columns(columns, period)
    result, kind, score = _outcome(columns)
    missing = [ours for ours in ("white", "black") if ours not in columns]
    missing += ["date"] * (not date) + ["result"] * (not result and score is None)
    if missing:
        among = f" among {', '.join(first)}" if header else ""
        raise DataError(f"no column for {' and '.join(missing)}{among}", where=name, hint=_HINT)
    return Layout(
        width=width,
        header=header,
        date=tuple(columns[part] for part in date),
        white=columns["white"],
        black=columns["black"],
        result=tuple(columns[part] for part in result),
        kind=kind,
        weight=columns.get("weight"),
        score=score,
        further={ours: columns[ours] for ours in FURTHER if ours in columns},
        unit=unit,
        utc_date=columns.get("utc_date"),
    )


def _date_columns(columns: Mapping[str, int], period: Period) -> tuple[tuple[str, ...], Period | None]:
    """The columns of the date, and of which periods it may be the number."""
    units: dict[str, Period] = {"period": period, "day": "day", "week": "week", "month": "month"}
    if "date" in columns:
        return ("date",), None
    if "year" not in columns and (counted := [ours for ours in units if ours in columns]):
        return (counted[0],), units[counted[0]]
    return tuple(part for part in ("year", "month", "day") if part in columns), None


def _outcome(columns: Mapping[str, int]) -> tuple[tuple[str, ...], ResultKind, int | None]:
    """The columns of the result, how they are written, and the column of White's score in matches."""
    result, kind = next(((r, k) for r, k in _RESULTS if columns.keys() >= set(r)), ((), "text"))
    score = columns.get("score") if len(result) < 2 else None
    if result == ("white_score",) and "games" in columns:
        result, score = (), columns["white_score"] if score is None else score
    return result, kind if result else "scores", score


def _settle_score(columns: dict[str, int], rows: Sequence[Sequence[str]], replacing: Sequence[str]) -> None:
    """Leave `score` to matches, which have a number of games; elsewhere it is another word for `result`.

    `replacing` are the columns that it takes the place of then.
    """
    if "score" not in columns:
        return
    index = columns["score"]
    cells = [row[index] for row in rows if len(row) > index and row[index].strip()]
    if "games" not in columns or 2 * sum(map(is_score, cells)) < len(cells):
        del columns["score"]
        if "result" not in columns or "result" in replacing:
            columns["result"] = index


def _looks_like_header(first: Sequence[str], configured: list[str] | dict[str, str] | None) -> bool:
    if isinstance(configured, dict):
        known = any(cell in configured.values() for cell in first)
        return known or all(parse_date(cell).reason for cell in first)
    if configured is not None and [word_of(cell) for cell in first] == [word_of(name) for name in configured]:
        return True
    words = {word_of(cell) for cell in first}
    found = {column_of(cell) for cell in first} | (
        {"white"} if "winner" in words and words & {*LOSER} else set()
    )
    return all(side in found or f"{side}_id" in found for side in ("white", "black"))


def _in_order(names: Sequence[str], sample: Sequence[Sequence[str]], name: str) -> dict[str, int]:
    width = _usual_width(sample)
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
        columns[ours] = _index(first, written, name)
    free = {word_of(cell): index for index, cell in reversed(list(enumerate(first)))}
    free = {word: index for word, index in free.items() if index not in columns.values()}
    for ours, synonyms in SYNONYMS.items():
        found = next((free[word] for word in synonyms if word in free), None)
        if ours not in columns and found is not None:
            columns[ours] = found
    _prefer_losers(columns, first)
    spelled_out = "score" not in configured and columns.get("result") == free.get("result", -1)
    keeps = "result" in configured or spelled_out
    _settle_score(columns, rows, replacing=() if keeps else ("result",))
    return _prefer(columns, configured)


def _prefer_losers(columns: dict[str, int], first: Sequence[str]) -> None:
    """Take `winner` for a player where there is a `loser`, and for the result elsewhere."""
    words = [word_of(cell) for cell in first]
    if (
        "white" in columns
        or "black" not in columns
        or words[columns["black"]] not in LOSER
        or "winner" not in words
    ):
        return
    columns["white"] = words.index("winner")
    if columns.get("result") == columns["white"]:
        del columns["result"]


def _prefer(columns: dict[str, int], configured: Mapping[str, str]) -> dict[str, int]:
    """Without what would override a configured column, such as a date column beside a configured year."""
    rivals = {
        "date": ("year",),
        "utc_date": ("year",),
        "result": ("white_score", "white_goals"),
        "white_score": ("white_goals",),
    }
    for ours, others in rivals.items():
        if ours not in configured and any(other in configured for other in others):
            columns.pop(ours, None)
    return columns


def _index(first: Sequence[str], written: str, name: str) -> int:
    if written in first:
        return first.index(written)
    folded = [cell.casefold() for cell in first]
    if written.casefold() in folded:
        return folded.index(written.casefold())
    hint = suggested(written, first, f"columns are {', '.join(first)}")
    raise ConfigError(f"data.columns: there is no column {written!r}", where=name, hint=hint)


def _unknown(
    written: str, known: Sequence[str] | Mapping[str, object], hint: str, where: str = "data.columns"
) -> None:
    raise ConfigError(f"{where}: unknown column name {written!r}", hint=suggested(written, known, hint))


def _is_plain(sample: Sequence[Sequence[str]]) -> bool:
    """Whether rows are id, year, white, black and two scores, as in the sample of the first TTT program."""

    def fits(row: Sequence[str]) -> bool:
        if len(row) != len(_PLAIN_LAYOUT):
            return False
        number, year, white, black, *scores = (cell.strip() for cell in row)
        return (
            number.isdigit()
            and year.isdigit()
            and len(year) == 4
            and not white.isdigit()
            and not black.isdigit()
            and all(score in ("0", "0.5", "1", "2") for score in scores)
        )

    return sum(map(fits, sample)) >= 0.9 * len(sample)
