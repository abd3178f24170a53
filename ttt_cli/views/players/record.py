"""A player's games, each with what was to be expected of it: records, upsets, the best period."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Final

from ttt_cli.runs.run import Run
from ttt_cli.views.players.probability import Outcome, outcomes, params_in
from ttt_cli.views.rows import Rows

Row = Mapping[str, Any]
Sides = tuple[str, str]  # what the side named first and the other are called
NEUTRAL: Final = "neutral"  # as what a side is called that has no advantage
_COLOURS: Final[Sides] = ("white", "black")
_DECIMALS: Final = {"score": 3, "expected": 3, "opponents_mean": 1, "mean": 1, "opponent_mean": 1, "p_win": 3}
_IDS: Final = "SELECT player, id FROM names WHERE player IN (?, ?)"
# A table's name as a column is the whole row, as a dict.
_SELECT: Final = """
WITH of AS (
    SELECT period, period_number, date, white_id = ? AS is_white,
           CASE WHEN white_id = ? THEN black ELSE white END AS opponent,
           CASE result WHEN '1/2-1/2' THEN 1 WHEN '1-0' THEN 2 ELSE 0 END AS for_white, weight, file, line,
           "offset", neutral
    FROM games WHERE (white_id = ? OR black_id = ?) {further})
SELECT of.period, date, is_white, opponent, CASE WHEN is_white THEN for_white ELSE 2 - for_white END, weight,
       file, line, own, their, "offset", neutral
FROM of JOIN nodes own ON own.player = ? AND own.period_number = of.period_number
JOIN nodes their ON their.player = opponent {one} AND their.period_number = of.period_number
ORDER BY of.period_number, date, file, line
"""


@dataclass(frozen=True)
class Played:
    """One game from a player's side. `result`: 0 lost, 1 drawn, 2 won; `chance` was the model's for it.

    `own` and `their` are the players' rows of skills in the game's period.
    """

    period: str
    date: str
    is_white: bool
    opponent: str
    result: int
    weight: float
    file: str | None
    line: int | None
    own: dict[str, Any]
    their: dict[str, Any]
    chance: Outcome
    neutral: bool = False


def games_of(run: Run, player: str, opponent: str | None = None) -> list[Played]:
    """A player's games, or those against one opponent, by date.

    Chances are those of the run's skills, which know these games too: great results look a little less surprising
    than they were.
    """
    ids: dict[str | None, int] = dict(run.query(_IDS, [player, opponent])[1])
    own, their = ids.get(player, -1), ids.get(opponent, -1)
    further, values = ("", []) if opponent is None else ("AND (white_id = ? OR black_id = ?)", [their, their])
    one, named = (
        ("", []) if opponent is None else ("AND their.player = ?", [opponent])
    )  # not all nodes are read
    _, rows = run.query(_SELECT.format(further=further, one=one), [*[own] * 4, *values, player, *named])
    chances: list[Outcome] = []
    for (period, neutral), group in groupby(rows, key=lambda row: (row[0], row[-1])):
        sides = zip(*(_strengths(run, *row[2:3], *row[8:11]) for row in group), strict=True)
        params = params_in(run, period) | ({"white_advantage": 0.0} if neutral else {})
        chances += outcomes(run.meta.model, params, *sides)
    return [
        Played(*(*row[:10], chance if row[2] else chance.turned(), row[-1]))
        for row, chance in zip(rows, chances, strict=True)
    ]


def _strengths(run: Run, is_white: bool, own: Row, their: Row, offset: float) -> tuple[Row, Row]:
    """White's and Black's, points, with the odds of their game."""
    half = 0.5 * run.meta.elo_unit * offset
    white, black = (run.scale.points(one) for one in ((own, their) if is_white else (their, own)))
    return {**white, "mean": white["mean"] + half}, {**black, "mean": black["mean"] - half}


@dataclass(frozen=True)
class Tally:
    """Weighted sums over games: all, won, drawn, lost, points, points expected, and the opponents' mean skill."""

    games: float
    wins: float
    draws: float
    losses: float
    points: float
    expected: float
    opponents_mean: float | None

    @property
    def means(self) -> tuple[float | None, float | None, float | None]:
        """Points and points expected per game, and the opponents' mean skill; None without games."""
        if not self.games:
            return None, None, None
        return self.points / self.games, self.expected / self.games, self.opponents_mean


