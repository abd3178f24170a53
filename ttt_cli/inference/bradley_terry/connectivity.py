"""Which players Bradley-Terry can rate: those between whom points lead both ways (Ford 1957)."""

import numpy as np

from ttt_cli.arrays import Ids
from ttt_cli.games.table import LOSS, WIN
from ttt_cli.timeline import Timeline


def rated_groups(timeline: Timeline) -> Ids:
    """The group of each player, largest first from 0, and -1 for those whom no maximum rates; shape (players,).

    In a group a chain of points, each scored against the next, leads from every player to every other. Players without
    a positive or without a negative score are in none, and so on when they are left out. Between two groups all games
    went one way or there were none: they say nothing finite about the difference.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    white = timeline.node_player[timeline.game_white]
    black = timeline.node_player[timeline.game_black]
    scored, conceded = timeline.outcome != LOSS, timeline.outcome != WIN
    ends = np.concatenate([white[scored], black[conceded]]), np.concatenate([black[scored], white[conceded]])
    size = len(timeline.players)
    points = coo_array((np.ones(len(ends[0])), ends), shape=(size, size))
    _, label = connected_components(points, directed=True, connection="strong")
    members = np.bincount(label)
    order = np.argsort(-members, kind="stable")
    place = np.empty(len(members), np.int32)
    place[order] = np.arange(len(members), dtype=np.int32)
    place[members < 2] = -1
    return place[label] if size else np.zeros(0, np.int32)
