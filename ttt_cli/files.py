"""Files that appear whole or not at all."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def real_place(path: Path) -> Path:
    """The file that `path` means: links are followed, so that replacing changes what the link points to."""
    return path.resolve()


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Give a path to write to, in a folder of its own beside `path`; on success it takes the place of `path`.

    Whatever ends the block otherwise (interrupts too) leaves `path` as it was and nothing beside it.
    Raises OSError when the folder cannot be written to.
    """
    place = real_place(path)
    with tempfile.TemporaryDirectory(prefix=f".{place.name}.", dir=place.parent) as folder:
        temporary = Path(folder) / place.name
        yield temporary
        temporary.replace(place)
