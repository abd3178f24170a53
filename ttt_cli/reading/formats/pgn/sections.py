"""Which tags belong to which game where no moves stand between them.

A block is tags without a blank line between them. It is whole when it names both players and repeats none of the tags
that are read. Between two whole blocks another game begins. Other blocks are settled together with their neighbours:
by the only way to cut them, at blank lines or else anywhere, into games that name both players and repeat no tag.
Where there are several ways, nobody can tell, and the games are rejected.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from ttt_cli.kernels.scanning.pgn_fields import NAMES
from ttt_cli.reading.text import decode

_READ: Final = frozenset(NAMES)
_PLAYERS: Final = frozenset((b"White", b"Black"))
_PAIRING: Final = _PLAYERS | {b"Result"}


class Tag(NamedTuple):
    """A tag, where it stands, and whether a blank line stands before it.

    `odd` is whether it was mended, `long` whether it is too long to be read.
    """

    name: bytes
    value: bytes
    start: int
    end: int
    blank: bool = False
    odd: bool = False
    long: bool = False


class Part(NamedTuple):
    """Consecutive tags: those of one game if that is certain, else those of games that cannot be told apart."""

    tags: Sequence[Tag]
    certain: bool


class Sections:
    """Tags as they come: `parts` that are settled, and the `tags` behind them.

    `doubtful` is whether the first tags may be of a game that began before them.
    """

    def __init__(self, *, doubtful: bool = False) -> None:
        self.parts: list[Part] = []
        self.tags: list[Tag] = []
        self._block = 0  # where the last block begins among them
        self._whole = False  # whether the one before it is whole
        self._doubtful = doubtful

    def add(self, tag: Tag) -> bool:
        """Take in the next tag; returns whether any are settled by now."""
        if tag.blank:
            self._end_block()
        self.tags.append(tag)
        return bool(self.parts)

    def ended(self) -> list[Part]:
        """All parts, there being no more tags."""
        self._end_block()
        self._settle(len(self.tags))
        return self.parts

    def _end_block(self) -> None:
        whole = _is_whole(self.tags[self._block :])
        if whole and self._whole:
            self._settle(self._block)
        self._block, self._whole = len(self.tags), whole

    def _settle(self, stop: int) -> None:
        tags = self.tags[:stop]
        self.parts += [Part(tags, certain=False)] if self._doubtful else _split(tags)
        self._doubtful = False
        del self.tags[:stop]


def _is_whole(tags: Sequence[Tag]) -> bool:
    """Whether tags name both players and none of those that are read is repeated."""
    names = [tag.name for tag in tags if tag.name in _READ]
    return len(set(names)) == len(names) and _PLAYERS.issubset(names)


def _split(tags: Sequence[Tag]) -> list[Part]:
    """The games that neighbouring blocks are of, in their order."""
    read = [place for place, tag in enumerate(tags) if tag.name in _READ]
    names = [tags[place].name for place in read]
    blank = [True, *(any(tag.blank for tag in tags[a + 1 : b + 1]) for a, b in pairwise(read))]
    for may_begin in (blank, [True] * len(names)):
        ways, starts = _ways(names, may_begin)
        if ways == 1:
            return [Part(part, certain=True) for part in _cut(tags, read, starts)]
        if ways:
            return [Part(tags, certain=False)]
    blocks = [place for place in range(1, len(names)) if blank[place]]
    repeated = [
        place
        for before, place, after in zip([0, *blocks], blocks, [*blocks[1:], len(names)], strict=False)
        if set(names[before:place]) & set(names[place:after])
    ]
    return [Part(part, _is_one_game(part)) for part in _cut(tags, read, repeated)]


def _ways(names: Sequence[bytes], may_begin: Sequence[bool]) -> tuple[int, list[int]]:
    """In how many ways (2: more than one) names fall into games that are whole, and where those of one way begin.

    `may_begin[i]` is whether a game may begin with `names[i]`.
    """
    ways, first = [1] + [0] * len(names), [0] * (len(names) + 1)
    for stop in range(1, len(names) + 1):
        if stop < len(names) and not may_begin[stop]:
            continue
        seen: set[bytes] = set()
        for start in range(stop - 1, -1, -1):
            if names[start] in seen:
                break
            seen.add(names[start])
            if ways[start] and seen >= _PLAYERS:
                ways[stop], first[stop] = min(2, ways[stop] + ways[start]), start
    starts = []
    at = len(names)
    while ways[-1] and at:
        at = first[at]
        starts.append(at)
    return ways[-1] if names else 0, starts[-2::-1]


def _cut(tags: Sequence[Tag], read: Sequence[int], starts: Sequence[int]) -> Iterator[Sequence[Tag]]:
    """The tags before, between and after the tags `read[start]`, each cut at the blank line before that tag if any."""
    places = [0]
    for start in starts:
        between = range(read[start], read[start - 1], -1)
        places.append(next((place for place in between if tags[place].blank), read[start]))
    return (tags[a:b] for a, b in pairwise([*places, len(tags)]))


def _is_one_game(tags: Sequence[Tag]) -> bool:
    """Whether tags that are not whole are nevertheless of one game, which then lacks a player or repeats itself."""
    if any(tag.blank for tag in tags[1:]):
        names = [tag.name for tag in tags if tag.name in _READ]
        return len(set(names)) == len(names) and not _PLAYERS.issubset(names)
    values: dict[bytes, bytes] = {}
    for before, tag in zip([None, *tags], tags, strict=False):
        known = values.setdefault(tag.name, tag.value)
        if tag.name in _PAIRING and known != tag.value and (before is None or before.name != tag.name):
            return False
    return True


def rejected(tags: Sequence[Tag]) -> Iterator[tuple[Tag, str]]:
    """The games in tags that cannot be told apart, at least so many: where each may begin, and what is to be told."""
    sides = [[tag for tag in tags if tag.name == side] for side in (b"White", b"Black")]
    for tag in max(*sides, tags[:1], key=len):
        yield tag, f'which tags are of the same game cannot be told: {decode(tag.name)} "{decode(tag.value)}"'
