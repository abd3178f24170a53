"""The schema of a config: every key, its default and its bounds, once; and a config as commented YAML."""

import re
from collections.abc import Callable, Mapping
from io import StringIO
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    AliasChoices,
    BaseModel,
    ConfigDict,
    Field,
    ValidationInfo,
    field_validator,
    model_validator,
)
from pydantic.fields import FieldInfo
from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.scalarstring import DoubleQuotedScalarString

from ttt_cli.config.event_set_names import EventSet
from ttt_cli.formats import FORMATS
from ttt_cli.parallel.cluster import check_address


class ConfigSection(BaseModel):
    """A part of the config: unknown keys are errors, values do not change."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


def key(default: Any, description: str, **bounds: Any) -> Any:
    """A key of a section: its default, what it means, and its bounds."""
    return Field(default=default, description=description, **bounds)


def section_of(info: FieldInfo | None) -> type[BaseModel] | None:
    """The schema of a key that is a section within its section, None for a plain value."""
    inner = info.annotation if info else None
    return inner if isinstance(inner, type) and issubclass(inner, BaseModel) else None


def aliases(schema: type[BaseModel]) -> dict[str, str]:
    """Other spellings of the schema's keys, e.g. `mu0`, mapped to the keys."""
    spellings: dict[str, str] = {}
    for name, info in schema.model_fields.items():
        if isinstance(info.validation_alias, AliasChoices):
            spellings |= {str(choice): name for choice in info.validation_alias.choices}
            spellings.pop(name, None)
    return spellings


Period = Literal["year", "quarter", "month", "week", "day"]
Colours = Literal["auto", "known", "unknown"]
NameMatching = Literal["clean", "folded", "full"]
Droppable = Literal["teams", "engines", "unplayed"]
CHESS_SPEEDS = "chess"  # the category of games of chess by how fast they are
FILE_SOURCE = "file"  # the source of records is the file that has them
SCORE_MARGIN = "score"  # the margin of victory by the scores of both sides
_COVARIATE = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_YEARS = re.compile(r"\s*(\d{1,4})?\s*(?:(-)\s*(\d{1,4})?)?\s*", re.ASCII)


def _check_sides(sides: list[str]) -> None:
    if len({side.strip().casefold() for side in sides} - {""}) < 2:
        raise ValueError("the two sides need different names")


def _check_covariates(columns: dict[str, str]) -> None:
    for name, column in columns.items():
        if not _COVARIATE.fullmatch(name):
            raise ValueError(
                f"{name!r} is not a name of a covariate: letters, digits and _, for instance rest"
            )
        if not column.strip():
            raise ValueError(f"the covariate {name} needs the name of a column")


def _check_category(column: str) -> None:
    if not column.strip():
        raise ValueError("a category needs the name of a column, or chess")


def _check_margin(column: str) -> None:
    if not column.strip():
        raise ValueError("a margin needs the name of a column, or score")


def _check_p_true(column: str) -> None:
    if not column.strip():
        raise ValueError("p_true needs the name of a column, for instance p_true")


def _check_source(column: str) -> None:
    if not column.strip():
        raise ValueError("a source needs the name of a column, or file")


def _check_category_words(categories: dict[str, str]) -> None:
    for text, category in categories.items():
        pattern_of(text)
        if not category.strip():
            raise ValueError(f"{text!r} needs the name of a category, for instance blitz")


def year_range(years: str | int | list[int]) -> tuple[int, int]:
    """First and last year of `1850-1900`, `1850-`, `-1900`, `1850` or [1850, 1900]. Raises ValueError."""
    if isinstance(years, list):
        if len(years) != 2:
            raise ValueError("years are a first and a last one, for instance 1850-1900")
        first, last = years
    else:
        match = _YEARS.fullmatch(str(years))
        if match is None or not (match[1] or match[3]):
            raise ValueError(
                f"{years!r} is not a range of years, for instance 1850-1900, 1850- or -1900"
            )
        first = int(match[1] or 0)
        last = int(match[3] or 9999) if match[2] else first
    if first > last:
        raise ValueError(f"{first}-{last} goes backwards: perhaps {last}-{first} is meant")
    return first, last


def pattern_of(text: str) -> re.Pattern[str] | None:
    """The pattern of `/regular expression/`, None for plain words. Raises ValueError."""
    if not text.strip():
        raise ValueError("an empty text would match everything")
    if len(text) < 3 or not (text.startswith("/") and text.endswith("/")):
        return None
    try:
        return re.compile(text[1:-1], re.IGNORECASE)
    except re.error as error:
        raise ValueError(f"{text} is not a regular expression: {error}") from error


def _valid(check: Callable[[Any], object]) -> AfterValidator:
    """Keep a value unless `check` raises ValueError, or the value is null."""

    def validate(value: Any) -> Any:
        if value is not None:
            check(value)
        return value

    return AfterValidator(validate)


