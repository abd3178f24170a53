"""Who is in the teams that records mention: members are players as any others, of all spellings."""

from typing import NamedTuple

import numpy as np

from ttt_cli.games.dictionaries import Dictionaries
from ttt_cli.games.players import NOBODY, Identified, Mentions, all_mentions
from ttt_cli.games.teams import NO_TEAMS, Teams
from ttt_cli.reading.batches import pairs_in
from ttt_cli.reading.columns import Codes
from ttt_cli.support.arrays import Array, Ids, Mask, Places


class TeamMentions(NamedTuple):
    """Mentions of players, with the members of teams in place of teams.

    | name | shape | |
    |---|---|---|
    | mentions | | those before, teams with nobody's name; then the distinct mentions of members |
    | team_of_mention | (mentions before,) | number of the team of each mention, 0 for players |
    | start | (teams + 1,) | the first member of each team; the first team has nobody |
    | mention | (members,) | index in `mentions` |
    | share | (members,) | of the game |
    """

    mentions: Mentions
    team_of_mention: Ids
    start: Places
    mention: Places
    share: Array


def find_team_mentions(dictionaries: Dictionaries, mentions: Mentions) -> TeamMentions | None:
    """The mentions with those of members added, None where no team is mentioned.

    Members have the status and year of their team.
    """
    with_teams = np.flatnonzero(mentions.team)
    if not len(with_teams):
        return None
    members = dictionaries.teams.members_of(mentions.team[with_teams])
    team_of_mention = np.zeros(len(mentions.team), np.int32)
    team_of_mention[with_teams] = np.arange(1, len(with_teams) + 1, dtype=np.int32)
    mention = np.repeat(with_teams, members.size)  # that of the team
    status = np.asarray(mentions.status)
    n_years = 1 + int(mentions.year.max())
    status_and_year = status.astype(np.int64) * n_years + mentions.year
    n_values = 1 + int(status_and_year.max())
    n_names = len(dictionaries.names.values)
    pairs, member_mention = pairs_in(members.name, status_and_year[mention], n_names, n_values)
    name, value = np.divmod(pairs, n_values)
    times = np.bincount(member_mention, mentions.times[mention], len(pairs)).astype(np.int64)
    nothing = np.zeros(len(pairs), np.int64)
    of_members = Mentions(name, nothing, value // n_years, value % n_years, times, nothing)
    return TeamMentions(
        mentions=all_mentions([mentions, of_members]),
        team_of_mention=team_of_mention,
        start=np.append(0, np.cumsum(np.append(0, members.size))).astype(np.int64),
        mention=len(mentions.team) + member_mention.astype(np.int64),
        share=members.share,
    )


class IdentifiedTeams(NamedTuple):
    """Who is who with teams.

    | name | shape | |
    |---|---|---|
    | identified | | the player of each mention; of a team its first member |
    | team_of_mention | (mentions,) | number of the team of each mention, 0 for players |
    | teams | | |
    """

    identified: Identified
    team_of_mention: Codes
    teams: Teams


def without_teams(identified: Identified) -> IdentifiedTeams:
    """Who is who where no team is mentioned."""
    return IdentifiedTeams(
        identified, np.broadcast_to(np.uint8(0), len(identified.player)), NO_TEAMS
    )


def identified_teams(found: TeamMentions, identified: Identified) -> IdentifiedTeams:
    """Who is who in teams, when the players of `found.mentions` are identified."""
    n_mentions = len(found.team_of_mention)
    of_members = identified.player[found.mention].astype(np.int32)
    has_nobody = of_members == NOBODY  # in records that are rejected
    teams = Teams(found.start, np.where(has_nobody, np.int32(0), of_members), found.share)
    is_team = found.team_of_mention > 0
    first = teams.first_players()[found.team_of_mention]
    player = np.where(is_team, first, identified.player[:n_mentions])
    return IdentifiedTeams(identified._replace(player=player), found.team_of_mention, teams)


def has_player_twice(
    white: Codes, black: Codes, white_team: Codes, black_team: Codes, teams: Teams
) -> Mask:
    """Mask of records in which a player stands on both sides or twice on one, by players and teams of the sides."""
    twice: Mask = white == black
    with_team = np.flatnonzero((white_team > 0) | (black_team > 0))
    if not len(with_team):
        return twice
    white_size = np.where(white_team > 0, teams.size[white_team], 1)[with_team]
    black_size = np.where(black_team > 0, teams.size[black_team], 1)[with_team]
    n_sizes = 1 + int(teams.size.max())
    sizes = white_size * max(n_sizes, 2) + black_size
    for of_both in np.flatnonzero(np.bincount(sizes)).tolist():
        n_white, n_black = divmod(of_both, max(n_sizes, 2))
        rows = with_team[sizes == of_both]
        players = np.concatenate(
            [
                _players(white[rows], white_team[rows], n_white, teams),
                _players(black[rows], black_team[rows], n_black, teams),
            ],
            axis=1,
        )
        players.sort(axis=1)
        # not only the first ones: those of a team that lost its records may be anybody
        twice[rows] = np.any(players[:, 1:] == players[:, :-1], axis=1)
    return twice


def _players(first_player: Codes, team: Codes, size: int, teams: Teams) -> Ids:
    """The players (sides, size) of sides of one size, by their first players and teams."""
    member = teams.start[team][:, np.newaxis] + np.arange(size)
    is_team = team[:, np.newaxis] > 0
    return np.where(is_team, teams.player[member], first_player[:, np.newaxis]).astype(np.int32)
