"""Why a skill is what it is: the games, opponents, events, years and sources that move it most."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from ttt_cli.games.game_fields import date_texts
from ttt_cli.games.table import Games
from ttt_cli.runs.run import Run
from ttt_cli.support.arrays import Places
from ttt_cli.support.errors import ConfigError, suggested
from ttt_cli.views.columns import Column, build_rows, each
from ttt_cli.views.opponent_chains import chain_rows
from ttt_cli.views.rows import Rows, integral
from ttt_cli.views.run import load_influence_meanwhile, run_line
from ttt_cli.views.sides import GameWords, game_words
from ttt_cli.views.why_groups import GROUPINGS, GameGroups, by_opponent
from ttt_cli.views.why_kinds import CHAIN, GAME, KINDS, OPPONENT
from ttt_cli.views.why_question import Question, find_question

if TYPE_CHECKING:
    from ttt_cli.inference.influence import (
        Influence,
        OneGame,
        SkillChange,
        Supposed,
        Target,
    )

NUMBER: Final = 10  # rows by default: each takes two solutions of the joint Gaussian


@dataclass(frozen=True)
class Reason:
    """Games, and what a skill or lead would be without them, shown units.

    - `name`: of the opponent, event, year or source; the date of a game
    - `players`, `outcome`, `result`: of a single game, White first
    - `games`: their number, weighted
    - `without`: the skill or lead without them; `before` the one with them
    - `alone`: a single game as it looks from all others
    """

    name: str
    players: tuple[str, str]
    outcome: int
    result: str
    event: str
    games: float
    without: SkillChange
    before: float
    slope: float
    alone: OneGame | None

    @property
    def change(self) -> float:
        """Change without the games, shown points."""
        return self.slope * self.without.change

    def change_if(self, outcome: int) -> float | None:
        """Change if White's game had this outcome, shown points; None for the outcome that it had."""
        if self.alone is None or outcome == self.outcome:
            return None
        return self.slope * self.alone.changes[outcome]


_CHANGES: Final[tuple[Column[Reason], ...]] = (
    Column("change", "points", "change of the mean without these games", each(lambda row: row.change), decimals=1),
    Column(
        "mean_without", "points", "mean without these games; with `--versus` of the lead",
        each(lambda row: row.before + row.change), decimals=1,
    ),
    Column(
        "sd_without", "points", "its sd without these games", each(lambda row: row.slope * row.without.sd), decimals=1
    ),
)  # fmt: skip
GAME_COLUMNS: Final[tuple[Column[Reason], ...]] = (
    Column("date", "", "date of the game", each(lambda row: row.name), unfolded=True),
    Column("white", "", "player named first", each(lambda row: row.players[0])),
    Column("black", "", "player named second", each(lambda row: row.players[1])),
    Column("result", "", "result", each(lambda row: row.result)),
    Column(
        "expected", "points of games", "White's score that all other games let expect",
        each(lambda row: row.alone.expected if row.alone else None), decimals=2,
    ),
    *_CHANGES,
    Column("if_white", "points", "change of the mean if White had won", each(lambda row: row.change_if(2)), decimals=1),
    Column("if_draw", "points", "change of the mean if it was drawn", each(lambda row: row.change_if(1)), decimals=1),
    Column("if_black", "points", "change of the mean if Black had won", each(lambda row: row.change_if(0)), decimals=1),
    Column("event", "", "event", each(lambda row: row.event)),
)  # fmt: skip
GROUP_COLUMNS: Final[tuple[Column[Reason], ...]] = (
    Column("games", "games", "games that are left out", each(lambda row: integral(row.games))),
    *_CHANGES,
)


