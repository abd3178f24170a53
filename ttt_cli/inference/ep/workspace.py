"""Buffers of the joint means of a slice."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ttt_cli.kernels.ep.structures import Descent
from ttt_cli.storage import ArrayStorage
from ttt_cli.support.arrays import Array


@dataclass
class Workspace:
    """Vectors of the solution of A x = b for the joint means, each (variables,); see `kernels/ep/joint_means.py`.

    | name | unit | |
    |---|---|---|
    | means | points | s: the marginal means, and at the end the joint ones |
    | residual | 1/points | r: b - A s, then what is left of it |
    | correction | points | x so far, which is added to the means at the end |
    | z | points | M^-1 r |
    | image | 1/points | A z; r until the couplings of games are added |
    | direction | points | p, along which the solution goes |
    | direction_image | 1/points | A p |
    | scale, gain, gain_away | | factor of M, see `joint_means.factor` |
    | from_first, from_last | | columns of M^-1 for the first and last variable of each segment; none without |
    | product | | r'z of the chains alone |

    Memory bandwidth takes the time, and there are as many variables as players in periods. So three buffers hold
    something else before the solution begins, and have a property of that name, too. In the order of the steps of
    `joint_means.py`:

    - correction: `prepare` puts `row_sums` there; `factor` ends by clearing it for x = 0.
    - direction_image: `prepare` puts `diagonal` there; `factor` eliminates it; then it is A p.
    - direction: `factor` puts `filtered` there, and solves for the columns of the inverse with it; then it is p.

    `for_another_solution` shares the factor and the means. Its other buffers are its own: it begins with the solution.
    """

    means: Array
    residual: Array
    correction: Array
    z: Array
    image: Array
    direction: Array
    direction_image: Array
    scale: Array
    gain: Array
    gain_away: Array
    from_first: Array
    from_last: Array
    product: float = 0.0

    @property
    def diagonal(self) -> Array:
        """diag(L), where L is the precision of games; from `factor` on with what arrives at segments."""
        return self.direction_image

    @property
    def filtered(self) -> Array:
        """Precisions of variables after the elimination of those before."""
        return self.direction

    @property
    def row_sums(self) -> Array:
        """Row sums of T^-1 diag(L), where T is the precision of the chains."""
        return self.correction

    @property
    def descent(self) -> Descent:
        """State of conjugate gradients, as kernels take it."""
        return Descent(self.direction, self.direction_image, self.correction, self.residual)

    def for_another_solution(self) -> Workspace:
        """The same factor with buffers of its own, for a solution at the same time."""
        z, image, direction, direction_image, residual, correction = np.zeros((6, len(self.means)))
        return replace(
            self,
            residual=residual,
            correction=correction,
            z=z,
            image=image,
            direction=direction,
            direction_image=direction_image,
        )


def workspace_for(variables: int, crossing: int, storage: ArrayStorage) -> Workspace:
    """Buffers for so many variables; `crossing`: as many, or 0 where no chain crosses a border."""
    vectors = storage.zeros("vectors", (10, variables), np.float64)
    z, image, direction, direction_image, residual, correction, scale, gain, gain_away, means = (
        vectors
    )
    from_first, from_last = storage.zeros("columns of the inverse", (2, crossing), np.float64)
    return Workspace(
        means, residual, correction, z, image, direction, direction_image, scale, gain, gain_away,
        from_first, from_last,
    )  # fmt: skip
