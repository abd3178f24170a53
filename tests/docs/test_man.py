"""Man pages are those of the commands as they are now, and troff takes them."""

import shutil
import subprocess
import tomllib

import make_man
import pytest

from ttt_cli.cli.main import COMMANDS


def test_the_pages_are_current() -> None:
    there = {file.name: file.read_text(encoding="utf-8") for file in make_man.FOLDER.glob("*")}
    assert there == make_man.pages(), "run: python docs/make_cli.py"
    assert {f"ttt-{name}.1" for name in COMMANDS} | {"ttt.1"} <= there.keys()


def test_the_wheel_installs_them() -> None:
    root = make_man.FOLDER.parents[1]
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    (pattern,) = project["tool"]["setuptools"]["data-files"]["share/man/man1"]
    assert {file.name for file in root.glob(pattern)} == make_man.pages().keys()


def test_troff_shows_them() -> None:
    """Nothing in them is taken for a command of troff, and nothing is lost."""
    if shutil.which("groff") is None:
        pytest.skip("no groff here")
    page = make_man.pages()["ttt-config-show.1"]
    done = subprocess.run(["groff", "-ww", "-man", "-Tascii", "-P-cbou"], input=page, capture_output=True, text=True,
                          check=True)  # fmt: skip
    assert done.stderr == ""
    shown = " ".join(done.stdout.split())
    assert "ttt config show -c ttt -s model.beta=600 > mine.yaml" in shown
    assert "-s, --set KEY=VALUE Set a key of the config, for instance model.beta=600;" in shown
