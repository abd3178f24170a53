"""Laying games out in time: nodes of players in periods, and equal games held once.

Games are sorted by period; `game_start[p]` to `game_start[p + 1]` belong to period p. All of it takes time in
proportion to the games, by counting; only the players of a period are sorted by comparison.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from ttt_cli.kernels.compile import flat, kernel

_STRIDE: Final = 2654435761  # prime
_APART: Final = 8192  # games among which neighbours are set apart: their players fit into the cache


def _fixed(kind):
    """The type of an array that is only read."""
    return f"Array({kind}, 1, 'C', True)"


@kernel(f"int64({_fixed('int64')}, {_fixed('int32')}, {_fixed('int32')}, int32[::1])")
def count_nodes(game_start, white, black, seen):
    """How many (player, period) pairs have games; `seen` (players,) is room for work, -1 throughout."""
    nodes = 0
    for p in range(len(game_start) - 1):
        for g in range(game_start[p], game_start[p + 1]):
            for player in (white[g], black[g]):
                if seen[player] != p:
                    seen[player] = p
                    nodes += 1
    return nodes


@kernel(
    f"void({_fixed('int64')}, {_fixed('int32')}, {_fixed('int32')}, int32[::1], int32[::1], int64[::1], int32[::1], "
    "int32[::1], int32[::1], int32[::1], int32[::1])"
)
def lay_out(
    game_start, white, black, seen, node_of,
    node_start, node_player, previous, following, game_white, game_black,
):  # fmt: skip
    """Fill `node_start` (periods + 1,), `node_player`, `previous`, `following` (nodes,), `game_white`, `game_black`.

    Nodes are sorted by period, then player. `seen` and `node_of` (players,) are room for work, -1 throughout.
    """
    nodes = 0
    node_start[0] = 0
    for p in range(len(game_start) - 1):
        first = nodes
        for g in range(game_start[p], game_start[p + 1]):
            for player in (white[g], black[g]):
                if seen[player] != p:
                    seen[player] = p
                    node_player[nodes] = player
                    nodes += 1
        node_player[first:nodes].sort()
        for node in range(first, nodes):
            player = node_player[node]
            before = node_of[player]
            previous[node] = before
            following[node] = -1
            if before >= 0:
                following[before] = node
            node_of[player] = node
        node_start[p + 1] = nodes
        for g in range(game_start[p], game_start[p + 1]):
            game_white[g] = node_of[white[g]]
            game_black[g] = node_of[black[g]]


@flat
def _counting_pass(begin, end, keys, base, counts, order, sorted_order):
    """Sort `order[begin:end]` by `keys[order] - base`, which are below len(counts), into `sorted_order`; stable."""
    counts[:] = 0
    for k in range(begin, end):
        counts[keys[order[k]] - base] += 1
    place = begin
    for key in range(len(counts)):
        count = counts[key]
        counts[key] = place
        place += count
    for k in range(begin, end):
        key = keys[order[k]] - base
        sorted_order[counts[key]] = order[k]
        counts[key] += 1


@kernel(
    f"int64({_fixed('int64')}, {_fixed('int64')}, int64, int32[::1], int32[::1], uint8[::1], int32[::1], int32[::1], "
    "int64[::1])"
)
def sort_pairs(node_start, game_start, kinds, first, second, code, order, spare, pair_start):
    """Sort games inside periods by first, second and code (below `kinds`), as `order` (games,), which counts up.

    Fills `pair_start` (periods + 1,) with where the distinct ones of each period begin; returns how many there are.
    """
    pairs = 0
    pair_start[0] = 0
    by_code = np.empty(kinds, np.int64)
    widest = 0
    for p in range(len(node_start) - 1):
        widest = max(widest, node_start[p + 1] - node_start[p])
    by_node = np.empty(widest, np.int64)
    for p in range(len(node_start) - 1):
        base = node_start[p]
        begin, end = game_start[p], game_start[p + 1]
        here = by_node[: node_start[p + 1] - base]
        _counting_pass(begin, end, code, 0, by_code, order, spare)
        _counting_pass(begin, end, second, base, here, spare, order)
        _counting_pass(begin, end, first, base, here, order, spare)
        for k in range(begin, end):
            g = spare[k]
            order[k] = g
            before = spare[k - 1]
            if (
                k == begin
                or first[g] != first[before]
                or second[g] != second[before]
                or code[g] != code[before]
            ):
                pairs += 1
        pair_start[p + 1] = pairs
    return pairs


@kernel(
    f"void({_fixed('int64')}, int32[::1], int32[::1], uint8[::1], float64[::1], float64[::1], int32[::1], "
    f"{_fixed('int64')}, int32[::1], int32[::1], uint8[::1], float64[::1], float64[::1])"
)
def merge_pairs(
    game_start, first, second, code, weight, balance, order,
    pair_start, pair_first, pair_second, pair_code, pair_weight, pair_balance,
):  # fmt: skip
    """Fill the columns of the distinct games, with the sums of `weight` and `balance` over equal ones.

    `weight` and `balance` have shape (games,), or (1,) where they are the same for all. Inside a period games stay
    near the others of their first player, whose node is then at hand, but neighbours are set apart: updates of one
    player's games wait for each other.
    """
    places = np.empty(_APART, np.int32)
    one_weight = len(weight) == 1
    one_balance = len(balance) == 1
    for p in range(len(game_start) - 1):
        start = pair_start[p]
        size = pair_start[p + 1] - start
        k, pair, end = game_start[p], 0, game_start[p + 1]
        while k < end:
            among = pair % _APART
            if among == 0:
                here = min(_APART, size - pair)
                for other in range(here):
                    places[other * _STRIDE % here] = other
            i, j, kind = first[order[k]], second[order[k]], code[order[k]]
            total = difference = 0.0
            while k < end and first[order[k]] == i and second[order[k]] == j and code[order[k]] == kind:
                total += weight[0] if one_weight else weight[order[k]]
                difference += balance[0] if one_balance else balance[order[k]]
                k += 1
            place = start + pair - among + places[among]
            pair += 1
            pair_first[place] = i
            pair_second[place] = j
            pair_code[place] = kind
            pair_weight[place] = total
            pair_balance[place] = difference
