"""Tables and surfaces of the evidence, of predictive scores, and of tuning."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any, Final

from ttt_cli.runs.evidence_points import EvidencePoint
from ttt_cli.runs.meta import RunMeta, in_use
from ttt_cli.support.errors import ConfigError
from ttt_cli.views.columns import Described, column_names
from ttt_cli.views.rows import Rows, finite, integral, short, shown_notes
from ttt_cli.views.run import PARAMETER

if TYPE_CHECKING:
    from ttt_cli.evaluate.forecast import Forecast
    from ttt_cli.evaluate.terms import TermWorth
    from ttt_cli.evaluate.tune import TunedParameter, Tuning
    from ttt_cli.runs.run import Run
    from ttt_cli.support.progress import Progress


_PER_GAME: Final = ("gain", "leave_one_out", "prequential", "prequential_naive")
_SHARES: Final = ("brier", "accuracy", "naive_brier", "naive_accuracy")
EVIDENCE_DECIMALS: Final = {
    **dict.fromkeys(("log_evidence", "naive_log_evidence", "leave_one_out", "prequential"), 3),
    **dict.fromkeys((f"{what}_per_game" for what in _PER_GAME), 5),
    **dict.fromkeys(("draw_share", *(f"prequential_{share}" for share in _SHARES)), 4),
}
LOG_EVIDENCE_MEANING: Final = (
    "log_evidence: log of the probability of all results, nats; "
    "of models for the same games the highest is best"
)
SCORED: Final = "it is judged by what it predicts: `ttt evidence --scores`, `ttt compare`"


def naive_log_evidence(games: float, draw_share: float) -> float:
    """log-evidence, in nats, of the model that always predicts the observed share of draws, the rest halved.

    The exact sum of log probabilities (TTT paper, section 4, which prints that of approximate inference). `games` may
    be weighted; 0 without games.
    """
    drawn = games * draw_share
    decided = games - drawn
    return (drawn * math.log(draw_share) if drawn else 0.0) + (
        decided * math.log((1.0 - draw_share) / 2.0) if decided else 0.0
    )


def gain_per_game(meta: RunMeta) -> float:
    """The log-evidence of a run minus the naive model's, nats per game; 0 without games."""
    naive = naive_log_evidence(meta.weight, meta.draw_share)
    return (meta.log_evidence - naive) / meta.weight if meta.weight else 0.0


def _scores_of(who: str, prefix: str) -> tuple[Described, ...]:
    return (
        Described(f"{prefix}_per_game", "nats", f"log score of {who} per game", optional=True),
        Described(f"{prefix}_brier", "", f"Brier score of {who}", value_type="number", optional=True),
        Described(f"{prefix}_accuracy", "share", f"of games that {who} called right", optional=True),
    )  # fmt: skip


REPORT_COLUMNS: Final = (
    Described("model", "", "model of the run, or the shipped config that it resembles"),
    Described("games", "games", "games, by weight"),
    Described("players", "players", "players with games"),
    Described("first", "", "first period with games"),
    Described("last", "", "last period with games"),
    Described("draw_share", "share", "of games drawn"),
    Described("log_evidence", "nats", "log-evidence of the games"),
    Described("naive_log_evidence", "nats", "that of the naive model"),
    Described("gain_per_game", "nats", "log-evidence above the naive model's, per game"),
    Described("leave_one_out", "nats", "log probability of the games, each predicted from the others"),
    Described("leave_one_out_per_game", "nats", "the same per game"),
    Described("converged", "", "whether the fit converged", value_type="boolean"),
    Described("sweeps", "sweeps", "length of the fit"),
    Described("remaining_error", "points", "all skills are within this of the solution"),
    Described("posterior", "", "how sds were computed", optional=True),
    replace(PARAMETER, description="value of a parameter in use"),
    Described("prequential", "nats", "log score of the predictions", optional=True),
    *_scores_of("the model", "prequential"),
    *_scores_of("the naive model", "prequential_naive"),
    Described("prequential_games", "games", "games that were predicted", optional=True),
    Described(
        "prequential_converged", "", "whether all fits converged", value_type="boolean", optional=True
    ),
    Described("from", "", "first period predicted", optional=True),
    Described("every", "periods", "how often the model was refitted", optional=True),
)  # fmt: skip
TERM_COLUMNS: Final = (
    Described("term", "", "name of the term"),
    Described("value", "", "its value", value_type="number"),
    Described("worth", "nats", "log-evidence that is lost without the term"),
    Described("log_evidence", "nats", "log-evidence without it"),
    Described("converged", "", "whether that fit converged", value_type="boolean"),
)
SURFACE_COLUMNS: Final = (
    PARAMETER,
    Described("log_evidence", "nats", "log-evidence at the point"),
    Described("converged", "", "whether the fit converged", value_type="boolean"),
    Described("sweeps", "sweeps", "length of the fit"),
    Described("best", "", "whether the point is the best", value_type="boolean"),
)
TUNING_COLUMNS: Final = (
    Described("parameter", "", "key of the parameter; the last row is `log_evidence`"),
    Described("start", "", "its value before", value_type="number"),
    Described("tuned", "", "its value of highest evidence", value_type="number"),
    Described("standard_error", "", "of that value", value_type="number"),
    Described("bound", "", "`lower` or `upper` where it stopped at one", nullable=True),
    Described(
        "corr_KEY", "", "correlation with another parameter", pattern="corr_.*", value_type="number",
        optional=True,
    ),
)  # fmt: skip


