"""A quantity of a player through time: at the periods with games, between them, and after the last."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ttt_cli.support.arrays import Array

    Nodes = NDArray[np.integer]
    Numbers = Array | NDArray[np.integer]
else:
    Nodes = Numbers = Any  # commands that only look at a run load no numpy


DECLINE_YEARS: Final = 60.0  # that skills decline at most: careers are no longer


class Operations(NamedTuple):
    """Operations in the formulas of idle periods, on numbers and arrays or as text.

    - `expm1(x)`: e^x - 1
    - `where(condition, x, y)`: x where the condition is true, else y
    - `between(x, most)`: x limited to 0 and `most`
    - `is_given(x)`: whether x is not NaN (null)
    - `at_most(x, most)`: minimum of x and `most`; x where `most` is not given
    - `is_now(ahead)`: whether no time has passed
    - `named(name, x)`: x, in JavaScript as a constant of that name
    """

    expm1: Callable[[Any], Any]
    where: Callable[[Any, Any, Any], Any]
    between: Callable[[Any, Any], Any]
    is_given: Callable[[Any], Any]
    at_most: Callable[[Any, Any], Any]
    is_now: Callable[[Any], Any]
    named: Callable[[str, Any], Any] = lambda _, x: x


@cache
def numbers() -> Operations:
    """Operations on numbers and arrays."""
    import numpy as np

    return Operations(
        expm1=np.expm1,
        where=np.where,
        between=lambda x, most: np.clip(x, 0.0, most),
        is_given=lambda x: ~np.isnan(x),
        at_most=lambda x, most: np.where(x > most, most, x),
        is_now=lambda ahead: np.equal(ahead, 0),
    )


class Text:
    """Formula as text, in the common notation of SQL and JavaScript."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __str__(self) -> str:
        return self.text

    def __neg__(self) -> Text:
        return Text(f"(-{self})")

    def __add__(self, other: Any) -> Text:
        return self if _is(other, 0.0) else Text(f"({self} + {other})")

    def __sub__(self, other: Any) -> Text:
        return self if _is(other, 0.0) else Text(f"({self} - {other})")

    def __mul__(self, other: Any) -> Text | float:
        return 0.0 if _is(other, 0.0) else Text(f"({self} * {other})")

    def __truediv__(self, other: Any) -> Text:
        return Text(f"({self} / {other})")

    def __radd__(self, other: Any) -> Text:
        return self.__add__(other)

    def __rmul__(self, other: Any) -> Text | float:
        return self.__mul__(other)

    def __rtruediv__(self, other: Any) -> Text:
        return Text(f"({other} / {self})")

    def __pow__(self, power: float) -> Text:
        return Text(f"pow({self}, {power})")


def _is(x: Any, number: float) -> bool:
    return isinstance(x, float) and x == number


SQL: Final = Operations(
    expm1=lambda x: Text(f"(exp({x}) - 1)"),
    where=lambda condition, x, y: Text(f"(CASE WHEN {condition} THEN {x} ELSE {y} END)"),
    between=lambda x, most: Text(f"greatest(least({x}, {most}), 0)"),
    is_given=lambda x: Text(f"{x} IS NOT NULL"),
    at_most=lambda x, most: Text(f"(CASE WHEN {most} IS NOT NULL AND {x} > {most} THEN {most} ELSE {x} END)"),
    is_now=lambda ahead: Text(f"{ahead} = 0"),
)


def _javascript(lines: list[str]) -> Operations:
    """Operations as JavaScript; `lines` receives its constants."""

    def named(name: str, x: Any) -> Text:
        lines.append(f"const {name} = {x};")
        return Text(name)

    def where(condition: Any, x: Any, y: Any) -> Text:
        return Text(f"({condition} ? {x} : {y})")

    return Operations(
        expm1=SQL.expm1,
        where=where,
        between=lambda x, most: Text(f"max(min({x}, {most}), 0)"),
        is_given=lambda x: Text(f"{x} !== null"),
        at_most=lambda x, most: where(f"{most} !== null && {x} > {most}", most, x),
        is_now=lambda ahead: Text(f"{ahead} === 0"),
        named=named,
    )


