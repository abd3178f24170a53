"""Small files read as a whole: lists of names, tables of ratings."""

from contextlib import closing
from typing import Final

from ttt_cli.errors import DataError
from ttt_cli.progress import SILENT
from ttt_cli.reading.decode import decode
from ttt_cli.reading.streams import Input

_MOST: Final = 1 << 26  # bytes


def whole_text(source: Input, what: str) -> str:
    """The text of a plain or packed file. Raises DataError where it is too long to be `what` it should be."""
    content = bytearray()
    with SILENT.task("") as bar, closing(source.blocks(bar)) as blocks:
        for block in blocks:
            content += block
            if len(content) > _MOST:
                raise DataError(f"takes more than {_MOST >> 20} MB", where=source.name, hint=f"is it {what}?")
    return decode(bytes(content).removeprefix(b"\xef\xbb\xbf"))
