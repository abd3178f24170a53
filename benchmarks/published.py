"""How far published skills lie from the fixed point of the model they were computed with.

Takes the games and the published skills, `playerName,year,mu,sigma`; `docs/published.md` says where they are.
"""

import csv
import statistics
from collections.abc import Sequence
from pathlib import Path

from measuring import options_of

from ttt_cli import fit, read_games


def main(arguments: Sequence[str] | None = None) -> None:
    options = options_of(__doc__, arguments, games_=Path, published_=Path, beta=600.0, tau=40.0)
    run = fit(read_games(options.games), beta=options.beta, tau=options.tau, tol=1e-6)
    ours = {(player, year): (mean, sd) for player, year, mean, sd in run.select(
        "SELECT player, period, mean, sd FROM skills")[1]}  # fmt: skip
    with options.published.open(encoding="utf-8", newline="") as file:
        theirs = {(row["playerName"], row["year"]): (float(row["mu"]), float(row["sigma"]))
                  for row in csv.DictReader(file)}  # fmt: skip
    both = sorted(ours.keys() & theirs.keys())
    print(f"{len(both)} skills in both, {len(ours)} ours, {len(theirs)} published")
    means = {key: theirs[key][0] - ours[key][0] for key in both}
    spreads = [abs(theirs[key][1] - ours[key][1]) for key in both]
    distances = sorted(map(abs, means.values()))
    print(f"means apart: median {statistics.median(distances):.1f}, largest {distances[-1]:.1f} points")
    print(f"sds apart: median {statistics.median(spreads):.3f}, largest {max(spreads):.3f} points")
    for key in sorted(both, key=lambda key: -abs(means[key]))[:5]:
        print(f"{key[0]:<28}{key[1]}{ours[key][0]:>10.2f}{theirs[key][0]:>10.2f}{means[key]:>+8.2f}")


if __name__ == "__main__":
    main()
