"""Which column is which: headers, configured names, the one layout that is known without."""

from __future__ import annotations

import pytest

from tests.support.cases import each
from ttt_cli.config.schema import DataConfig
from ttt_cli.reading.batches import Layout
from ttt_cli.reading.layout import FURTHER, SYNONYMS, find_layout
from ttt_cli.support.errors import ConfigError, DataError


def layout(*rows: str, **config: object) -> Layout:
    return find_layout([row.split(",") for row in rows], DataConfig(**config), "games.csv")  # type: ignore[arg-type]


def told(found: Layout) -> str:
    """Width, columns of dates, White, Black and results, further columns, kind and properties."""
    named = dict(found.columns)
    columns = [
        "+".join(map(str, named.pop(name))) for name in ("dates", "whites", "blacks", "results")
    ]
    columns += [f"{name}={index}" for name, (index,) in named.items()]
    more = [
        found.kind,
        found.unit,
        *found.constants,
        *(read.__name__ for read in found.combiners.values()),
    ]
    more += [
        "" if found.chess else "no chess",
        "winners" * found.winners,
        "" if found.header else "no header",
    ]
    return " ".join(filter(None, [str(found.width), *columns, *more]))


@each(
    "header, expected",
    [
        ("date,white,black,result", "4 0 1 2 3 text"),
        ("UTCDate,white,black,result", "4 0 1 2 3 text"),
        ("UTCDate,Date,white,black,result", "5 1+0 2 3 4 text known_date"),
        ("year,UTCDate,white,black,result", "5 1 2 3 4 text"),
        ("Date,White Player,BLACK_PLAYER,Result,event", "5 0 1 2 3 event=4 text"),
        ("black,white,weight,outcome,Year", "5 4 1 0 3 weights=2 text"),
        ("year,month,day,player1,player2,score1,score2", "7 0+1+2 3 4 5+6 scores joined_date"),
        ("month,year,white,black,score", "5 1+0 2 3 4 text joined_date"),
        ("month,white,black,score", "4 0 1 2 3 text month"),
        ("Week,home,away,HG,AG", "5 0 1 2 3+4 goals week no chess"),
        ("tourney_date,winner_name,loser_name", "3 0 1 2 -1 sport 1-0 no chess winners"),
        ("date,winner,loser", "3 0 1 2 -1 sport 1-0 no chess winners"),
        ("loser,winner,date,score", "4 2 1 0 3 winners no chess winners"),
        ("Season,DayNum,WTeamID,WScore,LTeamID,LScore", "6 0 2 4 -1 sport 1-0 no chess winners"),
        (
            "tourney_date,winner_id,winner_name,loser_id,loser_name,score",
            "6 0 2 4 5 white_id=1 black_id=3 winners no chess winners",
        ),
        ("date,winner_id,loser_id", "3 0 1 2 -1 sport 1-0 no chess winners"),
        ("date,winner,loser,result", "4 0 1 2 3 sport no chess winners"),
        ("date,white,black,winner", "4 0 1 2 3 text"),
        ("Div,Date,HomeTeam,AwayTeam,FTHG,FTAG,FTR", "7 1 2 3 6 event=0 sport no chess"),
        ("year,date,white,black,result", "5 1 2 3 4 text"),
        ("date,home_team,away_team,home_score,away_score", "5 0 1 2 3+4 goals no chess"),
        ("date,white,black,white_score,black_score", "5 0 1 2 3+4 scores"),
        ("date,white,black,white_score", "4 0 1 2 3 text"),
        ("date,white_score,black_score,white,black,result", "6 0 3 4 5 text"),
        ("home,date,white,black,result", "5 1 2 3 4 text"),
        (
            "date,white,black,result,Tournament,City,Rd,white_id,WhiteFideId,black_fide_id,variant,status,odds,giver",
            "14 0 1 2 3 event=4 site=5 round=6 white_id=7 black_id=9 variant=10 status=11 odds=12 odds_giver=13 text",
        ),
        ("date,white,black,result,games", "5 0 1 2 3 games=4 text"),
        ("date,white_id,black_id,result", "4 0 1 2 3 text"),
        ("date,white_id,black,black_id,result", "5 0 1 2 4 black_id=3 text"),
    ],
)
def test_headers(header: str, expected: str) -> None:
    assert told(layout(header, "1,2,3,4")) == expected


GAMES, MATCH = "date,white,black,games", "5 0 1 2 4+3 games=3 scores match_scores"


def listed(*more: str) -> dict[str, object]:
    return {"columns": ["date", "white", "black", *more]}


@each(
    "header, row, config, expected",
    [
        ("date,white,black,score", "1858,A,B,1", {}, "4 0 1 2 3 text"),
        ("date,white,black,winner,score", "1858,A,B,A,1", {}, "5 0 1 2 4 text"),
        ("date,white,black,score,result", "1858,A,B,1,1", {}, "5 0 1 2 4 text"),
        ("date,white,black,games,score", "1858,A,B,9,5.5", {}, MATCH),
        ("date,white,black,games,score", "1858,A,B,,½", {}, MATCH),
        ("date,white,black,games,score", "1858,A,B,9,5-4", {}, "5 0 1 2 4 games=3 text"),
        (f"{GAMES},score,result", "1858,A,B,9,5,", {}, "6 0 1 2 5+4+3 games=3 text match_result"),
        (f"{GAMES},white_score", "1858,A,B,9,5", {}, MATCH),
        (f"{GAMES},white_score,black_score", "1858,A,B,9,5,4", {}, "6 0 1 2 4+5 games=3 scores"),
        (f"{GAMES},x", "1858,A,B,9,5", {"columns": {"score": "x"}}, MATCH),
        (
            "date,white,black,result,x",
            "1858,A,B,9,5",
            {"columns": {"score": "x"}},
            "5 0 1 2 4 text",
        ),
        (
            "date,white,black,score,x",
            "1858,A,B,9,5",
            {"columns": {"result": "x"}},
            "5 0 1 2 4 text",
        ),
        ("1858,A,B,9,5", "1859,A,B,1,0", listed("games", "score"), f"{MATCH} no header"),
        ("1858,A,B,x,1", "1859,A,B,x,0", listed("_", "score"), "5 0 1 2 4 text no header"),
    ],
)
def test_scores_of_matches(header: str, row: str, config: dict[str, object], expected: str) -> None:
    assert told(layout(header, row, **config)) == expected


