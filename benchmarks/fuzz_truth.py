"""Games whose truth is known, in every format and layout, through every reader: no winner may be wrong.

The players of game k are `wk` and `bk`, its result and date follow from k. PGN has moves or none, tags in any order,
some missing, blank lines anywhere; games of tags only are separated by blank lines, or by nothing in files without any
blank lines. Tables and JSON have columns in any order, quoted or not, values missing, broken rows, and are also read in
blocks of a few lines. A game may be rejected, it may have nothing of another game. Equal seeds give equal inputs. What
goes wrong is written to `READER-SEED-NUMBER` and ends the run with exit code 1.
"""

import argparse
import csv
import io
import json
import random
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple
from unittest.mock import patch

from measuring import cut, fuzz, options_of

from tests.reference.pgn import PlainScanner
from tests.support.batches import Rows, rows_of, scanned
from ttt_cli.config.schema import DataConfig
from ttt_cli.reading import delimited, text
from ttt_cli.reading.batches import Note, Table
from ttt_cli.reading.delimited import read_delimited
from ttt_cli.reading.jsonl import read_jsonl
from ttt_cli.reading.text import plain_blocks
from ttt_cli.support.errors import TttError

Read = tuple[Rows, list[Note], list[Note]]
Reader = Callable[[Iterable[bytes]], Read]

RESULTS = ("1-0", "0-1", "1/2-1/2")
NO_RESULT = ("", "*")
BROKEN = '1. e4 {\n[White "Z"]\n\n} e5 2. f4 (2. Nf3 *) exf4 '
MOVES = ("1. e4 e5 ", "1. d4 {good} d5 ", BROKEN, "1. e4 ; 0-1\ne5 ")
MORE = ("Event", "Site", "Round", "ECO", "WhiteElo", "Annotator", "WhiteFideId", "FEN")
_DATA = DataConfig()


class Truth(NamedTuple):
    """A game: what is written of it; nothing where its tag or cell is missing."""

    number: int
    result: str
    date: str

    @property
    def white(self) -> str:
        return f"w{self.number}"

    @property
    def black(self) -> str:
        return f"b{self.number}"


def truths(chance: random.Random) -> list[Truth]:
    """Some games, of which some lack a result or a date."""
    complete = chance.choice((1.0, 0.9, 0.5))

    def one(number: int) -> Truth:
        result = chance.choice(RESULTS) if chance.random() < complete else chance.choice(NO_RESULT)
        return Truth(number, result, f"{1800 + number}" if chance.random() < complete else "")

    return [one(number) for number in range(chance.choice((1, 2, 3, 5, 12, 40)))]


def pgn_of(games: Sequence[Truth], chance: random.Random) -> str:
    """The games as PGN in one of many layouts."""
    names = ["Date", "White", "Black", "Result", *MORE]
    orders = chance.choice(("standard", "of the file", "of each game"))
    blanks, moves = (
        chance.choice((0.0, 0.0, 0.05, 0.3, 1.0)),
        chance.choice((0.0, 0.0, 0.1, 0.5, 1.0)),
    )
    others = chance.choice((0.0, 0.5, 0.9, 1.0))
    dense = blanks == 0 and moves == 0 and chance.random() < 0.3  # no blank lines at all
    if orders == "standard":
        names = ["Event", "Site", "Date", "Round", "White", "Black", "Result", *MORE[3:]]
    else:
        chance.shuffle(names)
    pieces = []
    for game in games:
        values = {
            "Date": game.date,
            "White": game.white,
            "Black": game.black,
            "Result": game.result,
        }
        values |= {name: f"{name} {game.number}" for name in MORE if chance.random() < others}
        if orders == "of each game":
            chance.shuffle(names)
        lines = [f'[{name} "{values[name]}"]\n' for name in names if values.get(name)]
        section = "".join(line + "\n" * (chance.random() < blanks) for line in lines)
        if chance.random() < moves:
            before, behind = chance.choices((0, 1, 1, 2), k=2)
            text = chance.choice((*MOVES, "")) + (game.result or "*")
            section += "\n" * before + text + "\n" * (1 + behind)
        elif not dense:
            section += "\n" * chance.choice((1, 1, 2))
        pieces.append(section)
    return "".join(pieces)


