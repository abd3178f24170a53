"""Why a skill is what it is: the games, opponents, events, years and sources that move it most."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ttt_cli.games.game_fields import date_texts
from ttt_cli.games.lineup import further_members
from ttt_cli.games.table import Games
from ttt_cli.inference.influence import Influence, OneGame, SkillChange, Supposition, Target
from ttt_cli.runs.run import Run
from ttt_cli.support.arrays import Places
from ttt_cli.support.errors import ConfigError, suggested
from ttt_cli.views.columns import Column, build_rows, each
from ttt_cli.views.opponent_chains import chain_rows
from ttt_cli.views.rows import Rows, integral
from ttt_cli.views.run import run_line
from ttt_cli.views.sides import game_words
from ttt_cli.views.why_question import Question, find_question

GAME: Final = "game"
CHAIN: Final = "chain"
KINDS: Final = (GAME, "opponent", "event", "year", "source", CHAIN)
NUMBER: Final = 10  # rows by default: each takes two solutions of the joint Gaussian
_EPOCH: Final = 1970
_YEARS: Final = 10_000  # years are numbers below it


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
    with run:
        question = find_question(run, name, at, versus)
        if by == CHAIN:
            return chain_rows(run, question, number)
        games = run.stored_games()
        influence = Influence(run, games)
        target = influence.target(run.joint.sum_of(question.skills, question.weights))
        groups = _GroupsOfGames(run, games, influence, question, by)
        changes = influence.changes_without(target)
        estimates = np.bincount(groups.of_game, changes[groups.games])
        order = np.argsort(-np.abs(estimates), kind="stable")
        chosen = [index for index in order[:number].tolist() if estimates[index] != 0.0]
        before = run.scale.slope * target.sum.mean
        if question.opponent is None:
            before += run.scale.shift
        reasons = [groups.reason(index, target, before) for index in chosen]
    reasons.sort(key=lambda reason: -abs(reason.change))
    named = Column[Reason](by, "", f"the {by}", each(lambda row: row.name))
    columns = GAME_COLUMNS if by == GAME else (named, *GROUP_COLUMNS)
    sd = run.scale.slope * target.sd
    title = f"{question.words}: {before:.1f} +- {sd:.1f}; what it would be without the games of each {by}"
    if by == GAME:
        title = f"{question.words}: {before:.1f} +- {sd:.1f}; what it would be without each game"
    return game_words(run).renamed(build_rows(run, columns, reasons, (title, run_line(run))))


class _GamesOfOpponents(NamedTuple):
    """Games of a player, once for each opponent, (games,) each."""

    game: Places
    opponent: NDArray[np.integer]


def _opponents(table: Games, player: int) -> _GamesOfOpponents:
    """The games of a player with all who were on the other side."""
    further = further_members(table)
    rows = np.arange(len(table))
    game = np.concatenate([rows, rows, further.game])
    is_black = np.concatenate([np.repeat([False, True], len(table)), further.is_black])
    person = np.concatenate([table.white, table.black, further.player])
    own = np.flatnonzero(person == player)
    plays = np.zeros(len(table), np.bool_)
    plays_black = np.zeros(len(table), np.bool_)
    plays[game[own]] = True
    plays_black[game[own]] = is_black[own]
    entry = np.flatnonzero(plays[game] & (is_black != plays_black[game]))
    entry = entry[np.argsort(game[entry], kind="stable")]
    return _GamesOfOpponents(game[entry], person[entry])


class _GroupsOfGames:
    """Games of a run in groups.

    - `games`: the games that belong to a group; `of_game`: the index of it, of each of them
    - `names`: of the groups, none of single games
    """

    def __init__(
        self, run: Run, games: Games, influence: Influence, question: Question, by: str
    ) -> None:
        self._run = run
        self._influence = influence
        self._is_single = by == GAME
        self._table = games
        self._team_names = games.teams.names(games.players)
        total = len(self._table)
        self.games: Places = np.arange(total)
        self.names: Sequence[str] = ()
        if by == GAME:
            self.of_game: NDArray[np.integer] = self.games
        elif by == "event":
            events = self._table.event
            has_event = np.array([text != "" for text in events.values], np.bool_)[events.codes]
            self.games = np.flatnonzero(has_event)
            keys = events.codes[self.games].astype(np.int64) * _YEARS + self._years()[self.games]
            distinct, self.of_game = np.unique(keys, return_inverse=True)
            self.names = [
                f"{events.values[key // _YEARS]} ({key % _YEARS})" for key in distinct.tolist()
            ]
        elif by == "source":
            sources = self._table.source
            has_source = np.array([text != "" for text in sources.values], np.bool_)[sources.codes]
            self.games = np.flatnonzero(has_source)
            if not len(self.games):
                raise ConfigError(
                    "its games have no sources",
                    where=run.name,
                    hint="data.source at the fit: a column, or file",
                )
            self.of_game = sources.codes[self.games]
            self.names = sources.values
        elif by == "year":
            years, self.of_game = np.unique(self._years(), return_inverse=True)
            self.names = [f"{year:04d}" for year in years.tolist()]
        else:
            player = self._table.players.index(question.player)
            self.games, self.of_game = _opponents(self._table, player)
            self.names = self._table.players

    def _years(self) -> Places:
        """The year of each game of the run."""
        years: Places = (
            self._table.date.astype("datetime64[D]").astype("datetime64[Y]").astype(np.int64)
            + _EPOCH
        )
        return years

    def _side(self, player: int, team: int) -> str:
        """The name of a side."""
        return self._team_names[team] or self._table.players[player]

    def reason(self, index: int, target: Target, before: float) -> Reason:
        """What the target would be without a group."""
        games = self.games[self.of_game == index]
        supposed = self._influence.suppose(Supposition(games))
        first = int(games[0])
        table = self._table
        outcome = int(table.outcome[first])
        return Reason(
            name=date_texts(table, slice(first, first + 1))[0]
            if self._is_single
            else self.names[index],
            players=(
                self._side(table.white[first], table.white_team[first]),
                self._side(table.black[first], table.black_team[first]),
            ),
            outcome=outcome,
            result=game_words(self._run).result_of_game(
                outcome, float(table.victory_margin[first])
            ),
            event=table.event.values[table.event.codes[first]],
            games=float(table.weight[games].sum()),
            without=supposed.of(target),
            before=before,
            slope=self._run.scale.slope,
            alone=supposed.one_game(target) if self._is_single else None,
        )
