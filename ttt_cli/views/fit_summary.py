"""What a fit found, in lines: model, parameters with standard errors, evidence, and how inference ended."""

import math
from collections.abc import Iterator, Sequence
from typing import Final

from ttt_cli.config.margin_steps import PREFIX as STEPS
from ttt_cli.inference.outcome import is_gaussian
from ttt_cli.runs.meta import RunMeta, in_use
from ttt_cli.views.probability import outcomes
from ttt_cli.views.rows import counted, shown_notes
from ttt_cli.views.rows import short as short_text
from ttt_cli.views.run import model_line

_UNCERTAIN_SHARE: Final = 0.1  # standard error of the share of draws
_GROUPS: Final = 6  # of newcomers, shown


def fit_lines(meta: RunMeta, *, everything: bool = False) -> Iterator[str]:
    """Model, players and periods, parameters, evidence, how inference ended, and the notes of the model."""
    yield model_line(meta)
    span = meta.first if meta.first == meta.last else f"{meta.first} to {meta.last}"
    draws = f"{100 * meta.draw_share:.1f} % drawn"
    nodes = f"{meta.nodes:,} player-{meta.period}s"
    games = counted(meta.games, "game")
    if meta.races:
        orders = counted(meta.races, "order of finish", "orders of finish")
        games += f" ({orders}, each counted by its neighbours)"
    yield f"{counted(meta.players, 'player')}, {games}, {span}, {nodes}, {draws}"
    parameters = [f"{key} {short_text(value)}" for key, value in in_use(meta.params).items()]
    yield f"parameters: {', '.join(parameters)}"
    if error := meta.standard_errors.get("white_advantage"):
        yield advantage_line(meta, error)
    if note := draw_margin_note(meta):
        yield note
    yield from covariate_lines(meta)
    yield from group_lines(meta)
    if error := meta.standard_errors.get("lapse"):
        yield f"chance decides {100 * meta.params['lapse']:.1f} +- {100 * error:.1f} % of the games"
    yield from step_lines(meta)
    if math.isnan(meta.log_evidence):
        yield "no log-evidence: this system has none"
    else:
        gain = f" ({meta.log_evidence / meta.weight:.5f} a game)" if meta.weight else ""
        yield f"log-evidence {meta.log_evidence:.6f}{gain}"
    has_error = math.isfinite(meta.remaining_error)
    error = f"{meta.remaining_error:.2g} points" if has_error else "an unknown amount"
    error += f" ({meta.posterior} posterior)" if meta.posterior else ""
    sweeps = counted(meta.sweeps, "sweep")
    is_filter = meta.kind == "filtered" and meta.sweeps == 1 and not meta.remaining_error
    if is_filter:
        yield "computed in one pass over the games"
    elif meta.converged:
        yield f"converged in {sweeps}: all skills within {error}"
    else:
        yield f"NOT CONVERGED after {sweeps}: skills may be off by {error}"
    if meta.skipped_sites:
        yield f"{counted(meta.skipped_sites, 'update')} left out for want of precision"
    yield from meta.notes if everything else shown_notes(meta.notes)


def advantage_line(meta: RunMeta, error: float) -> str:
    """The advantage of the side named first with its standard error, and what that side scores against an equal one."""
    sides = meta.config.get("data", {}).get("sides")
    line = f"{advantage_name(sides)}: {meta.params['white_advantage']:.1f} +- {error:.1f} points"
    params = meta.params
    if not is_gaussian(params) or "draw_margin" not in params:
        return line
    equal = {"mean": params.get("draw_margin_level", params["prior_mean"]), "sd": 0.0}
    (outcome,) = outcomes(meta.model, params, [equal], [equal])
    first = sides[0] if sides else "white"
    name = {"white": "White", "home": "the home side"}.get(first.casefold(), first)
    return f"{line}; between equals {name} scores {outcome.expected:.2f}"


def draw_margin_note(meta: RunMeta) -> str:
    """Note on a draw margin that follows the share of draws among a few games; else empty.

    The standard error of the share counts two draws and two decided games more (Agresti and Coull 1998), so that it is
    not 0 where all games or none are drawn.
    """
    model = meta.config.get("model", {})
    if (
        model.get("draw_margin") != "auto"
        or model.get("draw_probability") is not None
        or not meta.games
    ):
        return ""
    drawn = meta.draw_share * meta.weight
    share = (drawn + 2.0) / (meta.weight + 4.0)
    standard_error = math.sqrt(share * (1.0 - share) / (meta.weight + 4.0))
    if standard_error < _UNCERTAIN_SHARE:
        return ""
    return f"too few games to estimate the draw margin: {drawn:.4g} of {meta.weight:.4g} are drawn"


def covariate_lines(meta: RunMeta) -> Iterator[str]:
    """Points per unit of each covariate that counts, and the share of it that follows from who plays."""
    for key, share in meta.explained.items():
        error = meta.standard_errors.get(key)
        uncertain = f" +- {error:.1f}" if error else ""
        from_players = f"{100 * share:.0f} % of it follows from who plays"
        yield f"{key}: {meta.params[key]:.1f}{uncertain} points per unit; {from_players}"


def step_lines(meta: RunMeta) -> Iterator[str]:
    """By how much more of the difference wider wins need, where that is estimated."""
    for key, error in meta.standard_errors.items():
        if key.startswith(STEPS):
            margin = key.removeprefix(STEPS)
            points = f"{meta.params[key]:.1f} +- {error:.1f} points"
            yield f"a win by {margin} or more takes a performance {points} better than a narrower win"


def group_lines(meta: RunMeta) -> Iterator[str]:
    """How newcomers differ by each field of people, with the groups of most newcomers."""
    for field, of_field in meta.groups.items():
        groups = sorted(of_field["groups"].items(), key=lambda item: (-item[1][0], item[0]))
        shown = [f"{value} {mean:+.0f} +- {sd:.0f}" for value, (_, mean, sd) in groups[:_GROUPS]]
        more = f" and {len(groups) - _GROUPS:,} more groups" if len(groups) > _GROUPS else ""
        yield (
            f"newcomers by {field}: {of_field['mean']:+.0f} points where it is known, groups differ by an sd of "
            f"{of_field['sd']:.0f}: {', '.join(shown)}{more}"
        )


def advantage_name(sides: Sequence[str] | None) -> str:
    """What the advantage of the side named first is called: White's, home, or by the configured name of that side."""
    first = sides[0].casefold() if sides else "white"
    return {"white": "White's advantage", "home": "home advantage"}.get(
        first, f"advantage of {first}"
    )
