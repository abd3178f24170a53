"""What a file of corrections changes in records, in sentences."""

from __future__ import annotations

from collections.abc import Iterator

from ttt_cli.games.corrections import apply_corrections, read_corrections
from ttt_cli.games.table import Records, games_of
from ttt_cli.views.rows import counted


def correction_lines(records: Records, path: str) -> Iterator[str]:
    """How many games each correction of a file changes; the tables of `ttt games` show records as they are written."""
    corrections = read_corrections(path)
    counts = apply_corrections(games_of(records), corrections).counts
    used = sum(count > 0 for count in counts)
    yield f"{path}: {used:,} of {counted(len(counts), 'correction')} change games; the tables show records uncorrected"
    for correction, count in zip(corrections.rows, counts, strict=True):
        changed = counted(count, "game") if count else "no game"
        words = f"{correction.action} {correction.value}".strip()
        yield f"  {path}:{correction.line}: {words}: {changed}; {correction.reason} ({correction.source})"
