"""Sites of slices kept in a folder after every sweep, so that a fit that is ended goes on where it was."""

from collections.abc import Sequence
from hashlib import blake2b
from itertools import chain
from pathlib import Path
from secrets import token_hex
from shutil import rmtree
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ttt_cli.arrays import Array, Places
from ttt_cli.errors import SetupError
from ttt_cli.inference.play import Play
from ttt_cli.inference.prior import Prior
from ttt_cli.kernels.ep.structures import Sites
from ttt_cli.timeline import Timeline

KEPT: Final = ("message", "positivity")  # of `Sites`


class Checkpoint:
    """The sites of one fit, in a folder of `scratch` named after its games, prior and rule. Raises SetupError."""

    def __init__(self, scratch: Path, timeline: Timeline, priors: Sequence[Prior], play: Play) -> None:
        digest = blake2b(repr(play).encode(), digest_size=8)
        columns: list[NDArray[Any]] = [
            timeline.node_start, timeline.game_start, timeline.game_white, timeline.game_black, timeline.outcome,
            timeline.weight, timeline.offset, timeline.sides,
        ]  # fmt: skip
        for column in chain(columns, (of for prior in priors for of in prior.steps())):
            digest.update(np.ascontiguousarray(column if column.strides[0] else column[:1]).data)
            timeline.room.let_go()
        self.folder = scratch.absolute() / f"ttt-fit-{digest.hexdigest()}"
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise _unwritten(self.folder, error) from error

    def cuts(self, wanted: Places) -> Places:
        """Where the slices that are kept are cut; as wanted if there are none."""
        place = self.folder / "cuts.npy"
        if place.exists():
            return np.asarray(np.load(place))
        _write(place, wanted)
        return wanted

    def clear(self) -> None:
        """Keep nothing more."""
        rmtree(self.folder, ignore_errors=True)


def keep_sites(folder: Path, number: int, sites: Sites) -> None:
    """Keep what a slice could begin with again. Raises SetupError when it cannot be written."""
    for name in KEPT:
        _write(folder / f"{name}-{number}.npy", getattr(sites, name))


def kept_sites(folder: Path, number: int, sites: Sites) -> bool:
    """Fill in what is kept of a slice; whether there is anything."""
    places = {name: folder / f"{name}-{number}.npy" for name in KEPT}
    if not all(place.exists() for place in places.values()):
        return False
    for name, place in places.items():
        getattr(sites, name)[:] = np.load(place)
    return True


def _write(place: Path, values: Array | Places) -> None:
    part = place.with_name(
        f"{place.stem}-{token_hex(4)}.part"
    )  # two may be at it, if one is given up but lives
    try:
        with part.open("wb") as file:
            np.save(file, values)
        part.replace(place)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise _unwritten(place, error) from error


def _unwritten(place: Path, error: OSError) -> SetupError:
    return SetupError(
        f"{place} cannot be written: {error.strerror}",
        hint="--scratch FOLDER keeps what a fit needs elsewhere",
    )