def why_rows(
    run: Run,
    name: str,
    at: str | int | None = None,
    versus: str | None = None,
    by: str = GAME,
    number: int | None = NUMBER,
) -> Rows:
    """What moves the mean skill of a player in a period most, or the lead over another, largest changes first.

    `at`: the peak by default. `by`: one of `KINDS`; an opponent's games are those with the player, those of an event,
    a year and a source everybody's; `chain`: see `chain_rows`. Raises LookupFailed, ConfigError for runs without
    influence, RunError without a joint posterior.
    """
    if by not in KINDS:
        raise ConfigError(
            f"nothing is grouped by {by!r}", hint=suggested(by, KINDS, f"by {', '.join(KINDS)}")
        )
    if by != CHAIN:
        load_influence_meanwhile()
    with run:
        question = find_question(run, name, at, versus)
        if by == CHAIN:
            return chain_rows(run, question, number)
        games = run.stored_games()
        from ttt_cli.inference.influence import Influence

        influence = Influence(run, games)
        target = influence.target(run.joint.sum_of(question.skills, question.weights))
        groups = _group_games(run, games, question, by)
        changes = influence.changes_without(target)
        estimates = np.bincount(groups.group, changes[groups.row])
        order = np.argsort(-np.abs(estimates), kind="stable")
        chosen = [group for group in order[:number].tolist() if estimates[group] != 0.0]
        before = run.scale.slope * target.sum.mean
        if question.opponent is None:
            before += run.scale.shift
        team_names = games.teams.names(games.players)
        computed = _Reasons(
            games, game_words(run), team_names, influence, target, before, run.scale.slope
        )
        if by == GAME:
            reasons = [computed.of_game(row) for row in chosen]
        else:
            reasons = [computed.of_group(groups, group) for group in chosen]
    reasons.sort(key=lambda reason: -abs(reason.change))
    named = Column[Reason](by, "", f"the {by}", each(lambda row: row.name))
    columns = GAME_COLUMNS if by == GAME else (named, *GROUP_COLUMNS)
    sd = run.scale.slope * target.sd
    title = f"{question.words}: {before:.1f} +- {sd:.1f}; what it would be without the games of each {by}"
    if by == GAME:
        title = f"{question.words}: {before:.1f} +- {sd:.1f}; what it would be without each game"
    return game_words(run).renamed(build_rows(run, columns, reasons, (title, run_line(run))))


def _group_games(run: Run, games: Games, question: Question, by: str) -> GameGroups:
    """The groups of games to leave out. Raises ConfigError."""
    if by == OPPONENT:
        return by_opponent(games, question.player)
    try:
        return GROUPINGS[by](games)
    except ConfigError as error:
        raise ConfigError(error.message, where=run.name, hint=error.hint) from None


class _Reasons(NamedTuple):
    """Computes what a target would be without some games.

    | name | |
    |---|---|
    | games | of the run |
    | words | how results are called |
    | team_names | how each team of them is shown, empty where a side is a player |
    | target | the skill or lead |
    | before | its mean, shown units |
    """

    games: Games
    words: GameWords
    team_names: Sequence[str]
    influence: Influence
    target: Target
    before: float
    slope: float

    def of_group(self, groups: GameGroups, group: int) -> Reason:
        """The reason that the games of a group are."""
        from ttt_cli.inference.influence import Supposition

        rows = groups.rows_of(group)
        return self._reason(groups.names[group], rows, self.influence.suppose(Supposition(rows)))

    def of_game(self, row: int) -> Reason:
        """The reason that a game is."""
        from ttt_cli.inference.influence import Supposition

        supposed = self.influence.suppose(Supposition(np.array([row])))
        (date,) = date_texts(self.games, slice(row, row + 1))
        return self._reason(date, np.array([row]), supposed, supposed.one_game(self.target))

    def _reason(
        self, name: str, rows: Places, supposed: Supposed, alone: OneGame | None = None
    ) -> Reason:
        games = self.games
        first = int(rows[0])
        white = self.team_names[games.white_team[first]] or games.players[games.white[first]]
        black = self.team_names[games.black_team[first]] or games.players[games.black[first]]
        outcome = int(games.outcome[first])
        return Reason(
            name=name,
            players=(white, black),
            outcome=outcome,
            result=self.words.result_of_game(outcome, float(games.victory_margin[first])),
            event=games.event.values[games.event.codes[first]],
            games=float(games.weight[rows].sum()),
            without=supposed.of(self.target),
            before=self.before,
            slope=self.slope,
            alone=alone,
        )
