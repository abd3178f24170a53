"""The normal distribution function of arrays."""

import numpy as np
import pytest
from scipy.special import ndtr

from ttt_cli.support import normal
from ttt_cli.support.normal import normal_cdf, normal_cdf_of_all


@pytest.mark.parametrize("most", [0, 100])
def test_it_is_the_same_with_and_without_scipy(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(normal, "_MOST_WITHOUT_SCIPY", most)
    x = np.array([[-30.0, -8.0, -0.1], [0.0, 2.5, 40.0]])
    assert normal_cdf_of_all(x) == pytest.approx(ndtr(x), rel=1e-14)
    assert normal_cdf_of_all(x) == pytest.approx(np.vectorize(normal_cdf)(x), rel=1e-14)
    assert normal_cdf_of_all(np.empty(0)).shape == (0,)
