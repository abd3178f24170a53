"""Tables of a comparison: the systems overall, by decade or experience, and their calibration."""

import math
from collections.abc import Iterator, Sequence
from pathlib import PurePath
from typing import Any, Final

from ttt_cli.config.schema import render, yaml_on_one_line
from ttt_cli.evaluate.calibration import CalibrationSlope
from ttt_cli.evaluate.compare import By, Comparison, Standing
from ttt_cli.runs.meta import in_use
from ttt_cli.systems.resolve import Resolved
from ttt_cli.views.columns import Described, column_names
from ttt_cli.views.rows import Rows, integral

SYSTEM_COLUMNS: Final = (
    Described("system", "", "name of the config"),
    Described(
        "kind", "", "`filtered` or `smoothed`; empty for a system that failed", nullable=True
    ),
)
SCORE_COLUMNS: Final = (
    Described("games", "games", "games that were predicted"),
    Described("log_loss", "nats a game", "mean of -log of the probability of the result"),
    Described(
        "behind", "nats a game", "log-loss minus that of the best system; empty for the best"
    ),
    Described("standard_error", "nats a game", "of `behind`, over the games"),
    Described("slope", "", "calibration slope; 1 is right", value_type="number"),
    Described("slope_error", "", "its standard error", value_type="number"),
    Described("brier", "", "Brier score, lower is better", value_type="number"),
    Described("accuracy", "share", "of games whose likeliest result happened"),
)
BIN_COLUMNS: Final = (
    Described("foreseen", "points of games", "White's mean expected score"),
    Described("observed", "points of games", "White's mean score"),
)
FACT_COLUMNS: Final = (
    Described("log_evidence", "nats", "log-evidence of the games"),
    Described("seconds", "seconds", "time of all fits"),
    Described("refitted_every", "periods", "smoothed systems: how often they were refitted"),
    Described("converged", "", "whether all fits converged", value_type="boolean", nullable=True),
    Described("tuned_by", "", "`score` or `evidence`", nullable=True),
    Described("tuning_evaluations", "fits", "fits of the tuning"),
    Described("tuning_seconds", "seconds", "time of the tuning"),
    Described("parameters", "", "parameters as KEY=VALUE, with blanks between", nullable=True),
    Described("note", "", "remark, or why the system failed", nullable=True),
)
GROUP_COLUMNS: Final = (
    Described("by", "", "`all`, `decade`, `experience` or `calibration`", optional=True),
    Described("group", "", "the group of games, `all` for all", optional=True),
)
SCORES: Final = column_names(SCORE_COLUMNS)
BINS: Final = column_names(BIN_COLUMNS)
# They stand below the table, or are too wide for it
_HIDDEN_FACTS: Final = (
    *("refitted_every", "converged"),
    *("tuned_by", "tuning_evaluations", "tuning_seconds", "parameters", "note"),
)
FACTS: Final = column_names(FACT_COLUMNS)
_DECIMALS: Final = {
    **dict.fromkeys(("log_loss", "behind", "standard_error"), 5),
    **dict.fromkeys(("brier", "accuracy", *BINS), 4),
    **dict.fromkeys(("slope", "slope_error"), 3),
    **dict.fromkeys(("log_evidence", "games", "seconds", "tuning_seconds"), 1),
}
_UNSEEN: Final = frozenset({"games", *_HIDDEN_FACTS})  # the games stand above the table


def shown_rows(
    comparison: Comparison, bys: Sequence[By], calibrated: bool, *, separate: bool
) -> list[Rows]:
    """The table of the systems and those by group, several if `separate`.

    Else they are one for other programs, with columns `by` (`all`, decade, ...) and `group`; others may be empty.
    """
    parts = [("all", overall_rows(comparison)), *((by, group_rows(comparison, by)) for by in bys)]
    if calibrated:
        parts.append(("calibration", calibration_rows(comparison)))
    if separate or len(parts) == 1:
        return [part for _, part in parts]
    columns = ("system", "kind", "by", "group", *SCORES, *BINS, *FACTS)
    kinds: dict[str, str | None] = {lost.system.name: None for lost in comparison.lost}
    kinds |= {entry.system.name: entry.kind for entry in comparison.entries}
    rows = []
    for by, part in parts:
        for values in part.records():
            values["group"] = values.get("group") or values.pop("expected", "all")
            values |= {"by": by, "kind": kinds[values["system"]]}
            rows.append(tuple(values.get(column) for column in columns))
    return [Rows(columns, rows)]


def overall_rows(comparison: Comparison) -> Rows:
    """A row per system, the best first: `system,kind`, SCORES and FACTS.

    `behind` is the difference in log-loss from the best system, with its standard error; both are empty for the best.
    `refitted_every` is empty for filters, columns of tuning for systems that were not tuned. Lost systems are last,
    with their name and the reason as `note`.
    """
    rows = []
    for standing in comparison.overall():
        entry = standing.entry
        tuned = entry.tuned
        used = in_use(entry.system.params.model_dump())
        refitted = comparison.every if entry.kind == "smoothed" else None
        tuning = (tuned.by, tuned.evaluations, tuned.seconds) if tuned else (None, None, None)
        parameters = " ".join(f"{key}={yaml_on_one_line(value)}" for key, value in used.items())
        facts = (_not_nan(entry.log_evidence), entry.seconds, refitted, entry.converged)
        rows.append((*_scores(standing), *facts, *tuning, parameters, entry.note))
    nothing = (None,) * (len(SCORES) + len(FACTS))
    rows += [(lost.system.name, *nothing, lost.reason) for lost in comparison.lost]
    return Rows(
        ("system", "kind", *SCORES, *FACTS), rows, tuple(title(comparison)), _DECIMALS, _UNSEEN
    )


