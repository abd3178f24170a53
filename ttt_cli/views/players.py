"""One player: the history, the games with their expected scores, records and upsets; and lists of players."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any, Final, NamedTuple

from ttt_cli.runs.run import Run
from ttt_cli.support.folding import fold
from ttt_cli.views.probability import Outcome, outcomes, params_in
from ttt_cli.views.rows import Rows
from ttt_cli.views.run import run_line, side_names
from ttt_cli.views.text_charts import chart

Sides = tuple[str, str]  # what the side named first and the other are called
_EXACT: Final = 1e-2  # of solutions: expected scores are exact to about 1e-4 then
NEUTRAL: Final = "neutral"  # as what a side is called that has no advantage
_COLOURS: Final[Sides] = ("white", "black")
_DECIMALS: Final = {"score": 3, "expected": 3, "opponents_mean": 1, "mean": 1, "opponent_mean": 1, "p_win": 3}
_IDS: Final = "SELECT player, id FROM names WHERE player IN (?, ?)"
# A table's name as a column is the whole row, as a dict.
_SELECT: Final = """
WITH of AS (
    SELECT period, period_number, date, white_id = {player} AS is_white,
           CASE WHEN white_id = {player} THEN black ELSE white END AS opponent,
           CASE result WHEN '1/2-1/2' THEN 1 WHEN '1-0' THEN 2 ELSE 0 END AS for_white, weight, file, line,
           "offset", neutral
    FROM games WHERE (white_id = {player} OR black_id = {player}) AND {among})
SELECT of.period_number, "offset", of.period, date, is_white, opponent,
       CASE WHEN is_white THEN for_white ELSE 2 - for_white END, weight, file, line, own, their, neutral
FROM of JOIN nodes own ON own.player = ? AND own.period_number = of.period_number
JOIN nodes their ON their.player = opponent AND their.player = coalesce(?, opponent)
    AND their.period_number = of.period_number
ORDER BY of.period_number, date, file, line
"""


class Played(NamedTuple):
    """One game from a player's side. `result`: 0 lost, 1 drawn, 2 won; `chance`: the model's probabilities.

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
    neutral: bool
    chance: Outcome

    def side(self, sides: Sides) -> str:
        """The player's side."""
        return NEUTRAL if self.neutral else sides[0] if self.is_white else sides[1]


def games_of(run: Run, player: str, opponent: str | None = None) -> list[Played]:
    """A player's games, or those against one opponent, by date.

    Probabilities follow from the joint posterior where the run has one. It includes these games, so great results
    look a little less surprising than they were.
    """
    ids: dict[str | None, int] = dict(run.select(_IDS, [player, opponent])[1])
    against = ids.get(opponent, -1)
    among = "true" if opponent is None else f"(white_id = {against} OR black_id = {against})"
    query = _SELECT.format(player=ids.get(player, -1), among=among)
    rows = run.select(query, [player, opponent])[1]
    covariance: dict[tuple[str, int], float] = {}  # by opponent and period
    if rows and run.has_joint:
        pairs = dict.fromkeys((row[5], row[0]) for row in rows)
        met = [[*of_period] for _, of_period in groupby(pairs, key=lambda pair: pair[1])]
        shared = run.joint.shared([(player, of_period[0][1]) for of_period in met], met, _EXACT)
        values = (x for found in shared for x in found.tolist())
        covariance = dict(zip(pairs, values, strict=True))
    played = []
    for (period, neutral), games in groupby(rows, key=lambda row: (row[2], row[-1])):
        some = list(games)
        white = []
        black = []
        for number, offset, *_, is_white, name, _, _, _, _, own, their, _ in some:
            one = run.scale.points(own)
            other = run.scale.points(their)
            if covariance:  # independent skills with this sd have the joint sd of the difference
                variance = 0.5 * (one["sd"] ** 2 + other["sd"] ** 2) - covariance[name, number]
                one["sd"] = other["sd"] = math.sqrt(max(variance, 0.0))
            ahead = 0.5 * run.meta.elo_unit * offset * (1 if is_white else -1)
            one["mean"] = one["mean"] + ahead
            other["mean"] = other["mean"] - ahead
            white.append(one if is_white else other)
            black.append(other if is_white else one)
        params = params_in(run, period) | ({"white_advantage": 0.0} if neutral else {})
        for row, chance in zip(some, outcomes(run.meta.model, params, white, black), strict=True):
            played.append(Played._make((*row[2:], chance if row[4] else chance.turned())))
    return played


