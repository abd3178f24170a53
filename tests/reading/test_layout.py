"""Which column is which: headers, configured names, the one layout that is known without."""

from __future__ import annotations

import pytest

from tests.support.cases import each
from ttt_cli.config.schema import DataConfig
from ttt_cli.reading.batches import ResultKind
from ttt_cli.reading.dates import known_date
from ttt_cli.reading.layout import FURTHER, SYNONYMS, Layout, find_layout
from ttt_cli.reading.results import match_result, match_scores
from ttt_cli.support.errors import ConfigError, DataError


def layout(*rows: str, **config: object) -> Layout:
    return find_layout([row.split(",") for row in rows], DataConfig(**config), "games.csv")  # type: ignore[arg-type]


def table(
    width: int,
    header: bool,
    date: tuple[int, ...],
    white: int,
    black: int,
    result: tuple[int, ...],
    kind: ResultKind,
    weight: int | None = None,
    further: dict[str, int] | None = None,
    **named: object,
) -> Layout:
    columns = {"dates": date, "whites": (white,), "blacks": (black,), "results": result}
    columns |= {name: (index,) for name, index in (further or {}).items()}
    columns |= {} if weight is None else {"weights": (weight,)}
    return Layout(width, header, columns, kind, **named)  # type: ignore[arg-type]


def of_sport(*columns: object, **named: object) -> Layout:
    return table(*columns, chess=False, **named)  # type: ignore[arg-type]


def of_winners(*columns: object, **named: object) -> Layout:
    return of_sport(*columns, winners=True, **named)


@each(
    "header, expected",
    [
        ("date,white,black,result", table(4, True, (0,), 1, 2, (3,), "text")),
        ("UTCDate,white,black,result", table(4, True, (0,), 1, 2, (3,), "text")),
        (
            "UTCDate,Date,white,black,result",
            table(5, True, (1, 0), 2, 3, (4,), "text", made={"dates": known_date}),
        ),
        ("year,UTCDate,white,black,result", table(5, True, (1,), 2, 3, (4,), "text")),
        (
            "Date,White Player,BLACK_PLAYER,Result,event",
            table(5, True, (0,), 1, 2, (3,), "text", further={"event": 4}),
        ),
        ("black,white,weight,outcome,Year", table(5, True, (4,), 1, 0, (3,), "text", 2)),
        ("year,month,day,player1,player2,score1,score2", table(7, True, (0, 1, 2), 3, 4, (5, 6), "scores")),
        ("month,year,white,black,score", table(5, True, (1, 0), 2, 3, (4,), "text")),
        ("month,white,black,score", table(4, True, (0,), 1, 2, (3,), "text", unit="month")),
        ("Week,home,away,HG,AG", of_sport(5, True, (0,), 1, 2, (3, 4), "goals", unit="week")),
        (
            "tourney_date,winner_name,loser_name",
            of_winners(3, True, (0,), 1, 2, (-1,), "sport", constants=("1-0",)),
        ),
        ("date,winner,loser", of_winners(3, True, (0,), 1, 2, (-1,), "sport", constants=("1-0",))),
        ("loser,winner,date,score", of_winners(4, True, (2,), 1, 0, (3,), "winners")),
        (
            "Season,DayNum,WTeamID,WScore,LTeamID,LScore",
            of_winners(6, True, (0,), 2, 4, (-1,), "sport", constants=("1-0",)),
        ),
        (
            "tourney_date,winner_id,winner_name,loser_id,loser_name,score",
            of_winners(6, True, (0,), 2, 4, (5,), "winners", further={"white_id": 1, "black_id": 3}),
        ),
        ("date,winner_id,loser_id", of_winners(3, True, (0,), 1, 2, (-1,), "sport", constants=("1-0",))),
        ("date,winner,loser,result", of_winners(4, True, (0,), 1, 2, (3,), "sport")),
        ("date,white,black,winner", table(4, True, (0,), 1, 2, (3,), "text")),
        (
            "Div,Date,HomeTeam,AwayTeam,FTHG,FTAG,FTR",
            of_sport(7, True, (1,), 2, 3, (6,), "sport", further={"event": 0}),
        ),
        ("year,date,white,black,result", table(5, True, (1,), 2, 3, (4,), "text")),
        ("date,home_team,away_team,home_score,away_score", of_sport(5, True, (0,), 1, 2, (3, 4), "goals")),
        ("date,white,black,white_score,black_score", table(5, True, (0,), 1, 2, (3, 4), "scores")),
        ("date,white,black,white_score", table(4, True, (0,), 1, 2, (3,), "text")),
        ("date,white_score,black_score,white,black,result", table(6, True, (0,), 3, 4, (5,), "text")),
        (
            "home,date,white,black,result",
            table(5, True, (1,), 2, 3, (4,), "text"),
        ),  # the plain word comes first
    ],
)
def test_headers(header: str, expected: Layout) -> None:
    assert layout(header, "1,2,3,4") == expected


