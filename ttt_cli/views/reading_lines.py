"""What a fit says of the games that it read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np

from ttt_cli.games.event_sets import EXHIBITIONS, LEFT_OUT
from ttt_cli.games.groups import find_groups, long_careers
from ttt_cli.games.suspects import count_suspects
from ttt_cli.games.table import DRAW, Games
from ttt_cli.reading import reports as reasons
from ttt_cli.reading.columns import CodedColumn
from ttt_cli.reading.reports import FileReport, Problem, ReadReport
from ttt_cli.views.rows import counted

_MARGINS: Final = 4  # of victory, shown
_EXAMPLES: Final = 3


def names_written(games: Games) -> int:
    """Distinct spellings of the names of players, those by which players are shown included."""
    return len({*games.players, *(spelling for _, spelling in games.spellings)})


def reading_lines(games: Games, period: str, *, everything: bool = False) -> Iterator[str]:
    """Files, rows, games, and what was dropped or repaired, with the first examples or all of them."""
    report = games.report
    for file in report.files:
        yield f"{file.path}: {_counts_of_file(file)}"
    yield from _problem_lines(report, everything=everything)
    if left_out := [
        f"{name} {report.dropped[name]:,}" for name in report.dropped if name in EXHIBITIONS
    ]:
        yield f"exhibitions and games at odds left out: {', '.join(left_out)}; data.filter.exclude: [] keeps them"
    if variants := report.dropped.get("variants"):
        yield f"variants of chess left out: {variants:,}; data.filter.exclude: [] keeps them"
    if with_engines := report.dropped.get(reasons.ENGINE):
        yield f"games with computers left out: {with_engines:,}; data.drop: [] keeps them"
    if (written := names_written(games)) > len(games.players):
        pairs = [f"{spelling} = {player}" for player, spelling in games.spellings]
        yield f"{written:,} names became {counted(len(games.players), 'player')}: {_first_examples(pairs)}"
    if people := report.people:
        births = np.count_nonzero(~np.isnan(games.people.births(games.players)))
        matched = f"{len(games.people.values):,} of {counted(len(games.players), 'player')}"
        yield f"{people.path}: {counted(people.rows, 'person', 'people')}, {matched} known, {births:,} with a birth"
    if games.category.codes.any():
        yield f"categories: {', '.join(text_counts(games.category))}"
    if games.source.codes.any():
        yield f"sources: {', '.join(text_counts(games.source))}"
    if games.victory_margin.any():
        yield margin_line(games)
    needed = {"year": 0, "quarter": 1, "month": 1}.get(period, 2)
    if vague := int((games.date_precision < needed).sum()):
        yield f"{counted(vague, 'game')} dated less exactly than the {period}: in the middle of what is known"


def _counts_of_file(file: FileReport) -> str:
    """Its rows, the games that they are, and how many were dropped."""
    dropped = file.rows - file.used
    if file.race_rows:
        results = counted(file.used, "result of neighbours", "results of neighbours")
        tail = f", {dropped:,} dropped" if dropped else ""
        return f"{counted(file.race_rows, 'row')}, {results} in orders of finish{tail}"
    tail = f", {counted(dropped, 'row')} dropped" if dropped else ""
    return f"{counted(file.rows, 'row')}, {counted(file.used, 'game')}{tail}"


def text_counts(column: CodedColumn[str]) -> list[str]:
    """Numbers of games of each text, the most frequent first: `classical 1,200`; those without any as `none`."""
    count = np.bincount(column.codes, minlength=len(column.values))
    order = np.argsort(-count, kind="stable").tolist()
    return [f"{column.values[code] or 'none'} {count[code]:,}" for code in order if count[code]]


def margin_line(games: Games) -> str:
    """How many wins have a margin of victory, and the most frequent ones: `1 in 42.0 %`."""
    margins = games.victory_margin[games.victory_margin > 0.0]
    values, count = np.unique(margins, return_counts=True)
    order = np.argsort(-count, kind="stable")[:_MARGINS].tolist()
    frequent = [
        f"{values[index]:g} in {100 * count[index] / len(margins):.1f} %" for index in order
    ]
    wins = int((games.outcome != DRAW).sum())
    return f"margins of victory: {len(margins):,} of {counted(wins, 'win')}, {', '.join(frequent)}"


def _problem_lines(report: ReadReport, *, everything: bool) -> Iterator[str]:
    """What was dropped, repaired or odd, by reason, with the first examples or all of them."""
    by_reason: dict[tuple[str, str], list[Problem]] = {
        ("dropped", reason): []
        for reason in report.dropped
        if reason not in (*LEFT_OUT, reasons.ENGINE)
    }
    for problem in report.problems:
        by_reason.setdefault((problem.action, problem.reason), []).append(problem)
    for (action, reason), problems in by_reason.items():
        if reason in reasons.OF_COLUMNS:
            yield from (
                f"  {action}: {reason} ({problem.place}): {problem.detail}" for problem in problems
            )
            continue
        # the report counts dropped records, also those without a problem of their own
        is_counted_in_report = action == "dropped" and reason in report.dropped
        count = report.dropped[reason] if is_counted_in_report else len(problems)
        hint = "; data.drop: [] keeps those with a result" if reason == reasons.FORFEIT else ""
        examples = "" if everything else _examples(problems, count)
        yield f"  {action}: {reason}, {count:,}{examples}{hint}"
        if everything:
            yield from (f"    {problem.place} {problem.detail}".rstrip() for problem in problems)


def _examples(problems: Sequence[Problem], count: int) -> str:
    """The places of the first of these problems, in parentheses, and what repaired dates became; empty without any."""
    places = []
    for problem in problems[:_EXAMPLES]:
        is_repaired_date = problem.action == reasons.REPAIRED and problem.reason == reasons.BAD_DATE
        places.append(f"{problem.place}: {problem.detail}" if is_repaired_date else problem.place)
    if not places:
        return ""
    more = ", ..." if count > _EXAMPLES else ""
    return f" ({', '.join(places)}{more})"


def warning_lines(games: Games, *, suspects: bool = True) -> Iterator[str]:
    """What a user should look at: groups without games between them, duplicates, teams and engines, and names.

    Names of long careers, perhaps two people's; with `suspects`, also pairs of names that may be one person's.
    """
    if not len(games):
        return
    if warning := find_groups(games).warning:
        yield f"{warning}; -s data.filter.largest_group=true keeps it alone"
    first_paths: dict[str, str] = {}  # by the digest of the content
    for file in games.report.files:
        if file.used and file.digest in first_paths:
            same = first_paths[file.digest]
            yield f"{file.path} has the same content as {same}, and its games count again: leave one out"
        first_paths.setdefault(file.digest, file.path)
    noticed = games.report.noticed
    if repeated := noticed.get(reasons.DUPLICATE, 0):
        rows = counted(repeated, "row repeats", "rows repeat")
        yield f"{rows} another and counts again: -s data.filter.dedupe=true uses one"
    if several := noticed.get(reasons.TEAM, 0) + noticed.get(reasons.ENGINE, 0):
        yield f"{counted(several, 'row')} of teams or computers: data.drop can leave them out"
    if joined := sum(" / " in player for player in games.players):
        names = counted(joined, "name")
        yield f"{names} with ` / `: -s 'data.team_separator=\" / \"' rates the members of teams"
    if games.report.chess and (long := [career.name for career in long_careers(games)]):
        names = counted(len(long), "name")
        yield f"{names} with games over 60 years apart, perhaps two people: {_first_examples(long)}"
    if not suspects:
        return
    pairs, left_out = count_suspects(games)
    if pairs:
        yield f"{counted(pairs, 'pair')} of names may be one person's: review them with `ttt names FILE...`"
    if left_out:
        yield f"{counted(left_out, 'name')} of frequent surnames not compared with all of their like"


def _first_examples(texts: Sequence[str]) -> str:
    return "; ".join(texts[:_EXAMPLES]) + ("; ..." if len(texts) > _EXAMPLES else "")
