"""What a config may say: every key, its default, its bounds, once.

The keys of a model belong to the model (`models/<name>.py`); here they are carried as they were written.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

Period = Literal["year", "quarter", "month", "week", "day"]
Colours = Literal["known", "unknown"]
_NO_ANCHORS: list[str] = []
PERIODS: tuple[Period, ...] = ("year", "quarter", "month", "week", "day")


class Section(BaseModel):
    """A part of the config: unknown keys are errors, values do not change."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class DataConfig(Section):
    """How records become games."""

    period: Annotated[Period, Field(description="time step of the model")] = "year"
    colours: Annotated[
        Colours,
        Field(
            description="whether the player named White had White; unknown: the average over both colourings"
        ),
    ] = "known"
    reader: Annotated[
        Literal["scan", "chess"],
        Field(description="PGN through our tag scanner, or through python-chess"),
    ] = "scan"
    format: Annotated[
        Literal["auto", "pgn", "csv"], Field(description="kind of input; auto: by content and name")
    ] = "auto"
    header: Annotated[
        bool | None, Field(description="whether a CSV starts with column names; null: by its first line")
    ] = None
    columns: Annotated[
        list[str] | dict[str, str] | None,
        Field(description="names of the columns in order, or a map from our names to the file's"),
    ] = None
    delimiter: Annotated[str | None, Field(min_length=1, max_length=1, description="null: detected")] = None
    encoding: Annotated[str | None, Field(description="null: UTF-8, else cp1252, value by value")] = None


class SolverConfig(Section):
    """When inference stops and how hard it tries."""

    tol: Annotated[float, Field(gt=0, description="largest error of a mean that may remain, points")] = 0.01
    max_sweeps: Annotated[int, Field(ge=1, description="forward-backward sweeps at most")] = 1000
    threads: Annotated[
        int | None,
        Field(ge=1, description="threads at most; null: one per processor. Results agree within tol"),
    ] = None
    accelerate: Annotated[bool, Field(description="mix sweeps to reach the fixed point sooner")] = True


class ModelConfig(BaseModel):
    """The rating system and its parameters, which the system itself checks."""

    model_config = ConfigDict(extra="allow", frozen=True)

    name: Annotated[str, Field(description="rating system")] = "ttt"

    @property
    def params(self) -> dict[str, Any]:
        """The parameters as written, without the name."""
        return dict(self.model_extra or {})


class ScaleConfig(Section):
    """How skills are shown; they are stored in points."""

    anchors: Annotated[
        list[str],
        Field(description="ratings that set the level: NAME @ YEAR = RATING; none: points of the run"),
    ] = _NO_ANCHORS
    slope: Annotated[
        Literal["elo", "matched"],
        Field(description="elo: a lead of 200 means 76 %; matched: as the anchors ask for, two or more"),
    ] = "elo"


class Config(Section):
    """Everything that was asked for, resolved."""

    model: ModelConfig = ModelConfig()
    data: DataConfig = DataConfig()
    solver: SolverConfig = SolverConfig()
    scale: ScaleConfig = ScaleConfig()