def group_rows(comparison: Comparison, by: By) -> Rows:
    """A row per group and system: `group,system,kind` and SCORES."""
    rows = [
        (group, *_scores(standing))
        for group, standings in comparison.by(by)
        for standing in standings
    ]
    return Rows(("group", "system", "kind", *SCORES), rows, (f"by {by}",), _DECIMALS)


def calibration_rows(comparison: Comparison) -> Rows:
    """A row per system and bin of White's expected score: `system,expected,games,foreseen,observed`."""
    rows = [
        (
            entry.system.name,
            f"{bin_.low:.1f}-{bin_.high:.1f}",
            integral(bin_.games),
            bin_.predicted,
            bin_.observed,
        )
        for entry, bins in comparison.calibration_bins()
        for bin_ in bins
    ]
    return Rows(
        ("system", "expected", "games", *BINS),
        rows,
        ("calibration of the score of White, in other sports of the side named first",),
        _DECIMALS,
    )


def title(comparison: Comparison) -> Iterator[str]:
    """Games and periods that were scored, how often smoothed systems were refitted, and what the scores are."""
    timeline = comparison.timeline
    outcomes = timeline.outcome[comparison.scored]
    span = (
        f"{_label(comparison, comparison.first)} to {_label(comparison, len(timeline.periods) - 1)}"
    )
    period = timeline.period
    every = f"every {comparison.every} {period}s" if comparison.every > 1 else f"every {period}"
    yield f"{len(outcomes):,} of {timeline.n_games:,} games predicted, {span}"
    yield f"smoothed systems refitted {every}, filtered ones pass the games once"
    yield "log_loss: nats a game, lower is better; behind: log_loss less that of the best"
    yield "slope: of calibration; 1 is right, less is overconfident"
    yield from comparison.replaced


def tuning_lines(comparison: Comparison) -> Iterator[str]:
    """How the systems were tuned, and to what."""
    plan = comparison.plan
    if plan is None:
        return
    span = f"{_label(comparison, plan.since)} to {_label(comparison, plan.until - 1)}"
    every = f", smoothed systems refitted every {plan.every} {comparison.timeline.period}s"
    yield f"tuned on the games of {span}{every if plan.every > 1 else ''}:"
    for entry in comparison.entries:
        tuned = entry.tuned
        assert tuned is not None
        values = (
            ", ".join(f"{key} {value:g}" for key, value in tuned.values.items()) or "as they were"
        )
        if tuned.by == "score":
            gain = f"log-loss {-tuned.before:.5f} to {-tuned.after:.5f}"
        else:
            gain = f"log-evidence {tuned.before:.1f} to {tuned.after:.1f}"
        warning = "" if tuned.reached else ", NOT at its best yet"
        yield f"  {entry.system.name}: {values} ({gain}, {tuned.evaluations} fits{warning})"


def note_lines(comparison: Comparison) -> Iterator[str]:
    """Notes on systems, on predictions tuned by evidence that are miscalibrated, and on systems that were lost."""
    for entry in comparison.entries:
        if entry.note:
            yield f"{entry.system.name}: {entry.note}"
    if any(entry.tuned and entry.tuned.by == "evidence" for entry in comparison.entries):
        yield from _calibration_lines(comparison)
    reasons: dict[tuple[str, str | None], list[str]] = {}
    for lost in comparison.lost:
        reasons.setdefault((lost.reason, lost.hint), []).append(lost.system.name)
    for (reason, hint), names in reasons.items():
        yield f"{', '.join(names)}: LOST: {reason}"
        if hint:
            yield f"hint: {hint}"


def _calibration_lines(comparison: Comparison) -> Iterator[str]:
    """Systems tuned by evidence with miscalibrated predictions, and what to do."""
    for standing in comparison.overall():
        tuned = standing.entry.tuned
        if tuned and tuned.by == "evidence" and standing.calibration.verdict:
            name = standing.entry.system.name
            yield f"{name}: {calibration_text(standing.calibration)}; --tune-by score tunes by predictions"


def calibration_text(calibration: CalibrationSlope) -> str:
    """Miscalibrated predictions in words."""
    slope, error = calibration
    return f"its predictions are {calibration.verdict}: calibration slope {slope:.3f} +- {error:.3f}, not 1"


def tuned_config(system: Resolved, until: str) -> str:
    """The config that was tuned on games before `until`, as YAML."""
    head = f"# Tuned by `ttt compare --tune` on the games before {until}\n\n"
    return head + render(system.config, type(system.params))


def tuned_name(system: Resolved) -> str:
    """Name of the file of a tuned config, after the system's."""
    path = PurePath(system.name)  # which may be an absolute one
    stem = "-".join(part for part in path.with_suffix("").parts if part != path.anchor)
    return f"{stem}.yaml"


def _label(comparison: Comparison, step: int) -> str:
    timeline = comparison.timeline
    return timeline.label(int(timeline.periods[step]))


def _scores(standing: Standing) -> tuple[Any, ...]:
    """The cells `system,kind` and SCORES."""
    entry = standing.entry
    scores = standing.scores
    behind, error = standing.behind or (None, None)
    numbers = (-scores.per_game, behind, error, *standing.calibration)
    return (
        entry.system.name,
        entry.kind,
        integral(scores.games),
        *(_not_nan(number) for number in numbers),
        scores.brier,
        scores.accuracy,
    )


def _not_nan(value: float | None) -> float | None:
    """The value; None for NaN."""
    return None if value is None or math.isnan(value) else value
