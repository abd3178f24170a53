"""Uses a run to start another fit: adds games to its own, or takes its skills as the first guess."""

import os
from collections.abc import Sequence
from typing import BinaryIO, Final

import numpy as np

from ttt_cli.config.load import Document, KeyPath, override, refuse_overrides
from ttt_cli.config.schema import DataConfig, Period
from ttt_cli.fitted import Fit, Status
from ttt_cli.games.extend import Extended, extend_games
from ttt_cli.games.read import read_games
from ttt_cli.histories import Chain, Line, later_on
from ttt_cli.periods import STEPS_PER_YEAR, period_of
from ttt_cli.runs.run import Run
from ttt_cli.support.arrays import Places
from ttt_cli.support.errors import ConfigError, DataError
from ttt_cli.support.progress import SILENT, Progress
from ttt_cli.systems.resolve import Resolved, resolve
from ttt_cli.timeline import Timeline

Source = str | os.PathLike[str] | BinaryIO

SECTIONS: Final = frozenset({"model", "solver", "scale"})  # which may change, but for the model itself
DATA_KEYS: Final = frozenset(  # of `data`, which do not decide which games the old files give
    {"period", "colours", "aliases", "reader", "format", "header", "columns", "delimiter", "encoding"}
    | {"strict", "max_errors", "filter.dedupe"}
)
_PLAYERS: Final = "SELECT player, count(*) FROM spans GROUP BY player ORDER BY player"
_SPANS: Final = """
SELECT * EXCLUDE (player, games) REPLACE (coalesce("until", period_number + 1) AS "until") FROM spans
"""  # by player, then period, as stored
_MONTHS: Final = {"year": 12, "quarter": 3, "month": 1}


def update_config(run: Run, overrides: Sequence[str] = ()) -> Resolved:
    """The config of a run with `KEY=VALUE` overrides, for its games and further ones.

    Raises ConfigError for keys that would change how the old files were read, and for filters of all games together.
    """
    document = override(Document(values=run.meta.config), overrides)
    why, hint = "cannot change for the games of a run", "fit all files together with `ttt fit`"

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


def add_games(
    run: Run, sources: Sequence[Source], data: DataConfig, *, again: bool = False, progress: Progress = SILENT
) -> Extended:
    """Read files and add their games to those of a run.

    Raises DataError for a file of the run (unless `again`), when nothing is added, and as `read_games`.
    """
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
    """A Fit with the skill of every node of a timeline in a run, points, as a start only.

    Periods outside the run take the player's nearest; players unknown to the run have NaN.
    """
    spans, meta = run.arrays(_SPANS), run.meta
    begin, until = spans["period_number"], spans["until"]
    _, players = run.select(_PLAYERS)
    place = {player: at for at, (player, _) in enumerate(players)}
    of_node = np.array([place.get(player, -1) for player in timeline.players], np.int64)[timeline.node_player]
    known = np.flatnonzero(of_node >= 0)
    player, number = of_node[known], timeline.node_period[known].astype(np.int64)
    if timeline.period != meta.period:  # the period of the run that contains the middle
        first, after = (_first_day(number + step, timeline.period) for step in (0, 1))
        period_of_run: Period = meta.period  # type: ignore[assignment]
        number = period_of(((first + after) // 2).astype(np.int32), period_of_run).astype(np.int64)
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


def _first_day(number: Places, period: Period) -> Places:
    """First days of periods, days since 1970-01-01."""
    if period in _MONTHS:
        months = number.astype(np.int64) * _MONTHS[period] - 12 * 1970
        return months.astype("datetime64[M]").astype("datetime64[D]").astype(np.int64)
    return number.astype(np.int64) * 7 - 3 if period == "week" else number.astype(np.int64)
