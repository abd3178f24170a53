"""What headers of tables call the columns that are used."""

import re
from typing import Final

SYNONYMS: Final[dict[str, tuple[str, ...]]] = {
    "date": ("date", "gamedate", "utcdate", "playedon", "dateplayed", "playedat"),
    "year": ("year", "yr"),
    "month": ("month",),
    "day": ("day",),
    "white": ("white", "whiteplayer", "playerwhite", "whitename", "player1", "playera", "p1", "team1",
              "teama", "home", "hometeam", "homeplayer", "whiteusername"),
    "black": ("black", "blackplayer", "playerblack", "blackname", "player2", "playerb", "p2", "team2",
              "teamb", "away", "awayteam", "awayplayer", "visitor", "visitorteam", "blackusername"),
    "white_id": ("whiteid", "whitefideid", "fideidwhite", "whiteplayerid", "player1id", "homeid"),
    "black_id": ("blackid", "blackfideid", "fideidblack", "blackplayerid", "player2id", "awayid"),
    "result": ("result", "outcome", "gameresult", "res", "winner"),
    "score": ("score", "matchscore"),
    "games": ("games", "numberofgames", "numgames", "ngames", "gamesplayed", "gamecount"),
    "white_score": ("whitescore", "scorewhite", "whiteresult", "resultwhite", "whitepoints", "pointswhite",
                    "score1", "player1score", "scorea", "playerascore"),
    "black_score": ("blackscore", "scoreblack", "blackresult", "resultblack", "blackpoints", "pointsblack",
                    "score2", "player2score", "scoreb", "playerbscore"),
    "white_goals": ("whitegoals", "goalswhite", "homescore", "scorehome", "homegoals", "goalshome", "fthg"),
    "black_goals": ("blackgoals", "goalsblack", "awayscore", "scoreaway", "awaygoals", "goalsaway", "ftag"),
    "weight": ("weight",),
    "event": ("event", "eventname", "tournament", "tournamentname", "competition"),
    "site": ("site", "place", "location", "venue", "city"),
    "round": ("round", "rd", "rnd"),
    "variant": ("variant",),
    "status": ("status",),
    "odds": ("odds",),
    "odds_giver": ("oddsgiver", "giver"),
}  # fmt: skip
FURTHER: Final = (
    *("event", "site", "round", "white_id", "black_id", "variant"),
    *("games", "status", "odds", "odds_giver"),
)
IGNORED: Final = ("id", "eco", "_")
_WORDS: Final = {word: ours for ours, words in SYNONYMS.items() for word in words}


def word_of(cell: str) -> str:
    """A header's cell in lower case, without blanks, underscores and punctuation."""
    return re.sub(r"[\W_]", "", cell.casefold())


def column_of(cell: str) -> str | None:
    """Our name for what a header calls a column, None when it is not one that is used."""
    return _WORDS.get(word_of(cell))
