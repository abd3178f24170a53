"""How closely rating systems agree with published ratings: linear correlations within each year, their median.

Takes the games and the published ratings, a CSV with `source,year,player,rating` among its columns. Counted are players
with enough games in a year, and years with enough such players who are rated in both. Prints a table in Markdown.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd
from measuring import markdown, options_of

from ttt_cli.api import configure, read_games
from ttt_cli.config.load import shipped_configs
from ttt_cli.timeline import Timeline, build_timeline

KEYS = ["year", "player"]


def main(arguments: Sequence[str] | None = None) -> None:
    options = options_of(
        __doc__, arguments, games_=Path, published_=Path, configs_={"nargs": "*"}, least=10
    )
    timeline = build_timeline(read_games(options.games))
    published = read_published(options.published)
    rows = []
    for name in options.configs or shipped_configs():
        ours = ratings_of(timeline, name, options.least)
        found = [median_correlation(ours, theirs, options.least) for theirs in published.values()]
        rows.append([Path(name).stem, *found])
    print(markdown(["system", *published], rows))


def read_published(path: Path) -> dict[str, pd.DataFrame]:
    """The published ratings by source, of players whose name in the games is known."""
    rows = pd.read_csv(path).dropna(subset="player").drop_duplicates(["source", *KEYS], keep="last")
    return {str(source): some for source, some in rows.groupby("source", sort=False)}


def ratings_of(timeline: Timeline, config: str, least: int) -> pd.DataFrame:
    """The ratings of players with at least `least` games in a year."""
    resolved = configure(config)
    fit = resolved.model.fit(timeline, resolved.params, resolved.config.solver)
    players = np.array(timeline.players, object)[timeline.node_player]
    columns = {"year": timeline.node_period, "player": players, "rating": fit.mean}
    return pd.DataFrame(columns)[timeline.node_games >= least]


def median_correlation(
    ours: pd.DataFrame,
    theirs: pd.DataFrame,
    least: int,
    method: Literal["pearson", "spearman"] = "pearson",
) -> str:
    """The median over years of the correlation, 0 where one side does not vary, and how many years there are."""
    both = ours.merge(theirs, on=KEYS)
    years = [year for _, year in both.groupby("year") if len(year) >= least]
    found = pd.Series(
        [year["rating_x"].corr(year["rating_y"], method) for year in years], dtype=float
    )
    return f"{found.fillna(0.0).median():.3f} ({len(years)})" if years else ""


if __name__ == "__main__":
    main()
