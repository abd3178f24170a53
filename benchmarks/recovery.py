"""Does tuning find the parameters that made artificial histories, and are its standard errors right?

Draws histories from the model and tunes beta, tau and White's advantage on each. Over the histories the mean should
be the true value, and the spread should be the standard error.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from measuring import markdown, options_of

from ttt_cli import fit
from ttt_cli.evaluate.simulate import Plan, simulate
from ttt_cli.evaluate.tune import tune

KEYS = ("beta", "tau", "white_advantage")
HEADER = ("games", "clusters", "parameter", "true", "mean", "+-", "spread", "std error", "mean z")


def main(arguments: Sequence[str] | None = None) -> None:
    options = options_of(
        __doc__, arguments,
        histories=20, players=1000, years=40, games=[10_000, 50_000], clusters=[1, 20],
        beta=400.0, tau=50.0, white_advantage=60.0, posterior="factorised",
    )  # fmt: skip
    plan = Plan(
        players=options.players, years=options.years, expansion=0.0,
        beta=options.beta, tau=options.tau, white_advantage=options.white_advantage,
    )  # fmt: skip
    print(f"{options.histories} histories of {plan.players} players and {plan.years} years")
    for games in options.games:
        for clusters in options.clusters:
            examine(
                plan.changed(games=games, clusters=clusters), options.histories, options.posterior
            )


def examine(plan: Plan, histories: int, posterior: str) -> None:
    """Print a row per parameter for histories of one plan."""
    values, errors, density = [], [], []
    for seed in range(histories):
        drawn = simulate(plan.changed(seed=seed)).games()
        begun: dict[str, Any] = {
            "beta": 1.2 * plan.beta,
            "tau": 1.2 * plan.tau,
            "draw_margin": plan.margin,
        }
        run = fit(drawn, posterior=posterior, **begun)
        found = tune(run, ",".join(KEYS))
        if not found.converged:
            raise SystemExit(f"seed {seed}: {found.remarks}")
        values.append([one.value for one in found.parameters])
        errors.append([one.standard_error or np.nan for one in found.parameters])
        density.append(2 * plan.games / run.meta.nodes)
    value, error = np.array(values), np.array(errors)
    truth = np.array([getattr(plan, key) for key in KEYS])
    spread = value.std(axis=0, ddof=1)
    z = (value - truth) / error
    columns = zip(
        truth,
        value.mean(axis=0),
        spread / np.sqrt(histories),
        spread,
        error.mean(axis=0),
        z.mean(axis=0),
        strict=True,
    )
    size = f"{np.mean(density):.1f}", f"{plan.clusters}"
    rows = [
        (
            *size,
            key,
            f"{true:g}",
            f"{mean:.1f}",
            f"{doubt:.1f}",
            f"{width:.1f}",
            f"{sd:.1f}",
            f"{off:+.2f}",
        )
        for key, (true, mean, doubt, width, sd, off) in zip(KEYS, columns, strict=True)
    ]
    print(f"\n{markdown(HEADER, rows)}", flush=True)


if __name__ == "__main__":
    main()
