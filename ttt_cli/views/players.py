"""One player: the history, records and upsets; and lists of players."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any, Final, NamedTuple

from ttt_cli.runs.run import Run
from ttt_cli.support.errors import LookupFailed
from ttt_cli.support.folding import fold
from ttt_cli.views.columns import Described, column_names
from ttt_cli.views.games_of_player import GameOfPlayer, games_of
from ttt_cli.views.people import RunPeople
from ttt_cli.views.rows import Rows
from ttt_cli.views.run import run_line
from ttt_cli.views.sides import CHESS_WORDS, NEUTRAL, GameWords, game_words
from ttt_cli.views.text_charts import chart

_DECIMALS: Final = {
    "score": 3,
    "expected": 3,
    "opponents_mean": 1,
    "mean": 1,
    "opponent_mean": 1,
    "p_win": 3,
}
_RECORDS: Final = """
SELECT period, coalesce(sum(weight) FILTER (won > 0), 0), coalesce(sum(weight) FILTER (won = 0), 0),
       coalesce(sum(weight) FILTER (won < 0), 0)
FROM (SELECT period, weight, CASE result WHEN '1/2-1/2' THEN 0 WHEN '1-0' THEN 1 ELSE -1 END
             * CASE WHEN {is_black} THEN -1 ELSE 1 END AS won
      FROM {games})
GROUP BY period HAVING sum(weight) > 0
"""
_OF_PLAYER: Final = {  # by id
    "is_black": "black_id = $1",
    "games": "games WHERE white_id = $1 OR black_id = $1",
}
_OF_MEMBER: Final = {  # by name, also of a team
    "is_black": "is_black",
    "games": "games JOIN game_players USING (game) JOIN names ON id = player_id WHERE player = $1",
}


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
        if run.has_sums:
            rows_of_periods = run.select(_RECORDS.format(**_OF_MEMBER), [player])[1]
        else:
            rows_of_periods = run.select(_RECORDS.format(**_OF_PLAYER), run.player_ids(player))[1]
        records = {period: counts for period, *counts in rows_of_periods}
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
        from ttt_cli.views.player_filter import find_filter

        conditions.append(find_filter(run, where).players())
    together = " AND ".join(conditions)
    ((matching,),) = run.select(f"SELECT count(*) FROM players WHERE {together}", values)[1]
    count = matching if number is None else min(matching, number)
    query = f"{_LISTED} WHERE {together} ORDER BY games DESC, player LIMIT ?"
    columns, rows = run.stream(query, [*values, number])
    title = (f"{count:,} of {run.meta.players:,} players", run_line(run))
    return Rows(columns, rows, title, _SKILL_DECIMALS)
