"""The games of a run, and what its joint posterior believes of their players, as influence takes them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from ttt_cli.fitted import NodeSkills, by_player
from ttt_cli.games.lineup import Members
from ttt_cli.games.table import Games
from ttt_cli.inference.game_terms import GameTerms, TermsOfGames
from ttt_cli.inference.links import UNKNOWN_CODE
from ttt_cli.inference.model import NO_DOUBT
from ttt_cli.inference.outcome import STRENGTH_REACH, STRENGTH_UNIT
from ttt_cli.inference.sides import member_weights
from ttt_cli.kernels.ep.structures import Pairings, Rule
from ttt_cli.runs.run import Run
from ttt_cli.runs.schema import RUN
from ttt_cli.support.arrays import Array, Places
from ttt_cli.support.errors import ConfigError
from ttt_cli.timeline import NEUTRAL, UNKNOWN, Timeline, build_timeline, calendar

_SPANS: Final = f"SELECT mean, sd FROM {RUN}.spans"
_POINTS: Final = "SELECT row, points FROM covariate_points"
_WITHOUT: Final = "fit the games to another run without"
_HINTS: Final = {  # by what the influence is not computed for; of models the other
    "offsets of categories": f"{_WITHOUT} model.offsets",
    "margins of victory": f"{_WITHOUT} data.margin",
    "orders of finish": None,
}
_OF_MODELS: Final = "fit the games with -c ttt or ttt-career, -s solver.posterior=joint"


class StoredPairs(NamedTuple):
    """Numbers of pairs of nodes, ascending, and the precision of their differences of skill over all their games."""

    pair: Places
    precision: Array


@dataclass(frozen=True)
class GamesInPosterior:
    """The games of a run, and what it believes of their players, (games,) each unless noted; model points.

    | name | unit | |
    |---|---|---|
    | timeline | | the games laid out in time |
    | white, black | | variables of the joint Gaussian: the skills of both players, of teams of the first members |
    | sums | | what the difference of a game is a sum of, None where all games are of two players |
    | difference | points | mean of White's skill minus Black's, of teams that of two players with the same chances |
    | variance | points^2 | its variance if all were independent |
    | code | | outcomes as in `Pairings` |
    | rule | points | how they were played |
    | deviation | points | sd of the skill of each variable, (variables,) |
    | pair | | number of the pair of nodes that play, another one for each game of teams |
    | stored | | pairs and games of teams that the run has |
    """

    timeline: Timeline
    white: Places
    black: Places
    difference: Array
    variance: Array
    code: NDArray[np.uint8]
    rule: Rule
    deviation: Array
    pair: Places
    stored: StoredPairs
    sums: TermsOfGames | None = None

    def __len__(self) -> int:
        return len(self.code)

    @property
    def weight(self) -> Array:
        """Number of equal games in each row."""
        return self.timeline.weight

    def chosen(self, games: Places, code: NDArray[np.uint8]) -> Pairings:
        """Some games with these outcomes, each once, for kernels that look at no players."""
        nobody = np.zeros(len(games), np.int32)
        start = np.array([0, len(games)], np.int64)
        return Pairings(start, nobody, nobody, code, np.ones(len(games)))

    def rule_of(self, games: Places) -> Rule:
        """How some of the games were played."""
        doubt = self.rule.doubt[games] if len(self.rule.doubt) else self.rule.doubt
        return self.rule._replace(
            margin=self.rule.margin[games], handicap=self.rule.handicap[games], doubt=doubt
        )

    def stored_precision(self, pairs: Places) -> Array:
        """Precision that the run stores of pairs of nodes, (pairs,)."""
        return self.stored.precision[np.searchsorted(self.stored.pair, pairs)]

    def between(self, x: Array, games: Places | slice) -> Array:
        """White's entry of x (variables,) minus Black's, or the sum of those of teams, of some games."""
        if self.sums is not None:
            return self.sums.totals(x)[games]
        return np.asarray(x[self.white[games]] - x[self.black[games]])

    def gathered(self, games: Places, forces: Array) -> Array:
        """Forces on differences as forces on all variables, (variables,)."""
        size = len(self.deviation)
        if self.sums is not None:
            of_game: Array = np.bincount(games, forces, len(self)).astype(np.float64)
            return self.sums.gathered(of_game, size)
        total: Array = np.bincount(self.white[games], forces, size).astype(np.float64)
        total -= np.bincount(self.black[games], forces, size)
        return total

    def spread(self, variance: Array) -> Array:
        """What the variance of a difference has of those of its variables, of all games."""
        if self.sums is not None:
            return self.sums.squared.totals(variance)
        return np.asarray(variance[self.white] + variance[self.black])

    def terms_of(self, games: Places) -> GameTerms:
        """The variables in the differences of some games."""
        if self.sums is not None:
            return self.sums.of_games(games, len(self))
        position = np.tile(np.arange(len(games)), 2)
        variable = np.concatenate([self.white[games], self.black[games]])
        return GameTerms(position, variable, square=np.ones(len(variable)))


def games_in_posterior(run: Run, games: Games) -> GamesInPosterior:
    """The `games` of a run, and what it believes of them.

    Raises ConfigError for runs whose sites are not known, RunError without a joint posterior.
    """
    params = run.meta.params
    refuse_without_influence(run)
    precision = run.joint.precision
    timeline = build_timeline(games, cast(Any, run.meta.period), _colours(run))
    nodes = by_player(timeline)
    row_of_node = np.empty(len(nodes), np.int64)
    row_of_node[nodes] = np.arange(len(nodes))
    spans = run.arrays(_SPANS)
    mean = spans["mean"][row_of_node]
    sd = spans["sd"][row_of_node]
    variable = precision.variable_of_row[row_of_node]
    deviation = np.zeros(len(precision.diagonal))
    deviation[variable] = sd
    white = timeline.game_white
    black = timeline.game_black
    advantage = float(params["white_advantage"])
    rule = Rule(
        noise=2.0 * params["beta"] ** 2,
        margin=_margins(run, timeline, 0.5 * (mean[white] + mean[black])),
        origin=params["draw_margin"],
        advantage=advantage,
        handicap=_handicaps(run, timeline, advantage),
        lapse=params.get("lapse", 0.0),
        lapse_draws=params.get("lapse_draws", -1.0),
        doubt=NO_DOUBT if timeline.doubt is None else timeline.doubt,
    )
    unknown = np.where(timeline.advantage_owner == UNKNOWN, UNKNOWN_CODE, 0)
    of_two = GamesInPosterior(
        timeline=timeline,
        white=variable[white],
        black=variable[black],
        difference=mean[white] - mean[black],
        variance=sd[white] ** 2 + sd[black] ** 2,
        code=(timeline.outcome + unknown).astype(np.uint8),
        rule=rule,
        deviation=deviation,
        pair=_pair_numbers(
            row_of_node[np.minimum(white, black)], row_of_node[np.maximum(white, black)], len(nodes)
        ),
        stored=_stored_pairs(run, len(nodes)),
    )
    if timeline.members is None:
        return of_two
    return _with_teams(run, of_two, timeline.members, variable, NodeSkills(mean, sd))


def _with_teams(
    run: Run, games: GamesInPosterior, members: Members, variable: Places, skills: NodeSkills
) -> GamesInPosterior:
    """The games with those of teams as games of two players with the same chances (`sides.sides_as_players`).

    Their differences are divided by sqrt(n / 2). `variable` of each node. The rows of sum_links are these games.
    """
    n_games = len(games)
    params = run.meta.params
    weights = member_weights(members, n_games, params["team"])
    has_members = members.mask_of_games(n_games)
    players = weights.players.reshape(n_games, 2).sum(axis=1)
    scale = np.where(has_members, np.sqrt(0.5 * players), 1.0)
    of_two = np.flatnonzero(~has_members)
    game = np.concatenate([members.game, of_two, of_two])
    node = np.concatenate(
        [members.node, games.timeline.game_white[of_two], games.timeline.game_black[of_two]]
    )
    sign = np.where(members.is_black, -1.0, 1.0)
    coefficient = np.concatenate(
        [sign * weights.coefficient, np.ones(len(of_two)), -np.ones(len(of_two))]
    )
    of_nodes = TermsOfGames(game, node.astype(np.int64), coefficient / scale[game], n_games)
    total_given = games.rule.advantage + games.rule.handicap
    pair = games.pair.copy()
    with_members = np.flatnonzero(has_members)
    first_number = games.stored.pair.max(initial=-1) + 1 + games.pair.max(initial=0)
    pair[with_members] = first_number + np.arange(len(with_members))
    precision = run.arrays("FROM sum_links")["q11"].astype(np.float64)
    stored = StoredPairs(
        np.append(games.stored.pair, pair[with_members]),
        np.append(games.stored.precision, precision * scale[with_members] ** 2),
    )
    return replace(
        games,
        sums=of_nodes._replace(variable=variable[of_nodes.variable]),
        difference=of_nodes.totals(skills.mean),
        variance=of_nodes.squared.totals(skills.sd**2),
        rule=games.rule._replace(handicap=total_given / scale - games.rule.advantage),
        pair=pair,
        stored=stored,
    )


def has_influence(run: Run) -> bool:
    """Whether the influence of a run's games is computed."""
    return run.meta.posterior.startswith("joint") and _without_influence(run) is None


