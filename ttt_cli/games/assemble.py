"""Assemble the records and games of a reading: names united, filters applied, every record accounted for.

    collected --find_shared--> SharedByRecords --load_records--> Records
    Records --select--> reject codes --account--> ReadReport

Games in files are made of the records of some years at a time, so that all these fit into memory.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ttt_cli.config.schema import DataConfig
from ttt_cli.games.categories import categories_of, category_names
from ttt_cli.games.collect import Collected, CollectedFile, StoredColumn
from ttt_cli.games.covariates import CovariateTexts
from ttt_cli.games.join_people import JoinedPeople, join_people
from ttt_cli.games.people import NO_PEOPLE
from ttt_cli.games.players import NOBODY, Identified, SideColumns, identify, unmatched
from ttt_cli.games.selection import NOTICED, PlayerClasses, classify_players, select
from ttt_cli.games.sources import with_one_spelling
from ttt_cli.games.table import (
    GAME_DTYPES,
    RECORD_TEXTS,
    GameColumns,
    Games,
    Records,
    game_columns,
    games_from_columns,
    no_numbers,
    no_texts,
    without_unused_texts,
)
from ttt_cli.games.team_mentions import (
    IdentifiedTeams,
    find_team_mentions,
    has_player_twice,
    identified_teams,
    without_teams,
)
from ttt_cli.games.teams import Teams
from ttt_cli.reading import reports as reasons
from ttt_cli.reading.columns import (
    CodedColumn,
    Codes,
    concatenated,
    counts_of,
    has_stride_0,
    spread,
)
from ttt_cli.reading.covariates import CATEGORY_WRITTEN, SOURCE, covariate_fields
from ttt_cli.reading.races import RACE
from ttt_cli.reading.reports import FileReport, Problem, ReadReport
from ttt_cli.storage import ArrayStorage
from ttt_cli.support.arrays import Array, Ids, Mask, Places
from ttt_cli.support.progress import SILENT, Progress

AT_ONCE: Final = 1 << 21  # records of which games are made at a time, or those of one year


class YearSpan(NamedTuple):
    """The first and the last of some years."""

    first: int
    last: int


class SharedByRecords(NamedTuple):
    """Who is who, and what the records of all files share.

    A mention is a distinct combination of name, id, status and year (`players.Mentions`). Records hold numbers of
    mentions, texts, dates and results.

    | name | shape | |
    |---|---|---|
    | identified | | the player of each mention |
    | team_of_mention | (mentions,) | number of its team, 0 for players |
    | teams | | their members |
    | player_classes | | which players filters drop |
    | written_of_mention | (mentions,) | its name as written; none where only games are wanted |
    | texts | | distinct texts of each column |
    | date_day, date_precision | (dates,) | as in `Records` |
    | tally | (results, 3) | games that White lost, drew and won in one record with the result |
    """

    identified: Identified
    team_of_mention: Codes
    teams: Teams
    player_classes: PlayerClasses
    written_of_mention: tuple[str, ...]
    texts: Mapping[str, Sequence[str]]
    date_day: Ids
    date_precision: NDArray[np.int8]
    tally: Array


class Selection(NamedTuple):
    """Records with filters applied, and what became of them."""

    records: Records
    dropped: Places  # (files, DROP_REASONS), numbers of records that filters dropped
    noticed: Places  # (files, NOTICED), numbers of used records with a remark
    same_player: list[Problem]  # records whose two names are one player's


def make_records(collected: Collected) -> Records:
    """All records, names united and filters applied. Takes the columns out of `collected`."""
    shared = find_shared(collected)
    selection = select_records(collected, shared, None)
    joined = people_of_players(collected, shared.identified)
    report = account(collected, selection.dropped, selection.noticed, selection.same_player, joined)
    return replace(
        selection.records,
        files=report.files,
        problems=report.problems,
        people=joined.table if joined else NO_PEOPLE,
        people_report=report.people,
    )


def make_games(collected: Collected, progress: Progress = SILENT) -> Games:
    """All games by date, then as read; players sorted by name. Takes the columns out of `collected`."""
    shared = find_shared(collected)
    spans = find_spans(collected)
    n_files = len(collected.files)
    dropped = np.zeros((n_files, len(reasons.DROP_REASONS)), np.int64)
    noticed = np.zeros((n_files, len(NOTICED)), np.int64)
    same_player: list[Problem] = []
    pieces: list[dict[str, StoredColumn]] = []
    with (progress if collected.by_year else SILENT).task(
        "sorting games", float(len(spans))
    ) as bar:
        for span in spans:
            selection = select_records(collected, shared, span)
            dropped += selection.dropped
            noticed += selection.noticed
            same_player += selection.same_player
            pieces.append(
                _store_games(game_columns(selection.records), collected.storage, len(pieces))
            )
            del selection
            bar.advance()
    for file in collected.files:
        file.columns.clear()
    columns = _join_pieces(pieces, shared.texts, collected.data, collected.storage)
    identified = shared.identified
    joined = people_of_players(collected, identified)
    report = account(collected, dropped, noticed, same_player, joined)
    people = joined.table if joined else NO_PEOPLE
    return games_from_columns(
        columns,
        identified.players,
        report,
        identified.spellings,
        people,
        collected.storage,
        shared.teams,
    )


def people_of_players(collected: Collected, identified: Identified) -> JoinedPeople | None:
    """What the file of people says of the players; None without a file."""
    if collected.people is None:
        return None
    return join_people(
        collected.people,
        identified.players,
        identified.spellings,
        collected.data.names,
        collected.aliases,
    )


def find_shared(collected: Collected) -> SharedByRecords:
    """Find out who is who, and collect what else records share.

    Raises ConfigError for a player of the filter who does not exist.
    """
    dictionaries = collected.dictionaries
    texts = _texts_by_column(collected)
    who_is_who = _identify_mentions(collected, texts)
    identified = who_is_who.with_teams.identified
    return SharedByRecords(
        identified=identified,
        team_of_mention=who_is_who.with_teams.team_of_mention,
        teams=who_is_who.with_teams.teams,
        player_classes=classify_players(
            identified.players, collected.data, who_is_who.n_records, collected.n_computers
        ),
        written_of_mention=_names_as_written(collected) if collected.everything else (),
        texts=texts,
        date_day=dictionaries.days,
        date_precision=np.array(
            [precision for _, _, precision in dictionaries.dates.values], np.int8
        ),
        tally=dictionaries.tallies,
    )


def _names_as_written(collected: Collected) -> tuple[str, ...]:
    """The name, or the members of the team, of each mention."""
    names = collected.dictionaries.names.values
    teams = collected.dictionaries.teams
    mentions = collected.mentions
    return tuple(
        teams.text_of(team, names) if team else names[name]
        for name, team in zip(mentions.name.tolist(), mentions.team.tolist(), strict=True)
    )


def _texts_by_column(collected: Collected) -> dict[str, Sequence[str]]:
    """The distinct texts of each column of records, which hold their numbers."""
    dictionaries = collected.dictionaries
    texts: dict[str, Sequence[str]] = {
        name: tuple(dictionary.values) for name, dictionary in dictionaries.columns.items()
    }
    texts["category"] = category_names(collected.data, texts.get(CATEGORY_WRITTEN, ()))
    texts["date"] = tuple(text for text, _, _ in dictionaries.dates.values)
    texts["result"] = tuple(text for text, _ in dictionaries.results.values)
    return texts


class _IdentifiedMentions(NamedTuple):
    """Who is who.

    | name | shape | |
    |---|---|---|
    | with_teams | | the player or team of each mention |
    | n_records | (players,) | in how many records each is mentioned, before filters |
    """

    with_teams: IdentifiedTeams
    n_records: Places


def _identify_mentions(
    collected: Collected, texts: Mapping[str, Sequence[str]]
) -> _IdentifiedMentions:
    """Unite the mentions of each player; those of teams are mentions of their members."""
    team_mentions = find_team_mentions(collected.dictionaries, collected.mentions)
    of_players = team_mentions.mentions if team_mentions else collected.mentions
    identified = identify(
        collected.dictionaries.names,
        of_players,
        collected.data.names,
        collected.aliases,
        ids=texts["white_id"],  # of both sides, in one dictionary
        statuses=texts.get("status", ()),
    )
    is_player = identified.player != NOBODY
    n_records = np.bincount(
        identified.player[is_player], of_players.times[is_player], len(identified.players)
    )
    with_teams = (
        identified_teams(team_mentions, identified) if team_mentions else without_teams(identified)
    )
    return _IdentifiedMentions(with_teams, n_records.astype(np.int64))


def find_spans(collected: Collected) -> Sequence[YearSpan | None]:
    """Years whose records are looked at together, at most AT_ONCE or those of one year; None: all records."""
    if not collected.by_year:
        return [None]
    n_records: Counter[int] = Counter()
    for file in collected.files:
        n_records.update(dict(zip(file.years.tolist(), np.diff(file.starts).tolist(), strict=True)))
    spans: list[YearSpan] = []
    n_in_span = 0
    for year in sorted(n_records):
        if spans and n_in_span + n_records[year] <= AT_ONCE:
            spans[-1] = YearSpan(spans[-1].first, year)
            n_in_span += n_records[year]
        else:
            spans.append(YearSpan(year, year))
            n_in_span = n_records[year]
    return spans


class LoadedRecords(NamedTuple):
    """Records before filters, and the numbers of White's and of Black's mention in each, (records,)."""

    records: Records
    mentions: SideColumns


def load_records(
    collected: Collected, shared: SharedByRecords, span: YearSpan | None
) -> LoadedRecords:
    """The records of some years, or all, before filters; of all, takes the columns out of `collected`."""
    rows = [_rows_of_years(file, span) for file in collected.files]
    take_out = span is None  # records of one span after the other are in the same columns

    def column(name: str) -> NDArray[Any]:
        parts = []
        for file, file_rows in zip(collected.files, rows, strict=True):
            stored = file.columns.pop(name) if take_out else file.columns[name]
            parts.append(stored[file_rows])
        return concatenated(parts)

    def text_column(name: str) -> CodedColumn[str]:
        return CodedColumn(column(name), shared.texts[name])

    line = column("line")
    mentions = SideColumns(column("white_mention"), column("black_mention"))
    nothing_written = no_texts(len(line))
    texts = {
        name: text_column(name) if name in shared.texts else nothing_written
        for name in RECORD_TEXTS
    }
    white_written = nothing_written
    black_written = nothing_written
    if collected.everything:
        white_written = CodedColumn(mentions.white, shared.written_of_mention)
        black_written = CodedColumn(mentions.black, shared.written_of_mention)
    records = Records(
        files=tuple(file.report for file in collected.files),
        starts=np.cumsum([0, *(file_rows.stop - file_rows.start for file_rows in rows)]),
        line=line,
        date=text_column("date"),
        white_written=white_written,
        black_written=black_written,
        result=text_column("result"),
        event=texts["event"],
        site=texts["site"],
        round=texts["round"],
        variant=texts["variant"],
        time_control=texts["time_control"],
        status=texts["status"],
        odds=texts["odds"],
        category=nothing_written,
        source=with_one_spelling(texts[SOURCE]),
        date_day=shared.date_day,
        date_precision=shared.date_precision,
        tally=shared.tally,
        players=shared.identified.players,
        white=spread(shared.identified.player, mentions.white),
        black=spread(shared.identified.player, mentions.black),
        white_team=_teams_of(shared, mentions.white),
        black_team=_teams_of(shared, mentions.black),
        race=column(RACE),
        teams=shared.teams,
        weight=column("weight"),
        offset=column("offset"),
        neutral=column("neutral"),
        victory_margin=column("victory_margin"),
        p_true=column("p_true"),
        computer=column("computer"),
        moves=column("moves"),
        reject_code=column("reject_code"),
        aliases=collected.aliases.source,
        spellings=shared.identified.spellings,
        covariates=_covariates_of(collected.data, text_column),
    )
    if collected.data.category is not None:
        names = shared.texts["category"]
        category = categories_of(records, texts[CATEGORY_WRITTEN], collected.data, names)
        records = replace(records, category=category)
    return LoadedRecords(records, mentions)


def _teams_of(shared: SharedByRecords, mention: Codes) -> Ids:
    """The team of each record's side, (records,), by its mention; of stride 0 where there are no teams."""
    if len(shared.teams) == 1:
        return no_numbers(len(mention))
    return shared.team_of_mention[mention].astype(np.int32)


