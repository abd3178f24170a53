"""Everything that the pages of a site show, read from the run in a few queries."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from typing import Any, Final, NamedTuple

import numpy as np

from ttt_cli.games.event_sets import EXHIBITIONS, names_set
from ttt_cli.inference.outcome import by_sides, in_year
from ttt_cli.reading.reports import TEXT_COLUMNS
from ttt_cli.runs.database import DATABASE
from ttt_cli.runs.run import Run
from ttt_cli.support.arrays import Array, Ids, Mask, Places
from ttt_cli.support.folding import fold_all
from ttt_cli.timeline import KNOWN, NEUTRAL
from ttt_cli.views.beside import Beside
from ttt_cli.views.players import NEUTRAL as NEUTRAL_SIDE
from ttt_cli.views.rankings.eligible import Eligible
from ttt_cli.views.rankings.period import SEED
from ttt_cli.views.rankings.strongest import NAMED, contest, settled
from ttt_cli.views.report.markup import addresses, field, follows, is_shared, link, slug_of, slugs, text
from ttt_cli.views.run import side_names

FEW_GAMES: Final = 3  # of a player need no tables
_PLAYERS: Final = """
SELECT player, folded, games, wins, draws, losses, opponents, CAST(substr("first", 1, 4) AS INTEGER) AS "first",
       CAST(substr("last", 1, 4) AS INTEGER) AS "last", peak_period, peak_mean, peak_sd
FROM players JOIN names USING (player) ORDER BY id
"""
# A year is represented by its last period, in histories as in rankings.
_SKILLS: Final = """
SELECT id, CAST(substr(period, 1, 4) AS INTEGER) AS year, arg_max(mean, period_number) AS mean,
       arg_max(sd, period_number) AS sd, sum(games) AS games
FROM skills JOIN names USING (player) GROUP BY id, year ORDER BY id, year
"""
_RANKED: Final = """
SELECT CAST(substr(period, 1, 4) AS INTEGER) AS year, period_number, id, mean, sd, games
FROM ({rows}) ranked JOIN names USING (player)
WHERE period_number IN (SELECT max(period_number) FROM periods GROUP BY substr(period, 1, 4))
ORDER BY period_number, mean DESC, player
"""
CHANCES: Final = 10  # first players of a ranking with a probability of being the strongest


def span(starts: Places, number: int) -> slice:
    """The rows of a number in a table that is sorted by it; `starts`: the first row of each, and the number of rows."""
    return slice(*starts[number : number + 2].tolist())


class Person(NamedTuple):
    """A row of the run's players, `first` and `last` as years; `page`: the address in the folder of players, if any."""

    name: str
    folded: str
    games: float
    wins: float
    draws: float
    losses: float
    opponents: int
    first: int
    last: int
    peak_period: str
    peak_mean: float
    peak_sd: float | None
    page: str | None = None


@dataclass(frozen=True)
class Ranking:
    """Who was eligible in the last period of a year, by descending mean: arrays of shape (players,).

    `best`: the probabilities of being the strongest, of the first `CHANCES`; empty in a system without sds.
    """

    id: Ids
    mean: Array
    sd: Array
    games: Array
    best: Sequence[float] = ()

    @cached_property
    def rank(self) -> dict[int, int]:
        """The rank of each player."""
        return {player: rank for rank, player in enumerate(self.id.tolist(), 1)}


def rankings(run: Run, limits: Eligible, everybody: Sequence[Person]) -> tuple[dict[int, Ranking], str]:
    """The ranking of every year in which anybody is eligible, and how the probabilities were found."""
    found = run.arrays(_RANKED.format(rows=limits.skills(run)))
    years, start = np.unique(found.pop("year"), return_index=True)
    numbers = found.pop("period_number")[start].tolist()
    columns = [np.split(found[name], start[1:]) for name in ("id", "mean", "sd", "games")]
    ranked = {year: Ranking(*some) for year, *some in zip(years.tolist(), *columns, strict=False)}
    if np.isnan(found["sd"]).any() or not ranked:
        return ranked, ""
    contests = [
        contest(number, [everybody[at].name for at in one.id[:NAMED]], one.mean, one.sd, CHANCES)
        for number, one in zip(numbers, ranked.values(), strict=True)
    ]
    decided, remark, _ = settled(run, contests, SEED)
    return {
        year: replace(one, best=decision.p[:CHANCES].tolist() if len(one.id) > 1 else ())
        for (year, one), decision in zip(ranked.items(), decided, strict=True)
    }, remark


