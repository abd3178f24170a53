"""Do the tests notice faults? Changes of single operators, numbers and keywords of the package, drawn at random.

    python benchmarks/mutants.py --seed 1 --sample 100
    python benchmarks/mutants.py --seed 2 --sample 50 games views

Prints the share of mutants that a test kills, and those that survive: file, line, change. FOLDER: of `ttt_cli`, or a
file of it; default all but kernels. The changes are those of cosmic-ray: `pip install cosmic-ray==8.7.0`. POSIX only.

No file is edited: one process loads all packages and forks for each mutant; an import hook gives the changed module to
the child, which loads it anew, and all that imports it. Every test file near the module runs once without a change;
which blocks of code each of its tests enters is kept in build/mutants (delete it after larger changes of the code). A
mutant meets the tests that enter its block, fastest first, then all tests of their files, then, with `--slow`, slow
tests of the nearest files. Commands that tests start as processes of their own run without the mutant.

Left out, since no test should notice: annotations, decorators that cache, options of dataclasses, guards such as
`strict=True`, `if TYPE_CHECKING`, protocols, constants of performance by name (blocks, chunks, batches, buffers),
identity in the place of equality.
"""

from __future__ import annotations

import ast
import builtins
import hashlib
import importlib
import importlib.abc
import importlib.util
import os
import pickle
import random
import re
import resource
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any, Final, NamedTuple

import pytest
from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator
from measuring import ROOT, options_of

PACKAGE: Final = "ttt_cli"
KERNELS: Final = f"{PACKAGE}.kernels"  # compiled: neither changed nor recorded
RECORDS: Final = ROOT / "build" / "mutants"
PRELOADED: Final = (
    "numpy", "scipy.optimize", "scipy.sparse", "scipy.special", "scipy.stats", "pandas", "pyarrow.parquet",
    "pyarrow.csv", "duckdb", "numba", "hypothesis", "xdist.plugin", "pydantic", "ruamel.yaml", "jinja2",
    "click.testing", "rich.console", "chess.pgn",
)  # fmt: skip
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
CPU_LEAST: Final = 10.0  # seconds of the processor that a mutant may take at least
CPU_FACTOR: Final = 5.0  # times what the tests take without it
CPU_RECORD: Final = 600.0  # seconds of the processor for a file of tests without a mutant
CPU_SLOW: Final = 120.0  # seconds of the processor for slow tests
WALL_FACTOR: Final = 60.0  # seconds on the clock per second of the processor, on a busy machine


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


@dataclass(frozen=True)
class TestRecord:
    """What a test does without a mutant."""

    seconds: float  # of the processor
    passed: bool
    entered: frozenset[Block]


