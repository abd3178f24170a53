"""Uses a run to start another fit: adds games to its own, or takes its skills as the first guess."""

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, BinaryIO, Final, cast

import numpy as np

from ttt_cli.config.load import Document, KeyPath, override, refuse_overrides
from ttt_cli.config.schema import DataConfig, Period
from ttt_cli.fitted import Chain, Fit, Line, Status
from ttt_cli.games.players import Aliases, find_mentions, identify, read_aliases
from ttt_cli.games.read import read_games
from ttt_cli.games.table import GAME_COLUMNS, PRECISION_DAY, Games, joined, picked, table_of, years_of
from ttt_cli.games.validate import NameDictionary
from ttt_cli.histories import later_on
from ttt_cli.periods import DAYS_PER_YEAR, STEPS_PER_YEAR, period_of, year_of
from ttt_cli.reading.reports import DROPPED, DUPLICATE, LINES, SAME_PLAYER, TEXT_COLUMNS, Problem, ReadReport
from ttt_cli.runs.run import Run
from ttt_cli.support.arrays import Mask, Places
from ttt_cli.support.errors import ConfigError, DataError
from ttt_cli.support.progress import SILENT, Progress
from ttt_cli.systems.resolve import Resolved, resolve
from ttt_cli.timeline import Timeline

Source = str | os.PathLike[str] | BinaryIO

_DEFAULT: Final = DataConfig()
SECTIONS: Final = frozenset({"model", "solver", "scale"})  # which may change, but for the model itself
DATA_KEYS: Final = frozenset(  # of `data`, which do not decide which games the old files give
    {"period", "colours", "aliases", "reader", "format", "header", "columns", "delimiter", "encoding"}
    | {"strict", "max_errors", "filter.dedupe"}
)
_PLAYERS: Final = "SELECT player, count(*) FROM spans GROUP BY player ORDER BY player"
_SPANS: Final = """
SELECT * EXCLUDE (player, games) REPLACE (coalesce("until", period_number + 1) AS "until") FROM spans
"""  # by player, then period, as stored


def update_config(run: Run, overrides: Sequence[str] = ()) -> Resolved:
    """The config of a run with overrides, for further games. Raises ConfigError where the old games would be others."""
    document = override(Document(values=run.meta.config), overrides)
    why = "cannot change for the games of a run"
    hint = "fit all files together with `ttt fit`"

    def may_change(path: KeyPath) -> bool:
        if path[0] == "data":
            return ".".join(map(str, path[1:])) in DATA_KEYS or path[1:2] == ("columns",)
        return path[0] in SECTIONS and len(path) > 1 and path != ("model", "name")

    refuse_overrides(document, may_change, why, hint)
    resolved = resolve(document)
    chosen = resolved.config.data.filter
    for key, asked in (("min_games", chosen.min_games > 1), ("largest_group", chosen.largest_group)):
        if asked:
            raise ConfigError(
                f"the run was made with data.filter.{key}, which looks at all games together",
                where=None if run.path is None else str(run.path),
                hint="fit all files together with `ttt fit`: what the filter left out is not in the run",
            )
    return resolved


@dataclass(frozen=True)
class Extended:
    """All games, and the `added` ones with their own report and the players of both.

    `repeats` counts added records that seem to repeat an earlier game. With `aliases_changed` the alias file differs
    from that of the earlier reading; names united then stay united.
    """

    games: Games
    added: Games
    repeats: int
    aliases_changed: bool = False


