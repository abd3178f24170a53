"""Sections of the ingest report: what is counted, and who is who."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import astuple, fields
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ttt_cli.folding import fold
from ttt_cli.games.players.not_one_person import teams_and_engines
from ttt_cli.games.selection.groups import Growth, Join, Tie
from ttt_cli.games.weights import is_even
from ttt_cli.reading.column import Column
from ttt_cli.reading.reasons import DROPPED, DUPLICATE, ENGINE, REJECT_CODE, TEAM
from ttt_cli.reading.reports import FileReport, Problem
from ttt_cli.views.ingest.findings import Findings
from ttt_cli.views.rows import Rows

_PRECISIONS: Final = ("year", "month", "day")
_PLAIN: Final[dict[str, type[Any]]] = {
    "ties": Tie,
    "joins": Join,
    "growth": Growth,
}  # rows as they were found
_STEPS: Final = {"years": 1, "decades": 10}
_SHARES: Final = {"share": 3, "draw_share": 3}
_CAREERS: Final = ("main_games", "main_first", "main_last", "synonym_games", "synonym_first", "synonym_last")


def section(findings: Findings, name: str) -> Rows:
    """A section by its name."""
    if kind := _PLAIN.get(name):
        return Rows(
            tuple(one.name for one in fields(kind)), [astuple(one) for one in getattr(findings, name)]
        )
    if step := _STEPS.get(name):
        return _over_time(findings, name.removesuffix("s"), step)
    rows: Rows = globals()[name](findings)
    return rows


def total(findings: Findings) -> Rows:
    """One row of everything that is one number."""
    report, groups = findings.records.report, findings.groups.groups
    games, known = int(findings.played.sum()), len(findings.year) > 0
    facts: dict[str, Any] = {
        "files": len(report.files),
        "rows": report.rows,
        "used": report.used,
        "dropped": report.rows - report.used,
        "games": games,
        "draw_share": float(findings.drawn.sum() / games) if games else None,
        "players": len(findings.games.players),
        "first": int(findings.year.min()) if known else None,
        "last": int(findings.year.max()) if known else None,
        "groups": len(groups),
        "largest_group": groups[0].players if groups else 0,
        "duplicates": len(findings.duplicates),
        "long_careers": len(findings.long_careers),
        "suspects": len(findings.suspects.pairs),
    }
    return Rows(tuple(facts), [tuple(facts.values())], decimals=_SHARES, single=True)


def files(findings: Findings) -> Rows:
    """What each file gave."""
    columns = ("file", "kind", "rows", "used", "dropped", "duplicates", "bytes")
    rows = [
        (findings.path(f.path), f.kind, f.rows, f.used, f.rows - f.used, _duplicates(f), f.size)
        for f in findings.records.files
    ]
    return Rows(columns, rows)


def _duplicates(file: FileReport) -> int:
    """Rows that repeat another one, used or not."""
    return file.noticed.get(DUPLICATE, 0) + file.dropped.get(DUPLICATE, 0)


def dropped(findings: Findings) -> Rows:
    """Records that are not used by reason, filters included, and where the first of them stands."""
    records = findings.records
    rows = [
        (reason, count, findings.place(int(np.argmax(records.reject_code == REJECT_CODE[reason]))))
        for reason, count in records.report.dropped.items()
    ]
    return Rows(("reason", "rows", "first"), rows)


def dropped_by_file(findings: Findings) -> Rows:
    """The same file by file."""
    report = findings.records.report
    rows = [(findings.path(file.path), *entry) for file in report.files for entry in file.dropped.items()]
    return Rows(("file", "reason", "rows"), rows)


def odd(findings: Findings) -> Rows:
    """Oddities of records that are used all the same, by what was done, and where the first of each stands."""
    found: dict[tuple[str, str], list[Problem]] = {}
    for problem in findings.records.problems:
        if problem.action != DROPPED:
            found.setdefault((problem.action, problem.reason), []).append(problem)
    rows = [
        (*key, len(problems), findings.path(problems[0].place), problems[0].detail)
        for key, problems in sorted(found.items(), key=lambda item: (-len(item[1]), item[0]))
    ]
    return Rows(("action", "reason", "times", "first", "detail"), rows)


def dates(findings: Findings) -> Rows:
    """How exactly the records that are used are dated."""
    counts = np.bincount(findings.records.precision[findings.rows], minlength=3).tolist()
    every = max(sum(counts), 1)
    rows = [
        (name, count, count / every) for name, count in zip(_PRECISIONS, counts, strict=True) if any(counts)
    ]
    return Rows(("precision", "rows", "share"), rows, decimals=_SHARES)


def _over_time(findings: Findings, name: str, step: int) -> Rows:
    """Games by so many years with the share of draws, also where there are none."""
    columns = (name, "games", "draws", "draw_share")
    if not len(findings.year):
        return Rows(columns, [])
    first = int(findings.year.min()) // step
    number = findings.year // step - first
    games, draws = (np.bincount(number, count).astype(int) for count in (findings.played, findings.drawn))
    rows = [
        ((first + i) * step, n, drawn, drawn / n if n else None)
        for i, (n, drawn) in enumerate(zip(games.tolist(), draws.tolist(), strict=True))
    ]
    return Rows(columns, rows, decimals=_SHARES)


def players(findings: Findings) -> Rows:
    """Players, those with the most games first."""
    records, rows = findings.records, findings.rows
    n = len(records.players)
    ends = np.concatenate([records.white[rows], records.black[rows]])
    played = np.bincount(ends, np.tile(findings.played, 2), n).astype(int)
    first, last = np.full(n, np.iinfo(np.int64).max), np.zeros(n, np.int64)
    np.minimum.at(first, ends, np.tile(findings.year, 2))
    np.maximum.at(last, ends, np.tile(findings.year, 2))
    order = np.argsort(-played, kind="stable")
    order = order[played[order] > 0]
    numbers = zip(*(column[order].tolist() for column in (played, first, last)), strict=True)
    found = [(records.players[i], *row) for i, row in zip(order.tolist(), numbers, strict=True)]
    return Rows(("player", "games", "first", "last"), found)


def special(findings: Findings) -> Rows:
    """Records that are more or less than one plain game: matches, weights, statuses, odds, neutral ground."""
    records, rows = findings.records, findings.rows
    weight = records.weight[rows]
    kinds: Iterator[tuple[str, str, NDArray[np.bool_]]] = (
        *(("match", "", findings.played > 1),),
        *(("weight", "other than 1", (weight != 1) & (findings.played == 1)),),
        *(("status", *found) for found in _by_text(records.status, rows)),
        *(("odds", *found) for found in _by_text(records.odds, rows) if not is_even(found[0])),
        *(("neutral", "", records.neutral[rows]),),
    )  # type: ignore[assignment]
    played = findings.played
    found = [
        (kind, what, int(where.sum()), int(played[where].sum()), float((played * weight)[where].sum()))
        for kind, what, where in kinds
        if where.any()
    ]  # fmt: skip
    return Rows(("kind", "what", "rows", "games", "weighted"), found, decimals={"weighted": 1})


def _by_text(column: Column[str], rows: NDArray[np.int64]) -> Iterator[tuple[str, NDArray[np.bool_]]]:
    """Which of the rows have each text, folded; the most frequent first."""
    codes = column.codes[rows]
    counts = np.bincount(codes, minlength=len(column.values))
    sizes: Counter[str] = Counter()
    for text, count in zip(column.values, counts.tolist(), strict=True):
        if folded := fold(text):
            sizes[folded] += count
    numbers = {text: [i for i, value in enumerate(column.values) if fold(value) == text] for text in sizes}
    for text, count in sizes.most_common():
        if count:
            yield text, np.isin(codes, numbers[text])


class _Made:
    """Rows that are made when they are asked for: `make` of 0 up to `count`."""

    def __init__(self, make: Callable[[int], tuple[Any, ...]], count: int) -> None:
        self._make = make
        self._count = count

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        return map(self._make, range(self._count))


def groups(findings: Findings) -> Rows:
    """Groups of players tied by games, those with more players first."""
    rows = [
        (number, group.players, group.games, group.first, group.last, "; ".join(group.leading))
        for number, group in enumerate(findings.groups.groups, 1)
    ]
    return Rows(("group", "players", "games", "first", "last", "leading"), rows)


def duplicates(findings: Findings) -> Rows:
    """Records that repeat another, and whether they are used all the same."""
    records, found = findings.records, findings.duplicates

    def made(number: int) -> tuple[Any, ...]:
        row, original = int(found.row[number]), int(found.original[number])
        return (
            *(findings.place(row), findings.place(original), records.date[row]),
            *(records.players[records.white[row]], records.players[records.black[row]], records.result[row]),
            bool(records.reject_code[row] == 0),
        )

    columns = ("record", "repeats", "date", "white", "black", "result", "used")
    return Rows(columns, _Made(made, len(found)), hidden=frozenset({"used"}))


def not_persons(findings: Findings) -> Rows:
    """Names of teams and of computer engines that stand in games, used or left out for it."""
    records = findings.records
    n = len(records.players)
    counted = np.flatnonzero(records.with_codes((0, REJECT_CODE[TEAM], REJECT_CODE[ENGINE])))
    counts, used = (
        sum((np.bincount(side[rows], minlength=n) for side in (records.white, records.black)), np.zeros(n, int))
        for rows in (counted, findings.rows)
    )  # fmt: skip
    rows = [
        (records.players[i], kind, int(counts[i]), int(used[i]))
        for kind, is_one in zip((TEAM, ENGINE), teams_and_engines(records.players), strict=True)
        for i in np.flatnonzero(is_one).tolist()
        if counts[i]
    ]
    return Rows(("name", "kind", "rows", "used"), sorted(rows, key=lambda row: (-row[2], row[0])))


def careers(findings: Findings) -> Rows:
    """Names whose games lie further apart than a lifetime at the board."""
    rows = [(c.name, c.games, c.first, c.last, c.last - c.first) for c in findings.long_careers]
    return Rows(("player", "games", "first", "last", "years"), rows)


def suspects(findings: Findings) -> Rows:
    """Pairs of names that may be one person's, likely ones first; `others` may be meant by the synonym instead.

    `shared` are opponents of both, `sure` whether `--suggest` makes one of them.
    """
    rows = [
        (
            *(s.synonym.name, s.main.name, s.kind, s.gap, s.others, s.shared, s.sure),
            *(s.main.games, s.main.first, s.main.last),
            *(s.synonym.games, s.synonym.first, s.synonym.last),
        )
        for s in findings.suspects.pairs
    ]
    return Rows(
        ("synonym", "main", "kind", "gap", "others", "shared", "sure", *_CAREERS),
        rows,
        hidden=frozenset(_CAREERS),
    )
