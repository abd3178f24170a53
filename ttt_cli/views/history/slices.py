"""Rows of a number in a table that is sorted by it."""

from ttt_cli.support.arrays import Places


def rows_of(starts: Places, number: int) -> slice:
    """The rows of a number; `starts`, shape (numbers + 1,): the first row of each, and the number of rows."""
    first, end = starts[number : number + 2].tolist()
    return slice(first, end)
