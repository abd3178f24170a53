"""Games laid out in time: nodes of players in periods, equal games merged; graph of opponents."""

from typing import Final, NamedTuple

import numpy as np

from ttt_cli.kernels.arrays import (
    FixedCodes,
    FixedIndex,
    FixedPlaces,
    FixedVector,
    Index,
    Places,
    Vector,
)
from ttt_cli.kernels.compile import at, flat, inner, kernel, span
from ttt_cli.kernels.ep.structures import Pairings

_STRIDE: Final = 2654435761  # prime
_CODES: Final = 6  # of games: three outcomes, with colours known and unknown
_BLOCK: Final = 8192  # games among which neighbours are set apart: their players fit into the cache


class Nodes(NamedTuple):
    """Node arrays of a `Timeline`, (nodes,)."""

    player: Index
    period: Index
    games: Vector
    previous: Index
    next: Index
    gap_years: Vector


@kernel
def find_nodes(
    game_start: FixedPlaces, white: FixedIndex, black: FixedIndex, seen: Index, node_start: Places,
    unsorted_player: Index,
) -> None:  # fmt: skip
    """Fill `node_start` (periods + 1,), and the front of `unsorted_player` (2 games,) with the player of each node.

    Players of a period are in the order of its games. `seen` (players,) is work space, -1 at first.
    """
    nodes = 0
    node_start[0] = 0
    for p in range(len(game_start) - 1):
        end = game_start[p + 1]
        for g in span(game_start[p], end):
            for side in (white, black):
                player = at(side[g])
                if seen[player] != p:
                    seen[player] = p
                    unsorted_player[at(nodes)] = player
                    nodes += 1
        node_start[p + 1] = nodes


@kernel
def sort_nodes(
    node_start: Places,
    unsorted_player: Index,
    positions: Index,
    periods_by_player: Index,
    node_player: Index,
) -> None:
    """Sort the players of nodes inside periods into `node_player`, from `unsorted_player` (`find_nodes`).

    `positions` (players,), 0 at first, and `periods_by_player` are work space.
    """
    nodes = len(node_player)
    for k in span(0, nodes):
        positions[at(unsorted_player[k])] += 1
    position = 0
    for player in span(0, len(positions)):
        count = positions[player]
        positions[player] = position
        position += count
    for p in range(len(node_start) - 1):
        for k in span(node_start[p], node_start[p + 1]):
            player = at(unsorted_player[k])
            periods_by_player[at(positions[player])] = p
            positions[player] += 1
    cursor = node_start.copy()
    begin = 0
    for player in span(0, len(positions)):
        for k in span(begin, positions[player]):
            p = at(periods_by_player[k])
            node_player[at(cursor[p])] = player
            cursor[p] += 1
        begin = positions[player]


@kernel
def lay_out(
    periods: Index, steps_per_year: float, game_start: FixedPlaces, white: FixedIndex, black: FixedIndex,
    weight: FixedVector, node_start: Places, node_of: Index, nodes: Nodes, game_white: Index,
    game_black: Index,
) -> None:  # fmt: skip
    """Fill `nodes` from its players, and the nodes of games. `node_of` (players,) is work space, -1 at first."""
    for p in range(len(game_start) - 1):
        first = node_start[p]
        last = node_start[p + 1]
        for node in span(first, last):
            player = at(nodes.player[node])
            before = node_of[player]
            node_of[player] = node
            nodes.period[node] = periods[p]
            nodes.games[node] = 0.0
            nodes.previous[node] = before
            nodes.next[node] = -1
            nodes.gap_years[node] = 0.0
            if before >= 0:
                nodes.next[at(before)] = node
                nodes.gap_years[node] = (periods[p] - nodes.period[at(before)]) / steps_per_year
        begin = game_start[p]
        end = game_start[p + 1]
        for g in span(begin, end):
            for side, game_node in ((white, game_white), (black, game_black)):
                node = node_of[at(side[g])]
                game_node[g] = node
                nodes.games[at(node)] += weight[g]


@flat
def _counting_pass(begin, end, keys, base, counts, order, sorted_order):
    """Sort `order[begin:end]`, a permutation of that range, stably by `keys[order] - base`, below len(counts)."""
    counts[:] = 0
    for k in span(begin, end):
        counts[at(keys[k] - base)] += 1
    position = begin
    for key in span(0, len(counts)):
        count = counts[key]
        counts[key] = position
        position += count
    for k in span(begin, end):
        key = at(keys[at(order[k])] - base)
        sorted_order[at(counts[key])] = order[k]
        counts[key] += 1