def _covariates_of(
    data: DataConfig, text_column: Callable[[str], CodedColumn[str]]
) -> tuple[CovariateTexts, ...]:
    """The covariates of records or games; `text_column` gives the columns named by `covariate_fields`."""
    covariates = []
    for name in data.covariates:
        fields = covariate_fields(name)
        covariates.append(
            CovariateTexts(
                name,
                is_category=name in data.categories,
                single=text_column(fields.single),
                white=text_column(fields.white),
                black=text_column(fields.black),
            )
        )
    return tuple(covariates)


def _rows_of_years(file: CollectedFile, span: YearSpan | None) -> slice:
    """The records of a file from the first to the last year of a span, or all."""
    if span is None:
        return slice(int(file.starts[0]), int(file.starts[-1]))
    begin, end = np.searchsorted(file.years, [span.first, span.last + 1])
    return slice(int(file.starts[begin]), int(file.starts[end]))


def select_records(
    collected: Collected, shared: SharedByRecords, span: YearSpan | None
) -> Selection:
    """The records of some years, or all, with filters applied; of all, takes the columns out of `collected`."""
    loaded = load_records(collected, shared, span)
    records = loaded.records
    was_used = records.reject_code == 0
    is_same_player = was_used & has_player_twice(
        records.white, records.black, records.white_team, records.black_team, records.teams
    )
    problems = _same_player_problems(collected, loaded, is_same_player)
    del loaded  # and the mentions
    candidates = _candidates(records, is_same_player, compact_texts=span is not None)
    selected = select(candidates, collected.data, shared.player_classes)
    newly_dropped = np.where(was_used, selected.reject_code, 0)
    n_codes = len(reasons.DROP_REASONS) + 1
    dropped = []
    noticed = []
    for begin, end in pairwise(records.starts.tolist()):
        dropped.append(counts_of(newly_dropped[begin:end], n_codes)[1:])
        noticed.append(
            [np.count_nonzero(selected.noticed[remark][begin:end]) for remark in NOTICED]
        )
    return Selection(
        replace(records, reject_code=selected.reject_code),
        np.array(dropped),
        np.array(noticed),
        problems,
    )


