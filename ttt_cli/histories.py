"""Formulas of a quantity of a player between periods with games and after the last, for numbers, SQL and JavaScript."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, NamedTuple

DECLINE_YEARS: Final = 60.0  # that skills decline at most: careers are no longer


class Operations(NamedTuple):
    """Operations in the formulas of idle periods, on numbers and arrays or as text.

    - `expm1(x)`: e^x - 1
    - `where(condition, x, y)`: x where the condition is true, else y
    - `between(x, most)`: x limited to 0 and `most`
    - `is_given(x)`: whether x is not NaN (null)
    - `at_most(x, most)`: minimum of x and `most`; x where `most` is not given
    - `is_now(ahead)`: whether no time has passed
    """

    expm1: Callable[..., Any]
    where: Callable[..., Any]
    between: Callable[..., Any]
    is_given: Callable[..., Any]
    at_most: Callable[..., Any]
    is_now: Callable[..., Any]


@cache
def numbers() -> Operations:
    """Operations on numbers and arrays; commands that only look at a run load no numpy."""
    import numpy as np

    return Operations(
        expm1=np.expm1,
        where=np.where,
        between=lambda x, most: np.clip(x, 0.0, most),
        is_given=lambda x: ~np.isnan(x),
        at_most=lambda x, most: np.where(x > most, most, x),
        is_now=lambda ahead: np.equal(ahead, 0),
    )


def _infix(template: str) -> Callable[[Any, Any], Text]:
    return lambda left, right: Text(template.format(left, right))


@dataclass(frozen=True)
class Text:
    """Formula as text, in the common notation of SQL and JavaScript."""

    text: str

    def __str__(self) -> str:
        return self.text

    def __neg__(self) -> Text:
        return Text(f"(-{self})")

    def __pow__(self, power: float) -> Text:
        return Text(f"pow({self}, {power})")

    __add__ = _infix("({} + {})")
    __radd__ = _infix("({1} + {0})")
    __sub__ = _infix("({} - {})")
    __rsub__ = _infix("({1} - {0})")
    __mul__ = _infix("({} * {})")
    __rmul__ = _infix("({1} * {0})")
    __truediv__ = _infix("({} / {})")
    __rtruediv__ = _infix("({1} / {0})")


def _template(template: str) -> Callable[..., Text]:
    return lambda *operands: Text(template.format(*operands))


SQL: Final = Operations(
    expm1=_template("(exp({}) - 1)"),
    where=_template("(CASE WHEN {} THEN {} ELSE {} END)"),
    between=_template("greatest(least({}, {}), 0)"),
    is_given=_template("{} IS NOT NULL"),
    at_most=_template("(CASE WHEN {0} > {1} THEN {1} ELSE {0} END)"),
    is_now=_template("{} = 0"),
)
JAVASCRIPT: Final = Operations(
    expm1=_template("(exp({}) - 1)"),
    where=_template("({} ? {} : {})"),
    between=_template("max(min({}, {}), 0)"),
    is_given=_template("{} !== null"),
    at_most=_template("min({}, {} ?? Infinity)"),
    is_now=_template("{} === 0"),
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

    def declined(
        self, years: Any, most: float = DECLINE_YEARS, by: Operations | None = None
    ) -> Any:
        """E, years."""
        between = (by or numbers()).between
        return between(years - self.decline_after, most) - between(-self.decline_after, most)

    def clock(self, years: Any, by: Operations | None = None) -> Any:
        """A, years."""
        return years - self.early * self.early_years * (by or numbers()).expm1(
            -years / self.early_years
        )

    def after(self, years: Any) -> Curve:
        """The rest of the curve, `years` later."""
        import numpy as np

        return self._replace(
            growth=self.growth * np.exp(-years / self.growth_years),
            decline_after=self.decline_after - years,
            early=self.early * np.exp(-years / self.early_years),
        )

    def by(self, steps: float) -> Curve:
        """The curve in another unit of time, `steps` per year."""
        return Curve(
            self.growth,
            steps * self.growth_years,
            self.decline / steps,
            steps * self.decline_after,
            self.early,
            steps * self.early_years,
        )

    def at(self, nodes: Any) -> Curve:
        """The curves of some nodes."""
        return Curve(*(part[nodes] if getattr(part, "ndim", 0) else part for part in self))


STEADY: Final = Curve()  # nothing happens by itself


def chain_columns(chain: str) -> tuple[str, str]:
    """Columns of a chain's mean and sd: `mean`, `sd` of the skill, else e.g. `draw_margin`, `draw_margin_sd`."""
    return ("mean", "sd") if chain == "skill" else (chain, f"{chain}_sd")


