"""Write classics.pgn from a table of results: who, when, where, result; no moves.

    python sample_pgn/make_classics.py RESULTS.csv [-o sample_pgn/classics.pgn]

RESULTS.csv is UTF-8 with a header and these columns:

    date     YYYY.MM.DD, unknown parts as ??
    white    Surname, Given names
    black    the same
    result   1-0, 0-1 or 1/2-1/2
    event    tournament, match or exhibition, may be empty
    site     place, may be empty
    round    number, may be empty

What is corrected is listed here and nowhere else; README.md says why.
"""

from __future__ import annotations

import argparse
import csv
import sys
from collections import Counter
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Final

Row = dict[str, str]

RESULTS: Final = {"1-0", "0-1", "1/2-1/2"}
ROSTER: Final = ("event", "site", "date", "round", "white", "black", "result")

NAMES: Final = {
    "Boden, Samuel Standige": "Boden, Samuel Standidge",
    "Brody, N": "Brody, Miklos",
    "Cochrane, John Miles": "Cochrane, John",
    "De Saint Amant, Pierre Charles Four": "Saint Amant, Pierre",
    "Fred Dewhirst Yates": "Yates, Frederick",
    "Freymann, S": "Von Freyman, Sergey",
    "Golmayo, M": "Golmayo de la Torriente, Manuel",
    "Harold Evans Jennings": "Jennings, Harold Evans",
    "Mucklow": "Mucklow, James R",
    "Ranken, CE": "Ranken, Charles Edwards",
    "Savielly Tartakower": "Tartakower, Saviely",
    "Schories, G": "Shories, George",
    "Szen, Josef": "Szen, Jozsef",
    "Takacs, Alexander": "Takacs, Sandor",
    "Wellman": "Wellman, B",
}

# London 1851 is held twice: with event and rounds, and without either under another spelling of one of these.
LONDON_1851: Final = {
    "Boden, Samuel Standidge",
    "Mucklow, James R",
    "Ranken, Charles Edwards",
    "Szen, Jozsef",
    "Wellman, B",
}

# (year, white, black, event, site) of single rows to leave out; (event,) of events left out whole.
LEFT_OUT: Final = {
    ("1850", "Blackburne, Joseph Henry", "Bird, Henry Edward", "London", "London"),
    ("1925", "Carls, Carl Johan Margot", "Torre Repetto, Carlos", "Baden-Baden", "Baden-Baden"),
    ("1925", "Marshall, Frank James", "Torre Repetto, Carlos", "Baden-Baden", "Baden-Baden"),
    ("1925", "Torre Repetto, Carlos", "Tartakower, Saviely", "Baden-Baden", "Baden-Baden"),
    ("1925", "Torre Repetto, Carlos", "Tartakower, Saviely", "Marienbad", "Marienbad"),
    ("1925", "Haida, August Konrad", "Torre Repetto, Carlos", "Marienbad", "Marienbad"),
    ("1925", "Tartakower, Saviely", "Torre Repetto, Carlos", "Moscow", "Moscow"),
    (
        "1925",
        "Torre Repetto, Carlos",
        "Lasker, Emanuel",
        "",
        "Moscow International Tournament, Moscow",
    ),
    ("1930", "Colle, Edgar", "Sultan Khan, Mir", "Hastings 3031", "Hastings"),
    ("1930", "Sultan Khan, Mir", "Michell, Reginald Pryce", "Hastings 3031", "Hastings"),
    ("Semmering Match AUT",),
}

# Days that no calendar has -> as much of the date as can be right.
DATES: Final = {"1926.06.31": "1926.06.??"}

# (event, site) where the round stands in the column of the site -> event, site, round.
SHIFTED: Final = {
    ("Prague ol", "12"): ("Prague ol", "Prague", "12"),
    ("London ENG", "2"): ("London", "London", "2"),
}


def corrected(row: Row) -> Row:
    """The row with one name per player, a date that exists, and its columns in their places."""
    fixed = dict(row)
    fixed["date"] = DATES.get(row["date"], row["date"])
    for side in ("white", "black"):
        fixed[side] = NAMES.get(row[side], row[side])
    event, site = row["event"], row["site"]
    fixed["event"], fixed["site"], fixed["round"] = SHIFTED.get(
        (event, site), (event, site, row["round"])
    )
    if row["date"].startswith("1867") and row["event"] == "Breslau m":
        for side in ("white", "black"):
            fixed[side] = fixed[side].replace("Mieses, Jacques", "Mieses, Samuel")
    return fixed


def kept(rows: list[Row]) -> Iterator[Row]:
    """The rows without those that are listed as wrong or held twice."""
    held = Counter(_game(row) for row in rows if row["event"])
    for row in rows:
        single = (row["date"][:4], row["white"], row["black"], row["event"], row["site"])
        if single in LEFT_OUT or (row["event"],) in LEFT_OUT:
            continue
        london = row["date"].startswith("1851") and LONDON_1851 & {row["white"], row["black"]}
        if london and not row["event"] and held[_game(row)] > 0:
            held[_game(row)] -= 1
            continue
        yield row


def _game(row: Row) -> tuple[str, str, str, str]:
    return row["date"][:4], row["white"], row["black"], row["result"]


def as_pgn(row: Row) -> str:
    """One game: the seven tags, and the result in the place of the moves."""
    tags = (f'[{name.capitalize()} "{row[name] or "?"}"]\n' for name in ROSTER)
    return "".join(tags) + f"\n{row['result']}\n"


def read_rows(path: Path) -> list[Row]:
    """The table as written. Raises ValueError at a row that cannot be a game."""
    with path.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    for line, row in enumerate(rows, start=2):
        if row["result"] not in RESULTS or not row["white"] or row["white"] == row["black"]:
            raise ValueError(f"{path}:{line}: not a game: {row}")
        if not _exists(DATES.get(row["date"], row["date"])):
            raise ValueError(f"{path}:{line}: not a date: {row['date']}")
        if any('"' in text or "\\" in text for text in row.values()):
            raise ValueError(f"{path}:{line}: a quotation mark or backslash in a tag")
    return rows


def _exists(text: str) -> bool:
    """Whether a date can be: a day of the calendar, or a month or a year with the rest unknown."""
    parts = text.split(".")
    known = parts[: parts.index("??")] if "??" in parts else parts
    try:
        date(*[*map(int, known), 1, 1][:3])
    except ValueError:
        return False
    return len(parts) == 3 and len(known) > 0 and set(parts[len(known) :]) <= {"??"}


def main() -> None:
    """Read the table, write the PGN, say how many of each on stderr."""
    parser = argparse.ArgumentParser(description="Write classics.pgn from a table of results.")
    parser.add_argument("results", type=Path)
    parser.add_argument(
        "-o", "--output", type=Path, default=Path(__file__).with_name("classics.pgn")
    )
    options = parser.parse_args()
    facts = read_rows(options.results)
    rows = sorted(kept([corrected(row) for row in facts]), key=lambda row: row["date"])
    options.output.write_text("\n".join(map(as_pgn, rows)), encoding="utf-8", newline="\n")
    sys.stderr.write(f"{len(facts)} results read, {len(rows)} games written to {options.output}\n")


if __name__ == "__main__":
    main()