def refuse_without_influence(run: Run) -> None:
    """Raise ConfigError for runs whose sites are not known."""
    kind = _without_influence(run)
    if kind is not None:
        raise ConfigError(
            f"influence of games is not computed for {kind} yet",
            where=run.name,
            hint=_HINTS.get(kind, _OF_MODELS),
        )


def refuse_teams(run: Run, subject: str) -> None:
    """Raise ConfigError for runs with teams, of which a view looks at the first members alone."""
    if run.has_sums:
        raise ConfigError(
            f"{subject} are not computed for teams and orders of finish yet", where=run.name
        )


def _without_influence(run: Run) -> str | None:
    """What the influence of a run's games is not computed for; None where it is."""
    if run.meta.model != "ttt":
        return f"the model {run.meta.model}"
    if run.categories:
        return "offsets of categories"
    if run.select("SELECT 1 FROM game_sides WHERE race > 0 LIMIT 1")[1]:
        return "orders of finish"
    return (
        "margins of victory"
        if any(name.startswith("margin_steps") for name in run.meta.params)
        else None
    )


def _pair_numbers(first: Places, second: Places, nodes: int) -> Places:
    """A number for each pair of rows of spans, that of the earlier node first."""
    numbers: Places = first.astype(np.int64) * nodes + second
    return numbers


