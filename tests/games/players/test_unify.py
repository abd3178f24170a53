"""Which spellings are one player: keys, the order of names, alias files, ids."""

from __future__ import annotations

from pathlib import Path

from tests.support.cases import each
from tests.support.collected import game, reasons, records_of
from ttt_cli.config.schema import DataConfig, NameMatching
from ttt_cli.games.names import comma_keys, name_key
from ttt_cli.games.table import Records


def whites(records: Records) -> list[str]:
    """Who had White in each record."""
    return [records.players[player] if player >= 0 else "" for player in records.white.tolist()]


def united(*names: str, **data: object) -> list[str]:
    """The players of spellings, each of one game with White."""
    return whites(records_of([game(name, "Xx") for name in names], data=DataConfig(**data)))


@each(
    "spellings, matching",
    [
        (["Blackburne, J.H.", "Blackburne, J. H.", "Blackburne, J H", "Blackburne,JH"], "clean"),
        (["Nunn, John DM", "Nunn, John D. M."], "clean"),
        (["GM Tal, Mihail", "Tal, Mihail (LAT)", "Tal , Mihail"], "clean"),
        (["MORPHY, PAUL", "Morphy, Paul", "morphy, paul"], "folded"),
        (["Löwenthal, J", "Lowenthal, J.", "L&ouml;wenthal, J", "Lo\u0308wenthal, J"], "folded"),
        (["Vachier-Lagrave, Maxime", "Vachier Lagrave, Maxime"], "folded"),
        (["O'Kelly, A", "O’Kelly, A", "OKelly, A"], "folded"),
        (["Paul Morphy", "Morphy, Paul", "Morphy Paul"], "full"),
        (["Jan Willem te Kolste", "Te Kolste, Jan Willem"], "full"),
    ],
)
def test_spellings_of_one_name(spellings: list[str], matching: NameMatching) -> None:
    assert len(set(united(*spellings, names=matching))) == 1
    levels: list[NameMatching] = ["clean", "folded", "full"]
    for lower in levels[: levels.index(matching)]:
        assert len(set(united(*spellings, names=lower))) > 1
    for higher in levels[levels.index(matching) :]:
        assert len(set(united(*spellings, names=higher))) == 1


@each(
    "spellings",
    [
        ["Morphy, Paul", "Morphy, P"],
        ["Morphy, Paul", "Morphy"],
        ["Paul Morphy", "Morphy"],
        ["Thomas, George", "George, Thomas"],
        ["Volkov, S1", "Volkov, S2", "Volkov, S"],
        ["Xu, Bo", "Xu, B O"],
        ["Worrall", "Mrs. Worrall"],
        ["Bruhl", "Brühl, H"],
    ],
)
def test_names_that_stay_apart(spellings: list[str]) -> None:
    assert len(set(united(*spellings))) == len(spellings)


def test_a_name_in_another_order_is_not_guessed() -> None:
    assert united("Thomas George", "George, Thomas", "Thomas, George") == [
        "Thomas George",
        "George, Thomas",
        "Thomas, George",
    ]
    assert united("Paul Morphy", "Murphy, Paul") == ["Paul Morphy", "Murphy, Paul"]


def test_the_name_may_stand_in_another_file() -> None:
    records = records_of([game("Paul Morphy", "Xx")], [game("Morphy, Paul", "Xx")])
    assert whites(records) == ["Morphy, Paul"] * 2


def test_the_most_frequent_spelling_is_shown() -> None:
    assert united("TAL, M", "TAL, M", "Tal, M") == ["TAL, M"] * 3
    assert united("TAL, M", "Tal, M") == ["Tal, M"] * 2  # of equals the last in order, seldom in capitals
    assert united("Paul Morphy", "Paul Morphy", "Morphy, Paul") == ["Morphy, Paul"] * 3
    rows = [game("Xx", "Löwenthal"), game("Xx", "Lowenthal"), game("Löwenthal", "Yy")]
    assert records_of(rows).players == ("Löwenthal", "Xx", "Yy")


def test_two_spellings_of_one_player_are_no_game() -> None:
    records = records_of([game("Morphy, Paul", "Paul Morphy"), game("A", "B")])
    assert reasons(records) == ["same player twice", None]
    assert records.report.dropped == {"same player twice": 1}


def test_keys_of_signs_and_other_letters() -> None:
    assert name_key("???!") == "???!"
    assert name_key("Чигорин, М.И.") == "чигорин, м и"


def test_the_code_of_a_country_behind_given_names_is_no_initials() -> None:
    assert name_key("Ivanov, S RUS") == "ivanov, s, rus"
    assert name_key("Ivanov, S.V. RUS") == "ivanov, s v, rus"
    assert name_key("Sokolov, And") == "sokolov, and"
    assert name_key("Nanov, RUS") == "nanov, r u s"  # all that is told of him
    assert name_key("Ivanov, S XYZ") == "ivanov, s x y z"
    assert list(comma_keys("a b c")) == ["b c, a", "a, b c", "c, a b", "a b, c"]
    assert list(comma_keys("c, a b")) == []


