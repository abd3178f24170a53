"""Mutated PGN through both scanners, blocks cut anywhere, until one says what the other does not or time is up.

Mutations are random: bytes flipped, pieces cut out, doubled and moved, traps put in. Every record that is read has to
be used or dropped, and only errors that are meant for users may be raised. Equal seeds give equal inputs. What goes
wrong is written to `pgn-SEED-NUMBER` and ends the run with exit code 1.
"""

import io
import random
import sys
from collections.abc import Sequence
from pathlib import Path

from measuring import cut, fuzz, mutated, options_of

from tests.reference.pgn import PlainScanner
from tests.support.batches import scanned
from ttt_cli.config.schema import DataConfig
from ttt_cli.games.read import read_games
from ttt_cli.reading.pgn import Scanner
from ttt_cli.reading.text import plain_blocks
from ttt_cli.support.errors import TttError

TRAPS = [
    *(
        b"\n",
        b"\n\n",
        b"\r\n",
        b"\r",
        b" ",
        b"\t",
        b"\f",
        b"\v",
        b"\0",
        b"\xef\xbb\xbf",
        b"\xe2\x80\xa8",
    ),
    *(
        b"{",
        b"}",
        b"{}",
        b"{\n",
        b"\n}",
        b'{\n[White "Z"]\n',
        b";",
        b"; ",
        b"\n%",
        b"%",
        b"[",
        b"]",
        b"\n[",
    ),
    *(
        b"1-0",
        b"0-1",
        b"1/2-1/2",
        b"1/2",
        b"*",
        b" 1-0 ",
        b"\n1-0\n",
        b"1.",
        b"\n1.",
        b"\n1. e4",
        b"0-1{",
    ),
    *(
        b"}1-0",
        b"-",
        b"/",
        b'"',
        b'\\"',
        b"\\",
        b'"]',
        b'"]\n',
        b'"] ',
        b"[%clk 0:01]",
        b"\xef",
        b"\xe9",
    ),
    *(
        b'[Event "x"]\n',
        b'[White "A"]',
        b'\n[Black "B"]\n',
        b'[Result "*"]\n',
        b"[Result ",
        b'[event "x"]\n',
    ),
    *(
        b'\n\n[White "A"]\n',
        b'[ECO "A00"]\n' * 70,
        b'[AVeryLongTagName "x"]\n',
        b'[1x "y"]',
        b'[_x "y"]\n',
    ),
    *(
        b"(",
        b")",
        b"(e4 (d4) 1-0)",
        b"0-0",
        b"O-O-O",
        b"e8=Q",
        b"Qa1xb2+",
        b"R1e2!?",
        b"$12",
        b"e.p.",
        b"Nf3-g5",
    ),
    *(
        b'[Site "s"]\n',
        b'[ROUND "1.2"]\n',
        b'[WhiteFideId "1"]\n',
        b'[blackfideid "2"]\n',
        b'[SetUp "1"]\n',
    ),
    *(
        b'[FEN "8/8 w - -"]\n',
        b'[FEN ""]\n',
        b'[Variant "Chess960"]\n',
        b'[Variant ""]\n',
        b'[SetUp "0"]\n',
    ),
    b'[FEN "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"]\n',
]
SEED_GAMES = b"""[Event "x"]
[Site "?"]
[Round "1"]
[Date "1858.??.??"]
[White "Morphy, Paul"]
[Black "Anderssen, A"]
[Result "0-1"]

1. e4 e5 {first} 2. Nf3 (2. f4 exf4 {good} (2... d5) 3. O-O *) O-O $1 ; a remark
12. Rae1+ 0-0-0 13.exd8=Q# 1-0

[Event "y"]
[White "A"]
[Black "B"]
[Result "1/2-1/2"]

1. d4 d5
2. c4 {[%clk 1:00] two
lines} 1/2-1/2

[White "C"]
[Black "D"]

[White "E"]
[Black "F"]
[Result "*"]
*
"""


def main(arguments: Sequence[str] | None = None) -> int:
    options = options_of(
        __doc__, arguments, corpus_={"type": Path, "nargs": "*"}, seconds=600.0, seed=1
    )
    corpus = [SEED_GAMES, *(path.read_bytes() for path in options.corpus)]

    def draw(chance: random.Random) -> bytes:
        content, size = chance.choice(corpus), chance.choice((300, 1000, 4000, 20000))
        start = chance.randrange(max(1, len(content) - size))
        return mutated(content[start : start + size], chance, TRAPS)

    def check(content: bytes, chance: random.Random) -> dict[str, int]:
        games, careful, equal = compared(content, chance)
        assert equal, "the scanners differ"
        return {"games": games, "games on the slow path": careful, "games used": used(content)}

    return fuzz("pgn", options, draw, check)


def compared(content: bytes, chance: random.Random) -> tuple[int, int, bool]:
    """Rows, games read on the slow path, and whether both scanners say the same, whatever the blocks."""
    if chance.random() < 0.8:
        content = b"".join(plain_blocks([content] if content else [], None, "fuzz"))
    expected = said(PlainScanner(), [content])
    compiled, blocks = Scanner(), cut(content, chance)
    equal = said(compiled, [content]) == expected
    equal = equal and said(Scanner(), blocks) == expected == said(PlainScanner(), blocks)
    return len(expected[0]), compiled.slow, equal


def used(content: bytes) -> int:
    """Games of a file that are used; no record may be lost, and none made up."""
    try:
        games = read_games([io.BytesIO(content)], DataConfig(format="pgn"))
    except TttError:
        return 0
    report = games.report
    assert report.rows == report.used + sum(report.dropped.values()), "records are lost"
    assert report.used == len(games.date), "games are lost"
    plain = b"".join(plain_blocks([content] if content else [], None, "fuzz"))
    assert set(games.source_line.tolist()) <= {row[0] for row in said(PlainScanner(), [plain])[0]}
    return report.used


def said(
    scanner: Scanner, blocks: Sequence[bytes]
) -> tuple[list[tuple[object, ...]], list[object]]:
    """All rows, and all notes and rejects."""
    rows, rejects, notes = scanned(blocks, scanner)
    return rows, [*notes, *rejects]


if __name__ == "__main__":
    sys.exit(main())
