"""Published ratings beside a run: names matched, ratings brought to the run's scale, and how well both agree."""

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, Final, NamedTuple

import numpy as np

from ttt_cli.periods import year_of
from ttt_cli.reading.input import Input
from ttt_cli.runs.run import Run
from ttt_cli.support.arrays import Array
from ttt_cli.support.errors import DataError, LookupFailed
from ttt_cli.support.folding import fold_all
from ttt_cli.views.rows import counted

LEAST: Final = 3  # pairs that a correlation needs
_LISTED: Final = 5
_COLUMNS: Final = (("player", "name"), ("period", "year", "date"), ("rating",))
# A rating belongs to its period in the run, else to the last one of its year.
_PAIRED: Final = """
WITH rated AS (SELECT unnest(?::VARCHAR[]) AS player, unnest(?::VARCHAR[]) AS period, unnest(?::DOUBLE[]) AS rating),
     yearly AS (SELECT player, substr(period, 1, 4) AS "year", max(period_number) AS period_number,
                       arg_max(mean, period_number) AS mean FROM skills GROUP BY ALL),
     pairs AS (SELECT player, rating, coalesce(same.period_number, yearly.period_number) AS number,
                      CAST(substr(period, 1, 4) AS INTEGER) AS "year", coalesce(same.mean, yearly.mean) AS skill
               FROM rated LEFT JOIN skills same USING (player, period)
               LEFT JOIN yearly ON yearly.player = rated.player AND yearly."year" = substr(rated.period, 1, 4))
SELECT player, number, "year", avg(rating) AS rating, skill, count(*) > 1 AS several
FROM pairs WHERE skill IS NOT NULL GROUP BY ALL ORDER BY player, number
"""
_NAMES: Final = "SELECT folded, any_value(player) FROM players GROUP BY folded HAVING count(*) = 1"


class Agreement(NamedTuple):
    """The correlation of ratings with skills over the players rated in a year."""

    year: int
    players: int
    correlation: float