def table_of(games: Sequence[Truth], chance: random.Random) -> str:
    """The games as a delimited table, with rows among them that are none."""
    columns = ["white", "black", "result", "date", "event", "note"]
    chance.shuffle(columns)
    delimiter = chance.choice(",;\t|")
    file = io.StringIO()
    quoted = chance.choice((csv.QUOTE_ALL, csv.QUOTE_MINIMAL))
    writer = csv.writer(file, delimiter=delimiter, lineterminator="\n", quoting=quoted)  # type: ignore[arg-type]
    writer.writerow(columns)
    for game in games:
        note = chance.choice(("", "", "a", f'say "{delimiter}', "two\nlines", "{", "'"))
        cells = game._asdict() | {
            "white": game.white,
            "black": game.black,
            "event": "x",
            "note": note,
        }
        writer.writerow([cells[column] for column in columns])
        if chance.random() < 0.05:
            file.write(
                chance.choice(("broken\n", "\n", f'a{delimiter}"b\n', delimiter * 9 + "x\n"))
            )
    return file.getvalue()


def objects_of(games: Sequence[Truth], chance: random.Random) -> str:
    """The games as JSON objects, one on each line or in an array."""
    array = chance.random() < 0.5
    texts = []
    for game in games:
        cells = {"white": game.white, "black": game.black, "result": game.result, "date": game.date}
        pairs: list[tuple[str, object]] = [
            pair for pair in cells.items() if pair[1] or chance.random() < 0.5
        ]
        if chance.random() < 0.5:
            pairs.append(("note", chance.choice((None, 1.5, "}", ["a", {"white": "Z"}]))))
        chance.shuffle(pairs)
        texts.append(json.dumps(dict(pairs), indent=chance.choice((None, 1)) if array else None))
        if chance.random() < 0.05:
            texts.append(
                chance.choice(("[]", "7", '"x"') if array else ("[]", "broken {", '{"white": "Z",'))
            )
    return "[" + ",\n".join(texts) + "]\n" if array else "\n".join(texts) + "\n"


def wrong_rows(rows: Iterable[Sequence[object]], games: Sequence[Truth]) -> list[object]:
    """The records (date, White, Black, result) with something of another game, or twice the same game."""
    wrong: list[object] = []
    met: Counter[str] = Counter()
    for row in rows:
        date, white, black, result = map(str, row)
        if not (white.startswith("w") and white[1:].isdigit()):
            wrong += [row] if black.startswith("b") else []
            continue
        game = games[int(white[1:])]
        met[white] += 1
        known = {game.result, ""} | (set(NO_RESULT) if game.result in NO_RESULT else set())
        if (
            black != game.black
            or result not in known
            or date not in (game.date, "")
            or met[white] > 1
        ):
            wrong.append(row)
    return wrong


def _table(
    read: Callable[..., Table], *, cut: int = delimited.BYTES_AT_ONCE, block: int = text.BLOCK
) -> Reader:
    def rows(blocks: Iterable[bytes]) -> Read:
        with patch.object(delimited, "BYTES_AT_ONCE", cut), patch.object(text, "BLOCK", block):
            return rows_of(read(blocks, _DATA, "x"))

    return rows


READERS: dict[str, tuple[Callable[..., str], Reader]] = {
    "PGN, scanner": (pgn_of, scanned),
    "PGN, plain scanner": (pgn_of, lambda blocks: scanned(blocks, PlainScanner())),
    "table": (table_of, _table(read_delimited)),
    "table, few lines at a time": (table_of, _table(read_delimited, cut=200, block=50)),
    "JSON": (objects_of, _table(read_jsonl)),
    "JSON, few lines at a time": (objects_of, _table(read_jsonl, cut=200, block=50)),
}


def main(arguments: Sequence[str] | None = None) -> int:
    readers = {"choices": READERS, "action": "append"}
    options = options_of(__doc__, arguments, seconds=600.0, seed=1, reader=readers)
    return max(fuzz_reader(name, options) for name in options.reader or READERS)


def fuzz_reader(name: str, options: argparse.Namespace) -> int:
    """1 if a reader says anything wrong."""
    write, read = READERS[name]
    games: list[Truth] = []

    def draw(chance: random.Random) -> bytes:
        games[:] = truths(chance)
        return write(games, chance).replace("\n", chance.choice(("\n", "\n", "\r\n"))).encode()

    def check(content: bytes, chance: random.Random) -> dict[str, int]:
        try:
            rows, rejects, _ = read(plain_blocks(cut(content, chance, 3), None, "x"))
        except TttError:  # no game of the file has a date, for instance
            return {"refused": 1}
        wrong = wrong_rows([row[1:5] for row in rows], games)
        assert not wrong, wrong[0]
        return {"games": len(games), "records": len(rows), "rejected": len(rejects)}

    return fuzz(name, options, draw, check)


if __name__ == "__main__":
    sys.exit(main())