class Book:
    """The data of a site; players are numbers in the run's names, events are those of `events.all`.

    `remark`: how probabilities of being the strongest were computed. `years`: skills at the end of a year and games in
    it, by player (`id`), then year, NaN sds where there are none; `year_starts`: the first row of each player, and the
    number of rows. `all_years`: years that have a page, from the first game to the last period of the run. `sides`:
    labels of the first side, the second side and neutral ground: their initials, if these differ. `event_names`: as
    HTML; last, a dash for no event. `spellings`: those united with a player's name. `number`: of each player by name.
    """

    def __init__(
        self, run: Run, limits: Eligible, title: str, most: int, beside: Beside | None = None
    ) -> None:
        """Read all data of a site from a run. The `most` players of the most games have a page, and as many events."""
        self.run = run
        self.limits = limits
        self.title = title
        self.beside = beside
        self.played = played = played_games(run)
        everybody = [Person(*row) for row in run.select(_PLAYERS)[1]]
        ahead = set(sorted(range(len(everybody)), key=lambda at: (-everybody[at].games, at))[:most])
        every = slugs([one.name for one in everybody])
        chosen = [slug if at in ahead else None for at, slug in enumerate(every)]
        pages = addresses(chosen, np.diff(played.by_player[1]))
        self.people = [one._replace(page=page) for one, page in zip(everybody, pages, strict=True)]
        self.number = {one.name: at for at, one in enumerate(self.people)}
        self.rankings, self.remark = rankings(run, limits, everybody)
        self.years = run.arrays(_SKILLS)
        self.year_starts = np.searchsorted(self.years["id"], np.arange(len(everybody) + 1))
        self.has_sd = not np.isnan(self.years["sd"]).any()
        self.events = events = find_events(run, played, most)
        self.event_names = [*(text(event.name) for event in events.all), "–"]
        self.events_in: dict[int, list[int]] = defaultdict(list)
        for at, event in enumerate(events.all):
            self.events_in[event.year].append(at)
        self.spellings: dict[str, list[str]] = defaultdict(list)
        for player, spelling in run.select("FROM spellings")[1]:
            self.spellings[player].append(spelling)
        self.sides = [*side_names(run), NEUTRAL_SIDE]
        if len(initials := {name[0].upper(): name for name in self.sides}) == len(self.sides):
            self.sides = [*initials]
        known = [*played.year[[0, -1]].tolist(), *self.years["year"][:1].tolist(), *self.rankings]
        self.all_years = list(range(min(known), max(known) + 1))
        self.players: Callable[[str], list[str]] = cache(partial(_links, self.people))
        self.occasions: Callable[[str], list[str]] = cache(partial(_links, events.all))
        self.player_fields: Callable[[str], list[str]] = cache(partial(_fields, self.people))
        self.event_fields: Callable[[str], list[str]] = cache(partial(_fields, events.all))


def _links(found: Sequence[Person | Event], way: str) -> list[str]:
    """Links to players or events by the path to their folder; exhibitions are marked by their kind."""
    return [
        (link(f"{way}{one.page}", one.name) if one.page else text(one.name))
        + (f" ({one.kind})" if isinstance(one, Event) and one.kind else "")
        for one in found
    ]


def _fields(found: Sequence[Person | Event], way: str) -> list[str]:
    """Fields of lines: plain where the address follows from the name, in an `i` where it is on a shared page."""
    fields = []
    for one in found:
        name = field(one.name)
        if one.page is None:
            fields.append(f"<span>{name}</span>")
        elif not follows(slug_of(one.page), one.folded):
            fields.append(link(f"{way}{one.page}", one.name))
        else:
            fields.append(f"<i>{name}</i>" if is_shared(one.page) else name)
    return fields