def evidence_report(meta: RunMeta, scored: Forecast | None = None) -> Rows:
    """The report of one run: one row of the games, the evidence, how inference ended, the parameters, any scores.

    Evidence and log scores in nats; `gain_per_game` is over the naive model, `from` the first period scored.
    Parameters without a value are left out; the evidence of a system without one is empty.
    """
    has_weights = meta.weight != meta.games
    facts: dict[str, Any] = {
        "model": meta.label,
        "games": meta.weight if has_weights else meta.games,
        "players": meta.players,
        "first": meta.first,
        "last": meta.last,
        "draw_share": meta.draw_share,
        "log_evidence": finite(meta.log_evidence),
        "naive_log_evidence": naive_log_evidence(meta.weight, meta.draw_share),
        "gain_per_game": finite(gain_per_game(meta)),
        "leave_one_out": finite(meta.leave_one_out),
        "leave_one_out_per_game": finite(meta.leave_one_out / meta.weight if meta.weight else 0.0),
        "converged": meta.converged,
        "sweeps": meta.sweeps,
        "remaining_error": finite(meta.remaining_error),
    }
    if meta.posterior:
        facts["posterior"] = meta.posterior
    facts |= in_use(meta.params)
    if scored is not None:
        model, naive = scored.scores
        facts |= {
            "prequential": model.log_score,
            "prequential_per_game": model.per_game,
            "prequential_naive_per_game": naive.per_game,
            "prequential_brier": model.brier,
            "prequential_naive_brier": naive.brier,
            "prequential_accuracy": model.accuracy,
            "prequential_naive_accuracy": naive.accuracy,
            "prequential_games": integral(model.games),
            "prequential_converged": scored.converged,
            "from": scored.first,
            "every": scored.every,
        }
    lacks = (f"{meta.model} has no evidence; {SCORED}",) if math.isnan(meta.log_evidence) else ()
    meaning = () if lacks else (LOG_EVIDENCE_MEANING,)
    title = (meta.describe(), *lacks, *meaning, *shown_notes(meta.notes))
    return Rows(tuple(facts), [tuple(facts.values())], title, EVIDENCE_DECIMALS, single=True)


def term_rows(meta: RunMeta, worths: Sequence[TermWorth]) -> Rows:
    """A row per term, with `TERM_COLUMNS`; the one of the highest worth first."""
    ordered = sorted(worths, key=lambda worth: -worth.worth)
    rows = [
        (worth.term, worth.value, finite(worth.worth), finite(worth.log_evidence), worth.converged)
        for worth in ordered
    ]
    title = (
        meta.describe(),
        "worth: nats of log-evidence that are lost without the term, other parameters as in the run",
    )
    columns = column_names(TERM_COLUMNS)
    hidden = frozenset({"converged"}) if all(worth.converged for worth in worths) else frozenset()
    decimals = {"value": 2, "worth": 1, "log_evidence": 1}
    return Rows(columns, rows, title, decimals, hidden)


AxisValues = tuple[float, ...]  # of one point of a grid, by axis
# Nats below the best, and colours from bright to dark in equal steps of lightness (after viridis)
DROPS: Final = (0.5, 2.0, 10.0, 30.0, 100.0, 300.0, 1000.0, 3000.0, 10_000.0, math.inf)
SHADES: Final = (
    "#fde725", "#b5de2b", "#6ece58", "#35b779", "#1f9e89", "#26828e", "#31688e", "#3e4989", "#482878", "#440154",
)  # fmt: skip


