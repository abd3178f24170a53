"""Files of one concept without circles of imports, no stray output, nothing that holds on one machine only."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).parents[1]
PLACES = (".ci", "benchmarks", "configs", "docs", "sample_pgn", "tests", "ttt_cli")
MOST_LINES = 600
MACHINE_PATH = re.compile(r"(?<![\w.~/-])/(?:home|Users|root|work|mnt|opt)/\w+")


def files() -> Iterator[Path]:
    """The project's own text files."""
    for place in PLACES:
        for path in (ROOT / place).rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts and path.suffix not in {".png", ".pgn"}:
                yield path
    yield from (path for path in ROOT.iterdir() if path.suffix in {".md", ".toml", ".yaml"})


def python_files() -> list[Path]:
    return [path for path in files() if path.suffix == ".py"]


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def test_files_are_short() -> None:
    lengths = {name_of(path): path.read_text(encoding="utf-8").count("\n") for path in python_files()}
    longer = {name: length for name, length in lengths.items() if length > MOST_LINES}
    assert not longer, "one concept a file"


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
        assert found is None, f"{name_of(path)}: {found[0]}"
        assert len(ROOT.parts) < 3 or str(ROOT) not in text, name_of(path)


def test_machine_paths_are_recognised() -> None:
    for top in ("home", "Users", "root", "work", "opt"):
        for text in (f"/{top}/me", f"(/{top}/me/x)", f'"/{top}/x"'):
            assert MACHINE_PATH.search(text)
        for text in (f"docs/{top}/x", f"~/{top}/x", f"https://example.org/{top}/x", f"/{top}", "/dev/null"):
            assert not MACHINE_PATH.search(text)


def test_the_version_stands_once_in_every_file_that_names_it() -> None:
    import ttt_cli

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


def test_a_circle_would_be_found() -> None:
    tree = ast.parse("def f():\n    from b import c\nif TYPE_CHECKING:\n    import d")
    assert imported(tree, {"b", "d"}) == {"b"}
    assert imported(tree, {"b", "b.c", "d"}) == {"b.c"}
