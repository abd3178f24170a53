"""The scale on which a run is shown: its own points, or a familiar one through anchors.

Inside a run everything is in points. An anchor says what somebody's skill at some time is to be called; the slope is
such that a difference of 200 means an expected score of 76 %, as on the Elo scale, or what several anchors ask for.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from typing import Any, Final

from ttt_cli.errors import ConfigError, LookupFailed
from ttt_cli.runs.lookup import Query, find_player
from ttt_cli.runs.meta import RunMeta

POINTS: Final = "points"  # asks for the run's own scale
EXAMPLE: Final = "Lasker, Emanuel @ 1900 = 2720"  # an anchor for the sample
MATCHED: Final = "matched"  # asks for the slope of the anchors
_ANCHOR: Final = re.compile(r"(?P<name>.+?)\s*@\s*(?P<period>\d{4}\S*)\s*=\s*(?P<rating>-?\d+(\.\d+)?)")
_SKILLS: Final = """
SELECT period, mean FROM skills WHERE player = ? AND (period = ? OR split_part(period, '-', 1) = ?)
ORDER BY period_number DESC LIMIT 1
"""


@dataclass(frozen=True)
class Anchor:
    """A player who has `rating` in a period."""

    name: str
    period: str
    rating: float

    def __str__(self) -> str:
        return f"{self.name} in {self.period} = {self.rating:g}"


@dataclass(frozen=True)
class Scale:
    """Shown = `slope` times points + `shift`; without `anchors` points are shown as they are."""

    slope: float = 1.0
    shift: float = 0.0
    anchors: tuple[Anchor, ...] = ()
    matched: bool = False

    @property
    def unit(self) -> str:
        """The unit of what is shown: `points` or `Elo`."""
        return "Elo" if self.anchors else POINTS

    def points(self, strength: Mapping[str, Any]) -> dict[str, Any]:
        """A row of skills as shown (`mean`, `sd`, further columns), back in points."""
        if not self.anchors:
            return dict(strength)
        return {
            key: (value - (self.shift if key == "mean" else 0.0)) / self.slope
            if isinstance(value, float) and key != "games"
            else value
            for key, value in strength.items()
        }


def parse_anchor(text: str) -> Anchor:
    """`Lasker, Emanuel @ 1900 = 2720`. Raises ConfigError."""
    found = _ANCHOR.fullmatch(text.strip())
    if not found:
        hint = f"write NAME @ YEAR = RATING, for instance '{EXAMPLE}'"
        raise ConfigError(f"{text!r} is no anchor of a scale", hint=hint)
    return Anchor(found["name"], found["period"], float(found["rating"]))


def asked_anchors(meta: RunMeta, asked: Sequence[str]) -> tuple[tuple[Anchor, ...], bool]:
    """The anchors of a run's config, or those `asked` for instead, and whether they give the slope, too.

    `asked` are anchors, `matched`, or `points` alone. Raises ConfigError.
    """
    section = meta.config.get("scale") or {}
    if asked:
        texts = [text for text in asked if text not in (POINTS, MATCHED)]
        if POINTS in asked and len(asked) > 1:
            raise ConfigError("points and anchors are one scale or the other")
        if MATCHED in asked and not texts:
            texts = list(section.get("anchors", ()))
            if not texts:
                hint = f"add two or more: --scale '{EXAMPLE}'"
                raise ConfigError("matched is the slope of anchors, and there are none", hint=hint)
        return tuple(map(parse_anchor, texts)), MATCHED in asked
    return tuple(map(parse_anchor, section.get("anchors", ()))), section.get("slope") == MATCHED


def find_scale(meta: RunMeta, query: Query, asked: Sequence[str] = ()) -> Scale:
    """The scale of a run; `query` asks its tables, in points. Raises ConfigError, LookupFailed."""
    anchors, matched = asked_anchors(meta, asked)
    if not anchors:
        return Scale()
    means = [_mean(query, anchor) for anchor in anchors]
    ratings = [anchor.rating for anchor in anchors]
    slope = _matched_slope(means, ratings) if matched else 1.0 / meta.elo_unit
    shift = fsum(rating - slope * mean for rating, mean in zip(ratings, means, strict=True)) / len(means)
    return Scale(slope, shift, anchors, matched)


def _mean(query: Query, anchor: Anchor) -> float:
    player = find_player(query, anchor.name).player
    rows = query(_SKILLS, [player, anchor.period, anchor.period])
    if not rows:
        ((first, last),) = query('SELECT "first", "last" FROM players WHERE player = ?', [player])
        hint = f"from {first} to {last} there is"
        raise LookupFailed(f"{player} cannot anchor the scale: no skill in {anchor.period}", hint=hint)
    return float(rows[0][1])


def _matched_slope(means: Sequence[float], ratings: Sequence[float]) -> float:
    """The least-squares slope of ratings over means. Raises ConfigError when there is none above 0."""
    centre, level = fsum(means) / len(means), fsum(ratings) / len(ratings)
    spread = fsum((mean - centre) ** 2 for mean in means)
    common = fsum((mean - centre) * (rating - level) for mean, rating in zip(means, ratings, strict=True))
    if spread == 0.0 or common <= 0.0:
        hint = "two or more are needed, with higher ratings for stronger players"
        raise ConfigError("the anchors give no slope", hint=hint)
    return common / spread
