"""Categories of games in a run: those with skills of their own, by name and number."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ttt_cli.runs.schema import RUN
from ttt_cli.support.errors import LookupFailed, suggested

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


def category_names(connection: DuckDBPyConnection) -> tuple[str, ...]:
    """Names of the categories with skills of their own, sorted."""
    query = f"""SELECT name FROM {RUN}.categories
        WHERE id IN (SELECT category FROM {RUN}.category_spans) ORDER BY name"""
    return tuple(name for (name,) in connection.execute(query).fetchall())


def category_number(
    connection: DuckDBPyConnection, category: str, *, among: Sequence[str], where: str
) -> int:
    """The number of a category, which is `among` those with skills of their own. Raises LookupFailed for others."""
    if category not in among:
        categories = f"its categories are {', '.join(among)}" if among else "it has none"
        raise LookupFailed(
            f"there are no skills in the category {category!r}",
            where=where,
            hint=suggested(category, among, f"{categories}; model.offsets at the fit makes them"),
        )
    query = f"SELECT id FROM {RUN}.categories WHERE name = ?"
    ((number,),) = connection.execute(query, [category]).fetchall()
    return int(number)
