"""A stranger finds anything with one guess: what belongs to a model or a command is named after it."""

from __future__ import annotations

import ast
from pathlib import Path

import click

from ttt_cli.cli.main import COMMANDS, group
from ttt_cli.systems.registry import MODULES, load

ROOT = Path(__file__).parents[2]
TESTED_WITH_THE_GROUP = {"completion"}  # in test_main.py


def test_a_model_has_its_name_everywhere() -> None:
    stems = {name: name.replace("-", "_") for name in MODULES}
    assert {name: f"ttt_cli.systems.{stem}" for name, stem in stems.items()} == dict(MODULES)
    assert [load(name).NAME for name in MODULES] == list(MODULES)
    wanted = [
        path
        for name, stem in stems.items()
        for path in (
            f"ttt_cli/systems/{stem}.py",
            f"tests/systems/test_{stem}.py",
            f"docs/models/{stem}.md",
            f"configs/{name}.yaml",
        )
    ]
    assert [path for path in wanted if not (ROOT / path).is_file()] == []


def test_models_do_not_know_each_other() -> None:
    texts = {
        module: (ROOT / f"{module.replace('.', '/')}.py").read_text(encoding="utf-8")
        for module in MODULES.values()
    }
    assert {module: imported(text) & set(texts) for module, text in texts.items()} == {
        module: set() for module in texts
    }


def imported(text: str) -> set[str | None]:
    return {
        node.module if isinstance(node, ast.ImportFrom) else alias.name
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }


def test_there_are_no_pages_without_a_model() -> None:
    pages = {file.stem for file in (ROOT / "docs" / "models").glob("*.md")}
    shared = {"joint", "careers", "draws"}  # the posterior of two, the prior of three, the margins of two
    assert pages - shared == {name.replace("-", "_") for name in MODULES}


def test_a_command_has_help_a_section_and_tests() -> None:
    documented = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    with_the_group = (ROOT / "tests" / "cli" / "test_main.py").read_text(encoding="utf-8")
    lacking = []
    for name in COMMANDS:
        command = group.get_command(click.Context(group, **group.context_settings), name)
        assert command is not None
        tested = name in TESTED_WITH_THE_GROUP and f'["{name}"' in with_the_group
        found = {
            "help": command.help,
            "a section": f"\n## ttt {name}\n" in documented,
            "tests": tested or (ROOT / "tests" / "cli" / f"test_{name}.py").is_file(),
            **{
                f"help of {option.name}": getattr(option, "help", None)
                for option in command.params
                if not isinstance(option, click.Argument)
            },
        }
        lacking += [f"{name}: {what}" for what, there in found.items() if not there]
    assert not lacking
