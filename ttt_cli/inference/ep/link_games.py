"""Games as links of any number of variables in a slice, with their sites: what the steps of a sweep do with them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from ttt_cli.fitted import Fit
from ttt_cli.inference.ep.category_margins import CategoriesPosterior, CategoryMargins
from ttt_cli.inference.ep.cutting import SliceInput
from ttt_cli.inference.ep.moving_margins import WholePosterior
from ttt_cli.inference.ep.parts import ExtraRanges, VariableRange
from ttt_cli.inference.links import (
    CategoryGames,
    ExtraVariables,
    LinkDesign,
    LinkedGames,
    LoadingEntries,
    VariablePairs,
)
from ttt_cli.inference.model import (
    ChainSlopes,
    Evidence,
    GamesGradient,
    LinksGradient,
    Offsets,
    Play,
)
from ttt_cli.kernels.arrays import Rows, Vector
from ttt_cli.kernels.ep import links as kernels
from ttt_cli.kernels.ep.chains import accumulate
from ttt_cli.kernels.ep.structures import (
    Chains,
    ExtraStarts,
    LinkRows,
    LinkSites,
    LinkSlopes,
    Messages,
    Part,
    Rule,
)
from ttt_cli.support.arrays import Array, Ids, Places


class DefiningLinks(NamedTuple):
    """The links that define performances.

    A performance t is a variable without a prior: t = constant + sum of coefficient times variable + e, var(e) = noise.
    One exact link says so, whose other variables are its members.

    | name | shape | |
    |---|---|---|
    | performance_of | (members,) | the performance that each member belongs to, among performances |
    | variable | (members,) | the other variables of the links |
    | coefficient | (members,) | of the variable in the sum, relative to the performance |
    | performance_entry | (performances,) | the entry of the performance itself in its link |
    | constant | (performances,) | added to the sum, points |
    | noise | (performances,) | variance of the performance around the sum, points^2 |
    """

    performance_of: Places
    variable: Ids
    coefficient: Array
    performance_entry: Places
    constant: Array
    noise: Array


@dataclass(frozen=True)
class CategoryLinks:
    """Links that are games in categories: the games, how they are played, and their draw margins."""

    games: CategoryGames
    rule: Rule
    margins: CategoryMargins

    def posterior(
        self,
        whole: WholePosterior,
        find_means: Callable[[], Array],
        chained: VariableRange,
        find_cavities: Callable[[], Array],
    ) -> CategoriesPosterior:
        """Their posterior.

        `find_means` computes the means of all variables, from their origins. `chained`: the variables of the players'
        offsets in categories, in the order of `games.node`, which has the node of each.
        """

        def find_skills() -> Array:
            means = find_means()
            offsets = means[chained.begin : chained.end]
            skills: Array = means[self.games.node] + offsets
            if shared := self.games.shared:
                skills = skills + shared.loading * offsets[shared.variable]
            return skills

        return CategoriesPosterior(
            whole, self.games.merged, self.rule, self.margins, find_skills, find_cavities
        )


@dataclass
class SliceLinks:
    """Games as links (`pairs.SliceGames`) of a whole timeline.

    | name | shape | unit | |
    |---|---|---|---|
    | rows | | | the links |
    | starts | | | extra variables by period |
    | extra | | | ranges of the extra variables |
    | sites | | | sites of the links, and their messages |
    | coupling | (links,) | 1/points^2 | precision of each sum, all equal games together |
    | defining | | | the links that define performances |
    | reported | | | pairs of variables with a covariance that is reported |
    | categories | | | what the links are if they are games in categories |
    | design | | | how their numbers follow from the parameters of play, None for games in categories |
    | loadings | | | where they have shared parts of offsets, None without any |
    """

    rows: LinkRows
    starts: ExtraStarts
    extra: ExtraRanges
    sites: LinkSites
    coupling: Array
    defining: DefiningLinks
    reported: VariablePairs
    categories: CategoryLinks | None = None
    design: LinkDesign | None = None
    loadings: LoadingEntries | None = None

    @property
    def performances(self) -> int:
        """Number of performances."""
        return len(self.defining.performance_entry)

    @property
    def have_sites(self) -> bool:
        """Whether any site is more than nothing, those of exact observations aside."""
        is_game = self.rows.low < self.rows.high
        return bool(self.sites.site[is_game].any())

    def set_offsets(self, offsets: Offsets) -> None:
        """Leave the links as they are: their offsets include the advantage."""

    def sweep(
        self, part: Part, back: bool, repeats: int, chains: Chains, messages: Messages
    ) -> int:
        """Pass through a part; returns the number of sites that were not moved."""
        return int(
            kernels.sweep(part, back, repeats, chains, self.starts, self.rows, messages, self.sites)
        )

    def fill_sites_from_marginals(self, part: Part, chains: Chains, messages: Messages) -> None:
        """Make the sites of links as the marginals believe.

        That is a pass back in which nothing goes along chains, as no variable has a following one, and in which new
        sites are not added to the marginals, as the links have no weight (so does `PairGames`).
        """
        unchained = chains._replace(following=np.full_like(chains.following, -1))
        weightless = self.rows._replace(weight=np.zeros_like(self.rows.weight))
        kernels.sweep(part, True, 0, unchained, self.starts, weightless, messages, self.sites)

    def add_sites(self, part: Part, marginal: Rows) -> None:
        """Add all sites of links, after clearing the extra variables."""
        kernels.gather(part, self.starts, self.rows, self.sites, marginal)

    def fill_chain_residual(
        self, part: Part, messages: Messages, means: Vector, diagonal: Vector, residual: Vector
    ) -> None:
        """Fill means, diagonal and residual of extra variables, as `games.residual_of_chains` does of nodes."""
        kernels.residual_of_chains(part, self.starts, messages, means, diagonal, residual)

    def add_residual(self, part: Part, means: Vector, diagonal: Vector, residual: Vector) -> None:
        """Add scores and precisions."""
        kernels.add_residual(part, self.rows, self.sites, means, self.coupling, diagonal, residual)

    def add_couplings(self, part: Part, z: Vector, az: Vector) -> float:
        """Add (L - diag(L)) z."""
        return float(kernels.add_couplings(part, self.rows, self.coupling, z, az))

    def move_sites(self, part: Part, means: Vector) -> None:
        """Set sites for these means."""
        kernels.move_sites(part, self.rows, self.sites, means)

    def evidence(self, part: Part, marginal: Rows) -> Evidence:
        """Evidence of a part."""
        return Evidence(*kernels.evidence(part, self.starts, self.rows, marginal, self.sites))

    def cavities(self, marginal: Rows) -> Array:
        """Means and variances of the sums without one such game, (links, 2)."""
        cavity = np.empty((len(self.rows.weight), 2))
        kernels.cavities(self.rows, marginal, self.sites, cavity)
        return cavity

    def moments_of_shared(self, marginal: Rows) -> SharedMoments | None:
        """Moments of shared parts of offsets under the cavities of their links, which take variables as independent."""
        if self.loadings is None:
            return None
        entry = self.loadings.entry
        variable = self.rows.variable[entry]
        cavity = marginal[variable] - self.sites.message[entry]
        return SharedMoments(
            mean=cavity[:, 1] / cavity[:, 0],
            covariance=self.rows.coefficient[entry] / cavity[:, 0],
        )

    def share_row_sums(self, sums: Vector) -> None:
        """Add diag(L) times the variance of performances, in `sums`, to the variables that they are sums of.

        `JointSolver.couple` needs a k with diag(L) <= k T, and takes the largest row sum. A performance t has a
        precision q in diag(L), but none in T. What defines it bounds it: t = sum of c x + e, with members x and an e of
        variance `noise`. Its variance before games is V = sum of c^2 var(x) + noise, so that (Cauchy and Schwarz)

            t^2 <= V (x'T x + e^2 / noise)

        where the chains have x'T x and the defining link e^2 / noise. So q t^2 counts as q V in the row sum of each
        member; `sums` has q V at the performance, as it has the same product at every variable.
        """
        begin, end = self.extra.performances
        of_performances = sums[begin:end]
        np.add.at(sums, self.defining.variable, of_performances[self.defining.performance_of])

    def save(self, folder: Path, number: int) -> None:
        """Save nothing: a timeline in one slice is not saved on the way."""


def with_links(slice_input: SliceInput, links: LinkedGames, origin: float) -> SliceInput:
    """The whole timeline as one slice, with links and their extra variables, which follow those of nodes.

    Skills are counted from `origin`, points, which the offsets of links then include. Raises ValueError where a
    performance is not defined.
    """
    nodes = len(slice_input.prior_variance)
    skill_offset = origin * sums_of_skills(links.rows, nodes)
    rows = links.rows._replace(offset=links.rows.offset + skill_offset)
    chains = _joined_chains(slice_input.chains, links.extra)
    n_performances = links.extra.n_performances
    defining = defining_links(rows, len(chains.previous) - n_performances, n_performances)
    prior_variance = _joined_prior_variance(slice_input.prior_variance, links.extra, defining)
    guess = slice_input.guess
    if guess is not None:
        # precision, and precision times mean, of each variable: extra ones are as before any game
        mean = _prior_means(chains, defining)
        precision = 1.0 / prior_variance[nodes:]
        prior_beliefs = np.stack([precision, precision * mean[nodes:]], axis=1)
        guess = np.concatenate([guess, prior_beliefs])
    return replace(
        slice_input,
        chains=chains,
        prior_variance=prior_variance,
        guess=guess,
        links=replace(links, rows=rows),
    )


def _joined_chains(chains: Chains, extra: ExtraVariables) -> Chains:
    """Chains of all variables: of nodes, then of extra ones, whose numbers begin there, then performances alone."""
    nodes = np.int32(len(chains.previous))
    n_performances = extra.n_performances
    no_neighbour = np.full(n_performances, -1, np.int32)
    return Chains(
        chains.node_start,
        np.concatenate([chains.previous, _shifted(extra.previous, nodes), no_neighbour]),
        np.concatenate([chains.following, _shifted(extra.following, nodes), no_neighbour]),
        np.concatenate([chains.mean, extra.mean, np.zeros(n_performances)]),
        np.concatenate([chains.variance, extra.variance, np.full(n_performances, np.inf)]),
    )


def _joined_prior_variance(
    of_nodes: Array, extra: ExtraVariables, defining: DefiningLinks
) -> Array:
    """Variances of all variables before any game, (variables,); `of_nodes` has those of nodes."""
    of_chained = extra.variance.copy()
    accumulate(extra.previous, of_chained)  # variances of steps add up along a chain
    of_members = np.concatenate([of_nodes, of_chained])
    return np.concatenate([of_members, _performance_variances(defining, of_members)])


def sums_of_skills(rows: LinkRows, nodes: int) -> Array:
    """Sums of the coefficients of skills, (links,)."""
    link = np.repeat(np.arange(len(rows.weight)), np.diff(rows.row))
    of_skills = np.where(rows.variable < nodes, rows.coefficient, 0.0)
    return np.asarray(np.bincount(link, of_skills, len(rows.weight)), np.float64)


def _prior_means(chains: Chains, defining: DefiningLinks) -> Array:
    """Means (variables,) of all variables before any game."""
    mean = chains.mean.copy()
    accumulate(chains.previous, mean)  # means of steps add up along a chain
    n_performances = len(defining.performance_entry)
    of_members = defining.coefficient * mean[defining.variable]
    sums = np.bincount(defining.performance_of, of_members, n_performances)
    mean[len(mean) - n_performances :] = defining.constant + sums
    return mean


def _shifted(variables: Ids, first: np.int32) -> Ids:
    return np.where(variables < 0, np.int32(-1), variables + first).astype(np.int32)


def _performance_variances(defining: DefiningLinks, prior_variance: Array) -> Array:
    """Variances of performances before games, (performances,): noise + sum of c^2 times the variance of a member.

    That takes members as independent, as variables of different chains are before games. `prior_variance`: of all
    variables that may be members.
    """
    of_members = defining.coefficient**2 * prior_variance[defining.variable]
    return defining.noise + np.bincount(defining.performance_of, of_members, len(defining.noise))


def defining_links(rows: LinkRows, first: int, n_performances: int) -> DefiningLinks:
    """The first exact observation of each performance. Performances are the variables numbered from `first` on.

    A link says low = offset + c_t t + sum of c x + e. Solved for the performance t,

        t = (low - offset) / c_t + sum of (-c / c_t) x + e'        with var(e') = noise / c_t^2

    Raises ValueError where a performance has none.
    """
    link_of_entry = np.repeat(np.arange(len(rows.weight)), np.diff(rows.row))
    is_exact = (rows.low == rows.high)[link_of_entry]
    exact_entries = np.flatnonzero(is_exact & (rows.variable >= first))
    performances, first_exact = np.unique(rows.variable[exact_entries] - first, return_index=True)
    if len(performances) < n_performances:
        raise ValueError("a performance is not defined by an exact observation")
    # by performance: its entry, the link of that, and c_t
    performance_entry = exact_entries[first_exact]
    defining_link = link_of_entry[performance_entry]
    own_coefficient = rows.coefficient[performance_entry]
    # by member, an entry of a defining link: the performance that this link defines
    performance_of_link = np.full(len(rows.weight), -1)
    performance_of_link[defining_link] = performances
    performance_of_entry = performance_of_link[link_of_entry]
    members = np.flatnonzero((performance_of_entry >= 0) & (rows.variable < first))
    performance_of = performance_of_entry[members]
    return DefiningLinks(
        performance_of=performance_of,
        variable=rows.variable[members],
        coefficient=-rows.coefficient[members] / own_coefficient[performance_of],
        performance_entry=performance_entry,
        constant=(rows.low - rows.offset)[defining_link] / own_coefficient,
        noise=rows.noise[defining_link] / own_coefficient**2,
    )


def slice_links(slice_input: SliceInput, links: LinkedGames, play: Play) -> SliceLinks:
    """Links of a whole timeline, without sites.

    Variables are those of nodes, then extra ones with chains, then performances. Only performances have messages: each
    from the link that defines it, its mean and variance before any game.
    """
    # a copy, since margins may move
    rows = links.rows._replace(low=links.rows.low.copy(), high=links.rows.high.copy())
    chains = slice_input.chains
    prior_variance = slice_input.prior_variance
    variables = len(chains.previous)
    nodes = variables - len(links.extra)
    first_performance = variables - links.extra.n_performances
    ranges = ExtraRanges(
        chained=VariableRange(nodes, first_performance),
        performances=VariableRange(first_performance, variables),
    )
    starts = ExtraStarts(
        chained=nodes + links.extra.chained,
        performances=first_performance + links.extra.performances,
    )
    sites = LinkSites(np.zeros((len(rows.variable), 2)), np.zeros((len(rows.weight), 2)))
    defining = defining_links(rows, first_performance, links.extra.n_performances)
    mean_before_games = _prior_means(chains, defining)[first_performance:]
    variance_before_games = prior_variance[first_performance:]
    sites.message[defining.performance_entry, 0] = 1.0 / variance_before_games
    sites.message[defining.performance_entry, 1] = mean_before_games / variance_before_games
    return SliceLinks(
        rows=rows,
        starts=starts,
        extra=ranges,
        sites=sites,
        coupling=np.zeros(len(rows.weight)),
        defining=defining,
        reported=links.reported,
        categories=_category_links(slice_input, links.category_games, rows, play),
        design=links.design,
        loadings=links.loadings,
    )


def _category_links(
    slice_input: SliceInput, games: CategoryGames | None, rows: LinkRows, play: Play
) -> CategoryLinks | None:
    """What the links are as games in categories, if they are such."""
    if games is None:
        return None
    merged = games.merged
    margin = np.full(len(merged), play.margin)
    margins = CategoryMargins(
        merged.games, margin, play, slice_input.period_year, slice_input.years, rows.low, rows.high
    )
    return CategoryLinks(games, play.rule(margin, merged.handicap, doubt=merged.doubt), margins)


class SharedMoments(NamedTuple):
    """Shared parts of offsets under the cavity of a link, (entries,) each, as in `LinkedGames.loadings`.

    | name | unit | |
    |---|---|---|
    | mean | points | |
    | covariance | points^2 | with the sum y of the link |
    """

    mean: Array
    covariance: Array


def links_gradient(
    games: SliceLinks,
    cavity: Array,
    slopes: ChainSlopes,
    play: Play,
    of_shared: SharedMoments | None,
) -> LinksGradient:
    """Gradient of log Z in offset, noise, low and high of each link, and in the steps of extra variables.

    `cavity` (links, 2): as `SliceLinks.cavities`; `slopes`: of all variables; `play`: how the links are played;
    `of_shared`: moments of shared parts of offsets, None without any.
    """
    of_links = LinkSlopes(*np.empty((len(LinkSlopes._fields), len(games.rows.weight))))
    kernels.gradient(games.rows, cavity, of_links)
    nodes, end = games.extra.chained  # chained extra variables come after those of nodes
    of_extra = ChainSlopes(slopes.by_mean[nodes:end], slopes.by_variance[nodes:end])
    by_skill_origin = float(sums_of_skills(games.rows, nodes) @ of_links.offset)
    of_play = gradient_of_play(games.design, of_links, play) if games.design else None
    of_loadings = None
    if games.loadings is not None and of_shared is not None:
        of_loadings = _loading_slopes(games.rows, games.loadings, of_links, of_shared)
    return LinksGradient(of_links, of_extra, by_skill_origin, of_play, of_loadings)


def _loading_slopes(
    rows: LinkRows, loadings: LoadingEntries, slopes: LinkSlopes, of_shared: SharedMoments
) -> Array:
    """Gradient of log Z in the logarithm of what multiplies the shared part of offsets in each category, (categories,).

    A link has P = E[f(y)] over a cavity of y = u x + ... with a coefficient u. With the slopes v of log P in the mean
    of y and s in its variance,

        d log P / du = E[x f'(y)] / P = v E[x] + 2 s Cov(x, y)

    since x is linear in y but for noise. An entry's u is plus or minus the loading times a share.
    """
    entry, link, category, n_categories = loadings
    by_coefficient = (
        slopes.offset[link] * of_shared.mean + 2.0 * slopes.noise[link] * of_shared.covariance
    )
    by_factor = rows.coefficient[entry] * by_coefficient  # of a factor of the loading
    return np.bincount(category, by_factor, n_categories).astype(np.float64)


def gradient_of_play(design: LinkDesign, slopes: LinkSlopes, play: Play) -> GamesGradient:
    """Gradient of log Z in the parameters of play, by those in the numbers of links."""
    is_low = np.isfinite(design.low)
    is_high = np.isfinite(design.high)
    return GamesGradient(
        noise=float(design.noise @ slopes.noise),
        margin=float(
            design.low[is_low] @ slopes.low[is_low] + design.high[is_high] @ slopes.high[is_high]
        ),
        advantage=float(design.advantage @ slopes.offset),
        elo_unit=play.elo_unit * float(design.handicap @ slopes.offset),
        covariates=tuple((slopes.offset @ design.covariates).tolist()),
        lapse=float(slopes.lapse @ (1.0 - design.doubt)),
        steps=tuple((slopes.low @ design.low_steps + slopes.high @ design.high_steps).tolist()),
    )


MESSAGE: Final = "messages of links"  # names of the state of a fit
SITE: Final = "sites of links"
JOINT_SITE: Final = "joint sites of links"


def link_state(sites: LinkSites) -> dict[str, Array]:
    """State for a warm start."""
    return {MESSAGE: sites.message, SITE: sites.site}


def started_link_sites(links: LinkedGames, start: Fit) -> LinkSites | None:
    """Sites of an earlier fit of the same links, None where it has none."""
    message = start.state.get(MESSAGE)
    site = start.state.get(SITE)
    if message is None or site is None:
        return None
    if len(message) != len(links.rows.variable) or len(site) != len(links):
        return None
    return LinkSites(message, site)
