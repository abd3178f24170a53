"""Every message that a user can see is in the table messages.md, so that their language can be read in one go.

The templates are collected from the source: messages and hints of errors, lines on standard error, notes of fits,
labels of progress bars. After a change `python -m tests.cli.test_messages` writes the table anew; read what changed.
"""

from __future__ import annotations

import ast
import re
import shlex
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

import pytest

from tests.cli.test_typical_mistakes import MISTAKES, make_folder
from ttt_cli.cli import main

PACKAGE: Final = Path(main.__file__).parents[1]
TABLE: Final = Path(__file__).with_name("messages.md")
HEAD: Final = """\
# Messages

Every error, hint, note, warning, summary line and label of a progress bar, by folder of the source. `{name}` is a
value, `{...}` a longer expression; a message with alternatives has a row for each. The last column has commands that
show the message; the test beside this table runs them. `python -m tests.cli.test_messages` writes the table anew.
"""
LINES: Final = re.compile(r"(lines?|notes?|remarks?|words|warnings?|hints?|reasons?)$|^(describe|complaint)$")
LABELS: Final = {"task": 0, "waiting": 0, "announce": 0}  # functions that show a label
SHOWN: Final = {"say", "refuse", "tell", "report", "on_unusable"}  # functions that print or raise lines
MOST: Final = 3  # commands of a row

Row = tuple[str, str]  # a message and its hint
Function = ast.FunctionDef | ast.AsyncFunctionDef


