"""JSON Schemas of what commands print with `-f json`, from the columns of their tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from ttt_cli.support.errors import ConfigError, nearest
from ttt_cli.views.columns import Column, Described
from ttt_cli.views.compare import (
    BIN_COLUMNS,
    FACT_COLUMNS,
    GROUP_COLUMNS,
    SCORE_COLUMNS,
    SYSTEM_COLUMNS,
)
from ttt_cli.views.doubt import LEADER_COLUMNS as DOUBT_LEADER_COLUMNS
from ttt_cli.views.doubt import SKILL_COLUMNS as DOUBT_SKILL_COLUMNS
from ttt_cli.views.event import GAME_COLUMNS as EVENT_GAME_COLUMNS
from ttt_cli.views.event import STANDING_COLUMNS
from ttt_cli.views.events import EVENT_COLUMNS
from ttt_cli.views.evidence import REPORT_COLUMNS, SURFACE_COLUMNS, TERM_COLUMNS, TUNING_COLUMNS
from ttt_cli.views.exports import ORIGIN_COLUMNS
from ttt_cli.views.fewest_removals import LEFT_OUT_COLUMNS
from ttt_cli.views.ingest import SECTIONS
from ttt_cli.views.ingest_columns import RECORD_COLUMNS
from ttt_cli.views.lead_history import LEAD_COLUMNS
from ttt_cli.views.opponent_chains import CHAIN_COLUMNS
from ttt_cli.views.people import PLAYER
from ttt_cli.views.places import PLACE_COLUMNS
from ttt_cli.views.played_games import CHANCE_COLUMNS
from ttt_cli.views.player_book import (
    AT_COLUMNS,
    GAME_COLUMNS,
    OPPONENT_COLUMNS,
    STREAK_COLUMNS,
)
from ttt_cli.views.player_book import EVENT_COLUMNS as PLAYER_EVENT_COLUMNS
from ttt_cli.views.players import LISTED_COLUMNS, UPSET_COLUMNS
from ttt_cli.views.players import RECORD_COLUMNS as PLAYER_RECORD_COLUMNS
from ttt_cli.views.rankings.columns import (
    BEST_YEARS_COLUMNS,
    LEADER_COLUMNS,
    PEAK_COLUMNS,
    PERIOD_COLUMNS,
    REIGN_COLUMNS,
)
from ttt_cli.views.records import DEFAULT
from ttt_cli.views.records.table import RECORDS
from ttt_cli.views.rows import PERIOD, YEAR
from ttt_cli.views.run import (
    CURVE_COLUMNS,
    PLAYER_COLUMNS,
    POINT_COLUMNS,
    SKILL_COLUMNS,
)
from ttt_cli.views.run import GAME_COLUMNS as RUN_GAME_COLUMNS
from ttt_cli.views.samples import SAMPLE_COLUMNS
from ttt_cli.views.sides import CHESS_WORDS, GameWords
from ttt_cli.views.sources import SOURCE_COLUMNS
from ttt_cli.views.superiority import PAIR_COLUMNS
from ttt_cli.views.tournament import ODDS_COLUMNS
from ttt_cli.views.versus import VERSUS_COLUMNS
from ttt_cli.views.why import GAME_COLUMNS as WHY_GAME_COLUMNS
from ttt_cli.views.why import GROUP_COLUMNS as WHY_GROUP_COLUMNS
from ttt_cli.views.why_kinds import CHAIN, GAME, KINDS

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
_FIELD: Final = Described(
    "FIELD", "", "what is known of the player (`--columns`)", pattern=".*", value_type="any"
)
_YEAR: Final = Described(YEAR, "", "calendar year of the period", value_type="integer")
Columns = Sequence[Described]
Schema = dict[str, Any]


@dataclass(frozen=True)
class PrintedOutput:
    """What a command prints.

    `columns`: of every row. `single`: one object in place of a list of rows. `sections`: the lists of rows of a report,
    beside the columns of the object. `has_sides`: columns that name White, Black or colours are called by the sides of
    other games.
    """

    columns: Columns
    single: bool = False
    sections: Mapping[str, Columns] | None = None
    has_sides: bool = False


def _of_players(columns: Columns) -> PrintedOutput:
    """A table that `--columns` adds fields of players to."""
    return PrintedOutput((*columns, _FIELD))


def _with_sides(columns: Columns) -> PrintedOutput:
    return PrintedOutput(columns, has_sides=True)


def _exported(columns: Columns) -> PrintedOutput:
    """A table that `--provenance` adds columns to."""
    return PrintedOutput((*columns, *ORIGIN_COLUMNS))


def _exported_of_players(columns: Columns) -> PrintedOutput:
    return PrintedOutput((*columns, *ORIGIN_COLUMNS, _FIELD))


# By what is typed after `ttt`, without names and other values
OUTPUTS: Final[Mapping[str, PrintedOutput]] = {
    "fit -o -": PrintedOutput(SKILL_COLUMNS),
    "games": PrintedOutput(
        (), single=True, sections={name: section.columns for name, section in SECTIONS.items()}
    ),
    **{
        f"games --only {name}": PrintedOutput(section.columns, single=name == "total")
        for name, section in SECTIONS.items()
    },
    "games --list": PrintedOutput(RECORD_COLUMNS),
    "games --by source": PrintedOutput(SOURCE_COLUMNS),
    "player": _of_players(SKILL_COLUMNS),
    "player --record": _with_sides(PLAYER_RECORD_COLUMNS),
    "player --upsets": _with_sides(UPSET_COLUMNS),
    "player --games": _with_sides(GAME_COLUMNS),
    "player --opponents": PrintedOutput(OPPONENT_COLUMNS),
    "player --events": PrintedOutput(PLAYER_EVENT_COLUMNS),
    "player --streaks": PrintedOutput(STREAK_COLUMNS),
    "player --at": PrintedOutput(AT_COLUMNS, single=True),
    "players": _of_players(LISTED_COLUMNS),
    "top": _of_players(PERIOD_COLUMNS),
    "top --matrix": PrintedOutput(PAIR_COLUMNS),
    "top --peak": _of_players(PEAK_COLUMNS),
    "top --years": _of_players(BEST_YEARS_COLUMNS),
    "top --leaders": _of_players(REIGN_COLUMNS),
    "top --leaders --each": _of_players(LEADER_COLUMNS),
    "versus": PrintedOutput(VERSUS_COLUMNS, single=True, has_sides=True),
    "versus NAME...": PrintedOutput(PAIR_COLUMNS),
    "versus --record": _with_sides(PLAYER_RECORD_COLUMNS),
    "versus --each": PrintedOutput(LEAD_COLUMNS),
    "versus --places": PrintedOutput(PLACE_COLUMNS),
    "why": _with_sides(WHY_GAME_COLUMNS),
    **{
        f"why --by {group}": PrintedOutput(
            (Described(group, "", f"the {group}"), *WHY_GROUP_COLUMNS)
        )
        for group in KINDS
        if group not in (GAME, CHAIN)
    },
    f"why --by {CHAIN}": PrintedOutput(CHAIN_COLUMNS),
    "doubt": PrintedOutput(DOUBT_SKILL_COLUMNS),
    "doubt --kind leaders": PrintedOutput(DOUBT_LEADER_COLUMNS),
    "doubt --leader": _with_sides(LEFT_OUT_COLUMNS),
    "events": PrintedOutput(EVENT_COLUMNS),
    "event": PrintedOutput(STANDING_COLUMNS),
    "event --games": _with_sides(EVENT_GAME_COLUMNS),
    "records": _of_players(RECORDS[DEFAULT].columns),
    **{f"records --kind {kind}": _of_players(record.columns) for kind, record in RECORDS.items()},
    "tournament": PrintedOutput(ODDS_COLUMNS),
    "evidence": PrintedOutput(REPORT_COLUMNS, single=True),
    "evidence --terms": PrintedOutput(TERM_COLUMNS),
    "evidence --grid": PrintedOutput(SURFACE_COLUMNS),
    "tune": PrintedOutput(TUNING_COLUMNS),
    "compare": PrintedOutput((*SYSTEM_COLUMNS, *SCORE_COLUMNS, *FACT_COLUMNS)),
    "compare --by": PrintedOutput(
        (*SYSTEM_COLUMNS, *GROUP_COLUMNS, *SCORE_COLUMNS, *BIN_COLUMNS, *FACT_COLUMNS)
    ),
    "export skills": _exported_of_players(SKILL_COLUMNS),
    "export players": _exported_of_players(PLAYER_COLUMNS),
    "export games": _exported((*RUN_GAME_COLUMNS, *CHANCE_COLUMNS)),
    "export events": _exported(EVENT_COLUMNS),
    "export people": _exported((Described(PLAYER, "", "name"), _FIELD)),
    "export evidence": _exported(POINT_COLUMNS),
    **{f"export {curve}": _exported(columns) for curve, columns in CURVE_COLUMNS.items()},
    "samples": PrintedOutput(SAMPLE_COLUMNS),
}


def find_output(words: Sequence[str]) -> str:
    """The key of `OUTPUTS` of these words in any order; a command alone stands for what it prints without options.

    Raises ConfigError.
    """
    for typed in OUTPUTS:
        if set(typed.split()) == set(words):
            return typed
    of_command = [typed for typed in OUTPUTS if typed.split()[0] == words[0]]
    hint = f"there are: {'; '.join(of_command)}"
    if not of_command:
        similar = nearest(words[0], {typed.split()[0] for typed in OUTPUTS})
        hint = f"did you mean {similar}?" if similar else "`ttt schema` lists them"
    raise ConfigError(f"no schema of `ttt {' '.join(words)}`", hint=hint)


def schema_of(typed: str, words: GameWords = CHESS_WORDS) -> Schema:
    """The JSON Schema of an output by its key in `OUTPUTS`, for games with these sides."""
    output = OUTPUTS[typed]
    columns = output.columns
    if output.has_sides and not words.is_chess:
        columns = [replace(column, name=words.column_of(column.name)) for column in columns]
    schema: Schema = {"$schema": DIALECT, "title": f"ttt {typed} -f json"}
    if output.sections is not None:
        parts = {
            name: _object(columns) if name == "total" else _array(columns)
            for name, columns in output.sections.items()
        }
        return schema | _closed({"properties": parts, "required": list(parts)})
    if output.single:
        return schema | _object(columns)
    return schema | _array(_with_year(columns))


def _with_year(columns: Columns) -> Columns:
    """The columns of a list of rows, which has a year beside each period."""
    of_each = [
        [column, _YEAR] if column.name == PERIOD else [column]
        for column in columns
    ]  # fmt: skip
    has_year = any(column.name == YEAR for column in columns)
    return columns if has_year else [column for pair in of_each for column in pair]


def _array(columns: Columns) -> Schema:
    return {"type": "array", "items": _object(columns)}


def _object(columns: Columns) -> Schema:
    """The schema of a row.

    A column of which the names are not known beforehand is what `additionalProperties` are.
    """
    named = [column for column in columns if not column.pattern]
    schema: Schema = {
        "properties": {column.name: _value(column) for column in named},
        "required": [column.name for column in named if not _is_optional(column)],
    }
    patterns = [column for column in columns if column.pattern not in ("", ".*")]
    if patterns:
        schema["patternProperties"] = {
            f"^({column.pattern})$": _value(column) for column in patterns
        }
    free = [column for column in columns if column.pattern == ".*"]
    return _closed(schema, *[_value(column) for column in free])


def _closed(schema: Schema, others: Schema | bool = False) -> Schema:
    """The schema of an object with these properties, and others of a schema, by default none."""
    return {"type": "object", **schema, "additionalProperties": others}


def _is_optional(column: Described) -> bool:
    return column.optional or (isinstance(column, Column) and bool(column.by))


def _value(column: Described) -> Schema:
    description = f"{column.description} [{column.unit}]" if column.unit else column.description
    value_type = column.value_type or ("number" if column.unit else "string")
    if value_type == "any":
        return {"description": description}
    is_number = value_type in ("integer", "number")
    types = [value_type, "null"] if is_number or column.nullable else value_type
    return {"type": types, "description": description}
