"""Columns of covariates: what else bears on a game, as a difference of the two sides or as a value of each."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final, Generic, NamedTuple, TypeVar

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
    return CovariateFields(f"covariate {name}", f"covariate {name} of white", f"covariate {name} of black")


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

    `header` are the names of columns; `word_of` writes one in lower case without signs.
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


def find_category(column: str, header: Sequence[str], file: str) -> dict[str, int]:
    """Index of the column of categories by our name. Raises ConfigError where it is not there."""
    same = [index for index, cell in enumerate(header) if cell.casefold() == column.casefold()]
    if not same:
        hint = suggested(column, header, f"columns are {', '.join(header)}")
        raise ConfigError(f"data.category: there is no column {column!r}", where=file, hint=hint)
    exact = [index for index in same if header[index] == column]
    return {CATEGORY_WRITTEN: (exact or same)[0]}


class CovariateTags(NamedTuple):
    """Tags of a PGN file that hold covariates, and the index among them of each of our columns."""

    tags: tuple[bytes, ...]
    columns: dict[str, int]


def further_tags(covariates: Mapping[str, str], category: str | None) -> CovariateTags:
    """Tags `Rest`, or `WhiteRest` and `BlackRest`, of each covariate, and that of the category, if there is one."""
    tags: list[bytes] = []
    columns: dict[str, int] = {}
    for name, column in covariates.items():
        written = (column, f"White{column}", f"Black{column}")
        for field, tag in zip(covariate_fields(name), written, strict=True):
            columns[field] = len(tags)
            tags.append(tag.encode())
    if category is not None:
        columns[CATEGORY_WRITTEN] = len(tags)
        tags.append(category.encode())
    return CovariateTags(tuple(tags), columns)