@kernel
def sort_pairs(
    node_start: FixedPlaces, game_start: FixedPlaces, first: FixedIndex, second: FixedIndex, code: FixedCodes,
    offset: FixedIndex, order: Index, spare: Index, pair_start: Places,
) -> int:  # fmt: skip
    """Sort games inside periods by first, second, offset and code, as `order` (games,).

    `offset` (games,) are numbers of equal offsets, or empty where no game has any. `order` is ascending at first, or
    inside periods by offset and code if there are any.

    Fills `pair_start` (periods + 1,) with the start of each period's distinct games; returns their number.
    """
    pairs = 0
    pair_start[0] = 0
    by_code = np.empty(_CODES, np.int64)
    widest = 0
    for p in range(len(node_start) - 1):
        widest = max(widest, node_start[p + 1] - node_start[p])
    by_node = np.empty(widest, np.int64)
    for p in range(len(node_start) - 1):
        base = node_start[p]
        begin = game_start[p]
        end = game_start[p + 1]
        here = by_node[: node_start[p + 1] - base]
        if len(offset) == 0:
            _counting_pass(begin, end, code, 0, by_code, order, spare)
        else:
            for k in span(begin, end):
                spare[k] = order[k]
        _counting_pass(begin, end, second, base, here, spare, order)
        _counting_pass(begin, end, first, base, here, order, spare)
        before = at(0)
        for k in span(begin, end):
            g = at(spare[k])
            order[k] = g
            if (
                k == begin
                or first[g] != first[before]
                or second[g] != second[before]
                or code[g] != code[before]
                or (len(offset) > 0 and offset[g] != offset[before])
            ):
                pairs += 1
            before = g
        pair_start[p + 1] = pairs
    return pairs


@kernel
def merge_pairs(
    game_start: FixedPlaces, first: FixedIndex, second: FixedIndex, code: FixedCodes, offset: FixedIndex,
    weight: FixedVector, balance: FixedVector, order: Index, pairs: Pairings, of_pairs: Vector,
    offset_of_pairs: Index,
) -> None:  # fmt: skip
    """Fill `pairs`, but for their starts, with the distinct games: the sums of `weight` over equal ones.

    Fills `of_pairs` (distinct games,) with those of `balance`, and `offset_of_pairs` with their `offset` if there are
    any (`sort_pairs`). Games remain near others of their first player, but not
    adjacent: successive updates of one player would wait.
    """
    scattered = np.empty(_BLOCK, np.int32)
    for p in range(len(game_start) - 1):
        start = pairs.start[p]
        size = pairs.start[p + 1] - start
        k = game_start[p]
        pair = 0
        end = game_start[p + 1]
        while k < end:
            in_block = pair % _BLOCK
            if in_block == 0:
                block_size = min(_BLOCK, size - pair)
                for index in range(block_size):
                    scattered[index * _STRIDE % block_size] = index
            g = at(order[at(k)])
            i = first[g]
            j = second[g]
            kind = code[g]
            level = offset[g] if len(offset) > 0 else 0
            total = difference = 0.0
            while first[g] == i and second[g] == j and code[g] == kind:
                if len(offset) > 0 and offset[g] != level:
                    break
                total += weight[g]
                difference += balance[g]
                k += 1
                if k == end:
                    break
                g = at(order[at(k)])
            position = at(start + pair - in_block + scattered[in_block])
            pair += 1
            pairs.first[position] = i
            pairs.second[position] = j
            pairs.code[position] = kind
            pairs.weight[position] = total
            of_pairs[position] = difference
            if len(offset) > 0:
                offset_of_pairs[position] = level


@kernel
def walk_depth_first(
    start: Places, neighbour: Index, roots: Index, number: Index, parent: Index, lowest: Index, size: Index,
    path: Index, edge: Places,
) -> None:  # fmt: skip
    """Walk a simple undirected graph depth first from one root in each component (Hopcroft and Tarjan 1973).

    Neighbours of v are `neighbour[start[v]:start[v + 1]]`. Fills per player, shape (players,): `number` in the order
    of visiting, `parent` (-1 for roots), `lowest` number reachable from the subtree below by one further pair, and
    `size` of the subtree. `number` is -1 at first; `path` and `edge` are work space of shape (players,). A player
    without pairs needs no root. Subtree v hangs on u = parent[v] alone when lowest[v] >= number[u], and on the pair
    u, v when lowest[v] > number[u].
    """
    count = 0
    for root in roots:
        depth = 0
        path[0] = root
        number[root] = lowest[root] = count
        parent[root] = -1
        size[root] = 1
        edge[root] = start[root]
        count += 1
        while depth >= 0:
            v = path[depth]
            if edge[v] < start[v + 1]:
                w = neighbour[edge[v]]
                edge[v] += 1
                if number[w] < 0:
                    number[w] = lowest[w] = count
                    count += 1
                    parent[w] = v
                    size[w] = 1
                    edge[w] = start[w]
                    depth += 1
                    path[depth] = w
                elif w != parent[v] and number[w] < lowest[v]:
                    lowest[v] = number[w]
            else:
                depth -= 1
                u = parent[v]
                if u >= 0:
                    size[u] += size[v]
                    lowest[u] = min(lowest[u], lowest[v])


@inner
def _find(above, v):
    while above[v] != v:
        above[v] = above[above[v]]
        v = above[v]
    return v


@kernel
def join_pairs(player: FixedIndex, opponent: FixedIndex, first: Index) -> None:
    """Fill `first`, initially the players' own numbers, with the first player of each player's group."""
    for k in range(len(player)):
        a = first[player[k]]
        b = first[opponent[k]]
        if a != b:
            a = _find(first, a)
            b = _find(first, b)
            first[max(a, b)] = min(a, b)
    for v in range(len(first)):
        first[v] = first[first[v]]
