"""What is promised of versions: pyproject.toml, the tested versions, README.md and continuous integration agree."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from ruamel.yaml import YAML

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]
TESTED = ("test", "check", "docs", "release")
PYTHONS = [version for version in ("3.10", "3.11", "3.12", "3.13", "3.14", "3.15")
           if version in SpecifierSet(PROJECT["requires-python"])]  # fmt: skip
README = (ROOT / "README.md").read_text(encoding="utf-8")


def pinned() -> Iterator[tuple[Requirement, int]]:
    """The requirements of the tested versions, each with the number of its hashes."""
    text = (ROOT / "requirements-tested.txt").read_text(encoding="utf-8")
    for entry in re.findall(r"^[a-z].*(?:\n .*)*", text, flags=re.MULTILINE):
        head, *hashes = re.split(r"\s*\\\n\s*", entry)
        assert all(re.fullmatch(r"--hash=sha256:[0-9a-f]{64}", digest) for digest in hashes)
        yield Requirement(head), len(hashes)


def plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def test_every_dependency_is_tested_in_one_version_that_the_pins_allow() -> None:
    pins = [entry for entry, _ in pinned()]
    texts = [*PROJECT["dependencies"], *(text for name in TESTED for text in EXTRAS[name])]
    wrong = [
        f"{text} on Python {python}"
        for python in PYTHONS
        for text in texts
        if not has_one_pin(text, python, pins)
    ]
    assert not wrong


def has_one_pin(text: str, python: str, pins: list[Requirement]) -> bool:
    """Whether exactly one pinned version satisfies a requirement, or the requirement is not for this Python."""
    wanted = Requirement(text)
    where = {
        "python_version": python,
        "python_full_version": f"{python}.0",
        "sys_platform": "linux",
    }
    if wanted.marker and not wanted.marker.evaluate(where):
        return True
    found = [
        pin for entry in pins for pin in entry.specifier
        if plain(entry.name) == plain(wanted.name) and (entry.marker is None or entry.marker.evaluate(where))
    ]  # fmt: skip
    return len(found) == 1 and found[0].operator == "==" and found[0].version in wanted.specifier


def test_every_tested_version_has_hashes() -> None:
    assert all(hashes for _, hashes in pinned())


def test_tools_whose_findings_differ_from_version_to_version_are_pinned_and_not_needed_for_the_tests() -> (
    None
):
    assert all(re.search(r"==[\d.]+(;|$)", text) for text in EXTRAS["check"])
    names = {Requirement(text).name for text in EXTRAS["check"]}
    assert names >= {"mypy", "ruff"}
    assert not names & {
        Requirement(text).name for text in (*EXTRAS["test"], *PROJECT["dependencies"])
    }


def test_the_readme_names_pythons_that_are_allowed() -> None:
    ((first, last),) = re.findall(r"Python (3\.\d+) to (3\.\d+)", README)
    assert [first, last] == [PYTHONS[0], PYTHONS[-1]]


def test_every_python_that_is_allowed_is_in_the_classifiers() -> None:
    versions = [
        name.rpartition(" ")[2] for name in PROJECT["classifiers"] if ":: Python :: 3." in name
    ]
    assert versions == PYTHONS


def test_the_recipe_of_conda_forge_agrees_with_the_project() -> None:
    recipe = YAML(typ="safe").load(ROOT / ".conda" / "recipe" / "recipe.yaml")
    assert recipe["context"] == {"version": PROJECT["version"], "python_min": PYTHONS[0]}
    unlike_the_index = {"duckdb": "python-duckdb"}
    needed = {
        (unlike_the_index.get(entry.name, entry.name), entry.specifier)
        for entry in map(Requirement, PROJECT["dependencies"])
    }
    unix, python, *others = recipe["requirements"]["run"]
    assert unix == "__unix"
    bounds = python.replace("${{ python_min }}", PYTHONS[0]).partition(" ")[2]
    assert SpecifierSet(bounds) == SpecifierSet(PROJECT["requires-python"])
    assert {(entry.name, entry.specifier) for entry in map(Requirement, others)} == needed
    built_with = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))[
        "build-system"
    ]
    host = {str(Requirement(text)) for text in recipe["requirements"]["host"] if "$" not in text}
    assert host == {"pip", *(str(Requirement(text)) for text in built_with["requires"])}
    entry_points = dict(text.split(" = ") for text in recipe["build"]["python"]["entry_points"])
    assert entry_points == PROJECT["scripts"]


def test_workflows_test_every_python_that_is_allowed() -> None:
    """That actions are pinned is checked by `zizmor` in `.ci/check`."""
    workflow = (ROOT / ".github" / "workflows" / "tests.yml").read_text(encoding="utf-8")
    (pythons,) = re.findall(r"python: \[(.*)\]", workflow)
    assert pythons.replace('"', "").split(", ") == PYTHONS
