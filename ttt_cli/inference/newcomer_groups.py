"""Newcomers' mean by groups of people: effects of federation, decade of birth and the like, shrunk to their sd.

The first skill of player i is N(prior_mean + sum_f (c_f + g_f(i)), prior_sd^2), f(i) the group of the player in the
field f: c_f ~ N(0, prior_sd^2) is common to all whose field is known, g ~ N(0, sd_f^2). Effects are the most probable
ones.

At a fit with first skills of means mu, the log-evidence has the slope s_i = (m_i - mu_i) / prior_sd^2 in mu_i, m_i
being the posterior mean, and about the curvature -H, H = I / prior_sd^2 - V / prior_sd^4, V the joint posterior
covariance of first skills. A fit without a joint posterior has its diagonal alone, with which steps are short and
effects rather too certain.
Each round solves the linear mixed model of these slopes and fits again, until no effect moves.

The sds maximise the marginal likelihood times the sds: a prior that is 0 at 0, since a likelihood of few groups is
often highest at 0, where effects would have no errors (Chung, Rabe-Hesketh, Dorie, Gelman and Liu, Psychometrika 78,
2013).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple, Self

import numpy as np

from ttt_cli.fitted import Fit, GroupMean, GroupsOfField
from ttt_cli.games.people import BORN
from ttt_cli.support.arrays import Array, Ids, Mask, Places
from ttt_cli.support.errors import ConfigError, suggested
from ttt_cli.timeline import Timeline

TOL: Final = 0.5  # points: the largest move of an effect at the end
MOST_ROUNDS: Final = 25
_LEAST: Final = 1e-3  # sd of effects, of prior_sd
_MOST: Final = 1e4  # times that
_FIRST: Final = 0.25  # the same before the first round
_DECADE: Final = 10


@dataclass(frozen=True)
class PlayerGroups:
    """Groups of the players of a timeline.

    | attribute | shape | meaning |
    |---|---|---|
    | fields | (fields,) | names of fields |
    | kind | (groups,) | index of the field of each group; of one of all whose field is known, that plus the fields |
    | values | (groups,) | what the group has in common, as text; empty for all whose field is known |
    | group | (players, 2 fields) | indices of the groups of each field, then of all whose field is known; -1: none |
    """

    fields: tuple[str, ...]
    kind: Places
    values: tuple[str, ...]
    group: Places

    @classmethod
    def of(cls, timeline: Timeline, fields: Sequence[str]) -> Self:
        """The groups of players by fields of people. Raises ConfigError for a field that nobody has."""
        kind: list[int] = []
        values: list[str] = []
        group = np.full((len(timeline.players), 2 * len(fields)), -1)
        for index, field in enumerate(fields):
            if field not in timeline.people.fields:
                known = timeline.people.fields
                raise ConfigError(
                    f"model.newcomers_by: the games have no field {field!r} of people",
                    hint=suggested(field, known, "data.people names a table with it"),
                )
            texts = timeline.people.column(field, timeline.players)
            if field == BORN:
                texts = [_decade(text) for text in texts]
            distinct = sorted({text for text in texts if text})
            number = {text: len(values) + position for position, text in enumerate(distinct)}
            group[:, index] = [number.get(text, -1) for text in texts]
            kind += [index] * len(distinct)
            values += distinct
        for index in range(len(fields)):
            column = len(fields) + index
            group[:, column] = np.where(group[:, index] < 0, -1, len(values))
            kind.append(column)
            values.append("")
        return cls(tuple(fields), np.array(kind, np.int64), tuple(values), group)

    def means(self, effects: Array) -> Array:
        """The sum of the effects of each player's groups, (players,)."""
        padded = np.append(effects, 0.0)  # -1 selects the last
        total: Array = padded[self.group].sum(axis=1)
        return total

    def membership(self, players: Ids) -> Mask:
        """Whether players are in groups, (players, groups)."""
        member: Mask = np.any(
            self.group[players][:, :, None] == np.arange(len(self.values)), axis=1
        )
        return member


def _decade(text: str) -> str:
    """The decade of a date, `1830s`; empty if it is unknown."""
    return f"{int(text[:4]) // _DECADE * _DECADE}s" if text else ""


class MixedModel(NamedTuple):
    """Solution of the linear mixed model: effects, their covariance (groups, groups), and the sd of each field."""

    effects: Array
    covariance: Array
    sds: Array


def solve_mixed_model(
    information: Array, weighted: Array, kind: Places, sds: Array, free: Mask, least: float
) -> MixedModel:
    """Effects g with prior N(0, sd^2) and likelihood exp(weighted'g - g'information g / 2), and the sds of kinds.

    `information` (groups, groups), `weighted` (groups,), `kind` (groups,) an index of `sds`. Where sds are `free` they
    maximise the marginal likelihood times the sds, from these on; they are at least `least`.
    """
    from scipy.optimize import minimize

    count = np.bincount(kind, minlength=len(sds)).astype(np.float64)
    chosen = np.flatnonzero(free & (count > 0))

    def solution(logs: Array) -> MixedModel:
        """The effects and their covariance at these logarithms of the free sds."""
        at = sds.copy()
        at[chosen] = np.exp(logs)
        scale = at[kind]
        # inverse of information + diag(scale^-2), without dividing by small sds
        scaled = np.eye(len(kind)) + scale[:, None] * information * scale
        covariance = scale[:, None] * np.linalg.inv(scaled) * scale
        return MixedModel(covariance @ weighted, covariance, at)

    def loss(logs: Array) -> tuple[float, Array]:
        """Minus the logarithm of marginal likelihood and sds, and its slopes in their logarithms."""
        effects, covariance, at = solution(logs)
        scale = at[kind]
        _, log_determinant = np.linalg.slogdet(covariance / np.outer(scale, scale))
        squares = np.bincount(kind, (effects**2 + np.diag(covariance)) / scale**2, len(sds))
        likelihood = 0.5 * (float(log_determinant) + float(weighted @ effects))
        slopes: Array = (count - squares)[chosen] - 1.0
        return -likelihood - float(logs.sum()), slopes

    if not len(chosen):
        return solution(np.empty(0))
    begin = np.log(np.maximum(sds[chosen], least))
    bounds = [(math.log(least), math.log(_MOST * least))] * len(chosen)
    best = minimize(loss, begin, jac=True, method="L-BFGS-B", bounds=bounds)
    return solution(best.x)


