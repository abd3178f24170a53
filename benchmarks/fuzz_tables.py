"""Mutated tables through all readers, until one says what another does not, a row is lost, or time is up.

CSV, TSV and JSON lines with columns of every kind, written down here or put together of cells, keys and values of all
kinds, are mutated at random: bytes flipped, pieces cut out, doubled, moved, traps put in. What pyarrow cuts has to say
what the readers of the standard library say, in blocks cut anywhere, under limits of lines, rows, blocks and forms that
are drawn anew each time; rows in have to be rows used and rows dropped, each told with its line; only errors that are
meant for users may be raised.
Equal seeds give equal inputs. What goes wrong is written to `tables-SEED-NUMBER` and ends the run with exit code 1.
"""

import io
import random
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import ModuleType
from unittest.mock import patch

import numpy as np
from measuring import cut, fuzz, mutated, options_of

from tests.reference.tables import PlainTableReader
from tests.support.batches import rows_of
from ttt_cli.config.event_set_names import EVENT_SETS
from ttt_cli.config.schema import DataConfig
from ttt_cli.games.read import read_records
from ttt_cli.games.table import games_of
from ttt_cli.reading import delimited, text
from ttt_cli.reading.batches import Table
from ttt_cli.reading.delimited import read_delimited
from ttt_cli.reading.jsonl import is_lined, read_jsonl
from ttt_cli.reading.reports import OF_COLUMNS, REJECT_CODE
from ttt_cli.reading.text import plain_blocks
from ttt_cli.support.errors import TttError

CSV = b"""date,white,black,result,event,round,status,odds,weight
1858.06.17,"Morphy, Paul",Anderssen,1-0,Paris,1,formal,,1
1858,NN,"A ""B"" C",1/2-1/2,,2,casual,knight,2
1859-02-30,L\xf6wenthal,"Morphy,
Paul",*,London,,mate,2.10,0.5
?,A,A,0-1,x,3,,pawn and move,x

short,row
"""
MATCHES = b"""year;white;black;games;score;odds;odds_giver;status
1834;La Bourdonnais;McDonnell;85;51.5;;;soft
1843;Staunton;Saint Amant;21;13;pawn and two;black;formal
1844;A;B;;1;1.85;;resign
"""
OBJECTS = """{"date": "1858.06.17", "white": "Morphy, Paul", "black": "Anderssen", "result": "1-0", "status": "mate"}
{"white": "L\u00f6wenthal", "date": 1858, "black": "A \\"B\\"", "result": 0.5, "odds": null, "x": {"y": [1, 2]}}
{"date":"1859","white":"A","black":"B","result":"*","odds":1.85,"weight":2,"status":true}

not an object
""".encode()
TRAPS = (
    *(b'"', b'""', b'","', b",", b";", b"\t", b"|", b"\n", b"\r\n", b"\r", b"\n\n", b" ", b"\0", b"\\", b"{", b"}"),
    *(b"\xef\xbb\xbf", b"\xe9", b"\xc3\xa9", b"\xe2\x80\xa8", b"\x0b", b"\x85", b"\x1a", b"[", b"]", b":", b"null"),
    *(b"NaN", b"1e5", b"-0", b"0.50", b"12345678901234", b"\\u0041", b"\\ud800", b"true", b'"white": "Z", '),
    *(b"knight", b"2.10", b"mate", b"soft", b"1-0", b"0.5", b"1858", b"?", b"NN", b"odds", b"status", b"games"),
)  # fmt: skip
DATA = DataConfig(status={"soft": 0.0}, odds={"capped knight": 300.0})
NAMES = [
    "date",
    "white",
    "black",
    "result",
    "event",
    "round",
    "status",
    "odds",
    "weight",
    "year",
    "games",
    "score",
]
CELLS = (
    *("A", "B", "Morphy, Paul", 'A "B" C', "C;D", "two\nlines", "", "", " ", "1858", "1859-02-30", "1-0", "0-1", "*"),
    *("1", "0.50", "é", "\udce9", "ﬁn", "\ufeff", "\u2028", "\x0b", "\x85", "\\", "'", "nan", "NULL", "\0", '"', '""'),
    *("x" * 30, "x" * 90, "é" * 300),
)  # fmt: skip
VALUES = (
    *('"A"', '"B"', '"C"', '"1858"', "1858", '"1-0"', '"0-1"', '""', "null", "true", "0.50", "1e5", "1e400", "-0"),
    *("NaN", "-Infinity", "0123", "9" * 40, "9" * 5000, "[1, 2]", "[]", "{}", '{"white": "Z"}', "tru", "", "'A'"),
    *('"A \\"B\\""', '"\\ud800"', '"\\ud83d\\ude00"', '"\\udc80"', '"\\u0000"', '"\\x"', '"tab\there"', '"é"'),
    *('"\udce9"', '"\ufeff"', '"{"', '", "', '": "', '"}"', '"\x0b"', f'"{"x" * 90}"', '"two\nlines"', '"', "A"),
)  # fmt: skip
OF_LINES = (
    (delimited, "MAX_ROW_LINES", (2, 3, delimited.MAX_ROW_LINES)),
    (delimited, "MAX_LINE", (80, 300, 1 << 20, 1 << 20)),
    (text, "BLOCK", (80,)),
)
OF_BLOCKS = (
    (text, "BLOCK", (1, 7, 80)),
    (delimited, "BYTES_AT_ONCE", (1, 300, 1000, 1 << 21)),
    (delimited, "MAX_ARROW_LINE", (10, 60, 1 << 16)),
)
KEYS = ("event", "odds", "white", "x", "\\u0077hite", "é", "", "a b", "{", "\udce9")


