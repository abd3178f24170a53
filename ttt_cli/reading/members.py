"""Members of a team in one text: as files write them with a separator, or in columns of their own."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

MEMBER_SIGN: Final = " \u2063/ "  # between members: with an invisible sign, which no name has
# Between a member and the share of the game that the member played
_SHARE_SIGN: Final = " \u2063* "
_INVISIBLE: Final = MEMBER_SIGN[1]


_SIDES: Final = (("white", "black"), ("home", "away"), ("winner", "loser"))
_MEMBER: Final = r"(\d\d?)(?:name|player)?"
_SHARE: Final = r"(\d\d?)share"


class SideFields(NamedTuple):
    """Fields of the members of a side, and of their shares by index of the member."""

    members: tuple[int, ...]
    shares: dict[int, int]

    @property
    def fields(self) -> tuple[int, ...]:
        """All fields, as `JoinMembers` takes them."""
        return (*self.members, *self.shares.values())

    @property
    def joined(self) -> JoinMembers:
        """What joins the fields."""
        return JoinMembers(len(self.members), tuple(self.shares))


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


@dataclass(frozen=True)
class JoinMembers:
    """Joins the fields of a side: names, then the shares of those that have a column of shares.

    `with_shares`: the index of the member of each share. A member with the share 0, or without a name, did not play.
    """

    n_members: int
    with_shares: tuple[int, ...] = ()

    def __call__(self, *fields: str) -> str:
        """The members in one text; empty where a share is no number."""
        names = [name.strip() for name in fields[: self.n_members]]
        texts = ["1"] * self.n_members
        for member, text in zip(self.with_shares, fields[self.n_members :], strict=True):
            texts[member] = text.strip() or "1"
        members = []
        for name, text in zip(names, texts, strict=True):
            share = _share_of(text)
            if share is None:
                return ""
            if name and share > 0.0:
                members.append(name if share == 1.0 else f"{name}{_SHARE_SIGN}{share:g}")
        return MEMBER_SIGN.join(members)


def _share_of(text: str) -> float | None:
    """A share, None for what is no number from 0 to 1000."""
    try:
        share = float(text)
    except ValueError:
        return None
    return share if 0.0 <= share <= 1000.0 else None


def joined_by_separator(text: str, separator: str) -> str:
    """A name in which a separator joins the members of a team, with MEMBER_SIGN; any other name as it is."""
    members = [member.strip() for member in text.split(separator)]
    return text if len(members) == 1 else MEMBER_SIGN.join(members)


def is_team_text(text: str) -> bool:
    """Whether a text has members of a team, or a member with a share."""
    return _INVISIBLE in text


def members_of(text: str) -> list[tuple[str, float]]:
    """Names and shares of the members in a text."""
    members = []
    for member in text.split(MEMBER_SIGN):
        name, _, share = member.partition(_SHARE_SIGN)
        members.append((name, float(share or 1.0)))
    return members


def text_of(members: Sequence[tuple[str, float]]) -> str:
    """The text of members, as `members_of` reads it."""
    return MEMBER_SIGN.join(
        name if share == 1.0 else f"{name}{_SHARE_SIGN}{share!r}" for name, share in members
    )
