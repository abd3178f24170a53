"""Two players against each other: in one game, in a match, and in the games they played."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from ttt_cli.config.covariates import points_by_term
from ttt_cli.periods import as_text
from ttt_cli.runs.run import Run
from ttt_cli.support.errors import LookupFailed
from ttt_cli.views.columns import Described
from ttt_cli.views.conditions import Conditions, find_conditions
from ttt_cli.views.games_of_player import games_of
from ttt_cli.views.players import record_rows, short_record, tally
from ttt_cli.views.probability import (
    Match,
    Strength,
    colour_blind,
    match,
    outcomes,
    params_in,
    stronger,
)
from ttt_cli.views.rows import Rows
from ttt_cli.views.run import CAUTION, load_numpy_meanwhile, run_line
from ttt_cli.views.sides import NEUTRAL, game_words

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
             * CASE white_id WHEN $1 THEN 1 ELSE -1 END AS won
      FROM games WHERE (white_id = $1 AND black_id = $2) OR (white_id = $2 AND black_id = $1))
"""
# Its result is a dict
_SKILL: Final = "SELECT skill FROM skills_within({0}, {0}, NULL) AS skill WHERE player = ?"
_PLAYED_IN_TEAMS: Final = """
SELECT sum(weight), sum(weight) FILTER (won > 0), sum(weight) FILTER (won = 0), sum(weight) FILTER (won < 0)
FROM (SELECT weight, CASE result WHEN '1/2-1/2' THEN 0 WHEN '1-0' THEN 1 ELSE -1 END
             * CASE WHEN of_first.is_black THEN -1 ELSE 1 END AS won
      FROM games JOIN game_players AS of_first USING (game) JOIN game_players AS of_second USING (game)
      JOIN names AS first ON first.id = of_first.player_id JOIN names AS second ON second.id = of_second.player_id
      WHERE first.player = $1 AND second.player = $2 AND of_first.is_black <> of_second.is_black)
"""
# Relative error of the solution by conjugate gradients; that of the variance of a difference is its square
EXACT: Final = 1e-4


def _columns_of(side: str, who: str) -> tuple[Described, ...]:
    return (
        Described(f"player_{side}", "", f"name of {who}"),
        Described(f"period_{side}", "", f"the period of {who}"),
        Described(f"mean_{side}", "points", f"skill of {who}"),
        Described(f"sd_{side}", "points", "its uncertainty, one sd"),
        Described(f"games_{side}", "games", f"games of {who} in the period"),
    )


def _columns_as(colour: str) -> tuple[Described, ...]:
    return tuple(
        Described(f"{what}_{colour}", unit, f"{words}, A {where}", optional=True)
        for what, unit, words in (
            ("win", "probability", "of A's win"),
            ("draw", "probability", "of a draw"),
            ("loss", "probability", "of A's loss"),
            ("expected", "points of games", "A's expected score"),
        )
        for where in ["on neutral ground" if colour == "neutral" else f"as {colour}"]
    )


VERSUS_COLUMNS: Final = (
    *_columns_of("a", "A"),
    *_columns_of("b", "B"),
    Described("lead", "points", "`mean_a` minus `mean_b`"),
    Described("stronger", "probability", "that A is stronger"),
    Described("win", "probability", "of A's win, averaged over both colours"),
    Described("draw", "probability", "of a draw"),
    Described("loss", "probability", "of A's loss"),
    Described("expected", "points of games", "A's expected score"),
    *_columns_as("white"),
    *_columns_as("black"),
    *_columns_as("neutral"),
    Described("sd_lead", "points", "uncertainty of the lead, one sd"),
    Described("skills", "", "`joint`: taken together; `independent`", nullable=True),
    Described("with", "", "the covariates of `--with`", optional=True),
    Described("match_games", "games", "games of the match of `--games`", optional=True),
    Described("match_win", "probability", "that A wins the match", optional=True),
    Described("match_draw", "probability", "that the match is tied", optional=True),
    Described("match_loss", "probability", "that A loses the match", optional=True),
    Described("match_points", "points of games", "points that A expects", optional=True),
    *(
        Described(f"match_{end}_{level}", "points of games", f"{words} of the {level} % interval of A's points",
                  optional=True)
        for level in _LEVELS
        for end, words in (("low", "lower end"), ("high", "upper end"))
    ),
    Described("played", "games", "games that they played"),
    Described("wins", "games", "A won"),
    Described("draws", "games", "drawn"),
    Described("losses", "games", "A lost"),
)  # fmt: skip


