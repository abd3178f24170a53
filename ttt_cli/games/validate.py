"""Validate the records of a file: dates, results, weights, odds, names, each distinct value once.

`validate` reads one column after the other. Every step returns its column, as numbers in the dictionaries of all
files, and adds what it finds wrong or odd to the `Findings`.
"""

import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from ttt_cli.config.schema import DataConfig, Period, drops_unplayed
from ttt_cli.games.dictionaries import Dictionaries, FileSides
from ttt_cli.games.findings import Findings
from ttt_cli.games.margins import is_single_win, read_margins
from ttt_cli.games.missing import find_missing, missing_words
from ttt_cli.games.names import clean_name, name_key
from ttt_cli.games.odds import odds_points, odds_words
from ttt_cli.games.record_columns import RecordColumns, column_or_value
from ttt_cli.games.sources import source_weights
from ttt_cli.games.table import DRAW, winner_named_first
from ttt_cli.periods import label, period_of
from ttt_cli.reading import reports as reasons
from ttt_cli.reading.batches import MOST_NOTES, FileRecords, Note, pairs_in
from ttt_cli.reading.columns import Codes, Dictionary, count_codes, counts_of, narrow, spread
from ttt_cli.reading.covariates import P_TRUE
from ttt_cli.reading.dates import day_words, parse_dates
from ttt_cli.reading.results import (
    Outcome,
    Written,
    games_text,
    is_result_word,
    is_unplayed,
    may_be_goals,
    parse_results,
    tally_of,
)
from ttt_cli.reading.values import probability_of
from ttt_cli.support.arrays import Array, Mask, Places
from ttt_cli.support.folding import fold

MOST_GAMES: Final = 1e9  # as which one record may count
LEAST_GAMES: Final = 1e-9

_NEUTRAL: Final = {
    **dict.fromkeys(("true", "t", "yes", "y", "1"), 1.0),
    **dict.fromkeys(("false", "f", "no", "n", "0", ""), 0.0),
}
# Sign of the points that White gets, by who gives the handicap
_SIGN_OF_GIVER: Final = {
    "white": -1.0,
    "w": -1.0,
    "black": 1.0,
    "b": 1.0,
}
# Types and titles that say that a player is a program
_PROGRAMS: Final = frozenset({"program", "computer", "engine", "bot"})
_USUAL_FACTORS: Final = {"formal": 1.0, "casual": 1.0, "soft": 1.0}  # of statuses


class _OddDates(NamedTuple):
    """What is said of dates that are odd for a reason, and whether they are used.

    `used`: where periods are shorter than years; `used_by_year`: where they are years.
    """

    remedy: str
    used: bool
    used_by_year: bool


_ODD_DATES: Final = {
    reasons.AMBIGUOUS_DATE: _OddDates(
        "only the year is certain, data.dates: dmy or mdy tells the order",
        used=False,
        used_by_year=True,
    ),
    reasons.TWO_DIGIT_YEAR: _OddDates(
        "data.dates: dmy, mdy or ymd tells the order, data.century the century: 1900",
        used=False,
        used_by_year=False,
    ),
    reasons.FUTURE_DATE: _OddDates(
        "they are used as they are, --years leaves them out", used=True, used_by_year=True
    ),
    reasons.MIXED_ORDERS: _OddDates(
        "the month is first, in {day_first} the day; data.dates: dmy or mdy allows one order only",
        used=True,
        used_by_year=True,
    ),
    reasons.NUMBERED_DATE: _OddDates(
        "data.dates: number takes them as numbers of periods", used=False, used_by_year=False
    ),
}


@dataclass(frozen=True)
class Validated:
    """Validated records of a file.

    `notes` report dropped and repaired records, the first MOST_NOTES of each, and columns that are not understood.
    """

    columns: RecordColumns
    notes: list[Note]
    winner_first: bool  # as in FileReport