def _stored_pairs(run: Run, nodes: int) -> StoredPairs:
    """The pairs of a run's table `links`."""
    links = run.arrays('SELECT "first", "second", q11 FROM links ORDER BY "first", "second"')
    return StoredPairs(
        _pair_numbers(links["first"], links["second"], nodes), links["q11"].astype(np.float64)
    )


def _colours(run: Run) -> Any:
    return run.meta.config.get("data", {}).get("colours", "known")


def _margins(run: Run, timeline: Timeline, mean_skill: Array) -> Array:
    """The draw margin of each game, points, (games,)."""
    params = run.meta.params
    draws = run.arrays("FROM draws")
    if not len(draws["year"]):
        return np.full(timeline.n_games, float(params["draw_margin"]))
    period_year = calendar(timeline)[1]
    year = np.repeat(period_year, np.diff(timeline.game_start))
    above = (mean_skill - draws["level"][year]) / STRENGTH_UNIT
    within = np.clip(above, -STRENGTH_REACH, STRENGTH_REACH)
    margins: Array = draws["margin"][year] * np.exp(params["draw_margin_strength"] * within)
    return margins


def _handicaps(run: Run, timeline: Timeline, advantage: float) -> Array:
    """What is added to White's skill besides the advantage, points, (games,)."""
    handicaps: Array = run.meta.elo_unit * timeline.offset - advantage * (
        timeline.advantage_owner == NEUTRAL
    )
    covariates = run.arrays(_POINTS)
    handicaps[covariates["row"]] += covariates["points"]
    return handicaps
