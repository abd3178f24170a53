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
import pandas as pd
from correlations import median_correlation, read_published
from measuring import markdown, options_of

from ttt_cli import fit, read_games
from ttt_cli.runs.run import Run
from ttt_cli.views.rankings.dominance import OTHERS
from ttt_cli.views.rankings.eligible import eligible

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


def _cells(run: Run, published: Mapping[str, pd.DataFrame], first: int) -> Iterator[list[str]]:
    """The cells of a choice in all tables."""
    limits = eligible(
        run, min_games=20, min_opponents=3, max_sd=np.inf
    )  # the same players whatever the sds
    ranked = pd.DataFrame(run.arrays(limits.skills(run))).sort_values("mean", ascending=False)
    of_year = dict(iter(ranked.groupby("period_number")))
    evidence = "" if run.meta.log_evidence is None else f"{run.meta.log_evidence:,.0f}"
    best = (of_year[year]["mean"].head(10).mean() if year in of_year else None for year in YEARS)
    yield [evidence, *("" if mean is None else f"{mean:.0f}" for mean in best)]
    counted = ranked[ranked["games"] >= LEAST]
    yield [_peak(name, counted) for name in PLAYERS]
    late = counted[counted["period_number"] >= first].drop_duplicates("player")
    yield [_surname(name) for name in late["player"].head(10)]
    yield [_lead(name, of_year.get(year, ranked[:0])) for name, year in PLAYERS.items()]
    columns = {"period_number": "year", "mean": "rating"}
    ours = run.query(
        "SELECT period_number, player, mean FROM nodes WHERE games >= ?", [LEAST]
    ).rename(columns=columns)
    yield [median_correlation(ours, theirs, LEAST, "spearman") for theirs in published.values()]


def _peak(name: str, counted: pd.DataFrame) -> str:
    """The highest mean of a player, its year, and its rank among all highest means; `counted`: descending means."""
    peaks = counted.drop_duplicates("player")
    found = zip(peaks["player"], peaks["mean"], peaks["period_number"], strict=True)
    ranks = enumerate(found, 1)
    return "".join(
        f"{mean:.0f} ({year}), {rank}." for rank, (player, mean, year) in ranks if player == name
    )


def _lead(name: str, year: pd.DataFrame) -> str:
    """By how much a player is above the mean of the best others of a year."""
    own = year["player"] == name
    others = year["mean"][~own].head(OTHERS)
    return f"{year['mean'][own].iloc[0] - others.mean():.0f}" if own.any() else ""


def _surname(player: str) -> str:
    return player.partition(",")[0]


if __name__ == "__main__":
    main()
