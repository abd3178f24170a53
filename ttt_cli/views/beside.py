"""Published ratings beside a run: names matched, ratings brought to the run's scale, and how well both agree."""

import csv
import io
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
     found AS (SELECT player, rating, coalesce(one.period_number, yearly.period_number) AS number,
                      CAST(substr(period, 1, 4) AS INTEGER) AS "year", coalesce(one.mean, yearly.mean) AS skill
               FROM rated LEFT JOIN skills one USING (player, period)
               LEFT JOIN yearly ON yearly.player = rated.player AND yearly."year" = substr(rated.period, 1, 4))
SELECT player, number, "year", avg(rating) AS rating, skill, count(*) > 1 AS several
FROM found WHERE skill IS NOT NULL GROUP BY ALL ORDER BY player, number
"""
_NAMES: Final = "SELECT folded, any_value(player) FROM players GROUP BY folded HAVING count(*) = 1"


class Agreement(NamedTuple):
    """The correlation of ratings with skills over the players rated in a year."""

    year: int
    players: int
    correlation: float


@dataclass(frozen=True)
class Beside:
    """Published ratings on the scale of a run: `slope` * rating + `shift`.

    `ratings`: by player and number of the period. `unknown`: names that match no player of the run. `years`: agreement
    in each year with at least three rated players.
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
        count = sum(map(len, self.ratings.values()))
        unknown = len(self.unknown)
        named = "; ".join(self.unknown[:_LISTED]) + ("; …" if unknown > _LISTED else "")
        lost = f"; {counted(unknown, 'name is', 'names are')} not in the run ({named})" if unknown else ""
        means = f", {self.several:,} of them means of several" if self.several else ""
        scaled = f"scaled to the same mean and spread (rating × {self.slope:.3g} {self.shift:+.0f})"
        spread = ""
        if ordered := sorted(self.years, key=lambda one: one.correlation):
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
        return [(str(one.year), one.players, f"{one.correlation:.2f}") for one in self.years]


def read_beside(path: str, run: Run) -> Beside:
    """Read a table of `player,period,rating`, plain or packed.

    The columns may also be called `name` and `year`; others are ignored. Accents, case and punctuation of names are
    ignored; known other spellings of players match too. A year means its last period in the run. Raises DataError for
    a file without these columns, LookupFailed when too few of the ratings are in the run.
    """
    source = Input(path, kind="ratings")
    published = _published(source.text("a table of ratings"), source.name)
    with run:
        by_folded: dict[str, str] = dict(run.select(_NAMES)[1])
        united = run.select("SELECT spelling, player FROM spellings")[1]
        spelled = fold_all([spelling for spelling, _ in united])
        by_folded = {key: player for key, (_, player) in zip(spelled, united, strict=True)} | by_folded
        names = sorted({name for name, *_ in published})
        keys = zip(names, fold_all(names), strict=True)
        players = {name: by_folded[key] for name, key in keys if key in by_folded}
        unknown = tuple(name for name in names if name not in players)
        rated = [(players[name], period, rating) for name, period, rating in published if name in players]
        pairs = run.arrays(_PAIRED, [list(column) for column in zip(*rated, strict=True)] or [[], [], []])
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
    ratings: dict[str, dict[int, float]] = {}
    for player, number, value in zip(pairs["player"], pairs["number"].tolist(), rating.tolist(), strict=True):
        ratings.setdefault(player, {})[number] = slope * value + shift
    of_years = ((one, rating[year == one], skill[year == one]) for one in np.unique(year).tolist())
    return Beside(
        PurePath(source.name).name, ratings, unknown, int(pairs["several"].sum()), slope, shift,
        float(np.corrcoef(rating, skill)[0, 1]),
        tuple(Agreement(one, len(x), float(np.corrcoef(x, y)[0, 1])) for one, x, y in of_years if _comparable(x, y)),
    )  # fmt: skip


def _comparable(rating: Array, skill: Array) -> bool:
    return bool(len(rating) >= LEAST and rating.std() > 0.0 and skill.std() > 0.0)


def _published(text: str, where: str) -> list[tuple[str, str, float]]:
    """Name, period and rating in the rows of a table that have all three."""
    rows = csv.reader(io.StringIO(text))
    heads = [head.strip().casefold() for head in next(rows, [])]
    places = [[heads.index(name) for name in names if name in heads] for names in _COLUMNS]
    if not all(places):
        hint = "they are named in its first line"
        raise DataError("has no columns player, period and rating", where=where, hint=hint)
    found = []
    for row in rows:
        written = dict(enumerate(map(str.strip, row)))
        cells = [next(filter(None, map(written.get, some)), "") for some in places]
        name, period, rating = cells
        if not all(cells):
            continue
        try:
            found.append((name, period, float(rating)))
        except ValueError:
            raise DataError(f"{rating!r} is no rating", where=f"{where}:{rows.line_num}") from None
    return found
