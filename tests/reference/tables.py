"""Tables read row by row by the csv module: the reference for what pyarrow reads."""

from __future__ import annotations

from ttt_cli.reading.delimited import LineBlock, TableReader
from ttt_cli.support.arrays import Mask


class PlainTableReader(TableReader):
    """Leaves every row to the csv module."""

    def _plain(self, block: LineBlock) -> Mask:
        none: Mask = block.lengths < 0
        return none
