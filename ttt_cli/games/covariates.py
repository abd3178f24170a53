"""Covariates of games: texts of their columns as read, and the numbers or categories that these are."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from ttt_cli.reading.columns import CodedColumn, has_stride_0, spread
from ttt_cli.reading.values import is_missing, number_of
from ttt_cli.support.arrays import Array, Ids, Mask
from ttt_cli.support.errors import DataError

MOST_CATEGORIES: Final = 100
_NOBODY: Final = -1  # the category of a side that has none
_SHOWN: Final = 3


class CovariateTexts(NamedTuple):
    """Texts of a covariate, (games,) each: of the game, or the difference of its sides, or of each side.

    `is_category`: whether they are categories even if all are numbers.
    """

    name: str
    is_category: bool
    single: CodedColumn[str]
    white: CodedColumn[str]
    black: CodedColumn[str]

    @property
    def columns(self) -> dict[str, CodedColumn[str]]:
        """Columns by their field."""
        return {"single": self.single, "white": self.white, "black": self.black}


@dataclass(frozen=True)
class NumberCovariate:
    """A covariate of numbers: `difference` (games,) of the value of the side named first and that of the other."""

    name: str
    difference: Array

    @property
    def terms(self) -> tuple[str, ...]:
        """Names of its coefficients."""
        return (self.name,)

    @property
    def reference(self) -> str | None:
        """The category that counts as 0."""
        return None

    @property
    def arrays(self) -> tuple[NDArray[Any], ...]:
        """What its values follow from."""
        return (self.difference,)

    def column(self, term: str, is_white_known: Mask) -> Array:  # noqa: ARG002
        """Values (games,) of a term."""
        return self.difference

    def take(self, games: slice | Mask) -> Self:
        """Those of some games."""
        return replace(self, difference=self.difference[games])


@dataclass(frozen=True)
class CategoryCovariate:
    """A covariate of categories, `values`, the most frequent first: that is the reference.

    `white`, `black` (games,) are indices of the value of each side, or of the value of the game and -1. The category of
    a game adds to White's advantage, so it counts where White is known.
    """

    name: str
    values: tuple[str, ...]
    white: Ids
    black: Ids

    @property
    def terms(self) -> tuple[str, ...]:
        """Names of its coefficients: one for each value."""
        return tuple(f"{self.name}.{value}" for value in self.values)

    @property
    def reference(self) -> str | None:
        """The category that counts as 0."""
        return self.values[0] if self.values else None

    @property
    def arrays(self) -> tuple[NDArray[Any], ...]:
        """What its values follow from."""
        return self.white, self.black

    @property
    def is_of_games(self) -> bool:
        """Whether it is one of games rather than of players."""
        return bool(len(self.black)) and not np.any(self.black != _NOBODY)

    def column(self, term: str, is_white_known: Mask) -> Array:
        """Values (games,) of a term: 1 where the side named first alone has the category, -1 where the other has."""
        value = self.terms.index(term)
        of_white = (self.white == value) & ((self.black != _NOBODY) | is_white_known)
        column: Array = of_white.astype(np.float64) - (self.black == value)
        return column

    def take(self, games: slice | Mask) -> Self:
        """Those of some games."""
        return replace(self, white=self.white[games], black=self.black[games])


Covariate = NumberCovariate | CategoryCovariate


def make_covariate(texts: CovariateTexts) -> Covariate:
    """The numbers or categories in the columns of a covariate. Raises DataError for too many categories."""
    present = _present(texts)
    has_numbers = all(not math.isnan(number_of(text)) for text in present)
    if has_numbers and not texts.is_category:
        return NumberCovariate(texts.name, _difference(texts))
    if len(present) > MOST_CATEGORIES:
        odd = [text for text in present if math.isnan(number_of(text))] or list(present)
        examples = ", ".join(repr(text) for text in odd[:_SHOWN])
        values = f"{len(present):,} values, of which {len(odd):,} are no numbers, as {examples}"
        raise DataError(
            f"the covariate {texts.name} has {values}",
            hint=f"numbers, or at most {MOST_CATEGORIES} categories; empty and n/a mean that the value is missing",
        )
    return _categories(texts, present)


def _present(texts: CovariateTexts) -> list[str]:
    """Distinct values that occur, sorted, without missing ones."""
    present: set[str] = set()
    for column in texts.columns.values():
        codes = column.codes[:1] if has_stride_0(column.codes) else column.codes
        occurs = np.zeros(len(column.values), np.bool_)
        occurs[codes] = True
        present.update(column.values[code].strip() for code in np.flatnonzero(occurs).tolist())
    return sorted(text for text in present if not is_missing(text))


def _difference(texts: CovariateTexts) -> Array:
    """Differences of White and Black, 0 where a value is missing."""
    have_sides = not (has_stride_0(texts.white.codes) and has_stride_0(texts.black.codes))
    if not have_sides and len(texts.single):
        missing = _numbers(texts.white[:1]) - _numbers(texts.black[:1])
        values = _numbers_of_values(texts.single)
        of_values = np.nan_to_num(np.where(np.isnan(values), missing, values), nan=0.0)
        return spread(of_values, texts.single.codes)
    single = _numbers(texts.single)
    of_sides = _numbers(texts.white) - _numbers(texts.black)
    total: Array = np.where(np.isnan(single), of_sides, single)
    return np.nan_to_num(total, nan=0.0)


def _numbers(column: CodedColumn[str]) -> Array:
    """The numbers of a column, NaN where there is none."""
    numbers: Array = _numbers_of_values(column)[column.codes]
    return numbers


def _numbers_of_values(column: CodedColumn[str]) -> Array:
    """The number of each value, NaN where it is none."""
    return np.array([number_of(text) for text in column.values], np.float64)


def _categories(texts: CovariateTexts, present: Sequence[str]) -> CategoryCovariate:
    """Categories by frequency, those of equal frequency by name; missing values are the most frequent one."""
    index_of = {text: index for index, text in enumerate(present)}
    single = _indices(texts.single, index_of)
    white = _indices(texts.white, index_of)
    black = _indices(texts.black, index_of)
    count = np.zeros(len(present), np.int64)
    for codes in (single, white, black):
        count += np.bincount(codes[codes != _NOBODY], minlength=len(present))
    order = np.argsort(-count, kind="stable")
    rank = np.empty(len(present), np.int32)
    rank[order] = np.arange(len(present), dtype=np.int32)
    has_sides = np.any(white != _NOBODY) or np.any(black != _NOBODY)
    is_single = (single != _NOBODY) if has_sides else np.ones(len(single), np.bool_)

    def ranked(codes: Ids) -> Ids:
        return np.where(codes == _NOBODY, np.int32(0), np.append(rank, np.int32(0))[codes]).astype(
            np.int32
        )

    return CategoryCovariate(
        texts.name,
        tuple(present[index] for index in order.tolist()),
        white=np.where(is_single, ranked(single), ranked(white)).astype(np.int32),
        black=np.where(is_single, np.int32(_NOBODY), ranked(black)).astype(np.int32),
    )


def _indices(column: CodedColumn[str], index_of: Mapping[str, int]) -> Ids:
    """Indices of the values of a column, -1 where they are missing."""
    indices = np.array([index_of.get(text.strip(), _NOBODY) for text in column.values], np.int32)
    return indices[column.codes]
