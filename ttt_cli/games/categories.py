"""The category of each record: a column of the file, or for chess the speed of play, with exceptions by words."""

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from ttt_cli.config.schema import CHESS_SPEEDS, DataConfig, pattern_of
from ttt_cli.games.event_sets import control_category, event_text_is_bullet, records_by_event_words
from ttt_cli.games.table import Records
from ttt_cli.reading.columns import CodedColumn
from ttt_cli.reading.values import is_missing
from ttt_cli.support.arrays import Ids, Mask
from ttt_cli.support.folding import fold, fold_all

SPEEDS: Final = ("classical", "rapid", "blitz", "bullet", "correspondence")


def category_names(data: DataConfig, written: Sequence[str]) -> tuple[str, ...]:
    """All categories that records may have, the empty one first; `written`: distinct texts of the column."""
    names = (
        SPEEDS
        if data.category == CHESS_SPEEDS
        else tuple(text for text in written if not is_missing(text))
    )
    return ("", *dict.fromkeys((*names, *data.category_of.values())))


def categories_of(
    records: Records, written: CodedColumn[str], data: DataConfig, names: Sequence[str]
) -> CodedColumn[str]:
    """The category of each record, numbers of `names`; `written`: the column of the file, empty by speed.

    The first entry of `data.category_of` with words in the category, event or site decides, else the column or speed.
    """
    number = {name: index for index, name in enumerate(names)}
    if data.category == CHESS_SPEEDS:
        codes = _by_speed(records, number)
    else:
        of_text = [0 if is_missing(text) else number[text] for text in written.values]
        codes = np.array(of_text, np.int32)[written.codes]
    for text, category in reversed(data.category_of.items()):
        for column in (written, records.event, records.site):
            codes[_matches(column, text)] = number[category]
    return CodedColumn(codes, tuple(names))


def _by_speed(records: Records, number: Mapping[str, int]) -> Ids:
    """Numbers of categories by time control, else by the words of event, site and round, else classical."""
    codes = np.full(len(records), number["classical"], np.int32)
    by_words = records_by_event_words(records, ("correspondence", "rapid", "blitz"))
    for name, rows in by_words.items():
        codes[rows] = number[name]
    for column in (records.event, records.site, records.round):
        bullet = np.array(
            [event_text_is_bullet(text) for text in fold_all(column.values)], np.bool_
        )
        codes[by_words["blitz"] & bullet[column.codes]] = number["bullet"]
    of_control = [control_category(text) for text in records.time_control.values]
    by_control = np.array([-1 if name is None else number[name] for name in of_control], np.int32)
    control = by_control[records.time_control.codes]
    return np.where(control < 0, codes, control).astype(np.int32)


def _matches(column: CodedColumn[str], text: str) -> Mask:
    """Mask of records that have a text in a column: words in any case and accents, or a /pattern/."""
    pattern = pattern_of(text)
    words = f" {fold(text)} "
    if pattern is None:
        matches = [words in f" {value} " for value in fold_all(column.values)]
    else:
        matches = [value != "" and pattern.search(value) is not None for value in column.values]
    mask: Mask = np.array(matches, np.bool_)[column.codes]
    return mask
