"""No output replaces a file that is read, or a file of another kind; what is replaced is reported."""

import os
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support.commands import Ran
from ttt_cli.cli.main import run as ttt
from ttt_cli.support import outputs
from ttt_cli.support.outputs import content_kind

GAMES = "date,white,black,result\n1900-01-01,Lasker,Steinitz,1-0\n1901-01-01,Lasker,Steinitz,0-1\n"
FILES = {
    "games.csv": GAMES,
    "moves.pgn": '% by hand\n[Event "x"]\n[White "a"]\n[Black "b"]\n[Result "1-0"]\n\n1-0\n',
    "aliases.csv": '# yes,"Lasker, Emanuel",Lasker\n"Lasker, Emanuel",Lasker\n',
    "mine.csv": '"Lasker, Emanuel",Lasker\nSteinitz,"Steinitz, William"\n',
    "table.csv": "player,period,mean\nLasker,1900,2700.5\n",
    "empty_table.tsv": "period\tmargin\tsd\n",
    "table.json": '[\n{"player": "Lasker"}\n]\n',
    "mine.yaml": "# mine\nmodel:\n  beta: 500\n",
    "page.html": "<!doctype html><html></html>",
    "curve.svg": '<svg xmlns="http://www.w3.org/2000/svg"></svg>',
    "games.jsonl": '{"date": "1900", "white": "Lasker", "black": "Steinitz", "result": "1-0"}\n',
    "games.json": '[\n  {"date": "1900", "white": "Lasker", "black": "Steinitz", "result": "1-0"}\n]\n',
    "notes.txt": "Lasker beat Steinitz.\n",
    "rated.csv": "player,period,rating\nMorphy,1858,2690\n",
}
LISTING = ("file", "line", "date", "white", "black", "result", "event", "site", "round", "problem")
KINDS = {
    "games.csv": "games", "moves.pgn": "games", "aliases.csv": "aliases", "mine.csv": "aliases",
    "table.csv": "table", "empty_table.tsv": "table", "table.json": "table", "games.jsonl": "games",
    "games.json": "games",
    "mine.yaml": "config",
    "page.html": "page", "curve.svg": "picture", "notes.txt": "text", "rated.csv": "table", "a.ttt": "run",
}  # fmt: skip
REFUSED = (
    "tune beta -r a.ttt -o a.ttt",
    *(f"{command} -r a.ttt -f csv -o a.ttt -q"
      for command in ("player Morphy", "top", "players", "export skills", "versus Morphy Paulsen", "evidence")),
    "compare elo glicko -f csv -o a.ttt",
    "plot Morphy -f png -o a.ttt",
    "player Morphy --plot curve.svg -o curve.svg -f csv",
    "report -o games.csv",
    "names games.csv -o games.csv --sure",
    "names games.csv -o moves.pgn --sure",
    "names games.csv -o table.csv --sure",
    "games games.csv --suggest moves.pgn",
    "games games.csv --suggest a.ttt",
    "games games.csv --only players -f csv -o games.csv",
    "games games.csv --only players -f csv -o mine.csv",
    "games games.csv --only players --aliases table.csv -f csv -o table.csv",
    "top -o games.csv",
    "top -o mine.yaml -f csv",
    "top -o notes.txt -f csv",
    "tune beta -o mine.csv",
    "tune beta -o page.html",
    "plot Morphy -o page.html -f png",
    "plot Morphy --beside rated.csv -f png -o rated.csv",
    "simulate --games 20 --players 5",
    "simulate --games 20 --players 5 -o aliases.csv",
    "simulate --games 20 --players 5 -o new.csv --truth notes.txt",
    # not made by the program for that purpose
    "top -f csv -o rated.csv",
    "top -f parquet -o rated.csv",
    "top -f jsonl -o games.jsonl",
    "top -f json -o games.json",
    "export skills -f jsonl -o games.jsonl",
    "export games -f csv -o games.csv",
    "games games.csv --suggest mine.csv",
    "report -o page.html",
    "plot Morphy -o curve.svg",
    "plot Morphy -f html -o page.html",
    "tune beta -o mine.yaml",
    "simulate --games 20 --players 5 -o games.csv",
    "simulate --games 20 --players 5 -o moves.pgn",
)  # fmt: skip


@pytest.fixture
def folder(here: Path) -> Path:
    for name, text in FILES.items():
        (here / name).write_text(text, encoding="utf-8")
    return here


