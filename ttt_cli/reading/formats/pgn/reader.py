"""PGN files: by which reader."""

from collections.abc import Iterator

from ttt_cli.config.schema import DataConfig
from ttt_cli.reading.batches import Batch, Table
from ttt_cli.reading.text import BLOCK, LARGE, peek


def read_pgn(blocks: Iterator[bytes], data: DataConfig, name: str = "", large: int = LARGE) -> Table:  # noqa: ARG001
    """Open a PGN file given as blocks with LF line ends; from `large` bytes on by the compiled scanner."""
    return Table("text", _batches(blocks, data, large))


def _batches(blocks: Iterator[bytes], data: DataConfig, large: int) -> Iterator[Batch]:
    if data.reader == "chess":
        from ttt_cli.reading.formats.pgn.python_chess import read_pgn_chess

        return read_pgn_chess(blocks)
    head, peeked = peek(blocks, large)
    blocks = (block[start : start + BLOCK] for block in peeked for start in range(0, len(block), BLOCK))
    if len(head) < large:
        from ttt_cli.reading.formats.pgn.scanner import Scanner

        return Scanner().scan(blocks)
    from ttt_cli.reading.formats.pgn.compiled import CompiledScanner

    return CompiledScanner().scan(blocks)
