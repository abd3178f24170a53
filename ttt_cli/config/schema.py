"""What a config may say: every key, its default, its bounds, once.

The keys of a model belong to the model (`systems/<name>.py`); here they are carried as they were written.
"""

import re
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationInfo,
    field_validator,
    model_validator,
)

from ttt_cli.cluster.client import check_place
from ttt_cli.config.document import Section, key
from ttt_cli.formats import FORMATS

Period = Literal["year", "quarter", "month", "week", "day"]
Colours = Literal["auto", "known", "unknown"]
NameMatching = Literal["clean", "folded", "full"]
NotOnePerson = Literal["teams", "engines"]
PERIODS: tuple[Period, ...] = ("year", "quarter", "month", "week", "day")
EventSet = Literal[
    "simul", "blindfold", "correspondence", "consultation", "odds", "rapid", "blitz", "variants", "set-up"
]
_YEARS = re.compile(r"\s*(\d{1,4})?\s*(?:(-)\s*(\d{1,4})?)?\s*", re.ASCII)


def _without_unnamed(drop: Any) -> Any:
    """What to drop without a word that changes nothing and stands in the configs of older runs."""
    return [what for what in drop if what != "unnamed"] if isinstance(drop, list) else drop


def _two_names(sides: list[str]) -> list[str]:
    if len({side.strip().casefold() for side in sides} - {""}) < 2:
        raise ValueError("the sides have two different names")
    return sides


def year_range(years: str | int | list[int]) -> tuple[int, int]:
    """First and last year of `1850-1900`, `1850-`, `-1900`, `1850` or [1850, 1900]. Raises ValueError."""
    if isinstance(years, list):
        if len(years) != 2:
            raise ValueError("years are a first and a last one, for instance 1850-1900")
        first, last = years
    else:
        match = _YEARS.fullmatch(str(years))
        if match is None or not (match[1] or match[3]):
            raise ValueError(f"{years!r} is no range of years, for instance 1850-1900, 1850- or -1900")
        first = int(match[1] or 0)
        last = int(match[3] or 9999) if match[2] else first
    if first > last:
        raise ValueError(f"{first}-{last} goes backwards: perhaps {last}-{first} is meant")
    return first, last


def pattern_of(text: str) -> re.Pattern[str] | None:
    """The pattern of `/regular expression/`, None for plain words. Raises ValueError."""
    if len(text) < 3 or not (text.startswith("/") and text.endswith("/")):
        return None
    try:
        return re.compile(text[1:-1], re.IGNORECASE)
    except re.error as error:
        raise ValueError(f"{text} is no regular expression: {error}") from error


def _checked_years(years: str | int | list[int] | None) -> str | int | list[int] | None:
    if years is not None:
        year_range(years)
    return years


def _checked_patterns(texts: list[str]) -> list[str]:
    for text in texts:
        pattern_of(text)
        if not text.strip():
            raise ValueError("an empty text would match everything")
    return texts


Patterns = Annotated[list[str], AfterValidator(_checked_patterns)]


class FilterConfig(Section):
    """Which records are used; each key that leaves some out is counted as a reason."""

    years: Annotated[str | int | list[int] | None, AfterValidator(_checked_years)] = key(
        None, "first and last year, as in 1850-1900, 1850- or [1850, 1900]; null: all"
    )
    players: Patterns = key([], "games in which one of these plays, names or /patterns/; empty: everybody")
    among: bool = key(False, "only games in which both players are among `players`")
    events: Patterns = key([], "words or /patterns/ in event or site of the games that are used; empty: all")
    exclude: list[EventSet] = key([], "ready-made sets of events and positions that are not used")
    exclude_events: Patterns = key([], "words or /patterns/ in event or site of the games that are not used")
    dedupe: bool = key(False, "use only one of several records of the same game")
    min_games: int = key(0, "players with fewer games are left out, until all have as many", ge=0)
    largest_group: bool = key(False, "use only the largest group of players tied by games")


