"""What a config may say: every key, its default, its bounds, once.

The keys of a model belong to the model (`systems/<name>.py`); here they are carried as they were written.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationInfo, field_validator

from ttt_cli.config.document import Section
from ttt_cli.config.selection import FilterConfig
from ttt_cli.formats import FORMATS

Period = Literal["year", "quarter", "month", "week", "day"]
Colours = Literal["auto", "known", "unknown"]
NameMatching = Literal["clean", "folded", "full"]
NotOnePerson = Literal["teams", "engines"]
_NO_ANCHORS: list[str] = []
PERIODS: tuple[Period, ...] = ("year", "quarter", "month", "week", "day")
_NOBODY: list[NotOnePerson] = []
_STATUSES = {"formal": 1.0, "casual": 1.0, "soft": 1.0}
_NO_ODDS: dict[str, float] = {}


def _without_unnamed(drop: Any) -> Any:
    """What to drop without a word that changes nothing and stands in the configs of older runs."""
    return [what for what in drop if what != "unnamed"] if isinstance(drop, list) else drop


class DataConfig(Section):
    """How records become games."""

    period: Annotated[Period, Field(description="time step of the model")] = "year"
    colours: Annotated[
        Colours,
        Field(
            description="whether the player named White had White; unknown: the average over both colourings; "
            "auto: known, unless the winner is always named first"
        ),
    ] = "auto"
    reader: Annotated[
        Literal["scan", "chess"], Field(description="PGN through our tag scanner, or through python-chess")
    ] = "scan"
    format: Annotated[
        Literal["auto", *(form.name for form in FORMATS)],  # type: ignore[valid-type]
        Field(description="kind of input; auto: by content and name; tsv: csv with tabs"),
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
    names: Annotated[
        NameMatching,
        Field(
            description="spellings of one name: clean: blanks, dots, titles; folded: also case and accents; "
            "full: also First Last beside Last, First"
        ),
    ] = "full"
    aliases: Annotated[str | None, Field(description="file of further spellings: main,synonym,...")] = None
    ids: Annotated[bool, Field(description="whether a player with a FIDE id is known by it")] = True
    drop: Annotated[
        list[NotOnePerson],
        BeforeValidator(_without_unnamed),
        Field(description="what is not one person and left out, as the unnamed always are"),
    ] = _NOBODY
    match_cap: Annotated[
        float | None, Field(gt=0, description="most games that a match given as a score counts as; null: all")
    ] = None
    status: Annotated[
        dict[str, Annotated[float, Field(ge=0, le=1e9)]],
        Field(description="weight of the records of each status; 0: not used"),
    ] = _STATUSES
    odds: Annotated[
        dict[str, float], Field(description="Elo points of further odds, or instead of the usual ones")
    ] = _NO_ODDS
    strict: Annotated[bool, Field(description="whether any problem with a file or record is an error")] = (
        False
    )
    max_errors: Annotated[
        int | None, Field(ge=0, description="most records that may be unusable; null: any number")
    ] = None
    filter: Annotated[FilterConfig, Field(description="which records are used")] = FilterConfig()


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
        Field(
            description="elo: a difference of 200 means 76 %; matched: as the anchors ask for, two or more"
        ),
    ] = "elo"

    @field_validator("slope")
    @classmethod
    def _has_anchors(cls, slope: str, info: ValidationInfo) -> str:
        if slope == "matched" and not info.data.get("anchors", True):
            raise ValueError("matched is the slope of anchors, and scale.anchors has none")
        return slope


class Config(Section):
    """Everything that was asked for, resolved."""

    model: ModelConfig = ModelConfig()
    data: DataConfig = DataConfig()
    solver: SolverConfig = SolverConfig()
    scale: ScaleConfig = ScaleConfig()
