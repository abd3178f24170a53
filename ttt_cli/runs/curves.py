"""Curves over years: draw margins and newcomers' mean by calendar year, and the expected course of a career."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, Literal

if TYPE_CHECKING:
    from ttt_cli.runs.lookup import Scale
    from ttt_cli.runs.meta import RunMeta

Row = tuple[Any, ...]
YearTable = Literal["draws", "newcomers"]
CurveName = Literal[YearTable, "career"]
CURVES: Final[dict[CurveName, tuple[str, ...]]] = {
    "draws": ("year", "margin", "sd", "level"),
    "newcomers": ("year", "mean", "sd"),
    "career": ("years", "mean", "sd"),
}
_CAREER: Final = 40  # years
_POINTS_A_YEAR: Final = 4
_PARTS_OF_CAREER: Final = ("growth", "decline", "early")


def career_rows(meta: RunMeta) -> list[Row]:
    """Change of skill since a career began, model points: rows of `CURVES["career"]`; none without a career curve."""
    import numpy as np

    from ttt_cli.histories import Curve

    params = meta.params
    if not any(params.get(part) for part in _PARTS_OF_CAREER):
        return []
    curve = Curve(**{part: params[part] for part in Curve._fields if part in params})
    years = np.arange(_POINTS_A_YEAR * _CAREER + 1) / _POINTS_A_YEAR
    sd = params["tau"] * np.sqrt(curve.clock(years))
    return list(zip(years.tolist(), curve.change(years).tolist(), sd.tolist(), strict=True))


def on_scale(name: CurveName, rows: Sequence[Row], scale: Scale) -> list[Row]:
    """Rows of a curve on the shown scale. All values are differences of skills but the level of `draws`."""
    slope = scale.slope
    if name == "draws":
        return [
            (year, slope * margin, slope * sd, slope * level + scale.shift)
            for year, margin, sd, level in rows
        ]
    return [(year, slope * mean, slope * sd) for year, mean, sd in rows]