def _candidates(records: Records, is_same_player: Mask, *, compact_texts: bool) -> Records:
    """The records as filters look at them: those of one player against himself are rejected."""
    same_player_code = np.int8(reasons.REJECT_CODE[reasons.SAME_PLAYER])
    reject_code = np.where(is_same_player, same_player_code, records.reject_code)
    if compact_texts:
        records = _with_compact_texts(records)
    return replace(records, reject_code=reject_code)


def _with_compact_texts(records: Records) -> Records:
    """The records with the texts that occur in them only, so that filters look at no others."""
    return replace(
        records,
        event=without_unused_texts(records.event),
        site=without_unused_texts(records.site),
        round=without_unused_texts(records.round),
        variant=without_unused_texts(records.variant),
        time_control=without_unused_texts(records.time_control),
        status=without_unused_texts(records.status),
        odds=without_unused_texts(records.odds),
    )


def _same_player_problems(
    collected: Collected, loaded: LoadedRecords, is_same_player: Mask
) -> list[Problem]:
    """The problems of records whose two names are one player's."""
    records = loaded.records
    dictionaries = collected.dictionaries
    name = collected.mentions.name
    team = collected.mentions.team
    problems = []
    for row in np.flatnonzero(is_same_player).tolist():
        white = loaded.mentions.white[row]
        black = loaded.mentions.black[row]
        words = dictionaries.record_words(
            records.date.codes[row],
            dictionaries.side_words(name[white], team[white]),
            dictionaries.side_words(name[black], team[black]),
            records.result.codes[row],
        )
        file = int(np.searchsorted(records.starts, row, side="right")) - 1
        path = collected.files[file].report.path
        problems.append(
            Problem(path, int(records.line[row]), reasons.SAME_PLAYER, words, reasons.DROPPED)
        )
    return problems