def aliases(tmp_path: Path, text: str) -> str:
    path = tmp_path / "aliases.csv"
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_an_alias_file_comes_before_everything(tmp_path: Path) -> None:
    file = aliases(tmp_path, '"Morphy, Paul Charles","Morphy, Paul",Morphy\n"Tal, Mihail","Tal, M"\n')
    names = ["Morphy, Paul", "MORPHY", "Paul Morphy", "Paul Charles Morphy", "M Tal", "Tal, M.", "Tal, Max"]
    main, tal = "Morphy, Paul Charles", "Tal, Mihail"
    assert united(*names, aliases=file) == [main, main, main, main, tal, tal, "Tal, Max"]
    clean = united(*names, aliases=file, names="clean")
    assert clean == [main, "MORPHY", "Paul Morphy", "Paul Charles Morphy", "M Tal", tal, "Tal, Max"]


@each(
    "text, names, players",
    [
        ("Caissa,Kaissa\n", "CAISSA; CAISSA; Kaissa", "Caissa; Caissa; Caissa"),  # shown as it stands there
        # spellings that fold alike may be two players: others of the key stay alone
        ("Mueller Anna,MÜLLER\nMueller Bert,Müller\n", "MÜLLER; Müller; Muller", "Mueller Anna; Mueller Bert; Muller"),
        # a key whose names are all others' is nobody's
        (
            'Mueller Anna,"MÜLLER, A"\nMueller Bert,"Müller, A"\n',
            "MÜLLER, A; Müller, A; A Muller", "Mueller Anna; Mueller Bert; A Muller",
        ),
    ],
)  # fmt: skip
def test_names_in_alias_files(text: str, names: str, players: str, tmp_path: Path) -> None:
    assert united(*names.split("; "), aliases=aliases(tmp_path, text)) == players.split("; ")


def test_games_of_a_status_may_be_anothers(tmp_path: Path) -> None:
    file = aliases(
        tmp_path,
        'Anderssen,"Anderssen, A"\n"Anderssen (offhand)",Anderssen,status=casual\nNobody,No One,status=x\n',
    )
    rows = [
        game("Anderssen", "B", status="formal"),
        game("Anderssen, A.", "B", status="Casual"),
        game("B", "Anderssen", status="casual"),
        game("Anderssen", "B"),
    ]
    records = records_of(rows, data=DataConfig(aliases=file))
    assert records.players == ("Anderssen", "Anderssen (offhand)", "B")
    assert records.white.tolist() == [0, 1, 2, 0]
    assert records.black.tolist() == [2, 2, 1, 2]


def ids(*rows: tuple[str, str], **data: object) -> list[str]:
    """The players of names with ids, each of one game with White."""
    table = [game(name, "Xx", white_id=id_) for name, id_ in rows]
    return whites(records_of(table, data=DataConfig(**data)))


@each(
    "rows, players",
    [
        (
            [("Carlsen, M", "15"), ("Carlsen, Magnus", "15"), ("Carlsen, Magnus", "15")],
            ["Carlsen, Magnus"] * 3,
        ),
        # a name without an id belongs to the only id that has it
        ([("Tal, M", "7"), ("Tal, M", ""), ("Tal, Mihail", "7"), ("Tal, Mihail", "0")], ["Tal, Mihail"] * 4),
        # namesakes are told apart
        (
            [("Li Chao", "1"), ("Li Chao", "2"), ("Li Chao", ""), ("Li Chao B", "2")],
            ["Li Chao (1)", "Li Chao B", "Li Chao", "Li Chao B"],
        ),
        ([("Li Chao", "1"), ("Li Chao", "2"), ("Xi, J", "?")], ["Li Chao (1)", "Li Chao (2)", "Xi, J"]),
    ],
)
def test_players_by_their_ids(rows: list[tuple[str, str]], players: list[str]) -> None:
    assert ids(*rows) == players


def test_ids_may_be_ignored() -> None:
    assert ids(("Tal, M", "7"), ("Tal, Mihail", "7"), ids=False) == ["Tal, M", "Tal, Mihail"]


def test_ids_of_both_sides_are_the_same_people() -> None:
    rows = [
        game("Tal, M", "Xx", white_id="7"),
        game("Xx", "Tal, Mihail", black_id="7"),
        game("?", "Xx", white_id="7"),
    ]
    records = records_of(rows)
    assert records.players == ("Tal, Mihail", "Xx")
    assert (records.white.tolist(), records.black.tolist()) == ([0, 1, -1], [1, 0, 1])


def test_one_id_on_both_sides_is_no_game() -> None:
    assert reasons(
        records_of([game("A", "B", white_id="7", black_id="7"), game("A", "C", white_id="7")])
    ) == [
        "same player twice",
        None,
    ]
