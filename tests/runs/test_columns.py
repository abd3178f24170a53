from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.support.handmade import RECORDS, games_of
from tests.support.strategies import examples
from ttt_cli.runs.columns import player_columns


@given(st.data())
@examples(12)
def test_records_are_the_weighted_results(data: st.DataObject) -> None:
    rows = [RECORDS[i] for i in sorted(data.draw(st.lists(st.integers(0, 6), min_size=1, max_size=12)))]
    same = data.draw(st.booleans())
    weights = [2.0] * len(rows) if same else [data.draw(st.sampled_from([0.5, 1.0, 3.0])) for _ in rows]
    games = games_of(rows, weights)
    if same:
        games = replace(games, weight=np.broadcast_to(2.0, len(rows)))
        assert games.weight.strides == (0,)
    expected = np.zeros((3, len(games.players)))
    for (_, white, black, result), weight in zip(rows, weights, strict=True):
        outcome = ("0-1", "1/2-1/2", "1-0").index(result)
        expected[outcome, games.players.index(white)] += weight
        expected[2 - outcome, games.players.index(black)] += weight
    found = player_columns(games)
    assert np.array_equal([found["losses"], found["draws"], found["wins"]], expected)
    assert np.array_equal(found["games"], expected.sum(axis=0))