Patterns = Annotated[list[str], _valid(lambda texts: [pattern_of(text) for text in texts])]


class FilterConfig(ConfigSection):
    """Which records are used; each key that leaves some out is counted as a reason."""

    years: Annotated[str | int | list[int] | None, _valid(year_range)] = key(
        None, "first and last year, as in 1850-1900, 1850- or [1850, 1900]; null: all"
    )
    players: Patterns = key(
        [], "games in which one of these plays, names or /patterns/; empty: everybody"
    )
    among: bool = key(False, "only games in which both players are among `players`")
    events: Patterns = key(
        [], "words or /patterns/ in event or site of the games that are used; empty: all"
    )
    exclude: list[EventSet] | None = key(
        None,
        "ready-made sets of events and positions that are not used; null: in chess simultaneous and blindfold "
        "exhibitions, consultation games, games at unknown odds, and variants but Chess960; []: none",
    )
    exclude_events: Patterns = key(
        [], "words or /patterns/ in event or site of the games that are not used"
    )
    dedupe: bool = key(False, "use only one of several records of the same game")
    min_games: int = key(0, "players with fewer games are left out, until all have as many", ge=0)
    largest_group: bool = key(False, "use only the largest group of players tied by games")


class DataConfig(ConfigSection):
    """How records become games."""

    period: Period = key("year", "time step of the model")
    colours: Colours = key(
        "auto",
        "whether the player named White had White; unknown: the average over both colourings; "
        "auto: known, but in files that always name the winner first",
    )
    reader: Literal["scan", "chess"] = key(
        "scan", "PGN through our tag scanner, or through python-chess"
    )
    format: Literal["auto", *(form.name for form in FORMATS)] = key(  # type: ignore[valid-type]
        "auto", "kind of input; auto: by content and name; tsv: csv with tabs"
    )
    header: bool | None = key(
        None, "whether a CSV starts with column names; null: by its first line"
    )
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
    sides: Annotated[list[str], Field(min_length=2, max_length=2), _valid(_check_sides)] = key(
        ["white", "black"], "what views call the side named first and the other: [home, away]"
    )
    encoding: str | None = key(None, "null: UTF-8, else cp1252, value by value")
    names: NameMatching = key(
        "full",
        "spellings of one name: clean: blanks, dots, titles; folded: also case and accents; "
        "full: also First Last beside Last, First",
    )
    team_separator: str | None = key(
        None,
        'what joins the members of a team in a name, as " / " in `A / B`, for models of teams; null: a name is one '
        "player's, teams are in columns white_1, white_2 ...",
        min_length=1,
    )
    aliases: str | None = key(None, "file of further spellings: main,synonym,...")
    people: str | None = key(
        None,
        "table of people, CSV or Parquet: name,born,died,sex,federation,title and any other column",
    )
    corrections: str | None = key(
        None,
        "file of corrections: action,where,player,value,reason,source; actions are drop, result, date, name, merge and "
        "split",
    )
    ids: bool = key(True, "whether a player with a FIDE id is known by it")
    drop: list[Droppable] | None = key(
        None,
        "what is left out besides players without a name; null: unplayed games, and computers in chess games of "
        "people; []: nothing",
    )
    match_cap: float | None = key(
        None, "most games that a match given as a score counts as; null: all", gt=0
    )
    status: dict[str, Annotated[float, Field(ge=0, le=1e9)]] = key(
        {"formal": 1.0, "casual": 1.0, "soft": 1.0},
        "weight of the records of each status; 0: not used",
    )
    odds: dict[str, float] = key({}, "Elo points of further odds, or instead of the usual ones")
    covariates: Annotated[dict[str, str], _valid(_check_covariates)] = key(
        {},
        "columns of what else bears on games, numbers or categories, by name: {rest: rest_days}; a difference, or "
        "COLUMN_white and COLUMN_black",
    )
    categories: list[str] = key(
        [], "covariates that are categories although all their values are numbers"
    )
    category: Annotated[str | None, _valid(_check_category)] = key(
        None,
        "column or tag of what kind a game is, as rapid or clay, for model.offsets; chess: classical, rapid, blitz, "
        "bullet or correspondence, by time control and event; null: none",
    )
    category_of: Annotated[dict[str, str], _valid(_check_category_words)] = key(
        {},
        "categories of the games with these words or /patterns/ in category, event or site, before data.category: "
        "{Titled Tuesday: blitz}",
    )
    margin: Annotated[str | None, _valid(_check_margin)] = key(
        None,
        "by how much games were won, for model.margin_steps: score, the difference of both sides' goals or points, or "
        "a column with the difference; null: not read",
    )
    source: Annotated[str | None, _valid(_check_source)] = key(
        None,
        "column or tag that names where a record is from, as a book or a newspaper; file: the name of its file without "
        "ending; null: not read",
    )
    sources: dict[str, Annotated[float, Field(gt=0, le=1e9)]] = key(
        {}, "weights of the records of each data.source: {edo: 1, newspaper: 0.5}; of the others 1"
    )
    p_true: Annotated[str | None, _valid(_check_p_true)] = key(
        None,
        "column or tag with the probability that a record is right, above 0 and at most 1, for ttt; empty: 1; null: "
        "not read",
    )
    missing: Literal["reference", "drop"] = key(
        "reference",
        "records without the value of a covariate; reference: as 0, or the most frequent category; drop: not used",
    )
    strict: bool = key(False, "whether any problem with a file or record is an error")
    max_errors: int | None = key(None, "most records that may be unusable; null: any number", ge=0)
    filter: FilterConfig = key(FilterConfig(), "which records are used")

    @field_validator("categories")
    @classmethod
    def _are_covariates(cls, categories: list[str], info: ValidationInfo) -> list[str]:
        covariates = info.data.get("covariates", categories)
        unknown = [name for name in categories if name not in covariates]
        if unknown:
            raise ValueError(f"{unknown[0]} is not one of data.covariates")
        return categories

    @field_validator("category_of")
    @classmethod
    def _has_category(cls, category_of: dict[str, str], info: ValidationInfo) -> dict[str, str]:
        if category_of and info.data.get("category", "") is None:
            raise ValueError("it needs data.category: a column, or chess")
        return category_of

    @field_validator("sources")
    @classmethod
    def _has_source(cls, sources: dict[str, float], info: ValidationInfo) -> dict[str, float]:
        if sources and info.data.get("source", "") is None:
            raise ValueError("it needs data.source: a column, or file")
        return sources

    @property
    def source_column(self) -> str | None:
        """The column or tag of sources, None where there is none."""
        return None if self.source == FILE_SOURCE else self.source

    @property
    def category_column(self) -> str | None:
        """The column or tag of categories, None where there is none."""
        return None if self.category == CHESS_SPEEDS else self.category

    @property
    def margin_column(self) -> str | None:
        """The column or tag of margins of victory, None where there is none."""
        return None if self.margin == SCORE_MARGIN else self.margin


