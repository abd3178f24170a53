"""The games of a run with the chances of their results, and each game from both sides.

Chances are computed when they are read first.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final, NamedTuple

import numpy as np

from ttt_cli.games.lineup import Members
from ttt_cli.histories import chain_columns
from ttt_cli.inference.sides import sides_as_players
from ttt_cli.reading.text_columns import TEXT_COLUMNS
from ttt_cli.runs.run import Run
from ttt_cli.runs.schema import DATABASE
from ttt_cli.support.arrays import Array, Ids, Mask, Places
from ttt_cli.views.history.prediction import Strengths, predicted, take
from ttt_cli.views.history.slices import rows_of
from ttt_cli.views.history.sorting import distinct, stable_order

# Spans are stored by player, as names are, then period.
_NODES: Final = f"SELECT {{columns}} FROM {DATABASE}.main.spans"
_NODES_OF_PLAYERS: Final = f"""
SELECT id, count(period_number) AS nodes
FROM {DATABASE}.main.names LEFT JOIN {DATABASE}.main.spans USING (player) GROUP BY id ORDER BY id
"""
_NAMES: Final = f"SELECT player FROM {DATABASE}.main.names ORDER BY id"
_PERIODS: Final = """
SELECT period_number, CAST(substr(period, 1, 4) AS INTEGER) AS year FROM periods ORDER BY period_number
"""
_GAMES: Final = f"""
SELECT period_number, date_days AS days, date_precision AS "precision", white_id AS white, black_id AS black,
       outcome, CAST(weight AS DOUBLE) AS weight, "offset"
FROM {DATABASE}.main.game_rows
"""
_NEUTRAL_GAMES: Final = 'SELECT "row" FROM neutral_games'
_MARGINS: Final = 'SELECT "row", margin FROM victory_margins'
_COVARIATE_POINTS: Final = 'SELECT "row", points FROM covariate_points'
# Skills in categories of games, and the games there with the rows of these skills
_OF_CATEGORIES: Final = f"""
SELECT s.* EXCLUDE (category, player, "until", games) FROM {DATABASE}.main.category_spans s ORDER BY s.rowid
"""
_GAMES_IN_CATEGORIES: Final = f"""
SELECT g.rowid AS game, white.rowid AS white_node, black.rowid AS black_node
FROM {DATABASE}.main.game_rows g JOIN {DATABASE}.main.game_categories c ON c.rowid = g.rowid
JOIN {DATABASE}.main.names w ON w.id = white_id JOIN {DATABASE}.main.names b ON b.id = black_id
JOIN {DATABASE}.main.category_spans white ON white.category = c.category AND white.player = w.player
    AND white.period_number = g.period_number
JOIN {DATABASE}.main.category_spans black ON black.category = c.category AND black.player = b.player
    AND black.period_number = g.period_number
ORDER BY g.rowid
"""
# Members of sides of games of teams and in orders of finish, by game, White's first; `further`: those beyond the first
# of a side; `category_row`: of the skill in the category of the game, -1 without one
_MEMBERS: Final = f"""
WITH nodes AS (SELECT id, period_number, row_number() OVER (ORDER BY id, period_number) - 1 AS node
               FROM {DATABASE}.main.spans JOIN {DATABASE}.main.names USING (player)),
sides AS (
    SELECT g.rowid AS game, g.period_number, false AS is_black, white_id AS first_id, white_team AS team
    FROM {DATABASE}.main.game_rows g JOIN {DATABASE}.main.game_sides s ON s.rowid = g.rowid
    WHERE white_team > 0 OR black_team > 0 OR race > 0
    UNION ALL SELECT g.rowid, g.period_number, true, black_id, black_team
    FROM {DATABASE}.main.game_rows g JOIN {DATABASE}.main.game_sides s ON s.rowid = g.rowid
    WHERE white_team > 0 OR black_team > 0 OR race > 0)
SELECT game, is_black, coalesce(m.player_id, first_id) AS player, coalesce(share, 1) AS share, node,
       coalesce(m.player_id, first_id) <> first_id AS further, coalesce(of_category.rowid, -1) AS category_row