@dataclass(frozen=True)
class Surface:
    """The evidence over a grid: `points` by their values on the axes, in order."""

    keys: tuple[str, ...]
    points: Mapping[AxisValues, EvidencePoint]

    @cached_property
    def ticks(self) -> tuple[tuple[float, ...], ...]:
        """The values, by axis."""
        return tuple(
            tuple(sorted({values[axis] for values in self.points}))
            for axis in range(len(self.keys))
        )

    @cached_property
    def best(self) -> AxisValues:
        """The values of the highest evidence among the converged points, or among all when none has converged."""

        def rank(values: AxisValues) -> tuple[bool, float]:
            point = self.points[values]
            if not math.isfinite(point.log_evidence):
                return False, -math.inf
            return point.converged, point.log_evidence

        return max(self.points, key=rank)

    def drop(self, values: AxisValues) -> float:
        """Nats below the best point, infinite without evidence."""
        below = self.points[self.best].log_evidence - self.points[values].log_evidence
        return below if math.isfinite(below) else math.inf

    @property
    def best_words(self) -> str:
        """The best point in words: `beta 480, tau 60`."""
        return ", ".join(
            f"{key} {value:g}" for key, value in zip(self.keys, self.best, strict=True)
        )

    @property
    def missed(self) -> int:
        """How many points did not converge."""
        return sum(not point.converged for point in self.points.values())

    @property
    def remarks(self) -> Iterator[str]:
        """Warnings: the best point is on an edge, or points did not converge."""
        edges = [
            f"{key} {value:g}"
            for key, ticks, value in zip(self.keys, self.ticks, self.best, strict=True)
            if len(ticks) > 1 and value in (ticks[0], ticks[-1])
        ]
        if edges:
            yield f"the best point lies on the edge of the grid: {', '.join(edges)}"
        if self.missed:
            yield f"{self.missed:,} of {len(self.points):,} points did not converge"


def computed_surface(
    run: Run, grid: str, overrides: Sequence[str], jobs: int | None, progress: Progress
) -> Surface:
    """The surface over a grid given as text; computed for the new run if another process replaced it meanwhile.

    Raises ConfigError for systems without evidence, and as `evidence_grid` does.
    """
    from ttt_cli.evaluate.grid import evidence_grid
    from ttt_cli.runs.connection import RunReplaced
    from ttt_cli.runs.run import open_run

    if math.isnan(run.meta.log_evidence):
        raise ConfigError(f"{run.meta.model} has no evidence to make a surface of", hint=SCORED)
    try:
        computed = evidence_grid(run, grid, overrides, jobs=jobs, progress=progress)
    except RunReplaced:  # by the process that was waited for
        computed = evidence_grid(open_run(run.path), grid, overrides, jobs=jobs, progress=progress)
    points = {tuple(point.params[key] for key in computed.keys): point for point in computed.points}
    return Surface(computed.keys, {values: points[values] for values in sorted(points)})


def surface_rows(surface: Surface) -> Rows:
    """One row per point: the axes, `log_evidence,converged,sweeps,best`, then all parameters beside the axes.

    `best` is true in one row. Parameters that are equal in all rows are in the title, and hidden in a printed table.
    """
    points = surface.points
    best = surface.best
    used = dict.fromkeys(key for point in points.values() for key in in_use(point.params))
    dependent = [key for key in used if key not in surface.keys]
    fixed = {
        key for key in dependent if len({point.params.get(key) for point in points.values()}) == 1
    }
    rows = []
    for values, point in points.items():
        result = (finite(point.log_evidence), point.converged, point.sweeps, values == best)
        parameters = [point.params.get(key) for key in dependent]
        rows.append((*values, *result, *parameters))
    columns = (*surface.keys, *column_names(SURFACE_COLUMNS[1:]), *dependent)
    title = ", ".join(
        f"{key} {short(points[best].params[key])}" for key in dependent if key in fixed
    )
    return Rows(columns, rows, (title,) if title else (), EVIDENCE_DECIMALS, frozenset(fixed))


def stored_surface(points: Sequence[EvidencePoint]) -> Surface | None:
    """The largest grid over two parameters in a run, all other parameters of the config being equal.

    None when no two parameters vary together. A parameter that follows from others (an `auto`) may vary with them.
    """
    largest: Surface | None = None
    numbers = [_numbers(point) for point in points]
    keys = dict.fromkeys(key for values in numbers for key in values)
    for pair in combinations(keys, 2):
        for grid in _grids(points, numbers, pair):
            surface = Surface(pair, _without_singles(grid))
            is_grid = min(len(ticks) for ticks in surface.ticks) > 1
            if is_grid and (largest is None or len(surface.points) > len(largest.points)):
                largest = surface
    return largest