class Curve(NamedTuple):
    """Expected change of skill over a career, the same for all players, by years since their first period.

    After a years the mean has changed by D(a) = growth (1 - e^(-a / growth_years)) - decline E(a) points, with E(a)
    the years of decline so far, at most `DECLINE_YEARS`, and the variance as in A(a) = a + early early_years (1 -
    e^(-a / early_years)) years of a walk. The rest of a curve is a curve; its `decline_after` is negative in the
    decline.
    """

    growth: Any = 0.0
    growth_years: Any = 3.0
    decline: Any = 0.0
    decline_after: Any = 15.0
    early: Any = 0.0
    early_years: Any = 3.0

    def change(self, years: Any, most: float = DECLINE_YEARS, by: Operations | None = None) -> Any:
        """D, points; `most`: `DECLINE_YEARS` in the curve's unit of time."""
        grown = -(self.growth * (by or numbers()).expm1(-years / self.growth_years))
        return grown - self.decline * self.declined(years, most, by)

    def declined(self, years: Any, most: float = DECLINE_YEARS, by: Operations | None = None) -> Any:
        """E, years."""
        between = (by or numbers()).between
        return between(years - self.decline_after, most) - between(-self.decline_after, most)

    def clock(self, years: Any, by: Operations | None = None) -> Any:
        """A, years."""
        return years - self.early * self.early_years * (by or numbers()).expm1(-years / self.early_years)

    def after(self, years: float | Array) -> Curve:
        """The rest of the curve, `years` later."""
        import numpy as np

        return self._replace(
            growth=self.growth * np.exp(-years / self.growth_years),
            decline_after=self.decline_after - years,
            early=self.early * np.exp(-years / self.early_years),
        )

    def by(self, steps: float) -> Curve:
        """The curve in another unit of time, `steps` per year."""
        growth_years, decline_after, early_years = (
            steps * years for years in (self.growth_years, self.decline_after, self.early_years)
        )
        return Curve(self.growth, growth_years, self.decline / steps, decline_after, self.early, early_years)


STEADY: Final = Curve()  # nothing happens by itself


class Bridge(NamedTuple):
    """Change from nodes to their players' next ones or, after the last, over one year; shape (bridges,).

    After a share s of it the mean has changed by `slope` s and the variance by `rise` s + `bend` s^2; the sd is at
    most `most`. With a `prior` sd, this is the variance without the prior; with a `centre` as well, the mean
    approaches it as the prior gains weight. NaN: none. With a `curve`, s is on its clock, and its change of the mean
    is added.
    """

    slope: Array
    rise: Array
    bend: Array
    most: float = math.nan
    prior: float = math.nan
    centre: float = math.nan
    curve: Curve = STEADY


def idle_walk(drift: Array) -> Bridge:
    """Bridge (nodes,) over a year without games: the variance grows by `drift` squared."""
    import numpy as np

    return Bridge(np.zeros(len(drift)), drift**2, np.zeros(len(drift)))


@dataclass(frozen=True)
class Walk:
    """Smoothed Gaussian random walk, arrays (nodes,).

    `covariance` is with the player's previous node (undefined at the first), `drift` the sd of the change over one
    year (a scalar or per node: that after it), `curve` the remaining career after each node.
    """

    mean: Array
    sd: Array
    covariance: Array
    drift: float | Array
    curve: Curve = STEADY

    def bridge(self, earlier: Nodes, later: Nodes, years: Array) -> Bridge:
        """Bridge between two uncertain ends, `years` apart."""
        import numpy as np

        curve = curve_at(self.curve, earlier)
        walked = np.broadcast_to(self.drift, self.mean.shape)[earlier] ** 2 * curve.clock(years)
        change = bridge_of_walk(self.sd[earlier], self.sd[later], self.covariance[later], walked)
        slope = self.mean[later] - self.mean[earlier] - curve.change(years)
        return Bridge(slope, *change, curve=curve)

    def onward(self, last: Nodes) -> Bridge:
        """Bridge over a year after players' last nodes."""
        import numpy as np

        year = idle_walk(np.broadcast_to(self.drift, self.mean.shape)[last])
        return year._replace(curve=curve_at(self.curve, last))


@dataclass(frozen=True)
class Line:
    """Ratings at the nodes, linearly interpolated with their sds (NaN in a system without)."""

    mean: Array
    sd: Array

    def bridge(self, earlier: Nodes, later: Nodes, years: Array) -> Bridge:  # noqa: ARG002
        """Straight line between the ends."""
        change = self.sd[later] - self.sd[earlier]
        return Bridge(self.mean[later] - self.mean[earlier], 2.0 * self.sd[earlier] * change, change**2)

    def onward(self, last: Nodes) -> Bridge:
        """Constant rating after players' last nodes."""
        import numpy as np

        return idle_walk(np.zeros(len(last)))


@dataclass(frozen=True)
class Filter:
    """Filtered marginals after each node's games; arrays (nodes,).

    `before_mean`, `before_sd`: predictions before the node's games. In an idle year the variance grows by `drift`
    squared (a scalar or per node: that after it), the sd to at most `ceiling`; `curve` as in `Walk`. `sd` is NaN in a
    system without.
    """

    mean: Array
    sd: Array
    before_mean: Array
    before_sd: Array
    drift: float | Array
    ceiling: float = math.inf
    curve: Curve = STEADY

    def bridge(self, earlier: Nodes, later: Nodes, years: Array) -> Bridge:  # noqa: ARG002
        """Bridge from the earlier ends, independent of the later ones."""
        year = Filter.onward(self, earlier)
        return year._replace(rise=year.rise * year.curve.clock(years))

    def onward(self, last: Nodes) -> Bridge:
        """Bridge over a year after nodes, without later games."""
        import numpy as np

        year = idle_walk(np.broadcast_to(self.drift, self.mean.shape)[last])
        return year._replace(most=self.ceiling, curve=curve_at(self.curve, last))


