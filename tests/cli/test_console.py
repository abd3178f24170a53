import json
import sys
from pathlib import Path

import click
import duckdb
import pytest

from tests.support.cases import each
from ttt_cli.cli import console
from ttt_cli.cli.console import QUIET, VERBOSE, emit, printable, say, voice
from ttt_cli.support.errors import OutputError
from ttt_cli.views.rows import Rows

ROWS = Rows(("player", "mean"), [("Müller", 1234.56789)], decimals={"mean": 1})


@pytest.fixture(autouse=True)
def _normal_voice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(voice, "level", console.NORMAL)


def test_tsv_when_piped(capsys: pytest.CaptureFixture[str]) -> None:
    emit(ROWS)
    assert capsys.readouterr().out == "player\tmean\nMüller\t1234.56789\n"


def test_a_table_on_a_terminal(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(console, "on_terminal", lambda: True)
    emit(ROWS)
    out = capsys.readouterr().out
    assert "1234.6" in out
    assert "1234.56789" not in out


@pytest.mark.parametrize(
    ("name", "start"),
    [("a.csv", "player,mean"), ("a.tsv", "player\tmean"), ("a.json", "["), ("a.dat", "player\t")],
)
def test_a_files_name_says_its_format(tmp_path: Path, name: str, start: str) -> None:
    emit(ROWS, out=str(tmp_path / name))
    assert (tmp_path / name).read_text(encoding="utf-8").startswith(start)


def test_the_format_asked_for_wins_over_the_name(tmp_path: Path) -> None:
    emit(ROWS, "jsonl", out=str(tmp_path / "a.csv"))
    assert json.loads((tmp_path / "a.csv").read_text(encoding="utf-8")) == {
        "player": "Müller",
        "mean": 1234.56789,
    }


def test_parquet_to_a_file_and_to_a_pipe(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    emit(ROWS, out=str(tmp_path / "a.parquet"))
    emit(ROWS, "parquet")
    (tmp_path / "b.parquet").write_bytes(capfdbinary.readouterr().out)
    with duckdb.connect() as database:
        for name in ("a.parquet", "b.parquet"):
            rows = database.execute("SELECT * FROM read_parquet(?)", [str(tmp_path / name)]).fetchall()
            assert rows == [("Müller", 1234.56789)]


def test_parquet_is_not_for_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(console, "on_terminal", lambda: True)
    with pytest.raises(click.UsageError, match="binary"):
        emit(ROWS, "parquet")


def test_a_file_that_cannot_be_written_says_so(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="cannot be written"):
        emit(ROWS, out=str(tmp_path / "no" / "a.csv"))


def test_an_interrupted_file_does_not_replace_the_old(tmp_path: Path) -> None:
    place = tmp_path / "a.csv"
    place.write_text("old,1\n")

    def rows() -> object:
        yield ("Müller", 1.0)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        emit(Rows(("player", "mean"), rows()), out=str(place))  # type: ignore[arg-type]
    assert place.read_text() == "old,1\n"
    assert list(tmp_path.iterdir()) == [place]


def test_devices_are_written_to_and_not_replaced() -> None:
    emit(ROWS, "csv", out="/dev/null")
    assert Path("/dev/null").is_char_device()


@each(
    "level, said",
    [(QUIET, "error\n"), (console.NORMAL, "error\nline\n"), (VERBOSE, "error\nline\nmore\n")],
)
def test_how_much_is_said(level: int, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    voice.level = level
    say("error", level=QUIET)
    say("line")
    say("more", level=VERBOSE)
    assert capsys.readouterr() == ("", said)


def test_what_is_said_cannot_command_the_terminal() -> None:
    assert printable("a\x1b[2Jb\nc\x07") == "a\N{REPLACEMENT CHARACTER}[2Jb\nc\N{REPLACEMENT CHARACTER}"


@pytest.mark.parametrize("fmt", ["csv", "tsv", "json"])
def test_control_characters_are_escaped_on_a_terminal_only(
    fmt: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = Rows(("player",), [("M\N{LATIN SMALL LETTER U WITH DIAERESIS}ller\x1b[31m\x9b",)])
    emit(rows, fmt)
    assert "\x9b" in capsys.readouterr().out
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    emit(rows, fmt)
    out = capsys.readouterr().out
    assert "M\N{LATIN SMALL LETTER U WITH DIAERESIS}ller" in out
    assert "\\x9b" in out
    assert not {"\x1b", "\x9b"} & set(out)
