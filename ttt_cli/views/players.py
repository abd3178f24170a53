"""One player: the history, the games with their expected scores, records and upsets; and lists of players."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any, Final, NamedTuple

from ttt_cli.runs.run import Run
from ttt_cli.support.errors import LookupFailed
from ttt_cli.support.folding import fold
from ttt_cli.views.columns import Described, column_names
from ttt_cli.views.people import RunPeople
from ttt_cli.views.player_filter import find_filter
from ttt_cli.views.probability import Outcome, outcomes, params_in
from ttt_cli.views.rows import Rows
from ttt_cli.views.run import run_line
from ttt_cli.views.sides import CHESS_WORDS, NEUTRAL, GameWords, game_words
from ttt_cli.views.text_charts import chart

_EXACT: Final = 1e-2  # of solutions: expected scores are exact to about 1e-4 then
_DECIMALS: Final = {
    "score": 3,
    "expected": 3,
    "opponents_mean": 1,
    "mean": 1,
    "opponent_mean": 1,
    "p_win": 3,
}
_IDS: Final = "SELECT player, id FROM names WHERE player IN (?, ?)"
# The games of a player (the first ?), perhaps against one opponent (the second, else NULL): the fields of `_GameRow`
_SELECT: Final = """
WITH played AS (
    SELECT period, period_number, date, event, white_id = {player} AS is_white,
           CASE WHEN white_id = {player} THEN black ELSE white END AS opponent,
           CASE result WHEN '1/2-1/2' THEN 1 WHEN '1-0' THEN 2 ELSE 0 END AS for_white, weight, file, line,
           "offset" * {unit} + covariate_points AS given, neutral{category}
    FROM games WHERE (white_id = {player} OR black_id = {player}) AND {among})
SELECT played.period_number, given, played.period, date, is_white, opponent,
       CASE WHEN is_white THEN for_white ELSE 2 - for_white END, weight, file, line,
       strength, opponent_strength,  -- whole rows of nodes, as dicts
       neutral, played.category, played.event
FROM played JOIN {strengths} strength ON strength.player = ? AND strength.period_number = played.period_number
JOIN {strengths} opponent_strength ON opponent_strength.player = opponent
    AND opponent_strength.player = coalesce(?, opponent) AND opponent_strength.period_number = played.period_number
{alike}ORDER BY played.period_number, date, file, line
"""

_ALIKE: Final = {"category": ", '' AS category", "strengths": "nodes", "alike": ""}
# Where categories of games have skills of their own, games are those of these skills
_BY_CATEGORY: Final = {
    "category": ", CASE WHEN category IN (SELECT category FROM category_nodes) THEN category ELSE '' END AS category",
    "strengths": "(FROM category_nodes UNION ALL BY NAME SELECT *, '' AS category FROM nodes)",
    "alike": "WHERE strength.category = played.category AND opponent_strength.category = played.category\n",
}

_RECORDS: Final = """
SELECT period, coalesce(sum(weight) FILTER (won > 0), 0), coalesce(sum(weight) FILTER (won = 0), 0),
       coalesce(sum(weight) FILTER (won < 0), 0)
FROM (SELECT period, weight, CASE result WHEN '1/2-1/2' THEN 0 WHEN '1-0' THEN 1 ELSE -1 END
             * CASE WHEN {is_black} THEN -1 ELSE 1 END AS won
      FROM {games})