class VersusView(NamedTuple):
    """The names of both, the report, and remarks: on names, and all with those on periods and comparability."""

    players: tuple[str, str]
    report: Rows
    notes: tuple[str, ...]
    notes_on_names: tuple[str, ...] = ()


def versus_view(
    run: Run,
    a: str,
    b: str,
    *,
    at: str | int | None = None,
    at_b: str | int | None = None,
    games: int | None = None,
    conditions: Sequence[str] = (),
) -> VersusView:
    """Probabilities of a game, and of a match of `games`, between A and B, and sums of the games they played.

    `at`, `at_b`: periods of A and B, or `peak`; `at` alone applies to both. By default each is taken at the peak.
    Probabilities are A's, joint where the run has a joint posterior.
    `conditions`: values of covariates (`find_conditions`), else 0. Raises LookupFailed.
    """
    load_numpy_meanwhile(run)
    with run:
        lookups = [run.find_player(name) for name in (a, b)]
        first, second = (lookup.player for lookup in lookups)
        if first == second:
            raise LookupFailed(f"{a!r} and {b!r} both match {first}", hint="give more of the names")
        periods = _periods(run, first, second, at, at_b)
        skill_a = _skill(run, first, periods.first)
        skill_b = _skill(run, second, periods.second)
        if run.has_sums:
            (played,) = run.select(_PLAYED_IN_TEAMS, [first, second])[1]
        else:
            (played,) = run.select(_PLAYED, run.player_ids(first, second))[1]
        compared = _compare_skills(
            run, skill_a, skill_b, [(first, periods.first), (second, periods.second)]
        )
        params = params_in(run, max(skill_a["period"], skill_b["period"]))
        game = _under_conditions(compared, params, find_conditions(run, conditions))
    model = run.meta.model
    facts = dict[str, Any]()
    for side, skill in (("a", skill_a), ("b", skill_b)):
        facts |= {
            f"{key}_{side}": skill[key] for key in ("player", "period", "mean", "sd", "games")
        }
    facts["lead"] = skill_a["mean"] - skill_b["mean"]
    either = colour_blind(model, game.params, game.a, game.b)
    probabilities = (stronger(compared.a, compared.b), *either, either.expected)
    facts |= dict(zip(_PROBABILITIES, probabilities, strict=True))
    facts |= _by_colour(run, game)
    facts |= {"sd_lead": compared.sd, "skills": compared.method}
    if conditions:
        facts["with"] = ", ".join(conditions)
    if games is not None:
        facts |= _match_facts(match(model, game.params, game.a, game.b, games))
    record = [count or 0 for count in played]
    facts |= dict(zip(("played", "wins", "draws", "losses"), record, strict=True))
    decimals = {key: 1 if key.startswith(("mean", "sd", "lead")) else 3 for key in facts}
    method = [TAKEN[compared.method]] if compared.method else []
    title = (f"{first} against {second}", *method, run_line(run))
    report = Rows(tuple(facts), [tuple(facts.values())], title, decimals, single=True)
    notes_on_names = [lookup.note for lookup in lookups if lookup.note]
    notes = [
        *notes_on_names,
        f"{first} in {skill_a['period']}, {second} in {skill_b['period']}: {periods.reason}",
    ]
    if skill_a["period"] != skill_b["period"]:
        notes.append(CAUTION.format(f"{skill_a['period']} and {skill_b['period']}"))
    if not conditions and points_by_term(run.meta.params):
        notes.append("covariates count as 0 or as their reference; --with NAME=VALUE sets one")
    return VersusView((first, second), report, tuple(notes), tuple(notes_on_names))


def _skill(run: Run, player: str, number: int) -> dict[str, Any]:
    """The row of skills of a player in a period, by its number."""
    ((skill,),) = run.select(_SKILL.format(number), [player])[1]
    row: dict[str, Any] = skill
    return row


class _ComparedSkills(NamedTuple):
    """Two skills that are compared, and the sd of their difference; None without sds.

    - `a`, `b`: in points. With a joint posterior both sds are set, equal ones, so that hypot(sd of a, sd of b) is the
      joint sd of the difference: predictions take skills as independent
    - `sd`: of the difference, on the shown scale
    - `method`: how it was computed, a key of TAKEN
    """

    a: Strength
    b: Strength
    sd: float | None
    method: str | None


