"""The hash of moves: equal for one game in all spellings, different for different games; the marks of its bytes."""

from __future__ import annotations

import random
import re

import chess
import chess.pgn
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.reference.pgn import PlainScanner
from tests.support.batches import scanned
from tests.support.cases import each
from ttt_cli.kernels.pgn import MIX, MOVES_LIMIT, WEIGHTS, WEIGHTS_MASK
from ttt_cli.reading.pgn import Scanner, hash_moves

TAGS = '[Event "x"]\n[White "A"]\n[Black "B"]\n[Result "1-0"]\n\n'
NEXT = "\n\n" + TAGS + "1-0\n"  # so that the game before is complete
LETTERS = re.compile(
    rb"[a-h](?=[a-h1-8x:@=-])|(?<=[a-hA-NQ-Z])[1-8]|[A-NQ-Z](?=[a-h1-8x:@=-])|(?<=[1-8x:@=])[A-NQ-Z]"
    rb"|(?<=[Oo0])-(?=[Oo0])"
)
PIECES = [
    *("e4", "exd5", "ed", "Nf3", "N1d2", "R8xd7+", "Qa1xb2", "e8=Q", "e8Q", "bxa8=N#", "O-O", "O-O-O", "0-0", "0-0-0"),
    *("1.", "12...", "$1", "$139", "!?", "e.p.", "ep", "1-0", "0-1", "1/2-1/2", "*", "--", "N@f3", "e2-e4", "Ng1-f3"),
    *("e=", "xQ", "Q:R", "O1", "Pe4", "Z0", "D", "RR", " ", "\n", "\t", "Sf3", "e:d5", "-", "=", "x", "h"),
]  # fmt: skip


def twin(line: bytes) -> int:
    """The definition, word by word in whole numbers."""
    letters = b"".join(found[0] for found in LETTERS.finditer(line))
    total = 0
    for place in range(-(-len(letters) // 8)):
        word = int.from_bytes(letters[8 * place : 8 * place + 8], "little") * int(MIX) % 2**64
        total += (word ^ word >> 32) * int(WEIGHTS[place & WEIGHTS_MASK])
    return (total + 2**63) % 2**64 - 2**63


def hashes_of(content: bytes) -> list[int]:
    """The hashes of all games, which both scanners agree on."""
    found, plain = (
        [row[-1] for row in scanned([content], one())[0]] for one in (Scanner, PlainScanner)
    )
    assert found == plain
    return found  # type: ignore[return-value]


def moves_of(moves: str) -> int:
    """The hash of a game with these moves."""
    first, _ = hashes_of((TAGS + moves + NEXT).encode())
    return first


@given(
    st.lists(st.lists(st.sampled_from(PIECES), max_size=12).map(" ".join), max_size=4),
    st.booleans(),
)
def test_hashes_are_those_of_the_definition(lines: list[str], joined: bool) -> None:
    texts = [line.replace(" ", "" if joined else " ").encode() for line in lines]
    assert [hash_moves(text) for text in texts] == [twin(text) for text in texts]


@each(
    "one, other, equal",
    [
        *[("1. a8=Q Kd7", "1. a8Q+ Kd7", True), ("1. exd6 e.p. Kd7", "1. exd6 Kd7", True)],
        *[("1. exd6ep Kd7", "1. exd6 Kd7", True), ("1. e4 (1. d4 (1. c4) d5", "1. e4", True)],
        *[("1. e4 e5 2. d4", "1. d4 e5 2. e4", False), ("1. a8=Q", "1. a8=R", False)],
        *[("1. O-O", "1. O-O-O", False), ("1. Nf3", "1. f3", False), ("1. N1d2", "1. N3d2", False)],
        *[("1. Nbd2", "1. Nfd2", False), ("1. e4", "1. e4 e5", False)],
    ],
)
def test_equal_and_different_games(one: str, other: str, equal: bool) -> None:
    assert (moves_of(one) == moves_of(other)) is equal
    assert moves_of(one) != 0


@each("moves", ["", "1-0", "*", "{e4}", "(1. e4 e5)", "; e4", "$1 1. 1/2-1/2", "-- D N"])
def test_no_moves(moves: str) -> None:
    assert moves_of(moves) == 0


def test_movetext_beyond_the_limit_is_not_hashed() -> None:
    first, moves = "1. e4 e5\n", "Nf3 Nc6\n" * (MOVES_LIMIT // 8)
    long = (first + moves).encode()
    assert moves_of(first + moves) == hash_moves(long[:MOVES_LIMIT]) != hash_moves(long)


@pytest.mark.slow
@each("before", ["", 5 * "\f", 5 * "\v"])
def test_movetext_beyond_the_limit_of_a_game_written_plainly(before: str) -> None:
    """Where a game's movetext begins, and so ends for the hash, does not depend on which reader takes it."""
    game = TAGS + before + "Nf3 Nc6\n" * (MOVES_LIMIT // 8) + "a6 1-0\n\n"
    content = (game + game + NEXT.strip() + "\n").encode()
    expected = hashes_of(content)
    assert expected[0] == hash_moves(b"Nf3 Nc6\n" * (MOVES_LIMIT // 8))


def random_game(chance: random.Random, plies: int) -> chess.pgn.Game:
    """Legal moves at random, with comments, glyphs and variations."""
    game = chess.pgn.Game({"Event": "x", "White": "A", "Black": "B", "Result": "*"})
    node: chess.pgn.GameNode = game
    board = chess.Board()
    for _ in range(plies):
        moves = list(board.legal_moves)
        if not moves:
            break
        move = chance.choice(moves)
        if chance.random() < 0.2:
            node.add_variation(chance.choice(moves), comment="Nf3 (e4) ; 1-0")
        node = node.add_main_variation(move, comment=chance.choice(["", "", "1. d4"]))
        if chance.random() < 0.2:
            node.nags.add(chance.randrange(1, 140))
        board.push(move)
    return game


def test_games_written_by_python_chess() -> None:
    """Ten games, each with and without all that is not a move, wrapped at several widths: ten hashes."""
    chance = random.Random(5)
    hashes: list[int] = []
    for _ in range(10):
        game = random_game(chance, 80)
        styles = [
            chess.pgn.StringExporter(headers=False, comments=False, variations=False, columns=None),
            chess.pgn.StringExporter(headers=False, columns=80),
            chess.pgn.StringExporter(headers=False, comments=False, columns=20),
        ]
        found = {moves_of(game.accept(style)) for style in styles}
        assert len(found) == 1
        hashes += found
    assert len(set(hashes)) == 10
    assert 0 not in hashes
