"""What a slice of time has: its arrays, and the beliefs that follow from them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ttt_cli.inference.ep.category_margins import (
    CategoriesPosterior,
    apply_margins,
    follow_strength,
    margin_scores,
    strengths,
)
from ttt_cli.inference.ep.cutting import Segments, SliceInput
from ttt_cli.inference.ep.link_games import SliceLinks, slice_links
from ttt_cli.inference.ep.moving_margins import (
    Debuts,
    SliceMargins,
    YearScores,
    YearStrengths,
)
from ttt_cli.inference.ep.newcomers import SliceNewcomers
from ttt_cli.inference.ep.pairs import PairGames, SliceGames, pair_games
from ttt_cli.inference.ep.parts import SliceParts, VariableRange, divide, with_extra
from ttt_cli.inference.ep.start import load_sites
from ttt_cli.inference.ep.workspace import Workspace, workspace_for
from ttt_cli.inference.model import ChainSlopes, Play
from ttt_cli.kernels.ep import chains as chain_kernels
from ttt_cli.kernels.ep.structures import Chains, Messages, Pairings, Part, Rule
from ttt_cli.storage import MEMORY, ArrayStorage
from ttt_cli.support.arrays import Array, Ids


@dataclass
class SliceState:
    """The arrays of a slice, which the steps of `messages.py` and `joint_means.py` compute with.

    A fit in memory is one slice of the whole timeline, which threads share by parts; with `--memory` and on a cluster
    there are several, each of one part.

    | name | shape | |
    |---|---|---|
    | number | | of the slice, in the order of time |
    | chains | | its variables |
    | messages | | along the chains |
    | parts | | its division for threads |
    | segments | | its chains that continue in other slices |
    | prior_variance | (variables,) | prior variance of each, without any game, points^2 |
    | pairs | | games between two players |
    | links | | games of other kinds, if there are any |
    | margins | | draw margins of games, whether they move or not |
    | newcomers | | newcomers, if their mean moves |
    | workspace | | buffers of the joint means |
    | beliefs | (variables, 2) | mean and sd before this sweep, points; none between sweeps in memory |
    | moves | (variables, 2) | moves of means and sds in earlier sweeps, points |
    | guess | (variables, 2) | marginals that a fit begins with, or None |
    | folder | | where the sites are saved after every sweep, or None |
    | frees_beliefs | | whether `beliefs` take no memory between sweeps: in memory, but not in files |
    """

    number: int
    chains: Chains
    messages: Messages
    parts: SliceParts
    segments: Segments
    prior_variance: Array
    pairs: PairGames
    margins: SliceMargins
    newcomers: SliceNewcomers | None
    workspace: Workspace
    beliefs: Array
    moves: NDArray[np.float32]
    guess: Array | None
    folder: Path | None
    frees_beliefs: bool
    links: SliceLinks | None = None

    @property
    def games(self) -> tuple[SliceGames, ...]:
        """Games of all kinds."""
        return (self.pairs, self.links) if self.links else (self.pairs,)

    @property
    def own_margins(self) -> bool:
        """Whether players have draw margins of their own."""
        return self.pairs.play.own_margins

    def with_chains(self, chains: Chains) -> SliceState:
        """The same slice with other chains, whose buffers and messages are the same."""
        newcomers = self.newcomers.with_chains(chains) if self.newcomers else None
        return replace(self, chains=chains, newcomers=newcomers)

    def for_another_solution(self) -> SliceState:
        """The same slice, whose joint means are solved for at the same time, in one thread."""
        return replace(
            self, parts=self.parts.in_one_thread(), workspace=self.workspace.for_another_solution()
        )

    # What draw margins follow (`moving_margins.WholePosterior`). Games of both kinds are those between two players and
    # those in categories; the functions of both are in `category_margins`.

    @property
    def rule(self) -> Rule:
        """How pairs are played."""
        return self.pairs.rule

    def run_games(self, task: Callable[[int, int], object]) -> None:
        """Do a task for ranges of pairs, until all are done."""

        def run(part: Part) -> None:
            task(part.game, part.game_end)

        self.parts.run(run, self.parts.parts)

    def cavities(self) -> Array:
        """Cavities of all pairs, as the kernels take them."""
        # as `cavities` of `kernels/ep/ttt_d.py` and `ttt.py` fill them
        n_columns = 5 if self.own_margins else 2
        cavity = np.empty((len(self.pairs.pairings.first), n_columns))

        def fill(part: Part) -> None:
            self.pairs.fill_cavities(part, self.messages.marginal, cavity)

        self.parts.run(fill, self.parts.parts)
        return cavity

    def mean_skills(self) -> Array:
        """Means of the skills of all nodes, from the origin, points.

        0 for node 0 where that stands for nodes of earlier slices (`SliceInput`).
        """
        first_node, end = self.parts.quantities[0]
        precision, weighted = self.messages.marginal[first_node:end].T
        return np.append(np.zeros(first_node), weighted / precision)

    def chain_slopes(self) -> ChainSlopes:
        """Gradient of log Z in the means and variances of the steps of all variables."""
        slopes = ChainSlopes(*np.zeros((2, len(self.prior_variance))))

        def fill(variables: VariableRange) -> None:
            chain_kernels.chain_gradient(
                *variables, self.messages, slopes.by_mean, slopes.by_variance
            )

        self.parts.run(fill, self.parts.ranges)
        return slopes

    def in_categories(self) -> CategoriesPosterior | None:
        """The posterior of games in categories, if there are any."""
        links = self.links
        if links is None or links.categories is None:
            return None
        marginal = self.messages.marginal
        return links.categories.posterior(
            self,
            find_means=lambda: marginal[:, 1] / marginal[:, 0],
            chained=links.extra.chained,
            find_cavities=lambda: links.cavities(marginal),
        )

    def apply_margins(self, by_year: Array) -> float:
        """Set the draw margins of games of both kinds, or of newcomers; the largest move, points."""
        return apply_margins(self, by_year)

    def follow_strength(self, level: Array, by_year: Array) -> float:
        """Update strengths of games of both kinds above the levels of years; the largest move of a margin, points."""
        return follow_strength(self, level, by_year)

    def strengths(self) -> YearStrengths:
        """Strengths of the players of each year, in games of both kinds."""
        return strengths(self)

    def margin_scores(self, by_year: Array) -> YearScores:
        """Scores of each year's log margin, by games of both kinds or newcomers."""
        return margin_scores(self, by_year)