def test_a_table_with_names_for_sure() -> None:
    rows = [["year", "white", "black", "result", "x"], ["1858", "A", "B", "1", "2"]]
    assert find_layout(rows, DataConfig(header=False), "x", named=True).header
    listed = DataConfig(columns=["date", "black", "white", "result", "_"])
    assert find_layout(rows, listed, "x", named=True).columns["whites"] == (2,)


def test_constant_columns() -> None:
    found = layout("Year,Home,Away", constant={"result": "1-0", "weight": 2})
    assert told(found) == "3 0 1 2 -1 weights=-2 sport 1-0 2 no chess"
    assert found.used == (0, 1, 2)
    winners = layout("date,winner,loser", constant={"result": "0-1"})
    assert told(winners) == "3 0 1 2 -1 sport 0-1 no chess winners"
    with pytest.raises(ConfigError, match=r"data\.constant: unknown column name 'rsult'") as error:
        layout("Year,Home,Away", constant={"rsult": "1-0"})
    assert error.value.hint == "did you mean 'result'?"


def test_no_word_means_two_columns() -> None:
    words = [word for synonyms in SYNONYMS.values() for word in synonyms]
    assert len(words) == len(set(words))
    assert set(FURTHER) < SYNONYMS.keys()


def test_the_layout_of_the_first_published_sample() -> None:
    found = layout("1011,1850,Nathan; SD.,Anderssen,0,2", "1012,1850,Cochrane,M.,1,1")
    assert told(found) == "6 1 2 3 4+5 scores no header"


@each("row", ["1850,Nathan,Anderssen,0", "1,1850,2,3,0,2", "1,185,A,B,0,2", "1,1850,A,B,3,2"])
def test_other_layouts_are_not_guessed(row: str) -> None:
    with pytest.raises(DataError, match="columns are not known") as caught:
        layout(row)
    assert "data.columns=[" in str(caught.value.hint)


def test_columns_in_order() -> None:
    names = ["id", "date", "white", "black", "white_score", "black_score"]
    listed = layout("1,1858,A,B,1,0", header=False, columns=names)
    assert told(listed) == "6 1 2 3 4+5 scores no header"
    assert layout("1,1858,A,B,1,0", columns=names).header is False
    assert layout("id,date,white,black,x,y", columns=names).header is True
    assert layout(",".join(names).upper(), columns=names).header is True
    assert told(layout("a,b,c,d,e,f", header=True, columns=names)) == "6 1 2 3 4+5 scores"
    winners = "3 0 1 2 -1 sport 1-0 no chess winners no header"
    assert told(layout("1858,A,B", columns=["date", "winner", "loser"])) == winners
    assert layout("x,1858,A,B,y,1", columns=["_", "year", "home", "away", "_y", "result"]).columns[
        "results"
    ] == (5,)


def test_columns_by_name() -> None:
    columns = {"white": "first", "black": "Second", "white_goals": "g1", "black_goals": "g2"}
    assert told(layout("First,second,date,g1,g2", columns=columns)) == "5 2 0 1 3+4 goals no chess"


def test_a_configured_column_prevails_over_what_the_header_says() -> None:
    columns = {"white": "black", "black": "white", "year": "season"}
    found = layout("date,season,white,black,result", columns=columns)
    assert told(found) == "5 1 3 2 4 text"
    scores = {"white_score": "a", "black_score": "b"}
    assert layout("date,white,black,result,a,b", columns=scores).kind == "scores"


@each(
    "header, config, message, hint",
    [
        ("date,white,black,result", {"columns": {"white": "whte"}}, "no column 'whte'", "'white'"),
        (
            "date,white,black,result",
            {"columns": {"whit": "white"}},
            "unknown column name 'whit'",
            "'white'",
        ),
        (
            "1,2,3,4",
            {"columns": ["date", "whit", "black", "result"]},
            "unknown column name 'whit'",
            "'white'",
        ),
        (
            "1,2,3,4",
            {"columns": ["date", "white", "black"]},
            "names 3 columns, rows have 4",
            "1, 2, 3, 4",
        ),
        ("1,2,3,4", {"columns": ["white", "white", "black", "result"]}, "names white twice", None),
        (
            "1,2,3,4",
            {"columns": {"white": "x"}, "header": False},
            "maps names that the file does not",
            "1, 2",
        ),
    ],
)
def test_config_that_does_not_fit(
    header: str, config: dict[str, object], message: str, hint: str | None
) -> None:
    with pytest.raises(ConfigError, match=message) as caught:
        layout(header, **config)
    assert hint is None or hint in str(caught.value.hint)


@each(
    "header, config, missing",
    [
        ("white,black,result", {}, "no column for date among white, black, result"),
        ("date,white,black", {}, "no column for result"),
        ("date,result,white", {"header": True}, "no column for black"),
        ("1,2,3", {"columns": ["date", "white", "black"]}, "no column for result"),
    ],
)
def test_missing_columns(header: str, config: dict[str, object], missing: str) -> None:
    with pytest.raises(DataError, match=missing) as caught:
        layout(header, **config)
    assert caught.value.where == "games.csv"
