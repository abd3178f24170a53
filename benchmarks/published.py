"""How far published skills lie from the fixed point of the model they were computed with.

Takes the games and the published skills, `playerName,year,mu,sigma`; `docs/published.md` says where they are.
"""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd
from measuring import options_of

from ttt_cli import fit, read_games


def main(arguments: Sequence[str] | None = None) -> None:
    options = options_of(__doc__, arguments, games_=Path, published_=Path, beta=600.0, tau=40.0)
    run = fit(read_games(options.games), beta=options.beta, tau=options.tau, tol=1e-6)
    ours = run.query("SELECT player, period AS year, mean, sd FROM skills").astype({"year": int})
    theirs = pd.read_csv(options.published).rename(columns={"playerName": "player"})
    both = ours.merge(theirs, on=["player", "year"])
    print(f"{len(both)} skills in both, {len(ours)} ours, {len(theirs)} published")
    apart = both["mu"] - both["mean"]
    means, sds = apart.abs(), (both["sigma"] - both["sd"]).abs()
    print(f"means apart: median {means.median():.1f}, largest {means.max():.1f} points")
    print(f"sds apart: median {sds.median():.3f}, largest {sds.max():.3f} points")
    for at in means.nlargest(5).index:
        one = both.loc[at]
        print(
            f"{one['player']:<28}{one['year']}{one['mean']:>10.2f}{one['mu']:>10.2f}{apart[at]:>+8.2f}"
        )


if __name__ == "__main__":
    main()
