"""Which skills the games have settled well enough to be ranked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from ttt_cli.runs.meta import RunMeta

_SHARE: Final = 0.45  # of the prior sd: the games have then told four fifths of the variance


def settled_sd(meta: RunMeta) -> float | None:
    """The sd, in points, above which a skill says more of the prior than of the games; None without a prior sd."""
    prior = meta.params.get("prior_sd")
    return None if prior is None else round(_SHARE * float(prior), 1)
