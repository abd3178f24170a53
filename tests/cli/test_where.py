"""A fit that keeps files goes on after whatever ended it, with everything as it was asked for."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from ttt_cli import api
from ttt_cli.cli import main
from ttt_cli.runs.run import open_run

GAMES = "date,white,black,result\n1858,M,A,1-0\n1858,M,A,0-1\n1861,A,M,1-0\n"


def ended(*_: object, **__: object) -> None:
    raise KeyboardInterrupt


@pytest.fixture
def folder(folder):
    (folder / "games.csv").write_text(GAMES)
    return folder


def test_an_ended_fit_is_resumed_as_it_was_asked_for(folder, monkeypatch):
    """Ended while it infers; resumed from elsewhere."""

    with monkeypatch.context() as patch:
        patch.setattr(api.registry, "fit", ended)
        assert (
            main.run(["fit", "games.csv", "-o", "out.ttt", "-s", "model.beta=300", "--scratch", "kept"])
            == 130
        )
    assert not (folder / "out.ttt").exists()
    asked = json.loads((folder / "kept" / "ttt-fit.json").read_text())
    assert asked["arguments"][0] == "games.csv"
    monkeypatch.chdir(folder / "kept")
    for missing in (["--resume", "."], ["--resume", ".", "-s", "model.beta=1"]):
        assert main.run(["fit", *missing]) == 2
    assert main.run(["fit", "--resume", ".", "-o", "../out.ttt"]) == 0
    assert open_run(folder / "out.ttt").meta.params["beta"] == 300.0
    assert not list((folder / "kept").iterdir())


def test_what_is_asked_wrongly_takes_no_fit_away(folder, monkeypatch, ran):
    with monkeypatch.context() as patch:
        patch.setattr(api.registry, "fit", ended)
        assert main.run(["fit", "games.csv", "-o", "out.ttt", "--scratch", "kept"]) == 130
    kept = (folder / "kept" / "ttt-fit.json").read_text()
    wrong = ["fit", "games.csv", "--scratch", "kept", "--memory", "1GB", "--cluster", "local:2"]
    assert "exclude each other" in ran(wrong, 2).err
    assert (folder / "kept" / "ttt-fit.json").read_text() == kept


def test_nothing_to_resume_is_said(folder, ran):
    assert "has no fit to resume" in ran(["fit", "--resume", str(folder)], 2).err


@pytest.mark.parametrize("more", [["games.csv"], ["--memory", "4GB"], ["--scratch", "other"]])
def test_what_a_resumed_fit_was_asked_for_is_not_given_again(folder, more, ran):
    assert "takes -o and --cluster only" in ran(["fit", "--resume", str(folder), *more], 2).err
    assert Path.cwd() == folder


@pytest.fixture
def kept(folder, monkeypatch):
    """A folder of a fit that was ended, and what is in its file."""
    with monkeypatch.context() as patch:
        patch.setattr(api.registry, "fit", ended)
        assert main.run(["fit", "games.csv", "--scratch", "kept"]) == 130
    place = folder / "kept" / "ttt-fit.json"
    assert place.stat().st_mode & 0o777 == 0o600
    return place, json.loads(place.read_text())


@pytest.mark.skipif(os.name != "posix", reason="modes and pipes of POSIX")
@pytest.mark.parametrize("how", ["mode", "folder", "link", "pipe", "deep", "unknown", "types", "huge"])
def test_a_folder_that_others_may_have_written_is_not_trusted(kept, how, ran, capsys):
    place, content = kept
    if how == "mode":
        place.chmod(0o666)
    elif how == "folder":
        place.parent.chmod(0o777)
    elif how == "link":
        place.symlink_to(place.rename(place.parent / "other"))
    elif how == "pipe":
        place.unlink()
        os.mkfifo(place, 0o600)
    elif how == "huge":
        place.write_text(json.dumps(content) + " " * (1 << 21) + "]")
    elif how == "deep":
        place.write_text("[" * 100_000)
    else:
        changed = [*content["arguments"], "--surprise"] if how == "unknown" else 3
        place.write_text(json.dumps(content | {"arguments": changed}))
    capsys.readouterr()
    assert ("is not trusted" if how in ("mode", "folder", "link", "pipe") else "has no fit") in ran(
        "fit --resume kept", 2
    ).err
    assert not list(Path.cwd().glob("*.ttt"))


def test_neither_output_nor_address_are_taken_from_the_folder(kept, ran):
    place, content = kept

    def put(*further: str) -> None:
        place.write_text(json.dumps(content | {"arguments": [*content["arguments"], *further]}))

    for option, value, missing in (
        ("-o", "victim.ttt", "-o RUN"), ("-s", "solver.cluster=evil:1", "--cluster WHERE"),
        ("--cluster", "evil:1", "--cluster WHERE"),
    ):  # fmt: skip
        put(option, value)
        assert f"confirm with {missing}" in ran("fit --resume kept", 2).err
    config = place.parent / "config.yaml"
    config.write_text("solver: {cluster: 'evil:1'}")
    put("-c", str(config))
    assert main.run(["fit", "--resume", "kept"]) == 0


def test_files_are_needed_otherwise(folder):
    assert main.run(["fit", "--scratch", str(folder / "kept")]) == 2
    assert not (folder / "kept").exists()