FROM sides LEFT JOIN {DATABASE}.main.team_members m USING (team)
JOIN nodes ON nodes.id = coalesce(m.player_id, first_id) AND nodes.period_number = sides.period_number
JOIN {DATABASE}.main.names ON names.id = nodes.id
LEFT JOIN {DATABASE}.main.game_categories ON game_categories.rowid = game
LEFT JOIN {DATABASE}.main.category_spans of_category ON of_category.category = game_categories.category
    AND of_category.player = names.player AND of_category.period_number = sides.period_number
ORDER BY game, is_black, m.rowid
"""
_TEAM_NAMES: Final = f"""
SELECT s.rowid, false, teams.name FROM {DATABASE}.main.game_sides s JOIN teams ON teams.team = white_team
UNION ALL SELECT s.rowid, true, teams.name FROM {DATABASE}.main.game_sides s JOIN teams ON teams.team = black_team
"""
_DATE_LENGTHS: Final = np.array([4, 7, 10])  # letters of a date, by its precision
_NO_NAMES: Final = frozenset({"", "?", "??", "-", "--", "???", "????", "unknown", "n/a", "none"})
NEUTRAL_COLOUR: Final = 2  # in `Sides.colour`: nobody had the advantage of the first side


@dataclass(frozen=True)
class Totals:
    """Sums over groups of sides, counted by the weight of games.

    | field | shape | content |
    |---|---|---|
    | `sides` | | the sides |
    | `keys` | (groups,) | what the groups have in common, ascending |
    | `group` | (sides,) | index of the group of each side |
    | `games` | (groups,) | games |
    | `won`, `drawn`, `lost` | (groups,) | games by result |
    """

    sides: Sides
    keys: Any
    group: Places
    games: Array
    won: Array
    drawn: Array
    lost: Array

    @cached_property
    def points(self) -> Array:
        """Points of each group, shape (groups,)."""
        return self.won + self.drawn / 2.0

    @cached_property
    def expected(self) -> Array:
        """Points of each group expected by the model, shape (groups,)."""
        return self.sides.sums_by_group(self.group, self.sides.expected, len(self.keys))


@dataclass(frozen=True)
class Sides:
    """Games from the side of one of their players; arrays of shape (sides,). A team has a side for each member.

    | field | content |
    |---|---|
    | `played` | the games |
    | `game` | index in `played` |
    | `is_second` | 1 for Black's side, else 0 |
    | `player`, `opponent` | numbers in the run's names |
    | `colour` | 0 for the first side, 1 for the second, `NEUTRAL_COLOUR` |
    | `outcome` | 0 lost, 1 drawn, 2 won |
    | `weight` | so many equal games |
    | `year` | of the game's period |
    | `member_node` | row of the strength of the member, in runs with teams or orders of finish; None in others |
    """

    played: PlayedGames
    game: Places
    is_second: Places
    player: Ids
    opponent: Ids
    colour: Places
    outcome: Ids
    weight: Array
    year: Ids
    member_node: Places | None = None

    @property
    def node(self) -> Places:
        """Row of the player's strength in `PlayedGames.nodes`, (sides,)."""
        if self.member_node is not None:
            return self.member_node
        played = self.played
        return np.where(self.is_second, played.black_node[self.game], played.white_node[self.game])

    @property
    def opponent_node(self) -> Places:
        """That of the opponent, of a team its first member."""
        played = self.played
        return np.where(self.is_second, played.white_node[self.game], played.black_node[self.game])

    @cached_property
    def chance(self) -> Array:
        """Probabilities of a loss, a draw and a win of the side, shape (sides, 3)."""
        as_white = self.played.chances_of(self.game)
        return np.where(self.is_second[:, np.newaxis], as_white[:, ::-1], as_white)

    @property
    def win(self) -> Array:
        """Probability of a win, shape (sides,)."""
        return self.chance[:, 2]

    @cached_property
    def expected(self) -> Array:
        """Expected points, shape (sides,)."""
        expected: Array = self.chance[:, 2] + self.chance[:, 1] / 2.0
        return expected

    def totals(self, group: Any) -> Totals:
        """Sums over the sides of each group; `group`, shape (sides,): the key of each side's group."""
        keys, index = distinct(group)
        won = self.sums_by_group(index, self.outcome == 2, len(keys))
        drawn = self.sums_by_group(index, self.outcome == 1, len(keys))
        lost = self.sums_by_group(index, self.outcome == 0, len(keys))
        return Totals(self, keys, index, games=won + drawn + lost, won=won, drawn=drawn, lost=lost)

    def sums_by_group(self, group: Places, values: Array | Mask, n_groups: int) -> Array:
        """Sums of values over the sides of each group, by the weight of games; `group`, shape (sides,): indices."""
        return np.bincount(group, self.weight * values, n_groups).astype(np.float64)

    def take(self, rows: Any) -> Sides:
        """Some of the sides."""
        return Sides(
            self.played, self.game[rows], self.is_second[rows], self.player[rows], self.opponent[rows],
            self.colour[rows], self.outcome[rows], self.weight[rows], self.year[rows],
            None if self.member_node is None else self.member_node[rows],
        )  # fmt: skip


