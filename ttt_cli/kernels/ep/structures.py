"""The arrays of Gaussian expectation propagation, by what they belong to.

A variable is a quantity of a node: all skills, nodes 0 to n - 1, then, in TTT-D, all draw margins, n to 2 n - 1. Every
Gaussian message is a row (precision, precision times mean). Means are counted from an origin for each quantity.
"""

from typing import NamedTuple

from ttt_cli.kernels.arrays import Codes, Index, IndexRows, Places, Rows, Vector


class Part(NamedTuple):
    """A range of periods of a slice: these, their nodes and games, each from the first to before the end."""

    period: int
    period_end: int
    node: int
    node_end: int
    game: int
    game_end: int


class Chains(NamedTuple):
    """The variables of each player, joined by Gaussian steps.

    | name | shape | unit | |
    |---|---|---|---|
    | node_start | (periods + 1,) | | the first node of each period, and the end of the last |
    | previous, following | (variables,) | | neighbours in the player's chain, -1 at its ends |
    | mean | (variables,) | points | of the change since the variable before; at the first of a chain, of the prior |
    | variance | (variables,) | points^2 | of the same |
    """

    node_start: Places
    previous: Index
    following: Index
    mean: Vector
    variance: Vector


class Descent(NamedTuple):
    """The state of conjugate gradients for A x = b, (variables,): last direction p and A p, x so far, and b - A x."""

    p: Vector
    ap: Vector
    correction: Vector
    residual: Vector


class GamesSlopes(NamedTuple):
    """Gradient of the log-evidence in 2 beta^2, White's advantage and the share of games that chance decides."""

    noise: float
    advantage: float
    lapse: float


class PositivityEvidence(NamedTuple):
    """log Z of the factors that keep draw margins positive, and its gradient in the origin of the margins."""

    log_evidence: float
    by_origin: float


class Pairings(NamedTuple):
    """Distinct games by period.

    | name | shape | unit | |
    |---|---|---|---|
    | start | (periods + 1,) | | the first game of each period, and the end of the last |
    | first, second | (games,) | | nodes |
    | code | (games,) | | the outcome of `first`, and `UNKNOWN` more where colours are unknown (`kernels/outcomes.py`) |
    | weight | (games,) | games | number of equal games that share one site |
    """

    start: Places
    first: Index
    second: Index
    code: Codes
    weight: Vector


class Rule(NamedTuple):
    """How differences become outcomes, points.

    `noise`: 2 beta^2, the variance of the difference of two performances; `margin` (games,): the draw margin of each,
    or what is added to the players' own, which are counted from `origin`; `advantage` of the first player; `handicap`
    (games,) what is added to the first player's skill besides, or (0,) where no game has any.

    `lapse`: the share of games that chance decides, of which a share `lapse_draws` is drawn, below 0 where `lapse` is
    no parameter. `doubt` (games,): the probability that a record says nothing about skills, or (0,) where none is
    doubtful; such a record is as one of a game that chance decided.
    """

    noise: float
    margin: Vector
    origin: float
    advantage: float
    handicap: Vector
    lapse: float
    lapse_draws: float
    doubt: Vector

    @property
    def has_lapses(self) -> bool:
        """Whether chance may have decided a game, or a record may be wrong."""
        return self.lapse != 0.0 or len(self.doubt) > 0


class Messages(NamedTuple):
    """Messages along chains: `forward` from the past, `backward` from the future; shape (variables, 2).

    `marginal` is both and all sites. Only before chains are smoothed it has the sites alone.
    """

    forward: Rows
    backward: Rows
    marginal: Rows


class Sites(NamedTuple):
    """Gaussian factors of games, on single variables and on differences; q precisions, b precisions times mean.

    | name | shape | |
    |---|---|---|
    | message | (games, 4) | to the first's skill, to the second's |
    | | (games, 8) | and to their draw margins |
    | link | (games, 2) | q and b of s_i - s_j, from which the messages follow |
    | | (games, 5) | q11, q12, q22, b1, b2 of x1 = s_i - s_j + e_i and x2 = e_j - s_i + s_j |
    | positivity | (nodes, 2) | of the factors that keep draw margins positive; none without margins |
    """

    message: Rows
    link: Rows
    positivity: Rows


class LinkRows(NamedTuple):
    """Links by period, in compressed rows; a variable occurs once in a row.

    | name | shape | unit | |
    |---|---|---|---|
    | start | (periods + 1,) | | first link of each period, and the end of the last |
    | row | (links + 1,) | | first entry of each link, and the end of the last |
    | variable | (entries,) | | |
    | coefficient | (entries,) | | |
    | offset | (links,) | points | added to the sum |
    | noise | (links,) | points^2 | variance that is added to that of the sum |
    | low, high | (links,) | points | ends of the interval, perhaps infinite; equal for an exact observation |
    | weight | (links,) | games | number of equal games that share one site |
    | lapse | (links,) | | probability that chance decided the game, 0 of exact observations |
    | base | (links,) | | probability of the result of a game that chance decided |
    """

    start: Places
    row: Places
    variable: Index
    coefficient: Vector
    offset: Vector
    noise: Vector
    low: Vector
    high: Vector
    weight: Vector
    lapse: Vector
    base: Vector


class ExtraStarts(NamedTuple):
    """Variables beside those of nodes, by period: first those with chains, then performances, without a prior.

    `chained` and `performances` (periods + 1,) have the first such variable of each period, and the end of the last.
    """

    chained: Places
    performances: Places


class LinkSites(NamedTuple):
    """Gaussian factors of links; q precisions, h precisions times mean.

    | name | shape | |
    |---|---|---|
    | message | (entries, 2) | to each variable, from each link |
    | site | (links, 2) | q and h of the sum y |
    """

    message: Rows
    site: Rows


class LinkSlopes(NamedTuple):
    """Gradient of the log-evidence in the numbers of each link, (links,), all equal games together."""

    offset: Vector
    noise: Vector
    low: Vector
    high: Vector
    lapse: Vector


class CountedGames(NamedTuple):
    """The games that still count, k of them.

    | name | shape | unit | |
    |---|---|---|---|
    | active | (k,) | | which of all games |
    | ends | (k, 2) | | numbers of the two players |
    | decay | (k, 2) | | the weight of one game for each of them |
    """

    active: Places
    ends: IndexRows
    decay: Rows


class AllGames(NamedTuple):
    """Distinct games of all periods; q precisions, b precisions times mean.

    | name | shape | unit | |
    |---|---|---|---|
    | code | (games,) | | as in `Pairings` |
    | times | (games,) | games | so many equal games |
    | sites | (games, 4) | | the whole game's messages to the first's skill and to the second's |
    | links | (games, 4) | | q and b of its score b - q (s_i - s_j) at the means of the pseudo-posterior, |
    | | | | and what multiplies the score for each player (1 at whole weight) |
    """

    code: Codes
    times: Vector
    sites: Rows
    links: Rows
