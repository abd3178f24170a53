"""Two players against each other: in one game, in a match, and in the games they played."""

import math
from typing import Any, Final, NamedTuple

from ttt_cli.runs.run import Run
from ttt_cli.support.errors import LookupFailed
from ttt_cli.views.players import games_of, record_rows, tally
from ttt_cli.views.probability import colour_blind, match, outcomes, params_in, stronger
from ttt_cli.views.rows import Rows
from ttt_cli.views.run import load_numpy_meanwhile, run_line, side_names

PEAK: Final = "peak"
_PROBABILITIES: Final = ("stronger", "win", "draw", "loss", "expected")
_LEVELS: Final = (80, 95)
TAKEN: Final = {
    "joint": "their skills taken together, from the joint posterior",
    "independent": "their skills taken as independent",
}
_PLAYED: Final = """
SELECT sum(weight), sum(weight) FILTER (won > 0), sum(weight) FILTER (won = 0), sum(weight) FILTER (won < 0)
FROM (SELECT weight, CASE result WHEN '1/2-1/2' THEN 0 WHEN '1-0' THEN 1 ELSE -1 END
             * CASE white WHEN $1 THEN 1 ELSE -1 END AS won
      FROM games WHERE (white = $1 AND black = $2) OR (white = $2 AND black = $1))
"""
_SKILL: Final = "SELECT skill FROM skills_within({0}, {0}, NULL) AS skill WHERE player = ?"  # as a dict
EXACT: Final = 1e-4  # the variance of a difference to the square of it
CAUTION: Final = (
    "skills of different times are tied only through chains of opponents: compare {} and {} with caution"
)


class VersusView(NamedTuple):
    """The names of both, the report, and remarks on names, periods and comparability."""

    players: tuple[str, str]
    report: Rows
    notes: tuple[str, ...]


def versus_view(
    run: Run, a: str, b: str, *, at: str | None = None, at_b: str | None = None, games: int | None = None
) -> VersusView:
    """Probabilities of a game, and of a match of `games`, between A and B, and sums of the games they played.

    `at`, `at_b`: periods of A and B, or `peak`; `at` alone applies to both. By default the last period of both, else
    the peak of each. Probabilities are A's, joint where the run has a joint posterior. Raises LookupFailed.
    """
    load_numpy_meanwhile(run)
    with run:
        found = [run.find_player(name) for name in (a, b)]
        first, second = (one.player for one in found)
        if first == second:
            raise LookupFailed(f"{a!r} and {b!r} both match {first}", hint="give more of the names")
        chosen, why = _periods(run, first, second, at, at_b)
        own, their = (
            run.select(_SKILL.format(n), [player])[1][0][0]
            for player, n in zip((first, second), chosen, strict=True)
        )
        played = run.select(_PLAYED, [first, second])[1][0]
        sides = [run.scale.points(one) for one in (own, their)]
        sd = None
        how = None
        if own["sd"] is not None and their["sd"] is not None:
            sd = math.hypot(own["sd"], their["sd"])
            how = "independent"
            if run.has_joint:
                import numpy as np

                pair = list(zip((first, second), chosen, strict=True))
                (sd,) = run.joint.deviations([pair], [np.array([1.0, -1.0])], EXACT)
                how = "joint"  # independent skills with these sds have the joint sd of the difference
                sides = [one | {"sd": math.sqrt(0.5) * sd / run.scale.slope} for one in sides]
        params = params_in(run, max(own["period"], their["period"]))
    model = run.meta.model
    facts = dict[str, Any]()
    for side, strength in (("a", own), ("b", their)):
        facts |= {f"{key}_{side}": strength[key] for key in ("player", "period", "mean", "sd", "games")}
    either = colour_blind(model, params, *sides)
    facts["lead"] = own["mean"] - their["mean"]
    facts |= dict(zip(_PROBABILITIES, (stronger(*sides), *either, either.expected), strict=True))
    as_white, turned = outcomes(model, params, sides, sides[::-1])
    if abs(as_white.expected - turned.turned().expected) > 1e-9:
        ways = {"white": as_white, "black": turned.turned()}
        if run.has_rows("neutral_games"):
            (ways["neutral"],) = outcomes(model, {**params, "white_advantage": 0.0}, sides[:1], sides[1:])
        for colour, outcome in ways.items():
            values = (*outcome, outcome.expected)
            facts |= {f"{key}_{colour}": value for key, value in zip(_PROBABILITIES[1:], values, strict=True)}
    facts |= {"sd_lead": sd, "skills": how}
    if games is not None:
        promised = match(model, params, sides[0], sides[1], games)
        results = promised.games, promised.win, promised.tie, promised.loss, promised.expected
        facts |= zip(
            (f"match_{key}" for key in ("games", "win", "draw", "loss", "points")), results, strict=True
        )
        for level in _LEVELS:
            facts[f"match_low_{level}"], facts[f"match_high_{level}"] = promised.interval(level / 100)
    facts |= {key: n or 0 for key, n in zip(("played", "wins", "draws", "losses"), played, strict=True)}
    decimals = {key: 1 if key.startswith(("mean", "sd", "lead")) else 3 for key in facts}
    title = (f"{first} against {second}", *([TAKEN[how]] if how else []), run_line(run))
    chosen_words = f"{first} in {own['period']}, {second} in {their['period']}: {why}"
    report = Rows(tuple(facts), [tuple(facts.values())], title, decimals, single=True)
    caution = [CAUTION.format(own["period"], their["period"])] if own["period"] != their["period"] else []
    notes = (*(one.note for one in found if one.note), chosen_words, *caution)
    return VersusView((first, second), report, notes)


def versus_record(run: Run, players: tuple[str, str]) -> Rows:
    """The record of the first player against the second by period and colour; names as in the run."""
    with run:
        played = games_of(run, *players)
    title = f"{players[0]} against {players[1]}: {tally(played).words}"
    return record_rows(players[0], played, (title,), side_names(run))


def _periods(run: Run, a: str, b: str, at: str | None, at_b: str | None) -> tuple[tuple[int, int], str]:
    """Numbers of both periods, and how they were chosen."""
    if at is None and at_b is None:
        common = "SELECT max(period_number) FROM skills WHERE player = ? AND period_number IN"
        (last,), *_ = run.select(f"{common} (SELECT period_number FROM skills WHERE player = ?)", [a, b])[1]
        if last is not None:
            return (last, last), "the last period of both"
        return (_period(run, a, PEAK), _period(run, b, PEAK)), "each at the peak, for they share no period"
    chosen = _period(run, a, at or PEAK), _period(run, b, at_b or at or PEAK)
    return chosen, "as requested" if at else "the first at the peak"


def _period(run: Run, player: str, at: str) -> int:
    if at.lower() != PEAK:
        return run.find_period(at, player)[1]
    (peak,), *_ = run.select("SELECT peak_period FROM players WHERE player = ?", [player])[1]
    return run.find_period(peak, player)[1]
