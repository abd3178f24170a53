"""Which spellings are one player: keys, the order of names, ids, alias files, and answers about names."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from tests.support.cases import each
from tests.support.collected import game, reasons, records_of
from ttt_cli.config.schema import DataConfig, NameMatching
from ttt_cli.games.aliases import (
    Aliases,
    Decision,
    Decisions,
    read_aliases,
    read_decisions,
    scid_spellings,
)
from ttt_cli.games.extend import extend_games
from ttt_cli.games.names import name_key
from ttt_cli.games.table import Records, games_of
from ttt_cli.reading import input as reading
from ttt_cli.support.errors import DataError


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
        # names in another order are not guessed
        ["Thomas George", "George, Thomas", "Thomas, George"],
        ["Paul Morphy", "Murphy, Paul"],
    ],
)
def test_names_that_stay_apart(spellings: list[str]) -> None:
    assert len(set(united(*spellings))) == len(spellings)


def test_the_most_frequent_spelling_is_shown() -> None:
    assert united("TAL, M", "TAL, M", "Tal, M") == ["TAL, M"] * 3
    assert (
        united("TAL, M", "Tal, M") == ["Tal, M"] * 2
    )  # of equals the last in order, seldom in capitals
    assert united("Paul Morphy", "Paul Morphy", "Morphy, Paul") == ["Morphy, Paul"] * 3
    rows = [game("Xx", "Löwenthal"), game("Xx", "Lowenthal"), game("Löwenthal", "Yy")]
    assert records_of(rows).players == ("Löwenthal", "Xx", "Yy")


def test_two_spellings_or_one_id_of_one_player_are_no_game() -> None:
    rows = [game("Morphy, Paul", "Paul Morphy"), game("A", "B", white_id="7", black_id="7")]
    records = records_of([*rows, game("A", "C", white_id="7")])
    assert reasons(records) == ["same player twice", "same player twice", None]
    assert records.report.dropped == {"same player twice": 2}


@each(
    "name, key",
    [
        ("???!", "???!"),
        ("Чигорин, М.И.", "чигорин, м и"),
        # the code of a country behind given names is no initials
        ("Ivanov, S RUS", "ivanov, s, rus"),
        ("Ivanov, S.V. RUS", "ivanov, s v, rus"),
        ("Sokolov, And", "sokolov, and"),
        ("Nanov, RUS", "nanov, r u s"),
        ("Ivanov, S XYZ", "ivanov, s x y z"),
    ],
)
def test_keys(name: str, key: str) -> None:
    assert name_key(name) == key


def written(tmp_path: Path, text: str) -> str:
    path = tmp_path / "aliases.csv"
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_an_alias_file_comes_before_everything(tmp_path: Path) -> None:
    file = written(
        tmp_path, '"Morphy, Paul Charles","Morphy, Paul",Morphy\n"Tal, Mihail","Tal, M"\n'
    )
    names = [
        "Morphy, Paul",
        "MORPHY",
        "Paul Morphy",
        "Paul Charles Morphy",
        "M Tal",
        "Tal, M.",
        "Tal, Max",
    ]
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
    assert united(*names.split("; "), aliases=written(tmp_path, text)) == players.split("; ")


def test_games_of_a_status_may_be_anothers(tmp_path: Path) -> None:
    file = written(
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


@each(
    "rows, players",
    [
        (
            "Carlsen, M 15; Carlsen, Magnus 15; Carlsen, Magnus 15",
            "Carlsen, Magnus; Carlsen, Magnus; Carlsen, Magnus",
        ),
        # a name without an id belongs to the only id that has it
        (
            "Tal, M 7; Tal, M -; Tal, Mihail 7; Tal, Mihail 0",
            "Tal, Mihail; Tal, Mihail; Tal, Mihail; Tal, Mihail",
        ),
        # namesakes are told apart
        (
            "Li Chao 1; Li Chao 2; Li Chao -; Li Chao B 2",
            "Li Chao (1); Li Chao B; Li Chao; Li Chao B",
        ),
        ("Li Chao 1; Li Chao 2; Xi, J ?", "Li Chao (1); Li Chao (2); Xi, J"),
    ],
)
def test_players_by_their_ids(rows: str, players: str) -> None:
    pairs = [row.rsplit(" ", 1) for row in rows.split("; ")]
    table = [game(name, "Xx", white_id=one.replace("-", "")) for name, one in pairs]
    assert whites(records_of(table)) == players.split("; ")
    if players.startswith("Tal"):
        assert whites(records_of(table, data=DataConfig(ids=False)))[:2] == ["Tal, M", "Tal, M"]


def test_ids_of_both_sides_are_the_same_people() -> None:
    rows = [
        game("Tal, M", "Xx", white_id="7"),
        game("Xx", "Tal, Mihail", black_id="7"),
        game("?", "Xx", white_id="7"),
    ]
    records = records_of(rows)
    assert records.players == ("Tal, Mihail", "Xx")
    assert (records.white.tolist(), records.black.tolist()) == ([0, 1, -1], [1, 0, 1])


@each(
    "text, names, by_status, by_years",
    [
        (
            '\ufeff# comment\nTal,"Tal, M.", Tahl,\n\n"Morphy, Paul","Paul  Morphy"\n',
            {"Tal, M.": "Tal", "Tahl": "Tal", "Paul Morphy": "Morphy, Paul"}, {}, {},
        ),
        ("Tal,T\nTal,T,Tal\n", {"T": "Tal", "Tal": "Tal"}, {}, {}),  # the same said twice
        ("# nothing yet\n", {}, {}, {}),
        (
            'Tal (fun),Tal,"Tal, M",Status = Casual\n',
            {}, {("Tal", "casual"): "Tal (fun)", ("Tal, M", "casual"): "Tal (fun)"}, {},
        ),
        (
            "Wilson (old),Wilson,Years = -1900\nWilson (new),Wilson,years=1950-\n",
            {}, {}, {("Wilson", 0, 1900): "Wilson (old)", ("Wilson", 1950, 9999): "Wilson (new)"},
        ),
    ],
)  # fmt: skip
def test_lines_of_main_and_synonyms(
    text: str,
    names: dict[str, str],
    by_status: dict[tuple[str, str], str],
    by_years: dict[tuple[str, int, int], str],
    tmp_path: Path,
) -> None:
    aliases = read_aliases(written(tmp_path, text))
    assert (aliases.names, aliases.by_status, aliases.by_years) == (names, by_status, by_years)
    assert aliases.mains == {*names.values(), *by_status.values(), *by_years.values()}


@each(
    "header, row",
    [("spelling,name,games", '"Tal,M",Tal,12'), ("as_in_pgn,canonical,n", '"Tal,M",Tal,12')],
)
def test_a_line_for_each_spelling(tmp_path: Path, header: str, row: str) -> None:
    path = tmp_path / "aliases.csv.gz"
    path.write_bytes(gzip.compress(f"{header}\n{row}\n".encode()))
    assert read_aliases(str(path)).names == {"Tal, M": "Tal"}
    limited = read_aliases(written(tmp_path, f"status,{header}\nsoft,{row}\n"))
    assert (limited.names, limited.by_status) == ({}, {("Tal, M", "soft"): "Tal"})


@each(
    "text, line, message",
    [
        ("Tal,T\nTimman,T\n", 2, "'T' is 'Tal' in line 1, and 'Timman' here"),
        (
            "Tal,T,status=soft\n#\nTimman,T,status=soft\n",
            3,
            "'T' is 'Tal' in line 1, and 'Timman' here",
        ),
        ("Tal,T\nTahl,Tal\n", 1, "'T' is 'Tal', which is itself 'Tahl' in line 2"),
        ("Tal\n", 1, "no synonym"),
        ("Tal,status=soft\n", 1, "no synonym"),
        (",T\n", 1, "a name is empty"),
        ("Tal,T,status=a,status=b\n", 1, "more than one status"),
        ("Tal,T,status=a,years=1900-\n", 1, "more than one status or range of years"),
        ("Tal,T,years=soon\n", 1, "'soon' is not a range of years"),
        (
            "Tal,T,years=1900-\nTimman,T,years=1900-\n",
            2,
            "'T' is 'Tal' in line 1, and 'Timman' here",
        ),
        ('Tal,"T\n', 1, "cannot be read"),
        ("spelling,name\nT\n", 2, "1 fields are too few"),
        ("date,white,black,result\n1900,A,B,1-0\n", 0, "contains games"),
    ],
)
def test_contradictions_have_their_line(tmp_path: Path, text: str, line: int, message: str) -> None:
    path = written(tmp_path, text)
    with pytest.raises(DataError) as caught:
        read_aliases(path)
    assert caught.value.where == (f"{path}:{line}" if line else path)
    assert message in caught.value.message


def test_an_alias_file_has_a_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "_LARGEST_LIST", 100)
    (tmp_path / "a.csv").write_text("A,B\n" * 30)
    with pytest.raises(DataError, match="takes more than 0 MB"):
        read_aliases(str(tmp_path / "a.csv"))


def test_names_are_split_by_years(tmp_path: Path) -> None:
    path = written(tmp_path, 'Wilson (old),Wilson,years=-1900\n"Young, W",Wilson,years=1950-\n')
    data = DataConfig(aliases=path)
    rows = [game("Wilson", "Bird", date=str(year)) for year in (1890, 1900, 1925, 1950, 1960)]
    assert whites(records_of(rows, data=data)) == [
        *["Wilson (old)"] * 2,
        "Wilson",
        *["Young, W"] * 2,
    ]
    parts = [games_of(records_of([row])) for row in rows]
    assert len(extend_games(parts[0], parts[4], data).games.players) == 3


def test_aliases_of_nobody_are_reported(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        'Morphy,"MORPHY, P",Murphy\n#\nTal,Tahl,Thal,status=soft\nBird,"Bird, Adolf"\nTal,Tall,years=1900-\n',
    )
    rows = [game("Morphy, P.", "Anderssen"), game("Adolf Bird", "x, Y")]
    problems = records_of(rows, data=DataConfig(aliases=path)).problems
    assert [(one.place, one.reason, one.action, one.detail) for one in problems] == [
        (f"{path}:1", "aliases of nobody", "kept", "4 of 6 spellings: Murphy; Tahl; Thal; ...")
    ]


def read(decisions: Decisions, folder: Path) -> Aliases:
    file = folder / "aliases.csv"
    file.write_text(decisions.text(), encoding="utf-8")
    return read_aliases(str(file))


def test_answers_are_found_again(tmp_path: Path) -> None:
    decisions = Decisions()
    decisions.add(Decision("yes", "Tal, Mihail", "Tal, M"))
    decisions.add(Decision("no", "Tal, Mihail", "Tahl"))
    decisions.add(Decision("years", "Tal, Mihail", "Tal", "1950-1992"))
    assert decisions.text() == (
        '# yes,"Tal, Mihail","Tal, M"\n"Tal, Mihail","Tal, M"\n# no,"Tal, Mihail",Tahl\n'
        '# years,"Tal, Mihail",Tal,1950-1992\n"Tal, Mihail",Tal,years=1950-1992\n'
    )
    again = read_decisions(decisions.text())
    assert again.text() == decisions.text()
    assert len(again) == 3
    assert all(again.answered("Tal, Mihail", name) for name in ("Tal, M", "Tahl", "Tal"))
    assert again.answered("Tal, Bobby", "Tal, M")
    assert not again.answered("Tal, Bobby", "Tahl")
    aliases = read(again, tmp_path)
    assert aliases.names == {"Tal, M": "Tal, Mihail"}
    assert aliases.by_years == {("Tal", 1950, 1992): "Tal, Mihail"}


def test_chains_lead_to_their_end(tmp_path: Path) -> None:
    decisions = read_decisions("B,A\n")
    decisions.add(Decision("yes", "C", "B"))
    decisions.add(Decision("yes", "D", "C"))
    assert read(decisions, tmp_path).names == {"A": "D", "B": "D", "C": "D"}
    decisions.add(Decision("yes", "A", "D"))  # which they are by now
    decisions.add(Decision("yes", "A", "E"))
    assert decisions.text()


def test_the_lines_of_others_stay(tmp_path: Path) -> None:
    text = "# mine\nTal,Tahl,Thal\n\nTal (fun),Tal,status=soft\nTal,Tall,years=-1900\n"
    decisions = read_decisions(text)
    decisions.add(Decision("yes", "Tal, M", "Tal"))
    found = read(decisions, tmp_path)
    assert found.names == {"Tahl": "Tal, M", "Thal": "Tal, M", "Tal": "Tal, M"}
    assert found.by_status == {("Tal", "soft"): "Tal (fun)"}
    assert found.by_years == {("Tall", 0, 1900): "Tal"}
    assert decisions.text().startswith("# mine\n")


def test_a_table_of_spellings_is_left_alone() -> None:
    with pytest.raises(DataError, match="is a table of spellings and names"):
        read_decisions("spelling,name\nTahl,Tal\n", "a.csv")


def test_a_malformed_line_among_answers_is_named():
    with pytest.raises(DataError, match=r"^a\.csv:4: no synonym"):
        read_decisions("A,B\n# yes,C,D\nC,D\nE\n", "a.csv")


FILE = """### A list of spellings
@PLAYER "., -_*"

### Players
Kasparov, Garry #GM RUS [2812] 1963.04.13 i
   %Bio Title GM:1980 IM:1979
   = Kasparov, Gary
   = Kasparov, Garri # as in Baku
Kasparov, Georgy #-  RUS [1406] 2006 i
Ivanov, Igor #-
   = Ivanov, I
Ivanov, Ilya #-
   = Ivanov, I
   = Ivanov, Igor
@SITE "., -_()"
London
   = Londres
"""


def test_spellings_are_united_by_it(tmp_path: Path) -> None:
    assert scid_spellings(FILE) == {
        "Kasparov, Gary": "Kasparov, Garry",
        "Kasparov, Garri": "Kasparov, Garry",
    }
    (tmp_path / "spelling.ssp").write_text(FILE)
    names = ["Gary Kasparov", "Kasparov, Garri", "Ivanov, I"]
    assert united(*names, aliases=str(tmp_path / "spelling.ssp")) == [
        "Kasparov, Garry",
        "Kasparov, Garry",
        "Ivanov, I",
    ]
