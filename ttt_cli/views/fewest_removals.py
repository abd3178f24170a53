"""The fewest games of a run whose removal makes another player the number one of a period."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Final, NamedTuple, cast

import numpy as np

from ttt_cli.games.game_fields import date_texts
from ttt_cli.games.lineup import further_members
from ttt_cli.games.table import Games
from ttt_cli.inference.influence import Influence, Supposition, Target
from ttt_cli.periods import label, period_of
from ttt_cli.runs.run import Run
from ttt_cli.support.arrays import Array, Places
from ttt_cli.support.errors import LookupFailed
from ttt_cli.views.columns import Column, build_rows, each
from ttt_cli.views.doubt import EligibleSkills, Refit, eligible_skills
from ttt_cli.views.rankings.eligible import WIDER, Eligible
from ttt_cli.views.rows import Rows
from ttt_cli.views.run import run_line
from ttt_cli.views.sides import game_words
from ttt_cli.views.without import WithoutByRefit, games_without

if TYPE_CHECKING:
    from ttt_cli.config.schema import Period

RIVALS: Final = 8  # players with the next highest means, who may become number one
MOST: Final = 200  # games that are left out
REFITS: Final = 12  # of larger sets, at most, when predictions are not reached
# Games with the most influence: smaller sets are looked for among these
IN_COMBINATIONS: Final = 12
# Sets of a size that are predicted, those of the largest sums of influence
COMBINATIONS: Final = 60
HOPELESS: Final = 0.5  # of the lead: sets whose games alone leave more of it, by the sum, are not predicted together
# Part of the lead: sets that are predicted to leave no more of it are tried by refits
NEARLY: Final = 0.1
TRIED: Final = 4  # refits of sets of a size


class Removal(NamedTuple):
    """Rows of games that are left out, and what is left of the lead over a rival by prediction, shown points."""

    rows: tuple[int, ...]
    rival: str
    lead: float


class LeftOut(NamedTuple):
    """A game that is left out, and the lead of the number one without it and those before it, first order."""

    date: str
    white: str
    black: str
    result: str
    event: str
    lead: float


LEFT_OUT_COLUMNS: Final[tuple[Column[LeftOut], ...]] = (
    Column("date", "", "date of the game", each(lambda row: row.date), unfolded=True),
    Column("white", "", "player named first", each(lambda row: row.white)),
    Column("black", "", "player named second", each(lambda row: row.black)),
    Column("result", "", "result", each(lambda row: row.result)),
    Column(
        "lead", "points", "lead of the number one of the run over the new one without this game and those above, "
        "to first order", each(lambda row: row.lead), decimals=1,
    ),
    Column("event", "", "event", each(lambda row: row.event)),
)  # fmt: skip


@dataclass(frozen=True)
class FewestRemovals:
    """Games without which a period has another number one, most influential first.

    `means`: of the former and of the new number one in the refit, shown units; None for a player without any game left.
    """

    rows: tuple[int, ...]
    leader: str
    new_leader: str
    leads: tuple[float, ...]
    means: tuple[float | None, float]


def fewest_removal_rows(run: Run, at: str | int, limits: Eligible, refit: Refit) -> Rows:
    """The fewest games whose removal changes the number one of a period: a row for each.

    Raises LookupFailed for unknown periods, those without two eligible players, and where no set of games was found.
    """
    with run:
        games = run.stored_games()
        period_number = run.find_period(at)[1]
        period = label(period_number, cast("Period", run.meta.period))
        removals = fewest_removals(run, games, period_number, limits, refit)
        dates = date_texts(games)
        words = game_words(run)
        team_names = games.teams.names(games.players)
        rows = [
            LeftOut(
                date=dates[row],
                white=team_names[games.white_team[row]] or games.players[games.white[row]],
                black=team_names[games.black_team[row]] or games.players[games.black[row]],
                result=words.result_of_game(
                    int(games.outcome[row]), float(games.victory_margin[row])
                ),
                event=games.event[row],
                lead=lead,
            )
            for row, lead in zip(removals.rows, removals.leads, strict=True)
        ]
        former_mean, new_mean = removals.means
        former = "without games" if former_mean is None else f"{former_mean:.1f}"
        title = (
            f"Without {'this game' if len(rows) == 1 else f'these {len(rows)} games'} {removals.new_leader} is number "
            f"one of {period} instead of {removals.leader} (refitted: {new_mean:.1f} against {former})"
        )
        return words.renamed(build_rows(run, LEFT_OUT_COLUMNS, rows, (title, run_line(run))))


def fewest_removals(
    run: Run, games: Games, period_number: int, limits: Eligible, refit: Refit
) -> FewestRemovals:
    """Find the fewest games without which another player is number one of a period.

    For each rival the games are removed in the order of their influence on the lead until it is predicted to be lost.
    The smallest such set is refitted and enlarged until the number one changes; then smaller ones are tried.
    """
    field = eligible_skills(run, limits, period_number)
    if len(field.players) < 2:
        raise LookupFailed("fewer than two players are eligible in the period", hint=WIDER)
    search = _Search(run, games, field, refit)
    best = search.first_change()
    while len(best.rows) > 1:
        smaller = search.changing_set(len(best.rows) - 1)
        if smaller is None:
            break
        best = smaller
    return search.result(best)


@dataclass(frozen=True)
class _Rival:
    """A player who may become number one: influence of each game on the lead over this player, and its order.

    `target`: the lead in model points. `influence`: change of the lead without each game alone, (games,), shown points.
    `order`: games without which the lead is smaller, those that reduce it most first.
    """

    player: str
    target: Target
    lead: float
    influence: Array
    order: Places


class _Search:
    """A search for few games without which the number one of a period is another player."""

    def __init__(self, run: Run, games: Games, field: EligibleSkills, refit: Refit) -> None:
        self._run = run
        self._games = games
        self._field = field
        self._refit = refit
        self._influence = Influence(run, games)
        self._leader = field.players[0]
        self._rivals = [
            self._rival(index) for index in range(1, min(len(field.players), RIVALS + 1))
        ]
        self._refits: dict[tuple[int, ...], Array] = {}

    def _rival(self, index: int) -> _Rival:
        field = self._field
        slope = self._run.scale.slope
        pair = field.take(np.array([0, index]))
        target = self._influence.target(self._run.joint.sum_of(pair.skills, np.array([1.0, -1.0])))
        influence = slope * self._influence.changes_without(target)
        order = np.argsort(influence, kind="stable")
        return _Rival(
            player=field.players[index],
            target=target,
            lead=float(field.mean[0] - field.mean[index]),
            influence=influence,
            order=order[influence[order] < 0.0],
        )

    def _lead_without(self, rival: _Rival, rows: Sequence[int]) -> float:
        """What is left of the lead over a rival without games, to first order, shown points."""
        supposed = self._influence.suppose(Supposition(np.array(sorted(rows))))
        return rival.lead + self._run.scale.slope * supposed.of(rival.target).change

    def _predicted(self, rival: _Rival) -> Removal | None:
        """The fewest of the games with the most influence without which the lead is lost; None beyond `MOST`."""
        most = min(len(rival.order), MOST)
        if not most or self._lead_without(rival, rival.order[:most].tolist()) >= 0.0:
            return None
        low = 0
        high = most
        while high - low > 1:
            middle = (low + high) // 2
            if self._lead_without(rival, rival.order[:middle].tolist()) < 0.0:
                high = middle
            else:
                low = middle
        rows = tuple(rival.order[:high].tolist())
        return Removal(rows, rival.player, self._lead_without(rival, rows))

    def _all_of_leader(self) -> Removal | None:
        """All games of the number one up to the period, without which there is no skill; None for too many."""
        games = self._games
        leader = games.players.index(self._leader)
        period = period_of(games.date, cast("Period", self._run.meta.period))
        is_up_to = period <= self._field.period_number[0]
        further = further_members(games)
        plays = (games.white == leader) | (games.black == leader)
        plays[further.game[further.player == leader]] = True
        rows = np.flatnonzero(plays & is_up_to)
        if len(rows) > MOST or len(rows) == len(games):
            return None
        return Removal(tuple(rows.tolist()), self._field.players[1], -np.inf)

    def first_change(self) -> Removal:
        """A small set without which the number one changes. Raises LookupFailed if there is none."""
        predicted = [self._predicted(rival) for rival in self._rivals]
        removals = [
            removal for removal in (*predicted, self._all_of_leader()) if removal is not None
        ]
        removals.sort(key=lambda removal: (len(removal.rows), removal.lead))
        orders = {rival.player: rival.order for rival in self._rivals}
        for removal in removals[:REFITS]:
            rows = removal.rows
            for more in range(REFITS):
                rows = (
                    removal.rows
                    if more == 0
                    else tuple(orders[removal.rival][: len(removal.rows) + more].tolist())
                )
                if self._changes(rows):
                    return removal._replace(rows=rows)
        raise LookupFailed(
            f"no {MOST} games or fewer were found without which {self._leader} is not number one",
        )

    def changing_set(self, size: int) -> Removal | None:
        """A set of this many games without which the number one changes; None if none was found."""
        candidates = sorted(self._candidates(size), key=lambda removal: removal.lead)
        return next(
            (removal for removal in candidates[:TRIED] if self._changes(removal.rows)), None
        )

    def _candidates(self, size: int) -> Iterator[Removal]:
        """Sets of this many games that nearly lose the lead by prediction."""
        everything = self._all_of_leader()
        if everything is not None and len(everything.rows) == size:
            yield everything
        for rival in self._rivals:
            for rows in _largest_sums(rival, size):
                lead = self._lead_without(rival, rows)
                if lead < NEARLY * rival.lead:
                    yield Removal(rows, rival.player, lead)

    def _means(self, rows: tuple[int, ...]) -> Array:
        """Means of the field without games, refitted; NaN without a game up to the period."""
        key = tuple(sorted(rows))
        if key not in self._refits:
            with self._refit(games_without(self._games, np.array(key))) as refitted:
                without = WithoutByRefit(self._run, refitted)
                self._refits[key] = without.means(self._field.skills, self._field.mean)
        return self._refits[key]

    def _changes(self, rows: tuple[int, ...]) -> bool:
        """Whether another player is number one without games, refitted."""
        if len(rows) == len(self._games):
            return False
        leaders = self._field.leaders(self._means(rows))
        return bool(leaders) and self._leader not in leaders.values()

    def result(self, removal: Removal) -> FewestRemovals:
        """The games of a removal, those with the most influence on the lead first, and the refit without them."""
        means = self._means(removal.rows)
        (new_leader,) = self._field.leaders(means).values()
        former_mean = float(means[0])
        index = self._field.players.index(new_leader)
        rival = next(rival for rival in self._rivals if rival.player in (new_leader, removal.rival))
        rows = sorted(removal.rows, key=lambda row: float(rival.influence[row]))
        leads = [self._lead_without(rival, rows[: count + 1]) for count in range(len(rows))]
        return FewestRemovals(
            rows=tuple(rows),
            leader=self._leader,
            new_leader=new_leader,
            leads=tuple(leads),
            means=(None if np.isnan(former_mean) else former_mean, float(means[index])),
        )


def _largest_sums(rival: _Rival, size: int) -> list[tuple[int, ...]]:
    """Sets of games that together reduce the lead most, by the sum of their influence, most first."""
    first = rival.order[: max(IN_COMBINATIONS, size + 2)].tolist()
    if size > len(first):
        return []
    if size > IN_COMBINATIONS // 2:
        return [tuple(first[:size])]
    sets = list(combinations(first, size))
    sums = np.array([rival.influence[list(rows)].sum() for rows in sets])
    order = np.argsort(sums, kind="stable")[:COMBINATIONS]
    hopeful = order[rival.lead + sums[order] < HOPELESS * rival.lead]
    return [sets[index] for index in hopeful.tolist()]
