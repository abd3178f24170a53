"""Files that come with the program, read by name: `@classics` in the place of a file."""

import os
from pathlib import Path
from typing import Final, NamedTuple

from ttt_cli.support.errors import DataError, nearest

_PACKAGE: Final = Path(__file__).parents[1]
_PACKED: Final = ".xz"  # in a wheel: a twentieth of the size


class Sample(NamedTuple):
    """A file that comes with the program."""

    file: str
    holds: str  # what is in it, a line


SAMPLES: Final = {
    "classics": Sample(
        "classics.pgn", "16,850 games of the masters from 1834 to 1941, without the moves"
    ),
    "famous": Sample("famous.pgn", "13 famous games with their moves"),
    "people": Sample(
        "people.csv", "births, deaths and federations of 334 of the masters, for --people"
    ),
}


def sample_file(name: str | os.PathLike[str]) -> Path | None:
    """The file of a sample, None for other names and where a file of this name is there.

    Raises DataError for a name with `@` that is neither.
    """
    path = os.fspath(name)
    if not path.startswith("@") or Path(path).exists():
        return None
    sample = SAMPLES.get(path[1:])
    if sample is None:
        similar = nearest(path[1:], SAMPLES)
        hint = f"did you mean @{similar}?" if similar else "samples are @" + ", @".join(SAMPLES)
        raise DataError("there is no such sample", where=path, hint=hint)
    packed = _PACKAGE / "samples" / f"{sample.file}{_PACKED}"
    return packed if packed.exists() else _PACKAGE.parent / "sample_pgn" / sample.file