def error_classes(trees: Iterable[ast.Module]) -> set[str]:
    """Names of the errors that users see."""
    found = {"TttError", "UsageError", "BadParameter"}
    classes = [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    while new := {one.name for one in classes if found & {ast.unparse(base) for base in one.bases}} - found:
        found |= new
    return found


class Collector(ast.NodeVisitor):
    """The rows of a module."""

    def __init__(self, tree: ast.Module, errors: set[str], *, values: bool) -> None:
        self._errors = errors | ({"ValueError"} if values else set())
        self._functions: list[Function] = []
        self._tree = tree
        self.rows: set[Row] = set()
        self.visit(tree)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self._functions.append(node)
        if LINES.search(node.name):
            self._add_lines(node)
        self.generic_visit(node)
        self._functions.pop()

    def visit_Call(self, node: ast.Call) -> None:
        self.generic_visit(node)
        name = node.func.attr if isinstance(node.func, ast.Attribute) else ast.unparse(node.func)
        if name in self._errors or (name == "__init__" and ast.unparse(node.func).startswith("super()")):
            hint = next((one.value for one in node.keywords if one.arg == "hint"), None)
            for message, its_hint in self._given(node.args[0] if node.args else None, hint):
                hints = list(self._texts(its_hint, last=True)) if its_hint else []
                self.rows |= {(text, one) for text in self._texts(message) for one in hints or [""]}
        elif name in SHOWN:
            for argument in node.args:
                inner = argument.value if isinstance(argument, ast.Starred) else argument
                first = inner.elts[0] if isinstance(inner, ast.Tuple) and inner.elts else inner
                self.rows |= {(text, "") for text in self._texts(first)}
        elif name in LABELS and node.args:
            self.rows |= {(text, "") for text in self._texts(node.args[0])}

    def _add_lines(self, node: Function) -> None:
        """Texts with a blank anywhere in a function that returns lines."""
        parts = [part for one in ast.walk(node) if isinstance(one, ast.JoinedStr) for part in one.values]
        others = [*parts, *(one.value for one in node.body if isinstance(one, ast.Expr))]
        for inner in ast.walk(node):
            if isinstance(inner, ast.JoinedStr | ast.Constant) and inner not in others:
                self.rows |= {(text, "") for text in self._texts(inner) if re.search(r"\w \w", text)}

    def _given(
        self, message: ast.expr | None, hint: ast.expr | None
    ) -> Iterator[tuple[ast.expr, ast.expr | None]]:
        """Message and hint as they are written, also where a function gets them as parameters."""
        function = self._functions[-1] if self._functions else None
        parameters = [one.arg for one in function.args.args] if function else []
        names = [
            one.id if isinstance(one, ast.Name) and one.id in parameters else None for one in (message, hint)
        ]
        if message is not None and names == [None, None]:
            yield message, hint
        if function is None or names == [None, None]:
            return
        for call in ast.walk(self._tree):
            if isinstance(call, ast.Call) and ast.unparse(call.func).rpartition(".")[2] == function.name:
                given = dict(zip(parameters, call.args, strict=False)) | {
                    one.arg: one.value for one in call.keywords
                }
                here, there = (
                    given.get(name) if name else one for name, one in zip(names, (message, hint), strict=True)
                )
                if here is not None:
                    yield here, there

    def _texts(self, node: ast.expr, *, last: bool = False, depth: int = 0) -> Iterator[str]:
        """The templates that an expression may be; a variable what it was assigned before, or `last` so."""
        match node:
            case ast.Constant(value=str() as text) if text.strip():
                yield " ".join(text.split())
            case ast.JoinedStr():
                yield " ".join(template(node).split())
            case ast.IfExp():
                for value in (node.body, node.orelse):
                    yield from self._texts(value, last=last, depth=depth)
            case ast.BoolOp():
                for value in node.values:
                    yield from self._texts(value, last=last, depth=depth)
            case ast.Name() if depth < 3:
                found = [value for line, value in self._assigned(node.id) if line < node.lineno]
                for value in found[-1:] if last else found:
                    yield from self._texts(value, last=last, depth=depth + 1)
            case ast.Call(func=ast.Name(id="suggested")):
                for value in node.args[2:3]:
                    yield from self._texts(value, last=last, depth=depth)
            case _:
                return

    def _assigned(self, name: str) -> list[tuple[int, ast.expr]]:
        """Lines and values of the assignments of a variable of the module or a function of it."""
        found: list[tuple[int, ast.expr]] = []
        for scope in [ast.Module(self._tree.body, []), *self._functions]:
            nodes = self._tree.body if isinstance(scope, ast.Module) else ast.walk(scope)
            for node in nodes:
                match node:
                    case ast.Assign(targets=[ast.Name(id=one)], value=value) if one == name:
                        found.append((node.lineno, value))
                    case ast.AnnAssign(target=ast.Name(id=one), value=ast.expr() as value) if one == name:
                        found.append((node.lineno, value))
                    case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Tuple(elts=values)):
                        pairs = zip(map(ast.unparse, names), values, strict=False)
                        found += [(node.lineno, value) for one, value in pairs if one == name]
        return sorted(found, key=lambda one: one[0])


def template(node: ast.JoinedStr) -> str:
    """A text with values as `{name}`."""
    parts = []
    for value in node.values:
        if isinstance(value, ast.Constant):
            parts.append(str(value.value))
        elif isinstance(value, ast.FormattedValue):
            name = ast.unparse(value.value).rpartition(".")[2]
            parts.append(f"{{{name}}}" if name.isidentifier() else "{...}")
    return "".join(parts)


def collected() -> dict[str, list[Row]]:
    """All rows by folder."""
    trees = {path: ast.parse(path.read_text(encoding="utf-8")) for path in sorted(PACKAGE.rglob("*.py"))}
    errors = error_classes(trees.values())
    found: dict[str, set[Row]] = defaultdict(set)
    for path, tree in trees.items():
        folder = (path.relative_to(PACKAGE).parts[0] if path.parent != PACKAGE else "ttt_cli").removesuffix(
            ".py"
        )
        found[folder] |= Collector(tree, errors, values=folder in ("config", "ttt_cli")).rows
    rows = {folder: {row for row in rows if re.search(r"\w{2}", row[0])} for folder, rows in found.items()}
    return {
        folder: sorted(some, key=lambda row: (row[0].strip("{. ").lower(), row))
        for folder, some in rows.items()
        if some
    }


