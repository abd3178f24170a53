"""What headers of tables call the columns that are used."""

import re
from typing import Final

WINNER: Final = ("winnername", "winnerteam", "winningteam", "winningplayer", "wteam", "wteamid")
LOSER: Final = ("loser", "losername", "loserteam", "losingteam", "losingplayer", "lteam", "lteamid")
SYNONYMS: Final[dict[str, tuple[str, ...]]] = {
    "date": ("date", "gamedate", "playedon", "dateplayed", "playedat", "tourneydate", "matchdate"),
    "year": ("year", "yr", "season"),
    "month": ("month", "monthid", "monthno", "monthnumber"),
    "day": ("day",),
    "utc_date": ("utcdate",),
    "week": ("week", "weekid", "weekno", "weeknumber", "gameweek", "matchweek"),
    "period": ("period", "periodid", "ratingperiod", "timestep"),
    "white": ("white", "whiteplayer", "playerwhite", "whitename", "player1", "playera", "p1", "team1",
              "teama", "home", "hometeam", "homeplayer", "whiteusername", *WINNER),
    "black": ("black", "blackplayer", "playerblack", "blackname", "player2", "playerb", "p2", "team2",
              "teamb", "away", "awayteam", "awayplayer", "visitor", "visitorteam", "blackusername", *LOSER),
    "white_id": ("whiteid", "whitefideid", "fideidwhite", "whiteplayerid", "player1id", "homeid", "winnerid"),
    "black_id": ("blackid", "blackfideid", "fideidblack", "blackplayerid", "player2id", "awayid", "loserid"),
    "result": ("result", "outcome", "gameresult", "res", "ftr", "winner"),
    "score": ("score", "matchscore"),
    "games": ("games", "numberofgames", "numgames", "ngames", "gamesplayed", "gamecount"),
    "white_score": ("whitescore", "scorewhite", "whiteresult", "resultwhite", "whitepoints", "pointswhite",
                    "score1", "player1score", "scorea", "playerascore"),
    "black_score": ("blackscore", "scoreblack", "blackresult", "resultblack", "blackpoints", "pointsblack",
                    "score2", "player2score", "scoreb", "playerbscore"),
    "white_goals": ("whitegoals", "goalswhite", "homescore", "scorehome", "homegoals", "goalshome", "fthg", "hg",
                    "hometeamgoals", "homepoints", "homepts"),
    "black_goals": ("blackgoals", "goalsblack", "awayscore", "scoreaway", "awaygoals", "goalsaway", "ftag", "ag",
                    "awayteamgoals", "awaypoints", "awaypts"),
    "weight": ("weight",),
    "event": ("event", "eventname", "tournament", "tournamentname", "competition", "tourneyname", "league",
              "div", "division"),
    "site": ("site", "place", "location", "venue", "city"),
    "round": ("round", "rd", "rnd"),
    "variant": ("variant",),
    "time_control": ("timecontrol", "timeclass"),
    "status": ("status",),
    "odds": ("odds",),
    "odds_giver": ("oddsgiver", "giver"),
    "neutral": ("neutral", "isneutral", "neutralground", "neutralvenue", "neutralsite"),
}  # fmt: skip
FURTHER: Final = (
    *("event", "site", "round", "white_id", "black_id", "variant", "time_control"),
    *("games", "status", "odds", "odds_giver", "neutral"),
)
IGNORED: Final = ("id", "eco", "_")
_WORDS: Final = {word: ours for ours, words in SYNONYMS.items() for word in words}


def word_of(cell: str) -> str:
    """A header's cell in lower case, without blanks, underscores and punctuation."""
    return re.sub(r"[\W_]", "", cell.casefold())


def column_of(cell: str) -> str | None:
    """Our name for what a header calls a column, None when it is not one that is used."""
    return _WORDS.get(word_of(cell))