def main(arguments: Sequence[str] | None = None) -> int:
    options = options_of(
        __doc__, arguments, corpus_={"type": Path, "nargs": "*"}, seconds=600.0, seed=1
    )
    given = (path.read_bytes() for path in options.corpus)
    corpus = [CSV, MATCHES, CSV.replace(b",", b"\t"), OBJECTS, *given]

    def draw(chance: random.Random) -> bytes:
        whole = chance.choice((*corpus, table(chance), objects(chance)))
        start = chance.randrange(max(1, len(whole) - 2000))
        return mutated(whole[:200] + whole[max(200, start) : start + 2000], chance, TRAPS, kept=60)

    def check(content: bytes, chance: random.Random) -> dict[str, int]:
        found = checked(content, chance)
        return {"refused": found is None, "rows": found or 0}

    return fuzz("tables", options, draw, check)


def table(chance: random.Random) -> bytes:
    """A delimited table, header and rows of cells of every kind; some rows are none of it."""
    names = chance.sample(NAMES[4:], chance.randrange(5)) + NAMES[:4]
    chance.shuffle(names)
    delimiter, wild = chance.choice(",,;\t|"), chance.choice((0.0, 0.0, 0.02, 0.2))

    def cell(text: str) -> str:
        doubled = text.replace('"', '""')
        if chance.random() < wild:
            odd = (text, f'"{text}', f'{text}"', f'"{text}"', f' "{doubled}"', f'"{doubled}" ')
            return chance.choice(odd)
        return (
            f'"{doubled}"' if chance.random() < 0.3 or set(text) & set(f'"\n{delimiter}') else text
        )

    written = [names]
    usual = chance.sample(CELLS, 12)
    for _ in range(chance.choice((0, 1, 5, 40))):
        width = len(names) + (chance.choice((-9, -1, 1, 3)) if chance.random() < wild else 0)
        written.append(chance.choices(usual, k=max(0, width)))
    end = chance.choice(("\n", "\n", "\r\n", "\r"))
    text = end.join(delimiter.join(map(cell, row)) for row in written) + chance.choice((end, ""))
    return chance.choice((b"", b"", b"\xef\xbb\xbf")) + text.encode("utf-8", "surrogateescape")


def objects(chance: random.Random) -> bytes:
    """JSON objects on lines, with values of every kind, keys twice or in other orders, and what is no object."""
    wild = chance.choice((0.0, 0.0, 0.02, 0.2))
    usual = chance.choices(VALUES[:14], k=12) + chance.choices(VALUES, k=chance.choice((0, 2, 8)))
    names = NAMES[:4] + chance.sample([*NAMES[4:], *KEYS], chance.randrange(5))

    def between(mark: str) -> str:
        odd = (" " + mark, mark + "\t", "", mark + mark, mark + "\x0b", "\n")
        return chance.choice(odd) if chance.random() < wild / 5 else mark + spaces

    written = []
    for _ in range(chance.choice((1, 5, 40, 100))):
        spaces = chance.choice(("", " "))
        keys = (
            chance.sample(names, chance.randint(3, len(names))) if chance.random() < wild else names
        )
        pairs = [f'"{key}"{between(":")}{chance.choice(usual)}' for key in keys]
        text = "".join(between(",") * (place > 0) + pair for place, pair in enumerate(pairs))
        none = "", " \t", "7"
        odd = (
            text,
            f"{{{text}",
            f"{text}}}",
            f"[{{{text}}}]",
            f"{{{text},}}",
            f"{{{text}}} {{}}",
            *none,
        )
        written.append(chance.choice(odd) if chance.random() < wild else "{" + text + "}")
    return "\n".join(written).encode("utf-8", "surrogateescape")


def checked(content: bytes, chance: random.Random) -> int | None:
    """How many rows there are, None when the file is refused; raises what should not be."""
    start = b"".join(plain_blocks([content], None, "x"))
    with limited(chance, *OF_LINES):
        for read in (read_delimited, read_jsonl) if is_lined(start) else (read_delimited,):
            with patch.object(delimited, "TableReader", PlainTableReader):
                expected = said(read, content, chance)
            with limited(chance, *OF_BLOCKS):
                found = said(read, content, chance)
            assert found == expected, f"{read.__name__}: {found} is not {expected}"
        try:
            records = read_records([io.BytesIO(content)], DATA, on_unusable=lambda _: None)
        except TttError:
            return None
    (file,) = records.files
    assert file.rows == len(records) == file.used + sum(file.dropped.values())
    rejected = [problem for problem in records.problems if problem.action == "dropped"]
    dropped = [problem.line for problem in rejected if problem.reason not in OF_COLUMNS]
    excluded = np.isin(
        records.reject_code, [REJECT_CODE[reason] for reason in EVENT_SETS]
    )  # of valid records
    assert dropped == records.line[~records.used & ~excluded].tolist()
    assert set(games_of(records).source_line.tolist()) == set(records.line[records.used].tolist())
    return file.rows


@contextmanager
def limited(
    chance: random.Random, *limits: tuple[ModuleType, str, tuple[int, ...]]
) -> Iterator[None]:
    """Draw limits: on some it depends what is said, on others what the standard library reads and where blocks end."""
    with ExitStack() as stack:
        for module, name, choices in limits:
            stack.enter_context(patch.object(module, name, chance.choice(choices)))
        yield


def said(read: Callable[..., Table], content: bytes, chance: random.Random) -> object:
    """Rows and rejects (sorted, as their order depends on blocks), or the message of the error."""
    try:
        table = read(plain_blocks(cut(content, chance), None, "x"), DATA, "x")
        rows, rejects, _ = rows_of(table)
    except TttError as error:
        return str(error)
    return table.layout.kind, rows, sorted(rejects)


if __name__ == "__main__":
    sys.exit(main())
