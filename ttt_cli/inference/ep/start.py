"""What a fit starts from: the sites or beliefs of an earlier fit, or sites that one saved in a folder on its way."""

from collections.abc import Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from shutil import rmtree
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ttt_cli.fitted import Fit
from ttt_cli.inference.links import MergedGames
from ttt_cli.inference.model import Play
from ttt_cli.inference.prior import RandomWalk
from ttt_cli.kernels.ep.structures import Sites
from ttt_cli.support.arrays import Array, Places
from ttt_cli.support.errors import SetupError
from ttt_cli.support.private_files import open_private, write_private
from ttt_cli.timeline import Timeline

FRESH: Final = "delete the folder, or name another with --scratch"


def sites_name(merged: MergedGames) -> str:
    """What the state of a fit calls its sites: with colours, covariates or margins kept apart they are others."""
    name = "sites by colour" if merged.colours else "sites"
    if merged.thresholds:
        name += f" and margins from {', '.join(str(threshold) for threshold in merged.thresholds)}"
    return f"{name} and {', '.join(merged.terms)}" if merged.terms else name


def sites_of_start(shape: tuple[int, int], start: Fit | None, name: str) -> Array:
    """Sites of an earlier fit of the same timeline or of its first periods, else zeros."""
    sites = np.zeros(shape)
    earlier = None if start is None else start.state.get(name)
    if earlier is not None and earlier.shape[1] == shape[1] and len(earlier) <= shape[0]:
        sites[: len(earlier)] = earlier
    return sites


def beliefs_of_start(
    start: Fit | None, priors: Mapping[str, RandomWalk], timeline: Timeline
) -> Array | None:
    """Beliefs of a fit as messages, (quantities, nodes, 2), means from the origins; a newcomer's where unknown.

    None if it has no beliefs about the skills of as many nodes.
    """
    if start is None or len(start.mean) != timeline.n_nodes:
        return None
    beliefs = np.empty((len(priors), timeline.n_nodes, 2))
    for messages, (name, prior) in zip(beliefs, priors.items(), strict=True):
        variance = prior.steps()[1][timeline.previous < 0]
        mean = np.full(len(messages), prior.origin)
        sd = np.full(len(messages), np.sqrt(variance.max(initial=0.0)))
        if chain := start.chains.get(name):
            has_mean = np.isfinite(chain.mean)
            has_sd = has_mean & np.isfinite(chain.sd) & (chain.sd > 0.0)
            mean[has_mean] = chain.mean[has_mean]
            sd[has_sd] = chain.sd[has_sd]
        messages[:, 0] = sd**-2
        messages[:, 1] = messages[:, 0] * (mean - prior.origin)
    return beliefs


class Checkpoint:
    """The sites of one fit, in a folder of `scratch` named after its games, prior and rule. Raises SetupError."""

    def __init__(
        self,
        scratch: Path,
        timeline: Timeline,
        priors: Sequence[RandomWalk],
        play: Play,
        terms: tuple[str, ...] = (),
        thresholds: tuple[int, ...] = (),
    ) -> None:
        self.folder = (
            scratch.absolute() / f"ttt-fit-{_digest(timeline, priors, play, terms, thresholds)}"
        )
        self._periods = len(timeline.periods)
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise _unwritten(self.folder, error) from error

    def cuts(self, wanted: Places) -> Places:
        """Where the saved slices are cut; as wanted if there are none."""
        path = self.folder / "cuts.npy"
        cuts = _load(path)
        if cuts is None:
            _save(path, wanted)
            return wanted
        is_cuts = cuts.dtype == wanted.dtype and cuts.ndim == 1 and len(cuts) > 1
        if not is_cuts or cuts[0] != 0 or cuts[-1] != self._periods or np.any(np.diff(cuts) <= 0):
            raise _damaged(path)
        return cuts

    def clear(self) -> None:
        """Remove the folder."""
        rmtree(self.folder, ignore_errors=True)


def _digest(
    timeline: Timeline,
    priors: Sequence[RandomWalk],
    play: Play,
    terms: tuple[str, ...],
    thresholds: tuple[int, ...],
) -> str:
    """A name for the games, prior and rule of a fit; `terms` and `thresholds`: covariates and margins of the rule."""
    digest = blake2b(repr((play, terms, thresholds)).encode(), digest_size=8)
    columns: list[NDArray[Any]] = [
        timeline.node_start, timeline.game_start, timeline.game_white, timeline.game_black, timeline.outcome,
        timeline.weight, timeline.offset, timeline.advantage_owner,
    ]  # fmt: skip
    if terms:
        columns += [array for covariate in timeline.covariates for array in covariate.arrays]
    if timeline.doubt is not None:
        columns.append(timeline.doubt)
    if thresholds and timeline.victory_margin is not None:
        columns.append(timeline.victory_margin)
    for column in columns:
        # a column of equal entries as one
        digest.update(np.ascontiguousarray(column if column.strides[0] else column[:1]).data)
        timeline.storage.release()
    for prior in priors:
        for column in prior.steps():
            digest.update(np.ascontiguousarray(column).data)
            timeline.storage.release()
    return digest.hexdigest()


def save_sites(folder: Path, number: int, sites: Sites) -> None:
    """Save the sites of the slice of this number. Raises SetupError when they cannot be written."""
    _save(folder / f"message-{number}.npy", sites.message)
    _save(folder / f"positivity-{number}.npy", sites.positivity)


def load_sites(folder: Path, number: int, sites: Sites) -> bool:
    """Fill in the saved sites of a slice; whether there are any. Raises SetupError for files of others."""
    message = _load_like(folder / f"message-{number}.npy", sites.message)
    positivity = _load_like(folder / f"positivity-{number}.npy", sites.positivity)
    if message is None or positivity is None:
        return False
    sites.message[:] = message
    sites.positivity[:] = positivity
    return True


def _load_like(path: Path, pattern: Array) -> NDArray[Any] | None:
    """The array in a file, which has the shape and type of another. Raises SetupError."""
    values = _load(path)
    if values is not None and (values.shape != pattern.shape or values.dtype != pattern.dtype):
        raise _damaged(path)
    return values


def _load(path: Path) -> NDArray[Any] | None:
    """The array in a file of one's own, None where there is no file. Raises SetupError."""
    try:
        with open_private(path) as file:
            return np.asarray(np.load(file, allow_pickle=False))
    except FileNotFoundError:
        return None
    except PermissionError as error:
        raise SetupError(
            f"{error.filename or path} is not trusted: {error.strerror}", hint=FRESH
        ) from error
    except (OSError, ValueError, EOFError, MemoryError, SyntaxError) as error:
        raise _damaged(path) from error


def _damaged(path: Path) -> SetupError:
    return SetupError(f"{path} was not written by a fit", hint=FRESH)


def _save(path: Path, values: Array | Places) -> None:
    try:
        write_private(path, lambda file: np.save(file, values))
    except OSError as error:
        raise _unwritten(path, error) from error


def _unwritten(path: Path, error: OSError) -> SetupError:
    return SetupError(
        f"{path} cannot be written: {error.strerror}",
        hint="--scratch FOLDER keeps what a fit needs elsewhere",
    )
