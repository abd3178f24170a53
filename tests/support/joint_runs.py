"""Runs in memory of a few games, with a joint posterior."""

from tests.support.builders import fit_rows, make_games
from tests.support.handmade import CONFIG
from ttt_cli.config.schema import SolverConfig
from ttt_cli.runs.write import memory_run

JOINT = SolverConfig(tol=1e-9, posterior="joint")
ROWS = [
    (1850, "a", "b", 2), (1850, "b", "a", 2), (1850, "b", "c", 1), (1853, "b", "a", 1), (1857, "a", "c", 0),
    (1857, "c", "a", 1), (1890, "d", "e", 2), (1892, "e", "d", 0, 3.0), (1895, "d", "c", 1), (1895, "f", "g", 2),
]  # fmt: skip
PLAY = {"beta": 300.0, "tau": 40.0}
_FITTED = {}


def run_of(model="ttt", solver=JOINT, rows=ROWS, **params):
    """The timeline of rows as in `make_games`, and the run of their fit."""
    given = (PLAY if model.startswith("ttt") else {}) | params
    key = model, solver.model_dump_json(), tuple(rows), repr(sorted(given.items()))
    if key not in _FITTED:
        _FITTED[key] = fit_rows(rows, model, solver, **given)
    timeline, fit = _FITTED[key]
    return timeline, memory_run(make_games(rows), timeline, fit, CONFIG)