def _numbers(point: EvidencePoint) -> dict[str, float]:
    """The parameters of the config that are numbers."""
    return {
        key: float(value) for key, value in point.requested.items() if type(value) in (int, float)
    }


def _grids(
    points: Sequence[EvidencePoint], numbers: Sequence[Mapping[str, float]], pair: tuple[str, str]
) -> Iterable[Mapping[AxisValues, EvidencePoint]]:
    """The points that have `numbers` for two parameters, in groups that have all other parameters in common."""
    grids: dict[str, dict[AxisValues, EvidencePoint]] = {}
    first, second = pair
    for point, values in zip(points, numbers, strict=True):
        if first in values and second in values:
            common = {
                key: value for key, value in sorted(point.requested.items()) if key not in pair
            }
            grids.setdefault(repr(common), {})[values[first], values[second]] = point
    return grids.values()


def _without_singles(grid: Mapping[AxisValues, EvidencePoint]) -> dict[AxisValues, EvidencePoint]:
    """The points, by their values, that share each value with another; the run's own point may not."""
    uses = [Counter(axis) for axis in zip(*grid, strict=True)]
    return {
        values: grid[values]
        for values in sorted(grid)
        if all(count[value] > 1 for count, value in zip(uses, values, strict=True))
    }


_FINE: Final = 1.0  # standard errors below this want more decimals


def tuning_rows(tuning: Tuning, meta: RunMeta) -> Rows:
    """A row per parameter, `parameter,start,tuned,standard_error,bound`, and a last one of the log-evidence.

    `bound` is `lower` or `upper` where a parameter stopped at one. Of several parameters the correlations follow,
    a column `corr_KEY` for each; empty where the curvature does not give them.
    """
    parameters = tuning.parameters
    correlated = (
        tuple(f"corr_{parameter.key}" for parameter in parameters) if len(parameters) > 1 else ()
    )
    rows: list[tuple[Any, ...]] = []
    for parameter, line in zip(parameters, tuning.correlations.tolist(), strict=True):
        correlations = [finite(correlation) for correlation in line[: len(correlated)]]
        estimate = (parameter.start, parameter.value, parameter.standard_error, parameter.bound)
        rows.append((parameter.key, *estimate, *correlations))
    nothing = [None] * (2 + len(correlated))
    rows.append(("log_evidence", tuning.start_log_evidence, tuning.log_evidence, *nothing))
    columns = (*column_names(TUNING_COLUMNS[:-1]), *correlated)
    fine = any((parameter.standard_error or _FINE) < _FINE for parameter in parameters)
    decimals = {
        **dict.fromkeys(("start", "tuned", "standard_error"), 4 if fine else 2),
        **dict.fromkeys(correlated, 2),
    }
    has_bounds = any(parameter.bound for parameter in parameters)
    hidden = frozenset[str]() if has_bounds else frozenset({"bound"})
    return Rows(columns, rows, (meta.describe(),), decimals, hidden)


def tuning_lines(tuning: Tuning) -> Iterator[str]:
    """The gain in evidence, the number of fits, and remarks."""
    gain = tuning.log_evidence - tuning.start_log_evidence
    yield f"log-evidence {tuning.log_evidence:.3f}, {gain:+.3f} nats from the start"
    yield f"{tuning.evaluations} fits, {tuning.sweeps} sweeps"
    yield from tuning.remarks


def tuned_config(tuning: Tuning, meta: RunMeta) -> str:
    """The tuned config as YAML; comments on top give the origin of the values."""
    from ttt_cli.config.schema import render

    lines = [
        f"Tuned by `ttt tune` on {meta.games:,} games, {meta.first} to {meta.last}:",
        *(f"  {_tuned_text(parameter)}" for parameter in tuning.parameters),
        *tuning_lines(tuning),
    ]
    return "".join(f"# {line}\n" for line in lines) + "\n" + render(tuning.config, tuning.schema)


def _tuned_text(parameter: TunedParameter) -> str:
    """A tuned parameter in words: `beta 480 +- 12 (from 500)`."""
    error = "" if parameter.standard_error is None else f" +- {parameter.standard_error:.3g}"
    bound = f", its {parameter.bound} bound" if parameter.bound else ""
    return f"{parameter.key} {parameter.value:.6g}{error}{bound} (from {parameter.start:.6g})"
