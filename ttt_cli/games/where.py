"""Conditions on players and games, such as `federation = 'SUI' and age < 20`: parsed, checked and evaluated.

    condition  = conjunction {"or" conjunction}
    conjunction = negation {"and" negation}
    negation   = "not" negation | "(" condition ")" | comparison
    comparison = field ("=" | "!=" | "<>" | "<" | "<=" | ">" | ">=") value
               | field ["not"] "in" "(" value {"," value} ")"
               | field "is" ["not"] "null"

A value is a number or a text in quotes. As in SQL, a comparison with what is not known is neither true nor false.
Nothing of a condition gets into SQL.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from ttt_cli.reading.values import number_of
from ttt_cli.support.errors import ConfigError

_TOKEN: Final = re.compile(
    r"""\s*(?:(?P<text>'(?:[^']|'')*'|"(?:[^"]|"")*")|(?P<number>-?\d+(?:\.\d+)?)(?![\w.])|(?P<word>[^\W\d]\w*)"""
    r"""|(?P<sign><>|!=|<=|>=|[=<>(),]))"""
)
# Whether an operator is true of values below, equal to and above the one that it compares with.
_ORDERS: Final = {
    "<": (True, False, False),
    "<=": (True, True, False),
    "=": (False, True, False),
    ">": (False, False, True),
    ">=": (False, True, True),
    "!=": (True, False, True),
}
_DATE: Final = re.compile(r"(\d{4})-\d\d(?:-\d\d)?")
_KEYWORDS: Final = frozenset({"and", "or", "not", "in", "is", "null"})
OF_PLAYERS: Final = "federation = 'SUI' and age < 20"  # an example

Literal = float | str
Facts = Mapping[str, str | float | None]  # of a player, by field; None: not known


@dataclass(frozen=True)
class FieldComparison:
    """Whether a field compares so with one of some values: true, false, or None where either is not known."""

    field: str
    operator: str
    values: tuple[Literal, ...]

    def holds(self, facts: Facts) -> bool | None:
        """Whether it is true of a player."""
        truths = [_compare(facts.get(self.field), self.operator, value) for value in self.values]
        if True in truths:
            return True
        return None if None in truths else False


@dataclass(frozen=True)
class IsUnknown:
    """Whether nothing is known of a field."""

    field: str

    def holds(self, facts: Facts) -> bool | None:
        """Whether it is true of a player."""
        return facts.get(self.field) is None


@dataclass(frozen=True)
class Not:
    """The contrary of a condition."""

    part: Condition

    def holds(self, facts: Facts) -> bool | None:
        """Whether it is true of a player."""
        truth = self.part.holds(facts)
        return None if truth is None else not truth


@dataclass(frozen=True)
class AllOf:
    """All of several conditions."""

    parts: tuple[Condition, ...]

    def holds(self, facts: Facts) -> bool | None:
        """Whether it is true of a player."""
        truths = [part.holds(facts) for part in self.parts]
        if False in truths:
            return False
        return None if None in truths else True


@dataclass(frozen=True)
class AnyOf:
    """Any of several conditions."""

    parts: tuple[Condition, ...]

    def holds(self, facts: Facts) -> bool | None:
        """Whether it is true of a player."""
        truths = [part.holds(facts) for part in self.parts]
        if True in truths:
            return True
        return None if None in truths else False


Condition = FieldComparison | IsUnknown | Not | AllOf | AnyOf


def comparisons(condition: Condition) -> Iterator[FieldComparison | IsUnknown]:
    """The comparisons in a condition."""
    match condition:
        case Not(part):
            yield from comparisons(part)
        case AllOf(parts) | AnyOf(parts):
            for part in parts:
                yield from comparisons(part)
        case _:
            yield condition


def _compare(value: str | float | None, operator: str, literal: Literal) -> bool | None:
    """Whether a value compares so with a number or a text; None where it is not known, or no number where one is asked.

    Texts are equal whatever their case.
    """
    if value is None:
        return None
    below, equal, above = _ORDERS[operator]
    if isinstance(literal, str):
        text = str(value).casefold()
        compared_with = literal.casefold()
        return below if text < compared_with else above if text > compared_with else equal
    number = _number_in(value) if isinstance(value, str) else value
    if math.isnan(number):
        return None
    return below if number < literal else above if number > literal else equal