_NODES: Final = f"""
SELECT s.* EXCLUDE (player, "until", games)
FROM {DATABASE}.main.spans s JOIN {DATABASE}.main.names n USING (player) ORDER BY id, period_number
"""
_GAMES: Final = f"""
WITH nodes AS (SELECT id, period_number, row_number() OVER (ORDER BY id, period_number) - 1 AS node
               FROM {DATABASE}.main.spans JOIN {DATABASE}.main.names USING (player))
SELECT CAST(substr(period, 1, 4) AS INTEGER) AS year, date_days AS days, date_precision AS "precision",
       white_id AS white, black_id AS black, outcome, CAST(weight AS DOUBLE) AS weight, "offset",
       g.rowid IN (SELECT "row" FROM neutral_games) AS neutral, w.node AS white_node, b.node AS black_node
FROM {DATABASE}.main.game_rows g JOIN periods p USING (period_number)
JOIN nodes w ON w.id = white_id AND w.period_number = g.period_number
JOIN nodes b ON b.id = black_id AND b.period_number = g.period_number ORDER BY g.rowid
"""
_SHOWN: Final = np.array([4, 7, 10])  # letters of a date, by its precision
_UNKNOWN: Final = frozenset({"", "?", "??", "-", "--", "???", "????", "unknown", "n/a", "none"})
Strengths = dict[str, Array]
_HALVINGS: Final = 13
_FURTHEST: Final = 2400.0  # Elo points that a performance may lie from the opponents


class Sides(NamedTuple):
    """Games, each from one player's side; arrays of shape (sides,).

    `way`: the place in `Book.sides`. `outcome`: 0 lost, 1 drawn, 2 won. `win`, `expected`: the chance of a win and the
    expected score.
    """

    game: Places
    player: Ids
    opponent: Ids
    way: Places
    outcome: Ids
    win: Array
    expected: Array
    weight: Array
    year: Ids

    def sums(self, group: Any) -> tuple[Any, Places, Array, Array, Array, Array, Array, Array]:
        """The keys of a group and the key of each side; by key games, wins, draws, losses, points, points expected."""
        keys, place = np.unique(group, return_inverse=True)

        def total(values: Any) -> Array:
            return np.bincount(place, self.weight * values, len(keys)).astype(np.float64)

        won, drawn, lost = (total(self.outcome == one) for one in (2, 1, 0))
        points = won + drawn / 2.0
        return keys, place, won + drawn + lost, won, drawn, lost, points, total(self.expected)


@dataclass(frozen=True)
class PlayedGames:
    """All games, in the run's order; arrays of shape (games,).

    `year`: of the game's period. `days`, `precision`: the date as in the table of games. `white`, `black`: players,
    numbers in the run's names. `outcome`: White's, 0 loss, 1 draw, 2 win. `weight`: so many equal games. `offset`: Elo
    points added to White's strength. `neutral`: nobody had White's advantage. `chance`, shape (games, 3): of White's
    loss, draw and win, by the skills of the game's period; `white_node` and `black_node` are their rows of `nodes`,
    which has every player in every period with games. `event`, `site`, `round`: numbers of `texts`, 0 where unknown.
    """

    year: Ids
    days: Ids
    precision: Ids
    white: Ids
    black: Ids
    outcome: Ids
    weight: Array
    offset: Array
    neutral: Mask
    chance: Array
    white_node: Places
    black_node: Places
    nodes: Strengths
    event: Ids
    site: Ids
    round: Ids
    texts: list[str]

    @cached_property
    def dates(self) -> list[str]:
        """The dates as far as they are known: `1858`, `1858-06`, `1858-06-15`."""
        days, place = np.unique(self.days, return_inverse=True)
        texts = np.datetime_as_string(days.astype("datetime64[D]")).tolist()
        ends = _SHOWN[self.precision].tolist()
        return [texts[at][:end] for at, end in zip(place.tolist(), ends, strict=True)]

    def expected(self, game: int) -> float:
        """White's expected score in a game."""
        return float(self.chance[game, 2] + self.chance[game, 1] / 2.0)

    @cached_property
    def by_player(self) -> tuple[Places, Places]:
        """Twice each game, and 1 more for Black's side, by player, then in the run's order; the first of each player.

        There is one more of these than players.
        """
        player = np.stack([self.white, self.black], axis=1).ravel()
        return np.argsort(player, kind="stable"), np.cumsum([0, *np.bincount(player)])

    def of(self, player: int) -> Sides:
        """The games of a player, in the run's order."""
        order, starts = self.by_player
        return self.sides(order[span(starts, player)])

    def sides(self, order: Places) -> Sides:
        """Some of both sides of all games, given as in `by_player`."""
        game = order // 2
        second = order % 2
        white = self.white[game]
        black = self.black[game]
        chance = self.chance[game]
        outcome = self.outcome[game]
        win = np.where(second, chance[:, 0], chance[:, 2])
        return Sides(
            game, np.where(second, black, white), np.where(second, white, black),
            np.where(self.neutral[game], 2, second), np.where(second, 2 - outcome, outcome),
            win, win + chance[:, 1] / 2.0, self.weight[game], self.year[game],
        )  # fmt: skip


