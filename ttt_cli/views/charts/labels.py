"""Names at line ends, moved up or down until none covers another."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

Place = tuple[float, float]

HEIGHT: Final = 15.0  # pixels that a line of text takes
GAP: Final = 7.0  # pixels between a line's end and its name
_CHARACTER: Final = 7.0  # pixels of a character, on the wide side
_LONGEST: Final = 34  # characters
_FAR: Final = 45.0  # pixels that a label moves at most to leave lines uncovered


@dataclass(frozen=True)
class Label:
    """A text whose left end wants to stand at (x, y), pixels from the top left."""

    text: str
    x: float
    y: float

    @property
    def right(self) -> float:
        """Where the text ends, at the widest."""
        return self.x + text_width(self.text)

    def holds(self, point: Place) -> bool:
        """Whether a point lies under the text."""
        x, y = point
        return self.x <= x <= self.right and abs(self.y - y) < HEIGHT / 2

    def covers(self, other: "Label") -> bool:
        """Whether the two texts touch."""
        return (
            self.x < other.right + GAP
            and other.x < self.right + GAP
            and abs(self.y - other.y) < HEIGHT - 1e-9
        )


def text_width(text: str) -> float:
    """Pixels that a text takes, at most."""
    return _CHARACTER * len(text)


def shorten(text: str) -> str:
    """A name of bearable length."""
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def place(labels: Sequence[Label], height: float, lines: Sequence[Place] = ()) -> list[Label]:
    """The labels in their order, each at the nearest free height between 0 and `height`.

    The higher are placed first. A label leaves the points of `lines` (x, y) uncovered where it need not move far
    for it; where no height is free of other labels, it stays where it wants to be.
    """
    placed: dict[int, Label] = {}
    for index in sorted(range(len(labels)), key=lambda i: labels[i].y):
        wanted = labels[index]
        candidates = [
            Label(wanted.text, wanted.x, y) for y in _heights(wanted, list(placed.values()), height)
        ]
        free = [c for c in candidates if not any(c.covers(other) for other in placed.values())]
        near = (c for c in free if abs(c.y - wanted.y) <= _FAR and not any(c.holds(point) for point in lines))
        placed[index] = next(near, free[0] if free else wanted)
    return [placed[index] for index in range(len(labels))]


def upright(
    spans: Sequence[tuple[float, float]], first: float, last: float, width: float
) -> dict[int, float]:
    """Which spans of years have an upright line of text at their middles, and where; the longest spans come first.

    The axis of `width` pixels goes from `first` to `last`.
    """
    placed: dict[int, float] = {}
    step = HEIGHT * (last - first) / width
    for index in sorted(range(len(spans)), key=lambda i: spans[i][0] - spans[i][1]):
        middle = min(max(sum(spans[index]) / 2, first + step / 2), last - step / 2)
        if all(abs(middle - other) >= step - 1e-9 for other in placed.values()):
            placed[index] = middle
    return placed


def last_year(ends: Sequence[tuple[float, str]], first: float, width: float) -> float:
    """The year at which an axis of `width` pixels must end so that every name beside its (year, name) fits."""
    return max(
        first + (year - first) * width / max(width - GAP - text_width(text), width / 4) for year, text in ends
    )


def _heights(wanted: Label, placed: Sequence[Label], height: float) -> list[float]:
    """Heights worth trying, the nearest first: around the one wanted, and just above and below what stands."""
    lowest, highest = HEIGHT / 2, height - HEIGHT / 2
    start = min(max(wanted.y, lowest), highest)
    tried = [start + step * HEIGHT / 3 for step in range(-9, 10)]
    tried += [other.y + side * HEIGHT for other in placed for side in (-1, 1)]
    return sorted((y for y in tried if lowest <= y <= highest), key=lambda y: abs(y - wanted.y))
