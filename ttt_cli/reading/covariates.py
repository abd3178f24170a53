"""Columns of covariates: what else bears on a game, as a difference of the two sides or as a value of each."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final, Generic, NamedTuple, TypeVar

from ttt_cli.config.schema import DataConfig
from ttt_cli.support.errors import ConfigError, suggested

Value = TypeVar("Value")

_SIDE_WORDS: Final = (("white", "black"), ("home", "away"), ("winner", "loser"))


class CovariateFields(NamedTuple, Generic[Value]):
    """One value for each column that a covariate may have: of the game (or a difference), of White, and of Black."""

    single: Value
    white: Value
    black: Value


def covariate_fields(name: str) -> CovariateFields[str]:
    """Our names of the columns of a covariate; a file has the first or both others."""
    return CovariateFields(
        f"covariate {name}", f"covariate {name} of white", f"covariate {name} of black"
    )


class SidedNames(NamedTuple):
    """What the columns of a covariate may be called for the side named first and the other, without signs."""

    white: str
    black: str


def sided_names(word: str) -> list[SidedNames]:
    """Names of the two columns of a covariate, from the word of its name: `restwhite`, `whiterest`, `resthome`."""
    names = []
    for first, second in _SIDE_WORDS:
        names.append(SidedNames(f"{word}{first}", f"{word}{second}"))
        names.append(SidedNames(f"{first}{word}", f"{second}{word}"))
    return names


def find_covariates(
    covariates: Mapping[str, str], header: Sequence[str], word_of: Callable[[str], str], file: str
) -> dict[str, int]:
    """Indices of the columns of all covariates, by our names. Raises ConfigError for one that is not there.

    `covariates`: the name of the column of each, by its own name. A column of this name has the difference of the
    sides; else two columns that are named after it and a side have their values (`sided_names`). `header`: the names
    of all columns; `word_of` writes one in lower case without signs.
    """
    words = [word_of(cell) for cell in header]
    indices: dict[str, int] = {}
    for name, column in covariates.items():
        fields = covariate_fields(name)
        same = [index for index, cell in enumerate(header) if cell.casefold() == column.casefold()]
        if same:
            exact = [index for index in same if header[index] == column]
            indices[fields.single] = (exact or same)[0]
            continue
        for names in sided_names(word_of(column)):
            if names.white in words and names.black in words:
                indices[fields.white] = words.index(names.white)
                indices[fields.black] = words.index(names.black)
                break
        else:
            hint = suggested(column, header, f"columns are {', '.join(header)}")
            message = f"data.covariates: there is no column {column!r}, nor {column}_white and {column}_black"
            raise ConfigError(message, where=file, hint=hint)
    return indices


CATEGORY_WRITTEN: Final = "category_written"  # our name of the column of categories
SOURCE: Final = "source"  # our name of the column of sources
P_TRUE: Final = "p_true"  # our name of the column of the probabilities that records are right
VICTORY_MARGIN: Final = "victory_margin"  # our name of the column of margins of victory


_KEYS: Final = {
    CATEGORY_WRITTEN: "data.category",
    SOURCE: "data.source",
    P_TRUE: "data.p_true",
    VICTORY_MARGIN: "data.margin",
}


def find_single(single: Mapping[str, str], header: Sequence[str], file: str) -> dict[str, int]:
    """Indices of the columns of the category, source and margin, by our names; `single` has theirs.

    Raises ConfigError for one that is not there.
    """
    indices: dict[str, int] = {}
    for ours, column in single.items():
        same = [index for index, cell in enumerate(header) if cell.casefold() == column.casefold()]
        if not same:
            key = _KEYS[ours]
            hint = suggested(column, header, f"columns are {', '.join(header)}")
            raise ConfigError(f"{key}: there is no column {column!r}", where=file, hint=hint)
        exact = [index for index in same if header[index] == column]
        indices[ours] = (exact or same)[0]
    return indices


def single_columns(data: DataConfig) -> dict[str, str]:
    """Names of the columns of the category, source and margin of victory, by our names, where a file has them."""
    columns: dict[str, str] = {}
    if data.category_column is not None:
        columns[CATEGORY_WRITTEN] = data.category_column
    if data.source_column is not None:
        columns[SOURCE] = data.source_column
    if data.p_true is not None:
        columns[P_TRUE] = data.p_true
    if data.margin_column is not None:
        columns[VICTORY_MARGIN] = data.margin_column
    return columns


class CovariateTags(NamedTuple):
    """Further tags of a PGN file that are wanted, and the index among them of each of our columns."""

    tags: tuple[bytes, ...]
    columns: dict[str, int]


def further_tags(data: DataConfig) -> CovariateTags:
    """Tags `Rest`, or `WhiteRest` and `BlackRest`, of each covariate, and those of the category, source and margin."""
    tags: list[bytes] = []
    columns: dict[str, int] = {}
    for name, column in data.covariates.items():
        written = (column, f"White{column}", f"Black{column}")
        for field, tag in zip(covariate_fields(name), written, strict=True):
            columns[field] = len(tags)
            tags.append(tag.encode())
    for ours, column in single_columns(data).items():
        columns[ours] = len(tags)
        tags.append(column.encode())
    return CovariateTags(tuple(tags), columns)
