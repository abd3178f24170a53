"""The odds of a tournament: it is played many times with skills drawn from what the run knows of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np

from ttt_cli.inference.outcome import is_gaussian
from ttt_cli.runs.run import Run
from ttt_cli.support.arrays import Array, Mask, Places
from ttt_cli.support.errors import ConfigError
from ttt_cli.views.columns import Described, column_names
from ttt_cli.views.entrants import EntrantRows, Entrants, covariance_of, find_entrants
from ttt_cli.views.history.prediction import predictor
from ttt_cli.views.probability import params_in
from ttt_cli.views.rankings.period import SEED
from ttt_cli.views.rows import Rows, counted
from ttt_cli.views.run import run_line

TOURNAMENTS: Final = ("round-robin", "double", "knockout", "swiss", "match")
SAMPLES: Final = 40_000
# Games of each pair of players, by default.
_GAMES: Final = {
    "round-robin": 1,
    "double": 2,
    "knockout": 2,
    "swiss": 1,
    "match": 12,
}
_TIE_BREAK: Final = 0.9  # half points, at most, by which lots part equal scores
MOST_PLAYERS: Final = 128


class TournamentPlan(NamedTuple):
    """What is played: a kind of `TOURNAMENTS`, games of a pair and rounds of a Swiss (None: by default)."""

    kind: str = "round-robin"
    games: int | None = None
    rounds: int | None = None


@dataclass(frozen=True)
class Simulation:
    """Many tournaments of the same players; in each all skills are certain.

    | field | shape | content |
    |---|---|---|
    | `predict`, `params` | | of the model, in the period of the tournament |
    | `skill` | (samples, players) | skills, points |
    | `margins` | (players,) each | further columns of skills that the model predicts from, as draw margins |
    | `rng` | | source of results and lots |
    """

    predict: Callable[..., Array]
    params: dict[str, Any]
    skill: Array
    margins: dict[str, Array]
    rng: np.random.Generator

    @property
    def size(self) -> int:
        """The number of samples."""
        return len(self.skill)

    @property
    def n_players(self) -> int:
        """The number of players."""
        return int(self.skill.shape[1])

    def half_points(self, first: Places, second: Places, games: int) -> Places:
        """Half points of the first player of a pair in so many games, shape (samples,).

        `first`, `second`, shape (samples,): the pair in each sample. Colours alternate; those of the odd game are drawn
        by lot.
        """
        as_white = self._chance(first, second)
        as_black = self._chance(second, first)[:, ::-1]
        scored = np.zeros(self.size, np.int64)
        for chance, count in (
            (as_white, games // 2),
            (as_black, games // 2),
            ((as_white + as_black) / 2.0, games % 2),
        ):
            if count:
                results = self.rng.multinomial(count, chance / chance.sum(axis=1, keepdims=True))
                scored += results[:, 1] + 2 * results[:, 2]
        return scored

    def _chance(self, white: Places, black: Places) -> Array:
        """Probabilities of White's loss, draw and win, shape (samples, 3)."""
        chance: Array = self.predict(self.params, self._strengths(white), self._strengths(black))
        return np.maximum(chance, 0.0)

    def _strengths(self, player: Places) -> dict[str, Array]:
        skill = self.skill[np.arange(self.size), player]
        margins = {name: column[player] for name, column in self.margins.items()}
        return {"mean": skill, "sd": np.zeros(self.size), **margins}

    def decide(self, first: Places, second: Places) -> Mask:
        """Whether the first of each pair wins a game that is repeated until it is decided, shape (samples,)."""
        chance = (self._chance(first, second) + self._chance(second, first)[:, ::-1]) / 2.0
        decided = chance[:, 0] + chance[:, 2]
        share = np.divide(chance[:, 2], decided, out=np.full(self.size, 0.5), where=decided > 0.0)
        return np.asarray(self.rng.random(self.size) < share)

    def ranks(self, score: Array) -> Places:
        """Places of all players by score, 0 the first, equal ones by lot, shape (samples, players)."""
        lots = score + _TIE_BREAK * self.rng.random(score.shape)
        order = np.argsort(-lots, axis=1)
        ranks = np.empty_like(order)
        np.put_along_axis(
            ranks, order, np.broadcast_to(np.arange(score.shape[1]), order.shape), axis=1
        )
        return ranks


class TournamentResults(NamedTuple):
    """Results of all tournaments, shape (samples, players) each.

    `half_points`: scored; None in a knockout. `rank`: places, 0 the first, equal scores by lot.
    `is_sole_first`: whether the player is first, with more points than anybody else.
    """

    half_points: Places | None
    rank: Places
    is_sole_first: Mask


def play_round_robin(simulation: Simulation, games: int) -> TournamentResults:
    """Everybody meets everybody in so many games."""
    score = np.zeros((simulation.size, simulation.n_players), np.int64)
    for first in range(simulation.n_players):
        for second in range(first):
            pair = (np.full(simulation.size, first), np.full(simulation.size, second))
            half_points = simulation.half_points(*pair, games)
            score[:, first] += half_points
            score[:, second] += 2 * games - half_points
    return _by_score(simulation, score)


