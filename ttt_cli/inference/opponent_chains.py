"""Chains of opponents through which a skill is known.

The mean of a difference of skills is a weighted sum of what single games show. Games and steps of skills conduct like
resistors in an electric network: with a unit current into one player and out of the others, the weight of a game is
the current through it (Ruecker, Network meta-analysis, electrical networks and graph theory, 2012). Between players
the current divides in chains (Papakonstantinou and others, Estimating the contribution of studies in network
meta-analysis: paths, flows and streams, 2018). Players conduct to what is assumed of newcomers, too.
"""

from __future__ import annotations

import heapq
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ttt_cli.support.arrays import Array, Mask, Places

FIELD: Final = "field"
NEWCOMER: Final = "newcomer"
LEAST: Final = 1e-3  # share of a chain that is looked for
NEAR: Final = 0.1  # of the largest covariance of the player: players with less are in the field


class GameFlows(NamedTuple):
    """The weights of the games between two nodes of different players, in the direction of players' numbers.

    | name | shape | unit | |
    |---|---|---|---|
    | first, second | (pairs,) | | players |
    | weight | (pairs,) | 1 | positive from the first to the second |
    """

    first: NDArray[np.integer]
    second: NDArray[np.integer]
    weight: Array


class PlayerFlows(NamedTuple):
    """What flows from player to player, those of each giver together; shares are of all that leaves the giver.

    | name | shape | unit | |
    |---|---|---|---|
    | start | (players + 1,) | | the first flow of each giver |
    | taker | (flows,) | | player |
    | share | (flows,) | 1 | to this player |
    | to_field | (players,) | 1 | out of the network, as the player is one of those who are compared with |
    | to_newcomer | (players,) | 1 | to what is assumed of newcomers |
    """

    start: Places
    taker: NDArray[np.integer]
    share: Array
    to_field: Array
    to_newcomer: Array


class OpponentChain(NamedTuple):
    """Players in a row, each tied to the next by games; the share of the flow from the first one that takes it.

    `end`: the last one is of the `FIELD`, or is known as a `NEWCOMER`.
    """

    players: tuple[int, ...]
    end: str
    share: float


def player_flows(games: GameFlows, source: Array) -> PlayerFlows:
    """The flows between players whose games have these weights; what flows in both directions cancels.

    `source`: (players,) what flows in at each player (1 in all) or out (-1 in all). All that comes to a player mixes,
    so that it leaves in the same shares whatever chain brought it.
    """
    players = len(source)
    low = np.minimum(games.first, games.second).astype(np.int64)
    high = np.maximum(games.first, games.second)
    upward = np.where(games.first < games.second, games.weight, -games.weight)
    pairs, index = np.unique(low * players + high, return_inverse=True)
    net = np.bincount(index, upward, len(pairs))
    low, high = np.divmod(pairs, players)
    giver = np.where(net > 0.0, low, high)
    taker = np.where(net > 0.0, high, low)
    size = np.abs(net)
    order = np.lexsort((-size, giver))
    to_others = np.bincount(giver, size, players)
    from_others = np.bincount(taker, size, players)
    to_field = np.maximum(-source, 0.0)
    to_newcomer = np.maximum(source + from_others - to_others, 0.0)
    leaves = to_others + to_field + to_newcomer
    through = np.where(leaves > 0.0, leaves, 1.0)
    return PlayerFlows(
        start=np.searchsorted(giver[order], np.arange(players + 1)),
        taker=taker[order],
        share=(size / through[giver])[order],
        to_field=to_field / through,
        to_newcomer=to_newcomer / through,
    )


def opponent_chains(flows: PlayerFlows, player: int, ends: Mask) -> list[OpponentChain]:
    """The chains from a player with a share of `LEAST` or more, largest first.

    They end at the players in `ends` (players,). No player is twice in a chain.
    """
    chains: list[OpponentChain] = []
    unfinished: list[tuple[float, tuple[int, ...]]] = [(-1.0, (player,))]
    while unfinished:
        negative_share, players = heapq.heappop(unfinished)
        share = -negative_share
        last = players[-1]
        if ends[last] and last != player:
            chains.append(OpponentChain(players, FIELD, share))
            continue
        for end, part in ((FIELD, flows.to_field[last]), (NEWCOMER, flows.to_newcomer[last])):
            if share * part >= LEAST:
                chains.append(OpponentChain(players, end, share * float(part)))
        for row in range(flows.start[last], flows.start[last + 1]):
            taken = share * float(flows.share[row])
            if taken < LEAST:
                break  # smaller ones follow
            taker = int(flows.taker[row])
            if taker not in players:
                heapq.heappush(unfinished, (-taken, (*players, taker)))
    chains.sort(key=lambda chain: (-chain.share, chain.players, chain.end))
    return chains
