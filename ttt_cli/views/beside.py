"""Published ratings beside a run: names matched, ratings brought to the run's scale, and how well both agree."""

import csv
import io
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, Final, NamedTuple

import numpy as np

from ttt_cli.periods import year_of
from ttt_cli.reading.input import Input
from ttt_cli.reading.text import whole_text
from ttt_cli.runs.run import Run
from ttt_cli.support.arrays import Array, Places
from ttt_cli.support.errors import DataError, LookupFailed
from ttt_cli.support.folding import fold_all

_ARE: Final = ("name is", "names are")
LEAST: Final = 3  # pairs that a correlation needs
_LISTED: Final = 5
_COLUMNS: Final = (("player", "name"), ("period", "year", "date"), ("rating",))
_SKILLS: Final = "SELECT player, period, period_number, mean FROM skills ORDER BY player, period_number"
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
        return {
            int(year_of(number, period)): value
            for number, value in sorted(self.ratings.get(player, {}).items())
        }

    def words(self) -> list[str]:
        """Lines of text: matched names, scale and correlation."""
        count = sum(map(len, self.ratings.values()))
        named = "; ".join(self.unknown[:_LISTED]) + ("; …" if len(self.unknown) > _LISTED else "")
        lost = (
            f"; {len(self.unknown):,} {_ARE[len(self.unknown) > 1]} not in the run ({named})"
            if self.unknown
            else ""
        )
        means = f", {self.several:,} of them means of several" if self.several else ""
        lines = [f"{self.name}: {count:,} ratings of {len(self.ratings):,} players{means}{lost}"]
        scaled = f"scaled to the same mean and spread (rating × {self.slope:.3g} {self.shift:+.0f})"
        lines.append(f"{scaled}; correlation {self.correlation:.3f}{self._range()}")
        return lines

    def year_rows(self) -> list[tuple[str, int, str]]:
        """By year: players rated, and the correlation."""
        return [(str(one.year), one.players, f"{one.correlation:.2f}") for one in self.years]

    def _range(self) -> str:
        if not self.years:
            return ""
        ordered = sorted(self.years, key=lambda one: one.correlation)
        low, middle, high = (ordered[at] for at in (0, len(ordered) // 2, -1))
        return (
            f"; by year {low.correlation:.2f} ({low.year}) to {high.correlation:.2f} ({high.year}), "
            f"half of {len(ordered)} years above {middle.correlation:.2f}"
        )


def read_beside(path: str, run: Run) -> Beside:
    """Read a table of `player,period,rating`, plain or packed.

    The columns may also be called `name` and `year`; others are ignored. Accents, case and punctuation of names are
    ignored; known other spellings of players match too. A year means its last period in the run. Raises DataError for
    a file without these columns, LookupFailed when too few of the ratings are in the run.
    """
    source = Input(path)
    with run:
        published = _published(whole_text(source, "a table of ratings"), source.name)
        players, unknown = _matched(run, {name for name, _ in published})
        pairs = _paired(run, ((players[n], p, r) for (n, p), r in published.items() if n in players))
    name = PurePath(source.name).name
    rating, skill = (np.array([getattr(one, of) for one in pairs]) for of in ("rating", "skill"))
    if len(pairs) < LEAST or rating.std() == 0.0 or skill.std() == 0.0:
        raise LookupFailed(
            f"{len(pairs)} of its ratings are of players and periods of {run.name}, too few to be compared",
            where=source.name, hint="names are those of the run: `ttt export players`",
        )  # fmt: skip
    slope = float(skill.std() / rating.std())
    shift = float(skill.mean() - slope * rating.mean())
    ratings: dict[str, dict[int, float]] = {}
    for one in pairs:
        ratings.setdefault(one.player, {})[one.number] = slope * one.rating + shift
    years = np.array([one.year for one in pairs])
    several = sum(one.several for one in pairs)
    return Beside(
        name, ratings, unknown, several, slope, shift, float(np.corrcoef(rating, skill)[0, 1]),
        tuple(_agreements(years, rating, skill)),
    )  # fmt: skip


def _published(text: str, where: str) -> dict[tuple[str, str], list[float]]:
    """The ratings of a table by name and period."""
    rows = csv.reader(io.StringIO(text))
    heads = [head.strip().casefold() for head in next(rows, [])]
    places = [[heads.index(name) for name in names if name in heads] for names in _COLUMNS]
    if not all(places):
        raise DataError(
            "has no columns player, period and rating", where=where, hint="they are named in its first line"
        )
    found: dict[tuple[str, str], list[float]] = {}
    for row in rows:
        cells = [
            next((row[at].strip() for at in some if at < len(row) and row[at].strip()), "") for some in places
        ]
        name, period, rating = cells
        if not all(cells):
            continue
        try:
            value = float(rating)
        except ValueError:
            raise DataError(f"{rating!r} is no rating", where=f"{where}:{rows.line_num}") from None
        found.setdefault((name, period), []).append(value)
    return found


def _matched(run: Run, names: set[str]) -> tuple[dict[str, str], tuple[str, ...]]:
    """The player of each name that matches exactly one, and the names that do not."""
    by_folded: dict[str, str] = dict(run.select(_NAMES)[1])
    united = run.select("SELECT spelling, player FROM spellings")[1]
    spelled = fold_all([spelling for spelling, _ in united])
    by_folded = {key: player for key, (_, player) in zip(spelled, united, strict=True)} | by_folded
    ordered = sorted(names)
    players = {
        name: by_folded[key] for name, key in zip(ordered, fold_all(ordered), strict=True) if key in by_folded
    }
    return players, tuple(name for name in ordered if name not in players)


class _Pair(NamedTuple):
    player: str
    number: int
    year: int
    rating: float
    skill: float
    several: bool


def _paired(run: Run, ratings: Iterable[tuple[str, str, list[float]]]) -> list[_Pair]:
    """Ratings and skills of the same players and periods; several ratings in one period count by their mean."""
    skills: dict[tuple[str, str], tuple[int, int, float]] = {}
    for player, period, number, mean in run.select(_SKILLS)[1]:
        skills[player, period] = skills[player, period[:4]] = number, int(period[:4]), mean
    found: dict[tuple[str, int, int, float], list[float]] = {}
    for player, period, values in ratings:
        skill = skills.get((player, period)) or skills.get((player, period[:4]))
        if skill:
            found.setdefault((player, *skill), []).extend(values)
    return [
        _Pair(player, number, year, sum(values) / len(values), skill, len(values) > 1)
        for (player, number, year, skill), values in sorted(found.items())
    ]


def _agreements(years: Places, rating: Array, skill: Array) -> Iterator[Agreement]:
    for year in np.unique(years).tolist():
        some = years == year
        if np.count_nonzero(some) >= LEAST and rating[some].std() > 0.0 and skill[some].std() > 0.0:
            r = float(np.corrcoef(rating[some], skill[some])[0, 1])
            yield Agreement(int(year), int(np.count_nonzero(some)), r)
