"""How well a run's parameters explain its games, and predict them."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from ttt_cli.inference.switches import in_use
from ttt_cli.views.ingest.summary import shown_notes
from ttt_cli.views.rows import Rows

if TYPE_CHECKING:
    from ttt_cli.evaluate.forecast.scores import Prequential
    from ttt_cli.progress import Progress
    from ttt_cli.runs.meta import RunMeta
    from ttt_cli.runs.run import Run

_PER_GAME: Final = ("gain", "leave_one_out", "prequential", "prequential_naive")
_SHARES: Final = ("brier", "accuracy", "naive_brier", "naive_accuracy")
DECIMALS: Final = {
    **dict.fromkeys(("log_evidence", "naive_log_evidence", "leave_one_out", "prequential"), 3),
    **dict.fromkeys((f"{what}_per_game" for what in _PER_GAME), 5),
    **dict.fromkeys(("draw_share", *(f"prequential_{share}" for share in _SHARES)), 4),
}
SCORED: Final = "it is judged by what it predicts: `ttt evidence --scores`, `ttt compare`"


def naive_log_evidence(games: float, draw_share: float) -> float:
    """log-evidence, in nats, of the model that always predicts the observed share of draws, the rest halved.

    TTT paper, section 4: this is the exact sum of log probabilities. For the paper's 3,505,366 games with
    30.3 % draws it is -3,843,663; the paper prints -4,228,005 and speaks of leakage in its approximate
    inference. `games` may be weighted; 0 without games.
    """
    drawn = games * draw_share
    decided = games - drawn
    return (drawn * math.log(draw_share) if drawn else 0.0) + (
        decided * math.log((1.0 - draw_share) / 2.0) if decided else 0.0
    )


def gain_per_game(meta: RunMeta) -> float:
    """By how much the log-evidence of a run is above the naive model's, nats per game; 0 without games."""
    naive = naive_log_evidence(meta.weight, meta.draw_share)
    return (meta.log_evidence - naive) / meta.weight if meta.weight else 0.0


def evidence_report(meta: RunMeta) -> Rows:
    """The report of one run: one row of the games, the evidence, how inference ended, the parameters.

    Evidence in nats; `gain_per_game` is over the naive model. Parameters without a value are left out; the evidence
    of a system that has none is empty, and the title says so.
    """
    facts: dict[str, Any] = {
        "model": meta.model,
        "games": meta.weight if meta.weight != meta.games else meta.games,
        "players": meta.players,
        "first": meta.first,
        "last": meta.last,
        "draw_share": meta.draw_share,
        "log_evidence": known(meta.log_evidence),
        "naive_log_evidence": naive_log_evidence(meta.weight, meta.draw_share),
        "gain_per_game": known(gain_per_game(meta)),
        "leave_one_out": known(meta.leave_one_out),
        "leave_one_out_per_game": known(meta.leave_one_out / meta.weight if meta.weight else 0.0),
        "converged": meta.converged,
        "sweeps": meta.sweeps,
        "remaining_error": known(meta.remaining_error),
    }
    if meta.posterior:
        facts["posterior"] = meta.posterior
    facts.update(in_use(meta.params))
    lacks = () if has_evidence(meta) else (f"{meta.model} has no evidence; {SCORED}",)
    title = (meta.describe(), *lacks, *shown_notes(meta.notes))
    return Rows(tuple(facts), [tuple(facts.values())], title, DECIMALS, single=True)


def has_evidence(meta: RunMeta) -> bool:
    """Whether the run's system says how probable the games are."""
    return not math.isnan(meta.log_evidence)


def known(value: float) -> float | None:
    """The value, None for what is no finite number."""
    return value if math.isfinite(value) else None


def scored_report(
    run: Run, scores: bool, since: str | None, every: int, progress: Progress
) -> tuple[Rows, bool]:
    """The report of a run, perhaps with the scores from the period `since` on, and whether all of it converged."""
    report, converged = evidence_report(run.meta), run.meta.converged
    if not scores:
        return report, converged
    from ttt_cli.evaluate.forecast.scores import prequential

    found = prequential(run, since, every, progress=progress)
    return with_scores(report, found), converged and found.converged


def with_scores(report: Rows, found: Prequential) -> Rows:
    """A report of one row with the scores at its end: log scores in nats, `from` the first period scored."""
    model, naive = found.model, found.naive
    facts: dict[str, Any] = {
        "prequential": model.log_score,
        "prequential_per_game": model.per_game,
        "prequential_naive_per_game": naive.per_game,
        "prequential_brier": model.brier,
        "prequential_naive_brier": naive.brier,
        "prequential_accuracy": model.accuracy,
        "prequential_naive_accuracy": naive.accuracy,
        "prequential_games": int(model.games) if model.games.is_integer() else model.games,
        "prequential_converged": found.converged,
        "from": found.first,
        "every": found.every,
    }
    rows = [(*row, *facts.values()) for row in report.rows]
    return replace(
        report, columns=(*report.columns, *facts), rows=rows, decimals={**DECIMALS, **report.decimals}
    )
