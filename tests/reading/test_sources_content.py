"""What a file is, told by its content before its name."""

from __future__ import annotations

import pytest

from tests.support.cases import each
from ttt_cli.reading.sources import binary_format, recognise, refuse_foreign
from ttt_cli.support.errors import DataError


@each(
    "head, name, kind",
    [
        (b'[Event "x"]\n', "games.txt", "pgn"),
        (b'[Event "a, b"]\n', "games.csv", "pgn"),
        (b'% comment\n; another\n\n [ event "x"]\n', "-", "pgn"),
        (b'A collection, by me\n\n[Event "x"]\n', "games.txt", "pgn"),
        (b"1. e4 e5 1-0\n", "<stdin>", "pgn"),
        (b"{a comment} 1.e4 e5 1-0\n", "<stdin>", "pgn"),
        (b"some words", "games.PGN.gz", "pgn"),
        (b"date,white,black,result\n", "games", "csv"),
        (b"date\twhite\tblack\tresult\n", "<stdin>", "csv"),
        (b"1858;Morphy;Anderssen;1\n", "games.txt", "csv"),
        (b"date,white\n1858,\"x\n[Event ''\"\n", "games.csv.xz", "csv"),
        (b'{"white": "A", "black": "B"}\n', "<stdin>", "jsonl"),
        (b'\n { "a\\"{b" :1,', "games.csv", "jsonl"),
        (b'[\n  {"white":"A"},\n', "games.txt", "jsonl"),
        (b"1,2", "games.ndjson.gz", "jsonl"),
        (b'{"a remark", and another} 1. e4 e5 1-0\n', "<stdin>", "pgn"),
    ],
)
def test_kinds(head: bytes, name: str, kind: str) -> None:
    refuse_foreign(head, name, encoding=None)
    assert recognise(head, name).kind == kind


def test_parquet_is_no_foreign_binary() -> None:
    refuse_foreign(b"PAR1" + bytes(100), "games.parquet", encoding=None)
    found = binary_format(b"PAR1" + bytes(100))
    assert found is not None
    assert found.kind == "parquet"
    assert binary_format(b"date,white\n") is None


def test_neither() -> None:
    with pytest.raises(DataError, match="neither PGN tags nor columns") as caught:
        recognise(b"just words\n", "notes.txt")
    assert caught.value.hint


@each(
    "head, what",
    [
        (b"", "is empty"),
        (b"\xef\xbb\xbf \r\n", "is empty"),
        (b"<!DOCTYPE html><html>", "a web page"),
        (b"\n <HTML lang=en>", "a web page"),
        (b"PK\x03\x04rest", "a zip archive"),
        (b"%PDF-1.7", "a PDF"),
        (b"x" * 257 + b"ustar\x0000", "a tar archive"),
        (bytes(8) + b"DUCK" + bytes(80), "a database"),
        (bytes(range(256)), "a binary file"),
        ('[Event "x"]\n'.encode("utf-16-le"), "a binary file"),
    ],
)
def test_foreign_content_is_named(head: bytes, what: str) -> None:
    with pytest.raises(DataError, match=what) as caught:
        refuse_foreign(head, "games.pgn", encoding=None)
    assert caught.value.where == "games.pgn"


def test_an_encoding_explains_control_characters() -> None:
    refuse_foreign('[Event "x"]\n'.encode("utf-16-le"), "games.pgn", encoding="utf-16-le")


def test_a_few_stray_bytes_are_no_binary_file() -> None:
    refuse_foreign(b'[Event "x"]\n\0\0' + b"1. e4 e5 1-0 " * 20, "games.pgn", encoding=None)


def test_a_long_blank_beginning_is_looked_at_once() -> None:
    assert recognise(b"\n" * 50_000 + b"a,b\n", "games").name == "csv"