class DataConfig(Section):
    """How records become games."""

    period: Period = key("year", "time step of the model")
    colours: Colours = key(
        "auto",
        "whether the player named White had White; unknown: the average over both colourings; "
        "auto: known, but in files that always name the winner first",
    )
    reader: Literal["scan", "chess"] = key("scan", "PGN through our tag scanner, or through python-chess")
    format: Literal["auto", *(form.name for form in FORMATS)] = key(  # type: ignore[valid-type]
        "auto", "kind of input; auto: by content and name; tsv: csv with tabs"
    )
    header: bool | None = key(None, "whether a CSV starts with column names; null: by its first line")
    columns: list[str] | dict[str, str] | None = key(
        None, "names of the columns in order, or a map from our names to the file's"
    )
    delimiter: str | None = key(None, "null: detected", min_length=1, max_length=1)
    dates: Literal["auto", "ymd", "dmy", "mdy", "number"] = key(
        "auto",
        "order of day, month and year where the year does not come first; number: of a period; "
        "auto: as the file tells",
    )
    century: int | None = key(
        None,
        "first of the hundred years that years of two digits mean; null: as years of four tell",
        ge=1000,
        le=2900,
    )
    constant: dict[str, str | float] = key(
        {}, "columns that a table does not have, each the same in all rows: {result: 1-0}"
    )
    sides: Annotated[list[str], Field(min_length=2, max_length=2), AfterValidator(_two_names)] = key(
        ["white", "black"], "what views call the side named first and the other: [home, away]"
    )
    encoding: str | None = key(None, "null: UTF-8, else cp1252, value by value")
    names: NameMatching = key(
        "full",
        "spellings of one name: clean: blanks, dots, titles; folded: also case and accents; "
        "full: also First Last beside Last, First",
    )
    aliases: str | None = key(None, "file of further spellings: main,synonym,...")
    ids: bool = key(True, "whether a player with a FIDE id is known by it")
    drop: Annotated[list[NotOnePerson], BeforeValidator(_without_unnamed)] = key(
        [], "what is not one person and left out, as the unnamed always are"
    )
    match_cap: float | None = key(None, "most games that a match given as a score counts as; null: all", gt=0)
    status: dict[str, Annotated[float, Field(ge=0, le=1e9)]] = key(
        {"formal": 1.0, "casual": 1.0, "soft": 1.0}, "weight of the records of each status; 0: not used"
    )
    odds: dict[str, float] = key({}, "Elo points of further odds, or instead of the usual ones")
    strict: bool = key(False, "whether any problem with a file or record is an error")
    max_errors: int | None = key(None, "most records that may be unusable; null: any number", ge=0)
    filter: FilterConfig = key(FilterConfig(), "which records are used")


def size_of(text: str) -> int:
    """Bytes, of a size as 4GB or 500 MB. Raises ValueError for what is none."""
    found = re.fullmatch(r"(\d{1,9}(\.\d{1,3})?) ?([KMGT])I?B?", text.strip().upper())
    if not found:
        raise ValueError(f"{text!r} is no size: it is given as 4GB or 500MB")
    return int(float(found[1]) * 1000 ** ("KMGT".index(found[3]) + 1))


def check_size(text: str) -> str:
    """A size as it was given. Raises ValueError for what is none."""
    size_of(text)
    return text


class SolverConfig(Section):
    """When inference stops and how hard it tries."""

    tol: float = key(0.01, "largest error of a mean that may remain, points", gt=0)
    max_sweeps: int = key(1000, "forward-backward sweeps at most", ge=1)
    threads: int | None = key(
        None, "threads at most; null: one per processor. Results agree within tol", ge=1
    )
    posterior: Literal["auto", "joint", "factorised"] = key(
        "auto",
        "of ttt and ttt-d: joint, of all players together; factorised, of each as if the others were "
        "independent, as in the paper; auto: joint where that takes seconds",
    )
    accelerate: bool = key(True, "mix sweeps to reach the fixed point sooner")
    cluster: Annotated[str, AfterValidator(check_place)] | None = key(
        None,
        "where to work: local:N, the address of a Dask scheduler or its file; null: $TTT_CLUSTER, "
        "else this machine. A run does not keep it",
    )
    memory: Annotated[str, AfterValidator(check_size)] | None = key(
        None,
        "most memory of a fit of ttt or ttt-d, as 4GB, within which slices of its timeline lie in files; "
        "null: any. A run does not keep it",
    )
    scratch: str | None = key(
        None,
        "folder for the files of a fit with memory or cluster, which goes on from there when it was ended; "
        "null: temporary files, and none on a cluster's other machines. A run does not keep it",
    )
    run_size: Annotated[str, AfterValidator(check_size)] | None = key(
        None,
        "size, as 50GB, from which on a run is written as a folder, its large tables as Parquet; null: it "
        "is one file. A run does not keep it",
    )

    @model_validator(mode="after")
    def _in_one_place(self) -> Self:
        if self.memory and self.cluster:
            raise ValueError("memory and cluster are one or the other: workers hold their slices whole")
        return self


class ModelConfig(BaseModel):
    """The rating system and its parameters, which the system itself checks."""

    model_config = ConfigDict(extra="allow", frozen=True)

    name: str = key("ttt", "rating system")

    @property
    def params(self) -> dict[str, Any]:
        """The parameters as written, without the name."""
        return dict(self.model_extra or {})


class ScaleConfig(Section):
    """How skills are shown; they are stored in points."""

    anchors: list[str] = key([], "ratings that set the level: NAME @ YEAR = RATING; none: points of the run")
    slope: Literal["elo", "matched"] = key(
        "elo", "elo: a difference of 200 means 76 %; matched: as the anchors ask for, two or more"
    )

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