def make_state(
    slice_input: SliceInput,
    play: Play,
    folder: Path | None = None,
    storage: ArrayStorage = MEMORY,
    threads: int = 1,
) -> SliceState:
    """A slice at its beginning: with the sites of its folder, else those of its input, else none.

    `threads` share it by parts; `storage` makes its arrays. Raises SetupError where the folder is not of this fit.
    """
    slice_input = _stored_input(slice_input, storage)
    chains = slice_input.chains
    n_variables = len(slice_input.prior_variance)
    quantities = _quantities(chains, own_margins=play.own_margins)
    links = slice_links(slice_input, slice_input.links, play) if slice_input.links else None
    node_year = np.repeat(slice_input.period_year, np.diff(chains.node_start))
    pairs = pair_games(
        slice_input.games,
        slice_input.handicap,
        slice_input.balance,
        slice_input.interval,
        slice_input.doubt,
        play,
        int(chains.node_start[-1]),
        storage,
    )
    messages = Messages(
        storage.zeros("forward", (n_variables, 2), np.float64),
        storage.zeros("backward", (n_variables, 2), np.float64),
        storage.zeros("marginal", (n_variables, 2), np.float64),
    )
    margins = SliceMargins(
        pairs.pairings,
        pairs.rule.margin,
        play,
        slice_input.period_year,
        slice_input.years,
        _debuts(chains, quantities, node_year) if play.own_margins else None,
        storage,
    )
    state = SliceState(
        number=slice_input.number,
        chains=chains,
        messages=messages,
        parts=_parts(slice_input, quantities, links, threads),
        segments=slice_input.segments,
        prior_variance=slice_input.prior_variance,
        pairs=pairs,
        margins=margins,
        newcomers=_newcomers(slice_input, quantities[0], node_year, messages, storage),
        workspace=workspace_for(n_variables, len(slice_input.segments.number), storage),
        beliefs=storage.zeros("beliefs", (n_variables, 2), np.float64),
        moves=storage.zeros("moves", (n_variables, 2), np.float32),
        guess=None,
        folder=folder,
        frees_beliefs=storage is MEMORY,
        links=links,
    )
    if not fill_sites(state, slice_input):
        state.guess = slice_input.guess
    return state