def cells(row: Row) -> str:
    """The first two cells of a row."""
    return " | ".join(text.replace("|", r"\|") for text in row)


def pattern(text: str) -> re.Pattern[str]:
    """What a template matches."""
    return re.compile(".*?".join(map(re.escape, re.split(r"\{[\w.]+\}", text))), re.DOTALL)


def shows(row: Row, message: str, hint: str) -> bool:
    """Whether a command printed the row."""
    return bool(pattern(row[0]).search(message)) and bool(
        pattern(row[1]).fullmatch(hint) if row[1] else not hint
    )


def told(err: str) -> tuple[str, str]:
    """Message and hint on standard error, on one line each."""
    message, separator, hint = err.rstrip("\n").rpartition("\nhint: ")
    both = (message, hint) if separator else (hint, "")
    return " ".join(both[0].split()), " ".join(both[1].split())


def listed() -> dict[str, list[str]]:
    """Rows of the table by their first two cells, with their commands."""
    found = {}
    for line in TABLE.read_text(encoding="utf-8").splitlines():
        if line.startswith("| ") and not line.startswith(("| message", "| ---")):
            first, commands = line.removeprefix("| ").removesuffix(" |").rsplit(" | ", 1)
            found[first] = re.findall(r"`(.+?)`(?:, |$)", commands.strip())
    return found


def test_every_message_is_in_the_table() -> None:
    rows = [cells(row) for rows in collected().values() for row in rows]
    missing, gone = set(rows) - listed().keys(), listed().keys() - set(rows)
    assert (missing, gone) == (set(), set()), "run python -m tests.cli.test_messages, and read what changed"


@pytest.mark.slow
def test_commands_show_their_messages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    make_folder(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TTT_RUN", raising=False)
    by_cells = {cells(row): row for rows in collected().values() for row in rows}
    wrong = []
    for first, commands in listed().items():
        for command in commands if first in by_cells else ():
            main.run(shlex.split(command))
            err = capsys.readouterr().err
            if not shows(by_cells[first], *told(err)):
                wrong.append((command, first, err))
    assert not wrong


def test_messages_are_found_wherever_they_are_made() -> None:
    source = """
def f(path, n):
    hint = "a hint" if n else f"for {path.name}"
    raise ConfigError(f"{n:,} are wrong", where=path, hint=hint)
def g(x):
    _wrong(x, "is bad")
    say(f"{x} left out", "none")
def _wrong(x, message):
    raise ConfigError(message, where=x)
"""
    found = Collector(ast.parse(source), {"ConfigError"}, values=False).rows
    assert found == {
        ("{n} are wrong", "a hint"), ("{n} are wrong", "for {name}"), ("is bad", ""), ("{x} left out", ""),
        ("none", ""),
    }  # fmt: skip


def write_table(folder: Path) -> None:
    """Write the table anew; `folder` is an empty one for commands."""
    import contextlib
    import io
    import os

    make_folder(folder)
    before = Path.cwd()
    os.chdir(folder)
    printed = []
    for command, *_ in MISTAKES:
        err = io.StringIO()
        with contextlib.redirect_stderr(err):
            main.run(shlex.split(command))
        printed.append((command, *told(err.getvalue())))
    os.chdir(before)
    text = HEAD
    for section, rows in collected().items():
        text += f"\n## {section}\n\n| message | hint | shown by |\n| --- | --- | --- |\n"
        for row in rows:
            shown = [
                command
                for command, *both in printed
                if "`" not in command and len(row[0]) > 9 and shows(row, *both)
            ]
            text += f"| {cells(row)} | {', '.join(f'`{one}`' for one in shown[:MOST])} |\n"
    TABLE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    import tempfile

    with tempfile.TemporaryDirectory() as place:
        write_table(Path(place))
