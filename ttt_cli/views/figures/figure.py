"""A figure of a run by its kind."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Final, NamedTuple

from ttt_cli.runs.run import Run
from ttt_cli.support.progress import SILENT, Progress
from ttt_cli.views.figures import KINDS
from ttt_cli.views.figures.spec import Spec
from ttt_cli.views.published_ratings import PublishedRatings
from ttt_cli.views.rankings.eligible import Eligible, eligible


class Figure(NamedTuple):
    """A Vega-Lite figure, a name for its file without ending, and notes that belong on standard error."""

    spec: Spec
    stem: str
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class FigureOptions:
    """What the user chooses of a figure.

    `names`: players as users type them. `by`: a choice of the kind (None: its first one). `at`: the period of `why`.
    `second_run`, `published`: another run, or published ratings, to compare skills with. `limits`: who is eligible
    (None: by default). `count`: of how many players the mean is `top`, rows of `why`. `since`, `every`: first period
    predicted for `calibration`, and periods between refits.
    """

    names: Sequence[str] = ()
    by: str | None = None
    at: str | int | None = None
    second_run: Run | None = None
    published: PublishedRatings | None = None
    limits: Eligible | None = None
    count: int = 10
    since: str | None = None
    every: int = 1
    progress: Progress = SILENT

    def eligible(self, run: Run) -> Eligible:
        """Who is eligible."""
        return self.limits or eligible(run)


_DEFAULTS: Final = FigureOptions()


def make_figure(run: Run, kind: str = "skills", options: FigureOptions = _DEFAULTS) -> Figure:
    """The figure of a kind in `KINDS`. Raises LookupFailed for unknown names, and for an empty figure."""
    module, _, function = KINDS[kind].draw.partition(":")
    draw: Callable[[Run, FigureOptions], Figure] = vars(import_module(module))[function]
    with run:
        return draw(run, options)