def validate(records: FileRecords, dictionaries: Dictionaries, data: DataConfig) -> Validated:
    """Validate all columns of a file, and number their values in the dictionaries. Releases the columns read.

    The order counts. Sides, `read_dates`, `read_results` and `read_texts` take their columns out of `records`, so that
    each is freed when its numbers exist: odds look at sides and come after these, texts come last. And notes with the
    same line are reported in the order in which they are found.
    """
    findings = Findings(len(records))
    sides = dictionaries.number_sides(records.take_sides(data.team_separator))
    dates = read_dates(records, dictionaries, data, findings)
    margins = read_margins(records, data)
    results = read_results(records, dictionaries, data.match_cap, findings)
    weights = read_numbers(records, "weights", _positive, reasons.BAD_WEIGHT, 1.0, findings)
    odds = read_odds(records, dictionaries, data.odds, sides, findings)
    p_true = read_numbers(records, P_TRUE, probability_of, reasons.BAD_P_TRUE, 1.0, findings)
    neutral = read_numbers(records, "neutral", _NEUTRAL.get, reasons.BAD_NEUTRAL, 0.0, findings)
    moves = records.moves if records.moves is not None and records.moves.any() else None
    if drops_unplayed(data):
        reject_unplayed(records, dictionaries, results.number, moves, findings)
    computer = find_computers(records)
    status_factors = read_status(records, data.status, findings)
    weight = _product([results.factor, weights, status_factors, source_weights(records, data)])
    _reject_unlikely_weights(dictionaries.tallies, results.number, weight, findings)
    reject_sides(sides, dictionaries, findings)
    texts = read_texts(records, dictionaries, keep_odds=odds.are_understood)
    _find_missing_covariates(records, dictionaries, data, texts, findings)
    victory_margin = None
    if margins is not None:
        is_won = is_single_win(dictionaries.tallies)[results.number]
        victory_margin = _margins_of_wins(margins, is_won, findings)
    reject_code = findings.reject_code
    winner_first = False
    if data.colours == "auto" and not records.layout.races:
        tallies = _tally_of_records(dictionaries.tallies, results.number[reject_code == 0])
        winner_first = find_winner_first(tallies, findings, by_columns=records.layout.winners)
    columns = RecordColumns(
        line=records.lines,
        date=dates.number,
        white=sides.white,
        black=sides.black,
        result=results.number,
        reject_code=reject_code,
        weight=column_or_value(weight, np.float64(1.0), len(records)),
        offset=column_or_value(odds.offset, np.float64(0.0), len(records)),
        neutral=column_or_value(None if neutral is None else neutral != 0, np.False_, len(records)),
        p_true=column_or_value(p_true, np.float64(1.0), len(records)),
        victory_margin=column_or_value(victory_margin, np.float64(0.0), len(records)),
        computer=column_or_value(computer, np.False_, len(records)),
        moves=column_or_value(moves, np.int64(0), len(records)),
        texts=texts,
    )
    notes = [
        *_notes_on_records(columns, sides, dates.repaired, dictionaries),
        *findings.notes_on_columns(records.lines, reject_code == 0),
    ]
    return Validated(columns, notes, winner_first)


def _find_missing_covariates(
    records: FileRecords,
    dictionaries: Dictionaries,
    data: DataConfig,
    texts: Mapping[str, Codes],
    findings: Findings,
) -> None:
    """Reject records without a covariate, or note how many there are, as `data.missing` says."""
    for name in data.covariates:
        is_missing = find_missing(records, dictionaries, texts, name)
        if data.missing == "drop":
            findings.reject_where(is_missing, reasons.NO_COVARIATE)
        else:
            detail = missing_words(name, int(np.count_nonzero(is_missing)))
            findings.note_records(reasons.UNKNOWN_COVARIATE, is_missing, detail)


def _margins_of_wins(margins: Array, is_won: Mask, findings: Findings) -> Array:
    """Margins of victory of single games that were won, 0 of all others; notes wins without one."""
    victory_margin: Array = np.where(is_won, margins, 0.0)
    is_unknown = is_won & (victory_margin == 0.0)
    detail = f"wins without a margin, which count as any win: {np.count_nonzero(is_unknown):,}"
    findings.note_records(reasons.UNKNOWN_MARGIN, is_unknown, detail)
    return victory_margin


def _product(factors: Sequence[Array | None]) -> Array | None:
    """The product of those that are not None, None if all are."""
    product: Array | None = None
    for factor in factors:
        if factor is not None:
            product = factor if product is None else product * factor
    return product