@dataclass(frozen=True)
class PlayedGames:
    """All games, in the run's order.

    | field | shape | content |
    |---|---|---|
    | `run` | | the run |
    | `players` | | the run's names, in order |
    | `year` | (games,) | year of the game's period |
    | `days`, `precision` | (games,) | the date as in the table of games |
    | `white`, `black` | (games,) | players, numbers in the run's names |
    | `outcome` | (games,) | White's, 0 loss, 1 draw, 2 win |
    | `weight` | (games,) | so many equal games |
    | `offset` | (games,) | Elo points added to White's strength |
    | `covariate_points` | (games,) | points that covariates add to White's strength |
    | `neutral` | (games,) | nobody had White's advantage |
    | `margin` | (games,) | by how much games were won, 0 where it is unknown |
    | `white_node`, `black_node` | (games,) | rows of `nodes` |
    | `nodes` | (nodes,) each | `period_number`, strengths of players in periods with games, then those in categories |
    | `event`, `site`, `round` | (games,) | indices in `texts`, 0 where unknown |
    | `side_order` | | the order of all sides by player |
    | `teams` | | with teams or orders of finish: members beyond `white` and `black`, and strengths of sides |
    """

    run: Run
    players: list[str]
    year: Ids
    days: Ids
    precision: Ids
    white: Ids
    black: Ids
    outcome: Ids
    weight: Array
    offset: Array
    covariate_points: Array
    neutral: Mask
    margin: Array
    white_node: Places
    black_node: Places
    nodes: Strengths
    event: Ids
    site: Ids
    round: Ids
    texts: list[str]
    side_order: SideOrder
    teams: TeamSides | None = None

    @cached_property
    def dates(self) -> list[str]:
        """The dates as far as they are known: `1858`, `1858-06`, `1858-06-15`."""
        return self.dates_of(np.arange(len(self.days)))

    def dates_of(self, games: Any) -> list[str]:
        """The dates of some games, as far as they are known."""
        days, index = np.unique(self.days[games], return_inverse=True)
        full_dates = np.datetime_as_string(days.astype("datetime64[D]")).tolist()
        lengths = _DATE_LENGTHS[self.precision[games]].tolist()
        return [
            full_dates[day][:length] for day, length in zip(index.tolist(), lengths, strict=True)
        ]

    @cached_property
    def chance(self) -> Array:
        """Probabilities of White's loss, draw and win by the skills of the game's period, shape (games, 3)."""
        return self.chances_of(np.arange(len(self.year)))

    def chances_of(self, games: Places) -> Array:
        """Probabilities of White's loss, draw and win in some games, shape (games, 3)."""
        has_all_chances = "chance" in vars(self)  # where a cached property is once it was read
        if has_all_chances:
            return self.chance[games]
        white = take(self.nodes, self.white_node[games])
        black = take(self.nodes, self.black_node[games])
        given = self.given(games)
        if self.teams is not None:
            is_sum = self.teams.is_sum[games]
            white = _with_sums(white, take(self.teams.white, games), is_sum)
            black = _with_sums(black, take(self.teams.black, games), is_sum)
            given = np.where(is_sum, 0.0, given)
        return predicted(self.run, self.year[games], white, black, given, self.neutral[games])

    def team_name(self, game: int, *, is_black: bool) -> str | None:
        """The members of a side's team; None where the side is one player."""
        return self.teams.names.get((game, is_black)) if self.teams is not None else None

    def players_of(self, game: int, *, is_black: bool) -> list[int]:
        """The players of a side."""
        first = int(self.black[game] if is_black else self.white[game])
        if self.teams is None:
            return [first]
        further = self.teams.further  # by game
        begin, end = np.searchsorted(further.game, [game, game + 1])
        on_side = further.player[begin:end][further.is_black[begin:end] == is_black]
        return [first, *on_side.tolist()]

    def side_name(self, game: int, *, is_black: bool) -> str:
        """The player of a side, or the members of its team."""
        player = self.black[game] if is_black else self.white[game]
        return self.team_name(game, is_black=is_black) or self.players[player]

    def given(self, games: Places) -> Array:
        """Points that handicaps and covariates add to White's strength in some games."""
        return self.run.meta.elo_unit * self.offset[games] + self.covariate_points[games]

    def expected(self, game: int) -> float:
        """White's expected score in a game."""
        return float(self.chance[game, 2] + self.chance[game, 1] / 2.0)

    def of(self, player: int) -> Sides:
        """The games of a player, in the run's order."""
        return self.sides_in_order(rows_of(self.side_order.starts, player))

    def sides_in_order(self, rows: Any) -> Sides:
        """Some rows of `side_order`: games, each from the side of the player of the row."""
        order = self.side_order
        sides = self._sides_of_codes(order.codes[rows])
        if order.member_node is None:
            return sides
        players = np.arange(len(order.starts) - 1, dtype=np.int32)
        player = np.repeat(players, np.diff(order.starts))
        return replace(sides, player=player[rows], member_node=order.member_node[rows])

    def _sides_of_codes(self, codes: Places) -> Sides:
        """Sides of games by their codes, from those of their first players."""
        game = game_of(codes)
        is_second = is_second_side(codes)
        white = self.white[game]
        black = self.black[game]
        outcome = self.outcome[game]
        return Sides(
            self,
            game,
            is_second,
            player=np.where(is_second, black, white),
            opponent=np.where(is_second, white, black),
            colour=np.where(self.neutral[game], NEUTRAL_COLOUR, is_second),
            outcome=np.where(is_second, 2 - outcome, outcome),
            weight=self.weight[game],
            year=self.year[game],
        )


