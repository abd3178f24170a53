"""Is the level of years found where newcomers get stronger and weaker in waves and opponents are chosen by strength?

Draws histories with careers and such newcomers, fits them with models that know more and more of it, with the true
parameters or those that the evidence prefers, and compares all skills in years with games with the truth.

year       sd over the years of the mean error of a year: what is wrong with the level
within     sd of the errors around the mean of their year: what is wrong between players of one time
correlated median over the years of the correlation of means with the truth
slope      of the truth in the mean, within a year: above 1 where skills are drawn together too far
inside     share of the truth within 2 sds of the mean
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
from measuring import markdown

from ttt_cli import fit
from ttt_cli.evaluate.evidence.tune import tune
from ttt_cli.evaluate.simulate.plan import Plan
from ttt_cli.evaluate.simulate.simulate import Simulated, simulate

SHARED = ("beta", "tau", "prior_sd", "prior_mean")
KEYS = ("beta", "tau", "growth", "decline", "prior_mean_drift")  # that are tuned
TUNED = "careers, m(t), tuned"
CAREER = ("growth", "growth_years", "decline", "decline_after", "early", "early_years")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--histories", type=int, default=5)
    parser.add_argument("--players", type=int, default=2000)
    parser.add_argument("--years", type=int, default=100)
    parser.add_argument("--games", type=int, default=100_000)
    parser.add_argument("--wave", type=float, nargs="+", default=[0.0, 300.0], help="points")
    parser.add_argument("--wave-years", type=float, default=50.0)
    parser.add_argument(
        "--opponents",
        nargs="+",
        default=["any", "400", "250", "250 by results"],
        help="within so many points",
    )
    parser.add_argument("--drift", type=float, nargs="*", default=[20.0, 40.0], help="of m(t), points a year")
    options = parser.parse_args(arguments)
    plan = Plan(
        players=options.players, years=options.years, games=options.games, expansion=0.0, clusters=1, beta=550.0,
        tau=40.0, growth=310.0, growth_years=2.7, decline=11.0, early=2.8, newcomers_wave_years=options.wave_years,
    )  # fmt: skip
    head = ("opponents", "wave", "model", "posterior", "year", "within", "correlated", "slope", "inside")
    rows = []
    for opponents, wave in product(options.opponents, options.wave):
        within, _, by = opponents.partition(" by ")
        chosen = {} if within == "any" else {"opponents_sd": float(within), "opponents_by": by or "skill"}
        histories = [
            simulate(replace(plan, **chosen, newcomers_wave=wave, seed=seed))
            for seed in range(options.histories)
        ]
        for model, params in models(plan, options.drift).items():
            given = [tuned(one, params) if model == TUNED else params for one in histories]
            for posterior in ("factorised", "joint"):
                found = np.mean(list(map(errors, histories, given, [posterior] * len(given))), axis=0)
                numbers = [f"{found[0]:.0f}", f"{found[1]:.0f}", *(f"{share:.3f}" for share in found[2:])]
                rows.append([opponents, f"{wave:g}", model, posterior, *numbers])
                print(*rows[-1], flush=True)
            if model == TUNED:
                means = {key: np.mean([one[key] for one in given]) for key in KEYS}
                print(*(f"{key} {mean:.1f}" for key, mean in means.items()), flush=True)
    print(markdown(head, rows))


def models(plan: Plan, drifts: Sequence[float]) -> dict[str, dict[str, Any]]:
    """Parameters of the fits by what they know."""
    shared = {key: getattr(plan, key) for key in SHARED} | {"draw_margin": plan.margin}
    career = shared | {key: getattr(plan, key) for key in CAREER}
    moving = {f"careers, m(t) of drift {drift:g}": career | {"prior_mean_drift": drift} for drift in drifts}
    begun = career | {"prior_mean_drift": drifts[0]} if drifts else {}
    return {"walk": shared, "careers": career, **moving} | ({TUNED: begun} if begun else {})


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
        np.corrcoef(found["mean"][year == t], truth[year == t])[0, 1] for t in np.flatnonzero(played)
    ]
    mean, true = (of - (np.bincount(year, of) / np.maximum(games, 1))[year] for of in (found["mean"], truth))
    return (
        float(level[played].std()),
        float((error - level[year]).std()),
        float(np.median(correlated)),
        float(mean @ true / (mean @ mean)),
        float(np.mean(np.abs(error) < 2 * found["sd"])),
    )


if __name__ == "__main__":
    main()
