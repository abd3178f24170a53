"""The factorised information matrix against dense algebra."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ttt_cli.errors import ConfigError
from ttt_cli.inference.bradley_terry import information
from ttt_cli.inference.bradley_terry.information import Information, Pattern
from ttt_cli.kernels.bradley_terry import elimination


def random_matrix(seed, n, pairs):
    """(first, second, coupling, diagonal) and the dense matrix; pairs may recur."""
    rng = np.random.default_rng(seed)
    first, second = (rng.integers(0, n, pairs).astype(np.int32) for _ in range(2))
    apart = first != second
    first, second = first[apart], second[apart]
    coupling = rng.exponential(1.0, len(first))
    diagonal = (
        np.bincount(first, coupling, n) + np.bincount(second, coupling, n) + rng.exponential(0.1, n) + 0.01
    )
    dense = np.diag(diagonal)
    np.add.at(dense, (first, second), -coupling)
    np.add.at(dense, (second, first), -coupling)
    return (first, second, coupling, diagonal), dense


def factorised(first, second, coupling, diagonal):
    return Information(Pattern(first, second, len(diagonal)), coupling, diagonal)


def check(given, dense):
    """All that Information says is what dense algebra says."""
    found, inverse = factorised(*given), np.linalg.inv(dense)
    scale = np.abs(inverse).max()
    assert found.log_determinant == pytest.approx(np.linalg.slogdet(dense)[1], abs=1e-8)
    assert found.variances == pytest.approx(inverse.diagonal(), abs=1e-10 * scale)
    first, second = given[:2]
    assert found.covariances(first, second) == pytest.approx(inverse[first, second], abs=1e-10 * scale)
    b = np.arange(len(dense)) - 3.0
    assert found.solve(b) == pytest.approx(inverse @ b, abs=1e-9 * scale * max(1, np.abs(b).sum()))


@settings(max_examples=25)
@given(
    st.integers(0, 2**32 - 1),
    st.integers(1, 40),
    st.sampled_from([0.0, 0.7, 2.0, 6.0]),
    st.sampled_from([(0.05, 1000), (0.05, 0), (0.5, 3), (-1.0, 0)]),
)
def test_it_is_dense_algebra_with_and_without_a_core(seed, n, density, rule):
    """With no core, with one that comes at once, and between."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(information, "CORE_SHARE", rule[0])
        patch.setattr(information, "LEAST_CORE", rule[1])
        check(*random_matrix(seed, n, int(density * n)))


def test_a_long_chain_with_a_dense_end():
    (first, second, coupling, _), dense = random_matrix(1, 30, 400)
    links = np.arange(30, 120, dtype=np.int32)
    size = 120
    whole = np.zeros((size, size))
    whole[:30, :30] = dense
    for i in links:
        whole[i, i] += 2.0
        whole[i - 1, i - 1] += 2.0
        whole[i, i - 1] = whole[i - 1, i] = -2.0
    check(
        (np.append(first, links), np.append(second, links - 1).astype(np.int32),
         np.append(coupling, np.full(len(links), 2.0)), whole.diagonal().copy()),
        whole,
    )  # fmt: skip


def test_nothing_is_nothing():
    none = np.zeros(0, np.int32)
    empty = factorised(none, none, np.zeros(0), np.zeros(0))
    assert empty.log_determinant == 0
    assert len(empty.variances) == len(empty.solve(np.zeros(0))) == 0


def test_leaves_go_first_and_fill_nothing():
    """A star of 50: its centre last or last but one, one neighbour each."""
    leaves = np.arange(1, 51, dtype=np.int32)
    start = np.concatenate([[0, 50], 50 + np.arange(1, 51)]).astype(np.int64)
    order, column, _ = elimination.minimum_degree(
        start, np.concatenate([leaves, np.zeros(50, np.int32)]), 0.05, 1000
    )
    assert sorted(order.tolist()) == list(range(51))
    assert 0 in order[-2:]
    assert np.diff(column).max() == 1


def test_a_core_too_large_is_refused_before_it_is_made(monkeypatch):
    """All joined to all: nothing but a core. The memory asked for is that of the graph, not of the matrix."""
    monkeypatch.setattr(information, "LEAST_CORE", 0)
    monkeypatch.setattr(information, "MOST_CORE", 39)
    first, second = (ends.astype(np.int32) for ends in np.triu_indices(40, 1))
    with pytest.raises(ConfigError, match="40 ratings need a dense matrix of 40 rows") as caught:
        Pattern(first, second, 40)
    assert "deviations=own" in (caught.value.hint or "")
    monkeypatch.setattr(information, "MOST_CORE", 40)
    assert Pattern(first, second, 40).core == 40