def test_the_kind_of_a_file_is_read_from_its_content(folder: Path) -> None:
    assert {name: content_kind(folder / name) for name in KINDS} == KINDS
    (folder / "empty").touch()
    assert content_kind(folder / "empty") == ""


@pytest.mark.slow
def test_no_output_replaces_what_is_read_or_of_another_kind(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = {path: path.read_bytes() for path in sorted(folder.iterdir())}
    wrong = []
    for line in REFUSED:
        code, message = ttt(shlex.split(line)), capsys.readouterr().err
        after = {path: path.read_bytes() for path in sorted(folder.iterdir())}
        if code != 2 or after != before or "\nhint: " not in message:
            wrong.append((line, code, message))
        for path in after.keys() - before.keys():
            path.unlink()
        for path, content in before.items():
            path.write_bytes(content)
    assert not wrong


@pytest.mark.slow
@pytest.mark.large
def test_a_file_of_the_same_kind_is_replaced_and_that_is_reported(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, first, second in (
        *(
            (f"new.{fmt}", f"top --at 1858 -f {fmt}", f"top -f {fmt}")
            for fmt in ("csv", "tsv", "json", "jsonl", "parquet", "table")
        ),
        ("new.csv", "top -n 1", "top -n 2"),
        ("list.json", "games games.csv -f json", "games games.csv moves.pgn -f json"),
        ("list.csv", "games games.csv --list", "games games.csv moves.pgn --list --all"),
        ("out.csv", "export games", "export games"),
        ("facts.json", "versus Morphy Paulsen", "versus Paulsen Morphy"),
        ("facts.table", "versus Morphy Paulsen -f table", "versus Paulsen Morphy -f table"),
        ("none.json", "players nobody", "players"),
        ("new.html", "report", "report --everyone"),
        *(
            (f"new.{fmt}", f"plot Morphy -f {fmt}", f"plot Paulsen -f {fmt}")
            for fmt in ("svg", "png", "pdf")
        ),
        ("chart.html", "plot Morphy", "plot Paulsen"),
        ("new.yaml", "tune beta", "tune tau"),
        ("simulated.csv", "simulate --games 20 --players 5", "simulate --games 30 --players 5"),
        ("simulated.pgn", "simulate --games 20 --players 5", "simulate --games 30 --players 5"),
    ):
        assert ttt([*shlex.split(first), "-o", name]) in {0, 4}, first
        assert f"{name} replaced" not in capsys.readouterr().err, first
        before = (folder / name).read_bytes()
        assert ttt([*shlex.split(second), "-o", name]) in {0, 4}, second
        assert f"{name} replaced" in capsys.readouterr().err, second
        assert first == second or (folder / name).read_bytes() != before, second
        (folder / name).unlink()


SUGGESTING = (
    'date,white,black,result\n1900,"Lasker, Emanuel",Steinitz,1-0\n1901,"Lasker, E",Steinitz,0-1\n'
)


def test_suggestions_are_replaced_unless_they_were_edited(folder: Path, ran: Ran) -> None:
    (folder / "s.csv").write_text(SUGGESTING, encoding="utf-8")
    ran("games s.csv --suggest new.csv")
    suggested = (folder / "new.csv").read_text(encoding="utf-8")
    assert suggested.splitlines()[0].startswith(
        "# Suggestions of `ttt games`, which replaces this file unless"
    )
    assert "new.csv replaced" in ran("games s.csv --suggest new.csv").err
    edited = f"{suggested}Steinitz,W. Steinitz\n"
    (folder / "new.csv").write_text(edited, encoding="utf-8")
    assert "did not write, or edited ones" in ran("games s.csv --suggest new.csv", 2).err
    assert (folder / "new.csv").read_text(encoding="utf-8") == edited


@contextmanager
def redirected_input(path: Path) -> Iterator[None]:
    """Standard input from a file, also as a descriptor."""
    saved = os.dup(0)
    before = sys.stdin
    with path.open(encoding="utf-8") as file:
        os.dup2(file.fileno(), 0)
        sys.stdin = os.fdopen(0, closefd=False)
        try:
            yield
        finally:
            sys.stdin = before
            os.dup2(saved, 0)
            os.close(saved)


# By the kind of input: ways to name it, and commands that read it so
READ = {
    "games.csv": (
        "games games.csv --list -f csv",
        "games ./sub/../games.csv --list -f csv",
        "games {folder}/games.csv --list -f csv",
        "games hard.csv --list -f csv",
        "games soft.csv --list -f csv",
        "games 'games*.csv' --list -f csv",
        "games '*.csv' --list -f csv",
        "games . --list -f csv",
        "games sub/.. --list -f csv",
        "games - --list -f csv",
        "games /dev/stdin --list -f csv",
        "games --only files games.csv -f csv",
        "compare elo --games games.csv -f csv",
        "compare elo --games '*.csv' -f csv",
        "compare elo --games . -f csv",
        "compare elo --games - -f csv",
    ),
    "new.csv": (  # an alias file that the program wrote
        "games games.csv --list -f csv --aliases new.csv",
        "games games.csv --list -f csv -s data.aliases=new.csv",
        "games games.csv --list -f csv -c config.yaml",
        "games games.csv --list -f csv -c config.json",
        "games games.csv --list -f csv -c - < config.yaml",
    ),
}


@pytest.mark.skipif(sys.platform == "win32", reason="links and descriptors")
def test_what_a_command_reads_is_no_output_of_it(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The outputs are such that only the rule on inputs refuses them: each is an earlier output."""
    games = folder / "games.csv"
    (folder / "sub").mkdir()
    (folder / "hard.csv").hardlink_to(games)
    (folder / "soft.csv").symlink_to(games)
    (folder / "s.csv").write_text(SUGGESTING, encoding="utf-8")
    assert ttt(["games", "s.csv", "--suggest", "new.csv", "-q"]) == 0
    for name in ("s.csv", "mine.csv", "table.csv", "rated.csv", "aliases.csv"):
        (folder / name).unlink()
    (folder / "config.yaml").write_text("model:\n  name: ttt\ndata:\n  aliases: new.csv\n")
    (folder / "config.json").write_text('{"data": {"aliases": "new.csv"}}')
    before = {path: path.read_bytes() for path in sorted(folder.iterdir()) if path.is_file()}
    monkeypatch.setattr(outputs, "_has_columns", lambda *_: True)
    for read, lines in READ.items():
        for line in lines:
            words, _, source = line.partition(" < ")
            command = shlex.split(words.format(folder=folder))
            suggested = read == "new.csv"
            outs = [read, f"./{read}", f"{folder}/{read}"]
            outs += ["hard.csv", "soft.csv"] if read == "games.csv" else []
            outs += (
                ["/dev/stdin", "/proc/self/fd/0"]
                if "-" in command or "/dev/stdin" in command
                else []
            )
            for out in outs if read != "new.csv" else outs[:3]:
                option = "--suggest" if suggested else "-o"
                shown = [
                    word for word in command if not suggested or word not in ("--list", "-f", "csv")
                ]
                with redirected_input(folder / (source or "games.csv")):
                    code = ttt([*shown, option, out])
                message = capsys.readouterr().err
                assert (code, "reads" in message) == (2, True), (line, out, message)
                after = {
                    path: path.read_bytes() for path in sorted(folder.iterdir()) if path.is_file()
                }
                assert after == before, (line, out)


def test_a_link_to_a_file_that_is_read_is_that_file(folder: Path) -> None:
    (folder / "same.csv").symlink_to("games.csv")
    assert ttt(["games", "games.csv", "--list", "-o", "same.csv"]) == 2
    assert (folder / "games.csv").read_text(encoding="utf-8") == GAMES


def test_a_config_that_is_compared_is_not_replaced_by_the_tuned_one(folder: Path, ran: Ran) -> None:
    tuned = "# Tuned by `ttt tune` on 7 games, 1857 to 1862:\n\nmodel:\n  name: elo\n"
    (folder / "tuned.yaml").write_text(tuned, encoding="utf-8")
    assert "this command reads it" in ran("compare tuned.yaml --tune --tuned-to .", 2).err
    assert (folder / "tuned.yaml").read_text(encoding="utf-8") == tuned


def test_a_computed_table_that_may_not_replace_a_file_is_printed(folder: Path, ran: Ran) -> None:
    out, err = ran("top -n 1 -o rated.csv", 2)
    assert "it holds a table with other columns than these: rank, player" in err
    assert out.startswith("rank\tplayer\t")
    assert (
        ran("export skills -o rated.csv", 2).out == ""
    )  # which is streamed, and soon exported again
