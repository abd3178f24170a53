"""How well a joint posterior knows the levels of loosely tied groups of players against the others."""

from collections.abc import Callable
from typing import Final

import numpy as np

from ttt_cli.arrays import Array, Mask
from ttt_cli.games.selection.groups import find_groups, hanging_parts
from ttt_cli.games.table import Games
from ttt_cli.timeline import Timeline

Deviations = Callable[[Array], Array]  # the sds (sums,) of sums of skills with weights (nodes, sums)

LEAST: Final = 5  # players of a group that is told of
MOST: Final = 20  # groups that are, the largest


def level_notes(games: Games, timeline: Timeline, deviations: Deviations) -> tuple[str, ...]:
    """A sentence with the sd of the level of every group that few games or none tie to the others, if there are any."""
    parts = _loose_parts(games)
    if not parts:
        return ()
    sds = deviations(np.array([contrast(timeline, inside, others) for _, inside, others in parts]).T)
    told = (f"{words} +- {sd:.0f}" for (words, *_), sd in zip(parts, sds, strict=True))
    return (f"levels of loosely tied groups against the others, points: {'; '.join(told)}",)


def contrast(timeline: Timeline, inside: Mask, others: Mask) -> Array:
    """Weights (nodes,) of the mean skill of players `inside` less that of `others`, in periods of both if any are."""
    period = np.repeat(np.arange(len(timeline.periods)), np.diff(timeline.node_start))
    own, other = inside[timeline.node_player], others[timeline.node_player]
    if not np.any(np.bincount(period, own) * np.bincount(period, other)):
        period = np.zeros_like(period)
    among, against = np.bincount(period, own), np.bincount(period, other)
    both = (among > 0) & (against > 0)
    share = np.where(both, among, 0.0) / among[both].sum()
    weights = own / np.maximum(among, 1.0)[period] - other / np.maximum(against, 1.0)[period]
    return np.asarray(share[period] * weights)


def _loose_parts(games: Games) -> list[tuple[str, Mask, Mask]]:
    """Words on each group, its players and those whom it is measured against; the largest first."""
    groups = find_groups(games)
    found = []
    for tie, part in hanging_parts(games, players=LEAST):
        inside = np.zeros(len(games.players), bool)
        inside[part] = True
        count = "1 game" if tie.games == 1 else f"{tie.games} games"
        words = f"{tie.players} players around {tie.leading} ({count} with {tie.player})"
        found.append((words, inside, ~inside & (groups.label == groups.label[part[0]])))
    for number, group in enumerate(groups.groups[1:], 1):
        if group.players >= LEAST:
            words = f"{group.players} players around {group.leading[0]} (no game)"
            found.append((words, groups.label == number, groups.label == 0))
    return sorted(found, key=lambda part: -int(part[1].sum()))[:MOST]
