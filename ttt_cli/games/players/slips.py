"""Words that may be one letter apart, found among very many by hashes of what is left without a letter."""

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ttt_cli.arrays import Ids

Hashes = NDArray[np.uint64]

_BASE: Final = 0x9E3779B97F4A7C15  # odd, so that it has an inverse among numbers of 64 bits
_INVERSE: Final = pow(_BASE, -1, 1 << 64)
_MOST_ALIKE: Final = 100  # words that have the same rest; of more not all pairs are looked at
# more are looked at only of words next to each other in the order of their numbers
_MOST_PAIRS: Final = 2_000_000


def neighbour_words(words: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Pairs of numbers of distinct words, none of them empty, each pair once, in order.

    All that differ by one letter more, less or different, or by two neighbours swapped, are among them, and others:
    such words have a rest in common, the word itself or what is left of it without one letter.
    """
    rests, owners = _rests(words)
    order = np.lexsort((owners, rests))
    rests, owners = rests[order], owners[order]
    new = np.ones(len(rests), np.bool_)
    new[1:] = (rests[1:] != rests[:-1]) | (owners[1:] != owners[:-1])
    rests, owners = rests[new], owners[new]
    found = [np.zeros((0, 2), np.int32)]
    for apart in range(1, min(_MOST_ALIKE, len(rests))):
        same = np.flatnonzero(rests[apart:] == rests[:-apart])
        if not len(same) or sum(map(len, found)) > _MOST_PAIRS:
            break
        found.append(np.stack([owners[same], owners[same + apart]], axis=1))
    yield from map(tuple, np.unique(np.concatenate(found), axis=0).tolist())


def _rests(words: Sequence[str]) -> tuple[Hashes, Ids]:
    """Hashes of the rests of all words, and the number of the word that each is of."""
    length = np.fromiter(map(len, words), np.int32, len(words))
    hashes, owners = [np.zeros(0, np.uint64)], [np.zeros(0, np.int32)]
    for letters in np.unique(length[length > 0]).tolist():
        numbers = np.flatnonzero(length == letters).astype(np.int32)
        text = "".join([words[number] for number in numbers.tolist()])
        codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32).reshape(-1, letters)
        for rest in _without_one(codes.astype(np.uint64) + np.uint64(1)):
            hashes.append(rest)
            owners.append(numbers)
    return np.concatenate(hashes), np.concatenate(owners)


def _without_one(codes: Hashes) -> Iterator[Hashes]:
    """Hashes of words, shape (words, letters), and of them without each of their letters.

    A hash is the sum of the letters times powers of a base, so that what stands behind a letter moves up by a factor.
    """
    powers = [pow(_BASE, place, 1 << 64) for place in range(codes.shape[1])]
    upto = np.zeros((len(codes), codes.shape[1] + 1), np.uint64)
    np.cumsum(codes * np.array(powers, np.uint64), axis=1, out=upto[:, 1:])
    whole = upto[:, -1]
    yield whole
    for place in range(codes.shape[1]):
        yield upto[:, place] + (whole - upto[:, place + 1]) * np.uint64(_INVERSE)