def tally(games: Iterable[Played]) -> Tally:
    """Add up games."""
    games = list(games)
    losses, draws, wins = (sum(g.weight for g in games if g.result == result) for result in (0, 1, 2))
    total = wins + draws + losses
    strength = sum(g.weight * g.their["mean"] for g in games)
    expected = sum(g.weight * g.chance.expected for g in games)
    return Tally(total, wins, draws, losses, wins + draws / 2, expected, strength / total if total else None)


def by_period(games: Sequence[Played]) -> dict[str, list[Played]]:
    """Games by their period, in order."""
    periods: dict[str, list[Played]] = {}
    for game in games:
        periods.setdefault(game.period, []).append(game)
    return periods


def record_rows(
    player: str, games: Sequence[Played], title: tuple[str, ...] = (), sides: Sides = _COLOURS
) -> Rows:
    """One row per period for both colours, or what the `sides` are called, and one for each that was played.

    Columns `player,period,colour,games,wins,draws,losses,score,expected,opponents_mean`; `score` and `expected` are
    per game, `colour` is both, white or black, or neutral where nobody has the advantage.
    """
    rows = []
    for period, played in by_period(games).items():
        shares = {
            "both": played,
            **{side: [g for g in played if _side(g, sides) == side] for side in (*sides, NEUTRAL)},
        }
        for colour, some in shares.items():
            if some:
                sums = tally(some)
                counts = sums.games, sums.wins, sums.draws, sums.losses
                rows.append((player, period, colour, *counts, *sums.means))
    counted = ("games", "wins", "draws", "losses", "score", "expected", "opponents_mean")
    return Rows(("player", "period", "colour", *counted), rows, title, _DECIMALS, frozenset({"player"}))


def record_table(
    player: str, games: Sequence[Played], title: tuple[str, ...] = (), sides: Sides = _COLOURS
) -> Rows:
    """For the eye: one row per period with the records by side and on neutral ground, `+wins =draws -losses`."""
    shown = (*sides, NEUTRAL) if any(g.neutral for g in games) else sides
    rows = []
    for period, played in by_period(games).items():
        sums = tally(played)
        colours = (tally(g for g in played if _side(g, sides) == side) for side in shown)
        rows.append((player, period, record_words(sums), *sums.means, *map(record_words, colours)))
    columns = (
        "player",
        "period",
        "record",
        "score",
        "expected",
        "opponents_mean",
        *(side if side == NEUTRAL else f"as_{side}" for side in shown),
    )
    return Rows(columns, rows, title, _DECIMALS, frozenset({"player"}))


def _side(game: Played, sides: Sides) -> str:
    """What the player's side in a game is called."""
    return NEUTRAL if game.neutral else sides[0] if game.is_white else sides[1]


def record_words(sums: Tally) -> str:
    """`+wins =draws -losses`; empty without games."""
    return f"+{sums.wins:.10g} ={sums.draws:.10g} -{sums.losses:.10g}" if sums.games else ""


def upset_rows(
    player: str, games: Sequence[Played], title: tuple[str, ...] = (), sides: Sides = _COLOURS
) -> Rows:
    """Wins that were less likely than not, the least likely first.

    Columns `player,date,opponent,p_win,colour,mean,opponent_mean,file,line`; skills of the game's period.
    """
    won = sorted(
        (g for g in games if g.result == 2 and g.chance.win < 0.5), key=lambda g: (g.chance.win, g.date)
    )
    rows = [
        (
            *(player, g.date, g.opponent, g.chance.win, _side(g, sides)),
            *(g.own["mean"], g.their["mean"], g.file, g.line),
        )
        for g in won
    ]
    columns = ("player", "date", "opponent", "p_win", "colour", "mean", "opponent_mean", "file", "line")
    return Rows(columns, rows, title, _DECIMALS, frozenset({"player"}))


def best_period(games: Sequence[Played]) -> tuple[str, Tally] | None:
    """The period in which a player scored most above what the model expected, in points; None without games."""
    sums = {period: tally(played) for period, played in by_period(games).items()}
    if not sums:
        return None
    best = max(sums, key=lambda period: sums[period].points - sums[period].expected)
    return best, sums[best]
