"""Changes of single operators, numbers and keywords of the package, and the blocks they bear on: for mutants.py."""

from __future__ import annotations

import ast
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator
from measuring import ROOT

PACKAGE: Final = "ttt_cli"
KERNELS: Final = f"{PACKAGE}.kernels"  # compiled: neither changed nor recorded
OPERATORS: Final = (
    *(f"ReplaceBinaryOperator_{change}" for change in (
        "Add_Sub", "Sub_Add", "Mul_Div", "Div_Mul", "FloorDiv_Mul", "Mod_Mul", "Pow_Mul", "RShift_LShift",
        "LShift_RShift", "BitOr_BitAnd", "BitAnd_BitOr", "BitXor_BitAnd",
    )),
    *(f"ReplaceComparisonOperator_{change}" for change in (
        "Eq_NotEq", "NotEq_Eq", "Lt_LtE", "Lt_GtE", "LtE_Lt", "LtE_Gt", "Gt_GtE", "Gt_LtE", "GtE_Gt", "GtE_Lt",
        "Is_IsNot", "IsNot_Is",
    )),
    "ReplaceUnaryOperator_USub_UAdd", "ReplaceUnaryOperator_Invert_UAdd", "ReplaceUnaryOperator_Delete_Not",
    "AddNot", "ReplaceTrueWithFalse", "ReplaceFalseWithTrue", "ReplaceAndWithOr", "ReplaceOrWithAnd",
    "ReplaceBreakWithContinue", "ReplaceContinueWithBreak", "ExceptionReplacer", "NumberReplacer", "RemoveDecorator",
    "ZeroIterationForLoop",
)  # fmt: skip
PARAMETERS: Final = ("parameters", "param", "lambdef")  # parents of * and / that are no operators
PERFORMANCE: Final = re.compile(r"BLOCK|CHUNK|BATCH|BUFFER|AT_ONCE|SMALL$|_BYTES$")
GUARDS: Final = (
    "strict",
    "frozen",
    "slots",
    "kw_only",
    "copy",
    "stacklevel",
    "maxsize",
    "encoding",
    "repr",
    "eq",
)
HARMLESS_DECORATORS: Final = (
    "cache",
    "lru_cache",
    "cached_property",
    "overload",
    "override",
    "dataclass",
    "runtime_checkable",
)


class Span(NamedTuple):
    """From a line and column to another, as cosmic-ray counts: lines from 1, columns from 0."""

    start: tuple[int, int]
    end: tuple[int, int]

    def contains(self, position: tuple[int, int]) -> bool:
        return self.start <= position < self.end


class Block(NamedTuple):
    """A sequence of statements that are entered together."""

    module: str
    name: str  # of the function and its number within it


@dataclass(frozen=True)
class Mutant:
    """One change of a module."""

    module: str
    path: Path
    line: int
    operator: str
    occurrence: int  # of the operator in the file
    source: str  # of the changed module
    before: str  # the line
    after: str

    def __str__(self) -> str:
        return f"{self.path.relative_to(ROOT)}:{self.line}  {self.before}  ->  {self.after}"


# Modules and their imports


@cache
def modules() -> dict[str, Path]:
    """Paths of all modules of the package and of what tests share, by name."""
    paths = [
        *(ROOT / PACKAGE).rglob("*.py"),
        *(ROOT / "tests/support").rglob("*.py"),
        *(ROOT / "tests/reference").rglob("*.py"),
    ]
    return {module_name(path): path for path in sorted(paths)}


