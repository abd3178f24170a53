"""Names in figures, placed so that they do not overlap."""

from collections.abc import Sequence
from typing import Final, NamedTuple

LINE: Final = 15.0  # pixels, the height of a line of text
GAP: Final = 7.0  # pixels between a line's end and its name
_CHARACTER: Final = 7.0  # pixels of a character, on the wide side
_LONGEST: Final = 34  # characters


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


def text_width(text: str) -> float:
    """Upper bound of the width of a text in pixels."""
    return _CHARACTER * len(text)


def shorten(text: str) -> str:
    """A name of at most 34 characters."""
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def spread_labels(labels: Sequence[Label], height: float) -> list[Label]:
    """Move each label to the nearest free height between 0 and `height`, the highest labels first.

    A label without free height is not moved.
    """
    placed: dict[int, Label] = {}
    for index in sorted(range(len(labels)), key=lambda index: labels[index].y):
        placed[index] = _moved(labels[index], list(placed.values()), height)
    return [placed[index] for index in range(len(labels))]


def _moved(label: Label, placed: Sequence[Label], height: float) -> Label:
    """The label at the nearest height where it overlaps none of those placed, else where it is."""
    lowest = LINE / 2
    highest = height - LINE / 2
    neighbours = [neighbour.y + step for neighbour in placed for step in (-LINE, LINE)]
    heights = [y for y in (label.y, lowest, highest, *neighbours) if lowest <= y <= highest]
    for y in sorted(heights, key=lambda y: abs(y - label.y)):
        moved = label._replace(y=y)
        if not any(neighbour.overlaps(moved) for neighbour in placed):
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
        first + (year - first) * width / max(width - GAP - text_width(text), width / 4) for year, text in ends
    )
