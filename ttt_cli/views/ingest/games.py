"""The ingest report, section by section: as tables for the eye, as one object, as rows of key and value."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sized
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from ttt_cli.views.rows import Rows

if TYPE_CHECKING:
    from ttt_cli.games.records import Records

HEADINGS: Final = {
    "total": "All files",
    "files": "Files",
    "dropped": "Rows that are not used",
    "dropped_by_file": "Rows that are not used, by file",
    "odd": "What else was odd",
    "dates": "How exactly rows are dated",
    "decades": "Games by decade",
    "years": "Games by year",
    "players": "Players with the most games",
    "groups": "Groups of players not tied by any game",
    "ties": "Players tied to all others by at most 10 games with one player",
    "joins": "First games that joined two groups",
    "growth": "Groups in the course of time",
    "duplicates": "Rows that repeat another",
    "not_persons": "Teams and computers",
    "careers": "Names with games more than 60 years apart: perhaps two people",
    "suspects": "Names that may be one person's",
    "special": "Matches, weights, statuses and odds",
}
MOST: Final = 10
_NARROW: Final = 30  # years that are still shown one by one
_OVER_TIME: Final = frozenset(("decades", "years"))
_WHOLE: Final = frozenset((*_OVER_TIME, "growth", "dates", "total"))


Bar = Callable[[float, float], str]  # draws a number, given the largest one


class Report:
    """The sections of the ingest report, each worked out when it is asked for.

    Of long sections the first `most` rows are shown, with None all; what is short or runs through time is shown whole.
    `short` paths are for the eye: without the folder that all files are in, which the heading of `files` names.
    """

    def __init__(
        self, records: Records, most: int | None = MOST, *, short: bool = False, suspects: bool = True
    ) -> None:
        from ttt_cli.views.ingest.findings import Findings

        self.findings = Findings(records, short=short, suspects=suspects)
        self._most = most

    def section(self, name: str) -> Rows:
        """The rows of a section, with its heading as the title."""
        from ttt_cli.views.ingest.sections import section

        rows = section(self.findings, name)
        heading = HEADINGS[name]
        if name == "files" and self.findings.folder:
            heading += f" in {self.findings.folder}"
        assert isinstance(rows.rows, Sized)
        count = len(rows.rows)
        most = count if self._most is None or name in _WHOLE else self._most
        if count > most:
            heading += f": {most:,} of {count:,}"
        records = list(islice(rows.rows, most))
        return replace(rows, rows=records, title=(heading,))

    def shown(self, form: str, only: str | None, bar: Bar) -> Iterator[Rows]:
        """What is shown in a form, of one section or of everything: tables, one object, or rows of key and value."""
        if form == "table":
            return iter([self.table(only, bar)]) if only else self.tables(bar)
        return iter([self.section(only) if only else self.whole() if form == "json" else self.long()])

    def suggestions(self) -> tuple[str, str]:
        """The names that may be one person's as an alias file, and words on it with a place for its name."""
        from ttt_cli.games.players.decisions import alias_lines

        lines = list(alias_lines(self.findings.games, self.findings.suspects.pairs))
        count, doubtful = len(lines) // 2, sum(line.startswith("#") for line in lines[1::2])
        what = "1 suggestion" if count == 1 else f"{count:,} suggestions"
        comments = f", {doubtful:,} of them as comments" if doubtful else ""
        return "".join(f"{line}\n" for line in lines), f"{what} written to {{}}{comments}"

    def tables(self, bar: Bar) -> Iterator[Rows]:
        """The sections that have something to show, for the eye."""
        for name in HEADINGS:
            if name in self._left_out():
                continue
            rows = self.table(name, bar)
            if rows.rows:
                yield rows

    def table(self, name: str, bar: Bar) -> Rows:
        """One section for the eye."""
        rows = self.section(name)
        return _with_bars(rows, bar) if name in _OVER_TIME and rows.rows else rows

    def _left_out(self) -> frozenset[str]:
        """Sections that the eye is spared: what another one shows as well."""
        year = self.findings.year
        few = not len(year) or int(year.max()) - int(year.min()) < _NARROW
        several = len(self.findings.records.files) > 1
        return frozenset(
            ("growth", "decades" if few else "years", *(() if several else ("dropped_by_file",)))
            + (("groups",) if len(self.findings.groups) < 2 else ())
            + (() if self.findings.records.report.chess else ("not_persons", "careers"))
        )

    def whole(self) -> Rows:
        """Everything as one row whose values are an object and lists of objects, for JSON."""
        found = {name: self.section(name) for name in HEADINGS}
        values = [_objects(rows)[0] if rows.single else _objects(rows) for rows in found.values()]
        return Rows(tuple(found), [tuple(values)], single=True)

    def long(self) -> Rows:
        """Everything as rows `section,row,key,value`; rows are numbered from 1, values are texts."""
        rows = (
            (name, number, key, None if value is None else str(value))
            for name in HEADINGS
            for number, record in enumerate(_objects(self.section(name)), 1)
            for key, value in record.items()
        )
        return Rows(("section", "row", "key", "value"), rows)


def _objects(rows: Rows) -> list[dict[str, Any]]:
    return [dict(zip(rows.columns, record, strict=True)) for record in rows.rows]


def _with_bars(rows: Rows, bar: Bar) -> Rows:
    """The rows with a bar for the games of each; the draws are shown as a share alone."""
    at = rows.columns.index("games")
    records = list(rows.rows)
    largest = max(record[at] for record in records)
    drawn = [(*record, bar(record[at], largest)) for record in records]
    return replace(rows, columns=(*rows.columns, ""), rows=drawn, hidden=frozenset({"draws"}))
