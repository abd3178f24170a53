"""Steps by which repeated games are found; what comes of it is in `test_selection.py`."""

import numpy as np

from ttt_cli.games.duplicates import _first_in_group


def test_the_first_of_some_rows_in_the_group_of_each() -> None:
    """Groups begin at 0 and 3; rows 1, 2 and 5 are looked at."""
    start_of_group = np.array([0, 0, 0, 3, 3, 3])
    assert _first_in_group(start_of_group, np.array([1, 2, 5])).tolist() == [1, 1, 1, 5, 5, 5]
    assert _first_in_group(start_of_group, np.array([2])).tolist() == [2, 2, 2, -1, -1, -1]
