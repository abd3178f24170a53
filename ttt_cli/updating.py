"""Uses a run to start another fit: adds games to its own, or takes its skills as the first guess."""

import os
from collections.abc import Sequence
from typing import BinaryIO, Final, NamedTuple, cast

import numpy as np

from ttt_cli.config.documents import Document, KeyPath, override, refuse_overrides
from ttt_cli.config.schema import DataConfig, Period
from ttt_cli.fitted import Chain, Fit, Line, Status
from ttt_cli.games.extend import Extended, extend_games
from ttt_cli.games.read import read_games
from ttt_cli.histories import later_on
from ttt_cli.periods import DAYS_PER_YEAR, STEPS_PER_YEAR, period_of, year_of
from ttt_cli.runs.run import Run
from ttt_cli.support.arrays import Places
from ttt_cli.support.errors import ConfigError, DataError
from ttt_cli.support.progress import SILENT, Progress
from ttt_cli.systems.resolve import Resolved, resolve
from ttt_cli.timeline import Timeline

Source = str | os.PathLike[str] | BinaryIO

# Sections that may change, but for the model itself
SECTIONS: Final = frozenset({"model", "solver", "scale"})
DATA_KEYS: Final = frozenset(  # of `data`, which do not decide which games the old files give
    {
        "period",
        "colours",
        "aliases",
        "people",
        "corrections",
        "reader",
        "format",
        "header",
        "columns",
        "delimiter",
        "encoding",
    }
    | {"strict", "max_errors", "filter.dedupe"}
)
_PLAYERS: Final = "SELECT player, count(*) FROM spans GROUP BY player ORDER BY player"
# By player, then period, as stored. A span reaches to the player's next one; here the last ends with its first period
_SPANS: Final = """
SELECT * EXCLUDE (player, games) REPLACE (coalesce("until", period_number + 1) AS "until") FROM spans
"""


def update_config(run: Run, overrides: Sequence[str] = ()) -> Resolved:
    """The config of a run with overrides, for further games. Raises ConfigError where the old games would be others."""
    document = override(Document(values=run.meta.config), overrides)
    why = "cannot change for the games of a run"
    hint = "fit all files together with `ttt fit`"

    def may_change(path: KeyPath) -> bool:
        if path[0] == "data":
            return ".".join(str(part) for part in path[1:]) in DATA_KEYS or path[1:2] == (
                "columns",
            )
        return path[0] in SECTIONS and len(path) > 1 and path != ("model", "name")

    refuse_overrides(document, may_change, why, hint)
    resolved = resolve(document)
    if resolved.config.data.filter.min_games > 1:
        raise _needs_all_games(run, "min_games")
    if resolved.config.data.filter.largest_group:
        raise _needs_all_games(run, "largest_group")
    return resolved


def _needs_all_games(run: Run, key: str) -> ConfigError:
    return ConfigError(
        f"the run was made with data.filter.{key}, which looks at all games together",
        where=None if run.path is None else str(run.path),
        hint="fit all files together with `ttt fit`: what the filter left out is not in the run",
    )


def add_games(
    run: Run,
    sources: Sequence[Source],
    data: DataConfig,
    *,
    again: bool = False,
    progress: Progress = SILENT,
) -> Extended:
    """Read files and add their games to a run's.

    Raises DataError for a file that the run has already, unless `again`, and where no game is new.
    """
    old = run.stored_games()
    new = read_games(sources, data, progress=progress)
    old_paths = {} if again else {file.digest: file.path for file in old.report.files}
    for file in new.report.files:
        if old_path := old_paths.get(file.digest):
            name = "" if old_path == file.path else f", as {old_path}"
            hint = "leave it out, or count its games once more with --again"
            raise DataError(f"is in {run.name} already{name}", where=file.path, hint=hint)
    extended = extend_games(old, new, data)
    if not len(extended.added):
        raise DataError(
            f"all games read are in {run.name} already",
            hint="without data.filter.dedupe they are added",
        )
    return extended


def start_from(run: Run, timeline: Timeline) -> Fit:
    """A Fit to start from, with the skill of every node in a run, points.

    Periods before a player's first in the run take that one, those after the last take the last; players unknown to the
    run have NaN.
    """
    spans = run.arrays(_SPANS)
    nearest = _nearest_spans(run, timeline, begin=spans["period_number"], until=spans["until"])
    columns = {name: column[nearest.span] for name, column in spans.items()}
    chains: dict[str, Chain] = {}
    for name in run.chains:
        moments = later_on(columns, name, nearest.steps, STEPS_PER_YEAR[run.meta.period])
        mean = np.full(timeline.n_nodes, np.nan)
        sd = np.full(timeline.n_nodes, np.nan)
        mean[nearest.nodes], sd[nearest.nodes] = moments
        chains[name] = Line(mean, sd)
    return Fit(
        model=run.meta.model,
        kind="filtered" if run.meta.kind == "filtered" else "smoothed",
        params=run.meta.params,
        chains=chains,
        status=Status(converged=False, sweeps=0, remaining_error=float("inf")),
    )


class _NearestSpans(NamedTuple):
    """Nodes of players whom a run has, and the player's nearest period in the run; arrays of shape (such nodes,)."""

    nodes: Places
    span: Places  # the player's span with that period
    steps: Places  # periods of the run from the beginning of the span to that period


def _nearest_spans(run: Run, timeline: Timeline, begin: Places, until: Places) -> _NearestSpans:
    """The span of a run with the period of each node, else the player's first or last one.

    `begin` and `until` are periods of the run's spans, by player, then period: those of a player leave no gap.
    """
    _, rows = run.select(_PLAYERS)
    index = {player: number for number, (player, _) in enumerate(rows)}
    player_of_run = np.array([index.get(player, -1) for player in timeline.players], np.int64)
    player_of_node = player_of_run[timeline.node_player]
    nodes = np.flatnonzero(player_of_node >= 0)
    player = player_of_node[nodes]
    period = _periods_of_run(run, timeline, nodes)
    n_spans = np.array([count for _, count in rows], np.int64)
    end_of_player = np.cumsum(n_spans)
    first_span = (end_of_player - n_spans)[player]
    last_span = end_of_player[player] - 1
    period = np.clip(period, begin[first_span], until[last_span] - 1)
    player_of_span = np.repeat(np.arange(len(rows)), n_spans)
    span = _last_at_or_before(player_of_span, begin, player, period)
    return _NearestSpans(nodes, span, period - begin[span])


def _last_at_or_before(
    player_of_span: Places, begin: Places, player: Places, period: Places
) -> Places:
    """The last span of each player that begins in a period or before, which each has; spans by player, then begin."""
    lowest = int(begin.min(initial=0))
    width = 1 + int(max(begin.max(initial=lowest), period.max(initial=lowest))) - lowest
    # players and periods in one number each, sorted as the spans
    start_of_span = player_of_span * width + (begin - lowest)
    wanted = player * width + (period - lowest)
    return np.searchsorted(start_of_span, wanted, side="right") - 1


def _periods_of_run(run: Run, timeline: Timeline, nodes: Places) -> Places:
    """The period of a run around the middle of the period of each node."""
    period = timeline.node_period[nodes].astype(np.int64)
    if timeline.period == run.meta.period:
        return period
    days = (year_of(period.astype(np.float64) + 0.5, timeline.period) - 1970.0) * DAYS_PER_YEAR
    return period_of(days.astype(np.int32), cast(Period, run.meta.period)).astype(np.int64)