@each(
    "header, further",
    [
        (
            "date,white,black,result,Tournament,City,Rd,white_id,WhiteFideId,black_fide_id,variant,status,odds,giver",
            {
                "event": 4,
                "site": 5,
                "round": 6,
                "white_id": 7,
                "black_id": 9,
                "variant": 10,
                "status": 11,
                "odds": 12,
                "odds_giver": 13,
            },
        ),
        ("date,white,black,result,games", {"games": 4}),
        ("date,white_id,black_id,result", {}),  # players known by their numbers alone
        ("date,white_id,black,black_id,result", {"black_id": 3}),
    ],
)
def test_further_columns(header: str, further: dict[str, int]) -> None:
    columns = layout(header, "1,2,3,4").columns
    assert {name: index for name, (index,) in columns.items() if name in FURTHER} == further
    names = header.split(",")
    assert names[columns["whites"][0]] == ("white" if "white" in names else "white_id")
    assert names[columns["blacks"][0]] == ("black" if "black" in names else "black_id")


@each(
    "header, row, config, expected",
    [  # result, kind, column of the score
        ("date,white,black,score", "1858,A,B,1", {}, ((3,), "text", None)),
        ("date,white,black,winner,score", "1858,A,B,A,1", {}, ((4,), "text", None)),
        ("date,white,black,score,result", "1858,A,B,1,1", {}, ((4,), "text", None)),
        ("date,white,black,games,score", "1858,A,B,9,5.5", {}, ((), "scores", 4)),
        ("date,white,black,games,score", "1858,A,B,,½", {}, ((), "scores", 4)),
        ("date,white,black,games,score", "1858,A,B,9,5-4", {}, ((4,), "text", None)),
        ("date,white,black,games,score,result", "1858,A,B,9,5,", {}, ((5,), "text", 4)),
        ("date,white,black,games,white_score", "1858,A,B,9,5", {}, ((), "scores", 4)),
        ("date,white,black,games,white_score,black_score", "1858,A,B,9,5,4", {}, ((4, 5), "scores", None)),
        ("date,white,black,games,x", "1858,A,B,9,5", {"columns": {"score": "x"}}, ((), "scores", 4)),
        ("date,white,black,result,x", "1858,A,B,9,5", {"columns": {"score": "x"}}, ((4,), "text", None)),
        ("date,white,black,score,x", "1858,A,B,9,5", {"columns": {"result": "x"}}, ((4,), "text", None)),
        (
            "1858,A,B,9,5",
            "1859,A,B,1,0",
            {"columns": ["date", "white", "black", "games", "score"]},
            ((), "scores", 4),
        ),
        (
            "1858,A,B,x,1",
            "1859,A,B,x,0",
            {"columns": ["date", "white", "black", "_", "score"]},
            ((4,), "text", None),
        ),
    ],
)
def test_scores_of_matches(
    header: str, row: str, config: dict[str, object], expected: tuple[tuple[int, ...], str, int | None]
) -> None:
    found = layout(header, row, **config)
    result, kind, score = expected
    assert (found.columns["results"], found.kind) == (result if score is None else (*result, score, 3), kind)
    reads = {} if score is None else {"results": match_result if result else match_scores}
    assert found.made == reads


def test_columns_that_are_used() -> None:
    found = layout("x,month,year,white,black,score,weight,games,y,event", "1,2,3,4,5,6,7,8,9,0")
    assert found.used == (1, 2, 3, 4, 5, 6, 7, 9)


