"""A rating that sets the scale: `NAME @ PERIOD = POINTS`."""

import numpy as np

from ttt_cli.arrays import Array
from ttt_cli.errors import ConfigError, nearest
from ttt_cli.timeline import Timeline


def anchored_rating(anchor: str, timeline: Timeline, rating: Array) -> tuple[float, float] | None:
    """The points that an anchor gives, and those that its node has in `rating` (nodes,; NaN: none).

    None when the timeline ends before the anchor or nothing is known of it there. Raises ConfigError when nobody has
    that name, or the player no games in a period that the timeline holds.
    """
    named, _, points = anchor.rpartition(" = ")
    name, _, period = named.rpartition(" @ ")
    if name not in timeline.players:
        near = nearest(name, timeline.players)
        hint = f"did you mean {near!r}?" if near else "names are those of the games, spelled in full"
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
