"""How many points of a fit are one Elo point."""

from __future__ import annotations

from typing import Final

import numpy as np

from ttt_cli.fitted import Fit
from ttt_cli.models.registry import Model

CLASS: Final = 200.0  # Elo points, at which the better player is expected to score
EXPECTED: Final = 1.0 / (1.0 + 10.0**-0.5)  # 76 % (Elo 1978; the logistic form)
_FARTHEST: Final = 2.0**20


def elo_unit(model: Model, fit: Fit) -> float:
    """Points of the fit that are one Elo point: a 200th of the lead with an expected score of 76 %.

    The expectation is the model's for players whose skills are known exactly, colours by lot; other quantities of the
    model, such as draw margins, are at their medians. 1 for a model that foresees nothing from skills.
    """
    typical = {
        name: float(np.median(chain.mean)) if len(chain.mean) else 0.0 for name, chain in fit.chains.items()
    }

    def expected(lead: float) -> float:
        even = {name: value for name, value in typical.items() if name != "skill"}
        sides = []
        for mean in (typical["skill"] + lead, typical["skill"]):
            columns = {"mean": mean, "sd": 0.0, **even, **{f"{name}_sd": 0.0 for name in even}}
            sides.append({name: np.array([value]) for name, value in columns.items()})
        white = model.predict(fit.params, sides[0], sides[1])[0]
        black = model.predict(fit.params, sides[1], sides[0])[0][::-1]
        loss, draw, win = (white + black) / 2.0
        return float((win + draw / 2.0) / (win + draw + loss))

    far = 1.0
    while expected(far) < EXPECTED and far < _FARTHEST:
        far *= 2.0
    if expected(far) < EXPECTED:
        return 1.0
    from scipy.optimize import brentq

    return float(brentq(lambda lead: expected(lead) - EXPECTED, 0.0, far, xtol=1e-10)) / CLASS