def extend_games(old: Games, new: Games, data: DataConfig = _DEFAULT) -> Extended:
    """Join two tables of games, sorted as if read one after the other, with files and problems of both.

    Names are united by `data.names` and `data.aliases`; games of a player against himself are dropped. New records
    repeat old ones if day, players, colours, result and weight are equal; `data.filter.dedupe` drops them. Raises
    DataError when the alias file cannot be used.
    """
    before = old.report.aliases
    now = new.report.aliases
    changed = bool(before and now and before.path == now.path and before.digest != now.digest)
    columns: dict[str, Any] = {
        name: np.concatenate([getattr(old, name), getattr(new, name)]) for name in GAME_COLUMNS
    }
    columns |= {name: joined(getattr(old, name), getattr(new, name)) for name in TEXT_COLUMNS}
    is_new = np.arange(len(columns["date"])) >= len(old)
    n_old_files = len(old.report.files)
    columns["source_file"][is_new] += n_old_files

    dictionary = NameDictionary(clean=True)
    names = [dictionary.ids(games.players) for games in (old, new)]
    for side in ("white", "black"):
        columns[side] = np.concatenate([names[0][getattr(old, side)], names[1][getattr(new, side)]])
    aliases = Aliases() if data.aliases is None else read_aliases(data.aliases)
    years = years_of(columns["date"]) if aliases.by_years else None
    named = columns["white"], columns["black"]
    mentions, sides = find_mentions(named, len(dictionary.values), years=years)
    who = identify(dictionary, mentions, data.names, aliases)
    columns["white"], columns["black"] = (who.player[side].astype(np.int32) for side in sides)

    lines = columns["source_line"]
    if lines.max(initial=0) > LINES:
        lines = np.unique(lines, return_inverse=True)[1]
    file_of = 2 * columns["source_file"].astype(np.int64) + is_new  # old games may have no file
    record: Places = file_of * (lines.max(initial=0) + 1) + lines
    alone = columns["white"] == columns["black"]
    repeated = _repeats(columns, record, is_new) & ~alone
    left_out = alone | repeated if data.filter.dedupe else alone
    files = [*old.report.files, *new.report.files]
    of_files = is_new | bool(n_old_files)
    problems = [*old.report.problems], [*new.report.problems]
    _, first = np.unique(record[alone], return_index=True)
    for row in np.flatnonzero(alone)[first].tolist():
        if of_files[row]:
            path = files[columns["source_file"][row]].path
            player = who.players[columns["white"][row]]
            line = int(columns["source_line"][row])
            problems[int(is_new[row])].append(Problem(path, line, SAME_PLAYER, player, DROPPED))
    for rows, reason, key in (
        (alone, SAME_PLAYER, "dropped"),
        (repeated, DUPLICATE, "dropped" if data.filter.dedupe else "noticed"),
    ):
        _, first = np.unique(record[rows & of_files], return_index=True)
        counts = Counter(columns["source_file"][rows & of_files][first].tolist())
        for number, count in counts.items():
            file = files[number]
            so_far: dict[str, int] = getattr(file, key)
            more: dict[str, Any] = {key: {**so_far, reason: so_far.get(reason, 0) + count}}
            files[number] = replace(file, used=file.used - count * (key == "dropped"), **more)

    player_of = {spelling: player for player, spelling in who.spellings}
    known, further = (
        [
            (player_of.get(player, player), spelling)
            for player, spelling in pairs
            if player_of.get(player) != spelling
        ]
        for pairs in (old.spellings, (*new.spellings, *who.spellings))
    )
    kept = np.flatnonzero(~left_out)
    kept = kept[np.argsort(columns["date"][kept], kind="stable")]
    report = ReadReport(tuple(files), (*problems[0], *problems[1]), now or before)
    games = table_of(_rows(columns, kept), who.players, report, (*known, *further))
    ours = is_new[kept]
    part = _rows({name: getattr(games, name) for name in columns}, ours)
    part["source_file"] = part["source_file"] - np.int32(n_old_files)
    report = ReadReport(tuple(files[n_old_files:]), tuple(problems[1]), now)
    added = Games(**part, players=games.players, report=report, spellings=tuple(further))
    return Extended(games, added, len(np.unique(record[repeated])), changed)


def _rows(columns: dict[str, Any], rows: Mask | Places) -> dict[str, Any]:
    """Some rows of the columns of games."""
    return {
        name: picked(column, rows) if name in TEXT_COLUMNS else column[rows]
        for name, column in columns.items()
    }