def account(
    collected: Collected,
    dropped: Places,
    noticed: Places,
    same_player: Sequence[Problem],
    people: JoinedPeople | None,
) -> ReadReport:
    """What became of every record, and of people; `dropped` and `noticed` as in Selection, of all years."""
    files = [
        _count_selected(file.report, dropped[number].tolist(), noticed[number].tolist())
        for number, file in enumerate(collected.files)
    ]
    problems = [*collected.problems, *same_player]
    if same_player:
        number_of = {file.report.path: number for number, file in enumerate(collected.files)}
        problems.sort(key=lambda problem: (number_of[problem.file], problem.line))
    problems += _idle_aliases(collected)
    problems += people.problems if people else ()
    return ReadReport(
        tuple(files),
        (*collected.skipped, *problems),
        collected.aliases.source,
        people.report if people else None,
    )


def _count_selected(
    report: FileReport, dropped: Sequence[int], noticed: Sequence[int]
) -> FileReport:
    """The report of a file with the counts of records that filters dropped, and of remarks."""
    counts = {
        reason: report.dropped.get(reason, 0) + count
        for reason, count in zip(reasons.DROP_REASONS, dropped, strict=True)
    }
    return replace(
        report,
        used=report.rows - sum(counts.values()),
        dropped={reason: count for reason, count in counts.items() if count},
        noticed={remark: count for remark, count in zip(NOTICED, noticed, strict=True) if count},
    )