def _notes_on_records(
    columns: RecordColumns, sides: FileSides, repaired: Mask, dictionaries: Dictionaries
) -> Iterator[Note]:
    """Yield notes on dropped records and on repaired ones, the first MOST_NOTES of each."""
    is_used = columns.reject_code == 0
    for row in np.flatnonzero(~is_used)[:MOST_NOTES].tolist():
        words = dictionaries.record_words(
            columns.date[row],
            sides.words(columns.white[row], dictionaries),
            sides.words(columns.black[row], dictionaries),
            columns.result[row],
        )
        reason = reasons.DROP_REASONS[columns.reject_code[row] - 1]
        # many notes may be equal
        yield Note(int(columns.line[row]), reason, sys.intern(words), reasons.DROPPED)
    for row in np.flatnonzero(repaired & is_used)[:MOST_NOTES].tolist():
        text, day, precision = dictionaries.dates.values[columns.date[row]]
        words = f"{text} read as {day_words(day, precision)}"
        yield Note(int(columns.line[row]), reasons.BAD_DATE, words, reasons.REPAIRED)


class DateColumn(NamedTuple):
    """Numbers of dates, and which were repaired, (records,)."""

    number: Codes
    repaired: Mask


def read_dates(
    records: FileRecords, dictionaries: Dictionaries, data: DataConfig, findings: Findings
) -> DateColumn:
    """Read dates. Of an ambiguous one, periods of years use the year.

    Shorter periods reject it, and a date whose month is above 12 (`dates.unread` is both).
    """
    texts = [text.strip() for text in records.distinct("dates")]
    codes = records.codes("dates")
    dates = parse_dates(texts, data, records.layout.unit)
    year_is_enough = data.period == "year"
    findings.reject(dates.reject_code, codes)
    if not year_is_enough:
        findings.reject_where(dates.unread, reasons.BAD_DATE, codes)
    odd = dict(dates.odd)
    if unit := dates.unit:
        findings.note_file(
            reasons.NUMBERED_DATE, f"{unit} 1 is shown as {_label_of_first_period(unit)}"
        )
    else:
        odd[reasons.FUTURE_DATE] = dates.day > np.datetime64("today", "D").astype(np.int64)
    for reason, is_odd in odd.items():
        odd_dates = _ODD_DATES[reason]
        is_used = odd_dates.used_by_year if year_is_enough else odd_dates.used
        action = reasons.KEPT if is_used else reasons.DROPPED
        meaning = odd_dates.remedy.format(day_first=dates.day_first)
        findings.note(reason, is_odd, texts, codes, meaning, action)
    repaired = spread(dates.repaired, codes)
    numbers = dictionaries.dates.numbers_of(
        zip(texts, dates.day.tolist(), dates.precision.tolist(), strict=True)
    )
    return DateColumn(records.take("dates", numbers), repaired)


def _label_of_first_period(unit: Period) -> str:
    """The label of the period that a file calls number 1."""
    day_of_first = parse_dates(["1"], DataConfig(dates="number"), unit).day
    (period_number,) = period_of(day_of_first, unit).tolist()
    return label(period_number, unit)


_GOALS_REMEDY: Final = (
    "scores of matches need a column of games, goals need sides named home and away, in the file or in order by "
    "-s 'data.columns=[date, home, away, result]' -s data.header=true"
)


class ResultColumn(NamedTuple):
    """Numbers of results (records,), and weights of matches that are capped, None where none is."""

    number: Codes
    factor: Array | None


class _WrittenResults(NamedTuple):
    """Distinct results as written, (results,).

    | name | shape | |
    |---|---|---|
    | values | (results,) | what is written |
    | games | (results,) | the number of games as written, of a match; empty for a single game |
    | outcomes | (results,) | as `parse_results` reads the values: 0, 1 or 2, or the reason for none |
    | codes | (records,) | the number of each record's result |
    """

    values: list[Written]
    games: list[str]
    codes: Codes
    outcomes: list[Outcome]


def read_results(
    records: FileRecords, dictionaries: Dictionaries, match_cap: float | None, findings: Findings
) -> ResultColumn:
    """Read results together with the number of games that each is of."""
    written = _written_results(records)
    parsed = [
        tally_of(value, games, outcome)
        for value, games, outcome in zip(
            written.values, written.games, written.outcomes, strict=True
        )
    ]
    tallies = [tally for tally, _ in parsed]
    findings.reject([reject_code for _, reject_code in parsed], written.codes)
    texts = [
        _result_text(value, games)
        for value, games in zip(written.values, written.games, strict=True)
    ]
    is_word = [is_result_word(value) for value in written.values]
    meaning = "read as those of the player named first"
    findings.note(reasons.RESULT_WORDS, is_word, texts, written.codes, meaning, reasons.KEPT)
    is_goals = [  # single games with a score that no convention explains
        outcome == reasons.UNKNOWN_RESULT and not games and may_be_goals(value)
        for value, games, outcome in zip(
            written.values, written.games, written.outcomes, strict=True
        )
    ]
    findings.note(reasons.GOALS, is_goals, texts, written.codes, _GOALS_REMEDY, reasons.DROPPED)
    factor = None
    n_games = np.array(tallies, np.float64).reshape(-1, 3).sum(axis=1)
    if match_cap is not None and np.any(n_games > match_cap):
        factor = (match_cap / np.maximum(n_games, match_cap))[written.codes]
    numbers = narrow(dictionaries.results.numbers_of(zip(texts, tallies, strict=True)))
    if "games" in records.further:
        return ResultColumn(spread(numbers, written.codes), factor)
    return ResultColumn(records.take("results", numbers), factor)


