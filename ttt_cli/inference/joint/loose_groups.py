"""Notes on groups of players whose common level is uncertain, as few or no games link them to the others."""

from collections.abc import Callable
from typing import Final, NamedTuple

import numpy as np

from ttt_cli.games.groups import find_groups, find_loose_parts
from ttt_cli.games.table import Games
from ttt_cli.support.arrays import Array, Mask, Places
from ttt_cli.timeline import Timeline

LEAST_PLAYERS: Final = 5  # players of a reported group
MOST_GROUPS: Final = 20  # reported groups, the largest


class LooseGroup(NamedTuple):
    """A weakly linked group: a description, its players and those it is compared with, (players,)."""

    description: str
    players: Mask
    opponents: Mask


def level_notes(
    games: Games, timeline: Timeline, covariance: Callable[[Array], Array]
) -> tuple[str, ...]:
    """Notes with the sd of the level of each group that few or no games link to the others.

    `covariance`: that (sums, sums) of sums of skills with weights (nodes, sums).
    """
    groups = _loose_groups(games)
    if not groups:
        return ()
    contrasts = np.array([_contrast(timeline, group) for group in groups]).T
    sds = np.sqrt(np.diag(covariance(contrasts)))
    sentences = [
        f"{group.description} (+-{sd:.0f} points)" for group, sd in zip(groups, sds, strict=True)
    ]
    return (f"common level uncertain: {'; '.join(sentences)}",)


def _contrast(timeline: Timeline, group: LooseGroup) -> Array:
    """Weights (nodes,) of the difference of the mean skills of both sides, in common periods if there are any.

    In a period with n players and m opponents the difference has 1 / n for each player and -1 / m for each opponent.
    The periods are weighted by their players n.
    """
    of_players = group.players[timeline.node_player]
    of_opponents = group.opponents[timeline.node_player]
    period = _compared_periods(timeline, of_players, of_opponents)
    n_players = np.bincount(period, of_players)
    n_opponents = np.bincount(period, of_opponents)
    has_both = (n_players > 0) & (n_opponents > 0)
    share_of_period = np.where(has_both, n_players, 0.0) / n_players[has_both].sum()
    mean_of_players = of_players / np.maximum(n_players, 1.0)[period]
    mean_of_opponents = of_opponents / np.maximum(n_opponents, 1.0)[period]
    return np.asarray(share_of_period[period] * (mean_of_players - mean_of_opponents))


def _compared_periods(timeline: Timeline, of_players: Mask, of_opponents: Mask) -> Places:
    """The period of each node, or the same for all where no period has players of both sides."""
    period = np.repeat(np.arange(len(timeline.periods)), np.diff(timeline.node_start))
    if not np.any(np.bincount(period, of_players) * np.bincount(period, of_opponents)):
        return np.zeros_like(period)
    return period


def _loose_groups(games: Games) -> list[LooseGroup]:
    """Weakly linked groups, the largest first."""
    groups = find_groups(games)
    loose = []
    for part in find_loose_parts(games, players=LEAST_PLAYERS):
        inside = np.zeros(len(games.players), bool)
        inside[part.members] = True
        count = "1 game" if part.games == 1 else f"{part.games} games"
        link = f"linked to the rest by {count} with {part.linked_through}"
        description = f"{part.players} players around {part.leading}, {link}"
        opponents = ~inside & (groups.label == groups.label[part.members[0]])
        loose.append(LooseGroup(description, inside, opponents))
    for number, group in enumerate(groups.groups[1:], 1):
        if group.players >= LEAST_PLAYERS:
            description = (
                f"{group.players} players around {group.leading[0]}, linked to the rest by no game"
            )
            loose.append(LooseGroup(description, groups.label == number, groups.label == 0))
    return sorted(loose, key=lambda group: -int(group.players.sum()))[:MOST_GROUPS]
