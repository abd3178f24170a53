"""Who is in the teams that records mention: members are players as any others, of all spellings."""

from typing import NamedTuple

import numpy as np

from ttt_cli.games.dictionaries import NameDictionary
from ttt_cli.games.players import NOBODY, Identified, Mentions
from ttt_cli.games.teams import NO_TEAMS, Teams
from ttt_cli.reading.columns import Codes
from ttt_cli.reading.members import is_team_text, members_of
from ttt_cli.support.arrays import Array, Ids, Mask, Places


class TeamMentions(NamedTuple):
    """Mentions of players, with the members of teams in place of teams.

    | name | shape | |
    |---|---|---|
    | mentions | | of players, or of nobody in place of a team; then one for each member |
    | team_of_mention | (mentions before,) | number of the team of each mention, 0 for players |
    | start | (teams + 1,) | the first member of each team; the first team has nobody |
    | share | (members,) | of the game |
    """

    mentions: Mentions
    team_of_mention: Ids
    start: Places
    share: Array


def find_team_mentions(dictionary: NameDictionary, mentions: Mentions) -> TeamMentions | None:
    """The mentions with members in place of teams, None where no team is mentioned.

    The names of members are added to the dictionary. They have the status and year of their team.
    """
    if not dictionary.has_teams:
        return None
    is_team = np.array([is_team_text(name) for name in dictionary.values], np.bool_)[mentions.name]
    with_teams = np.flatnonzero(is_team)
    members = [members_of(dictionary.cleaned[name]) for name in mentions.name[with_teams].tolist()]
    size = [len(of_team) for of_team in members]
    names = dictionary.numbers_of([name for of_team in members for name, _ in of_team])
    team = np.repeat(with_teams, size)
    nobody = dictionary.numbers_of([""])[0]
    team_of_mention = np.zeros(len(is_team), np.int32)
    team_of_mention[with_teams] = np.arange(1, len(with_teams) + 1, dtype=np.int32)
    of_members = Mentions(
        name=names,
        id=np.zeros(len(names), np.int64),
        status=mentions.status[team],
        year=mentions.year[team],
        times=mentions.times[team],
    )
    with_nobody = mentions._replace(name=np.where(is_team, nobody, mentions.name))
    return TeamMentions(
        mentions=Mentions(
            *[np.concatenate(pair) for pair in zip(with_nobody, of_members, strict=True)]
        ),
        team_of_mention=team_of_mention,
        start=np.append(0, np.cumsum([0, *size])).astype(np.int64),
        share=np.array([share for of_team in members for _, share in of_team], np.float64),
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
    of_members = identified.player[n_mentions:].astype(np.int32)
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
    records = []
    players = []
    for side, team in (
        (white[with_team], white_team[with_team]),
        (black[with_team], black_team[with_team]),
    ):
        size = np.where(team > 0, teams.size[team], 1)
        record = np.repeat(with_team, size)
        number = np.arange(len(record)) - np.repeat(np.cumsum(size) - size, size)
        of_team = np.repeat(team, size).astype(np.int64)
        member = np.where(of_team > 0, teams.start[of_team] + number, 0)
        records.append(record)
        players.append(np.where(of_team > 0, teams.player[member], np.repeat(side, size)))
    record = np.concatenate(records)
    player = np.concatenate(players).astype(np.int64)
    order = np.lexsort((player, record))
    same = (np.diff(record[order]) == 0) & (np.diff(player[order]) == 0)
    twice[with_team] = False  # the first member of a team that lost its records may be anybody
    twice[record[order][1:][same]] = True
    return twice
