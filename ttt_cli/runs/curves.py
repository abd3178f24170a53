"""What a run says of calendar years and of careers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal

from ttt_cli.runs.schema import DATABASE

if TYPE_CHECKING:
    from pandas import DataFrame

    from ttt_cli.runs.run import Run

Name = Literal["draws", "newcomers", "career"]
COLUMNS: Final[dict[Name, tuple[str, ...]]] = {
    "draws": ("year", "margin", "sd", "level"),
    "newcomers": ("year", "mean", "sd"),
    "career": ("years", "mean", "sd"),
}
_YEARS: Final = 40  # of a career
_POINTS: Final = 4  # in each of them


def rows(run: Run, name: Name) -> list[tuple[float, ...]]:
    """The rows of a curve, on the scale of the run; none where it has no such curve."""
    slope, shift = run.scale.slope, run.scale.shift
    found = _career(run) if name == "career" else by_year(run, name)
    on_scale = [(at, *(slope * value for value in values)) for at, *values in found]
    return [(*row[:-1], row[-1] + shift) for row in on_scale] if name == "draws" else on_scale


def frame(run: Run, name: Name) -> DataFrame:
    """The same as a pandas DataFrame."""
    from pandas import DataFrame

    return DataFrame(rows(run, name), columns=list(COLUMNS[name]))


def by_year(run: Run, table: Name) -> list[tuple[Any, ...]]:
    """The rows of such a table as they are stored, in points."""
    if table not in run.held_tables:
        return []
    columns = ", ".join(f'"{name}"' for name in COLUMNS[table])
    return run.query(f'SELECT {columns} FROM {DATABASE}.main.{table} ORDER BY "year"')[1]


def _career(run: Run) -> list[tuple[float, ...]]:
    params = run.meta.params
    if not any(params.get(name) for name in ("growth", "decline", "early")):
        return []
    import numpy as np

    from ttt_cli.histories import Curve

    curve = Curve(**{name: params[name] for name in Curve._fields if name in params})
    at = np.arange(_POINTS * _YEARS + 1) / _POINTS
    sd = params["tau"] * np.sqrt(curve.clock(at))
    return list(zip(at.tolist(), curve.change(at).tolist(), sd.tolist(), strict=True))
