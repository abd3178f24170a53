"""A fit that keeps files goes on after whatever ended it, with everything as it was asked for."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.run_tables import tables
from ttt_cli import api
from ttt_cli.cli import main
from ttt_cli.runs.run import open_run

GAMES = "date,white,black,result\n1858,M,A,1-0\n1858,M,A,0-1\n1861,A,M,1-0\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "games.csv").write_text(GAMES)
    return tmp_path


def test_an_ended_fit_is_resumed_as_it_was_asked_for(folder, monkeypatch):
    """Ended while it infers; resumed from elsewhere."""

    def end(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(api, "_infer", end)
        assert (
            main.run(["fit", "games.csv", "-o", "out.ttt", "-s", "model.beta=300", "--scratch", "kept"])
            == 130
        )
    assert not (folder / "out.ttt").exists()
    asked = json.loads((folder / "kept" / "ttt-fit.json").read_text())
    assert asked["values"]["files"] == ["games.csv"]
    monkeypatch.chdir(folder / "kept")
    assert main.run(["fit", "--resume", "."]) == 0
    assert open_run(folder / "out.ttt").meta.params["beta"] == 300.0
    assert not list((folder / "kept").iterdir())


def test_what_is_asked_wrongly_takes_no_fit_away(folder, monkeypatch, capsys):
    with monkeypatch.context() as patch:
        patch.setattr(api, "_infer", lambda *_, **__: (_ for _ in ()).throw(KeyboardInterrupt))
        assert main.run(["fit", "games.csv", "-o", "out.ttt", "--scratch", "kept"]) == 130
    kept = (folder / "kept" / "ttt-fit.json").read_text()
    wrong = ["fit", "games.csv", "--scratch", "kept", "--memory", "1GB", "--cluster", "local:2"]
    assert main.run(wrong) == 2
    assert "one or the other" in capsys.readouterr().err
    assert (folder / "kept" / "ttt-fit.json").read_text() == kept


@pytest.mark.slow
def test_a_resumed_fit_does_not_read_again(folder, monkeypatch, capsys):
    """Unless a file is another one meanwhile."""

    def end(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    def ended() -> int:
        with monkeypatch.context() as patch:
            patch.setattr(api, "_infer", end)
            return main.run(["fit", "games.csv", "-o", "out.ttt", "--memory", "1GB", "--scratch", "kept"])

    assert main.run(["fit", "games.csv", "-o", "whole.ttt"]) == 0
    assert ended() == 130
    capsys.readouterr()
    assert main.run(["fit", "--resume", "kept"]) == 0
    assert "games are those that a fit which was ended has read" in capsys.readouterr().err
    one, other = tables(open_run("whole.ttt")), tables(open_run("out.ttt"))
    assert one == other
    assert not list((folder / "kept").iterdir())
    assert ended() == 130
    (folder / "games.csv").write_text(GAMES + "1862,A,M,1-0\n")
    assert main.run(["fit", "--resume", "kept"]) == 0
    assert open_run("out.ttt").meta.games == 4
    assert not list((folder / "kept").iterdir())


def test_nothing_to_resume_is_said(folder, capsys):
    assert main.run(["fit", "--resume", str(folder)]) == 2
    assert "keeps no fit that could go on" in capsys.readouterr().err


@pytest.mark.parametrize("more", [["games.csv"], ["--memory", "4GB"], ["--scratch", "other"]])
def test_resuming_stands_alone(folder, more, capsys):
    assert main.run(["fit", "--resume", str(folder), *more]) == 2
    assert "stands alone" in capsys.readouterr().err
    assert Path.cwd() == folder


def test_files_are_needed_otherwise(folder):
    assert main.run(["fit", "--scratch", str(folder / "kept")]) == 2
    assert not (folder / "kept").exists()
