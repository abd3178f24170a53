"""Sides of members: columns of their own and names with a separator, against a reader of one side after the other."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ttt_cli.games import dictionaries as games_dictionaries
from ttt_cli.games.dictionaries import Dictionaries
from ttt_cli.reading.batches import FileRecords, WrittenSides, text_table
from ttt_cli.reading.members import MEMBER_SIGN, SideFields, TeamFields, share_of, text_of

Members = list[tuple[str, float]]
NAMES = ["", " ", "A", " A ", "Béla", "É", "A / B", "C /", "/ C", "A/B", "D\u00a0"]
SHARES = ["", " ", "1", "0.5", " 2 ", "0", "-1", "x", "nan", "0.12345678"]


def file_of(columns: dict[str, Sequence[str | tuple[str, ...]]], **layout: object) -> FileRecords:
    count = len(columns["whites"])
    others = {name: ["1"] * count for name in ("dates", "results")}
    return FileRecords("x", text_table(range(count), {**columns, **others}, **layout))


def members_of(sides: WrittenSides, side: int) -> Members:
    """Names without blanks around them and shares of a side."""
    if sides.members is None:
        return [(sides.names[side].strip(), 1.0)]
    end = np.cumsum(sides.members.size)[side]
    rows = range(end - sides.members.size[side], end)
    return [
        (sides.names[sides.members.name[row]].strip(), float(sides.members.share[row]))
        for row in rows
    ]


def split(text: str, separator: str | None) -> list[str]:
    text = text.strip()
    return [text] if separator is None else [name.strip() for name in text.split(separator)]


@given(
    separator=st.sampled_from([None, " / ", "/"]),
    texts=st.lists(st.tuples(st.sampled_from(NAMES), st.sampled_from(NAMES)), min_size=1),
)
def test_names_are_split_at_separators(separator: str | None, texts: list[tuple[str, str]]) -> None:
    whites = ["".join(pair) for pair in texts]
    blacks = [" / ".join(pair) for pair in texts]
    sides = file_of({"whites": whites, "blacks": blacks}).take_sides(separator)
    for codes, written in ((sides.white, whites), (sides.black, blacks)):
        for side, text in zip(codes.tolist(), written, strict=True):
            expected = [(name, 1.0) for name in split(text, separator)]
            assert members_of(sides, side) == expected


@given(
    separator=st.sampled_from([None, " / "]),
    rows=st.lists(
        st.tuples(*[st.sampled_from(NAMES)] * 4, st.sampled_from(SHARES), st.sampled_from(SHARES)),
        min_size=1,
    ),
)
def test_columns_of_members_and_shares(
    separator: str | None, rows: list[tuple[str, str, str, str, str, str]]
) -> None:
    """White has three columns, the second and third with shares; Black has one."""
    teams = TeamFields(
        ("white", "black"), SideFields((1, 2, 3), {1: 5, 2: 6}), SideFields((4,), {})
    )
    whites = [(first, second, third, share, more) for first, second, third, _, share, more in rows]
    columns = {
        "dates": ["1"] * len(rows),
        "whites": whites,
        "blacks": [row[3] for row in rows],
        "results": ["1"] * len(rows),
    }
    table = text_table(range(len(rows)), columns)
    fields = {"dates": (0,), "whites": (1, 2, 3, 5, 6), "blacks": (4,), "results": (7,)}
    order = [0, 1, 2, 3, 6, 4, 5, 7]  # of the fields of the text table in the file
    batches = [batch._replace(codes=batch.codes[order]) for batch in table.batches]
    layout = table.layout._replace(columns=fields, teams=teams)
    sides = FileRecords("x", table._replace(layout=layout, batches=iter(batches))).take_sides(
        separator
    )
    for row, (first, second, third, black, share, more) in enumerate(rows):
        shares = [1.0, share_of(share), share_of(more)]
        expected = [
            (name, share)
            for names, share in zip((first, second, third), shares, strict=True)
            for name in split(names, separator)
            if names.strip() and share > 0.0 and not any(map(math.isnan, shares))
        ]
        assert members_of(sides, sides.white[row]) == expected
        of_black = [(name, 1.0) for name in split(black, separator) if black.strip()]
        assert members_of(sides, sides.black[row]) == of_black


def test_text_of_members_is_read_back() -> None:
    """Names as they are listed by `games`, with shares."""
    members = [("A", 1.0), ("Béla", 0.25), ("C", 2.0)]
    for separator in (None, "/"):
        sides = file_of({"whites": [text_of(members)], "blacks": ["D"]}).take_sides(separator)
        assert members_of(sides, sides.white[0]) == members
        assert members_of(sides, sides.black[0]) == [("D", 1.0)]


def test_each_member_is_cleaned_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many teams: the cost of names is that of players."""
    calls: list[str] = []
    clean = games_dictionaries.clean_name
    monkeypatch.setattr(
        games_dictionaries, "clean_name", lambda name: calls.append(name) or clean(name)
    )
    players = [f"Player {number}" for number in range(40)]
    whites = [f"{white} / {black}" for white in players for black in players if white != black]
    records = file_of({"whites": whites, "blacks": whites[::-1]})
    dictionaries = Dictionaries([])
    numbered = dictionaries.number_sides(records.take_sides(" / "))
    assert sorted(calls) == sorted(["", *players])
    assert len(dictionaries.teams) == 1 + len(whites)
    again = dictionaries.number_sides(
        file_of({"whites": whites[:5], "blacks": whites[5:10]}).take_sides(" / ")
    )
    assert again.white.tolist() == numbered.white[:5].tolist()
    assert again.words(again.white[1], dictionaries) == f"Player 0 {MEMBER_SIGN.strip()} Player 2"
