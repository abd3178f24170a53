"""What a run would say without some of its games: skills, and number ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple, cast

import numpy as np

from ttt_cli.games.table import Games
from ttt_cli.periods import label
from ttt_cli.runs.run import Run
from ttt_cli.runs.skills_at_periods import Skill
from ttt_cli.support.arrays import Array, Mask, Places
from ttt_cli.support.errors import ConfigError, LookupFailed
from ttt_cli.views.columns import Column, build_rows, each
from ttt_cli.views.game_choice import (
    ChosenGames,
    games_in_file,
    games_of_source,
    games_where,
    with_whole_races,
)
from ttt_cli.views.rankings.eligible import Eligible
from ttt_cli.views.rows import Rows, counted, finite
from ttt_cli.views.run import load_influence_meanwhile, run_line
from ttt_cli.views.without import (
    Without,
    WithoutByRefit,
    WithoutToFirstOrder,
    games_without,
    node_skills,
)

if TYPE_CHECKING:
    from ttt_cli.config.schema import Period

Refit = Callable[[Games], Run]

UNCHANGED: Final = 0.05  # shown points: smaller changes of means are not listed
_ELIGIBLE: Final = """
SELECT period_number, player, mean FROM ({rows}) ORDER BY period_number, mean DESC, player
"""


@dataclass(frozen=True)
class DoubtedGames:
    """Which games are left out: those that meet a condition, those in a file, or those of a source."""

    where: str | None = None
    file: str | None = None
    source: str | None = None

    def find(self, run: Run, games: Games) -> ChosenGames:
        """The games. Raises ConfigError, DataError, LookupFailed."""
        if sum(named is not None for named in (self.where, self.file, self.source)) != 1:
            raise ConfigError(
                "the games that are doubted are named by where, a file or a source: one of them"
            )
        if self.where is not None:
            return games_where(run, games, self.where)
        if self.source is not None:
            return games_of_source(run, games, self.source)
        return games_in_file(run, games, cast("str", self.file))


class SkillWithout(NamedTuple):
    """A skill with and without the games, shown units; None without a game of the player up to the period."""

    player: str
    period: str
    mean: float
    sd: float | None
    mean_without: float | None
    sd_without: float | None


SKILL_COLUMNS: Final[tuple[Column[SkillWithout], ...]] = (
    Column("player", "", "player", each(lambda row: row.player)),
    Column("period", "", "the period in which the mean changes most; with `--each` all", each(lambda row: row.period)),
    Column("mean", "points", "mean of the run", each(lambda row: row.mean), decimals=1),
    Column("sd", "points", "its sd", each(lambda row: row.sd), decimals=1),
    Column("mean_without", "points", "mean without the games", each(lambda row: row.mean_without), decimals=1),
    Column("sd_without", "points", "its sd", each(lambda row: row.sd_without), decimals=1),
)  # fmt: skip


class LeaderChange(NamedTuple):
    """Consecutive periods whose number one would be another player, the same in all of them."""

    first: str
    last: str
    leader: str
    leader_without: str


LEADER_COLUMNS: Final[tuple[Column[LeaderChange], ...]] = (
    Column("from", "", "first period", each(lambda row: row.first)),
    Column("to", "", "last period", each(lambda row: row.last)),
    Column("number_one", "", "number one of the run", each(lambda row: row.leader)),
    Column("number_one_without", "", "number one without the games", each(lambda row: row.leader_without)),
)  # fmt: skip


@dataclass(frozen=True)
class Doubt:
    """What a run would say without games.

    - `skills`: a row for each player, or for each player and period, most affected first
    - `leaders`: periods with another number one
    - `notes`: what of the games was not found
    """

    skills: Rows
    leaders: Rows
    notes: tuple[str, ...]


def doubt_view(
    run: Run,
    doubted: DoubtedGames,
    limits: Eligible,
    refit: Refit | None,
    number: int | None,
    *,
    every: bool,
) -> Doubt:
    """What a run would say without some games: to first order, or exactly by the run that `refit` makes of the others.

    `limits`: who may be number one; that is decided by all games. `every`: rows for all periods of a player. `number`:
    of rows, None for all. Raises ConfigError for runs without influence unless they are refitted, LookupFailed where
    no game is left out, DataError.
    """
    if refit is None:
        load_influence_meanwhile()
    with run:
        games = run.stored_games()
        chosen = with_whole_races(games, doubted.find(run, games))
        if len(chosen.rows) == len(games):
            raise ConfigError(f"these are all games of {run.name}", hint="leave some in")
        without: Without
        if refit is None:
            from ttt_cli.inference.influence import Influence

            without = WithoutToFirstOrder(run, Influence(run, games), games, chosen.rows)
        else:
            without = WithoutByRefit(run, refit(games_without(games, chosen.rows)))
        left_out = float(games.weight[chosen.rows].sum())
        how = "to first order" if refit is None else "refitted"
        words = f"Without {left_out:,g} of {games.weight.sum():,g} games ({chosen.words}), {how}"
        return _compare(run, without, limits, words, chosen.notes, number, every=every)


def corrections_view(
    run: Run, path: str, limits: Eligible, refit: Refit, number: int | None, *, every: bool
) -> Doubt:
    """What a run would say with the corrections in a file, by the run that `refit` makes of the corrected games.

    Arguments as of `doubt_view`. Raises DataError for a file that cannot be used, LookupFailed where it changes
    nothing.
    """
    from ttt_cli.games.corrections import apply_corrections, read_corrections

    with run:
        games = run.stored_games()
        corrections = read_corrections(path)
        corrected = apply_corrections(games, corrections)
        used = sum(count > 0 for count in corrected.counts)
        if not used:
            raise LookupFailed(
                f"none of the {counted(len(corrections.rows), 'correction')} of {path} changes a game of {run.name}"
            )
        notes = [
            f"{path}:{correction.line}: {correction.action} changes no game"
            for correction, count in zip(corrections.rows, corrected.counts, strict=True)
            if not count
        ]
        without = WithoutByRefit(run, refit(corrected.games))
        words = f"With {used} of {counted(len(corrections.rows), 'correction')} of {path}, refitted"
        return _compare(run, without, limits, words, tuple(notes), number, every=every)


def _compare(
    run: Run,
    without: Without,
    limits: Eligible,
    words: str,
    notes: tuple[str, ...],
    number: int | None,
    *,
    every: bool,
) -> Doubt:
    """Compare the skills and number ones of a run with those of other games, which are described by `words`."""
    changes = _skill_changes(run, without, number, every=every)
    leader_changes = _leader_changes(run, without, limits)
    title = f"{words}: {counted(len(leader_changes), 'change')} of number ones"
    has_gone = any(change.mean_without is None for change in changes)
    remark = "; without a mean: no other game up to the period" if has_gone else ""
    skills = build_rows(run, SKILL_COLUMNS, changes, (title, f"{run_line(run)}{remark}"))
    leaders = build_rows(run, LEADER_COLUMNS, leader_changes, ("Number ones that would be others",))
    return Doubt(skills, leaders, notes)


def _skill_changes(
    run: Run, without: Without, number: int | None, *, every: bool
) -> list[SkillWithout]:
    """The skills that change, most affected first; those of players who have left last."""
    all_nodes = node_skills(run)
    mean_without = without.node_means()
    size = np.abs(mean_without - all_nodes.mean)
    is_gone = np.isnan(size)
    rank = np.where(is_gone, -1.0, size)
    order = np.argsort(-rank, kind="stable")
    order = order[is_gone[order] | (size[order] > UNCHANGED)]
    if not every:
        order = _first_of_each_player(all_nodes.players, order, number)
    chosen = order[:number]
    nodes = all_nodes.take(chosen)
    sd_without = without.sds(nodes)
    period = cast("Period", run.meta.period)
    return [
        SkillWithout(
            player=player,
            period=label(period_number, period),
            mean=float(nodes.mean[row]),
            sd=finite(float(nodes.sd[row])),
            mean_without=finite(float(mean_without[chosen[row]])),
            sd_without=finite(float(sd_without[row])),
        )
        for row, (player, period_number) in enumerate(nodes.skills)
    ]


def _first_of_each_player(players: Sequence[str], order: Places, number: int | None) -> Places:
    """The first index in `order` of each player, of the first `number` players (None: all)."""
    first: dict[str, int] = {}
    for index in order.tolist():
        if len(first) == number:
            break
        first.setdefault(players[index], index)
    return np.array(list(first.values()), np.int64)


@dataclass(frozen=True)
class EligibleSkills:
    """Skills of those who may be number one, by period, then mean from the highest; (skills,) each, shown units."""

    period_number: Places
    players: list[str]
    mean: Array

    @property
    def skills(self) -> list[Skill]:
        """Player and period of each."""
        return list(zip(self.players, self.period_number.tolist(), strict=True))

    def take(self, rows: Mask | Places) -> EligibleSkills:
        """Some of the skills."""
        indices = np.arange(len(self.mean))[rows].tolist()
        return EligibleSkills(
            self.period_number[rows], [self.players[index] for index in indices], self.mean[rows]
        )

    def leaders(self, mean: Array) -> dict[int, str]:
        """The player with the highest of these means (skills,) in each period; of equal ones the first by name."""
        _, period = np.unique(self.period_number, return_inverse=True)
        highest = np.full(period.max(initial=-1) + 1, -np.inf)
        np.fmax.at(highest, period, mean)
        leaders: dict[int, str] = {}
        for index in np.flatnonzero(mean == highest[period]).tolist():
            number = int(self.period_number[index])
            player = self.players[index]
            leaders[number] = min(leaders.get(number, player), player)
        return leaders


def eligible_skills(run: Run, limits: Eligible, period_number: int | None = None) -> EligibleSkills:
    """Skills of those who may be number one, in one period or in all that have enough of them."""
    rows = (
        limits.skills(run)
        if period_number is None
        else limits.skills(run, period_number, period_number)
    )
    columns = run.arrays(_ELIGIBLE.format(rows=rows))
    period = columns["period_number"].astype(np.int64)
    _, index, count = np.unique(period, return_inverse=True, return_counts=True)
    field = EligibleSkills(period, columns["player"].tolist(), columns["mean"].astype(np.float64))
    return field.take(count[index] >= limits.fewest)


def _leader_changes(run: Run, without: Without, limits: Eligible) -> list[LeaderChange]:
    """Periods with another number one, consecutive ones with the same players together."""
    field = eligible_skills(run, limits)
    leaders = field.leaders(field.mean)
    rivals = field.take(without.may_lead(field.skills, field.mean))
    leaders_without = rivals.leaders(without.means(rivals.skills, rivals.mean))
    period = cast("Period", run.meta.period)
    changes: list[LeaderChange] = []
    last_number = None
    for number, leader in leaders.items():
        leader_without = leaders_without.get(number, "")
        if leader_without == leader:
            continue
        change = LeaderChange(label(number, period), label(number, period), leader, leader_without)
        continues = last_number == number - 1 and changes[-1][2:] == change[2:]
        if continues:
            changes[-1] = changes[-1]._replace(last=change.last)
        else:
            changes.append(change)
        last_number = number
    return changes