GROUP BY period HAVING sum(weight) > 0
"""
_OF_PLAYER: Final = {"is_black": "black = $1", "games": "games WHERE white = $1 OR black = $1"}
_OF_MEMBER: Final = {  # also of a team
    "is_black": "is_black",
    "games": "games JOIN game_players USING (game) JOIN names ON id = player_id WHERE player = $1",
}
# With teams or orders of finish: skills of a player, his games (`_GameOfSides`), both sides of each (`_SideOfGame`)
_SKILLS_OF_PERIODS: Final = "SELECT period_number, nodes FROM nodes WHERE player = ?"
_SIDE_GAMES: Final = """
SELECT game, period, period_number, date, white, black, file, line, event FROM games
WHERE game IN (SELECT game FROM game_players JOIN names ON id = player_id WHERE player = ?)
"""
_SIDES: Final = """
SELECT game, is_black, avg(mean), list(names.player) FROM games JOIN game_players USING (game)
JOIN names ON id = player_id JOIN nodes ON nodes.player = names.player AND nodes.period_number = games.period_number
WHERE game IN (SELECT game FROM game_players JOIN names ON id = player_id WHERE player = ?) GROUP BY ALL
"""


class GameOfPlayer(NamedTuple):
    """One game from a player's side. `result`: 0 lost, 1 drawn, 2 won; `chance`: the model's probabilities.

    `strength` and `opponent_strength` are the players' rows of skills in the game's period, on the shown scale.
    """

    period: str
    date: str
    is_white: bool
    opponent: str
    result: int
    weight: float
    file: str | None
    line: int | None
    strength: dict[str, Any]
    opponent_strength: dict[str, Any]
    neutral: bool
    chance: Outcome
    event: str | None = None

    def side(self, words: GameWords) -> str:
        """The player's side."""
        if self.neutral:
            return NEUTRAL
        return words.first if self.is_white else words.second


class _GameRow(NamedTuple):
    """A row of `_SELECT`; as in `GameOfPlayer`, with what the model needs.

    `given`: points added to White's strength, by handicaps and covariates. `category`: that of the skills, or empty.
    """

    period_number: int
    given: float
    period: str
    date: str
    is_white: bool
    opponent: str
    result: int
    weight: float
    file: str | None
    line: int | None
    strength: dict[str, Any]
    opponent_strength: dict[str, Any]
    neutral: bool
    category: str
    event: str | None


_Covariances = dict[tuple[str, int], float]  # by opponent and number of the period


def games_of(run: Run, player: str, opponent: str | None = None) -> list[GameOfPlayer]:
    """A player's games, or those against one opponent, by date.

    Probabilities follow from the joint posterior where the run has one. It includes these games, so great results
    look a little less surprising than they were.
    """
    if run.has_sums:
        return _games_of_sides(run, player, opponent)
    rows = _select_games(run, player, opponent)
    covariances = _covariances_by_category(run, player, rows) if run.has_joint else {}
    played = []
    for (period, neutral), group in groupby(rows, key=lambda row: (row.period, row.neutral)):
        games = list(group)
        params = params_in(run, period)
        if neutral:
            params = {**params, "white_advantage": 0.0}
        chances_of_white = _chances_of_white(run, games, params, covariances)
        for game, as_white in zip(games, chances_of_white, strict=True):
            chance = as_white if game.is_white else as_white.turned()
            played.append(
                GameOfPlayer(
                    game.period, game.date, game.is_white, game.opponent, game.result, game.weight, game.file,
                    game.line, game.strength, game.opponent_strength, game.neutral, chance, game.event,
                )
            )  # fmt: skip
    return played


class _GameOfSides(NamedTuple):
    """A row of `_SIDE_GAMES`: a game in which sides may be teams."""

    game: int
    period: str
    period_number: int
    date: str
    white: str
    black: str
    file: str | None
    line: int | None
    event: str | None


class _SideOfGame(NamedTuple):
    """A row of `_SIDES`: a side of a game, the mean skill of its members, and their names."""

    game: int
    is_black: bool
    mean: float
    members: list[str]


def _games_of_sides(run: Run, player: str, opponent: str | None) -> list[GameOfPlayer]:
    """`games_of` of a run with teams or orders of finish: members are taken as independent."""
    from ttt_cli.views.history.played import played_games

    played = played_games(run)
    ids: dict[str, int] = dict(run.select(_IDS, [player, opponent])[1])
    if player not in ids:
        return []
    sides = played.of(ids[player])
    sides_of_games = [_SideOfGame(*row) for row in run.select(_SIDES, [player])[1]]
    side_of_game = {(side.game, side.is_black): side for side in sides_of_games}
    rows = [_GameOfSides(*row) for row in run.select(_SIDE_GAMES, [player])[1]]
    row_of_game = {row.game: row for row in rows}
    skill: dict[int, dict[str, Any]] = dict(run.select(_SKILLS_OF_PERIODS, [player])[1])
    games = []
    for game, is_second, outcome, (loss, draw, win) in zip(
        sides.game.tolist(),
        sides.is_second.tolist(),
        sides.outcome.tolist(),
        sides.chance.tolist(),
        strict=True,
    ):
        other_side = side_of_game[game, not is_second]
        if opponent is not None and opponent not in other_side.members:
            continue
        row = row_of_game[game]
        games.append(
            GameOfPlayer(
                period=row.period,
                date=row.date,
                is_white=not is_second,
                opponent=row.white if is_second else row.black,
                result=outcome,
                weight=float(played.weight[game]),
                file=row.file,
                line=row.line,
                strength=skill[row.period_number],
                opponent_strength={"mean": other_side.mean},
                neutral=bool(played.neutral[game]),
                chance=Outcome(win, draw, loss),
                event=row.event,
            )
        )
    return games