def _stored_input(slice_input: SliceInput, storage: ArrayStorage) -> SliceInput:
    """The input with the arrays that a slice keeps in its storage; in memory, large ones stay where they are."""

    def stored(name: str, values: NDArray[Any]) -> NDArray[Any]:
        array = storage.zeros(name, values.shape, values.dtype)
        array[:] = values
        return array

    slice_input = replace(
        slice_input,
        segments=slice_input.segments._replace(
            number=stored("segment", slice_input.segments.number)
        ),
        prior_variance=stored("prior_variance", slice_input.prior_variance),
    )
    if storage is MEMORY:
        return slice_input
    chains = slice_input.chains._asdict()
    games = slice_input.games._asdict()
    return replace(
        slice_input,
        chains=Chains(*(stored(name, values) for name, values in chains.items())),
        games=Pairings(*(stored(name, values) for name, values in games.items())),
        balance=stored("balance", slice_input.balance),
    )


def _parts(
    slice_input: SliceInput,
    quantities: list[VariableRange],
    links: SliceLinks | None,
    threads: int,
) -> SliceParts:
    """The division of a slice; with links of any number of variables it is one part."""
    parts = divide(
        slice_input.chains,
        slice_input.game_start,
        slice_input.games.start,
        quantities,
        1 if links else threads,
    )
    return with_extra(parts, links.extra) if links else parts


def _newcomers(
    slice_input: SliceInput,
    skills: VariableRange,
    node_year: Ids,
    messages: Messages,
    storage: ArrayStorage,
) -> SliceNewcomers | None:
    """The newcomers of a slice, if their mean moves; `skills`: the variables of skills."""
    if not slice_input.newcomers:
        return None
    return SliceNewcomers(
        slice(*skills),
        node_year,
        slice_input.years,
        slice_input.newcomers,
        slice_input.chains,
        messages,
        storage,
        levels=slice_input.links
        is None,  # sides of different numbers of players tell the level of a year
    )


def _quantities(chains: Chains, *, own_margins: bool) -> list[VariableRange]:
    """Ranges of the variables of each quantity of nodes.

    They begin with that of the first node, which is 1 where node 0 stands for nodes of earlier slices (`SliceInput`).
    """
    count = 2 if own_margins else 1
    stride = int(chains.node_start[-1])
    first_node = int(chains.node_start[0])
    return [
        VariableRange(number * stride + first_node, (number + 1) * stride)
        for number in range(count)
    ]


def _debuts(chains: Chains, quantities: list[VariableRange], node_year: Ids) -> Debuts:
    """Newcomers' draw margins."""
    begin, end = quantities[-1]
    first = np.flatnonzero(chains.previous[begin:end] < 0).astype(np.int32)
    return Debuts(begin + first, node_year[first])


def fill_sites(state: SliceState, slice_input: SliceInput) -> bool:
    """Fill in the sites of the folder, else those given; whether there are any."""
    sites = state.pairs.sites
    if state.folder is not None and load_sites(state.folder, state.number, sites):
        return True
    if slice_input.sites is None:
        return False
    sites.message[:] = slice_input.sites.message
    sites.positivity[:] = slice_input.sites.positivity
    if state.links and slice_input.sites.links:
        state.links.sites.message[:] = slice_input.sites.links.message
        state.links.sites.site[:] = slice_input.sites.links.site
    return any(games.have_sites for games in state.games)
