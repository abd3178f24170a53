"""Rows of games as filters take them one after the other: a match is one unit, and a large weight is bounded work.

A unit is a row, or the rows of a match, each game of which has the score of the whole, as nobody knows their order. The
first `SINGLY` games of a unit are played one by one; then ever larger shares of it, each `GROWTH` of what was played.
"""

from ttt_cli.kernels.compile import inner

SINGLY = 1000.0
GROWTH = 0.01


@inner
def unit_end(joined, first, last):
    """Where the unit that begins with row `first` ends, at `last` at most; `joined`: whether a row goes on with one."""
    stop = first + 1
    while stop < last and joined[stop]:
        stop += 1
    return stop


@inner
def unit_begin(joined, last, first):
    """Where the unit that ends with row `last` begins, at `first` at least."""
    start = last
    while start > first and joined[start]:
        start -= 1
    return start


@inner
def amounts(outcome, weight, first, last):
    """Games lost, drawn and won by White in rows from `first` to before `last`."""
    lost = drawn = won = 0.0
    for g in range(first, last):
        if outcome[g] == 0:
            lost += weight[g]
        elif outcome[g] == 1:
            drawn += weight[g]
        else:
            won += weight[g]
    return lost, drawn, won


@inner
def next_share(played, left):
    """How many games are played next, after so many of a unit of which so many are left."""
    share = 1.0 if played < SINGLY else max(GROWTH * played, 1.0)
    return min(share, left)
