"""The columns of the ingest report of `ttt games`, section by section, and of the list of records."""

from __future__ import annotations

from typing import Final

from ttt_cli.views.columns import Described

RECORD_COLUMNS: Final = (
    Described("file", "", "path of the file"),
    Described("line", "", "line of the record in the file", value_type="integer"),
    Described("date", "", "date, as written"),
    Described("white", "", "player named first"),
    Described("black", "", "player named second"),
    Described("result", "", "result, as written"),
    Described("event", "", "event, as written"),
    Described("site", "", "site, as written"),
    Described("round", "", "round, as written"),
    Described("problem", "", "why it is not used, or what is odd about it", nullable=True),
)
LONG_COLUMNS: Final = (
    Described("section", "", "section of the report"),
    Described("row", "", "row of the section, from 1", value_type="integer"),
    Described("key", "", "column of the section"),
    Described("value", "", "value, as a text", nullable=True),
)


def _count(name: str, unit: str, description: str) -> Described:
    return Described(name, unit, description, value_type="integer")


def _integer(name: str, description: str) -> Described:
    return Described(name, "", description, value_type="integer")


_FIRST_AND_LAST: Final = (
    _integer("first", "year of the first game"),
    _integer("last", "year of the last game"),
)
_GAMES: Final = _count("games", "games", "games of the used records")
_PLAYERS: Final = _count("players", "players", "players with games")
_NAME: Final = Described("name", "", "name, as written")
_ROWS: Final = _count("rows", "rows", "records")
_USED: Final = _count("used", "rows", "records that are used")
_SHARE: Final = Described("draw_share", "share", "of games drawn")
CAREER_COLUMNS: Final = tuple(
    column
    for who, words in (("main", "main name"), ("synonym", "synonym"))
    for column in (
        _count(f"{who}_games", "games", f"games of the {words}"),
        _integer(f"{who}_first", f"year of the first game of the {words}"),
        _integer(f"{who}_last", f"year of the last game of the {words}"),
    )
)
TOTAL_COLUMNS: Final = (
    _count("files", "files", "files read"),
    _ROWS,
    _USED,
    _count("dropped", "rows", "records that are not used"),
    _GAMES,
    _SHARE,
    _count("names", "names", "spellings of names"),
    _PLAYERS,
    *_FIRST_AND_LAST,
    _count("groups", "groups", "groups of players without games between them"),
    _count("largest_group", "players", "players of the largest group"),
    _count("duplicates", "rows", "records that repeat another"),
    _count("suspects", "pairs", "pairs of names that may be one person's"),
)
FILES_COLUMNS: Final = (
    Described("file", "", "path of the file"),
    Described("kind", "", "format of the file"),
    _ROWS,
    _USED,
    _count("dropped", "rows", "records that are not used"),
    _count("duplicates", "rows", "records that repeat another"),
    _count("bytes", "bytes", "size of the file"),
)
DROPPED_COLUMNS: Final = (
    Described("reason", "", "why the records are not used"),
    _ROWS,
    Described("first", "", "file and line of the first"),
)
EXCLUDED_COLUMNS: Final = (
    Described("event", "", "event, as written"),
    Described("reason", "", "why its games are left out"),
    _ROWS,
    *_FIRST_AND_LAST,
)
ODD_COLUMNS: Final = (
    Described("action", "", "`repaired` or `kept`"),
    Described("reason", "", "what is odd"),
    _count("times", "rows", "records"),
    Described("first", "", "file and line of the first"),
    Described("detail", "", "what the first says"),
)
YEARS_COLUMNS: Final = (
    _integer("year", "calendar year"),
    _GAMES,
    _count("draws", "games", "games drawn"),
    _SHARE,
)
PLAYERS_COLUMNS: Final = (Described("player", "", "name"), _GAMES, *_FIRST_AND_LAST)
GROUPS_COLUMNS: Final = (
    _integer("group", "number of the group, the largest first"),
    _PLAYERS,
    _GAMES,
    *_FIRST_AND_LAST,
    Described("leading", "", "players with the most games, with semicolons between"),
)
DUPLICATES_COLUMNS: Final = (
    Described("record", "", "file and line of the record"),
    Described("repeats", "", "file and line of the record that it repeats"),
    *RECORD_COLUMNS[2:6],
    Described("used", "", "whether it is used all the same", value_type="boolean"),
)
NOT_PERSONS_COLUMNS: Final = (
    _NAME,
    Described("kind", "", "`team`, `engine` or `two people`"),
    _ROWS,
    _USED,
    *_FIRST_AND_LAST,
)
SUSPECTS_COLUMNS: Final = (
    Described("synonym", "", "the name with fewer games"),
    Described("main", "", "the name with more games"),
    Described("kind", "", "how the names are similar"),
    _count("gap", "years", "between the games of both"),
    _count("others", "players", "further players whom the synonym may be"),
    _count("shared", "players", "opponents of both"),
    Described("sure", "", "whether `--suggest` unites them", value_type="boolean"),
    *CAREER_COLUMNS,
)