Chain = Walk | Line | Filter


def curve_at(curve: Curve, nodes: Nodes) -> Curve:
    """Curves of some nodes."""
    import numpy as np

    return Curve(*(part[nodes] if isinstance(part, np.ndarray) else part for part in curve))


def bridge_of_walk(sd: Array, later_sd: Array, covariance: Array, walked: Array) -> tuple[Array, Array]:
    """`rise` and `bend` of the variance of a walk between two uncertain ends."""
    before, after = sd**2, later_sd**2
    return walked - 2.0 * (before - covariance), before + after - 2.0 * covariance - walked


def chain_columns(chain: str) -> tuple[str, str]:
    """Columns of a chain's mean and sd: `mean`, `sd` of the skill, else e.g. `draw_margin`, `draw_margin_sd`."""
    return ("mean", "sd") if chain == "skill" else (chain, f"{chain}_sd")


def bridge_columns(chain: str) -> tuple[str, ...]:
    """Columns of a chain's change after a span's start: a, m, b, c, d and e of `later_on`, and its curve."""
    mean, sd = chain_columns(chain)
    way = f"{mean}_step", f"{mean}_prior", f"{sd}_rise", f"{sd}_bend", f"{sd}_most", f"{sd}_prior"
    return *way, *curve_columns(chain)


def curve_columns(chain: str) -> tuple[str, ...]:
    """Columns of the parts of a `Curve`, times in periods."""
    mean, sd = chain_columns(chain)
    change = f"{mean}_growth", f"{mean}_growth_periods", f"{mean}_decline", f"{mean}_decline_after"
    return *change, f"{sd}_early", f"{sd}_early_periods"


def later_on(
    columns: Mapping[str, Any], chain: str, ahead: Any, steps: float, by: Operations | None = None
) -> tuple[Any, Any]:
    """Mean and sd of a chain n periods after the starts of spans with these columns; `steps` per year.

    The mean changes by a n, the variance by b n + c n^2; the sd is at most d. With a prior of sd e this is the
    variance without the prior; with its mean m as well, the mean approaches m as the games lose weight. NaN in m, d
    and e: none. With a curve, n is on its clock, and its change of the mean is added.
    """
    by = by or numbers()
    mean, sd = (columns[name] for name in chain_columns(chain))
    step, centre, rise, bend, most, prior, *curve = (columns[name] for name in bridge_columns(chain))
    passed = by.named("passed", Curve(*curve).clock(ahead, by))
    known = by.named("known", by.where(by.is_given(prior), 1.0 / (prior * prior), 0.0))
    learned = by.named("learned", 1.0 / (sd * sd) - known)
    decay = by.named("decay", 1.0 + learned * passed * (rise + passed * bend))
    precision = by.named("precision", known + learned / decay)
    moved = mean + passed * step + Curve(*curve).change(ahead, DECLINE_YEARS * steps, by)
    drawn = centre + (mean - centre) / (decay * sd * sd * precision)
    here = by.named("here", by.is_now(ahead))
    return (
        by.where(by.is_given(centre), by.where(here, moved, drawn), moved),
        by.where(here, sd, by.at_most(precision**-0.5, most)),
    )


def sql_later_on(chain: str, steps: float) -> tuple[str, str]:
    """Mean and sd as SQL, `ahead` periods after the start of a span, by the columns of spans."""
    columns = {name: Text(name) for name in (*chain_columns(chain), *bridge_columns(chain))}
    mean, sd = later_on(columns, chain, Text("ahead"), steps, SQL)
    return str(mean), str(sd)


def javascript_later_on() -> str:
    """JavaScript function for the mean and sd after a player's last game, by the constants of a page."""
    names = {
        "mean": "mean", "sd": "sd", "mean_prior": "PRIOR_MEAN", "sd_rise": "rise", "sd_most": "MOST",
        "sd_prior": "PRIOR_SD",
        "mean_growth": "growth", "mean_growth_periods": "GROWTH_PERIODS", "mean_decline": "DECLINE",
        "mean_decline_after": "declineAfter", "sd_early": "early", "sd_early_periods": "EARLY_PERIODS",
    }  # fmt: skip
    columns: dict[str, Any] = {column: Text(name) for column, name in names.items()}
    lines: list[str] = []
    steps: Any = Text("(1 / D.years[1])")
    columns |= {"mean_step": 0.0, "sd_bend": 0.0}
    mean, sd = later_on(columns, "skill", Text("ahead"), steps, _javascript(lines))
    constants = "\n  ".join(lines)
    return f"""/** So many periods after the last game, with what is left of a career there. */
function onward(mean, sd, ahead, rise, growth = 0, declineAfter = 0, early = 0) {{
  const {{ exp, max, min, pow }} = Math;
  {constants}
  return {{ mean: {mean}, sd: {sd} }};
}}
"""
