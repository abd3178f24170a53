"""Where a fit begins: at the sites of an earlier one, or near what is believed of the players."""

import numpy as np

from ttt_cli.arrays import Array, Mask
from ttt_cli.fitted import Fit
from ttt_cli.inference.prior import Prior


def sites_name(colours: bool) -> str:
    """What the state of a fit calls its sites: with colours kept apart they are others."""
    return "sites by colour" if colours else "sites"


def started_sites(shape: tuple[int, int], start: Fit | None, name: str) -> Array:
    """Sites to begin with: those of an earlier fit of the same timeline or of its beginning, else none."""
    sites = np.zeros(shape)
    earlier = None if start is None else start.state.get(name)
    if earlier is not None and earlier.shape[1] == shape[1] and len(earlier) <= shape[0]:
        sites[: len(earlier)] = earlier
    return sites


def tells_of(start: Fit | None, nodes: int) -> bool:
    """Whether `start` holds beliefs about the skills of as many nodes."""
    return start is not None and len(start.mean) == nodes


def believed(start: Fit | None, chain: str, prior: Prior, first: Mask) -> Array:
    """Beliefs about a quantity as messages (nodes, 2), the mean from the origin; a newcomer's if nothing is known."""
    _, variance = prior.steps()
    mean = np.full(len(first), prior.origin)
    sd = np.full(len(first), np.sqrt(variance[first].max(initial=0.0)))
    if start is not None and chain in start.chains:
        known = start.chains[chain]
        finite = np.isfinite(known.mean)
        sure = finite & np.isfinite(known.sd) & (known.sd > 0.0)
        mean[finite], sd[sure] = known.mean[finite], known.sd[sure]
    precision = sd**-2
    return np.stack([precision, precision * (mean - prior.origin)], axis=1)
