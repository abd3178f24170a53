"""What fixes the level of eras: the same games fitted with other choices that hardly any game can tell apart.

Takes the games and, as an option, published ratings, a CSV with `source,year,player,rating` among its columns. Starts
from a shipped config and changes one thing at a time. Prints, in Markdown, the level of the ten best by year, the
highest means of some players (in years with ten games) and the first ten, and then what no convention touches: the
dominance of players in a year, and the rank correlation with published ratings within a year.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from correlations import Ratings, median_correlation, read_published
from measuring import markdown, options_of
from scipy.stats import spearmanr

from ttt_cli import fit, read_games
from ttt_cli.runs.run import Run
from ttt_cli.views.rankings import eligible
from ttt_cli.views.strongest import OTHERS

CHOICES: dict[str, dict[str, Any]] = {
    "as shipped": {},
    "tau 20": {"tau": 20.0},
    "tau 80": {"tau": 80.0},
    "growth 0": {"growth": 0.0},
    "growth 150": {"growth": 150.0},
    "growth 600": {"growth": 600.0},
    "early 0": {"early": 0.0},
    "decline 0": {"decline": 0.0},
    "prior_sd 200": {"prior_sd": 200.0},
    "prior_sd 800": {"prior_sd": 800.0},
    "m(t), drift 5": {"prior_mean_drift": 5.0},
    "m(t), drift 15": {"prior_mean_drift": 15.0},
    "m(t), drift 40": {"prior_mean_drift": 40.0},
    "no career": {"growth": 0.0, "decline": 0.0, "early": 0.0},
}
PLAYERS = {
    "Morphy, Paul": 1858, "Lasker, Emanuel": 1896, "Capablanca, Jose Raul": 1921, "Fischer, Robert James": 1971,
    "Kasparov, Gary": 1999, "Carlsen, Magnus": 2014,
}  # fmt: skip
YEARS = (1860, 1880, 1900, 1920, 1940, 1960, 1980, 2000, 2020)
LEAST = 10  # games of a player in a year, and players in a year, for a correlation


def main(arguments: Sequence[str] | None = None) -> None:
    options = options_of(
        __doc__, arguments,
        games_=Path, published_={"type": Path, "nargs": "?"}, config="ttt-career", posterior="factorised",
        choices=[*CHOICES], first=1880,
    )  # fmt: skip
    games = read_games(options.games)
    published = read_published(options.published) if options.published else {}
    tables: list[list[Sequence[str]]] = [[] for _ in range(5)]
    for name in options.choices:
        run = fit(games, options.config, posterior=options.posterior, **CHOICES[name])
        for table, cells in zip(tables, _cells(run, published, options.first), strict=True):
            table.append([name, *cells])
        print(f"{name}: {run.meta.sweeps} sweeps", flush=True)
    heads = [
        ["", "log-evidence", *map(str, YEARS)],
        ["", *map(_surname, PLAYERS)],
        ["", *(f"{rank}." for rank in range(1, 11))],
        ["", *(f"{_surname(player)} {year}" for player, year in PLAYERS.items())],
        ["", *published],
    ]
    titles = (
        "Mean skill of the ten best of a year",
        "Highest mean, its year, and its rank among all highest means",
        f"The ten highest means from {options.first} on",
        f"Lead over the {OTHERS} best others of the year",
        "Rank correlation within a year, median over years",
    )
    for title, head, rows in zip(titles, heads, tables, strict=True):
        print(f"\n{title}\n\n{markdown(head, rows)}")


def _cells(run: Run, published: Mapping[str, Ratings], first: int) -> Iterator[list[str]]:
    """The cells of a choice in all tables."""
    limits = eligible(run, min_games=20, min_opponents=3, max_sd=np.inf)  # the same players whatever the sds
    field = Field(run, limits)
    evidence = "" if run.meta.log_evidence is None else f"{run.meta.log_evidence:,.0f}"
    yield [evidence, *(field.best(year) for year in YEARS)]
    peaks = field.peaks()
    ranked = sorted(peaks, key=lambda player: -peaks[player][0])
    yield [_peak(name, peaks, ranked) for name in PLAYERS]
    late = field.peaks(first)
    yield [_surname(name) for name in sorted(late, key=lambda player: -late[player][0])[:10]]
    yield [field.lead(name, year) for name, year in PLAYERS.items()]
    yield [_correlation(run, theirs) for theirs in published.values()]


def _peak(name: str, peaks: Mapping[str, tuple[float, int]], ranked: Sequence[str]) -> str:
    if name not in peaks:
        return ""
    mean, year = peaks[name]
    return f"{mean:.0f} ({year}), {ranked.index(name) + 1}."


def _surname(player: str) -> str:
    return player.partition(",")[0]


class Field:
    """The skills of all who are eligible, by year."""

    def __init__(self, run: Run, limits: Any) -> None:
        rows = run.arrays(limits.always(run))
        order = np.lexsort((-rows["mean"], rows["period_number"]))
        self._mean, self._year = rows["mean"][order], rows["period_number"][order]
        self._player, self._games = rows["player"][order].astype(str), rows["games"][order]
        years, start = np.unique(self._year, return_index=True)
        slices = map(slice, start, [*start[1:], len(order)])
        self._of = dict(zip(years.tolist(), slices, strict=True))

    def best(self, year: int) -> str:
        """The mean of the ten best."""
        return f"{self._mean[self._of[year]][:10].mean():.0f}" if year in self._of else ""

    def peaks(self, first: int = 0) -> dict[str, tuple[float, int]]:
        """The highest mean of every player, and its year."""
        found: dict[str, tuple[float, int]] = {}
        counted = (self._games >= LEAST) & (self._year >= first)
        columns = (one[counted].tolist() for one in (self._player, self._mean, self._year))
        for player, mean, year in zip(*columns, strict=True):
            if player not in found or mean > found[player][0]:
                found[player] = (mean, year)
        return found

    def lead(self, player: str, year: int) -> str:
        """By how much a player is above the mean of the best others of a year."""
        here = self._of.get(year, slice(0, 0))
        mine = self._player[here] == player
        best = self._mean[here][~mine][:OTHERS].mean()
        return f"{self._mean[here][mine][0] - best:.0f}" if mine.any() else ""


def _correlation(run: Run, theirs: Ratings) -> str:
    _, rows = run.select("SELECT period_number, player, mean FROM nodes WHERE games >= ?", [LEAST])
    ours: Ratings = {}
    for year, player, mean in rows:
        ours.setdefault(year, {})[player] = mean
    middle, years = median_correlation(
        ours, theirs, LEAST, lambda one, other: spearmanr(one, other).statistic
    )
    return f"{middle:.3f} ({years})" if years else ""


if __name__ == "__main__":
    main()
