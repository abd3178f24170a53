"""Reading through python-chess: the same records as the scanner's on well-formed files."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.support.batches import scanned
from ttt_cli.reading.input import text_of

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


def records(blocks: list[bytes], *, by_chess: bool = True) -> list[tuple[object, list[str]]]:
    return [
        (row[0], [text_of(value) for value in row[1:-1]]) for row in scanned(blocks, by_chess=by_chess)[0]
    ]


@given(well_formed(), st.integers(0, 300))
def test_equal_on_well_formed_files(text: str, place: int) -> None:
    content = text.encode()
    blocks = [content[:place], content[place:]]
    assert records(blocks) == records(blocks, by_chess=False)


def test_values_keep_their_bytes_until_they_are_decoded() -> None:
    content = '[White "Löwenthal"]\n[Black "B"]\n\n*\n\n'
    blocks = [content.encode("cp1252"), content.encode()]
    assert [row[1][1] for row in records(blocks)] == ["Löwenthal", "Löwenthal"]


def test_where_the_libraries_differ() -> None:
    """Should python-chess learn to end games at their result, this tells us."""
    joined = '[White "A"]\n[Black "B"]\n\n1. e4 1-0\n' * 2
    assert [row[1][1] for row in records([joined.encode()])] == ["A", ""]
    assert [row[1][1] for row in records([joined.encode()], by_chess=False)] == ["A", "A"]
