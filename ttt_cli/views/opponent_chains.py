"""The chains of opponents through which a skill is known, as of `ttt why --by chain`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Final, NamedTuple, cast

import numpy as np

from ttt_cli.inference.games_in_posterior import refuse_teams, refuse_without_influence
from ttt_cli.inference.opponent_chains import (
    FIELD,
    NEAR,
    GameFlows,
    OpponentChain,
    opponent_chains,
    player_flows,
)
from ttt_cli.periods import label
from ttt_cli.runs.joint import EXACT
from ttt_cli.runs.run import Run
from ttt_cli.runs.schema import RUN
from ttt_cli.support.arrays import Array, Places
from ttt_cli.views.columns import Column, build_rows, each
from ttt_cli.views.rows import Rows, counted, integral
from ttt_cli.views.run import run_line
from ttt_cli.views.why_question import Question

if TYPE_CHECKING:
    from ttt_cli.config.schema import Period

OPPONENT: Final = "opponent"  # end of a chain to the other player of --versus
FEWEST: Final = 100  # players in the field, from as many periods around as it takes
_NODES: Final = f'SELECT "until" IS NULL AS last, period_number, mean FROM {RUN}.spans'
_PLAYERS: Final = f'SELECT player FROM {RUN}.spans WHERE "until" IS NULL'
_LINKS: Final = 'SELECT "first", "second", q11 FROM links'
_GAMES: Final = """
SELECT position, sum(weight) AS games
FROM (SELECT unnest(?) AS first, unnest(?) AS second, unnest(range(?)) AS position) AS pairs
JOIN names AS of_first ON of_first.player = first JOIN names AS of_second ON of_second.player = second
JOIN game_rows ON least(white_id, black_id) = least(of_first.id, of_second.id)
AND greatest(white_id, black_id) = greatest(of_first.id, of_second.id)
GROUP BY position ORDER BY position
"""


class NamedChain(NamedTuple):
    """A chain of opponents by name; `end`: where it ends; `games`: the fewest between two of them who meet."""

    players: tuple[str, ...]
    end: str
    share: float
    games: float | None


CHAIN_COLUMNS: Final[tuple[Column[NamedChain], ...]] = (
    Column("chain", "", "players, each of whom met the next", each(lambda row: " - ".join(row.players))),
    Column(
        "end", "", "`field`: the last is one of the others who are compared with; `opponent`: the last is the other "
        "player of `--versus`; `newcomer`: the last is known by what is assumed of newcomers",
        each(lambda row: row.end),
    ),
    Column(
        "share", "", "share of the weight of all results that comes through it",
        each(lambda row: row.share), decimals=3, value_type="number",
    ),
    Column("games", "games", "the fewest between two players of the chain", each(lambda row: row.games)),
)  # fmt: skip


@dataclass(frozen=True)
class _SkillNodes:
    """The skills of a run in periods with games, (nodes,) each: by player, then period.

    `player`: numbers of players, by name as in the run. `mean`: model points.
    """

    player: Places
    period_number: Places
    mean: Array

    @property
    def start(self) -> Places:
        """The first node of each player."""
        return np.flatnonzero(np.append(True, np.diff(self.player) > 0))

    def nearest(self, period: int, without: int) -> Places:
        """A field of players but one: `FEWEST` or more of the periods that are nearest, each in the nearest one."""
        distance = np.abs(self.period_number - period)
        order = np.lexsort((self.period_number, distance))
        order = order[self.player[order] != without]
        _, first = np.unique(self.player[order], return_index=True)
        nodes = order[np.sort(first)]
        farthest = distance[nodes][:FEWEST][-1:]
        field: Places = nodes[distance[nodes] <= farthest] if len(nodes) else nodes
        return field


def chain_rows(run: Run, question: Question, number: int | None) -> Rows:
    """The chains of opponents through which a lead is known, those of the largest share first.

    The lead of a player is that over the mean of the `field`: at least `FEWEST` other players with games in that
    period or the nearest ones. A chain ends with the other player or, over the field, with one whose skills share less
    than `NEAR` of the uncertainty. Raises ConfigError for runs without influence, RunError without a joint posterior.
    """
    refuse_without_influence(run)
    refuse_teams(run, "chains of opponents")
    columns = run.arrays(_NODES)
    player = np.append(0, np.cumsum(columns["last"])[:-1])[: len(columns["last"])]
    nodes = _SkillNodes(player, columns["period_number"].astype(np.int64), columns["mean"])
    names = run.arrays(_PLAYERS)["player"].tolist()
    precision = run.joint.precision
    asked = run.joint.sum_of(question.skills, question.weights)
    weights = asked.weights
    mean = asked.mean
    begin = names.index(question.player)
    source = np.zeros(len(names))
    source[begin] = 1.0
    over = ""
    if question.opponent is None:
        field = nodes.nearest(question.period, begin)
        share = 1.0 / max(len(field), 1)
        weights = weights - share * np.bincount(
            precision.variable_of_row[field], minlength=len(weights)
        )
        mean -= share * float(nodes.mean[field].sum())
        source[nodes.player[field]] -= share
        over = f" over {_field_words(run, nodes.period_number[field])}"
    else:
        source[names.index(question.opponent)] = -1.0
    covariance = precision.solve(weights, residual=EXACT)[0]
    of_nodes = covariance[precision.variable_of_row[: len(nodes.player)]]
    links = run.arrays(_LINKS)
    flows = player_flows(
        GameFlows(
            nodes.player[links["first"]],
            nodes.player[links["second"]],
            links["q11"] * (of_nodes[links["first"]] - of_nodes[links["second"]]),
        ),
        source,
    )
    largest = np.maximum.reduceat(of_nodes, nodes.start)
    ends = source < 0.0 if question.opponent else largest < NEAR * largest[begin]
    chains = opponent_chains(flows, begin, ends)
    sd = float(np.sqrt(weights @ covariance + asked.noise))
    if question.opponent is not None:
        chains = [
            chain._replace(end=OPPONENT if chain.end == FIELD else chain.end) for chain in chains
        ]
    slope = run.scale.slope
    shown = sum(chain.share for chain in chains[:number])
    title = (
        f"{question.words}: {slope * mean:.1f} +- {slope * sd:.1f}{over}; known through chains of opponents, "
        f"{100 * shown:.0f} % of it through these"
    )
    return build_rows(
        run, CHAIN_COLUMNS, _with_names(run, chains[:number], names), (title, run_line(run))
    )


def _field_words(run: Run, periods: Places) -> str:
    """The field in words."""
    period = cast("Period", run.meta.period)
    first, last = (label(int(edge), period) for edge in (periods.min(), periods.max()))
    return f"{counted(len(periods), 'other player')} of {first if first == last else f'{first} to {last}'}"


def _with_names(
    run: Run, chains: Sequence[OpponentChain], names: Sequence[str]
) -> list[NamedChain]:
    """The chains with names, and the fewest games between two players of each."""
    pairs = [pair for chain in chains for pair in pairwise(chain.players)]
    first = [names[pair[0]] for pair in pairs]
    second = [names[pair[1]] for pair in pairs]
    games = iter(run.arrays(_GAMES, [first, second, len(pairs)])["games"].tolist())
    named = []
    for chain in chains:
        counts = [next(games) for _ in pairwise(chain.players)]
        fewest = integral(min(counts)) if counts else None
        players = tuple(names[player] for player in chain.players)
        named.append(NamedChain(players, chain.end, chain.share, fewest))
    return named