def _compare_skills(
    run: Run, skill_a: Strength, skill_b: Strength, skills: list[tuple[str, int]]
) -> _ComparedSkills:
    """Compare two skills, by the joint posterior if the run has one.

    `skill_a`, `skill_b`: on the shown scale. `skills`: player and period number of each.
    """
    a = run.scale.points(skill_a)
    b = run.scale.points(skill_b)
    if skill_a["sd"] is None or skill_b["sd"] is None:
        return _ComparedSkills(a, b, None, None)
    if not run.has_joint:
        return _ComparedSkills(a, b, math.hypot(skill_a["sd"], skill_b["sd"]), "independent")
    import numpy as np

    (shown_sd,) = run.joint.shown_sds([skills], [np.array([1.0, -1.0])], EXACT)
    equal_sd = math.sqrt(0.5) * shown_sd / run.scale.slope
    return _ComparedSkills({**a, "sd": equal_sd}, {**b, "sd": equal_sd}, shown_sd, "joint")


class _PredictedGame(NamedTuple):
    """A game between A and B that is to be predicted.

    - `params`: of the model, where one side has White's advantage
    - `neutral_params`: where none has it
    - `a`, `b`: strengths in points, with half of what is added to A's lead each
    """

    params: Mapping[str, Any]
    neutral_params: Mapping[str, Any]
    a: Strength
    b: Strength


def _under_conditions(
    compared: _ComparedSkills, params: Mapping[str, Any], added: Conditions
) -> _PredictedGame:
    """The game of two compared skills with what covariates add to them and to White's advantage."""
    with_advantage = params
    if added.advantage:
        advantage = params["white_advantage"] + added.advantage
        with_advantage = {**params, "white_advantage": advantage}
    return _PredictedGame(
        params=with_advantage,
        neutral_params={**params, "white_advantage": 0.0},
        a={**compared.a, "mean": compared.a["mean"] + 0.5 * added.of_a},
        b={**compared.b, "mean": compared.b["mean"] - 0.5 * added.of_a},
    )


def _by_colour(run: Run, game: _PredictedGame) -> dict[str, float]:
    """A's probabilities with each colour, and on neutral ground if games were played there.

    Nothing where the colour does not matter.
    """
    model = run.meta.model
    as_white, b_as_white = outcomes(model, game.params, [game.a, game.b], [game.b, game.a])
    as_black = b_as_white.turned()
    if abs(as_white.expected - as_black.expected) <= 1e-9:
        return {}
    words = game_words(run)
    by_colour = {words.first: as_white, words.second: as_black}
    if run.has_rows("neutral_games"):
        (by_colour[NEUTRAL],) = outcomes(model, game.neutral_params, [game.a], [game.b])
    facts = {}
    for colour, outcome in by_colour.items():
        facts[f"win_{colour}"] = outcome.win
        facts[f"draw_{colour}"] = outcome.draw
        facts[f"loss_{colour}"] = outcome.loss
        facts[f"expected_{colour}"] = outcome.expected
    return facts


def _match_facts(match: Match) -> dict[str, float]:
    """The result of a match that is to be expected, and intervals of A's points."""
    facts: dict[str, float] = {
        "match_games": match.games,
        "match_win": match.win,
        "match_draw": match.tie,
        "match_loss": match.loss,
        "match_points": match.expected,
    }
    for level in _LEVELS:
        facts[f"match_low_{level}"], facts[f"match_high_{level}"] = match.interval(level / 100)
    return facts


