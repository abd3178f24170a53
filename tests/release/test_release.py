"""What is released: built, checked and tried by the script that also the workflow of releases runs."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from email import message_from_bytes
from pathlib import Path

import pytest

from ttt_cli.config.load import shipped_configs
from ttt_cli.kernels.compile import FOLDER

ROOT = Path(__file__).parents[2]
TOOLS = Path(sys.executable).parent
MADE = {"PKG-INFO", "setup.cfg"}  # by the build

pytestmark = [
    pytest.mark.large,
    pytest.mark.skipif(sys.platform == "win32", reason="the script is for a POSIX shell"),
    pytest.mark.skipif(not (ROOT / ".git").exists(), reason="compared with what git knows"),
    pytest.mark.skipif(
        not (TOOLS / "check-wheel-contents").exists(), reason="needs the extra `release`"
    ),
]


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """What the script prints, and the folder with the files."""
    folder = tmp_path_factory.mktemp("release")
    compiled = str(Path(FOLDER).parent)  # for the other tests already
    environment = {**os.environ, "NUMBA_CACHE_DIR": compiled}
    if not os.environ.get("CI_NEWEST"):
        environment["UV_CONSTRAINT"] = str(ROOT / "requirements-tested.txt")
    command = [ROOT / ".ci" / "release", TOOLS, folder / "dist", sys.executable]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if any(words in done.stderr for words in ("dns error", "Could not connect", "Failed to fetch")):
        pytest.skip("the package index cannot be reached")
    assert done.returncode == 0, done.stderr + done.stdout
    return done.stdout, folder / "dist"


def test_what_the_wheel_installs_does_what_the_readme_shows(printed: tuple[str, Path]) -> None:
    said, files = printed
    assert said.count("PASSED") == 2
    (morphy,) = [
        line.split("\t") for line in said.splitlines() if line.startswith("Morphy, Paul\t1858\t")
    ]
    assert abs(float(morphy[2]) - 2068.5) < 0.1
    assert {file.suffix for file in files.iterdir()} == {".whl", ".gz"}


def test_the_source_distribution_holds_what_git_knows(printed: tuple[str, Path]) -> None:
    (file,) = printed[1].glob("*.tar.gz")
    with tarfile.open(file) as archive:
        held = {member.name.partition("/")[2] for member in archive if member.isfile()}
    known = subprocess.run(
        [shutil.which("git") or "git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert {name for name in held - MADE if not name.startswith("ttt_ratings.egg-info/")} == set(
        known.stdout.splitlines()
    )


def test_the_index_shows_a_readme_whose_links_lead_somewhere(printed: tuple[str, Path]) -> None:
    """Links into the repository lead nowhere on the page of a package."""
    (file,) = printed[1].glob("*.whl")
    with zipfile.ZipFile(file) as archive:
        (name,) = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        metadata = message_from_bytes(archive.read(name))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    at = f"{project['urls']['Source']}/{{}}/v{project['version']}/"
    readme, shown = (ROOT / "README.md").read_text(encoding="utf-8"), str(metadata.get_payload())
    assert metadata["Description-Content-Type"] == "text/markdown"
    assert re.findall(r"\]\((?!https?:|#)[^)]*\)", readme)
    assert not re.findall(r"\]\((?!https?:|#)[^)]*\)", shown)
    assert f"({at.format('blob')}docs/cli.md)" in shown
    assert f"({at.format('raw')}docs/images/player.svg)" in shown
    assert (
        shown.replace(at.format("blob"), "").replace(at.format("raw"), "").strip() == readme.strip()
    )


def test_the_wheel_holds_configs_assets_and_the_mark_of_types(printed: tuple[str, Path]) -> None:
    (file,) = printed[1].glob("*.whl")
    with zipfile.ZipFile(file) as archive:
        held = set(archive.namelist())
    assert {f"ttt_cli/configs/{name}.yaml" for name in shipped_configs()} <= held
    assets = ROOT / "ttt_cli" / "views" / "report" / "assets"
    assert {str(asset.relative_to(ROOT)) for asset in assets.iterdir()} <= held
    assert "ttt_cli/py.typed" in held
    assert not [name for name in held if name.startswith("tests")]
