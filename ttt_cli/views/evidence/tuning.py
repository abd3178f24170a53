"""What tuning found: a table, lines for the eye, and the config to use from now on."""

import math
from collections.abc import Iterator
from typing import Any, Final

from ttt_cli.evaluate.evidence.tune import TunedParameter, Tuning
from ttt_cli.runs.meta import RunMeta
from ttt_cli.views.rows import Rows

EVIDENCE: Final = "log_evidence"  # the last row
_FINE: Final = 1.0  # standard errors below this want more decimals


def tuning_rows(tuning: Tuning, meta: RunMeta) -> Rows:
    """A row per parameter, `parameter,start,tuned,standard_error,bound`, and a last one of the log-evidence.

    `bound` is `lower` or `upper` where a parameter stopped at one. Of several parameters the correlations follow,
    a column `corr_KEY` for each; empty where the curvature does not give them.
    """
    keys = [found.key for found in tuning.parameters]
    several = len(keys) > 1
    rows: list[tuple[Any, ...]] = []
    for found, line in zip(tuning.parameters, tuning.correlations.tolist(), strict=True):
        numbers = [None if math.isnan(value) else value for value in line] if several else []
        rows.append((found.key, found.start, found.value, found.standard_error, found.bound, *numbers))
    rows.append(
        (EVIDENCE, tuning.start_log_evidence, tuning.log_evidence, *[None] * (len(keys) * several + 2))
    )
    columns = ("parameter", "start", "tuned", "standard_error", "bound")
    further = tuple(f"corr_{key}" for key in keys) if several else ()
    fine = any((found.standard_error or _FINE) < _FINE for found in tuning.parameters)
    decimals = dict.fromkeys(("start", "tuned", "standard_error"), 4 if fine else 2) | dict.fromkeys(
        further, 2
    )
    plain = frozenset() if any(found.bound for found in tuning.parameters) else frozenset({"bound"})
    return Rows((*columns, *further), rows, (meta.describe(),), decimals, plain)


def tuning_lines(tuning: Tuning) -> Iterator[str]:
    """What was gained, what it cost, and what to know before using the values."""
    gain = tuning.log_evidence - tuning.start_log_evidence
    yield f"log-evidence {tuning.log_evidence:.3f}, {gain:+.3f} nats from where it began"
    yield f"{tuning.evaluations} fits, {tuning.sweeps} sweeps"
    yield from tuning.remarks


def tuned_config(tuning: Tuning, meta: RunMeta) -> str:
    """The tuned config as YAML that reads back; comments on top say where the values come from."""
    from ttt_cli.config.render import render

    lines = [
        f"Tuned by `ttt tune` on {meta.games:,} games, {meta.first} to {meta.last}:",
        *(f"  {_words(found)}" for found in tuning.parameters),
        *tuning_lines(tuning),
    ]
    return "".join(f"# {line}\n" for line in lines) + "\n" + render(tuning.config, tuning.schema)


def _words(found: TunedParameter) -> str:
    error = "" if found.standard_error is None else f" +- {found.standard_error:.3g}"
    bound = f", its {found.bound} bound" if found.bound else ""
    return f"{found.key} {found.value:.6g}{error}{bound} (from {found.start:.6g})"