class Tally(NamedTuple):
    """Weighted sums over games: all, won, drawn, lost, points, points expected, and the opponents' mean skill."""

    games: float
    wins: float
    draws: float
    losses: float
    points: float
    expected: float
    opponents_mean: float | None

    @property
    def words(self) -> str:
        """The record as `+wins =draws -losses`."""
        return record_words(*self[1:4]) if self.games else "no games"


def tally(games: Iterable[Played]) -> Tally:
    """Add up games."""
    games = list(games)
    losses, draws, wins = (sum(g.weight for g in games if g.result == result) for result in (0, 1, 2))
    total = wins + draws + losses
    strength = sum(g.weight * g.their["mean"] for g in games)
    expected = sum(g.weight * g.chance.expected for g in games)
    return Tally(total, wins, draws, losses, wins + draws / 2, expected, strength / total if total else None)


def record_rows(
    player: str, games: Sequence[Played], title: tuple[str, ...] = (), sides: Sides = _COLOURS
) -> Rows:
    """One row per period for both colours, and one for each colour that was played.

    Columns `player,period,colour,games,wins,draws,losses,score,expected,opponents_mean`; `score` and `expected` are
    per game, `colour` is both, one of `sides`, or neutral.
    """
    rows = []
    for period, of_period in groupby(games, lambda game: game.period):
        played = list(of_period)
        shares = {"both": played}
        shares |= {side: [g for g in played if g.side(sides) == side] for side in (*sides, NEUTRAL)}
        for colour, some in shares.items():
            if some:
                sums = tally(some)
                means = sums.points / sums.games, sums.expected / sums.games, sums.opponents_mean
                rows.append((player, period, colour, *sums[:4], *means))
    counted = ("games", "wins", "draws", "losses", "score", "expected", "opponents_mean")
    return Rows(("player", "period", "colour", *counted), rows, title, _DECIMALS, frozenset({"player"}))


def record_words(wins: float, draws: float, losses: float) -> str:
    """`+wins =draws -losses`."""
    return f"+{wins:.10g} ={draws:.10g} -{losses:.10g}"


def upset_rows(
    player: str, games: Sequence[Played], title: tuple[str, ...] = (), sides: Sides = _COLOURS
) -> Rows:
    """Wins with an expected score below a half, the least likely win first.

    Columns `player,date,opponent,p_win,colour,mean,opponent_mean,file,line`; skills of the game's period.
    """
    won = [game for game in games if game.result == 2 and game.chance.expected < 0.5]
    rows = []
    for game in sorted(won, key=lambda game: (game.chance.win, game.date)):
        found = game.date, game.opponent, game.chance.win, game.side(sides)
        rows.append((player, *found, game.own["mean"], game.their["mean"], game.file, game.line))
    columns = ("player", "date", "opponent", "p_win", "colour", "mean", "opponent_mean", "file", "line")
    return Rows(columns, rows, title, _DECIMALS, frozenset({"player"}))


def best_period(games: Sequence[Played]) -> tuple[str, Tally] | None:
    """The period with the most points above expectation; None without games."""
    sums = [(period, tally(played)) for period, played in groupby(games, lambda game: game.period)]
    return max(sums, key=lambda one: one[1].points - one[1].expected, default=None)


_SKILL_DECIMALS: Final = dict.fromkeys(
    ("mean", "sd", "draw_margin", "draw_margin_sd", "peak_mean", "peak_sd"), 1
)
_SKILLS: Final = "SELECT * EXCLUDE (period_number) FROM skills WHERE player = ? ORDER BY period_number"
_LISTED: Final = 'SELECT player, "first", "last", games, peak_mean, peak_sd, peak_period FROM players'


class PlayerView(NamedTuple):
    """A player's rows and a `note` on other players who share the name."""

    player: str
    rows: Rows
    note: str


def player_view(run: Run, name: str) -> PlayerView:
    """The history of a player by name: `player,period,mean,sd,games` and further columns. Raises LookupFailed."""
    with run:
        found = run.find_player(name)
        columns, rows = run.select(_SKILLS, [found.player])
        keys, records = run.select("SELECT * FROM players WHERE player = ?", [found.player])
    facts = dict(zip(keys, records[0], strict=True))
    title = found.player, facts_line(facts), run_line(run)
    table = Rows(columns, rows, title, _SKILL_DECIMALS, frozenset({"player"}))
    return PlayerView(found.player, table, found.note)


