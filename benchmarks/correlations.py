"""How closely rating systems agree with published ratings: linear correlations within each year, their median.

Takes the games and the published ratings, a CSV with `source,year,player,rating` among its columns. Counted are players
with enough games in a year, and years with enough such players who are rated in both. Prints a table in Markdown.
"""

import csv
import gzip
import statistics
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from measuring import options_of

from ttt_cli.api import configure, read_games
from ttt_cli.config.load import shipped_configs
from ttt_cli.timeline import Timeline, build_timeline

Ratings = dict[int, dict[str, float]]  # by year, then player


def main(arguments: Sequence[str] | None = None) -> None:
    options = options_of(__doc__, arguments, games_=Path, published_=Path, configs_={"nargs": "*"}, least=10)
    timeline = build_timeline(read_games(options.games))
    published = read_published(options.published)
    print("| system | " + " | ".join(published) + " |")
    print("|---" * (len(published) + 1) + "|")
    for name in options.configs or shipped_configs():
        ours = ratings_of(timeline, name, options.least)
        found = [median_correlation(ours, theirs, options.least) for theirs in published.values()]
        cells = [f"{middle:.3f} ({years})" if years else "" for middle, years in found]
        print(f"| {Path(name).stem} | " + " | ".join(cells) + " |")


def read_published(path: Path) -> dict[str, Ratings]:
    """The published ratings by source, of players whose name in the games is known."""
    found: dict[str, Ratings] = defaultdict(lambda: defaultdict(dict))
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if row["player"]:
                found[row["source"]][int(row["year"])][row["player"]] = float(row["rating"])
    return found


def ratings_of(timeline: Timeline, config: str, least: int) -> Ratings:
    """The ratings of players with at least `least` games in a year."""
    resolved = configure(config)
    fit = resolved.model.fit(timeline, resolved.params, resolved.config.solver)
    ratings: Ratings = defaultdict(dict)
    for node in np.flatnonzero(timeline.node_games >= least).tolist():
        name = timeline.players[timeline.node_player[node]]
        ratings[int(timeline.node_period[node])][name] = float(fit.mean[node])
    return ratings


def median_correlation(
    ours: Ratings,
    theirs: Ratings,
    least: int,
    correlation: Callable[[list[float], list[float]], float] = lambda one, other: np.corrcoef(one, other)[
        0, 1
    ],
) -> tuple[float, int]:
    """The median over years of the correlation, 0 where one side does not vary, and how many years there are."""
    found = []
    for year, ratings in ours.items():
        both = sorted(ratings.keys() & theirs.get(year, {}).keys())
        if len(both) >= least:
            one, other = [ratings[name] for name in both], [theirs[year][name] for name in both]
            varied = min(max(one) - min(one), max(other) - min(other)) > 0.0
            found.append(float(correlation(one, other)) if varied else 0.0)
    return (statistics.median(found), len(found)) if found else (0.0, 0)


if __name__ == "__main__":
    main()