def _select_games(run: Run, player: str, opponent: str | None) -> list[_GameRow]:
    """The rows of a player's games, or those against one opponent, by date."""
    ids: dict[str | None, int] = dict(run.select(_IDS, [player, opponent])[1])
    against = ids.get(opponent, -1)
    among = "true" if opponent is None else f"(white_id = {against} OR black_id = {against})"
    by_category = _BY_CATEGORY if run.categories and run.category is None else _ALIKE
    query = _SELECT.format(
        player=ids.get(player, -1), among=among, unit=repr(run.meta.elo_unit), **by_category
    )
    return [_GameRow(*row) for row in run.select(query, [player, opponent])[1]]


def _chances_of_white(
    run: Run,
    games: Sequence[_GameRow],
    params: Mapping[str, Any],
    covariances: Mapping[str, _Covariances],
) -> list[Outcome]:
    """White's chances in games that have the same parameters; `covariances` by category of the skills."""
    white = []
    black = []
    for game in games:
        covariance = covariances.get(game.category, {}).get((game.opponent, game.period_number))
        strength, opponent_strength = _strengths(run, game, covariance)
        white.append(strength if game.is_white else opponent_strength)
        black.append(opponent_strength if game.is_white else strength)
    return outcomes(run.meta.model, params, white, black)


def _covariances_by_category(
    run: Run, player: str, rows: Sequence[_GameRow]
) -> dict[str, _Covariances]:
    """The covariances of the player's skill with those of opponents, by category of the skills."""
    return {
        category: _covariances(
            run.in_category(category) if category else run,
            player,
            [row for row in rows if row.category == category],
        )
        for category in {row.category for row in rows}
    }


def _covariances(run: Run, player: str, games: Sequence[_GameRow]) -> _Covariances:
    """Covariances of a player's skill with those of opponents, in points^2."""
    # Rows are in the order of the periods, so the pairs are, too.
    pairs = dict.fromkeys((game.opponent, game.period_number) for game in games)
    opponents = [list(group) for _, group in groupby(pairs, key=lambda pair: pair[1])]
    players = [(player, of_period[0][1]) for of_period in opponents]
    shared = run.joint.shared(players, opponents, _EXACT)
    covariances = [covariance for of_period in shared for covariance in of_period.tolist()]
    return dict(zip(pairs, covariances, strict=True))