@dataclass(frozen=True)
class Verdict:
    """What became of a mutant."""

    killed: bool
    why: str  # the test that fails, or how many tests enter the block


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

    That which contains it; outside of functions those that use the name that is assigned; otherwise all of the module.
    """
    inner = [(span.start, block) for block, span in blocks(mutant.module) if span.contains(position)]
    if inner:
        return {max(inner)[1]}
    names = assigned_names(mutant.path, mutant.line)
    users = [mutant.module, *importers(mutant.module)]
    if names:
        return {block for user in users for block in users_of(user, names)}
    return {block for block, _ in blocks(mutant.module)}


def assigned_names(path: Path, line: int) -> frozenset[str]:
    """Names that the statement of a module at a line assigns, if it is an assignment."""
    for statement in tree_of(path).body:
        if statement.lineno <= line <= (statement.end_lineno or 0) and isinstance(
            statement, ast.Assign | ast.AnnAssign
        ):
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            return frozenset(
                node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name)
            )
    return frozenset()


def users_of(module: str, names: frozenset[str]) -> Iterator[Block]:
    """Blocks of a module with one of the names."""
    for node in ast.walk(tree_of(modules()[module])):
        if (isinstance(node, ast.Name) and node.id in names) or (
            isinstance(node, ast.Attribute) and node.attr in names
        ):
            position = node.lineno, node.col_offset
            inner = [(span.start, block) for block, span in blocks(module) if span.contains(position)]
            if inner:
                yield max(inner)[1]


# Mutants


def excluded(path: Path) -> list[Span]:
    """Where a change would be equivalent."""
    spans = []
    for node in ast.walk(tree_of(path)):
        for part in _equivalent_parts(node):
            spans.append(
                Span((part.lineno, part.col_offset), (part.end_lineno or 0, part.end_col_offset or 0))
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
        case ast.Assign(targets=[ast.Name(id=name)], value=value) if _is_type(value) or PERFORMANCE.search(
            name
        ):
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
    paths = sorted({path for root in roots for path in ([root] if root.suffix else root.rglob("*.py"))})
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


# Loading: marked modules, and one that is changed


class Loader(importlib.abc.MetaPathFinder):
    """Finds our modules, marked and one perhaps changed."""

    def __init__(self) -> None:
        self._code: dict[str, CodeType] = {}
        self._mutant: Mutant | None = None

    def find_spec(self, fullname: str, path: Any, target: ModuleType | None = None) -> Any:  # noqa: ARG002
        if not fullname.startswith(PACKAGE) or fullname.startswith(KERNELS) or fullname not in modules():
            return None
        location = str(modules()[fullname])
        return importlib.util.spec_from_file_location(
            fullname, location, loader=_FromMemory(fullname, location, self)
        )

    def code(self, fullname: str) -> CodeType:
        path = modules()[fullname]
        if self._mutant and fullname == self._mutant.module:
            return compile(self._mutant.source, str(path), "exec", dont_inherit=True)
        if fullname not in self._code:
            self._code[fullname] = compile(marked(fullname, path)[0], str(path), "exec", dont_inherit=True)
        return self._code[fullname]

    def change(self, mutant: Mutant) -> None:
        """Forget a module and what imports it, to be loaded anew with the change."""
        self._mutant = mutant
        for name in dependants(mutant.module):
            sys.modules.pop(name, None)
            parent, _, child = name.rpartition(".")
            if parent in sys.modules and child in vars(sys.modules[parent]):
                delattr(sys.modules[parent], child)


class _FromMemory(SourceFileLoader):
    def __init__(self, fullname: str, path: str, loader: Loader) -> None:
        super().__init__(fullname, path)
        self._loader = loader

    def get_code(self, fullname: str) -> CodeType:
        return self._loader.code(fullname)


def preload(loader: Loader) -> None:
    """Load other packages, then all of ours."""
    sys.path[:0] = [str(ROOT), str(ROOT / "docs")]
    os.chdir(ROOT)
    for name in PRELOADED:
        importlib.import_module(name)
    sys.meta_path.insert(0, loader)
    for name in modules():
        if name.startswith(PACKAGE) and not name.endswith("__main__"):
            importlib.import_module(name)


# Tests


class Recorder:
    """A plugin of pytest: what each test enters and takes."""

    def __init__(self) -> None:
        self.records: dict[str, TestRecord] = {}
        self._failed: set[str] = set()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self._failed.add(report.nodeid)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Any:
        entered().clear()
        start = time.process_time()
        result = yield
        seconds = time.process_time() - start
        blocks_entered = frozenset(Block(*block) for block in entered())
        self.records[item.nodeid] = TestRecord(seconds, item.nodeid not in self._failed, blocks_entered)
        return result


def entered() -> set[tuple[str, str]]:
    """Blocks entered so far: marked modules add to it."""
    return builtins.__entered__  # type: ignore[attr-defined,no-any-return]


FAST: Final = ("-m", "not slow and not large")
SLOW: Final = ("-m", "slow and not large")
UNREWRITTEN: Final = ("-W", "ignore::pytest.PytestAssertRewriteWarning")  # plugins are loaded before
OPTIONS: Final = ("-n", "0", "-q", "-p", "no:cacheprovider", "--tb=line", "--no-header", *UNREWRITTEN)


def run_in_child(task: Callable[[], int], seconds: float) -> int | None:
    """Exit code of a task in a fork; None if it was ended for taking too many seconds of the processor."""
    pid = os.fork()
    if not pid:
        os.setsid()
        resource.setrlimit(resource.RLIMIT_CPU, (int(seconds) + 1, int(seconds) + 2))
        code = 3
        try:
            code = task()
        except BaseException:  # a child must not go on as a second parent
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
    end = time.monotonic() + WALL_FACTOR * seconds
    while True:
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            break
        if time.monotonic() > end:
            os.killpg(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            return None
        time.sleep(0.1)
    with suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)  # processes that tests have left
    return os.WEXITSTATUS(status) if os.WIFEXITED(status) else None


def silence(log: Path) -> None:
    """Direct the output of this process and its children to a file."""
    descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(descriptor, 1)
    os.dup2(descriptor, 2)


def record(path: Path) -> dict[str, TestRecord]:
    """Fast tests of a file and what they enter, from the last time if the file is the same."""
    digest = hashlib.sha256(str(path.relative_to(ROOT)).encode() + path.read_bytes()).hexdigest()[:12]
    stored = RECORDS / f"{path.stem}-{digest}.pickle"
    if not stored.exists():
        RECORDS.mkdir(parents=True, exist_ok=True)

        def task() -> int:
            silence(stored.with_suffix(".log"))
            recorder = Recorder()
            code = pytest.main([*OPTIONS, *FAST, str(path)], plugins=[recorder])
            stored.write_bytes(pickle.dumps(recorder.records))
            return int(code)

        run_in_child(task, CPU_RECORD)
    return pickle.loads(stored.read_bytes()) if stored.exists() else {}


def test_files() -> list[Path]:
    return sorted((ROOT / "tests").rglob("test_*.py"))


def near(module: str) -> tuple[list[Path], list[Path]]:
    """Test files of a module, the nearest first: its mirror and those that import it; its folder and its importers'."""
    files = test_files()
    mirror = mirrored(module) / f"test_{modules()[module].stem}.py"
    importing = [file for file in files if module in imports(file)]
    nearest = ([mirror] if mirror in files else []) + [file for file in importing if file != mirror]
    folders = [mirrored(name) for name in importers(module)]
    further = [
        file for file in files if mirrored(module) in file.parents and mirrored(module) != ROOT / "tests"
    ]
    further += [file for file in files if imports(file) & importers(module)]
    further += [file for file in files if file.parent in folders]
    return nearest, [file for file in dict.fromkeys(further) if file not in nearest]