def bridge_columns(chain: str) -> tuple[str, ...]:
    """Columns of a chain's change after a span's start: a, m, b, c, d and e of `later_on`, and its curve."""
    mean, sd = chain_columns(chain)
    bridge = (
        f"{mean}_step",
        f"{mean}_prior",
        f"{sd}_rise",
        f"{sd}_bend",
        f"{sd}_most",
        f"{sd}_prior",
    )
    return *bridge, *curve_columns(chain)


def curve_columns(chain: str) -> tuple[str, ...]:
    """Columns of the parts of a `Curve`, times in periods."""
    mean, sd = chain_columns(chain)
    change = f"{mean}_growth", f"{mean}_growth_periods", f"{mean}_decline", f"{mean}_decline_after"
    return *change, f"{sd}_early", f"{sd}_early_periods"


def later_on(
    columns: Mapping[str, Any], chain: str, ahead: Any, steps: Any, by: Operations | None = None
) -> tuple[Any, Any]:
    """Mean and sd of a chain n periods after the starts of spans with these columns; `steps` per year.

    The mean changes by a n, the variance by b n + c n^2; the sd is at most d. With a prior of sd e this is the
    variance without the prior; with its mean m as well, the mean approaches m as the games lose weight. NaN in m, d
    and e: none. With a curve, n is on its clock, and its change of the mean is added.
    """
    by = by or numbers()
    mean, sd = (columns[name] for name in chain_columns(chain))
    step, centre, rise, bend, most, prior_sd, *parts = (
        columns[name] for name in bridge_columns(chain)
    )
    curve = Curve(*parts)
    passed = curve.clock(ahead, by)
    prior_precision = by.where(by.is_given(prior_sd), 1.0 / (prior_sd * prior_sd), 0.0)
    games_precision = 1.0 / (sd * sd) - prior_precision
    decay = 1.0 + games_precision * passed * (rise + passed * bend)
    precision = prior_precision + games_precision / decay
    moved = mean + passed * step + curve.change(ahead, DECLINE_YEARS * steps, by)
    towards_centre = centre + (mean - centre) / (decay * sd * sd * precision)
    is_now = by.is_now(ahead)
    mean_ahead = by.where(by.is_given(centre), by.where(is_now, moved, towards_centre), moved)
    sd_ahead = by.where(is_now, sd, by.at_most(precision**-0.5, most))
    return mean_ahead, sd_ahead


def sql_later_on(chain: str, steps: float) -> tuple[str, str]:
    """Mean and sd as SQL, `ahead` periods after the start of a span, by the columns of spans."""
    columns = {name: Text(name) for name in (*chain_columns(chain), *bridge_columns(chain))}
    mean, sd = later_on(columns, chain, Text("ahead"), steps, SQL)
    return str(mean), str(sd)


def javascript_later_on() -> str:
    """JavaScript function for the mean and sd after a player's last game, by the constants of a page."""
    names = {
        "mean": "mean", "sd": "sd", "mean_prior": "PRIOR_MEAN", "sd_rise": "rise", "sd_most": "MOST",
        "sd_prior": "PRIOR_SD", "mean_step": "0", "sd_bend": "0",
        "mean_growth": "growth", "mean_growth_periods": "GROWTH_PERIODS", "mean_decline": "DECLINE",
        "mean_decline_after": "declineAfter", "sd_early": "early", "sd_early_periods": "EARLY_PERIODS",
    }  # fmt: skip
    columns = {column: Text(name) for column, name in names.items()}
    mean, sd = later_on(columns, "skill", Text("ahead"), Text("(1 / D.years[1])"), JAVASCRIPT)
    return f"""/** So many periods after the last game, with what is left of a career there. */
function onward(mean, sd, ahead, rise, growth = 0, declineAfter = 0, early = 0) {{
  const {{ exp, max, min, pow }} = Math;
  return {{ mean: {mean}, sd: {sd} }};
}}
"""
