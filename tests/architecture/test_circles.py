"""No file imports itself by way of others, not even within functions; imports for types alone do not count."""

from __future__ import annotations

import ast
from graphlib import TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).parents[2]


def modules() -> dict[str, Path]:
    files = (ROOT / "ttt_cli").rglob("*.py")
    return {
        ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): file
        for file in files
    }


def imported(tree: ast.Module, known: set[str]) -> set[str]:
    """The modules that a module imports when it runs."""
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
    assert len(files) > 200
    graph = {
        name: imported(ast.parse(file.read_text(encoding="utf-8")), set(files)) - {name}
        for name, file in files.items()
    }
    TopologicalSorter(graph).prepare()


def test_a_circle_would_be_found() -> None:
    tree = ast.parse("def f():\n    from b import c\nif TYPE_CHECKING:\n    import d")
    assert imported(tree, {"b", "d"}) == {"b"}
    assert imported(tree, {"b", "b.c", "d"}) == {"b.c"}