def played_games(run: Run) -> PlayedGames:
    """The games of a run, the chances of each from the model."""
    games: dict[str, Any] = run.arrays(_GAMES)
    nodes = run.arrays(_NODES)
    white, black = (_rows(nodes, games[f"{side}_node"]) for side in ("white", "black"))
    chance = predicted(run, games["year"], white, black, games["offset"], games["neutral"])
    written = [text for (text,) in run.select("SELECT text FROM texts ORDER BY id")[1]]
    texts: dict[str, Any] = dict.fromkeys(TEXT_COLUMNS, np.zeros(len(chance), np.int32))
    if written:
        known = np.array([text.strip().casefold() not in _UNKNOWN for text in written])
        number = np.where(known, np.arange(1, len(written) + 1), 0)
        columns = run.arrays(f"SELECT {', '.join(TEXT_COLUMNS)} FROM game_texts")
        texts = {name: number[codes] for name, codes in columns.items()}
    return PlayedGames(**games, **texts, chance=chance, nodes=nodes, texts=["", *written])


def predicted(
    run: Run,
    year: Ids,
    white: Strengths,
    black: Strengths,
    offset: Array | float = 0.0,
    neutral: Mask | bool = False,
) -> Array:
    """Probabilities of White's loss, draw and win at these strengths (points), shape (games, 3).

    `year`, shape (games,): draw margins that move are those of the year. `offset`, `neutral`: as in `PlayedGames`.
    """
    from ttt_cli.systems.registry import load

    predict = load(run.meta.model).predict
    found = np.empty((len(year), 3))
    sides = np.broadcast_to(np.where(neutral, NEUTRAL, KNOWN), len(year))
    half = 0.5 * run.meta.elo_unit * offset
    white = {**white, "mean": white["mean"] + half}
    black = {**black, "mean": black["mean"] - half}
    years: Any = [0]
    parts: list[Any] = [slice(None)]
    if run.draws_in(0):
        order = np.argsort(year, kind="stable")
        years, starts = np.unique(year[order], return_index=True)
        parts = np.split(order, starts[1:])
    for at, rows in zip(years, parts, strict=False):
        params = in_year(run.meta.params, run.draws_in(int(at)))
        found[rows] = by_sides(predict, params, _rows(white, rows), _rows(black, rows), sides[rows])
    return found


def _rows(strengths: Strengths, rows: Any) -> Strengths:
    return {name: column[rows] for name, column in strengths.items()}


class Event(NamedTuple):
    """One event; `page`: its address in the folder of events, if any.

    `folded`: year and name. `kind`: the set of exhibitions it belongs to, as `simul`; empty for a contest.
    """

    name: str
    year: int
    folded: str
    games: int
    page: str | None
    kind: str = ""

    @property
    def title(self) -> str:
        """The name with the year, unless that is in it."""
        return self.name if str(self.year) in self.name else f"{self.name} {self.year}"


@dataclass(frozen=True)
class Events:
    """The events by year, then name, and what everybody scored in them.

    `of_game`, shape (games,), is the event of each game, -1 for none; `games` all others by event, those of event k
    from `starts[k]` to `starts[k + 1]`. Entries, one per event and player, are by event, most points first, from
    `entry_starts[k]` to `entry_starts[k + 1]`; `entry_of`, shape (sides,), is the entry of each side in
    `PlayedGames.by_player`, -1 for none. `player`: number in the run's names. `played`, `points`, `expected`: games
    played, scored, and expected of the model. `performance`: the skill at which the points would be what is expected,
    points of the run; NaN where there is none, and for exhibitions. `rank`: equal points share one.
    """

    all: list[Event]
    of_game: Places
    games: Places
    starts: Places
    entry_of: Ids
    entry_starts: Places
    player: Ids
    played: Array
    points: Array
    expected: Array
    performance: Array
    rank: Places


