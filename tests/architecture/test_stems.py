"""A stranger finds anything with one guess: what belongs to a model or a command is named after it."""

from __future__ import annotations

import ast
from pathlib import Path

import click
import pytest

from ttt_cli.cli.main import COMMANDS, group
from ttt_cli.systems.registry import MODULES, load

ROOT = Path(__file__).parents[2]
WITHOUT_KERNEL = {"naive"}  # nothing in it loops
TESTED_WITH_THE_GROUP = {"completion"}  # in test_main.py


@pytest.mark.parametrize("name", MODULES)
def test_a_model_has_its_name_everywhere(name: str) -> None:
    stem = name.replace("-", "_")
    assert MODULES[name] == f"ttt_cli.systems.{stem}"
    assert name == load(name).NAME
    missing = [
        path
        for path in (
            f"ttt_cli/systems/{stem}.py",
            f"tests/systems/test_{stem}.py",
            f"docs/models/{stem}.md",
            f"configs/{name}.yaml",
        )
        if not (ROOT / path).is_file()
    ]
    kernels = [
        path for path in (ROOT / "ttt_cli" / "kernels").rglob(f"{stem}.py") if path.parent.name != "kernels"
    ]
    assert not missing
    assert len(kernels) == (name not in WITHOUT_KERNEL)


@pytest.mark.parametrize("name", MODULES)
def test_models_do_not_know_each_other(name: str) -> None:
    tree = ast.parse((ROOT / f"{MODULES[name].replace('.', '/')}.py").read_text(encoding="utf-8"))
    imported = {
        node.module if isinstance(node, ast.ImportFrom) else alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }
    assert not imported & set(MODULES.values())


def test_there_are_no_pages_without_a_model() -> None:
    pages = {file.stem for file in (ROOT / "docs" / "models").glob("*.md")}
    shared = {
        "joint",
        "careers",
        "draws",
    }  # the posterior of two of them, the prior of three, the margins of two
    assert pages - shared == {name.replace("-", "_") for name in MODULES}


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_has_help_a_section_and_tests(name: str) -> None:
    command = group.get_command(click.Context(group, **group.context_settings), name)
    assert command is not None
    assert command.help
    for option in command.params:
        assert isinstance(option, click.Argument) or getattr(option, "help", None), option.name
    assert f"\n## ttt {name}\n" in (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    own = ROOT / "tests" / "cli" / f"test_{name}.py"
    with_the_group = own.with_name("test_main.py").read_text(encoding="utf-8")
    assert own.is_file() or (name in TESTED_WITH_THE_GROUP and f'["{name}"' in with_the_group)
