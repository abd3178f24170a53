"""What a fit reports: what was read, what was skipped, what was found, and what to be careful about."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from time import perf_counter
from typing import TYPE_CHECKING, Final

from ttt_cli.inference.switches import in_use
from ttt_cli.reading.reasons import DUPLICATE, ENGINE, OF_COLUMNS, TEAM

if TYPE_CHECKING:
    from ttt_cli.games.table import Games
    from ttt_cli.reading.reports import Problem, ReadReport
    from ttt_cli.runs.meta import RunMeta

_EXAMPLES: Final = 3
_TELLING: Final = 0.5  # seconds that are reported
_NOTE: Final = 240  # characters of a note, which may name hundreds of players


def reading_lines(games: Games, period: str, *, everything: bool = False) -> Iterator[str]:
    """Files, rows, games, and what was dropped or repaired, with the first examples or all of them."""
    report = games.report
    for file in report.files:
        dropped = file.rows - file.used
        tail = f", {_count(dropped, 'row')} dropped" if dropped else ""
        yield f"{file.path}: {_count(file.rows, 'row')}, {_count(file.used, 'game')}{tail}"
    yield from _problem_lines(report, everything)
    needed = {"year": 0, "quarter": 1, "month": 1}.get(period, 2)
    if vague := int((games.date_precision < needed).sum()):
        yield f"{_count(vague, 'game')} dated less exactly than the {period}: in the middle of what is known"


def found_lines(meta: RunMeta, *, everything: bool = False) -> Iterator[str]:
    """Players and periods, model and parameters, evidence, how inference ended, and the notes of the model."""
    span = meta.first if meta.first == meta.last else f"{meta.first} to {meta.last}"
    draws = f"{100 * meta.draw_share:.1f} % drawn"
    per = f"{meta.nodes:,} player-{meta.period}s"
    yield f"{_count(meta.players, 'player')}, {_count(meta.games, 'game')}, {span}, {per}, {draws}"
    yield f"{meta.model}: " + ", ".join(
        f"{key} {_short(value)}" for key, value in in_use(meta.params).items()
    )
    gain = f" ({meta.log_evidence / meta.weight:.5f} a game)" if meta.weight else ""
    yield (
        "no log-evidence: this system has none"
        if math.isnan(meta.log_evidence)
        else (f"log-evidence {meta.log_evidence:.6f}{gain}")
    )
    known = math.isfinite(meta.remaining_error)
    error = f"largest error left {f'about {meta.remaining_error:.2g} points' if known else 'unknown'}"
    sweeps = _count(meta.sweeps, "sweep")
    if meta.posterior:
        error += f", {meta.posterior} posterior"
    yield f"converged in {sweeps}, {error}" if meta.converged else f"NOT CONVERGED after {sweeps}, {error}"
    if meta.skipped_sites:
        yield f"{_count(meta.skipped_sites, 'update')} left out for want of precision"
    yield from meta.notes if everything else shown_notes(meta.notes)


def shown_notes(notes: Iterable[str]) -> Iterator[str]:
    """The notes of a model, long ones cut short: all of them are in the run."""
    for note in notes:
        yield note if len(note) <= _NOTE else f"{note[:_NOTE].rpartition(' ')[0]} ..."


def warning_lines(games: Games, *, suspects: bool = True) -> Iterator[str]:
    """Groups that cannot be compared, duplicates, teams and engines, names of two people, `suspects`: two of one."""
    if not len(games):
        return
    from ttt_cli.games.players.careers import long_careers
    from ttt_cli.games.players.suspects import count_suspects
    from ttt_cli.games.selection.groups import find_groups

    if warning := find_groups(games).warning:
        yield f"{warning}; --largest-group keeps it alone"
    noticed = games.report.noticed
    if repeated := noticed.get(DUPLICATE, 0):
        yield f"{_count(repeated, 'row repeats', 'rows repeat')} another and counts again: --dedupe uses one of them"
    if several := noticed.get(TEAM, 0) + noticed.get(ENGINE, 0):
        yield f"{_count(several, 'row')} of teams or computers: data.drop can leave them out"
    if games.report.chess and (long := [career.name for career in long_careers(games)]):
        yield f"{_count(len(long), 'name')} with games over 60 years apart, perhaps two people: {_some(long)}"
    if not suspects:
        return
    started = perf_counter()
    pairs, left_out = count_suspects(games)
    seconds = perf_counter() - started
    spent = f" ({seconds:.1f} s; --no-suspects saves them)" if seconds >= _TELLING else ""
    if pairs or spent:
        found = (
            f"{_count(pairs, 'pair')} of names may be one person's"
            if pairs
            else "no two names may be one person's"
        )
        yield f"{found}{': `ttt names FILE...` goes through them' if pairs else ''}{spent}"
    if left_out:
        yield f"{_count(left_out, 'name')} of frequent surnames not compared with all of their like"


def _some(names: Sequence[str]) -> str:
    return "; ".join(names[:_EXAMPLES]) + ("; ..." if len(names) > _EXAMPLES else "")


def _problem_lines(report: ReadReport, everything: bool) -> Iterator[str]:
    found: dict[tuple[str, str], list[Problem]] = {("dropped", reason): [] for reason in report.dropped}
    for problem in report.problems:
        found.setdefault((problem.action, problem.reason), []).append(problem)
    for (action, reason), problems in found.items():
        if reason in OF_COLUMNS:
            yield from (f"  {action}: {reason} ({problem.place}): {problem.detail}" for problem in problems)
            continue
        count = report.dropped[reason] if action == "dropped" and reason in report.dropped else len(problems)
        line = f"  {action}: {reason}, {count:,}"
        if everything:
            yield line
            yield from (f"    {problem.place} {problem.detail}".rstrip() for problem in problems)
        else:
            examples = ", ".join(problem.place for problem in problems[:_EXAMPLES])
            more = ", ..." if count > _EXAMPLES else ""
            yield f"{line} ({examples}{more})" if examples else line


def _count(number: int, one: str, many: str | None = None) -> str:
    return f"{number:,} {one}" if number == 1 else f"{number:,} {many or f'{one}s'}"


def _short(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)
