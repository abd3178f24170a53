"""Which skills the games have settled well enough to be ranked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from ttt_cli.runs.run import Run

_SHARE: Final = 0.45  # of the prior sd: the games have then told four fifths of the variance


def settled_sd(run: Run) -> float | None:
    """The sd, on the run's scale, above which a skill says more of the prior than of the games.

    None without a prior sd.
    """
    prior = run.meta.params.get("prior_sd")
    return None if prior is None else round(_SHARE * float(prior) * run.scale.slope, 1)
