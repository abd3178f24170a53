"""Random games of teams, orders of finish and categories, and what the dense twin takes of them."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import combinations

import numpy as np

from tests.reference.link_histories import History, with_lapses
from tests.reference.links_dense import Link
from tests.support.sides import race
from ttt_cli.systems import ttt
from ttt_cli.timeline import Timeline

PARAMS = {
    "prior_mean": 1200.0, "prior_sd": 400.0, "beta": 480.0, "tau": 60.0, "draw_margin": 250.0, "white_advantage": 0.0,
}  # fmt: skip


def random_rows(seed: int) -> tuple[list[tuple], list[str]]:
    """Games of teams of up to four, orders of finish of up to six sides, of two players, in three categories."""
    rng = np.random.default_rng(seed)
    names = list("abcdefg")
    rows: list[tuple] = []
    categories: list[str] = []
    for number in range(1, 9):
        year = int(rng.choice([1900, 1901, 1905]))
        chosen = list(rng.permutation(names))
        category = str(rng.choice(["", "rapid", "blitz"]))
        if rng.random() < 0.4:
            n_sides = int(rng.integers(3, 7))
            sides = [" / ".join(part) for part in np.array_split(chosen[: n_sides + 1], n_sides)]
            new = race(year, number, sides, ties=[0] if rng.random() < 0.3 else [])
        else:
            size = int(rng.integers(1, 5))
            white = " / ".join(f"{name}*{rng.choice([0.5, 1.0, 1.0]):g}" for name in chosen[:size])
            black = " / ".join(chosen[size : size + int(rng.integers(1, 3))])
            weight = float(rng.choice([1.0, 1.0, 2.0]))
            new = [
                (year, white, black, int(rng.integers(3)), weight, float(rng.choice([0.0, 60.0])))
            ]
        rows += new
        categories += [category] * len(new)
    return rows, categories


OFFSETS = {"rapid": {"sd": 100.0, "tau": 30.0}}


def as_history(timeline: Timeline, params: ttt.Params, elo_unit: float) -> History:
    """The dense twin's history, from what the timeline says, not from links of the engine."""
    history = History(mean=params.prior_mean)
    years = {}
    for node in range(timeline.n_nodes):
        years.setdefault(timeline.players[timeline.node_player[node]], []).append(
            int(timeline.label(int(timeline.node_period[node])))
        )
    for name, of_name in years.items():
        history.add_chain(name, of_name)
    label = [int(timeline.label(int(number))) for number in timeline.node_period]
    name_of = [timeline.players[number] for number in timeline.node_player]
    category = [""] * timeline.n_games
    if timeline.category is not None:
        category = [timeline.category.values[code] for code in timeline.category.codes]
    members = timeline.members
    sides: list[list[dict[int, float]]] = [[{}, {}] for _ in range(timeline.n_games)]
    for game in range(timeline.n_games):
        for side, node in enumerate((timeline.game_white[game], timeline.game_black[game])):
            sides[game][side] = {int(node): 1.0}
    for game in set(members.game.tolist() if members else ()):
        sides[game] = [{}, {}]
    for game, is_black, node, share in zip(*members, strict=True) if members else ():
        sides[game][int(is_black)][int(node)] = float(share)
    for name in params.offsets:
        for player, of_name in years.items():
            debut = [
                label[node] for game in range(timeline.n_games) for side in sides[game] for node in side
                if name_of[node] == player and category[game] == name
            ]  # fmt: skip
            if debut:
                setting = params.offsets[name]
                from_debut = [year for year in of_name if year >= min(debut)]
                history.add_chain(
                    f"{player} {name}", from_debut, setting["sd"], setting["tau"], 0.0
                )

    for player in years:
        of_player = [
            name
            for name in params.offsets
            if any(chain[0] == f"{player} {name}" for chain in history.chains)
        ]
        for first, second in combinations(of_player, 2):
            covariance = (
                params.offset_correlation
                * params.offsets[first]["sd"]
                * params.offsets[second]["sd"]
            )
            history.correlated.append((f"{player} {first}", f"{player} {second}", covariance))

    def terms(game: int, side: int) -> dict[int, float]:
        entries = {}
        total = sum(sides[game][side].values()) if params.team == "mean" else 1.0
        for node, share in sides[game][side].items():
            entries[history.number(name_of[node], label[node])] = share / total
            if category[game] in params.offsets:
                entries[history.number(f"{name_of[node]} {category[game]}", label[node])] = (
                    share / total
                )
        return entries

    def noise(game: int, side: int) -> float:
        return (
            1.0 if params.team == "mean" else sum(share**2 for share in sides[game][side].values())
        )

    def activity(node: int) -> float:
        """log(1 + games in the year before), each row of a player counted by its weight."""
        before = label[node] - 1
        return math.log1p(
            sum(
                timeline.weight[game]
                for game in range(timeline.n_games)
                for side in sides[game]
                if any(name_of[of] == name_of[node] and label[of] == before for of in side)
            )
        )

    def covariate(game: int, name: str) -> float:
        """Of White less of Black; that of a team is the sum, or the mean, of its members'."""
        if name != "activity":
            (read,) = [read for read in timeline.covariates if read.name == name]
            return float(read.difference[game])
        of_sides = []
        for side in sides[game]:
            total = sum(side.values()) if params.team == "mean" else 1.0
            of_sides.append(sum(share * activity(node) for node, share in side.items()) / total)
        return of_sides[0] - of_sides[1]

    races = np.zeros(timeline.n_games, int) if timeline.race is None else timeline.race
    performance: dict[tuple, int] = {}
    for game in range(timeline.n_games):
        for side in (0, 1):
            key = (races[game], *sides[game][side])
            if races[game] and key not in performance:
                n_beta2 = noise(game, side) * params.beta**2
                performance[key] = history.add_performance(terms(game, side), n_beta2)
    for game in range(timeline.n_games):
        players = noise(game, 0) + noise(game, 1)
        margin = params.draw_margin * math.sqrt(players / 2.0)
        low, high = [(-math.inf, -margin), (-margin, margin), (margin, math.inf)][
            timeline.outcome[game]
        ]
        if params.margin_steps and timeline.victory_margin[game]:
            ends = [margin]
            for points in params.margin_steps.values():
                ends.append(ends[-1] + points * math.sqrt(players / 2.0))
            above = sum(timeline.victory_margin[game] >= int(key) for key in params.margin_steps)
            low, high = [*ends, math.inf][above : above + 2]
            if timeline.outcome[game] == 0:
                low, high = -high, -low
        of_covariates = sum(
            points * covariate(game, name) for name, points in params.covariates.items()
        )
        if races[game]:
            coefficients = {
                performance[races[game], *sides[game][side]]: 1.0 - 2.0 * side for side in (0, 1)
            }
            link = Link(coefficients, low, high, 0.0, offset=of_covariates)
        else:
            coefficients = dict(terms(game, 0))
            for variable, coefficient in terms(game, 1).items():
                coefficients[variable] = coefficients.get(variable, 0.0) - coefficient
            offset = params.white_advantage + elo_unit * timeline.offset[game] + of_covariates
            link = Link(
                coefficients,
                low,
                high,
                players * params.beta**2,
                offset=offset,
                weight=timeline.weight[game],
            )
        history.links.append(link)
    if not params.lapse and timeline.doubt is None:
        return history
    draws = float(np.average(timeline.outcome == 1, weights=timeline.weight))
    history = with_lapses(history, params.lapse, draws)
    if timeline.doubt is not None:
        for game, doubt in enumerate(timeline.doubt):
            lapse = 1.0 - (1.0 - params.lapse) * (1.0 - doubt)
            history.links[game] = replace(history.links[game], lapse=lapse)
    if not params.margin_steps:
        return history
    # of wins with a known margin the base rate is divided by how frequent the margin is
    reached = [
        sum(margin >= int(key) for key in params.margin_steps) if margin else -1
        for margin in timeline.victory_margin
    ]
    known = sum(weight for weight, by in zip(timeline.weight, reached, strict=True) if by >= 0)
    for game, (link, by) in enumerate(zip(history.links, reached, strict=True)):
        if by >= 0:
            alike = sum(timeline.weight[other] for other, of in enumerate(reached) if of == by)
            base = 0.5 * (1.0 - draws) * alike / known
            history.links[game] = replace(link, base=base)
    return history
