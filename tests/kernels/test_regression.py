"""Products with the normal equations of players, against dense matrices."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ttt_cli.kernels import regression as kernels


@given(
    sizes=st.lists(st.integers(0, 4), max_size=12),
    blocks=st.integers(1, 2),
    seed=st.integers(0, 1 << 16),
)
def test_couplings_and_products_are_those_of_dense_matrices(
    sizes: list[int], blocks: int, seed: int
) -> None:
    """Rows of none to four players, of whom none is twice in a game."""
    rng = np.random.default_rng(seed)
    n_players = 5
    start = np.append(0, np.cumsum(sizes)).astype(np.int64)
    drawn = [rng.permutation(n_players)[:size] for size in sizes]
    player = np.concatenate([*drawn, np.empty(0)]).astype(np.int32)
    coefficient = rng.normal(size=len(player))
    weight = rng.uniform(0.1, 2.0, len(sizes))
    dense = np.zeros((len(sizes), n_players))
    dense[np.repeat(np.arange(len(sizes)), sizes), player] = coefficient
    matrix = dense.T @ (weight[:, np.newaxis] * dense)

    size_of_game = np.repeat(np.array(sizes, np.int64), sizes)
    count = np.bincount(player, size_of_game - 1, n_players).astype(np.int64)
    first = np.append(0, np.cumsum(count))
    other = np.empty(first[-1], np.int32)
    coupling = np.empty(first[-1])
    cursor = first[:-1].copy()
    kernels.fill_couplings(start, player, coefficient, weight, cursor, other, coupling)
    assert np.array_equal(cursor, first[1:])

    x = rng.normal(size=(n_players, blocks * kernels.AT_ONCE))
    products = np.empty_like(x)
    diagonal = np.diag(matrix).copy()
    kernels.fill_products(first, other, coupling, diagonal, x, products)
    np.testing.assert_allclose(products, matrix @ x, rtol=1e-12, atol=1e-12)

    numbers = rng.normal(size=(len(sizes), 3))
    sums = np.zeros((n_players, 3))
    kernels.add_sums(start, player, coefficient, numbers, sums)
    np.testing.assert_allclose(sums, dense.T @ numbers, rtol=1e-12, atol=1e-12)