@dataclass(frozen=True)
class PublishedRatings:
    """Published ratings on the scale of a run: `slope` * rating + `shift`.

    `name`: of the file. `ratings`: by player and number of the period. `unknown`: names that match no player of the
    run. `several`: ratings that are means of several. `correlation`: with the skills of the run. `years`: agreement in
    each year with at least three rated players.
    """

    name: str
    ratings: dict[str, dict[int, float]]
    unknown: tuple[str, ...]
    several: int
    slope: float
    shift: float
    correlation: float
    years: tuple[Agreement, ...]

    def by_year(self, player: str, period: Any) -> dict[int, float]:
        """A player's ratings by calendar year; the last one if a year has several."""
        ratings = sorted(self.ratings.get(player, {}).items())
        return {int(year_of(number, period)): value for number, value in ratings}

    def words(self) -> list[str]:
        """Lines of text: matched names, scale and correlation."""
        count = sum(len(of_player) for of_player in self.ratings.values())
        unknown = len(self.unknown)
        examples = "; ".join(self.unknown[:_LISTED]) + ("; …" if unknown > _LISTED else "")
        lost = (
            f"; {counted(unknown, 'name is', 'names are')} not in the run ({examples})"
            if unknown
            else ""
        )
        means = f", {self.several:,} of them means of several" if self.several else ""
        scaled = f"scaled to the same mean and spread (rating × {self.slope:.3g} {self.shift:+.0f})"
        spread = ""
        if ordered := sorted(self.years, key=lambda agreement: agreement.correlation):
            low = ordered[0]
            middle = ordered[len(ordered) // 2]
            high = ordered[-1]
            spread = (
                f"; by year {low.correlation:.2f} ({low.year}) to {high.correlation:.2f} ({high.year}), "
                f"half of {len(ordered)} years above {middle.correlation:.2f}"
            )
        return [
            f"{self.name}: {count:,} ratings of {len(self.ratings):,} players{means}{lost}",
            f"{scaled}; correlation {self.correlation:.3f}{spread}",
        ]

    def year_rows(self) -> list[tuple[str, int, str]]:
        """By year: players rated, and the correlation."""
        return [
            (str(agreement.year), agreement.players, f"{agreement.correlation:.2f}")
            for agreement in self.years
        ]


class _PublishedRow(NamedTuple):
    """A row of a table of ratings, as written but for the number."""

    name: str
    period: str
    rating: float


def read_published_ratings(path: str, run: Run) -> PublishedRatings:
    """Read a table of `player,period,rating`, plain or packed.

    The columns may also be called `name` and `year`; others are ignored. Accents, case and punctuation of names are
    ignored; known other spellings of players match too. A year means its last period in the run. Raises DataError for
    a file without these columns, LookupFailed when too few of the ratings are in the run.
    """
    source = Input(path, kind="ratings")
    published = _published_rows(source.text("a table of ratings"), source.name)
    with run:
        names = sorted({row.name for row in published})
        players = _players(run, names)
        unknown = tuple(name for name in names if name not in players)
        rated = [row for row in published if row.name in players]
        columns = [
            [players[row.name] for row in rated],
            [row.period for row in rated],
            [row.rating for row in rated],
        ]
        pairs = run.arrays(_PAIRED, columns)
    rating = pairs["rating"]
    skill = pairs["skill"]
    year = pairs["year"]
    if not _comparable(rating, skill):
        raise LookupFailed(
            f"{len(rating)} of its ratings are of players and periods of {run.name}, too few to be compared",
            where=source.name, hint="names are those of the run: `ttt export players`",
        )  # fmt: skip
    slope = float(skill.std() / rating.std())
    shift = float(skill.mean() - slope * rating.mean())
    scaled: dict[str, dict[int, float]] = {}
    for player, number, value in zip(
        pairs["player"], pairs["number"].tolist(), rating.tolist(), strict=True
    ):
        scaled.setdefault(player, {})[number] = slope * value + shift
    return PublishedRatings(
        PurePath(source.name).name, scaled, unknown, int(pairs["several"].sum()), slope, shift,
        correlation=_correlation(rating, skill), years=_agreements(year, rating, skill),
    )  # fmt: skip


def _players(run: Run, names: Sequence[str]) -> dict[str, str]:
    """The players of these names and other spellings, by name; unknown names are left out."""
    spellings = run.select("SELECT spelling, player FROM spellings")[1]
    folded_spellings = fold_all([spelling for spelling, _ in spellings])
    by_folded = {
        folded: player for folded, (_, player) in zip(folded_spellings, spellings, strict=True)
    }
    by_folded |= dict(run.select(_NAMES)[1])  # names go before spellings
    return {
        name: by_folded[folded]
        for name, folded in zip(names, fold_all(names), strict=True)
        if folded in by_folded
    }


def _agreements(year: Array, rating: Array, skill: Array) -> tuple[Agreement, ...]:
    """The agreement in each year where a correlation can be computed."""
    agreements = []
    for number in np.unique(year).tolist():
        in_year = year == number
        if _comparable(rating[in_year], skill[in_year]):
            correlation = _correlation(rating[in_year], skill[in_year])
            agreements.append(Agreement(number, int(np.count_nonzero(in_year)), correlation))
    return tuple(agreements)


def _correlation(rating: Array, skill: Array) -> float:
    return float(np.corrcoef(rating, skill)[0, 1])


def _comparable(rating: Array, skill: Array) -> bool:
    """Whether a correlation can be computed."""
    return bool(len(rating) >= LEAST and rating.std() > 0.0 and skill.std() > 0.0)


def _published_rows(text: str, where: str) -> list[_PublishedRow]:
    """The rows of a table that have name, period and rating."""
    reader = csv.reader(io.StringIO(text))
    heads = [head.strip().casefold() for head in next(reader, [])]
    columns = [[heads.index(name) for name in names if name in heads] for names in _COLUMNS]
    if not all(columns):
        hint = "they are named in its first line"
        raise DataError("has no columns player, period and rating", where=where, hint=hint)
    rows = []
    for cells in reader:
        name, period, rating = (_first_text(cells, indices) for indices in columns)
        if not (name and period and rating):
            continue
        try:
            rows.append(_PublishedRow(name, period, float(rating)))
        except ValueError:
            raise DataError(
                f"{rating!r} is no rating", where=f"{where}:{reader.line_num}"
            ) from None
    return rows


def _first_text(cells: Sequence[str], indices: Sequence[int]) -> str:
    """The first of these cells with a text; empty without one. Rows may be short."""
    for index in indices:
        if index < len(cells) and cells[index].strip():
            return cells[index].strip()
    return ""
