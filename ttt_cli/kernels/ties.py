"""The graph of players and pairs who met: what hangs on one player, and how groups grew together in time."""

from ttt_cli.kernels.compile import inner, kernel


@kernel(
    "void(int64[::1], int32[::1], int32[::1], int32[::1], int32[::1], int32[::1], int32[::1], int32[::1], int64[::1])"
)
def walk_depth_first(start, neighbour, roots, number, parent, lowest, size, path, edge):
    """Walk a simple undirected graph depth first from one root in each component (Hopcroft and Tarjan 1973).

    Neighbours of v are `neighbour[start[v]:start[v + 1]]`. Fills per player, shape (players,): `number` in the order of
    visiting, `parent` (-1 for roots), `lowest` number that the subtree below reaches by one further pair, and `size` of
    the subtree. `number` comes in as -1; `path` and `edge` are work space of shape (players,). A player without pairs
    needs no root. Subtree v hangs on u = parent[v] alone when lowest[v] >= number[u], and on the pair u, v when
    lowest[v] > number[u].
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


@kernel("void(Array(int32, 1, 'C', True), Array(int32, 1, 'C', True), int32[::1])")
def join_pairs(one, other, first):
    """Fill `first`, which comes in as the players' own numbers, with the first player of the group of each."""
    for k in range(len(one)):
        a, b = first[one[k]], first[other[k]]
        if a != b:
            a, b = _find(first, a), _find(first, b)
            first[max(a, b)] = min(a, b)
    for v in range(len(first)):
        first[v] = first[first[v]]


@kernel(
    "void(int32[::1], int32[::1], int32[::1], int32[::1], int32[::1], int32[::1], int32[::1], int32[::1])"
)
def join_in_order(one, other, above, size, smaller, players, groups, largest):
    """Join groups pair by pair, in the order given, from no player at all.

    Fills per pair: `smaller`, the players of the smaller of the groups that it joins (0: none), and after it how many
    `players` and `groups` there are, and players in the `largest`. `above` comes in as the players' own numbers, `size`
    as zeros.
    """
    n_players = n_groups = most = 0
    for k in range(len(one)):
        for v in (one[k], other[k]):
            if size[v] == 0:
                size[v] = 1
                n_players += 1
                n_groups += 1
        a = _find(above, one[k])
        b = _find(above, other[k])
        smaller[k] = 0
        if a != b:
            if size[a] < size[b]:
                a, b = b, a
            smaller[k] = size[b]
            above[b] = a
            size[a] += size[b]
            n_groups -= 1
        most = max(most, size[a])
        players[k] = n_players
        groups[k] = n_groups
        largest[k] = most