def _written_results(records: FileRecords) -> _WrittenResults:
    """The distinct pairs of a result and a number of games."""
    values = records.distinct("results")
    codes = records.codes("results")
    if "games" in records.further:
        return _written_matches(records, values, codes)
    outcomes = parse_results(values, counts_of(codes, len(values)), records.layout.kind)
    return _WrittenResults(values, games=[""] * len(values), codes=codes, outcomes=outcomes)


def _written_matches(
    records: FileRecords, values: Sequence[Written], value_codes: Codes
) -> _WrittenResults:
    """The distinct pairs in a file with a column of numbers of games, by which scores may be those of matches.

    Which convention scores follow, 1-0 or 2-0 for a win, is told by single games only: a score of a match may look like
    that of a game by the other convention.
    """
    games = [games_text(text) for text in records.distinct("games")]
    games_codes = records.codes("games")
    is_single = np.array([text == "" for text in games], np.bool_)[games_codes]
    counts_of_single = counts_of(value_codes[is_single], len(values))
    outcome_of_value = parse_results(values, counts_of_single, records.layout.kind)
    pairs, pair_codes = pairs_in(value_codes, games_codes, len(values), len(games))
    value_of_pair, games_of_pair = np.divmod(pairs, len(games))
    return _WrittenResults(
        values=[values[value] for value in value_of_pair.tolist()],
        games=[games[number] for number in games_of_pair.tolist()],
        codes=pair_codes,
        outcomes=[outcome_of_value[value] for value in value_of_pair.tolist()],
    )


def _result_text(value: Written, games: str) -> str:
    """A result in one text; scores are joined by a hyphen."""
    if isinstance(value, str):
        text = value.strip()
    else:
        scores = [score.strip() for score in value]
        text = "-".join(score for score in scores if score)
    return f"{text} ({games} games)" if games else text


def read_numbers(
    records: FileRecords,
    column: str,
    parse: Callable[[str], float | None],
    reason: str,
    usual: float,
    findings: Findings,
) -> Array | None:
    """The numbers in a further column, None where all are `usual`; records are rejected where there is none.

    There is none where `parse` of a text in lower case, without blanks around it, is NaN or None.
    """
    if column not in records.further:
        return None
    texts = records.distinct(column)
    codes = records.codes(column)
    parsed = np.array([parse(text.strip().lower()) for text in texts], np.float64)
    is_bad = np.isnan(parsed)
    findings.reject_where(is_bad, reason, codes)
    parsed[is_bad] = usual
    return None if np.all(parsed == usual) else parsed[codes]


class OddsColumn(NamedTuple):
    """Handicaps by odds.

    | name | shape | unit | |
    |---|---|---|---|
    | are_understood | | | whether the column is of odds; else it means something else and is left alone |
    | offset | (records,) | Elo points | added to White's strength; None where all games are on even terms |
    """

    are_understood: bool
    offset: Array | None = None


def read_odds(
    records: FileRecords,
    dictionaries: Dictionaries,
    points_of: Mapping[str, float],
    sides: FileSides,
    findings: Findings,
) -> OddsColumn:
    """Read odds with who gave them."""
    if "odds" not in records.further:
        return OddsColumn(are_understood=False)
    codes = records.codes("odds")
    written = [text.strip() for text in records.distinct("odds")]
    points_of = {odds_words(odds): points for odds, points in points_of.items()}
    points = np.array([odds_points(odds, points_of) for odds in written], np.float64)
    is_unknown = np.isnan(points)
    # a column whose words are all unknown is of something else; `none` tells that it is of odds, but `0` or a sign, on
    # even terms too, may be of anything
    has_words = np.array([fold(odds) != "" for odds in written], np.bool_)
    has_letters = np.array([any(sign.isalpha() for sign in odds) for odds in written], np.bool_)
    tells_odds = ~is_unknown & (has_letters | (points != 0))
    if np.any(is_unknown & has_words) and not np.any(tells_odds):
        findings.note(reasons.OTHER_ODDS, is_unknown, written, codes, "none is known", reasons.KEPT)
        return OddsColumn(are_understood=False)
    all_on_even_terms = not points.any()  # NaN, the points of unknown odds, is something
    if all_on_even_terms:
        return OddsColumn(are_understood=True)
    offset = points[codes]
    if "odds_giver" in records.further:
        _apply_givers(offset, records, dictionaries, sides)
    # of unknown odds, or given by a third person
    findings.reject_where(np.isnan(offset), reasons.UNKNOWN_ODDS)
    return OddsColumn(are_understood=True, offset=np.nan_to_num(offset, copy=False))


