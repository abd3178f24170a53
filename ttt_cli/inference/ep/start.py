"""What a fit starts from: the sites or beliefs of an earlier fit, or sites that one saved in a folder on its way."""

from collections.abc import Mapping, Sequence
from hashlib import blake2b
from itertools import chain
from pathlib import Path
from shutil import rmtree
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ttt_cli.fitted import Fit
from ttt_cli.inference.prior import RandomWalk
from ttt_cli.inference.years import Play
from ttt_cli.kernels.ep.structures import Sites
from ttt_cli.support.arrays import Array, Places
from ttt_cli.support.errors import SetupError
from ttt_cli.support.files import open_own, write_own
from ttt_cli.timeline import Timeline

FRESH: Final = "delete the folder, or name another with --scratch"
KEPT: Final = ("message", "positivity")  # of `Sites`


def sites_name(colours: bool) -> str:
    """What the state of a fit calls its sites: with colours kept apart they are others."""
    return "sites by colour" if colours else "sites"


def started_sites(shape: tuple[int, int], start: Fit | None, name: str) -> Array:
    """Sites of an earlier fit of the same timeline or of its first periods, else zeros."""
    sites = np.zeros(shape)
    earlier = None if start is None else start.state.get(name)
    if earlier is not None and earlier.shape[1] == shape[1] and len(earlier) <= shape[0]:
        sites[: len(earlier)] = earlier
    return sites


def start_of(start: Fit | None, priors: Mapping[str, RandomWalk], timeline: Timeline) -> Array | None:
    """Beliefs of a fit as messages, (quantities, nodes, 2), means from the origins; a newcomer's where unknown.

    None if it has no beliefs about the skills of as many nodes.
    """
    if start is None or len(start.mean) != timeline.n_nodes:
        return None
    found = np.empty((len(priors), timeline.n_nodes, 2))
    for messages, (name, prior) in zip(found, priors.items(), strict=True):
        variance = prior.steps()[1][timeline.previous < 0]
        mean = np.full(len(messages), prior.origin)
        sd = np.full(len(messages), np.sqrt(variance.max(initial=0.0)))
        if known := start.chains.get(name):
            finite = np.isfinite(known.mean)
            sure = finite & np.isfinite(known.sd) & (known.sd > 0.0)
            mean[finite] = known.mean[finite]
            sd[sure] = known.sd[sure]
        messages[:, 0] = sd**-2
        messages[:, 1] = messages[:, 0] * (mean - prior.origin)
    return found


class Checkpoint:
    """The sites of one fit, in a folder of `scratch` named after its games, prior and rule. Raises SetupError."""

    def __init__(self, scratch: Path, timeline: Timeline, priors: Sequence[RandomWalk], play: Play) -> None:
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
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise _unwritten(self.folder, error) from error
        self._periods = len(timeline.periods)

    def cuts(self, wanted: Places) -> Places:
        """Where the slices that are kept are cut; as wanted if there are none."""
        place = self.folder / "cuts.npy"
        cuts = _loaded(place)
        if cuts is None:
            _write(place, wanted)
            return wanted
        whole = cuts.dtype == wanted.dtype and cuts.ndim == 1 and len(cuts) > 1
        if not whole or cuts[0] != 0 or cuts[-1] != self._periods or np.any(np.diff(cuts) <= 0):
            raise _damaged(place)
        return cuts

    def clear(self) -> None:
        """Keep nothing more."""
        rmtree(self.folder, ignore_errors=True)


def keep_sites(folder: Path, number: int, sites: Sites) -> None:
    """Save the sites of a slice. Raises SetupError when they cannot be written."""
    for name in KEPT:
        _write(folder / f"{name}-{number}.npy", getattr(sites, name))


def kept_sites(folder: Path, number: int, sites: Sites) -> bool:
    """Fill in what is kept of a slice; whether there is anything. Raises SetupError for files of others."""
    found = {name: _loaded(folder / f"{name}-{number}.npy") for name in KEPT}
    for name, values in found.items():
        into = getattr(sites, name)
        if values is not None and (values.shape != into.shape or values.dtype != into.dtype):
            raise _damaged(folder / f"{name}-{number}.npy")
    if any(values is None for values in found.values()):
        return False
    for name, values in found.items():
        getattr(sites, name)[:] = values
    return True


def _loaded(place: Path) -> NDArray[Any] | None:
    """The array in a file of one's own, None where there is no file. Raises SetupError."""
    try:
        with open_own(place) as file:
            return np.asarray(np.load(file, allow_pickle=False))
    except FileNotFoundError:
        return None
    except PermissionError as error:
        raise SetupError(f"{error.filename or place} is not trusted: {error.strerror}", hint=FRESH) from error
    except (OSError, ValueError, EOFError, MemoryError, SyntaxError) as error:
        raise _damaged(place) from error


def _damaged(place: Path) -> SetupError:
    return SetupError(f"{place} was not written by a fit", hint=FRESH)


def _write(place: Path, values: Array | Places) -> None:
    try:
        write_own(place, lambda file: np.save(file, values))
    except OSError as error:
        raise _unwritten(place, error) from error


def _unwritten(place: Path, error: OSError) -> SetupError:
    return SetupError(
        f"{place} cannot be written: {error.strerror}",
        hint="--scratch FOLDER keeps what a fit needs elsewhere",
    )
