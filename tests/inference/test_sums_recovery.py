"""Teams, orders of finish and categories that are played as the model says: skills are recovered, sds are right."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.cases import each
from ttt_cli.config.schema import SolverConfig
from ttt_cli.evaluate.simulate import Plan, Simulated, simulate
from ttt_cli.fitted import Fit
from ttt_cli.systems import ttt
from ttt_cli.timeline import Timeline, build_timeline

PLAN = Plan(
    players=250, years=4, games=1_500, beta=300.0, draw_margin=150.0, career_years=10.0, clusters=4
)
RAPID = {"rapid": {"sd": 150.0, "tau": 40.0}}
BLITZ = {"blitz": {"sd": 220.0, "tau": 0.0}}
PLANS = {
    "teams": PLAN.changed(team_size=3),
    # Where several tie one after the other, results of neighbours are not all that is known: nobody ties here
    "races": PLAN.changed(sides=6, draw_margin=0.0),
    "categories": PLAN.changed(games=4_000, offsets=RAPID),
    "correlated": PLAN.changed(games=4_000, offsets=RAPID | BLITZ, offset_correlation=0.6),
}


def z_of_skills(simulated: Simulated, timeline: Timeline, fit: Fit) -> np.ndarray:
    """(true - mean) / sd of skills at all nodes, and in categories."""
    true = simulated.skill[:, np.newaxis]
    if simulated.category_skill is not None:
        true = np.column_stack([true, simulated.category_skill])
    keys = zip(simulated.player.tolist(), simulated.year.tolist(), strict=True)
    true_of = dict(zip(keys, true, strict=True))
    nodes = zip(timeline.node_player.tolist(), timeline.node_period.tolist(), strict=True)
    of_node = np.array([true_of[node] for node in nodes])
    z = [(of_node[:, 0] - fit.mean) / fit.sd]
    z += [
        (of_node[skill.nodes, 1 + list(fit.categories).index(name)] - skill.walk.mean)
        / skill.walk.sd
        for name, skill in fit.categories.items()
    ]
    return np.concatenate(z)


@pytest.mark.large
@each("kind", [*PLANS])
def test_skills_are_recovered_with_the_right_sds(kind: str) -> None:
    """z has an sd of 1 +- .05 over the skills of 16 histories, whose common levels are known well."""
    z = []
    for seed in range(16):
        simulated = simulate(PLANS[kind].changed(seed=seed))
        timeline = build_timeline(simulated.games(), "year", "known")
        params = ttt.Params.model_validate(
            simulated.plan.model_dump(include={*ttt.Params.model_fields})
        )
        fit = ttt.fit(timeline, params, SolverConfig(posterior="joint"))
        assert fit.posterior == "joint"
        z.append(z_of_skills(simulated, timeline, fit))
    assert 0.95 < np.concatenate(z).std() < 1.05


@pytest.mark.large
def test_the_correlation_of_offsets_is_recovered() -> None:
    """The slope of the evidence in it is 0 on average at the true one, above 0 below it, and below 0 above it."""
    true = 0.6
    slopes = []
    for seed in range(12):
        plan = PLANS["correlated"].changed(seed=seed, games=8_000, offset_correlation=true)
        simulated = simulate(plan)
        timeline = build_timeline(simulated.games(), "year", "known")
        of_plan = ttt.Params.model_validate(plan.model_dump(include={*ttt.Params.model_fields}))
        of_seed = []
        for correlation in (0.2, true, 0.9):
            params = of_plan.model_copy(update={"offset_correlation": correlation})
            fit = ttt.fit(timeline, params, SolverConfig(posterior="joint"))
            of_seed.append(ttt.gradient(timeline, params, fit)["offset_correlation"])
        slopes.append(of_seed)
    mean = np.mean(slopes, axis=0)
    error = np.std(slopes, axis=0, ddof=1) / np.sqrt(len(slopes))
    assert mean[0] > 3.0 * error[0]
    assert abs(mean[1]) < 2.5 * error[1]
    assert mean[2] < -3.0 * error[2]