class FurtherMemberNodes(NamedTuple):
    """Members of teams but the first, (members,) each.

    | field | content |
    |---|---|
    | `game`, `is_black` | the game, and whether on the second side |
    | `player` | number in the run's names |
    | `node` | row of the strength in `PlayedGames.nodes` |
    """

    game: Places
    is_black: Mask
    player: Ids
    node: Places


class TeamSides(NamedTuple):
    """What is to be known of games of teams and in orders of finish.

    | field | shape | content |
    |---|---|---|
    | `further` | | members beyond the first ones |
    | `is_sum` | (games,) | whether a game is one of these: its sides are sums of skills |
    | `white`, `black` | (games,) each | strengths of the sides of these, with all that is added to skills |
    | `names` | | of teams, by game and whether on the second side |
    """

    further: FurtherMemberNodes
    is_sum: Mask
    white: Strengths
    black: Strengths
    names: dict[tuple[int, bool], str]


def _with_sums(strengths: Strengths, of_sums: Strengths, is_sum: Mask) -> Strengths:
    """Strengths of players, in some games replaced by those of sides that are sums."""
    return {
        name: np.where(is_sum, of_sums[name], column) if name in of_sums else column
        for name, column in strengths.items()
    }


class SideOrder(NamedTuple):
    """Both sides of all games by player, then in the order of games; a side of a team once for each member.

    | field | shape | content |
    |---|---|---|
    | `codes` | (sides,) | of sides: twice the game, and 1 more for Black's (`game_of`, `is_second_side`) |
    | `starts` | (players + 1,) | the first side of each player |
    | `member_node` | (sides,) | as in `Sides` |
    """

    codes: Places
    starts: Places
    member_node: Places | None = None