def player_games(run: Run, player: str, *, short: bool = False, most: int | None = None) -> tuple[Rows, Rows]:
    """Record and upsets of a player, named as in the run.

    `short`: the record for terminals, a row per period with the records by side as `+wins =draws -losses`. `most`: only
    so many upsets, and not where they were read.
    """
    games = games_of(run, player)
    sides = side_names(run)
    sums = tally(games)
    best = best_period(games)
    title = [f"{player}: {sums.words}"]
    if best is not None:
        period, won = best
        share = f"{won.points:g} of {won.games:g}, {won.points - won.expected:+.1f} on expectation"
        title.append(f"opponents' mean {sums.opponents_mean:.0f}; best {run.meta.period} {period}: {share}")
    record = record_rows(player, games, tuple(title), sides)
    upsets = upset_rows(player, games, ("Wins against the odds",), sides)
    if most is not None:
        upsets = replace(upsets, rows=[*upsets.rows][:most], hidden=upsets.hidden | {"file", "line"})
    if not short:
        return record, upsets
    records = {(row[1], row[2]): record_words(*row[4:7]) for row in record.rows}
    shown = (*sides, NEUTRAL) if any(colour == NEUTRAL for _, colour in records) else sides
    rows = []
    for _, at, colour, _, _, _, _, *means in record.rows:
        if colour == "both":
            rows.append(
                (player, at, records[at, "both"], *means, *(records.get((at, side), "") for side in shown))
            )
    colours = (side if side == NEUTRAL else f"as_{side}" for side in shown)
    columns = ("player", "period", "record", "score", "expected", "opponents_mean", *colours)
    return replace(record, columns=columns, rows=rows), upsets


def player_chart(rows: Rows, *, width: int) -> list[str]:
    """The history as a line with its band of one sd, in lines of text; empty when there is no room for it."""
    period, mean, sd = (rows.columns.index(key) for key in ("period", "mean", "sd"))
    history = list(rows.rows)
    if not history:
        return []
    ends = history[0][period], history[-1][period]
    means = [row[mean] for row in history]
    sds = [row[sd] or 0.0 for row in history]
    return chart(means, sds, ends, width=width)


def facts_line(facts: Mapping[str, Any]) -> str:
    """Years, record and peak, from a row of the run's `players`."""
    if facts["first"] is None:
        return "no games"
    years = facts["first"] if facts["first"] == facts["last"] else f"{facts['first']}-{facts['last']}"
    games = "1 game" if facts["games"] == 1 else f"{facts['games']:.10g} games"
    record = record_words(facts["wins"], facts["draws"], facts["losses"])
    certainty = "" if facts["peak_sd"] is None else f" +- {facts['peak_sd']:.0f}"
    peak = f"peak {facts['peak_mean']:.0f}{certainty} in {facts['peak_period']}"
    return f"{years}, {games} ({record}), {peak}"


def players_rows(
    run: Run,
    pattern: str = "",
    *,
    since: int | None = None,
    until: int | None = None,
    min_games: float = 0.0,
    number: int | None = None,
) -> Rows:
    """Players by number of games: `player,first,last,games,peak_mean,peak_sd,peak_period`.

    `pattern`: words that are parts of the name, accents, case and order aside. `since`, `until`: years between which
    the player's first to last period lies at least in part. `number` None: all.
    """
    given = [
        ("games >= ?", min_games),
        ('CAST(substr("last", 1, 4) AS INTEGER) >= ?', since),
        ('CAST(substr("first", 1, 4) AS INTEGER) <= ?', until),
        *(("contains(folded, ?)", word) for word in fold(pattern).split() or pattern.split()),
    ]
    given = [one for one in given if one[1] is not None]
    where = " AND ".join(condition for condition, _ in given)
    values = [value for _, value in given]
    (count,), *_ = run.select(f"SELECT count(*) FROM players WHERE {where}", values)[1]
    shown = count if number is None else min(count, number)
    sql = f"{_LISTED} WHERE {where} ORDER BY games DESC, player LIMIT ?"
    columns, rows = run.stream(sql, [*values, number])
    title = (f"{shown:,} of {run.meta.players:,} players", run_line(run))
    return Rows(columns, rows, title, _SKILL_DECIMALS)
