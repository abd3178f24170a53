"""Names in figures, placed so that they do not overlap."""

from collections import Counter
from collections.abc import Sequence
from typing import Final, NamedTuple

LINE: Final = 15.0  # pixels, the height of a line of text
GAP: Final = 7.0  # pixels between a line's end and its name
_CHARACTER: Final = 7.0  # pixels of a character, on the wide side
_STEP: Final = 4.0  # pixels by which a name is moved off a curve
_STEPS: Final = 15
_LONGEST: Final = 34  # characters


class Point(NamedTuple):
    """A point of a curve, pixels from the top left."""

    x: float
    y: float


class Label(NamedTuple):
    """A text with its left end at (x, y), pixels from the top left."""

    text: str
    x: float
    y: float

    def overlaps(self, label: "Label") -> bool:
        """Whether two texts overlap."""
        right = self.x + text_width(self.text) + GAP
        label_right = label.x + text_width(label.text) + GAP
        return self.x < label_right and label.x < right and abs(self.y - label.y) < LINE - 1e-9

    def meets(self, labels: "Sequence[Label]") -> bool:
        """Whether the text overlaps one of others."""
        return any(label.overlaps(self) for label in labels)

    def covers(self, points: Sequence[Point]) -> bool:
        """Whether one of some points is under the text."""
        right = self.x + text_width(self.text)
        return any(
            self.x <= point.x <= right and abs(self.y - point.y) < LINE / 2 for point in points
        )


def text_width(text: str) -> float:
    """Upper bound of the width of a text in pixels."""
    return _CHARACTER * len(text)


def shorten(text: str) -> str:
    """A name of at most 34 characters."""
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def surnames(players: Sequence[str]) -> list[str]:
    """The surname of each player, and the whole name of those who share theirs."""
    short = [player.partition(",")[0] for player in players]
    uses = Counter(short)
    return [
        shorten(name if uses[name] == 1 else player)
        for player, name in zip(players, short, strict=True)
    ]


def spread_labels(
    labels: Sequence[Label], height: float, points: Sequence[Point] = ()
) -> list[Label]:
    """Move each label to the nearest free height between 0 and `height`, the highest labels first.

    Labels avoid each other and, if they need not be moved far for that, the `points` of curves. A label without free
    height is not moved.
    """
    placed: dict[int, Label] = {}
    for index in sorted(range(len(labels)), key=lambda index: labels[index].y):
        placed[index] = _moved(labels[index], list(placed.values()), height, points)
    return [placed[index] for index in range(len(labels))]


def _moved(label: Label, placed: Sequence[Label], height: float, points: Sequence[Point]) -> Label:
    """The label at the nearest height where it overlaps none of those placed, and no curve nearby."""
    lowest = LINE / 2
    highest = height - LINE / 2
    neighbours = [neighbour.y + step for neighbour in placed for step in (-LINE, LINE)]
    heights = [y for y in (label.y, lowest, highest, *neighbours) if lowest <= y <= highest]
    points_in_width = [
        point for point in points if label.x <= point.x <= label.x + text_width(label.text)
    ]
    steps = (
        [label.y + step * _STEP for step in range(-_STEPS, _STEPS + 1)] if points_in_width else []
    )
    for y in sorted(steps, key=lambda y: abs(y - label.y)):
        moved = label._replace(y=y)
        if lowest <= y <= highest and not moved.covers(points_in_width) and not moved.meets(placed):
            return moved
    for y in sorted(heights, key=lambda y: abs(y - label.y)):
        moved = label._replace(y=y)
        if not moved.meets(placed):
            return moved
    return label


def upright(
    spans: Sequence[tuple[float, float]], first: float, last: float, width: float
) -> dict[int, float]:
    """The spans of years that have room for an upright line of text, and its year; the longest spans first.

    `width`: pixels of the axis from `first` to `last`.
    """
    placed: dict[int, float] = {}
    step = LINE * (last - first) / width
    for index in sorted(range(len(spans)), key=lambda index: spans[index][0] - spans[index][1]):
        middle = min(max(sum(spans[index]) / 2, first + step / 2), last - step / 2)
        if all(abs(middle - year) >= step - 1e-9 for year in placed.values()):
            placed[index] = middle
    return placed


def last_year(ends: Sequence[tuple[float, str]], first: float, width: float) -> float:
    """The last year of an axis of `width` pixels such that the name at the right of each (year, name) fits."""
    return max(
        first + (year - first) * width / max(width - GAP - text_width(text), width / 4)
        for year, text in ends
    )
