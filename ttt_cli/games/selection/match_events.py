"""Records by what their event, site, round and variant are called."""

from collections.abc import Callable, Sequence

import numpy as np

from ttt_cli.arrays import Mask
from ttt_cli.config.selection import pattern_of
from ttt_cli.folding import fold
from ttt_cli.games.handicaps import is_even
from ttt_cli.games.records import Records
from ttt_cli.games.selection.event_sets import names_set, variant_is
from ttt_cli.reading.column import Column


def of_events(records: Records, texts: Sequence[str]) -> Mask:
    """Records whose event or site holds one of the texts: words, whatever their case and accents, or /patterns/."""
    rows = np.zeros(len(records), np.bool_)
    for text in texts:
        rows |= _where((records.event, records.site), _matcher(text))
    return rows


def in_set(records: Records, name: str) -> Mask:
    """Records of a ready-made set of events (`event_sets`), by event, site, round, variant, and the odds of tables."""
    rows = _where((records.event, records.site, records.round), lambda value: names_set(fold(value), name))
    rows |= _where((records.variant,), lambda value: variant_is(fold(value), name))
    if name == "odds":
        rows |= _where((records.odds,), lambda value: not is_even(value))
    return rows


def _matcher(text: str) -> Callable[[str], bool]:
    pattern = pattern_of(text)
    if pattern is not None:
        return lambda value: pattern.search(value) is not None
    words = f" {fold(text)} "
    return lambda value: words in f" {fold(value)} "


def _where(columns: Sequence[Column[str]], holds: Callable[[str], bool]) -> Mask:
    """Records of which one of the columns holds a text such that; each distinct text is looked at once."""
    rows = np.zeros(len(columns[0]), np.bool_)
    for column in columns:
        hit = np.array([bool(value) and holds(value) for value in column.values], np.bool_)
        if hit.any():
            rows |= hit[column.codes]
    return rows