def _number_in(text: str) -> float:
    """The number in a text, the year of a date; NaN for others."""
    date = _DATE.fullmatch(text)
    return float(date[1]) if date else number_of(text)


class _Token(NamedTuple):
    kind: str  # text, number, word or sign; end after the last
    text: str
    start: int


def parse_condition(text: str, example: str = OF_PLAYERS) -> Condition:
    """The condition in a text. Raises ConfigError, which says where it cannot be read, with an example."""
    parser = _Parser(text, _tokens(text, example), example)
    condition = parser.any_of()
    parser.expect_end()
    return condition


def _tokens(text: str, example: str) -> list[_Token]:
    tokens: list[_Token] = []
    position = 0
    end = len(text.rstrip())
    while position < end:
        match = _TOKEN.match(text, position)
        if match is None:
            raise _unreadable(
                text, position, "a field, an operator, a number or a text in quotes", example
            )
        kind = str(match.lastgroup)
        tokens.append(_Token(kind, match[kind], match.start(kind)))
        position = match.end()
    return [*tokens, _Token("end", "", end)]


def _unreadable(text: str, position: int, expected: str, example: str) -> ConfigError:
    rest = text[position:].strip()
    where = f"before {rest!r}" if rest else "at the end"
    return ConfigError(
        f"--where: {expected} is expected {where}",
        hint=f'for instance --where "{example}"',
    )


class _Parser:
    """Reads tokens from left to right."""

    def __init__(self, text: str, tokens: Sequence[_Token], example: str) -> None:
        self._text = text
        self._example = example
        self._tokens = tokens
        self._next = 0

    @property
    def _token(self) -> _Token:
        return self._tokens[self._next]

    def _accept(self, *texts: str) -> str | None:
        """Go on if the next token is one of these words or signs: that one."""
        token = self._token
        word = token.text.casefold()
        if token.kind in ("word", "sign") and word in texts:
            self._next += 1
            return word
        return None

    def _expect(self, text: str) -> None:
        if self._accept(text) is None:
            raise self._error(repr(text))

    def _error(self, expected: str) -> ConfigError:
        return _unreadable(self._text, self._token.start, expected, self._example)

    def expect_end(self) -> None:
        """Raise ConfigError unless all has been read."""
        if self._token.kind != "end":
            raise self._error("'and', 'or' or the end")

    def any_of(self) -> Condition:
        parts = [self._all_of()]
        while self._accept("or"):
            parts.append(self._all_of())
        return parts[0] if len(parts) == 1 else AnyOf(tuple(parts))

    def _all_of(self) -> Condition:
        parts = [self._negation()]
        while self._accept("and"):
            parts.append(self._negation())
        return parts[0] if len(parts) == 1 else AllOf(tuple(parts))

    def _negation(self) -> Condition:
        if self._accept("not"):
            return Not(self._negation())
        if self._accept("("):
            condition = self.any_of()
            self._expect(")")
            return condition
        return self._comparison()

    def _comparison(self) -> Condition:
        token = self._token
        field = token.text.casefold()
        if token.kind != "word" or field in _KEYWORDS:
            raise self._error("a field")
        self._next += 1
        if self._accept("is"):
            negated = self._accept("not")
            self._expect("null")
            return Not(IsUnknown(field)) if negated else IsUnknown(field)
        negated = self._accept("not")
        if self._accept("in"):
            self._expect("(")
            values = [self._value()]
            while self._accept(","):
                values.append(self._value())
            self._expect(")")
            comparison = FieldComparison(field, "=", tuple(values))
            return Not(comparison) if negated else comparison
        if negated:
            raise self._error("'in'")
        operator = self._accept(*_ORDERS, "<>")
        if operator is None:
            raise self._error("=, !=, <, <=, >, >=, in or is")
        return FieldComparison(field, "!=" if operator == "<>" else operator, (self._value(),))

    def _value(self) -> Literal:
        token = self._token
        if token.kind == "number":
            self._next += 1
            return float(token.text)
        if token.kind == "text":
            self._next += 1
            quote = token.text[0]
            return token.text[1:-1].replace(2 * quote, quote)
        raise self._error("a number or a text in quotes")
