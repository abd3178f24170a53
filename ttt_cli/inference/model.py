"""How games are played: what is common to all of them, and the log-evidence with its gradient."""

from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from ttt_cli.inference.links import points_given
from ttt_cli.inference.solver import LEAST_RATE
from ttt_cli.inference.victory import (
    NO_INTERVALS,
    Intervals,
    centres_given,
    ends_of,
    margins_for_kernels,
)
from ttt_cli.kernels.ep.structures import LinkSlopes, Rule
from ttt_cli.support.arrays import Array, Mask


class Offsets(NamedTuple):
    """What is added to the skill of the side named first, the share of games that chance decides, and steps of wins.

    | name | unit | |
    |---|---|---|
    | advantage | points | White's |
    | covariates | points | per unit of each, in the order of `MergedGames.terms` |
    | lapse | | share of games that chance decides |
    | steps | points | between margins of victory, in the order of `MergedGames.thresholds` |
    """

    advantage: float = 0.0
    covariates: tuple[float, ...] = ()
    lapse: float = 0.0
    steps: tuple[float, ...] = ()


NO_OFFSETS: Final = Offsets()
NO_DOUBT: Final = np.empty(0)  # of games whose records are all right
NO_LAPSE: Final = -1.0  # in place of `Play.lapse_draws`, where chance decides no game by definition


@dataclass(frozen=True)
class Play:
    """How differences of skill become outcomes.

    | name | unit | |
    |---|---|---|
    | noise | points^2 | 2 beta^2, the variance of the difference of two performances |
    | margin | points | the draw margin, or the one from which the players' own are counted |
    | elo_unit | points | one Elo point |
    | offsets | | White's advantage, points per unit of covariates, the share of lapses, steps between wins |
    | own_margin_sd | points | sd of newcomers' own draw margins; 0 with a common margin |
    | margin_drift | | sd of the change of the draw margin's logarithm over one year |
    | margin_strength | | rise of its logarithm with the strength of both players |
    | lapse_draws | | share of draws among games that chance decides; below 0 where it decides none by definition |
    """

    noise: float
    margin: float
    elo_unit: float
    offsets: Offsets = NO_OFFSETS
    own_margin_sd: float = 0.0
    margin_drift: float = 0.0
    margin_strength: float = 0.0
    lapse_draws: float = NO_LAPSE

    @property
    def own_margins(self) -> bool:
        """Whether every player has a draw margin."""
        return self.own_margin_sd > 0.0

    def lapses(self, doubt: Array) -> Array:
        """Probabilities that games say nothing about skills, by those that their records are wrong, (games,)."""
        lapse = self.offsets.lapse
        return np.where(doubt > 0.0, 1.0 - (1.0 - lapse) * (1.0 - doubt), lapse)

    def base_rates(self, drawn: Array | Mask, decided: Array | Mask) -> Array:
        """Probabilities of the results of games that chance decides, (games,); 0 where it decides none by definition.

        `drawn` and `decided`: 1 of games that were drawn, or that were not.
        """
        if self.lapse_draws < 0.0:
            return np.zeros(len(drawn))
        rates: Array = self.lapse_draws * drawn + 0.5 * (1.0 - self.lapse_draws) * decided
        return rates

    def rule(
        self,
        margin: Array,
        handicap: Array,
        interval: Intervals = NO_INTERVALS,
        doubt: Array = NO_DOUBT,
    ) -> Rule:
        """The rule of kernels, with the draw margins of games, and handicaps, intervals, doubts of `MergedGames`.

        With steps between margins of victory, kernels see a win in an interval between two ends as a draw around its
        centre: this overwrites `margin` of the game by half of the interval, and adds the way from the centre to the
        points given.
        """
        advantage, covariates, lapse, steps = self.offsets
        points = points_given(handicap, self.elo_unit, advantage, covariates)
        if steps and len(interval):
            ends = ends_of(self.margin, steps)
            margin[:] = margins_for_kernels(interval, ends)
            centres = centres_given(interval, ends)
            points = points + centres if len(points) else centres
        return Rule(
            self.noise, margin, self.margin, advantage, points, lapse, self.lapse_draws, doubt
        )


class GamesGradient(NamedTuple):
    """Gradient of the log-evidence in what is common to all games.

    | name | |
    |---|---|
    | noise | in 2 beta^2 |
    | margin | in the draw margin, or the origin of the players' own |
    | advantage | in White's advantage |
    | elo_unit | in the logarithm of an Elo point, by the handicaps |
    | covariates | in the points per unit of covariates |
    | lapse | in the share of games that chance decides |
    | steps | in the steps between margins of victory |
    """

    noise: float
    margin: float
    advantage: float
    elo_unit: float
    covariates: tuple[float, ...]
    lapse: float
    steps: tuple[float, ...] = ()

    def plus(self, other: "GamesGradient") -> "GamesGradient":
        """The gradient of these games and others."""
        of_covariates = zip(self.covariates, other.covariates, strict=True)
        return GamesGradient(
            noise=self.noise + other.noise,
            margin=self.margin + other.margin,
            advantage=self.advantage + other.advantage,
            elo_unit=self.elo_unit + other.elo_unit,
            covariates=tuple(slope + further for slope, further in of_covariates),
            lapse=self.lapse + other.lapse,
            steps=tuple(
                slope + further for slope, further in zip(self.steps, other.steps, strict=True)
            ),
        )


class SweepRates(NamedTuple):
    """What the error estimate of `iterate` assumes of a system.

    A rate is a change over the change of the sweep before. `least`: the smallest one that counts. `too_early`: how many
    rates after the first of a fit without a start give no estimate yet.
    """

    least: float = LEAST_RATE
    too_early: int = 0


USUAL: Final = SweepRates()


class ChainSlopes(NamedTuple):
    """Gradient of the log-evidence in the means and variances of the steps of all variables, (variables,)."""

    by_mean: Array
    by_variance: Array


class LinksGradient(NamedTuple):
    """Gradient of the log-evidence in games as links.

    | name | |
    |---|---|
    | links | in offset, noise, low and high of each link |
    | extra | in the steps of extra variables with chains |
    | origin | in the origin of skills, which matters where coefficients of skills do not add up to 0 |
    | games | in the parameters of play; None without a `LinkDesign`, which says how links follow from them |
    | loadings | in the logarithm of what multiplies the shared parts of offsets, (categories,); None without any |
    """

    links: LinkSlopes
    extra: ChainSlopes
    origin: float
    games: GamesGradient | None = None
    loadings: Array | None = None


class EvidenceGradient(NamedTuple):
    """Gradient of the log-evidence: `params` in parameters of priors and of moving margins by name, `games`, `links`.

    Without games as links of any number of variables the last one is None.
    """

    params: dict[str, float]
    games: GamesGradient
    links: LinksGradient | None = None


class Evidence(NamedTuple):
    """log Z of all sites, and the log probability of all games, each without its own site."""

    log_evidence: float
    leave_one_out: float