def _idle_aliases(collected: Collected) -> list[Problem]:
    """The problem that spellings of the alias file do not occur in the games, if so."""
    aliases = collected.aliases
    idle = unmatched(collected.dictionaries.names, collected.data.names, aliases)
    if not idle or aliases.source is None:
        return []
    examples = "; ".join(idle[:3]) + ("; ..." if len(idle) > 3 else "")
    detail = f"{len(idle):,} of {len(aliases.lines):,} spellings: {examples}"
    line = aliases.lines[idle[0]]
    return [Problem(aliases.source.path, line, reasons.IDLE_ALIAS, detail, reasons.KEPT)]


def _store_games(
    columns: GameColumns, storage: ArrayStorage, number: int
) -> dict[str, StoredColumn]:
    """Store the columns of games of some years, of texts their codes."""
    stored = {}
    named: dict[str, NDArray[Any] | CodedColumn[str]] = {**columns._asdict()}
    del named["covariates"]
    for covariate in columns.covariates:
        named |= zip(covariate_fields(covariate.name), covariate.columns.values(), strict=True)
    for name, column in named.items():
        values = column.codes if isinstance(column, CodedColumn) else column
        stored[name] = storage.store(f"{name}-{number}", values)
    return stored


def _join_pieces(
    pieces: Sequence[dict[str, StoredColumn]],
    texts: Mapping[str, Sequence[str]],
    data: DataConfig,
    storage: ArrayStorage,
) -> GameColumns:
    """The columns of all games, in the storage. Empties the pieces."""

    def column(name: str) -> NDArray[Any]:
        return _join_column(name, [piece.pop(name) for piece in pieces], storage)

    def text_column(name: str) -> CodedColumn[str]:
        codes = column(name)
        has_only_empty_text = has_stride_0(codes) and not codes[:1].any()  # of which the code is 0
        if has_only_empty_text:
            return no_texts(len(codes))
        return CodedColumn(codes, texts[name])

    return GameColumns(
        date=column("date"),
        date_precision=column("date_precision"),
        white=column("white"),
        black=column("black"),
        outcome=column("outcome"),
        weight=column("weight"),
        offset=column("offset"),
        source_file=column("source_file"),
        source_line=column("source_line"),
        neutral=column("neutral"),
        victory_margin=column("victory_margin"),
        p_true=column("p_true"),
        white_team=column("white_team"),
        black_team=column("black_team"),
        race=column("race"),
        event=text_column("event"),
        site=text_column("site"),
        round=text_column("round"),
        category=text_column("category"),
        source=text_column("source"),
        covariates=_covariates_of(data, text_column),
    )


def _join_column(name: str, parts: list[StoredColumn], storage: ArrayStorage) -> NDArray[Any]:
    """A column of all games. Parts whose entries are all equal have stride 0, and are arrays in any storage."""
    arrays = [part for part in parts if isinstance(part, np.ndarray)]
    all_in_memory = len(arrays) == len(parts)
    if all_in_memory:
        return concatenated(arrays)
    joined = storage.zeros(
        name, (sum(len(part) for part in parts),), GAME_DTYPES.get(name, np.int32)
    )
    first = 0
    for part in parts:
        joined[first : first + len(part)] = part[:]
        first += len(part)
        storage.release()
    return joined
