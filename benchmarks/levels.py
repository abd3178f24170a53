"""Is the level of years found where newcomers get stronger and weaker in waves and opponents are chosen by strength?

Draws histories with careers and such newcomers, fits them with models that know more and more of it, with the true
parameters or those that the evidence prefers, and compares all skills in years with games with the truth.

year       sd over the years of the mean error of a year: what is wrong with the level
within     sd of the errors around the mean of their year: what is wrong between players of one time
correlated median over the years of the correlation of means with the truth
slope      of the truth in the mean, within a year: above 1 where skills are drawn together too far
all        the mean error of a history, root mean square over histories: one number for each of them
inside     share of the truth within 2 sds of the mean, with its standard error over histories
but all    the same where the mean error of the history is taken off
"""

import math
from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
from measuring import markdown, options_of

from ttt_cli import fit
from ttt_cli.evaluate.simulate import Plan, Simulated, simulate
from ttt_cli.evaluate.tune import tune
from ttt_cli.support.arrays import Array

SHARED = ("beta", "tau", "prior_sd", "prior_mean")
PLAN = Plan(
    players=2000, years=100, games=100_000, expansion=0.0, clusters=1,
    beta=550.0, tau=40.0, growth=310.0, growth_years=2.7, decline=11.0, early=2.8,
)  # fmt: skip
KEYS = ("beta", "tau", "growth", "decline", "prior_mean_drift")  # that are tuned
LAST = "all", "inside", "but all"
TUNED = "careers, m(t), tuned"
CAREER = ("growth", "growth_years", "decline", "decline_after", "early", "early_years")


def main(arguments: Sequence[str] | None = None) -> None:
    options = options_of(
        __doc__, arguments,
        histories=10, players=PLAN.players, years=PLAN.years, games=PLAN.games, wave=[0.0, 300.0],
        wave_years=PLAN.newcomers_wave_years, opponents=["any", "400", "250", "250 by results"],
        drift={"type": float, "nargs": "*", "default": [20.0]},
    )  # fmt: skip
    sizes = {key: getattr(options, key) for key in ("players", "years", "games")}
    plan = PLAN.changed(**sizes, newcomers_wave_years=options.wave_years)
    head = "opponents", "wave", "model", "posterior", "year", "within", "correlated", "slope", *LAST
    rows = []
    for opponents, wave in product(options.opponents, options.wave):
        histories = [
            simulate(plan.changed(**chosen(opponents), newcomers_wave=wave, seed=seed))
            for seed in range(options.histories)
        ]
        for model, params in models(plan, options.drift).items():
            given = [tuned(one, params) if model == TUNED else params for one in histories]
            for posterior in ("factorised", "joint"):
                found = np.array(list(map(errors, histories, given, [posterior] * len(given))))
                rows.append([opponents, f"{wave:g}", model, posterior, *cells(found)])
                print(*rows[-1], flush=True)
            if model == TUNED:
                means = {key: np.mean([one[key] for one in given]) for key in KEYS}
                print(*(f"{key} {mean:.1f}" for key, mean in means.items()), flush=True)
    print(markdown(head, rows))


def chosen(opponents: str) -> dict[str, Any]:
    """Keys of a plan: any, within so many points, or within so many by results."""
    within, _, by = opponents.partition(" by ")
    return {} if within == "any" else {"opponents_sd": float(within), "opponents_by": by or "skill"}


def models(plan: Plan, drifts: Sequence[float]) -> dict[str, dict[str, Any]]:
    """Parameters of the fits by what they know."""
    shared = {key: getattr(plan, key) for key in SHARED} | {"draw_margin": plan.margin}
    career = shared | {key: getattr(plan, key) for key in CAREER}
    moving = {
        f"careers, m(t) of drift {drift:g}": career | {"prior_mean_drift": drift}
        for drift in drifts
    }
    begun = career | {"prior_mean_drift": drifts[0]} if drifts else {}
    return {"walk": shared, "careers": career, **moving} | ({TUNED: begun} if begun else {})


def cells(found: Array) -> list[str]:
    """What `errors` says of all histories, (histories, numbers), as text."""
    year, within, correlated, slope, _, inside, but_all = found.mean(axis=0)
    uncertain = found[:, 5].std(ddof=1) / math.sqrt(len(found)) if len(found) > 1 else math.nan
    every = math.sqrt(np.mean(found[:, 4] ** 2))
    errors = f"{year:.0f}", f"{within:.0f}", f"{correlated:.3f}", f"{slope:.2f}", f"{every:.0f}"
    return [*errors, f"{inside:.3f} +- {uncertain:.3f}", f"{but_all:.3f}"]


def tuned(simulated: Simulated, params: dict[str, Any]) -> dict[str, Any]:
    """Parameters with those that the evidence prefers."""
    found = tune(fit(simulated.games(), posterior="factorised", **params), ",".join(KEYS))
    return params | {one.key: one.value for one in found.parameters}


def errors(simulated: Simulated, params: dict[str, Any], posterior: str) -> tuple[float, ...]:
    """The numbers of one fit."""
    run = fit(simulated.games(), posterior=posterior, **params)
    found = run.arrays("SELECT player, period_number AS year, mean, sd FROM nodes")
    number = np.searchsorted(simulated.players, found["player"].astype(str))
    first = np.searchsorted(simulated.player, number)
    truth = simulated.skill[first + found["year"] - simulated.year[first]]
    error, year = found["mean"] - truth, found["year"] - found["year"].min()
    games = np.bincount(year)
    played = games > 2
    level = np.bincount(year, error) / np.maximum(games, 1)
    correlated = [
        np.corrcoef(found["mean"][year == t], truth[year == t])[0, 1]
        for t in np.flatnonzero(played)
    ]
    mean, true = (
        of - (np.bincount(year, of) / np.maximum(games, 1))[year] for of in (found["mean"], truth)
    )
    return (
        float(level[played].std()),
        float((error - level[year]).std()),
        float(np.median(correlated)),
        float(mean @ true / (mean @ mean)),
        float(error.mean()),
        *(float(np.mean(np.abs(error - away) < 2 * found["sd"])) for away in (0.0, error.mean())),
    )


if __name__ == "__main__":
    main()
