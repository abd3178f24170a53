"""Reading through python-chess: the same records as the scanner's on well-formed files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from hypothesis import given
from hypothesis import strategies as st

from ttt_cli.reading.batches import Batch
from ttt_cli.reading.formats.pgn.python_chess import read_pgn_chess
from ttt_cli.reading.formats.pgn.scanner import Scanner
from ttt_cli.reading.text import text_of

NAMES = st.text(alphabet="abcÄß ,.[{;%", min_size=1, max_size=10)
ROUNDS = st.sampled_from(["?", "1", "2.3", "-"])
MORE = st.sampled_from(
    ["", '[WhiteFideId "1"]\n[BlackFideId "2"]\n', '[SetUp "1"]\n[FEN "8/8 w"]\n', '[Variant "Chess960"]\n']
)
COMMENTS = st.sampled_from(["", "{[%clk 1:00]} ", "{\n[White x]\n} ", "{\n\n} "])


@st.composite
def well_formed(draw: st.DrawFn) -> str:
    games = []
    for _ in range(draw(st.integers(0, 5))):
        result = draw(st.sampled_from(["1-0", "0-1", "1/2-1/2", "*"]))
        games.append(
            f'[Event "?"]\n[Site "{draw(NAMES)}"]\n[Round "{draw(ROUNDS)}"]\n'
            f'[Date "1858.??.??"]\n[White "{draw(NAMES)}"]\n[Black "{draw(NAMES)}"]\n'
            f'[Result "{result}"]\n{draw(MORE)}\n1. e4 {draw(COMMENTS)}e5 {result}\n\n'
        )
    return "".join(games)


def records(
    reader: Callable[[Iterable[bytes]], Iterator[Batch]], blocks: list[bytes]
) -> list[tuple[int, list[str]]]:
    return [
        (line, [text_of(value) for value in values])
        for batch in reader(blocks)
        for line, *values in zip(*batch[:5], *batch.further.values(), strict=True)
    ]


@given(well_formed(), st.integers(0, 300))
def test_equal_on_well_formed_files(text: str, place: int) -> None:
    content = text.encode()
    blocks = [content[:place], content[place:]]
    assert records(read_pgn_chess, blocks) == records(Scanner().scan, blocks)


def test_values_keep_their_bytes_until_they_are_decoded() -> None:
    content = '[White "Löwenthal"]\n[Black "B"]\n\n*\n\n'
    blocks = [content.encode("cp1252"), content.encode()]
    assert [row[1][1] for row in records(read_pgn_chess, blocks)] == ["Löwenthal", "Löwenthal"]


def test_where_the_libraries_differ() -> None:
    """Should python-chess learn to end games at their result, this tells us."""
    joined = '[White "A"]\n[Black "B"]\n\n1. e4 1-0\n' * 2
    assert [row[1][1] for row in records(read_pgn_chess, [joined.encode()])] == ["A", ""]
    assert [row[1][1] for row in records(Scanner().scan, [joined.encode()])] == ["A", "A"]