def test_a_table_with_names_for_sure() -> None:
    rows = [["year", "white", "black", "result", "x"], ["1858", "A", "B", "1", "2"]]
    assert find_layout(rows, DataConfig(header=False), "x", named=True).header
    listed = DataConfig(columns=["date", "black", "white", "result", "_"])
    assert find_layout(rows, listed, "x", named=True).columns["whites"] == (2,)


def test_a_list_of_columns_may_name_the_winner() -> None:
    assert layout("1858,A,B", columns=["date", "winner", "loser"]) == of_winners(
        3, False, (0,), 1, 2, (-1,), "sport", constants=("1-0",)
    )


def test_constant_columns() -> None:
    found = layout("Year,Home,Away", constant={"result": "1-0", "weight": 2})
    assert found == of_sport(3, True, (0,), 1, 2, (-1,), "sport", -2, constants=("1-0", "2"))
    assert found.used == (0, 1, 2)
    winners = layout("date,winner,loser", constant={"result": "0-1"})
    assert (winners.columns["results"], winners.kind) == ((-1,), "sport")
    with pytest.raises(ConfigError, match=r"data\.constant: unknown column name 'rsult'") as error:
        layout("Year,Home,Away", constant={"rsult": "1-0"})
    assert error.value.hint == "did you mean 'result'?"


def test_no_word_means_two_columns() -> None:
    words = [word for synonyms in SYNONYMS.values() for word in synonyms]
    assert len(words) == len(set(words))
    assert set(FURTHER) < SYNONYMS.keys()


def test_the_layout_of_the_first_published_sample() -> None:
    expected = table(6, False, (1,), 2, 3, (4, 5), "scores")
    assert layout("1011,1850,Nathan; SD.,Anderssen,0,2", "1012,1850,Cochrane,M.,1,1") == expected


@each("row", ["1850,Nathan,Anderssen,0", "1,1850,2,3,0,2", "1,185,A,B,0,2", "1,1850,A,B,3,2"])
def test_other_layouts_are_not_guessed(row: str) -> None:
    with pytest.raises(DataError, match="columns are not known") as caught:
        layout(row)
    assert "data.columns=[" in str(caught.value.hint)


def test_columns_in_order() -> None:
    names = ["id", "date", "white", "black", "white_score", "black_score"]
    assert layout("1,1858,A,B,1,0", header=False, columns=names) == table(
        6, False, (1,), 2, 3, (4, 5), "scores"
    )
    assert layout("1,1858,A,B,1,0", columns=names).header is False
    assert layout("id,date,white,black,x,y", columns=names).header is True
    assert layout(",".join(names).upper(), columns=names).header is True
    assert layout("a,b,c,d,e,f", header=True, columns=names) == table(6, True, (1,), 2, 3, (4, 5), "scores")
    assert layout("x,1858,A,B,y,1", columns=["_", "year", "home", "away", "_y", "result"]).columns[
        "results"
    ] == (5,)


def test_columns_by_name() -> None:
    columns = {"white": "first", "black": "Second", "white_goals": "g1", "black_goals": "g2"}
    expected = table(5, True, (2,), 0, 1, (3, 4), "goals")
    assert layout("First,second,date,g1,g2", columns=columns) == expected


def test_a_configured_column_prevails_over_what_the_header_says() -> None:
    columns = {"white": "black", "black": "white", "year": "season"}
    found = layout("date,season,white,black,result", columns=columns)
    assert found == table(5, True, (1,), 3, 2, (4,), "text")
    scores = {"white_score": "a", "black_score": "b"}
    assert layout("date,white,black,result,a,b", columns=scores).kind == "scores"


@each(
    "header, config, message, hint",
    [
        ("date,white,black,result", {"columns": {"white": "whte"}}, "no column 'whte'", "'white'"),
        ("date,white,black,result", {"columns": {"whit": "white"}}, "unknown column name 'whit'", "'white'"),
        (
            "1,2,3,4",
            {"columns": ["date", "whit", "black", "result"]},
            "unknown column name 'whit'",
            "'white'",
        ),
        ("1,2,3,4", {"columns": ["date", "white", "black"]}, "names 3 columns, rows have 4", "1, 2, 3, 4"),
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