def _strengths(
    run: Run, game: _GameRow, covariance: float | None
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The strengths of player and opponent in a game in points of the model, handicap included.

    Where their covariance is known, both get one sd: independent skills with it have the joint sd of the difference.
    """
    strength = run.scale.points(game.strength)
    opponent_strength = run.scale.points(game.opponent_strength)
    if covariance is not None:
        variance = 0.5 * (strength["sd"] ** 2 + opponent_strength["sd"] ** 2) - covariance
        sd = math.sqrt(max(variance, 0.0))
        strength["sd"] = sd
        opponent_strength["sd"] = sd
    advantage = 0.5 * game.given * (1 if game.is_white else -1)
    strength["mean"] += advantage
    opponent_strength["mean"] -= advantage
    return strength, opponent_strength


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
        return record_words(self.wins, self.draws, self.losses) if self.games else "no games"


def tally(games: Iterable[GameOfPlayer]) -> Tally:
    """Add up games."""
    games = list(games)
    losses, draws, wins = (
        sum(game.weight for game in games if game.result == result) for result in (0, 1, 2)
    )
    total = wins + draws + losses
    expected = sum(game.weight * game.chance.expected for game in games)
    strength_sum = sum(game.weight * game.opponent_strength["mean"] for game in games)
    opponents_mean = strength_sum / total if total else None
    return Tally(total, wins, draws, losses, wins + draws / 2, expected, opponents_mean)


RECORD_COLUMNS: Final = (
    Described("player", "", "name"),
    Described("period", "", "the period"),
    Described("colour", "", "`both`, one of the sides, or `neutral`"),
    Described("games", "games", "games of the player"),
    Described("wins", "games", "games won"),
    Described("draws", "games", "games drawn"),
    Described("losses", "games", "games lost"),
    Described("score", "points of games", "points scored, per game"),
    Described("expected", "points of games", "points expected by the skills, per game"),
    Described("opponents_mean", "points", "mean skill of the opponents"),
)
UPSET_COLUMNS: Final = (
    Described("player", "", "name of the winner"),
    Described("date", "", "date of the game, as far as it is known"),
    Described("opponent", "", "name of the loser"),
    Described("p_win", "probability", "of this win"),
    Described("colour", "", "the winner's side, or `neutral`"),
    Described("mean", "points", "skill of the winner in the period"),
    Described("opponent_mean", "points", "skill of the loser in the period"),
    Described("event", "", "event, empty for none"),
    Described("file", "", "file of the game"),
    Described("line", "", "line of the game in the file", value_type="integer"),
)


def record_rows(
    player: str,
    games: Sequence[GameOfPlayer],
    title: tuple[str, ...] = (),
    words: GameWords = CHESS_WORDS,
) -> Rows:
    """One row per period for both colours, and one for each colour that was played.

    Columns are `RECORD_COLUMNS`, with `side` for `colour` in other sports.
    """
    rows = []
    for period, group in groupby(games, lambda game: game.period):
        played = list(group)
        by_colour = {"both": played}
        for side in words.labels:
            by_colour[side] = [game for game in played if game.side(words) == side]
        for colour, of_colour in by_colour.items():
            if of_colour:
                sums = tally(of_colour)
                counts = (sums.games, sums.wins, sums.draws, sums.losses)
                means = (sums.points / sums.games, sums.expected / sums.games, sums.opponents_mean)
                rows.append((player, period, colour, *counts, *means))
    columns = column_names(RECORD_COLUMNS)
    return words.renamed(Rows(columns, rows, title, _DECIMALS, frozenset({"player"})))


def record_words(wins: float, draws: float, losses: float) -> str:
    """`+wins =draws -losses`."""
    return f"+{wins:.10g} ={draws:.10g} -{losses:.10g}"


def upset_rows(
    player: str,
    games: Sequence[GameOfPlayer],
    title: tuple[str, ...] = (),
    words: GameWords = CHESS_WORDS,
) -> Rows:
    """Wins with an expected score below a half, the least likely win first.

    Columns are `UPSET_COLUMNS`, with `side` for `colour` in other sports.
    """
    upsets = [game for game in games if game.result == 2 and game.chance.expected < 0.5]
    rows = []
    for game in sorted(upsets, key=lambda game: (game.chance.win, game.date)):
        win = (game.date, game.opponent, game.chance.win, game.side(words))
        means = (game.strength["mean"], game.opponent_strength["mean"])
        rows.append((player, *win, *means, game.event, game.file, game.line))
    hidden = frozenset({"player", "file", "line"})
    return words.renamed(Rows(column_names(UPSET_COLUMNS), rows, title, _DECIMALS, hidden))


class PeriodTally(NamedTuple):
    """A period, and the sums over its games."""

    period: str
    sums: Tally

    @property
    def gain(self) -> float:
        """Points above expectation."""
        return self.sums.points - self.sums.expected


def best_period(games: Sequence[GameOfPlayer]) -> PeriodTally | None:
    """The period with the most points above expectation; None without games."""
    by_period = groupby(games, lambda game: game.period)
    tallies = [PeriodTally(period, tally(played)) for period, played in by_period]
    return max(tallies, key=lambda period_tally: period_tally.gain, default=None)


_SKILL_DECIMALS: Final = dict.fromkeys(
    ("mean", "sd", "draw_margin", "draw_margin_sd", "peak_mean", "peak_sd"), 1
)
_SKILLS: Final = (
    "SELECT * EXCLUDE (period_number) FROM skills WHERE player = ? ORDER BY period_number"
)
LISTED_COLUMNS: Final = (
    Described("player", "", "name"),
    Described("first", "", "period of the first game", nullable=True),
    Described("last", "", "period of the last game", nullable=True),
    Described("games", "games", "games in all"),
    Described("peak_mean", "points", "highest skill in a period with games"),
    Described("peak_sd", "points", "its uncertainty, one sd"),
    Described("peak_period", "", "its period", nullable=True),
)
_LISTED: Final = (
    "SELECT " + ", ".join(f'"{name}"' for name in column_names(LISTED_COLUMNS)) + " FROM players"
)


class PlayerView(NamedTuple):
    """A player's rows and a `note` on other players who share the name."""

    player: str
    rows: Rows
    note: str


def player_view(
    run: Run, name: str, since: int | None = None, until: int | None = None
) -> PlayerView:
    """The history of a player by name: `player,period,mean,sd,games` and further columns.

    `since`, `until`: years of the periods (None: any). Raises LookupFailed, also without a period in them.
    """
    with run:
        match = run.find_player(name)
        columns, rows = run.select(_SKILLS, [match.player])
        keys, records = run.select("SELECT * FROM players WHERE player = ?", [match.player])
        about = RunPeople(run).facts_line(match.player)
    facts = dict(zip(keys, records[0], strict=True))
    history = [dict(zip(columns, row, strict=True)) for row in rows]
    games = {row["period"]: row["games"] for row in history}
    position = columns.index("period")
    rows = [row for row in rows if _in_years(row[position], since, until)]
    if not rows and (since is not None or until is not None):
        raise LookupFailed(f"{match.player} has no skill in these years", hint=facts_line(facts))
    career = facts_line(facts, games.get(facts["peak_period"]))
    above = (match.player, *([about] if about else []), career)
    remark = peak_remark(history, run.meta.period)
    title = tuple(line for line in (*above, remark, run_line(run)) if line)
    hidden = frozenset({"player"})
    table = Rows(columns, rows, title, _SKILL_DECIMALS, hidden, title_above=len(above))
    return PlayerView(match.player, table, match.note)


def peak_remark(history: Sequence[Mapping[str, Any]], period: str) -> str:
    """What a peak is, where a period without games has a higher skill; else empty."""
    highest = max(history, key=lambda row: float(row["mean"]))
    if highest["games"]:
        return ""
    return f"the peak is that of {period}s with games; {highest['period']}, higher, has none"


def _in_years(period: str, since: int | None, until: int | None) -> bool:
    """Whether the year of a period lies between two (None: any)."""
    year = int(period[:4])
    return (since is None or year >= since) and (until is None or year <= until)


def player_games(
    run: Run,
    player: str,
    *,
    short: bool = False,
    since: int | None = None,
    until: int | None = None,
) -> tuple[Rows, Rows]:
    """Record and upsets of a player, named as in the run.

    `short`: the record for terminals, a row per period with the records by side as `+wins =draws -losses`. `since`,
    `until`: years of the games.
    """
    games = [game for game in games_of(run, player) if _in_years(game.period, since, until)]
    words = game_words(run)
    sums = tally(games)
    best = best_period(games)
    title = [f"{player}: {sums.words}"]
    if best is not None:
        score = f"{best.sums.points:g} of {best.sums.games:g}, {best.gain:+.1f} on expectation"
        opponents_mean = f"opponents' mean {sums.opponents_mean:.0f}"
        title.append(f"{opponents_mean}; best {run.meta.period} {best.period}: {score}")
    record = record_rows(player, games, tuple(title), words)
    upsets = upset_rows(player, games, ("Wins against the odds",), words)
    return (short_record(record, words) if short else record), upsets


def with_record(run: Run, player: str, history: Rows) -> Rows:
    """A history of a player with the record, as `+wins =draws -losses`, and the score per game of each period."""
    with run:
        query = _RECORDS.format(**(_OF_MEMBER if run.has_sums else _OF_PLAYER))
        records = {period: counts for period, *counts in run.select(query, [player])[1]}
    position = history.columns.index("games") + 1
    rows = []
    for row in history.rows:
        cells: tuple[Any, ...] = (None, None)
        counts = records.get(row[history.columns.index("period")])
        if counts is not None:
            wins, draws, losses = counts
            cells = (
                record_words(wins, draws, losses),
                (wins + draws / 2) / (wins + draws + losses),
            )
        rows.append((*row[:position], *cells, *row[position:]))
    columns = (*history.columns[:position], "record", "score", *history.columns[position:])
    return replace(history, columns=columns, rows=rows, decimals={**history.decimals, "score": 3})


def short_record(record: Rows, words: GameWords) -> Rows:
    """A row per period of a table of `record_rows`, with the records by side as `+wins =draws -losses`."""
    cells = list(record.records())
    counts = {
        (row["period"], row[words.column]): record_words(row["wins"], row["draws"], row["losses"])
        for row in cells
    }
    has_neutral = any(side == NEUTRAL for _, side in counts)
    sides = words.labels if has_neutral else words.labels[:2]
    rows = []
    for row in cells:
        if row[words.column] == "both":
            period = row["period"]
            means = (row["score"], row["expected"], row["opponents_mean"])
            by_side = [counts.get((period, side), "") for side in sides]
            rows.append((row["player"], period, counts[period, "both"], *means, *by_side))
    heads = [words.as_side(side).replace(" ", "_") for side in sides]
    columns = ("player", "period", "record", "score", "expected", "opponents_mean", *heads)
    return replace(record, columns=columns, rows=rows)


def player_chart(rows: Rows, *, width: int) -> list[str]:
    """The history as a line with its band of one sd, in lines of text; empty when there is no room for it."""
    history = list(rows.records())
    if not history:
        return []
    ends = (history[0]["period"], history[-1]["period"])
    means = [row["mean"] for row in history]
    sds = [row["sd"] or 0.0 for row in history]
    return chart(means, sds, ends, width=width)


def facts_line(facts: Mapping[str, Any], peak_games: float | None = None) -> str:
    """Years, record and peak, from a row of the run's `players`; `peak_games`: in the period of the peak."""
    if facts["first"] is None:
        return "no games"
    years = (
        facts["first"] if facts["first"] == facts["last"] else f"{facts['first']}-{facts['last']}"
    )
    games = _games_words(facts["games"])
    record = record_words(facts["wins"], facts["draws"], facts["losses"])
    certainty = "" if facts["peak_sd"] is None else f" +- {facts['peak_sd']:.0f}"
    peak = f"peak {facts['peak_mean']:.0f}{certainty} in {facts['peak_period']}"
    if peak_games is not None and facts["first"] != facts["last"]:
        peak += f" ({_games_words(peak_games)})"
    return f"{years}, {games} ({record}), {peak}"


def _games_words(games: float) -> str:
    return "1 game" if games == 1 else f"{games:.10g} games"


def players_rows(
    run: Run,
    pattern: str = "",
    *,
    since: int | None = None,
    until: int | None = None,
    min_games: float = 0.0,
    number: int | None = None,
    where: str | None = None,
) -> Rows:
    """Players by number of games, with `LISTED_COLUMNS`.

    `pattern`: words that are parts of the name, accents, case and order aside. `since`, `until`: years between which
    the player's first to last period lies at least in part. `number` None: all. `where`: a condition on what is known
    of players, met at some time of the career. Raises ConfigError where it is malformed, LookupFailed.
    """
    conditions = ["games >= ?"]
    values: list[Any] = [min_games]
    if since is not None:
        conditions.append('CAST(substr("last", 1, 4) AS INTEGER) >= ?')
        values.append(since)
    if until is not None:
        conditions.append('CAST(substr("first", 1, 4) AS INTEGER) <= ?')
        values.append(until)
    for word in fold(pattern).split() or pattern.split():
        conditions.append("contains(folded, ?)")
        values.append(word)
    if where is not None:
        conditions.append(find_filter(run, where).players())
    together = " AND ".join(conditions)
    ((matching,),) = run.select(f"SELECT count(*) FROM players WHERE {together}", values)[1]
    count = matching if number is None else min(matching, number)
    query = f"{_LISTED} WHERE {together} ORDER BY games DESC, player LIMIT ?"
    columns, rows = run.stream(query, [*values, number])
    title = (f"{count:,} of {run.meta.players:,} players", run_line(run))
    return Rows(columns, rows, title, _SKILL_DECIMALS)