def _apply_givers(
    offset: Array, records: FileRecords, dictionaries: Dictionaries, sides: FileSides
) -> None:
    """Set the sign of handicaps by who gave them, a side or a name.

    Where nobody is named, they keep the sign that the text of the odds has (see `odds_points`). They become NaN where
    the name is that of neither player.
    """
    givers = [text.strip() for text in records.distinct("odds_giver")]
    words = [fold(giver) for giver in givers]
    # 0: nobody is named, NaN: a name
    sign_of_giver = np.array(
        [_SIGN_OF_GIVER.get(word, math.nan if word else 0.0) for word in words]
    )
    keys = Dictionary("")
    name_of = dictionaries.names.cleaned
    key_of_side = np.zeros(sides.n_names + len(dictionaries.teams), np.int32)  # 0 for teams
    key_of_side[sides.names] = keys.numbers_of(
        [name_key(name_of[name]) for name in sides.names.tolist()]
    )
    key_of_giver = keys.numbers_of([name_key(clean_name(giver)) for giver in givers])
    giver = records.codes("odds_giver")
    rows = np.flatnonzero((offset != 0) & (sign_of_giver != 0)[giver])
    sign = sign_of_giver[giver[rows]]
    is_named = np.isnan(sign)
    key = key_of_giver[giver[rows]]
    is_white = key == key_of_side[sides.white[rows]]
    is_black = key == key_of_side[sides.black[rows]]
    sign = np.where(is_named & is_black, 1.0, sign)
    sign = np.where(is_named & is_white, -1.0, sign)
    offset[rows] = np.abs(offset[rows]) * sign


def reject_unplayed(
    records: FileRecords,
    dictionaries: Dictionaries,
    result: Codes,
    moves: Codes | None,
    findings: Findings,
) -> None:
    """Reject games without play: those that ended as unplayed, and those decided without a move.

    The latter have a number of plies, 0, where other games of the file have moves.
    """
    has_moves = np.zeros(len(records), np.bool_) if moves is None else moves != 0
    if "ply_count" in records.further:
        plies = np.array(
            [_number_of_plies(text) for text in records.distinct("ply_count")], np.int64
        )
        codes = records.codes("ply_count")
        has_moves |= spread(plies > 0, codes)
        tallies = dictionaries.tallies
        is_decisive = (tallies[:, DRAW] == 0) & (tallies.sum(axis=1) > 0)
        is_decided_at_once = spread(plies == 0, codes) & spread(is_decisive, result)
        if has_moves.any():
            findings.reject_where(is_decided_at_once & ~has_moves, reasons.FORFEIT)
    if "termination" in records.further:
        texts = records.distinct("termination")
        codes = records.codes("termination")
        is_unplayed_anyway = np.array([is_unplayed(text, moves=True) for text in texts], np.bool_)
        is_unplayed_if_no_moves = np.array(
            [is_unplayed(text, moves=False) for text in texts], np.bool_
        )
        findings.reject_where(is_unplayed_anyway, reasons.FORFEIT, codes)
        if np.any(is_unplayed_if_no_moves & ~is_unplayed_anyway):
            findings.reject_where(
                spread(is_unplayed_if_no_moves, codes) & ~has_moves, reasons.FORFEIT
            )


def find_computers(records: FileRecords) -> Mask | None:
    """Mask of records in which a side is a program by its type or title; None where none is."""
    is_computer: Mask | None = None
    for column in ("white_type", "black_type", "white_title", "black_title"):
        if column in records.further:
            is_program = np.array(
                [fold(text) in _PROGRAMS for text in records.distinct(column)], np.bool_
            )
            if is_program.any():
                rows = spread(is_program, records.codes(column))
                is_computer = rows if is_computer is None else is_computer | rows
    return is_computer