def drops_unplayed(data: DataConfig) -> bool:
    """Whether games without play are left out."""
    return data.drop is None or "unplayed" in data.drop


def size_of(text: str) -> int:
    """Bytes, of a size as 4GB or 500 MB. Raises ValueError for what is none."""
    match = re.fullmatch(r"(\d{1,9}(\.\d{1,3})?) ?([KMGT])I?B?", text.strip().upper())
    if not match:
        raise ValueError(f"{text!r} is not a size: write it as 4GB or 500MB")
    return int(float(match[1]) * 1000 ** ("KMGT".index(match[3]) + 1))


class SolverConfig(ConfigSection):
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
    cluster: Annotated[str, AfterValidator(check_address)] | None = key(
        None,
        "where to work: local:N, the address of a Dask scheduler or its file; null: $TTT_CLUSTER, "
        "else this machine. A run does not keep it",
    )
    memory: Annotated[str, _valid(size_of)] | None = key(
        None,
        "most memory of a fit of ttt or ttt-d, as 4GB, within which slices of its timeline lie in files; "
        "null: any. A run does not keep it",
    )
    scratch: str | None = key(
        None,
        "folder for the files of a fit with memory or cluster, which goes on from there when it was ended; "
        "null: temporary files, and none on a cluster's other machines. A run does not keep it",
    )

    @model_validator(mode="after")
    def _in_one_place(self) -> Self:
        if self.memory and self.cluster:
            raise ValueError(
                "memory and cluster exclude each other: workers keep their slices in memory"
            )
        return self


class ModelConfig(BaseModel):
    """The rating system and its parameters, which the system itself checks."""

    model_config = ConfigDict(extra="allow", frozen=True)

    name: str = key("ttt", "rating system")

    @property
    def params(self) -> dict[str, Any]:
        """The parameters as written, without the name."""
        return dict(self.model_extra or {})


class ScaleConfig(ConfigSection):
    """How skills are shown; they are stored in points."""

    anchors: list[str] = key(
        [], "ratings that set the level: NAME @ YEAR = RATING; none: points of the run"
    )
    slope: Literal["elo", "matched"] = key(
        "elo", "elo: a difference of 200 means 76 %; matched: as the anchors ask for, two or more"
    )

    @field_validator("slope")
    @classmethod
    def _has_anchors(cls, slope: str, info: ValidationInfo) -> str:
        # Anchors that are wrong themselves are not in `info.data`.
        if slope == "matched" and not info.data.get("anchors", True):
            raise ValueError("slope matched needs anchors, and scale.anchors has none")
        return slope


