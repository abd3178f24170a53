"""What segments make of messages, against dense Gaussians."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ttt_cli.kernels.ep.chains import summarise
from ttt_cli.kernels.ep.structures import Chains

LEAST = 1e-3  # points squared: what dense algebra needs of a step; kernels take 0


@given(st.integers(0, 2**32 - 1), st.integers(1, 6), st.booleans(), st.sampled_from([0.0, 30.0, 3000.0]))
def test_messages_through_a_segment(seed, length, begins, drift):
    """All but one end integrated out, forward and backward, the step beyond left to others."""
    rng = np.random.default_rng(seed)
    precision, mean = rng.uniform(0.0, 1e-3, length), rng.normal(0.0, 20.0, length)
    weighted = precision * rng.normal(0.0, 300.0, length)
    variance = np.full(length, drift**2)
    variance[0] = 400.0**2
    previous = np.arange(-1, length - 1).astype(np.int32)
    if not begins:
        previous = (previous + 1).astype(np.int32)
    shift = 0 if begins else 1  # a node before, elsewhere
    columns = [np.concatenate([np.zeros(shift), of]) for of in (mean, variance, precision, weighted)]
    previous = np.concatenate([np.zeros(shift, np.int32), previous]).astype(np.int32)
    segment = np.concatenate([np.full(shift, -1), np.zeros(length)]).astype(np.int32)
    maps = np.empty((1, 8))
    chains = Chains(np.zeros(1, np.int64), previous, previous, *columns[:2])
    summarise(segment, chains, *columns[2:], maps)
    a, b, c, k, e, f, e_back, f_back = maps[0]

    dense, right = np.diag(precision), weighted.copy()
    if begins:
        dense[0, 0] += 1.0 / variance[0]
        right[0] += mean[0] / variance[0]
    for i in range(1, length):
        each = 1.0 / max(variance[i], LEAST)
        dense[i - 1 : i + 1, i - 1 : i + 1] += each * np.array([[1.0, -1.0], [-1.0, 1.0]])
        right[i - 1 : i + 1] += each * mean[i] * np.array([-1.0, 1.0])
    p, h = 2e-4, 0.05
    for end, other, found in (
        (0, -1, ((a * p + b) / (c * p + 1.0), (k * h + e * p + f) / (c * p + 1.0))),
        (-1, 0, ((p + b) / (c * p + a), (k * h + e_back * p + f_back) / (c * p + a))),
    ):
        told, told_right = dense.copy(), right.copy()
        told[end, end] += p
        told_right[end] += h
        covariance = np.linalg.inv(told)
        assert found[0] == pytest.approx(1.0 / covariance[other, other], rel=1e-4)
        assert found[1] / found[0] == pytest.approx((covariance @ told_right)[other], rel=1e-4, abs=1e-2)
