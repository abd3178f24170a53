"""Histories as links (`reference/link_histories.py`), laid out for the engine."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from tests.reference.link_histories import BETA, MARGIN, History
from tests.reference.links_dense import Link, performances
from tests.support.builders import make_games
from ttt_cli.fitted import Fit
from ttt_cli.inference.ep.through_time import ThroughTime
from ttt_cli.inference.joint.choose import infer
from ttt_cli.inference.links import ExtraVariables, LinkedGames, links_by_period
from ttt_cli.inference.model import NO_OFFSETS, USUAL
from ttt_cli.kernels.ep.structures import LinkRows
from ttt_cli.systems.ttt import Params, through_time
from ttt_cli.timeline import Timeline, build_timeline

NOBODY = "~"  # whom players meet who have nodes without games of two
OUTCOMES = {MARGIN: 2, -MARGIN: 1, -math.inf: 0}  # by the low end of a plain interval


def as_fit(**fields) -> Fit:
    return Fit("ttt", "smoothed", {"draw_margin": MARGIN, "white_advantage": 0.0}, **fields)


class Linked:
    """A history in the engine. Names of categories have a space; the other chains are skills of players.

    | name | |
    |---|---|
    | links | those that define performances, then the games |
    | is_pair | whether the engine is given the link as a game of two players |
    | timeline | nodes of skills, with these games |
    | number | the engine's variable of each variable of the history |
    | games | the other links and their variables |
    """

    def __init__(self, history: History, *, pairs: bool = True) -> None:
        self.history = history
        self.skills = [chain for chain in history.chains if " " not in chain[0]]
        self.categories = [chain for chain in history.chains if " " in chain[0]]
        self.place = {
            history.number(name, year): (name, year)
            for name, years, _, _ in history.chains
            for year in years
        }
        self.number = np.full(history.size + len(history.sums), -1)
        self.links = performances(history.sums, history.spread, history.size) + history.links
        self.is_pair = [pairs and self.is_plain(link) for link in self.links]
        self.timeline = self.laid_timeline()
        self.period = {
            int(self.timeline.label(int(number))): index
            for index, number in enumerate(self.timeline.periods)
        }
        extra = self.laid_extra()
        self.games = LinkedGames(self.laid_rows(), extra)

    def is_plain(self, link: Link) -> bool:
        """Whether it is a win, draw or loss of two skills with the common margin and without offset."""
        skills = {variable for variable, (name, _) in self.place.items() if " " not in name}
        ends = (link.low, link.high)
        return (
            set(link.coefficients) <= skills
            and sorted(link.coefficients.values()) == [-1.0, 1.0]
            and ends in ((MARGIN, math.inf), (-MARGIN, MARGIN), (-math.inf, -MARGIN))
            and link.offset == 0.0
        )

    def laid_timeline(self) -> Timeline:
        """Nodes of all skills, with plain games."""
        rows = [(year, name, NOBODY, 2) for name, year in self.place.values() if " " not in name]
        for link, is_pair in zip(self.links, self.is_pair, strict=True):
            if is_pair:
                first, second = sorted(
                    link.coefficients, key=lambda variable: -link.coefficients[variable]
                )
                (white, year), (black, _) = self.place[first], self.place[second]
                rows.append((year, white, black, OUTCOMES[link.low], link.weight))
        timeline = build_timeline(make_games(rows))
        for node, (player, period) in enumerate(
            zip(timeline.node_player, timeline.node_period, strict=True)
        ):
            name, year = timeline.players[player], int(timeline.label(int(period)))
            if name != NOBODY:
                self.number[self.history.number(name, year)] = node
        nobody = timeline.players.index(NOBODY)
        played = timeline.node_player[timeline.game_black] != nobody
        return replace(
            timeline,
            game_start=np.append(0, np.cumsum(played))[timeline.game_start],
            game_white=timeline.game_white[played],
            game_black=timeline.game_black[played],
            outcome=timeline.outcome[played],
            weight=timeline.weight[played],
            offset=timeline.offset[played],
            advantage_owner=np.ones(played.sum(), np.int8),
        )

    def laid_extra(self) -> ExtraVariables:
        """Categories and performances by period; fills their numbers."""
        nodes = self.timeline.n_nodes
        order = sorted(
            (year, chain, step)
            for chain, (_, years, _, _) in enumerate(self.categories)
            for step, year in enumerate(years)
        )
        index = {key: variable for variable, key in enumerate(order)}
        previous = np.full(len(order), -1, np.int32)
        following = np.full(len(order), -1, np.int32)
        variance = np.zeros(len(order))
        for (year, chain, step), variable in index.items():
            name, years, sd, drift = self.categories[chain]
            self.number[self.history.number(name, year)] = nodes + variable
            variance[variable] = sd**2
            if step:
                before = index[years[step - 1], chain, step - 1]
                previous[variable], following[before] = before, variable
                variance[variable] = drift**2 * (year - years[step - 1])
        years = [self.year_of(members) for members in self.history.sums]
        for rank, performance in enumerate(
            sorted(range(len(years)), key=lambda number: years[number])
        ):
            self.number[self.history.size + performance] = nodes + len(order) + rank
        return ExtraVariables(
            self.starts([year for year, _, _ in order]), previous, following, np.zeros(len(order)), variance,
            self.starts(years),
        )  # fmt: skip

    def starts(self, years: list[float]) -> np.ndarray:
        """The first of each period, and the end of the last."""
        count = np.bincount(
            np.array([self.period[int(year)] for year in years], int), minlength=len(self.period)
        )
        return np.append(0, np.cumsum(count)).astype(np.int64)

    def year_of(self, coefficients: dict[int, float]) -> float:
        first = min(coefficients)
        if first >= self.history.size:
            return self.year_of(self.history.sums[first - self.history.size])
        return self.place[first][1]

    def laid_rows(self) -> LinkRows:
        """The links that are no pairs."""
        links = [
            link for link, is_pair in zip(self.links, self.is_pair, strict=True) if not is_pair
        ]
        period = np.array(
            [self.period[int(self.year_of(link.coefficients))] for link in links], int
        )
        row = np.append(0, np.cumsum([len(link.coefficients) for link in links]))
        rows = LinkRows(
            start=np.empty(0, np.int64),
            row=row.astype(np.int64),
            variable=np.array(
                [self.number[v] for link in links for v in link.coefficients], np.int32
            ),
            coefficient=np.array([c for link in links for c in link.coefficients.values()], float),
            offset=np.array([link.offset for link in links]),
            noise=np.array([link.noise for link in links]),
            low=np.array([link.low for link in links]),
            high=np.array([link.high for link in links]),
            weight=np.array([link.weight for link in links]),
            lapse=np.array([link.lapse for link in links]),
            base=np.array([link.base for link in links]),
        )
        return links_by_period(period, len(self.period), rows)

    def through_time(self, **changes) -> ThroughTime:
        """TTT of this history."""
        ((sd, drift),) = {(sd, drift) for _, _, sd, drift in self.skills}
        params = Params(
            prior_mean=self.history.means[0], prior_sd=sd, beta=BETA, tau=drift, **changes
        )
        return replace(through_time(self.timeline, params, MARGIN), links=self.games)

    def fit(self, solver, start=None, **changes) -> tuple[Fit, object]:
        """The fit, and its posterior."""
        shared = self.through_time(**changes)
        fit = infer(shared.inference(NO_OFFSETS, start, 1), solver, {}, start, as_fit, USUAL)
        return fit, shared.posterior(fit)

    def beliefs(self, fit, posterior) -> np.ndarray:
        """Means and sds of the history's variables, (2, variables)."""
        skill, extra = fit.chains["skill"], posterior.extra_beliefs()
        return np.array([np.append(skill.mean, extra[0]), np.append(skill.sd, extra[1])])[
            :, self.number
        ]