def read_status(
    records: FileRecords, factor_of: Mapping[str, float], findings: Findings
) -> Array | None:
    """Weights by status, None where all are 1; records with a factor of 0 are rejected."""
    if "status" not in records.further:
        return None
    factors = {**_USUAL_FACTORS, **{fold(status): factor for status, factor in factor_of.items()}}
    values = records.distinct("status")
    codes = records.codes("status")
    words = [fold(value) for value in values]
    is_unknown = [word != "" and word not in factors for word in words]
    findings.note(
        reasons.UNKNOWN_STATUS, is_unknown, values, codes, "each counts as 1", reasons.KEPT
    )
    weights = np.array([factors.get(word, 1.0) for word in words])
    findings.reject_where(weights == 0, reasons.STATUS, codes)
    if np.all(weights == 1):
        return None
    weight: Array = np.where(weights == 0, 1.0, weights)[codes]
    return weight


def _reject_unlikely_weights(
    tallies: Array, result: Codes, weight: Array | None, findings: Findings
) -> None:
    """Reject records that count as more than MOST_GAMES or less than LEAST_GAMES."""
    n_games = tallies.sum(axis=1)
    if weight is None and n_games.max() <= MOST_GAMES:
        return
    counts = n_games[result] if weight is None else n_games[result] * weight
    is_unlikely = (counts > MOST_GAMES) | ((counts > 0) & (counts < LEAST_GAMES))
    findings.reject_where(is_unlikely, reasons.BAD_WEIGHT)


def reject_sides(sides: FileSides, dictionaries: Dictionaries, findings: Findings) -> None:
    """Reject records with a side that is no player, and those of one player against himself.

    Names that are equal when cleaned are one player's. The members of teams are compared when it is known who is who.
    """
    names = dictionaries.names
    teams = dictionaries.teams
    number = np.arange(sides.n_names + len(teams))
    if names.cleaned != names.values:
        cleaned = Dictionary[str]()
        number[sides.names] = cleaned.numbers_of(
            [names.cleaned[name] for name in sides.names.tolist()]
        )
        number[sides.n_names :] += len(cleaned.values)
    cleaned_side = narrow(number)
    is_same = spread(cleaned_side, sides.white) == spread(cleaned_side, sides.black)
    findings.reject_where(is_same, reasons.SAME_PLAYER)
    del is_same
    reject_code = np.concatenate([np.frombuffer(names.reject_code, np.int8), teams.reject_code])
    findings.reject(reject_code, sides.white)
    findings.reject(reject_code, sides.black)


def _tally_of_records(tallies: Array, results: Codes) -> Places:
    """Numbers of records, by whether White lost, drew or won games of them, (3,)."""
    counts = count_codes(results, len(tallies))
    n_records: Places = counts @ (tallies > 0)
    return n_records


def find_winner_first(n_records: Places, findings: Findings, *, by_columns: bool) -> bool:
    """Whether the winner is always named first, by the columns of the file or by all its results."""
    lost, _, won = n_records.tolist()
    if by_columns:
        findings.note_file(reasons.WINNER_FIRST, "by its columns")
        return True
    if winner_named_first(lost, won):
        findings.note_file(reasons.WINNER_FIRST, f"in all {won:,} decisive records")
        return True
    return False


def read_texts(
    records: FileRecords, dictionaries: Dictionaries, *, keep_odds: bool
) -> dict[str, Codes]:
    """The columns of texts that have a dictionary, without those that are empty throughout."""
    columns: dict[str, Codes] = {}
    for name, dictionary in dictionaries.columns.items():
        if name not in records.further or (name == "odds" and not keep_odds):
            continue
        texts = [" ".join(text.split()) for text in records.distinct(name)]
        if name == "site" and not dictionaries.keep_web_addresses:
            texts = ["" if "://" in text else text for text in texts]
        numbers = records.take(name, dictionary.numbers_of(texts))
        if numbers.any():
            columns[name] = numbers
    return columns


def _number_of_plies(text: str) -> int:
    """The number of half-moves, -1 if unknown."""
    text = text.strip()
    return int(text) if text.isdecimal() and len(text) < 10 else -1


def _positive(text: str) -> float:
    """A positive number with a point or comma, else NaN."""
    with suppress(ValueError):
        number = float(text.replace(",", "."))
        return number if number > 0 and math.isfinite(number) else math.nan
    return math.nan