def mirrored(module: str) -> Path:
    """Folder of tests of a module."""
    path = modules()[module].relative_to(ROOT)
    return ROOT / "tests" / Path(*path.parts[1:-1]) if path.parts[0] == PACKAGE else ROOT / "tests"


def first_failure(
    loader: Loader, mutant: Mutant, tests: Sequence[str], options: Sequence[str], seconds: float
) -> str:
    """The first test that fails with a mutant, or another end of it; empty if all pass."""
    RECORDS.mkdir(parents=True, exist_ok=True)
    log = RECORDS / "mutant.log"
    log.unlink(missing_ok=True)

    def task() -> int:
        silence(log)
        loader.change(mutant)
        return int(pytest.main([*OPTIONS, "-x", *options, *tests]))

    if not tests:
        return ""
    code = run_in_child(task, seconds)
    text = log.read_text(encoding="utf-8", errors="replace")
    if code is None:
        return "took too long"
    if code in (0, 5):
        return ""
    failures = re.findall(r"^(?:FAILED|ERROR|SUBFAILED\S*) (\S+)", text, re.MULTILINE)
    return failures[0] if failures else f"exit {code}: {text[-200:]!r}"


def judge(loader: Loader, mutant: Mutant, targets: set[Block], slow: bool) -> Verdict:
    """Run tests until one fails: those that enter a target, then all of their files, then slow ones of the nearest."""
    nearest, further = near(mutant.module)
    entering: dict[Path, int] = {}  # tests of a file
    for file in nearest + further:
        tests = {name: test for name, test in record(file).items() if test.passed and test.entered & targets}
        if tests:
            entering[file] = len(tests)
            by_time = sorted(tests, key=lambda name: tests[name].seconds)
            if failure := first_failure(loader, mutant, by_time, FAST, limit_of(tests.values())):
                return Verdict(True, failure)
    for file in entering:
        passed = {name: test for name, test in record(file).items() if test.passed}
        if failure := first_failure(loader, mutant, list(passed), FAST, limit_of(passed.values())):
            return Verdict(True, failure)
    if slow and (failure := first_failure(loader, mutant, [str(file) for file in nearest], SLOW, CPU_SLOW)):
        return Verdict(True, f"slow: {failure}")
    return Verdict(False, f"{sum(entering.values())} tests enter it")


def limit_of(tests: Iterable[TestRecord]) -> float:
    """Seconds of the processor that these tests may take with a mutant."""
    return max(CPU_LEAST, CPU_FACTOR * sum(test.seconds for test in tests))


def main(arguments: Sequence[str] | None = None) -> None:
    options = options_of(
        __doc__,
        arguments,
        folder_={"nargs": "*"},
        seed=1,
        sample=100,
        only={"type": int, "nargs": "+"},
        slow=False,
        dry=False,
    )
    builtins.__entered__ = set()  # type: ignore[attr-defined]
    loader = Loader()
    if not options.dry:
        preload(loader)
    killed = 0
    total = 0
    survivors = []
    for number, (mutant, targets) in enumerate(sample(options.folder, options.sample, options.seed), 1):
        if options.only and number not in options.only:
            continue
        if options.dry:
            print(number, mutant, sorted(block.name for block in targets)[:4], flush=True)
            continue
        start = time.monotonic()
        verdict = judge(loader, mutant, targets, options.slow)
        total += 1
        killed += verdict.killed
        state = "killed  " if verdict.killed else "SURVIVED"
        print(f"{number:4} {state} {mutant}  [{verdict.why}; {time.monotonic() - start:.0f} s]", flush=True)
        if not verdict.killed:
            survivors.append(mutant)
    if total:
        print(f"\n{killed} of {total} killed: {killed / total:.1%}; survivors:")
        for mutant in survivors:
            print(mutant)


if __name__ == "__main__":
    main()