def _repeats(columns: dict[str, Any], record: Places, is_new: Mask) -> Mask:
    """Mask of new games that repeat old ones; of equal games as many as there are old."""
    _, number, count = np.unique(record, return_inverse=True, return_counts=True)
    exact = columns["date_precision"] == PRECISION_DAY
    single = count[number] == 1  # not of a match
    rows = np.flatnonzero(exact & (single | ~is_new) & np.isin(columns["date"], columns["date"][is_new]))
    keys = [columns[name][rows] for name in ("date", "white", "black", "outcome", "weight")]
    order = np.lexsort(keys[::-1])  # the old ones of equal ones first: the sort is stable
    first = np.ones(len(order), np.bool_)
    first[1:] = np.any([key[order][1:] != key[order][:-1] for key in keys], axis=0)
    group = np.cumsum(first) - 1
    fresh = is_new[rows[order]]
    known = np.bincount(group, ~fresh)
    place = np.arange(len(order)) - np.flatnonzero(first)[group]
    repeated = np.zeros(len(is_new), np.bool_)
    repeated[rows[order[fresh & (place < 2 * known[group])]]] = True
    return repeated


def add_games(
    run: Run, sources: Sequence[Source], data: DataConfig, *, again: bool = False, progress: Progress = SILENT
) -> Extended:
    """Read files and add their games to a run's. Raises DataError for its own files (unless `again`) and for none."""
    old = run.stored_games()
    new = read_games(sources, data, progress=progress)
    known = {} if again else {file.digest: file.path for file in old.report.files}
    for file in new.report.files:
        if before := known.get(file.digest):
            name = "" if before == file.path else f", as {before}"
            hint = "leave it out, or count its games once more with --again"
            raise DataError(f"is in {run.name} already{name}", where=file.path, hint=hint)
    extended = extend_games(old, new, data)
    if not len(extended.added):
        raise DataError(
            f"all games read are in {run.name} already", hint="without data.filter.dedupe they are added"
        )
    return extended


def start_from(run: Run, timeline: Timeline) -> Fit:
    """A Fit to start from, with the skill of every node in a run, points.

    Periods outside the run take the player's nearest; players unknown to the run have NaN.
    """
    spans = run.arrays(_SPANS)
    meta = run.meta
    begin = spans["period_number"]
    until = spans["until"]
    _, players = run.select(_PLAYERS)
    place = {player: at for at, (player, _) in enumerate(players)}
    of_node = np.array([place.get(player, -1) for player in timeline.players], np.int64)[timeline.node_player]
    known = np.flatnonzero(of_node >= 0)
    player = of_node[known]
    number = timeline.node_period[known].astype(np.int64)
    if timeline.period != meta.period:  # the period of the run around the middle
        days = (year_of(number + 0.5, timeline.period) - 1970.0) * DAYS_PER_YEAR
        number = period_of(days.astype(np.int32), cast(Period, meta.period)).astype(np.int64)
    count = np.array([count for _, count in players], np.int64)
    end = np.cumsum(count)
    number = np.clip(number, begin[(end - count)[player]], until[end[player] - 1] - 1)
    lowest = int(begin.min(initial=0))
    width = int(until.max(initial=0)) - lowest
    keys = np.repeat(np.arange(len(players)), count) * width + (begin - lowest)
    span = np.searchsorted(keys, player * width + (number - lowest), side="right") - 1
    nearest = {name: column[span] for name, column in spans.items()}
    chains: dict[str, Chain] = {}
    for name in ("skill", *(name for name in spans if f"{name}_sd" in spans)):
        here = np.full((2, timeline.n_nodes), np.nan)
        here[:, known] = later_on(nearest, name, number - begin[span], STEPS_PER_YEAR[meta.period])
        chains[name] = Line(*here)
    return Fit(
        model=meta.model,
        kind="filtered" if meta.kind == "filtered" else "smoothed",
        params=meta.params,
        chains=chains,
        status=Status(converged=False, sweeps=0, remaining_error=float("inf")),
    )
