"""Ends of lines made plain by compiled code as the standard library does it."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ttt_cli.games import text
from ttt_cli.games.text import plain_blocks
from ttt_cli.kernels.line_ends import line_feeds

BYTES = st.lists(st.sampled_from([b"\r", b"\n", b"\r\n", b"a", b"\0"]), max_size=30).map(b"".join)


@given(BYTES)
def test_cr_and_cr_lf_become_lf(data):
    plain = np.empty(len(data), np.uint8)
    count = line_feeds(np.frombuffer(data, np.uint8), plain)
    assert plain[:count].tobytes() == data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")


@given(st.lists(BYTES.filter(bool), max_size=5))
def test_blocks_of_large_files(blocks):
    small = b"".join(plain_blocks(blocks, None, "games"))
    before, text.LARGE = text.LARGE, -1
    try:
        assert b"".join(plain_blocks(blocks, None, "games")) == small
    finally:
        text.LARGE = before
