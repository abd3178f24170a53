"""Members of a team in one text: as files write them with a separator, or in columns of their own."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from ttt_cli.reading.text import decode
from ttt_cli.support.arrays import Array, Mask, Places, ranges

MEMBER_SIGN: Final = " \u2063/ "  # between members: with an invisible sign, which no name has
# Between a member and the share of the game that the member played
_SHARE_SIGN: Final = " \u2063* "
_SIDES: Final = (("white", "black"), ("home", "away"), ("winner", "loser"))
_MEMBER: Final = r"(\d\d?)(?:name|player)?"
_SHARE: Final = r"(\d\d?)share"


class SideFields(NamedTuple):
    """Fields of the members of a side, and of their shares by index of the member."""

    members: tuple[int, ...]
    shares: dict[int, int]

    @property
    def fields(self) -> tuple[int, ...]:
        """All fields."""
        return (*self.members, *self.shares.values())


class TeamFields(NamedTuple):
    """Fields of the members of both sides, and what the sides are called."""

    names: tuple[str, str]
    white: SideFields
    black: SideFields

    @property
    def fields(self) -> tuple[int, ...]:
        """All fields."""
        return (*self.white.fields, *self.black.fields)


def find_team_fields(words: Sequence[str]) -> TeamFields | None:
    """Columns white_1, white_2, ..., white_1_share (or home, winner) of a header in words; None without a second one.

    A side with one column of its own may be written `black` or `black_1`.
    """
    for names in _SIDES:
        white, black = (_side_fields(words, name) for name in names)
        if white.members and black.members and max(len(white.members), len(black.members)) > 1:
            return TeamFields(names, white, black)
    return None


def _side_fields(words: Sequence[str], side: str) -> SideFields:
    """The fields of a side, those of the members by their numbers."""
    members = _numbered(words, f"{side}{_MEMBER}")
    shares = _numbered(words, f"{side}{_SHARE}")
    if not members and side in words:
        return SideFields((words.index(side),), {})
    numbers = sorted(members)
    with_share = {index: shares[number] for index, number in enumerate(numbers) if number in shares}
    return SideFields(tuple(members[number] for number in numbers), with_share)


def _numbered(words: Sequence[str], pattern: str) -> dict[int, int]:
    """The first field of each number in words that match a pattern."""
    fields: dict[int, int] = {}
    for field, word in enumerate(words):
        match = re.fullmatch(pattern, word)
        if match:
            fields.setdefault(int(match[1]), field)
    return fields


class SideMembers(NamedTuple):
    """Members of sides, those of a side one after the other; a side may have none.

    | name | shape | |
    |---|---|---|
    | size | (sides,) | number of members of each side |
    | name | (members,) | index of the member's name |
    | share | (members,) | of the game that the member played |
    """

    size: Places
    name: Places
    share: Array

    def with_members_of_names(self, of_name: SideMembers) -> SideMembers:
        """The sides with the members of each name in its place; they have the share of the name."""
        first = np.cumsum(of_name.size) - of_name.size
        size = of_name.size[self.name]
        new = ranges(first[self.name], size)
        side = np.repeat(np.arange(len(self.size)), self.size)
        return SideMembers(
            np.bincount(side, size, len(self.size)).astype(np.int64),
            of_name.name[new],
            of_name.share[new] * np.repeat(self.share, size),
        )


def members_in_columns(names: Places, shares: Mapping[int, Array], has_name: Mask) -> SideMembers:
    """The members of sides with columns of their own.

    | name | shape | |
    |---|---|---|
    | names | (sides, members) | index of the name in each column |
    | shares | (sides,) each | by index of the column; NaN where it is no share |
    | has_name | (names,) | whether a name is more than blanks |

    A member with the share 0, or without a name, did not play. A side with a share that is none has no members.
    """
    is_member = has_name[names]
    share = np.ones(names.shape)
    for column, of_column in shares.items():
        share[:, column] = of_column
    if shares:
        is_member &= share > 0.0
        is_member &= ~np.isnan(share).any(axis=1, keepdims=True)
    return SideMembers(is_member.sum(axis=1), names[is_member], share[is_member])


def share_of(text: str) -> float:
    """The share in a text with six digits, 1 if it is empty; NaN for what is no number from 0 to 1000."""
    try:
        share = float(text.strip() or 1.0)
    except ValueError:
        return math.nan
    return float(f"{share:g}") if 0.0 <= share <= 1000.0 else math.nan


class SplitTexts(NamedTuple):
    """Texts of sides split into members, and the distinct names of these."""

    names: list[str]
    members: SideMembers


def split_texts(texts: Any, separator: str | None) -> SplitTexts:
    """Split texts of sides, an Arrow array of bytes, where a separator or MEMBER_SIGN joins members."""
    import pyarrow.compute as pc

    sign = MEMBER_SIGN.encode()
    if separator is not None:
        texts = pc.replace_substring(_stripped(texts), sign, separator.encode())
        sign = separator.encode()
    parts = pc.split_pattern(texts, sign)
    encoded = parts.flatten().dictionary_encode()
    written = [decode(member).partition(_SHARE_SIGN) for member in encoded.dictionary.to_pylist()]
    share = np.array([share_of(text) for _, _, text in written])
    member = encoded.indices.to_numpy()
    return SplitTexts(
        [name.strip() for name, _, _ in written],
        SideMembers(np.diff(parts.offsets.to_numpy()).astype(np.int64), member, share[member]),
    )


def _stripped(texts: Any) -> Any:
    """Texts without blanks around them. Only those that begin or end with a blank or beyond ASCII are looked at."""
    import pyarrow as pa
    import pyarrow.compute as pc

    with_blanks = pc.match_substring_regex(texts, r"^[^!-~]|[^!-~]$").to_numpy(zero_copy_only=False)
    if not with_blanks.any():
        return texts
    stripped = [
        decode(text).strip().encode("utf-8", "surrogateescape")
        for text in texts.filter(pa.array(with_blanks)).to_pylist()
    ]
    return pc.replace_with_mask(texts, pa.array(with_blanks), pa.array(stripped, texts.type))


def text_of(members: Sequence[tuple[str, float]]) -> str:
    """The text of names and shares of members, as `split_texts` reads it."""
    return MEMBER_SIGN.join(
        name if share == 1.0 else f"{name}{_SHARE_SIGN}{share!r}" for name, share in members
    )
