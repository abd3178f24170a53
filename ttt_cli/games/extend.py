"""Games added to others: as if the files of both had been read one after the other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ttt_cli.config.schema import DataConfig
from ttt_cli.games.aliases import Aliases, read_aliases
from ttt_cli.games.covariates import CovariateTexts
from ttt_cli.games.dictionaries import NameDictionary
from ttt_cli.games.join_people import join_people
from ttt_cli.games.people import NO_PEOPLE, PeopleTable
from ttt_cli.games.players import SideColumns, find_mentions, identify
from ttt_cli.games.table import (
    PRECISION_DAY,
    GameColumns,
    Games,
    games_from_columns,
    joined,
    no_numbers,
    years_of,
)
from ttt_cli.games.team_mentions import has_player_twice
from ttt_cli.games.teams import Teams, joined_teams
from ttt_cli.reading.people import read_people
from ttt_cli.reading.reports import (
    DROPPED,
    DUPLICATE,
    LINES,
    OF_PEOPLE,
    SAME_PLAYER,
    FileReport,
    Problem,
    ReadReport,
)
from ttt_cli.support.arrays import Ids, Mask, Places

_DEFAULT: Final = DataConfig()


@dataclass(frozen=True)
class Extended:
    """Old and new games in one table."""

    games: Games
    added: Games  # the new ones with their own report, and the players of all
    repeats: int  # number of new records that seem to repeat an old game; with dedupe they are not in `games`
    # whether the alias file differs from that of the old games; names united then stay united
    aliases_changed: bool = False


def extend_games(old: Games, new: Games, data: DataConfig = _DEFAULT) -> Extended:
    """Join two tables of games, sorted as if read one after the other, with files and problems of both.

    Names are united by `data.names` and `data.aliases`, and `data.people` are joined to all players; games of a player
    against himself are dropped. New records repeat old ones if day, players, colours, result and weight are equal;
    `data.filter.dedupe` drops them. Raises DataError when the alias file or the people cannot be used.
    """
    united = unite(old, new, data)
    rows = JoinedRows.of(united.columns, n_old=len(old), n_old_files=len(old.report.files))
    columns = rows.columns
    same_player = has_player_twice(
        columns.white, columns.black, columns.white_team, columns.black_team, united.teams
    )
    repeated = find_repeats(rows) & ~same_player
    dedupe = data.filter.dedupe
    reports = _reports(old, new, data, united, rows, same_player, repeated)
    used = np.flatnonzero(~(same_player | repeated) if dedupe else ~same_player)
    used = used[np.argsort(rows.columns.date[used], kind="stable")]
    games = games_from_columns(
        rows.columns.take(used),
        united.players,
        reports.of_all,
        (*united.old_spellings, *united.new_spellings),
        reports.people,
        teams=united.teams,
    )
    added = games.columns.take(rows.is_new[used])
    added = added._replace(source_file=added.source_file - np.int32(len(old.report.files)))
    return Extended(
        games=games,
        added=Games(
            **added._asdict(),
            players=games.players,
            teams=games.teams,
            report=reports.of_new,
            spellings=united.new_spellings,
            people=games.people,
        ),
        repeats=_count_records(rows, repeated),
        aliases_changed=_have_changed(old.report, new.report),
    )


class _Reports(NamedTuple):
    """What became of all records, and of the new ones; and what is known of all players."""

    of_all: ReadReport
    of_new: ReadReport
    people: PeopleTable


def _reports(
    old: Games,
    new: Games,
    data: DataConfig,
    united: United,
    rows: JoinedRows,
    same_player: Mask,
    repeated: Mask,
) -> _Reports:
    """The reports of both readings, recounted with records that name one player twice or repeat others.

    A file of people is joined to all players, in place of what was known of the old and of the new ones.
    """
    files = (*old.report.files, *new.report.files)
    files = recount(files, rows, same_player, SAME_PLAYER, dropped=True)
    files = recount(files, rows, repeated, DUPLICATE, dropped=data.filter.dedupe)
    old_problems = (
        *old.report.problems,
        *_problems(rows, same_player & ~rows.is_new, files, united.players),
    )
    new_problems = (
        *new.report.problems,
        *_problems(rows, same_player & rows.is_new, files, united.players),
    )
    people = NO_PEOPLE
    people_report = None
    if data.people is not None:
        spellings = (*united.old_spellings, *united.new_spellings)
        joined_people = join_people(
            read_people(data.people), united.players, spellings, data.names, united.aliases
        )
        people = joined_people.table
        people_report = joined_people.report
        old_problems = _without_people(old_problems)
        new_problems = (*_without_people(new_problems), *joined_people.problems)
    of_all = ReadReport(
        files,
        (*old_problems, *new_problems),
        new.report.aliases or old.report.aliases,
        people_report,
        new.report.corrections or old.report.corrections,
    )
    of_new = ReadReport(
        files[len(old.report.files) :],
        new_problems,
        new.report.aliases,
        people_report,
        new.report.corrections,
    )
    return _Reports(of_all, of_new, people)


def _have_changed(old: ReadReport, new: ReadReport) -> bool:
    """Whether both readings used the same alias file, with another content."""
    return (
        old.aliases is not None
        and new.aliases is not None
        and old.aliases.path == new.aliases.path
        and old.aliases.digest != new.aliases.digest
    )


def _without_people(problems: Iterable[Problem]) -> tuple[Problem, ...]:
    """The problems that are not of the file of people."""
    return tuple(problem for problem in problems if problem.reason not in OF_PEOPLE)


class United(NamedTuple):
    """Old and new games with names united: the players, pairs of a player and another spelling, the alias file."""

    columns: GameColumns  # the old games, then the new ones; and so for files
    teams: Teams
    players: tuple[str, ...]
    old_spellings: tuple[tuple[str, str], ...]
    new_spellings: tuple[tuple[str, str], ...]
    aliases: Aliases


def unite(old: Games, new: Games, data: DataConfig) -> United:
    """Unite names by `data.names` and `data.aliases`. Raises DataError when the alias file cannot be used."""
    date = np.concatenate([old.date, new.date])
    dictionary = NameDictionary(clean=True)
    names = _names_of_sides_and_members(old, new, dictionary)
    aliases = Aliases() if data.aliases is None else read_aliases(data.aliases)
    years = _years_of_mentions(date, old, new) if aliases.by_years else None
    distinct = find_mentions(names, len(dictionary.values), years=years)
    identified = identify(dictionary, distinct.mentions, data.names, aliases)
    # the players of the games' sides, then the members of teams, who are the same on both sides
    n_games = len(date)
    white_and_members = identified.player[distinct.number_of.white].astype(np.int32)
    black_and_members = identified.player[distinct.number_of.black].astype(np.int32)
    teams = joined_teams(old.teams, new.teams)
    n_old_files = np.int32(len(old.report.files))
    n_old_teams = np.int32(len(old.teams) - 1)
    columns = GameColumns(
        date=date,
        date_precision=np.concatenate([old.date_precision, new.date_precision]),
        white=white_and_members[:n_games],
        black=black_and_members[:n_games],
        outcome=np.concatenate([old.outcome, new.outcome]),
        weight=np.concatenate([old.weight, new.weight]),
        offset=np.concatenate([old.offset, new.offset]),
        source_file=np.concatenate([old.source_file, new.source_file + n_old_files]),
        source_line=np.concatenate([old.source_line, new.source_line]),
        neutral=np.concatenate([old.neutral, new.neutral]),
        victory_margin=np.concatenate([old.victory_margin, new.victory_margin]),
        p_true=np.concatenate([old.p_true, new.p_true]),
        white_team=_joined_numbers(old.white_team, new.white_team, n_old_teams),
        black_team=_joined_numbers(old.black_team, new.black_team, n_old_teams),
        race=_joined_numbers(old.race, new.race, np.int32(old.race.max(initial=0))),
        event=joined(old.event, new.event),
        site=joined(old.site, new.site),
        round=joined(old.round, new.round),
        category=joined(old.category, new.category),
        source=joined(old.source, new.source),
        covariates=_joined_covariates(old.covariates, new.covariates),
    )
    player_of = {spelling: player for player, spelling in identified.spellings}
    return United(
        columns,
        replace(teams, player=white_and_members[n_games:]),
        identified.players,
        old_spellings=_with_present_names(old.spellings, player_of),
        new_spellings=_with_present_names((*new.spellings, *identified.spellings), player_of),
        aliases=aliases,
    )


def _names_of_sides_and_members(old: Games, new: Games, dictionary: NameDictionary) -> SideColumns:
    """Names in the dictionary, to which they are added: of both sides of all games, then of the members of teams.

    Members are mentioned on both sides, so that both columns have the same length.
    """
    old_names = dictionary.numbers_of(old.players)
    new_names = dictionary.numbers_of(new.players)
    members = np.concatenate([old_names[old.teams.player], new_names[new.teams.player]])
    return SideColumns(
        white=np.concatenate([old_names[old.white], new_names[new.white], members]),
        black=np.concatenate([old_names[old.black], new_names[new.black], members]),
    )


def _joined_numbers(old: Ids, new: Ids, n_old: np.int32) -> Ids:
    """Numbers of teams or orders of finish of old and new games; those of new ones come after so many old ones."""
    if not old.any() and not new.any():
        return no_numbers(len(old) + len(new))
    return np.concatenate([old, np.where(new > 0, new + n_old, np.int32(0))])


def _years_of_mentions(date: Ids, old: Games, new: Games) -> NDArray[np.int16]:
    """The year of each game; then that of the first game of the team of each member."""
    years = years_of(date)
    of_teams = []
    for games in (old, new):
        first = np.full(len(games.teams), len(games))
        for team in (games.white_team, games.black_team):
            np.minimum.at(first, team, np.arange(len(games)))
        of_teams.append(years_of(games.date)[first[games.teams.team_of_member]])
    return np.concatenate([years, *of_teams])


def _joined_covariates(
    first: Sequence[CovariateTexts], second: Sequence[CovariateTexts]
) -> tuple[CovariateTexts, ...]:
    """The covariates of two tables of games, of the same names, one after the other."""
    return tuple(
        CovariateTexts(
            before.name,
            before.is_category,
            single=joined(before.single, after.single),
            white=joined(before.white, after.white),
            black=joined(before.black, after.black),
        )
        for before, after in zip(first, second, strict=True)
    )


def _with_present_names(
    spellings: Iterable[tuple[str, str]], player_of: Mapping[str, str]
) -> tuple[tuple[str, str], ...]:
    """All pairs of a player and a spelling, with the players' present names (`player_of`: those that have changed).

    A spelling that is now the player's name is left out.
    """
    present = [(player_of.get(player, player), spelling) for player, spelling in spellings]
    return tuple((player, spelling) for player, spelling in present if player != spelling)


class JoinedRows(NamedTuple):
    """Old games, then new ones; arrays of shape (games,)."""

    columns: GameColumns
    is_new: Mask
    in_file: Mask  # games that were made without files have none
    record: Places  # a number of the record, which a match of several rows shares

    @classmethod
    def of(cls, columns: GameColumns, *, n_old: int, n_old_files: int) -> JoinedRows:
        """Number the records: those of the old and of the new games of each file by their lines.

        Old games that were made without files have the number of the first new file; `is_new` tells them apart.
        A record has the number (2 file + is_new) (lines + 1) + line. Positions from LINES on, of records that share a
        line, would make it too large for 64 bits: then `line` is the rank of the position.
        """
        is_new = np.arange(len(columns.date)) >= n_old
        lines = columns.source_line
        if lines.max(initial=0) > LINES:
            lines = np.unique(lines, return_inverse=True)[1]
        file = 2 * columns.source_file.astype(np.int64) + is_new
        record: Places = file * (lines.max(initial=0) + 1) + lines
        return cls(columns, is_new, is_new | (n_old_files > 0), record)


def _first_rows(rows: JoinedRows, chosen: Mask) -> Places:
    """The first of the chosen rows of each record."""
    chosen_rows = np.flatnonzero(chosen)
    _, first = np.unique(rows.record[chosen_rows], return_index=True)
    return chosen_rows[first]


def _count_records(rows: JoinedRows, chosen: Mask) -> int:
    return len(_first_rows(rows, chosen))


def find_repeats(rows: JoinedRows) -> Mask:
    """Mask of new games that repeat old ones; of equal games as many as there are old.

    New records of several rows (matches) are not compared: a match may well begin with a result that was there before.

    Rows are sorted by all that has to be equal, so that equal games are a group, the n old ones first. The n new ones
    behind them are repeats: of old old new new new the third new one is another game.
    """
    columns = rows.columns
    _, number, n_rows = np.unique(rows.record, return_inverse=True, return_counts=True)
    is_of_match = n_rows[number] > 1
    is_exact = columns.date_precision == PRECISION_DAY
    new_dates = columns.date[rows.is_new]
    may_repeat = is_exact & ~(is_of_match & rows.is_new) & np.isin(columns.date, new_dates)
    # teams are not compared
    may_repeat &= (columns.white_team == 0) & (columns.black_team == 0) & (columns.race == 0)
    candidates = np.flatnonzero(may_repeat)
    keys = [
        column[candidates]
        for column in (columns.date, columns.white, columns.black, columns.outcome, columns.weight)
    ]
    order = np.lexsort(keys[::-1])  # stable: of equal games the old ones come first
    differs = [key[order][1:] != key[order][:-1] for key in keys]
    is_first = np.ones(len(order), np.bool_)
    is_first[1:] = np.any(differs, axis=0)
    group = np.cumsum(is_first) - 1
    is_new = rows.is_new[candidates[order]]
    n_old = np.bincount(group, ~is_new)[group]
    position_in_group = np.arange(len(order)) - np.flatnonzero(is_first)[group]
    position_among_new = position_in_group - n_old
    repeats = is_new & (position_among_new < n_old)
    repeated = np.zeros(len(rows.is_new), np.bool_)
    repeated[candidates[order[repeats]]] = True
    return repeated


def recount(
    files: Sequence[FileReport], rows: JoinedRows, chosen: Mask, reason: str, *, dropped: bool
) -> tuple[FileReport, ...]:
    """The reports of files with the records of the chosen rows counted as dropped, or as noticed."""
    recounted = list(files)
    first = _first_rows(rows, chosen & rows.in_file)
    for number, count in Counter(rows.columns.source_file[first].tolist()).items():
        file = recounted[number]
        if dropped:
            recounted[number] = replace(
                file, used=file.used - count, dropped=_with_more(file.dropped, reason, count)
            )
        else:
            recounted[number] = replace(file, noticed=_with_more(file.noticed, reason, count))
    return tuple(recounted)


def _with_more(counts: Mapping[str, int], reason: str, count: int) -> dict[str, int]:
    return {**counts, reason: counts.get(reason, 0) + count}


def _problems(
    rows: JoinedRows, same_player: Mask, files: Sequence[FileReport], players: Sequence[str]
) -> list[Problem]:
    """The problems of records whose two names are now one player's."""
    columns = rows.columns
    problems = []
    for row in _first_rows(rows, same_player & rows.in_file).tolist():
        path = files[columns.source_file[row]].path
        player = players[columns.white[row]]
        problems.append(Problem(path, int(columns.source_line[row]), SAME_PLAYER, player, DROPPED))
    return problems
