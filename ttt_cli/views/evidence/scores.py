"""The prequential scores of a run, added to its report."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ttt_cli.views.rows import Rows

if TYPE_CHECKING:
    from ttt_cli.evaluate.forecast.scores import Prequential

_DECIMALS: Final = {
    "prequential": 3,
    "prequential_per_game": 5,
    "prequential_naive_per_game": 5,
    "prequential_brier": 4,
    "prequential_naive_brier": 4,
    "prequential_accuracy": 4,
    "prequential_naive_accuracy": 4,
}


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
    return Rows(
        columns=(*report.columns, *facts),
        rows=rows,
        title=report.title,
        decimals={**report.decimals, **_DECIMALS},
        hidden=report.hidden,
        single=report.single,
    )