def fit_with_groups(
    fit_at: Callable[[Timeline, Fit | None], Fit],
    covariance_at: Callable[[Timeline, Fit, Array], Array | None],
    timeline: Timeline,
    fields: Sequence[str],
    prior_mean: float,
    prior_sd: float,
    start: Fit | None,
) -> Fit:
    """The fit in which newcomers' mean depends on fields of people.

    `fit_at` fits a timeline from a warm start; `covariance_at` a fit of it is that (sums, sums) of sums of skills with
    weights (nodes, sums), None where it is not known. The log-evidence has the effects integrated out (Laplace), given
    their sds.
    """
    groups = PlayerGroups.of(timeline, fields)
    first = np.flatnonzero(timeline.previous < 0)
    players = timeline.node_player[first]
    member = groups.membership(players).astype(np.float64)
    of_nodes = np.zeros((timeline.n_nodes, len(groups.values)))
    of_nodes[first] = member
    effects = np.zeros(len(groups.values)) if start is None else _effects_of(start, groups)
    free = np.arange(2 * len(fields)) < len(fields)
    solution = MixedModel(
        effects, np.zeros((len(effects), len(effects))), np.where(free, _FIRST * prior_sd, prior_sd)
    )
    reached = False
    grouped = with_effects(timeline, groups, effects)
    fit = fit_at(grouped, start)
    covariance = covariance_at(grouped, fit, of_nodes)  # it hardly depends on the effects
    if covariance is None:
        covariance = member.T @ (fit.sd[first, None] ** 2 * member)
    covariance = 0.5 * (covariance + covariance.T)  # solutions are symmetric but for rounding
    information = member.T @ member / prior_sd**2 - covariance / prior_sd**4
    for _ in range(MOST_ROUNDS):
        means = groups.means(effects)[players]
        slope = (fit.mean[first] - prior_mean - means) / prior_sd**2
        weighted = member.T @ slope + information @ effects
        solution = solve_mixed_model(
            information, weighted, groups.kind, solution.sds, free, _LEAST * prior_sd
        )
        move = float(np.abs(solution.effects - effects).max(initial=0.0))
        if move < TOL:
            reached = True
            break
        effects = solution.effects
        fit = fit_at(with_effects(timeline, groups, effects), fit)
    return _described(fit, groups, effects, solution, member, reached=reached)


def with_effects(timeline: Timeline, groups: PlayerGroups, effects: Array) -> Timeline:
    """The timeline with newcomers' means by these effects."""
    return replace(timeline, newcomer_means=groups.means(effects))


def with_groups_of_fit(timeline: Timeline, fit: Fit) -> Timeline:
    """The timeline with newcomers' means as in a fit of it."""
    if not fit.groups:
        return timeline
    groups = PlayerGroups.of(timeline, [of_field.field for of_field in fit.groups])
    return with_effects(timeline, groups, _effects_of(fit, groups))


def _effects_of(fit: Fit, groups: PlayerGroups) -> Array:
    """The effects of groups in a fit, 0 of those that it does not have."""
    known: dict[tuple[str, str], float] = {}
    for of_field in fit.groups:
        known[of_field.field, ""] = of_field.mean
        for of_group in of_field.groups:
            known[of_field.field, of_group.value] = of_group.mean
    n_fields = len(groups.fields)
    keys = [
        (groups.fields[kind % n_fields], value)
        for kind, value in zip(groups.kind.tolist(), groups.values, strict=True)
    ]
    return np.array([known.get(key, 0.0) for key in keys], np.float64)


def _described(
    fit: Fit,
    groups: PlayerGroups,
    effects: Array,
    solution: MixedModel,
    member: Array,
    *,
    reached: bool,
) -> Fit:
    """The fit with its groups, and with its log-evidence over all effects."""
    errors = np.sqrt(np.diag(solution.covariance))
    n_newcomers = member.sum(axis=0).astype(int)
    n_fields = len(groups.fields)
    of_fields = []
    for index, field in enumerate(groups.fields):
        of_field = [
            GroupMean(
                groups.values[group],
                int(n_newcomers[group]),
                float(effects[group]),
                float(errors[group]),
            )
            for group in np.flatnonzero(groups.kind == index).tolist()
        ]
        common = float(effects[groups.kind == n_fields + index][0])
        of_fields.append(GroupsOfField(field, common, float(solution.sds[index]), tuple(of_field)))
    scale = solution.sds[groups.kind]
    _, log_determinant = np.linalg.slogdet(solution.covariance / np.outer(scale, scale))
    integral = 0.5 * (float(log_determinant) - float(((effects / scale) ** 2).sum()))
    notes = fit.notes
    if not reached:
        notes = (
            *notes,
            f"NOT CONVERGED: newcomers' means by {', '.join(groups.fields)} were still moving",
        )
    return replace(
        fit, groups=tuple(of_fields), log_evidence=fit.log_evidence + integral, notes=notes
    )