def play_swiss(simulation: Simulation, rounds: int, games: int) -> TournamentResults:
    """Players of nearly equal scores meet, an opponent of before only where no other is left.

    With an odd number the last player who has not had it gets a bye, a point for each game.

    In each round the players stand in an order, by score. Arrays (samples, players) named by position follow this
    order; the others are by player.
    """
    n_players = simulation.n_players
    samples = np.arange(simulation.size)
    score = np.zeros((simulation.size, n_players), np.int64)
    met = np.zeros((simulation.size, n_players, n_players), np.bool_)
    has_had_bye = np.zeros((simulation.size, n_players), np.bool_)
    for _ in range(rounds):
        order = np.argsort(-(score + _TIE_BREAK * simulation.rng.random(score.shape)), axis=1)
        free_by_position = np.ones((simulation.size, n_players), np.bool_)
        if n_players % 2:
            bye_position = _bye_position(np.take_along_axis(has_had_bye, order, axis=1))
            free_by_position[samples, bye_position] = False
            player = order[samples, bye_position]
            has_had_bye[samples, player] = True
            score[samples, player] += 2 * games
        for _ in range(n_players // 2):
            first_position = np.argmax(free_by_position, axis=1)
            first = order[samples, first_position]
            free_by_position[samples, first_position] = False
            met_by_position = np.take_along_axis(met[samples, first], order, axis=1)
            second_position = _opponent_position(free_by_position, met_by_position)
            second = order[samples, second_position]
            free_by_position[samples, second_position] = False
            met[samples, first, second] = True
            met[samples, second, first] = True
            half_points = simulation.half_points(first, second, games)
            score[samples, first] += half_points
            score[samples, second] += 2 * games - half_points
    return _by_score(simulation, score)


def _bye_position(had_by_position: Mask) -> Places:
    """The position of the last player without a bye so far, (samples,)."""
    from_the_last = np.argmax(~had_by_position[:, ::-1], axis=1)
    position: Places = had_by_position.shape[1] - 1 - from_the_last
    return position


def _opponent_position(free_by_position: Mask, met_by_position: Mask) -> Places:
    """The position of the first free player not met before; of the first free one where all were met, (samples,)."""
    new_by_position = free_by_position & ~met_by_position
    first_new = np.argmax(new_by_position, axis=1)
    first_free = np.argmax(free_by_position, axis=1)
    return np.asarray(np.where(new_by_position.any(axis=1), first_new, first_free))


def play_knockout(simulation: Simulation, games: int) -> TournamentResults:
    """Neighbours in the list meet, then the winners; who loses in the same round shares places by lot.

    A match that is drawn is decided by games until one is not drawn.
    """
    alive = np.tile(np.arange(simulation.n_players), (simulation.size, 1))
    samples = np.arange(simulation.size)
    won = np.zeros((simulation.size, simulation.n_players), np.int64)
    while alive.shape[1] > 1:
        winners = []
        for pair in range(0, alive.shape[1], 2):
            first = alive[:, pair]
            second = alive[:, pair + 1]
            half_points = simulation.half_points(first, second, games)
            first_wins = np.where(
                half_points == games, simulation.decide(first, second), half_points > games
            )
            winner = np.where(first_wins, first, second)
            won[samples, winner] += 1
            winners.append(winner)
        alive = np.stack(winners, axis=1)
    rank = simulation.ranks(won.astype(np.float64))
    return TournamentResults(None, rank, rank == 0)


def _by_score(simulation: Simulation, score: Places) -> TournamentResults:
    """The results of tournaments that scores (samples, players) decide, half points."""
    highest = score.max(axis=1, keepdims=True)
    is_first = score == highest
    is_sole_first = is_first & (is_first.sum(axis=1, keepdims=True) == 1)
    return TournamentResults(score, simulation.ranks(score.astype(np.float64)), is_sole_first)


ODDS_COLUMNS: Final = (
    Described("player", "", "name"),
    Described("period", "", "the period of the skill"),
    Described("mean", "points", "skill in the period"),
    Described("points", "points of games", "points expected; empty in a knockout"),
    Described("p_first", "probability", "of the first place, equal scores decided by lot"),
    Described("p_alone", "probability", "of being first without sharing it"),
    Described("error", "probability", "standard error of `p_first`"),
    Described("place_1", "probability", "of the place with this number", pattern="place_[0-9]+"),
)


def tournament_rows(
    run: Run,
    names: Sequence[str],
    plan: TournamentPlan,
    *,
    at: str | int | None = None,
    samples: int = SAMPLES,
    seed: int = SEED,
) -> EntrantRows:
    """The odds of a tournament, the likeliest winner first, and remarks on names and periods.

    Columns are `ODDS_COLUMNS`, with a `place_1`, `place_2`, ... for each place. Raises LookupFailed, ConfigError.
    """
    with run:
        entrants = find_entrants(run, names, at)
        _check(plan, len(entrants.players))
        simulation = _simulation(run, entrants, samples, seed)
        games = plan.games or _GAMES[plan.kind]
        rounds = plan.rounds or math.ceil(math.log2(len(entrants.players))) + 1
        played = _play(simulation, plan.kind, games, rounds)
    places = (
        np.array([np.bincount(ranks, minlength=len(entrants.players)) for ranks in played.rank.T])
        / samples
    )
    p_alone = played.is_sole_first.mean(axis=0)
    error = np.sqrt(places * (1.0 - places) / samples)
    rows = []
    for index in np.argsort(-places[:, 0], kind="stable").tolist():
        entrant = entrants.players[index]
        points = None
        if played.half_points is not None:
            points = float(played.half_points[:, index].mean()) / 2.0
        rows.append(
            (
                entrant.player,
                entrant.period,
                entrant.skill["mean"],
                points,
                float(places[index, 0]),
                float(p_alone[index]),
                float(error[index, 0]),
                *places[index].tolist(),
            )
        )
    columns = column_names(ODDS_COLUMNS[:-1])
    place_columns = tuple(f"place_{place}" for place in range(1, len(places) + 1))
    together = "their joint skills" if run.has_joint else "their skills, taken as independent"
    what = {"knockout": f"matches of {counted(games, 'game')}", "swiss": counted(rounds, "round")}
    detail = what.get(plan.kind, f"{counted(games, 'game')} of each pair")
    title = (
        f"{plan.kind} of {len(places)} players, {detail}",
        f"{samples:,} tournaments with samples of {together} (seed {seed})",
        f"equal scores are decided by lot; Monte Carlo error at most {error.max():.4f}",
        run_line(run),
    )
    decimals = {"mean": 0, "points": 2} | dict.fromkeys((*columns[4:], *place_columns), 3)
    hidden = {"error"}
    if len({entrant.period for entrant in entrants.players}) == 1:
        hidden.add("period")
    table = Rows((*columns, *place_columns), rows, title, decimals, frozenset(hidden))
    return EntrantRows(table, entrants.notes)


def _play(simulation: Simulation, kind: str, games: int, rounds: int) -> TournamentResults:
    """Play a kind of `TOURNAMENTS`; `rounds` are those of a Swiss."""
    match kind:
        case "knockout":
            return play_knockout(simulation, games)
        case "swiss":
            return play_swiss(simulation, rounds, games)
        case _:
            return play_round_robin(simulation, games)


def _check(plan: TournamentPlan, n_players: int) -> None:
    """Raise ConfigError for what these players cannot play."""
    if plan.kind not in TOURNAMENTS:
        raise ConfigError(
            f"no kind of tournament {plan.kind!r}", hint=f"kinds are {', '.join(TOURNAMENTS)}"
        )
    if plan.rounds is not None and plan.kind != "swiss":
        raise ConfigError("rounds are those of a swiss", hint="--kind swiss --rounds N")
    if plan.kind == "double" and plan.games not in (None, 2):
        raise ConfigError(
            "a double round robin has 2 games of each pair", hint="--kind round-robin --games N"
        )
    if plan.kind == "match" and n_players != 2:
        raise ConfigError(f"a match is of 2 players, not {n_players}")
    if plan.kind == "knockout" and n_players & (n_players - 1):
        raise ConfigError(f"a knockout is of 2, 4, 8, ... players, not {n_players}")
    if n_players > MOST_PLAYERS:
        raise ConfigError(f"a tournament is of at most {MOST_PLAYERS} players, not {n_players}")


def _simulation(run: Run, entrants: Entrants, samples: int, seed: int) -> Simulation:
    """Draw the skills of the players from their joint posterior."""
    rng = np.random.default_rng(seed)
    strengths = [run.scale.points(entrant.skill) for entrant in entrants.players]
    means = np.array([strength["mean"] for strength in strengths])
    covariance = covariance_of(run, entrants)
    if _predicts_by_means(run):
        covariance = np.zeros_like(covariance)
    value, vector = np.linalg.eigh(covariance)
    root = vector * np.sqrt(np.maximum(value, 0.0))
    skill = means + rng.standard_normal((samples, len(means))) @ root.T
    margin_names = [name for name in strengths[0] if name.startswith("draw_margin")]
    margins = {name: np.array([strength[name] for strength in strengths]) for name in margin_names}
    params = params_in(run, max(entrant.period for entrant in entrants.players))
    return Simulation(predictor(run), params, skill, margins, rng)


def _predicts_by_means(run: Run) -> bool:
    """Whether the system predicts from ratings alone."""
    if is_gaussian(run.meta.params):
        return False
    from ttt_cli.systems.registry import load

    return load(run.meta.model).TRAITS.predicts_by_means
