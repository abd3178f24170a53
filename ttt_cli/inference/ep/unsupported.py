"""Parts of a model that cannot be fitted together yet."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from ttt_cli.config.schema import SolverConfig
from ttt_cli.inference.ep.transport import Placement
from ttt_cli.inference.links import LinkedGames
from ttt_cli.inference.model import Play
from ttt_cli.support.errors import ConfigError
from ttt_cli.timeline import Timeline


class CombinedParams(Protocol):
    """Parameters that may exclude each other, as in `ThroughTimeParams`."""

    @property
    def given_lapse(self) -> float | None:
        """The share of games that chance decides; None: it is estimated."""

    @property
    def draws_move(self) -> bool:
        """Whether draw margins follow years or strength."""

    @property
    def step_settings(self) -> object:
        """Steps between margins of victory."""


class Combination(Protocol):
    """What is fitted together; see `ThroughTime`."""

    @property
    def timeline(self) -> Timeline:
        """All games."""

    @property
    def params(self) -> CombinedParams:
        """As configured."""

    @property
    def play(self) -> Play:
        """How games are played."""

    @property
    def links(self) -> LinkedGames | None:
        """Games of other kinds than two players."""

    @property
    def category_offsets(self) -> Sequence[object]:
        """The categories in which players have offsets."""

    @property
    def steps(self) -> Sequence[object]:
        """Steps between margins of victory. Raises ConfigError where the games have no margins."""


class _Conflict(NamedTuple):
    """Whether a model has a part that another part excludes, and what to change then."""

    is_there: bool
    hint: str


def refuse_unsupported(
    model: Combination, solver: SolverConfig, placement: Placement | None
) -> None:
    """Raise ConfigError for parts of a model, or of a solver, that cannot be fitted together."""
    if placement and solver.posterior == "joint":
        raise ConfigError(
            "the joint posterior is not fitted over a cluster yet",
            hint="solver.posterior=factorised; without a cluster and --memory it is",
        )
    if placement and model.category_offsets:
        raise ConfigError(
            "offsets of categories are not fitted with --memory or on a cluster yet",
            hint="leave out solver.memory and solver.cluster, or model.offsets",
        )
    if model.timeline.doubt is not None and model.play.own_margins:
        raise ConfigError(
            "doubtful records (p_true) are fitted by ttt only",
            hint="leave out data.p_true: then all records are right",
        )
    if model.links and (placement or model.play.own_margins):
        raise ConfigError(
            "links of any number of variables need TTT and one slice of time in memory"
        )
    if model.timeline.members is not None:
        _refuse_with_sums(model, placement)
    if model.steps:
        _refuse_with_steps(model, placement)


def _refuse_with_sums(model: Combination, placement: Placement | None) -> None:
    """Raise ConfigError for what cannot be fitted with teams and orders of finish."""
    params = model.params
    _refuse(
        "games of teams and orders of finish are not fitted with draw margins that move, --memory "
        "or on a cluster yet",
        _Conflict(placement is not None, "leave out solver.memory and solver.cluster"),
        _Conflict(
            params.draws_move, "set model.draw_margin_drift: 0 and model.draw_margin_strength: 0"
        ),
    )


def _refuse_with_steps(model: Combination, placement: Placement | None) -> None:
    """Raise ConfigError for what cannot be fitted with margins of victory."""
    params = model.params
    _refuse(
        "margins of victory are not fitted with draw margins that move yet, nor together with lapses "
        "or doubtful records with --memory or on a cluster",
        _Conflict(
            placement is not None
            and (params.given_lapse != 0.0 or model.timeline.doubt is not None),
            "leave out solver.memory and solver.cluster, or set model.lapse: 0",
        ),
        _Conflict(
            params.draws_move,
            "set model.draw_margin_drift: 0 and model.draw_margin_strength: 0, or leave out model.margin_steps",
        ),
    )


def _refuse(message: str, *conflicts: _Conflict) -> None:
    """Raise ConfigError with the hint of the first conflict, if there is any."""
    for conflict in conflicts:
        if conflict.is_there:
            raise ConfigError(message, hint=conflict.hint)
