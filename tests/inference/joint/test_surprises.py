"""Sites of surprises: their pull stays where they take less precision away."""

from __future__ import annotations

import numpy as np
import pytest

from ttt_cli.gaussian.precision import SumRows
from ttt_cli.inference.joint import surprises
from ttt_cli.inference.joint.links import joint_links
from ttt_cli.kernels.ep.structures import LinkRows

SITE = np.array([[-2e-6, 3e-3], [1e-6, 2e-3], [-8e-6, -1e-3]])
MEAN = np.array([300.0, -50.0, 120.0])


def test_less_is_taken_with_the_same_pull_at_the_mean():
    site = SITE.copy()
    assert surprises.take_less(site, MEAN, 0.25)
    assert site[:, 0] == pytest.approx([-0.5e-6, 1e-6, -2e-6])
    assert site[:, 1] - site[:, 0] * MEAN == pytest.approx(SITE[:, 1] - SITE[:, 0] * MEAN)
    assert not surprises.take_less(site[1:2], MEAN[1:2], 0.25)


def test_the_limit_keeps_the_mean_of_cavity_and_site():
    site = SITE.copy()
    cavity = np.column_stack([MEAN, [1e5, 1e5, 1e5]])
    surprises.limit_taken(site, cavity, 0.1)
    assert site[:, 0] == pytest.approx([-0.1 / 1.1 * 1e-5, 1e-6, -0.1 / 1.1 * 1e-5])

    def means(of: np.ndarray) -> np.ndarray:
        return (MEAN / 1e5 + of[:, 1]) / (1e-5 + of[:, 0])

    assert means(site) == pytest.approx(means(SITE))
    unlimited = SITE.copy()
    surprises.limit_taken(unlimited, cavity, 1e3)
    assert np.array_equal(unlimited, SITE)


def test_links_take_less_at_the_means_of_their_sums():
    numbers = np.zeros((7, 1))
    sums = SumRows(np.array([0, 2]), np.array([0, 2], np.int32), np.array([1.0, -2.0]))
    rows = LinkRows(
        np.array([0, 1]), sums.start, sums.variable, sums.coefficient, *numbers
    )  # fmt: skip
    links = joint_links(rows, np.array([[-4e-6, 1e-3]]))
    mean = np.array([100.0, 7.0, 30.0])
    assert links.take_less(mean, 0.5)
    assert links.site[0] == pytest.approx([-2e-6, 1e-3 + 2e-6 * (100.0 - 60.0)])
    links.cavity[:] = [[40.0, 1e5]]
    links.limit_taken(0.0)
    assert links.site[0, 0] == 0.0
