"""A stored run: opened, asked, never changed but for the evidence points it collects."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING

from ttt_cli.errors import LookupFailed, RunError
from ttt_cli.runs import curves
from ttt_cli.runs.asked import AskedRun, Row
from ttt_cli.runs.connection import NotARun, translated
from ttt_cli.runs.evidence import INSERT, SELECT, EvidencePoint, evidence_table
from ttt_cli.runs.locate import named_run, refuse_foreign, runs_here
from ttt_cli.runs.lookup import Found, find_player
from ttt_cli.runs.schema import DATABASE, GAMES_WITH_TEXTS, HELD, OF_JOINT, PUBLIC, TEXTS
from ttt_cli.runs.session import MemorySession, Session
from ttt_cli.runs.storing.journal import merge, note, noted

if TYPE_CHECKING:
    from pandas import DataFrame

    from ttt_cli.config.schema import Config
    from ttt_cli.fitted import Fit
    from ttt_cli.games.table import Games
    from ttt_cli.runs.joint import JointSkills
    from ttt_cli.timeline import Timeline

_CLOCK = 5.0  # seconds


def open_run(path: str | os.PathLike[str] | None = None, scale: Sequence[str] = ()) -> Run:
    """Open the run at `path`, else at `$TTT_RUN`, else that in the current folder (`*.ttt`) which was fitted last.

    `scale`: anchors such as `Lasker, Emanuel @ 1900 = 2720` instead of those in the run's config, also `matched` if
    they give the slope, too; or `points`. Raises RunError when there is no run, or it is none, damaged, too new or held
    by another process; and when it is neither named nor one's own.
    """
    named = named_run(path)
    run = _last_fitted(scale) if named is None else Run(named, Session(named), scale)
    _ = run.meta
    return run


def _last_fitted(scale: Sequence[str]) -> Run:
    """The run here that was made last. None is made later than its file was written to, but for coarse clocks."""
    best: Run | None = None
    none: NotARun | None = None  # other programs use the ending, too
    for path, written in runs_here():
        if best and datetime.fromisoformat(best.meta.created).timestamp() > written + _CLOCK:
            break
        refuse_foreign(path)
        run = Run(path, Session(path), scale)
        try:
            made = run.meta.created
        except NotARun as error:
            none = error
            continue
        if best is None or made > best.meta.created:
            best = run
    if best is None:
        assert none
        raise none
    return best


def memory_run(games: Games, timeline: Timeline, fit: Fit, config: Config, scale: Sequence[str] = ()) -> Run:
    """A run that lives in memory only, with all that a stored one has."""
    with translated(None):
        return Run(None, MemorySession(games, timeline, fit, config), scale)


class Run(AskedRun):
    """One run: its tables, its players, what is believed of them, and the evidence points that it collects."""

    def find_player(self, name: str) -> Found:
        """The player whom `name` means (`ttt_cli.runs.lookup`). Raises LookupFailed."""
        try:
            return find_player(lambda sql, parameters: self.query(sql, parameters)[1], name)
        except LookupFailed as error:
            raise LookupFailed(error.message, where=self.name, hint=error.hint) from None

    def skills(self, player: str | None = None) -> DataFrame:
        """Every player's skill in every period, or one player's (named as people do): a pandas DataFrame."""
        if player is None:
            return self._frame(PUBLIC["skills"])
        return self._frame(
            f"SELECT * FROM ({PUBLIC['skills']}) WHERE player = ?", [self.find_player(player).player]
        )

    def players(self) -> DataFrame:
        """The players with their first and last period, record and peak: a pandas DataFrame."""
        return self._frame(PUBLIC["players"])

    def games(self) -> DataFrame:
        """The games as they were used, with event, site and round as written: a pandas DataFrame."""
        return self._frame(self.public_query("games"))

    def public_query(self, table: str) -> str:
        """SQL of the rows of `skills`, `players` or `games` as people and scripts get them."""
        return GAMES_WITH_TEXTS if table == "games" and self.has_texts else PUBLIC[table]

    @property
    def has_joint(self) -> bool:
        """Whether the run holds a joint posterior, so that it is known what skills have in common."""
        return self.held_tables >= OF_JOINT and self._has_rows(f"{DATABASE}.main.steps")

    @cached_property
    def held_tables(self) -> frozenset[str]:
        """The tables that are in its file."""
        return frozenset(name for (name,) in self.query(HELD)[1])

    @cached_property
    def _draws(self) -> list[Row]:
        return curves.by_year(self, "draws")

    def draws(self) -> DataFrame:
        """Draw margins that move, by calendar year: `year`, `margin`, its `sd`, and `level`, a pandas DataFrame.

        Margins are those of players of the year's level, newcomers' where players have their own; nothing is in it
        where one margin holds for all.
        """
        return curves.frame(self, "draws")

    def newcomers(self) -> DataFrame:
        """How much better than `prior_mean` newcomers are, by calendar year: `year`, `mean`, `sd`, a pandas DataFrame.

        Nothing is in it where that is the same in all years.
        """
        return curves.frame(self, "newcomers")

    def career(self) -> DataFrame:
        """What skills do by themselves in the years after the debut: `years`, `mean` and `sd`, a pandas DataFrame.

        `mean` is what they gain, `sd` that of the walk around it. Nothing is in it where there are no careers.
        """
        return curves.frame(self, "career")

    def draws_in(self, year: int) -> dict[str, float] | None:
        """The parameters of games in a year where draw margins move, points: those of the last with games up to it."""
        if not self._draws:
            return None
        known = [row for row in self._draws if row[0] <= year] or self._draws[:1]
        return {"draw_margin": known[-1][1], "draw_margin_level": known[-1][3]}

    @property
    def has_texts(self) -> bool:
        """Whether the run holds what was written of its games: event, site and round."""
        return self.held_tables >= TEXTS and self._has_rows(f"{DATABASE}.main.texts")

    @property
    def has_neutral(self) -> bool:
        """Whether any game was on neutral ground."""
        return self._has_rows("neutral_games")

    def _has_rows(self, table: str) -> bool:
        return bool(self.query(f"SELECT 1 FROM {table} LIMIT 1")[1])

    @cached_property
    def joint(self) -> JointSkills:
        """The joint Gaussian of the run's skills, in points. Raises RunError where it holds none."""
        from ttt_cli.runs.joint import JointSkills

        return JointSkills(self)

    def covariance(self, skills: Sequence[tuple[str, str]]) -> DataFrame:
        """The covariance matrix of skills, (player, period) pairs as people name them: a pandas DataFrame.

        Exact, across periods, players and eras. Raises LookupFailed, and RunError where the run holds no joint
        posterior.
        """
        from pandas import DataFrame, MultiIndex

        from ttt_cli.runs.joint import meant

        with self:
            named, places = meant(self, skills)
            found = self.joint.covariance(places) * self.scale.slope**2
        index = MultiIndex.from_tuples(named, names=["player", "period"])
        return DataFrame(found, index=index, columns=index)

    def samples(self, n: int, seed: int, skills: Sequence[tuple[str, str]] | None = None) -> DataFrame:
        """`n` samples of skills, a column for each (player, period) pair, from their joint posterior: a DataFrame.

        None: those of all players in all their periods with games. Equal seeds give equal samples. Raises as
        `covariance`, and ConfigError where more than 1,000 are asked for of a run whose factor is out of reach.
        """
        from pandas import DataFrame, MultiIndex

        from ttt_cli.runs.joint import meant

        with self:
            if skills is None:
                named, found = self.joint.samples_of_all(n, seed)
            else:
                named, places = meant(self, skills)
                found = self.joint.samples(places, n, seed)
            shown = found * self.scale.slope + self.scale.shift
        return DataFrame(shown, columns=MultiIndex.from_tuples(named, names=["player", "period"]))

    def evidence(self) -> DataFrame:
        """The evidence points stored so far, parameters and results: a pandas DataFrame."""
        from pandas import DataFrame

        columns, rows = evidence_table(self.evidence_points())
        return DataFrame(rows, columns=list(columns))

    def evidence_points(self) -> list[EvidencePoint]:
        """The evidence points stored so far, the run's own first."""
        rows = self.query(SELECT)[1]
        if self.path is not None:
            rows += noted(self.path, self.meta.created)
        try:
            return [EvidencePoint.from_row(row) for row in {row[0]: row for row in rows}.values()]
        except (ValueError, TypeError, RecursionError) as error:
            raise RunError(
                "its evidence points cannot be read", where=self._where, hint="fit it again"
            ) from error

    def stored_games(self) -> Games:
        """The Games that were fitted, equal in every column: fitting them again gives the same Fit."""
        from ttt_cli.runs.storing.rebuild import rebuild_games

        with self._open() as connection:
            try:
                return rebuild_games(connection)
            except (ValueError, TypeError, OverflowError) as error:
                raise RunError("its games cannot be read", where=self._where, hint="fit it again") from error

    def store_evidence(self, points: Iterable[EvidencePoint]) -> None:
        """Keep evidence points, beside the run until `merge_evidence`: readers may hold its file meanwhile.

        Raises RunError when the disk does not take them, RunReplaced for another run in the same place.
        """
        rows = [point.to_row() for point in points]
        if not rows:
            return
        if self.path is None:
            with self._session.writable() as connection:
                connection.executemany(INSERT.format(table=f"{DATABASE}.main.evidence"), rows)
            return
        created = self.meta.created
        if self._session.changed:
            self.refuse_replaced()
        note(self.path, created, rows)

    def merge_evidence(self) -> None:
        """Move what `store_evidence` kept into the run's file, unless another process holds that for writing."""
        if self.path is not None:
            created = self.meta.created
            with self._session.released():
                merge(self.path, created)