def side_by_side(run: Run, report: Rows) -> Rows:
    """The report of `versus_view` for a screen: a sentence, and the two players in columns beside each other."""
    (facts,) = report.records()
    player_a = facts["player_a"]
    player_b = facts["player_b"]
    table = [
        _ComparedLine("period", facts["period_a"], facts["period_b"]),
        _ComparedLine("skill", _skill_words(facts, "a"), _skill_words(facts, "b")),
        _ComparedLine("games in it", f"{facts['games_a']:.10g}", f"{facts['games_b']:.10g}"),
        _ComparedLine("is ahead by", _lead_words(facts, 1.0), _lead_words(facts, -1.0)),
        _ComparedLine("is stronger", *_both(facts["stronger"])),
        _ComparedLine("wins a game", *_decimals(facts["win"], facts["loss"])),
        _ComparedLine("draws it", *_decimals(facts["draw"], facts["draw"])),
        _ComparedLine("expected score", *_both(facts["expected"])),
    ]
    words = game_words(run)
    for side, other_side in ((words.first, words.second), (words.second, words.first)):
        if f"expected_{side}" in facts:
            of_b = 1.0 - facts[f"expected_{other_side}"]
            label = f"  {words.as_side(side)}"
            table.append(_ComparedLine(label, *_decimals(facts[f"expected_{side}"], of_b)))
    if f"expected_{NEUTRAL}" in facts:
        table.append(_ComparedLine("  on neutral ground", *_both(facts[f"expected_{NEUTRAL}"])))
    if "match_games" in facts:
        count = facts["match_games"]
        table.append(
            _ComparedLine(
                f"points of {count}",
                *_decimals(facts["match_points"], count - facts["match_points"]),
            )
        )
        for level in _LEVELS:
            low = facts[f"match_low_{level}"]
            high = facts[f"match_high_{level}"]
            interval = _ComparedLine(
                f"  {level} %", f"{low:g} to {high:g}", f"{count - high:g} to {count - low:g}"
            )
            table.append(interval)
        table.append(
            _ComparedLine("wins the match", *_decimals(facts["match_win"], facts["match_loss"]))
        )
        table.append(_ComparedLine("ties it", *_decimals(facts["match_draw"], facts["match_draw"])))
    table.append(
        _ComparedLine("has beaten the other", f"{facts['wins']:.10g}", f"{facts['losses']:.10g}")
    )
    table.append(_ComparedLine("has drawn", f"{facts['draws']:.10g}", f"{facts['draws']:.10g}"))
    sentence = (
        f"{player_a} {facts['period_a']} against {player_b} {facts['period_b']}: {_verdict(facts)}"
    )
    explained = []
    if f"expected_{words.first}" in facts:
        explained = [f"a game and its expected score: averaged over {words.averaged}"]
    explained.append("beaten and drawn: in the games of all years")
    title = (sentence, *explained, *report.title[1:])
    return Rows(("", player_a, player_b), [tuple(row) for row in table], title)


class _ComparedLine(NamedTuple):
    """A line of two players beside each other, as text."""

    what: str
    a: str
    b: str


def _verdict(facts: Mapping[str, Any]) -> str:
    """What is to be expected of a game, and who is ahead."""
    expected = f"expected {facts['expected']:.2f}"
    if facts["stronger"] is None:
        return expected
    return f"{expected}, ahead with probability {facts['stronger']:.2f}"


def _skill_words(facts: Mapping[str, Any], side: str) -> str:
    sd = facts[f"sd_{side}"]
    return (
        f"{facts[f'mean_{side}']:.0f}" if sd is None else f"{facts[f'mean_{side}']:.0f} +- {sd:.0f}"
    )


def _lead_words(facts: Mapping[str, Any], sign: float) -> str:
    sd = facts["sd_lead"]
    lead = f"{sign * facts['lead']:.0f}"
    return lead if sd is None else f"{lead} +- {sd:.0f}"


def _decimals(a: float, b: float) -> tuple[str, str]:
    return f"{a:.3f}", f"{b:.3f}"


def _both(of_a: float | None) -> tuple[str, str]:
    """A probability of A and the rest of 1, which is B's; empty where there is none."""
    return ("", "") if of_a is None else _decimals(of_a, 1.0 - of_a)


def versus_record(run: Run, players: tuple[str, str], *, short: bool = False) -> Rows:
    """The record of the first player against the second by period and side; names as in the run.

    `short`: for terminals, as in `player_games`.
    """
    words = game_words(run)
    with run:
        played = games_of(run, *players)
    title = f"{players[0]} against {players[1]}: {tally(played).words}"
    record = record_rows(players[0], played, (title,), words)
    return short_record(record, words) if short else record


class _ComparedPeriods(NamedTuple):
    """Numbers of both periods, and how they were chosen."""

    first: int
    second: int
    reason: str


def _periods(
    run: Run, a: str, b: str, at: str | int | None, at_b: str | int | None
) -> _ComparedPeriods:
    """The periods in which A and B are compared."""
    if at is None and at_b is None:
        return _ComparedPeriods(
            period_number(run, a, PEAK), period_number(run, b, PEAK), "each at the peak"
        )
    reason = "as requested" if at else "the first at the peak"
    return _ComparedPeriods(
        period_number(run, a, at or PEAK), period_number(run, b, at_b or at or PEAK), reason
    )


def period_number(run: Run, player: str, at: str | int) -> int:
    """The number of a period of a player, by label or `peak`."""
    if as_text(at, "a period").lower() != PEAK:
        _, number = run.find_period(at, player)
        return number
    ((peak,),) = run.select("SELECT peak_period FROM players WHERE player = ?", [player])[1]
    _, number = run.find_period(peak, player)
    return number
