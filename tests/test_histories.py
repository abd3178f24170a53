"""The formulas of idle periods: SQL gives the numbers that Python gives."""

from __future__ import annotations

import duckdb
import numpy as np
import pytest

from ttt_cli.histories import bridge_columns, chain_columns, later_on, sql_later_on

ROWS = 200


@pytest.mark.parametrize("chain", ["skill", "draw_margin"])
def test_sql_is_the_formula(chain: str) -> None:
    rng = np.random.default_rng(7)
    names = (*chain_columns(chain), *bridge_columns(chain))
    columns = {name: rng.uniform(0.5, 2.0, ROWS) for name in names}
    ahead = rng.integers(0, 4, ROWS).astype(np.float64)
    _, sd = chain_columns(chain)
    mean = chain_columns(chain)[0]
    columns[f"{sd}_prior"] = columns[sd] + 1.0
    for name in (f"{mean}_prior", f"{sd}_most", f"{sd}_prior"):
        columns[name][rng.random(ROWS) < 0.4] = np.nan
    columns[f"{mean}_prior"][np.isnan(columns[f"{sd}_prior"])] = np.nan
    sql_mean, sql_sd = sql_later_on(chain, 4.0)
    given = {**columns, "ahead": ahead}
    rows = ", ".join(f'nullif("{name}", \'nan\'::DOUBLE) AS "{name}"' for name in given)
    with duckdb.connect() as database:
        incoming = database.from_arrow(_table(given))  # noqa: F841 - SQL names it
        found = database.execute(
            f"SELECT {sql_mean}, {sql_sd} FROM (SELECT {rows} FROM incoming)"
        ).fetchall()
    expected_mean, expected_sd = later_on(columns, chain, ahead, 4.0)
    assert [row[0] for row in found] == pytest.approx(expected_mean.tolist(), rel=1e-12)
    assert [row[1] for row in found] == pytest.approx(expected_sd.tolist(), rel=1e-12)


def _table(columns: dict[str, np.ndarray]) -> object:
    import pyarrow as pa

    return pa.table(columns)
