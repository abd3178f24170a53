"""Equal inputs give equal Fits, bit for bit, with any number of threads that is the same."""

from dataclasses import fields, replace

import numpy as np
import pytest

from tests.support.builders import make_games
from ttt_cli.api import configure
from ttt_cli.config.load import shipped_configs
from ttt_cli.timeline import build_timeline


def many_rows() -> list[tuple]:
    rng = np.random.default_rng(5)
    names = [f"p{number:02}" for number in range(30)]
    games = [
        (1900 + i // 40, *rng.choice(names, 2, replace=False), int(rng.integers(3)))
        for i in range(800)
    ]
    return [(year, str(white), str(black), outcome) for year, white, black, outcome in games]


@pytest.mark.parametrize("config", shipped_configs())
def test_a_fit_is_repeated_exactly(config: str) -> None:
    resolved = configure(config)
    solver = resolved.config.solver.model_copy(update={"threads": 2})
    one, other = (
        resolved.model.fit(build_timeline(make_games(many_rows())), resolved.params, solver)
        for _ in range(2)
    )
    assert repr(replace(other, chains={})) == repr(replace(one, chains={}))  # with every digit
    assert one.chains.keys() == other.chains.keys()
    for name, chain in one.chains.items():
        for field in fields(chain):
            values = getattr(other.chains[name], field.name), getattr(chain, field.name)
            for pair in zip(*values, strict=True) if isinstance(values[0], tuple) else [values]:
                np.testing.assert_array_equal(*pair)
