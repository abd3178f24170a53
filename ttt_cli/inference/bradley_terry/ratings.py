"""What the Bradley-Terry systems share: how certain their ratings are, where to start, and what sets the scale."""

from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from ttt_cli.arrays import Array
from ttt_cli.errors import ConfigError, suggested
from ttt_cli.fitted import Fit
from ttt_cli.inference.bradley_terry.newton import Posterior
from ttt_cli.timeline import Timeline

Deviations = Annotated[
    Literal["exact", "own"],
    Field(description="exact, or own: opponents taken as known, which is quicker and too sure"),
]


def started_ratings(timeline: Timeline, start: Fit | None) -> Array:
    """Ratings (nodes,), natural units, of an earlier fit, and after its nodes the player's last; else 0."""
    rating = np.zeros(timeline.n_nodes)
    earlier = None if start is None else start.state.get("rating")
    if earlier is not None and len(earlier) <= len(rating):
        rating[: len(earlier)] = earlier
        for i, before in enumerate(timeline.previous[len(earlier) :].tolist(), len(earlier)):
            rating[i] = rating[before] if before >= 0 else 0.0
    return rating


def own_deviations(posterior: Posterior, diagonal: Array) -> tuple[Array, Array]:
    """Variances (nodes,) and covariances with the node before, all others known; `diagonal` is without own links."""
    from ttt_cli.kernels.bradley_terry.likelihood import own_variances

    with np.errstate(divide="ignore"):
        link_variance = 1.0 / posterior.link_precision
    variance, covariance = np.empty_like(diagonal), np.empty_like(diagonal)
    own_variances(posterior.previous, link_variance, diagonal, variance, covariance)
    return variance, covariance


def anchored_rating(anchor: str, timeline: Timeline, rating: Array) -> tuple[float, float] | None:
    """The points that `NAME @ PERIOD = POINTS` gives, and those that its node has in `rating` (nodes,; NaN: none).

    None when the timeline ends before the anchor or nothing is known of it there. Raises ConfigError when nobody has
    that name, or the player no games in a period that the timeline holds.
    """
    named, _, points = anchor.rpartition(" = ")
    name, _, period = named.rpartition(" @ ")
    if name not in timeline.players:
        hint = suggested(name, timeline.players, "names are those of the games, spelled in full")
        raise ConfigError(f"anchor: no player {name!r}", hint=hint)
    nodes = np.flatnonzero(timeline.node_player == timeline.players.index(name)).tolist()
    labels = [timeline.label(int(timeline.node_period[node])) for node in nodes]
    if period in labels:
        has = float(rating[nodes[labels.index(period)]])
        return None if np.isnan(has) else (float(points), has)
    if len(timeline.periods) and timeline.label(int(timeline.periods[-1])) >= period:
        played = f"there are games in {', '.join(labels)}" if labels else None
        raise ConfigError(f"anchor: {name} has no games in {period}", hint=played)
    return None
