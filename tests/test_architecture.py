"""Files of one concept without circles of imports; what belongs to a model or a command is named after it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import click

import ttt_cli
from ttt_cli.cli.main import COMMANDS, group
from ttt_cli.systems.registry import MODULES, load

ROOT = Path(__file__).parents[1]
PLACES = (".ci", "benchmarks", "configs", "docs", "sample_pgn", "tests", "ttt_cli")
MOST_LINES = 660
MACHINE_PATH = re.compile(r"(?<![\w.~/-])/(?:home|Users|root|work|mnt|opt)/\w+")


def files() -> Iterator[Path]:
    """The project's own text files."""
    for place in PLACES:
        for path in (ROOT / place).rglob("*"):
            if (
                path.is_file()
                and "__pycache__" not in path.parts
                and path.suffix not in {".png", ".pgn"}
            ):
                yield path
    yield from (path for path in ROOT.iterdir() if path.suffix in {".md", ".toml", ".yaml"})


def test_files_are_short() -> None:
    lengths = {
        path: path.read_text(encoding="utf-8").count("\n")
        for path in files()
        if path.suffix == ".py"
    }
    assert not [path for path, length in lengths.items() if length > MOST_LINES], (
        "one concept a file"
    )


def test_kernels_take_few_arguments() -> None:
    """More than twelve are a named tuple that nobody has named."""
    functions = [
        (path.name, node)
        for path in sorted((ROOT / "ttt_cli" / "kernels").rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef)
    ]
    assert [(name, node.name) for name, node in functions if len(node.args.args) > 12] == []


def test_no_file_names_a_place_on_one_machine() -> None:
    for path in files():
        text = path.read_text(encoding="utf-8", errors="replace")
        found = MACHINE_PATH.search(text)
        assert found is None, f"{path.relative_to(ROOT)}: {found[0]}"
        assert len(ROOT.parts) < 3 or str(ROOT) not in text, path.relative_to(ROOT)


def test_the_version_stands_once_in_every_file_that_names_it() -> None:
    said = re.search(r'^version = "(.+)"$', (ROOT / "pyproject.toml").read_text(), re.MULTILINE)
    cited = re.search(r"^version: (.+)$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE)
    assert said
    assert cited
    assert said[1] == cited[1] == ttt_cli.__version__


def modules() -> dict[str, Path]:
    files = (ROOT / "ttt_cli").rglob("*.py")
    return {
        ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): file
        for file in files
    }


def imported(tree: ast.Module, known: set[str]) -> set[str]:
    """The modules that a module imports when it runs, also within functions; imports for types alone do not count."""
    for_types = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        for inner in ast.walk(node)
    }
    found = set()
    for node in ast.walk(tree):
        if id(node) in for_types:
            continue
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        if isinstance(node, ast.ImportFrom) and node.module:
            names = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= (names & known) or {node.module}
    return found & known


def test_there_are_no_circles_of_files() -> None:
    files = modules()
    assert len(files) > 100
    graph = {
        name: imported(ast.parse(file.read_text(encoding="utf-8")), set(files)) - {name}
        for name, file in files.items()
    }
    TopologicalSorter(graph).prepare()


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


def test_there_are_no_pages_without_a_model() -> None:
    pages = {file.stem for file in (ROOT / "docs" / "models").glob("*.md")}
    shared = {
        "joint",
        "careers",
        "draws",
        "covariates",
        "people",
        "categories",
        "lapse",
        "margins",
        "teams",
        "races",
    }  # the posterior, prior, draws, offsets, people, categories, chance, margins of victory and teams of several
    assert pages - shared == {name.replace("-", "_") for name in MODULES}


def test_a_command_has_help_a_section_and_tests() -> None:
    documented = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    tests = "".join(
        file.read_text(encoding="utf-8") for file in (ROOT / "tests" / "cli").glob("test_*.py")
    )
    lacking = []
    for name in COMMANDS:
        command = group.get_command(click.Context(group, **group.context_settings), name)
        assert command is not None
        found = {
            "help": command.help,
            "a section": f"\n## ttt {name}\n" in documented,
            "tests": re.search(rf"[\"' ]{name}\b", tests),
        }
        for option in command.params:
            found[f"help of {option.name}"] = isinstance(option, click.Argument) or getattr(
                option, "help", None
            )
        lacking += [f"{name}: {what}" for what, there in found.items() if not there]
    assert not lacking