def game_of(codes: Places) -> Places:
    """The games of sides by their codes; shifts are faster than divisions."""
    return codes >> 1


def is_second_side(codes: Places) -> Places:
    """1 where the code is that of Black's side, else 0."""
    return codes & 1


def _with_categories(run: Run, games: dict[str, Any], nodes: Strengths) -> Strengths:
    """`nodes` followed by the strengths in categories; the nodes of games in a category are replaced by those."""
    of_categories = run.arrays(_OF_CATEGORIES)
    first = len(nodes["mean"])  # row of a strength in a category
    joined = {
        name: np.concatenate([column, of_categories[name]])
        for name, column in nodes.items()
        if name in of_categories
    }
    games_in_categories = run.arrays(_GAMES_IN_CATEGORIES)
    for side in ("white_node", "black_node"):
        games[side] = games[side].copy()
        games[side][games_in_categories["game"]] = first + games_in_categories[side]
    return joined


def _order_sides(white: Ids, black: Ids) -> SideOrder:
    """The order of sides of one player each."""
    player = np.stack([white, black], axis=1).ravel()
    counts = np.bincount(player)
    return SideOrder(stable_order(player), np.cumsum([0, *counts]))


def _order_sides_of_members(games: dict[str, Any], further: FurtherMemberNodes) -> SideOrder:
    """The order of sides, with those of teams once for each member."""
    player = np.stack([games["white"], games["black"]], axis=1).ravel()
    node = np.stack([games["white_node"], games["black_node"]], axis=1).ravel()
    codes = np.concatenate([np.arange(len(player)), 2 * further.game + further.is_black])
    player = np.concatenate([player, further.player])
    order = np.lexsort((codes, player))
    starts = np.cumsum([0, *np.bincount(player)])
    member_node = np.concatenate([node, further.node])[order]
    return SideOrder(codes[order], starts, member_node)


class NodesOfGames(NamedTuple):
    """The rows of both players' strengths in the period of each game, arrays of shape (games,)."""

    white: Places
    black: Places


def _nodes_of_games(
    games: dict[str, Any], side_order: SideOrder, player_of_node: Ids, period_of_node: Ids
) -> NodesOfGames:
    """The nodes of both players of every game; nodes are sorted by player, then period."""
    first = period_of_node.min(initial=0)
    n_periods = np.int64(period_of_node.max(initial=0) - first + 1)
    keys = player_of_node * n_periods + (period_of_node - first)
    period = games["period_number"].astype(np.int64) - first
    keys_of_sides = (
        np.stack([games["white"], games["black"]], axis=1) * n_periods + period[:, np.newaxis]
    )
    # by player, then in the order of games: games of a player in a period follow one another, which makes this fast
    played_keys, positions = distinct(keys_of_sides.ravel()[side_order.codes])
    node = np.empty(len(side_order.codes), np.int64)
    node[side_order.codes] = np.searchsorted(keys, played_keys)[positions]
    return NodesOfGames(node[::2], node[1::2])


