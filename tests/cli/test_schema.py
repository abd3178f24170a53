"""`ttt schema`: every output in JSON is what its schema says, and every column is in a schema."""

import json
from pathlib import Path
from typing import Any, Final

import pytest
from jsonschema import Draft202012Validator

from tests.support.commands import Ran
from ttt_cli.cli.main import COMMANDS, group
from ttt_cli.views.schemas import OUTPUTS, find_output, schema_of

GAMES: Final = "date,white,black,result,event,round\n" + "".join(
    f"{year}.05.0{day},{white},{black},{result},Cup,{day}\n"
    for year in range(1856, 1862)
    for day, (white, black, result) in enumerate(
        [
            ("Alder", "Birch", "1-0"),
            ("Birch", "Crane", "1/2-1/2"),
            ("Crane", "Alder", "1-0" if year == 1858 else "0-1"),
            ("Alder", "Birch", "0-1" if year > 1859 else "1-0"),
        ],
        1,
    )
)
PEOPLE: Final = 'name,born,federation\n"Alder",1830-01-01,ENG\n'
FILES: Final = {
    "games.csv": GAMES,
    "people.csv": PEOPLE,
    "odd.csv": GAMES + "1861.05.09,Alder,Birch & Crane,1-0,Simul,1\n1861,x,,1-0,,\n",
}
# What is typed for each output; A, B and C stand for names
TYPED: Final = {
    "fit -o -": "fit games.csv -o - -c ttt",
    **{name: f"{name} odd.csv" for name in OUTPUTS if name.startswith("games")},
    "games --by source": "games odd.csv --by source -s data.source=file",
    **{name: f"{name} A" for name in OUTPUTS if name.split()[0] in ("player", "why")},
    "player": "player A --columns age,federation",
    "player --at": "player A --at 1858",
    "top": "top --everyone --columns age --by dominance",
    "versus": "versus A B --games 4",
    "versus NAME...": "versus A B C",
    "versus --record": "versus A B --record",
    "versus --each": "versus A B --each",
    "versus --places": "versus A B --places",
    "doubt": "doubt --where year=1858",
    "doubt --kind leaders": "doubt --where year=1858 --kind leaders --everyone",
    "doubt --leader": "doubt --leader 1860 --everyone",
    "event": "event cup 1858",
    "event --games": "event cup 1858 --games",
    "tournament": "tournament A B C --samples 100",
    "evidence --grid": "evidence --grid beta=400/500 --jobs 1",
    "tune": "tune beta,tau",
    "compare": "compare elo naive",
    "compare --by": "compare elo naive --by decade --calibration",
    "export skills": "export skills --provenance",
}
SLOW: Final = ("doubt --leader", "evidence --terms", "tune")
OF_RUN: Final = [name for name in OUTPUTS if name not in SLOW]
NAMES: Final = {"A": "alder", "B": "birch", "C": "crane"}


@pytest.fixture(scope="module")
def fitted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with games, people and a run of them."""
    from ttt_cli.cli.main import run

    folder = tmp_path_factory.mktemp("schema")
    for name, text in FILES.items():
        (folder / name).write_text(text)
    command = ["fit", f"{folder}/games.csv", "--people", f"{folder}/people.csv", "-c", "ttt"]
    assert (
        run(
            [
                *command,
                "-s",
                "data.source=file",
                "-s",
                "model.white_advantage=30",
                "-o",
                f"{folder}/a.ttt",
                "-q",
            ]
        )
        == 0
    )
    return folder


def validate(output: Any, schema: dict[str, Any]) -> None:
    assert [error.message for error in Draft202012Validator(schema).iter_errors(output)] == []


def words_of(name: str) -> list[str]:
    if name.startswith(("top --", "records")):
        return [*name.split(), *(["2"] if name == "top --years" else []), "--everyone"]
    return [NAMES.get(word, word) for word in TYPED.get(name, name).split()]


@pytest.mark.parametrize(
    "name", [*OF_RUN, *(pytest.param(name, marks=pytest.mark.slow) for name in SLOW)]
)
def test_an_output_is_what_its_schema_says(
    name: str, fitted: Path, ran: Ran, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(fitted)
    output = json.loads(ran([*words_of(name), "-f", "json", "-q"]).out)
    assert output or name.startswith(("doubt", "player --upsets", "records", "export", "games"))
    validate(output, schema_of(name))


@pytest.mark.slow
def test_columns_of_other_sports_are_called_by_their_sides(folder: Path, ran: Ran) -> None:
    (folder / "football.csv").write_text(GAMES.replace("white,black", "home,away"))
    ran("fit football.csv -q -c ttt -s model.white_advantage=60 -o a.ttt")
    for name, output in OUTPUTS.items():
        if output.has_sides and name != "doubt --leader":
            schema = json.loads(ran(["schema", *name.split(), "--sides", "home", "away"]).out)
            validate(json.loads(ran([*words_of(name), "-f", "json", "-q"]).out), schema)


def test_schemas_are_schemas() -> None:
    for typed in OUTPUTS:
        Draft202012Validator.check_schema(schema_of(typed))


def test_every_command_that_prints_tables_has_a_schema() -> None:
    with_format = {
        name
        for name in COMMANDS
        for command in [group.get_command(None, name)]  # type: ignore[arg-type]
        if any(parameter.name in ("fmt", "query") or "--format" in parameter.opts for parameter in command.params)
    }  # fmt: skip
    assert {typed.split()[0] for typed in OUTPUTS} == with_format - {"plot", "update"}


def test_a_schema_refuses_what_is_wrong() -> None:
    wrong = Draft202012Validator(schema_of("event --games"))
    row = dict.fromkeys(("round", "date", "white", "black", "result"), "x") | {"expected": 0.5}
    assert wrong.is_valid([row])
    assert not wrong.is_valid([row | {"expected": "0.5"}])
    assert not wrong.is_valid([row | {"further": 1}])
    assert not wrong.is_valid([{"round": "1"}])


def test_printed(ran: Ran) -> None:
    assert json.loads(ran("schema top --each --leaders").out) == schema_of("top --leaders --each")
    assert ran("schema").out.split("\n")[:2] == ["fit -o -", "games"]
    assert find_output(["games", "source", "--by"]) == "games --by source"


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        ("top --worst", "there are: top; top --matrix"),
        ("tops", "did you mean top?"),
        ("zzz", "`ttt schema` lists them"),
    ],
)
def test_unknown(words: str, hint: str, ran: Ran) -> None:
    error = ran(f"schema {words}", 2).err
    assert f"no schema of `ttt {words}`" in error
    assert hint in error