def find_events(run: Run, played: PlayedGames, most: int) -> Events:
    """The events of all games; the `most` of the most games have a page."""
    texts = played.texts
    n = len(played.texts)
    key = (played.year.astype(np.int64) * n + played.event) * n + played.site
    keys, place, counts = np.unique(key, return_inverse=True, return_counts=True)
    found = [(key // n**2, _name(texts[key // n % n], texts[key % n])) for key in keys.tolist()]
    chosen = sorted({one for one in found if one[1]})
    number = {one: at for at, one in enumerate(chosen)}
    of_key = np.array([number.get(one, -1) for one in found], np.int64)
    of_game = of_key[place]
    games = np.bincount(of_key[of_key >= 0], counts[of_key >= 0], len(chosen)).astype(np.int64)
    least = np.sort(games)[-most - 1] if len(games) > most else 0
    called = [f"{year} {name}" for year, name in chosen]
    files = [slug if n > least else None for slug, n in zip(slugs(called), games.tolist(), strict=True)]
    pages = addresses(files, games)
    order = np.argsort(of_game, kind="stable")[np.count_nonzero(of_game < 0) :]
    starts = np.searchsorted(of_game[order], np.arange(len(chosen) + 1))
    columns = _entries(run, played, of_game, len(chosen))
    events = []
    for at, ((year, name), folded, page) in enumerate(zip(chosen, fold_all(called), pages, strict=True)):
        entries = span(columns["entry_starts"], at)
        rows = span(starts, at)
        # Blindfold games are an exhibition where one met several others; odds with a known handicap are none.
        games_of = columns["played"][entries]
        one_met_all = len(games_of) > 2 and 2 * games_of.max() == games_of.sum()
        possible = {"blindfold": one_met_all, "odds": not played.offset[order[rows]].any()}
        kinds = (kind for kind in EXHIBITIONS if possible.get(kind, True) and names_set(folded, kind))
        if kind := next(kinds, ""):
            columns["performance"][entries] = np.nan
        events.append(Event(name, year, folded, int(games[at]), page, kind))
    return Events(events, of_game, order, starts, **columns)


def _name(event: str, site: str) -> str:
    """The event with its place, unless one names the other."""
    if event and site and site.casefold() not in event.casefold():
        return site if event.casefold() in site.casefold() else f"{event}, {site}"
    return event or site


def _entries(run: Run, played: PlayedGames, of_game: Places, events: int) -> dict[str, Any]:
    """The columns of all entries.

    The performance is found by halving an interval; the own skill is certain, the others' are as the model has them.
    """
    order = played.by_player[0]
    at = np.flatnonzero(of_game[order // 2] >= 0)
    sides = played.sides(order[at])
    game = sides.game
    year = sides.year
    is_white = played.white[sides.game] == sides.player
    width = int(sides.player.max(initial=0)) + 1
    keys, entry, count, _, _, _, points, expected = sides.sums(of_game[game] * np.int64(width) + sides.player)

    def mean(values: Array) -> Array:
        return np.bincount(entry, sides.weight * values, len(keys)) / count

    nodes = _rows(played.nodes, played.white_node[game]), _rows(played.nodes, played.black_node[game])
    centre = mean(np.where(is_white, nodes[1]["mean"], nodes[0]["mean"]))
    reach = _FURTHEST * run.meta.elo_unit
    low = centre - reach
    high = centre + reach
    score = points / count
    own = is_white, ~is_white
    for side, mine in zip(nodes, own, strict=True):
        side["sd"] = np.where(mine, 0.0, side["sd"])
    for _ in range(_HALVINGS):
        middle = (low + high) / 2.0
        white, black = (
            {**side, "mean": np.where(mine, middle[entry], side["mean"])}
            for side, mine in zip(nodes, own, strict=True)
        )
        chance = predicted(run, year, white, black, played.offset[game], played.neutral[game])
        below = mean(np.where(is_white, chance[:, 2], chance[:, 0]) + chance[:, 1] / 2.0) < score
        low = np.where(below, middle, low)
        high = np.where(below, high, middle)
    performance = np.where((score > 0.0) & (score < 1.0), (low + high) / 2.0, np.nan)
    event = keys // width
    place = np.lexsort((keys % width, -points, event))
    columns = {
        "player": keys % width, "played": count, "points": points, "expected": expected,
        "performance": performance * run.scale.slope + run.scale.shift,
    }  # fmt: skip
    columns = {name: column[place] for name, column in columns.items()}
    entry_of = np.full(len(order), -1, np.int32)
    entry_of[at] = np.argsort(place)[entry]
    event = event[place]
    points = columns["points"]
    starts = np.searchsorted(event, np.arange(events + 1))
    leads = (np.diff(event, prepend=-1) != 0) | (np.diff(points, prepend=-1.0) != 0)
    first = np.maximum.accumulate(np.where(leads, np.arange(len(place)), 0))
    return {**columns, "entry_of": entry_of, "entry_starts": starts, "rank": first - starts[event] + 1}