class Config(ConfigSection):
    """A resolved config."""

    model: ModelConfig = ModelConfig()
    data: DataConfig = DataConfig()
    solver: SolverConfig = SolverConfig()
    scale: ScaleConfig = ScaleConfig()


_COMMENT_COLUMN = 42
_WORD = re.compile(r"[A-Za-z][A-Za-z0-9_.-]*")
DIALECT = "https://json-schema.org/draft/2020-12/schema"


def render(config: Config, params: type[BaseModel]) -> str:
    """YAML of a resolved config with a description of every key; `params` is the model's schema."""
    document = CommentedMap()
    for name in Config.model_fields:
        section = getattr(config, name)
        fields = dict(type(section).model_fields)
        if name == "model":
            fields |= params.model_fields
        document[name] = _commented(section.model_dump(), fields)
        heading = (type(section).__doc__ or name).splitlines()[0]
        document.yaml_set_comment_before_after_key(
            name, before=f"\n{heading}" if len(document) > 1 else heading
        )
    return _dumped(document)


def _commented(values: dict[str, Any], fields: dict[str, FieldInfo]) -> CommentedMap:
    """Keys with their descriptions as comments; sections in blocks, other collections on one line."""
    section = CommentedMap()
    for key, value in values.items():
        info = fields.get(key)
        inner = section_of(info)
        section[key] = (
            _on_one_line(value) if inner is None else _commented(value, inner.model_fields)
        )
        if info and info.description:
            section.yaml_add_eol_comment(info.description, key, column=_COMMENT_COLUMN)
    return section


def yaml_on_one_line(value: Any) -> str:
    """A value as YAML on one line: a scalar, `[a, b]` or `{a: b}`."""
    return _dumped({"key": _on_one_line(value)}).removeprefix("key:").strip()


def _on_one_line(value: Any) -> Any:
    """The value with whole floats as integers and collections in flow style."""
    if isinstance(value, str):
        return value if _WORD.fullmatch(value) else DoubleQuotedScalarString(value)
    if isinstance(value, dict):
        collection: Any = CommentedMap(
            (_on_one_line(key), _on_one_line(item)) for key, item in value.items()
        )
    elif isinstance(value, (list, tuple)):
        collection = CommentedSeq([_on_one_line(item) for item in value])
    elif isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return int(value)
    else:
        return value
    collection.fa.set_flow_style()
    return collection


def _dumped(value: Any) -> str:
    yaml = YAML()
    stream = StringIO()
    yaml.width = 1 << 30
    yaml.representer.add_representer(
        type(None),
        lambda representer, _: representer.represent_scalar("tag:yaml.org,2002:null", "null"),
    )
    yaml.dump(value, stream)
    return stream.getvalue()


def json_schema(models: Mapping[str, type[BaseModel]]) -> dict[str, Any]:
    """The schema (draft 2020-12) of a config for these models: name -> schema of the parameters."""
    about = ModelConfig.model_fields["name"]
    branches: list[dict[str, Any]] = []
    for name, params in models.items():
        variant = _inlined(params.model_json_schema())
        # A config without a name is of the default model.
        required = [] if name == about.default else ["name"]
        parameters = variant.get("properties", {})
        symbols = {
            symbol: parameters[key] for symbol, key in aliases(params).items() if key in parameters
        }
        named = {"name": {"const": name, "description": about.description}}
        variant["properties"] = {**named, **parameters, **symbols}
        variant["required"] = [*variant.get("required", []), *required]
        # Where the name is this one, the parameters of this model hold.
        condition = {"properties": {"name": {"const": name}}, "required": required}
        branches.append({"if": condition, "then": variant})
    choice = {"type": "object", "properties": {"name": {"enum": list(models)}}, "allOf": branches}
    properties: dict[str, Any] = {"model": choice if len(branches) > 1 else branches[0]["then"]}
    for name, info in Config.model_fields.items():
        section = section_of(info)
        if name != "model" and section is not None:
            properties[name] = _inlined(section.model_json_schema())
    return {
        "$schema": DIALECT,
        "title": "ttt config",
        "description": (Config.__doc__ or "").splitlines()[0],
        "type": "object",
        "properties": properties,
        "additionalProperties": False,
    }


def _inlined(schema: dict[str, Any]) -> dict[str, Any]:
    """Replace references to sections by these, and remove pydantic's generated titles."""
    definitions = schema.pop("$defs", {})
    properties = schema.setdefault("properties", {})
    for key, entry in properties.items():
        if "$ref" in entry:
            inner = _inlined(definitions[entry.pop("$ref").rpartition("/")[2]])
            properties[key] = inner | {
                word: value for word, value in entry.items() if word != "default"
            }
        entry.pop("title", None)
    schema.pop("title", None)
    return schema
