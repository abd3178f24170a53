"""The dense inverse in blocks against the plain one."""

import math
from typing import Any

import numpy as np
import pytest

from ttt_cli.inference.bradley_terry.dense import invert


@pytest.mark.parametrize("block", [1, 3, 4, 7, 100])
@pytest.mark.parametrize("n", [0, 1, 4, 12, 25])
def test_blocks_of_any_size_give_the_inverse_and_the_determinant(n: int, block: int) -> None:
    rng = np.random.default_rng(n)
    root = rng.normal(size=(n, n))
    whole = root @ root.T + np.eye(n)
    matrix = np.triu(whole) + np.tril(np.full((n, n), 1e9), -1)  # what is below the diagonal must not count
    log_determinant = invert(matrix, block)
    assert log_determinant == pytest.approx(np.linalg.slogdet(whole)[1], abs=1e-10)
    assert np.triu(matrix) == pytest.approx(np.triu(np.linalg.inv(whole)), abs=1e-12)


def test_lapack_never_sees_more_than_a_block(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its threaded routines crash on matrices of some 20,000 rows."""
    sizes: list[int] = []

    def watch(name: str) -> None:
        function = getattr(np.linalg, name)

        def watched(matrix: Any) -> Any:
            sizes.append(len(matrix))
            return function(matrix)

        monkeypatch.setattr(np.linalg, name, watched)

    watch("cholesky")
    watch("inv")
    invert(np.eye(50) * 4.0, 8)
    assert len(sizes) == 14
    assert max(sizes) == 8


def test_what_is_not_positive_definite_has_no_inverse_here() -> None:
    matrix = np.array([[1.0, 2.0], [0.0, 1.0]])
    assert math.isnan(invert(matrix))
    assert np.isnan(matrix).all()
