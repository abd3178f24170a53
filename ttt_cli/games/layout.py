"""Which column of a table is which: by configured names, by a header's words, or by what stands in it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from ttt_cli.config.schema import DataConfig
from ttt_cli.errors import ConfigError, DataError, nearest
from ttt_cli.games.dates import parse_date
from ttt_cli.games.results import ResultKind

SYNONYMS: Final[dict[str, tuple[str, ...]]] = {
    "date": ("date", "gamedate", "utcdate", "playedon", "dateplayed", "playedat"),
    "year": ("year", "yr"),
    "month": ("month",),
    "day": ("day",),
    "white": ("white", "whiteplayer", "playerwhite", "whitename", "player1", "playera", "p1", "team1",
              "teama", "home", "hometeam", "homeplayer", "whiteid", "whiteusername"),
    "black": ("black", "blackplayer", "playerblack", "blackname", "player2", "playerb", "p2", "team2",
              "teamb", "away", "awayteam", "awayplayer", "visitor", "visitorteam", "blackid",
              "blackusername"),
    "result": ("result", "score", "outcome", "gameresult", "res", "winner"),
    "white_score": ("whitescore", "scorewhite", "whiteresult", "resultwhite", "whitepoints", "pointswhite",
                    "score1", "player1score", "scorea", "playerascore"),
    "black_score": ("blackscore", "scoreblack", "blackresult", "resultblack", "blackpoints", "pointsblack",
                    "score2", "player2score", "scoreb", "playerbscore"),
    "white_goals": ("whitegoals", "goalswhite", "homescore", "scorehome", "homegoals", "goalshome", "fthg"),
    "black_goals": ("blackgoals", "goalsblack", "awayscore", "scoreaway", "awaygoals", "goalsaway", "ftag"),
    "weight": ("weight",),
}  # fmt: skip
_IGNORED: Final = ("id", "event", "site", "round", "eco", "_")
_WORDS: Final = {word: ours for ours, words in SYNONYMS.items() for word in words}
_PLAIN_LAYOUT: Final = ("id", "year", "white", "black", "white_score", "black_score")
_RESULTS: Final[tuple[tuple[tuple[str, ...], ResultKind], ...]] = (
    (("result",), "text"),
    (("white_score", "black_score"), "scores"),
    (("white_goals", "black_goals"), "goals"),
    (("white_score",), "text"),
)
_HINT: Final = (
    "name the columns in order: -s 'data.columns=[date, white, black, result]' (with -s data.header=true "
    "when the first line holds names), or by their header: -s 'data.columns={white: NAME, black: NAME}'"
)


@dataclass(frozen=True)
class Layout:
    """Indices of the columns that are used, in rows of `width` fields.

    `date` is one column, or up to three of year, month and day; `result` one (`text`) or White's and Black's.
    """

    width: int
    header: bool
    date: tuple[int, ...]
    white: int
    black: int
    result: tuple[int, ...]
    kind: ResultKind
    weight: int | None = None


def find_layout(sample: Sequence[Sequence[str]], data: DataConfig, name: str) -> Layout:
    """The layout of a table from its first rows (at least one).

    Raises ConfigError when configured columns are not there, DataError when the columns cannot be told.
    """
    first = [cell.strip() for cell in sample[0]]
    header = data.header if data.header is not None else _looks_like_header(first, data.columns)
    if isinstance(data.columns, list):
        columns = _in_order(data.columns, sample, name)
    elif data.columns is not None and not header:
        hint = f"the first line is {', '.join(first)}; without names, -s 'data.columns=[date, white, ...]'"
        raise ConfigError("data.columns maps names that the file does not have", where=name, hint=hint)
    elif header:
        columns = _by_names(first, data.columns or {}, name)
    elif _is_plain(sample):
        columns = {ours: index for index, ours in enumerate(_PLAIN_LAYOUT)}
    else:
        said = f"its columns are not known; the first line is {', '.join(first)}"
        raise DataError(said[:300], where=name, hint=_HINT)
    return _complete(columns, first, len(first) if header else _usual_width(sample), header=header, name=name)


def _usual_width(sample: Sequence[Sequence[str]]) -> int:
    widths = [len(row) for row in sample]
    return max(set(widths), key=widths.count)


def _complete(
    columns: Mapping[str, int], first: Sequence[str], width: int, *, header: bool, name: str
) -> Layout:
    """The layout once it is known which column is which; DataError when one is missing."""
    date: tuple[str, ...] = ("date",)
    if "date" not in columns:
        date = tuple(part for part in ("year", "month", "day") if part in columns)
    result, kind = next(((r, k) for r, k in _RESULTS if columns.keys() >= set(r)), ((), "text"))
    missing = [ours for ours in ("white", "black") if ours not in columns]
    missing += ["date"] * (not date) + ["result"] * (not result)
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
    )


def _word(cell: str) -> str:
    return re.sub(r"[\W_]", "", cell.casefold())


def _ours(cell: str) -> str | None:
    """Our name for what a header calls a column, None when it is not one that is used."""
    return _WORDS.get(_word(cell))


def _looks_like_header(first: Sequence[str], configured: list[str] | dict[str, str] | None) -> bool:
    if isinstance(configured, dict):
        known = any(cell in configured.values() for cell in first)
        return known or all(parse_date(cell).fault for cell in first)
    if configured is not None and [_word(cell) for cell in first] == [_word(name) for name in configured]:
        return True
    return {"white", "black"} <= {_ours(cell) for cell in first}


def _in_order(names: Sequence[str], sample: Sequence[Sequence[str]], name: str) -> dict[str, int]:
    width = _usual_width(sample)
    if len(names) != width:
        said = f"data.columns names {len(names)} columns, rows have {width}"
        raise ConfigError(said, where=name, hint=f"the first line is {', '.join(sample[0])}")
    columns: dict[str, int] = {}
    for index, written in enumerate(names):
        ours = _ours(written)
        if ours is None and written not in _IGNORED and not written.startswith("_"):
            hint = f"names are {', '.join(SYNONYMS)}, and _ for the others"
            _unknown(written, (*SYNONYMS, *_IGNORED), hint)
        if ours in columns:
            raise ConfigError(f"data.columns names {ours} twice")
        if ours is not None:
            columns[ours] = index
    return columns


def _by_names(first: Sequence[str], configured: Mapping[str, str], name: str) -> dict[str, int]:
    columns: dict[str, int] = {}
    for ours, written in configured.items():
        if ours not in SYNONYMS:
            _unknown(ours, SYNONYMS, f"names are {', '.join(SYNONYMS)}")
        columns[ours] = _index(first, written, name)
    free = {_word(cell): index for index, cell in reversed(list(enumerate(first)))}
    free = {word: index for word, index in free.items() if index not in columns.values()}
    for ours, synonyms in SYNONYMS.items():
        found = next((free[word] for word in synonyms if word in free), None)
        if ours not in columns and found is not None:
            columns[ours] = found
    return _prefer(columns, configured)


def _prefer(columns: dict[str, int], configured: Mapping[str, str]) -> dict[str, int]:
    """Without what would override a configured column, such as a date column beside a configured year."""
    rivals = {"date": ("year",), "result": ("white_score", "white_goals"), "white_score": ("white_goals",)}
    for ours, others in rivals.items():
        if ours not in configured and any(other in configured for other in others):
            columns.pop(ours, None)
    if "month" in columns and not {"year", "date"} & columns.keys():
        columns["date"] = columns.pop("month")
    return columns


def _index(first: Sequence[str], written: str, name: str) -> int:
    if written in first:
        return first.index(written)
    folded = [cell.casefold() for cell in first]
    if written.casefold() in folded:
        return folded.index(written.casefold())
    near = nearest(written, first)
    hint = f"did you mean {near!r}?" if near else f"columns are {', '.join(first)}"
    raise ConfigError(f"data.columns: there is no column {written!r}", where=name, hint=hint)


def _unknown(written: str, known: Sequence[str] | Mapping[str, object], hint: str) -> None:
    near = nearest(written, known)
    hint = f"did you mean {near!r}?" if near else hint
    raise ConfigError(f"data.columns: unknown column name {written!r}", hint=hint)


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