def _team_sides(
    run: Run, games: dict[str, Any], nodes: Strengths, first_of_categories: int
) -> TeamSides:
    """The sides of teams and in orders of finish; rows of `nodes` from `first_of_categories` on are in categories.

    A side is a player in a game of two with the same chances (`inference/sides.sides_as_players`); what else is added
    to strengths is divided by the scale.
    """
    rows = run.arrays(_MEMBERS)
    of_category = rows["category_row"]
    node = np.where(of_category < 0, rows["node"], first_of_categories + of_category)
    members = Members(rows["game"], rows["is_black"], node, rows["share"])
    n_games = len(games["year"])
    params = run.meta.params
    sides = sides_as_players(
        members, nodes["mean"][node], nodes["sd"][node], n_games, params.get("team", "sum")
    )
    is_sum = np.zeros(n_games, np.bool_)
    is_sum[members.game] = True
    given = run.meta.elo_unit * games["offset"] + games["covariate_points"]
    advantage = np.where(games["neutral"], 0.0, params.get("white_advantage", 0.0))
    added = sides.added_to_first(given, advantage)
    is_further = rows["further"]
    return TeamSides(
        further=FurtherMemberNodes(
            rows["game"][is_further],
            rows["is_black"][is_further],
            rows["player"][is_further],
            node[is_further],
        ),
        is_sum=is_sum,
        white={"mean": sides.mean[:, 0] + added, "sd": sides.sd[:, 0]},
        black={"mean": sides.mean[:, 1], "sd": sides.sd[:, 1]},
        names={(game, is_black): name for game, is_black, name in run.rows(_TEAM_NAMES)},
    )


class EventTexts(NamedTuple):
    """What is written of games, such as their events.

    `columns`: of each of `TEXT_COLUMNS`, indices in `texts`, shape (games,). Text 0 is empty, for what is unknown.
    """

    columns: dict[str, Any]
    texts: list[str]


def _event_texts(run: Run, n_games: int) -> EventTexts:
    """What is written of the games of a run; names such as `?` count as unknown."""
    stored_texts = [text for (text,) in run.select("SELECT text FROM texts ORDER BY id")[1]]
    if not stored_texts:
        return EventTexts(dict.fromkeys(TEXT_COLUMNS, np.zeros(n_games, np.int32)), [""])
    is_name = np.array([text.strip().casefold() not in _NO_NAMES for text in stored_texts])
    index = np.where(is_name, np.arange(1, len(stored_texts) + 1), 0)
    codes_by_column = run.arrays(f"SELECT {', '.join(TEXT_COLUMNS)} FROM game_texts")
    columns = {name: index[codes] for name, codes in codes_by_column.items()}
    return EventTexts(columns, ["", *stored_texts])


def played_games(run: Run) -> PlayedGames:
    """The games of a run."""
    # columns of games, to which those are added that `PlayedGames` has in addition
    games: dict[str, Any] = run.arrays(_GAMES)
    n_games = len(games["outcome"])
    strengths = [column for chain in run.chains for column in chain_columns(chain)]
    nodes = run.arrays(_NODES.format(columns=", ".join(["period_number", *strengths])))
    n_nodes = len(nodes["mean"])
    of_players = run.arrays(_NODES_OF_PLAYERS)
    player_of_node = np.repeat(of_players["id"], of_players["nodes"])
    side_order = _order_sides(games["white"], games["black"])
    games["white_node"], games["black_node"] = _nodes_of_games(
        games, side_order, player_of_node, nodes["period_number"]
    )
    periods = run.arrays(_PERIODS)
    games["year"] = periods["year"][
        np.searchsorted(periods["period_number"], games.pop("period_number"))
    ]
    games["neutral"] = np.zeros(n_games, np.bool_)
    games["neutral"][run.arrays(_NEUTRAL_GAMES)["row"]] = True
    games["margin"] = np.zeros(n_games)
    margins = run.arrays(_MARGINS)
    games["margin"][margins["row"]] = margins["margin"]
    games["covariate_points"] = np.zeros(n_games)
    covariate_points = run.arrays(_COVARIATE_POINTS)
    games["covariate_points"][covariate_points["row"]] = covariate_points["points"]
    if run.categories:
        nodes = _with_categories(run, games, nodes)
    teams = None
    if run.has_sums:
        teams = _team_sides(run, games, nodes, n_nodes)
        side_order = _order_sides_of_members(games, teams.further)
    players = [player for (player,) in run.select(_NAMES)[1]]
    event_texts = _event_texts(run, n_games)
    return PlayedGames(
        run,
        players,
        **games,
        **event_texts.columns,
        nodes=nodes,
        texts=event_texts.texts,
        side_order=side_order,
        teams=teams,
    )