def module_name(path: Path) -> str:
    """Dotted name of a file below the root."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def imports(path: Path) -> frozenset[str]:
    """Names of our modules that a file imports anywhere."""
    names: set[str] = set()
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
            names.update(f"{node.module}.{alias.name}" for alias in node.names)
    return frozenset(names & modules().keys())


@cache
def importers(module: str) -> frozenset[str]:
    """Our modules that import a module directly."""
    return frozenset(name for name, path in modules().items() if module in imports(path))


def dependants(module: str) -> set[str]:
    """A module, its submodules and all that import one of them, directly or not."""
    names: set[str] = set()
    waiting = [module]
    while waiting:
        name = waiting.pop()
        if name not in names:
            names.add(name)
            waiting += importers(name)
            waiting += [submodule for submodule in modules() if submodule.startswith(f"{name}.")]
    return names


# Blocks of code


class Marking(ast.NodeTransformer):
    """Marks the start of every block of every function with a note that it is entered."""

    def __init__(self, module: str) -> None:
        self._module = module
        self._names: list[str] = []
        self._in_function: list[int] = []  # blocks so far, by nesting
        self.blocks: list[tuple[Block, Span]] = []

    def _mark(self, body: list[ast.stmt]) -> list[ast.stmt]:
        block = Block(self._module, f"{'.'.join(self._names)}#{self._in_function[-1]}")
        self._in_function[-1] += 1
        first = body[0]
        last = body[-1]
        span = Span(
            (_first_line(first), first.col_offset),
            (last.end_lineno or last.lineno, last.end_col_offset or 0),
        )
        self.blocks.append((block, span))
        note = ast.parse(f"__entered__.add({tuple(block)!r})").body[0]
        for node in ast.walk(note):
            ast.copy_location(node, first)
        has_docstring = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
        visited = [self.visit(statement) for statement in body]
        return [visited[0], note, *visited[1:]] if has_docstring else [note, *visited]

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.ClassDef:
        self._names.append(node.name)
        node.body = [self.visit(statement) for statement in node.body]
        self._names.pop()
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        self._names.append(node.name)
        self._in_function.append(0)
        node.body = self._mark(node.body)
        self._in_function.pop()
        self._names.pop()
        return node

    def generic_visit(self, node: ast.AST) -> ast.AST:
        if not self._in_function:
            return super().generic_visit(node)
        for field in ("body", "orelse", "finalbody"):
            body = getattr(node, field, None)
            if isinstance(body, list) and body:
                setattr(node, field, self._mark(body))
        for field in ("handlers", "cases"):
            for child in getattr(node, field, []):
                self.generic_visit(child)
        return node


def _first_line(statement: ast.stmt) -> int:
    """Line of a statement with its decorators."""
    decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
    return min([statement.lineno, *(decorator.lineno for decorator in decorators)])


def marked(module: str, path: Path) -> tuple[ast.Module, list[tuple[Block, Span]]]:
    """A module that notes which blocks are entered, and its blocks."""
    marking = Marking(module)
    tree = marking.visit(ast.parse(path.read_text(encoding="utf-8")))
    return tree, marking.blocks


@cache
def blocks(module: str) -> list[tuple[Block, Span]]:
    return marked(module, modules()[module])[1]


def blocks_of(mutant: Mutant, position: tuple[int, int]) -> set[Block]:
    """Blocks that a change bears on.

    That which contains it; outside of functions those that use the name that is assigned; if there are none, as where a
    class uses it, all of the module.
    """
    inner = [
        (span.start, block) for block, span in blocks(mutant.module) if span.contains(position)
    ]
    if inner:
        return {max(inner)[1]}
    names = assigned_names(mutant.path, mutant.line)
    users = [mutant.module, *importers(mutant.module)]
    using = {block for user in users for block in users_of(user, names)}
    return using or {block for block, _ in blocks(mutant.module)}


def assigned_names(path: Path, line: int) -> frozenset[str]:
    """Names that the statement of a module at a line assigns, if it is an assignment."""
    for statement in tree_of(path).body:
        if statement.lineno <= line <= (statement.end_lineno or 0) and isinstance(
            statement, ast.Assign | ast.AnnAssign
        ):
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            return frozenset(
                node.id
                for target in targets
                for node in ast.walk(target)
                if isinstance(node, ast.Name)
            )
    return frozenset()


def users_of(module: str, names: frozenset[str]) -> Iterator[Block]:
    """Blocks of a module with one of the names."""
    for node in ast.walk(tree_of(modules()[module])):
        if (isinstance(node, ast.Name) and node.id in names) or (
            isinstance(node, ast.Attribute) and node.attr in names
        ):
            position = node.lineno, node.col_offset
            inner = [
                (span.start, block) for block, span in blocks(module) if span.contains(position)
            ]
            if inner:
                yield max(inner)[1]


# Mutants


def excluded(path: Path) -> list[Span]:
    """Where a change would be equivalent."""
    spans = []
    for node in ast.walk(tree_of(path)):
        for part in _equivalent_parts(node):
            spans.append(
                Span(
                    (part.lineno, part.col_offset), (part.end_lineno or 0, part.end_col_offset or 0)
                )
            )
    return spans


def _equivalent_parts(node: ast.AST) -> Iterator[Any]:
    match node:
        case ast.AnnAssign(target=ast.Name(id=name)) if PERFORMANCE.search(name):
            yield node
        case ast.AnnAssign(annotation=annotation):
            yield annotation
        case ast.arg(annotation=ast.expr() as annotation):
            yield annotation
        case ast.Assign(targets=[ast.Name(id=name)], value=value) if _is_type(
            value
        ) or PERFORMANCE.search(name):
            yield node
        case ast.keyword(arg=name) if name in GUARDS:
            yield node
        case ast.If(test=ast.Name(id="TYPE_CHECKING")):
            yield node
        case ast.ClassDef(bases=[ast.Name(id="Protocol"), *_]):
            yield node
    if isinstance(node, ast.FunctionDef) and node.returns:
        yield node.returns
    for decorator in getattr(node, "decorator_list", []):
        if ast.unparse(decorator).split("(")[0].split(".")[-1] in HARMLESS_DECORATORS:
            yield decorator


def _is_type(value: ast.expr) -> bool:
    """Whether an expression is a type, such as `int | None` or `Callable[[], None]`."""
    match value:
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            return _is_type(left) or _is_type(right)
        case ast.Subscript(value=ast.Name(id=name)):
            return name[:1].isupper()
        case ast.Constant(value=None):
            return True
    return False


class Change(NamedTuple):
    """A change that could be made in a file."""

    operator: str
    occurrence: int
    position: tuple[int, int]


@cache
def changes(path: Path) -> dict[tuple[int, int], list[Change]]:
    """All changes of a file by where they are made."""
    by_position: dict[tuple[int, int], list[Change]] = {}
    equivalent = excluded(path)
    nodes = list(ast_nodes(get_ast(path.read_text(encoding="utf-8"))))
    for name in OPERATORS:
        operator = get_operator(f"core/{name}")()
        occurrence = 0
        for node in nodes:
            for start, _ in operator.mutation_positions(node):
                at = start[0], start[1] + (name == "RemoveDecorator")  # the expression after the @
                is_marker = node.type == "operator" and node.parent.type in PARAMETERS
                if not is_marker and not any(span.contains(at) for span in equivalent):
                    by_position.setdefault(start, []).append(Change(name, occurrence, at))
                occurrence += 1
    return by_position


def apply(path: Path, change: Change) -> Mutant | None:
    """A mutant; None where the changed text is no program or the same one."""
    source = path.read_text(encoding="utf-8")
    mutated = mutate_code(source, get_operator(f"core/{change.operator}")(), change.occurrence)
    try:
        if mutated is None or ast.dump(ast.parse(mutated)) == ast.dump(tree_of(path)):
            return None
        compile(mutated, str(path), "exec")
    except (SyntaxError, ValueError):
        return None
    before = source.splitlines()
    after = mutated.splitlines()
    line = change.position[0]
    text = "" if change.operator == "RemoveDecorator" else after[line - 1].strip()
    return Mutant(
        module_name(path),
        path,
        line,
        change.operator,
        change.occurrence,
        mutated,
        before[line - 1].strip(),
        text,
    )


def sample(folders: Sequence[str], size: int, seed: int) -> Iterator[tuple[Mutant, set[Block]]]:
    """Different mutants and the blocks that they bear on: a file by its lines, a position in it, a change there."""
    roots = [ROOT / PACKAGE / folder for folder in folders] or [ROOT / PACKAGE]
    paths = sorted(
        {path for root in roots for path in ([root] if root.suffix else root.rglob("*.py"))}
    )
    paths = [path for path in paths if not module_name(path).startswith(KERNELS)]
    lines = [len(path.read_text(encoding="utf-8").splitlines()) for path in paths]
    generator = random.Random(seed)
    drawn: set[tuple[Path, tuple[int, int]]] = set()
    while len(drawn) < size:
        path = generator.choices(paths, lines)[0]
        positions = changes(path)
        if not positions:
            continue
        position = generator.choice(sorted(positions))
        change = generator.choice(positions[position])
        mutant = apply(path, change)
        if mutant and (path, position) not in drawn:
            drawn.add((path, position))
            yield mutant, blocks_of(mutant, change.position)
