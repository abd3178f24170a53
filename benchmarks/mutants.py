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

import builtins
import hashlib
import importlib
import importlib.abc
import importlib.util
import os
import pickle
import re
import resource
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any, Final

import pytest
from measuring import ROOT, options_of
from mutations import (
    KERNELS,
    PACKAGE,
    Block,
    Mutant,
    dependants,
    importers,
    imports,
    marked,
    modules,
    sample,
)

RECORDS: Final = ROOT / "build" / "mutants"
PRELOADED: Final = (
    "numpy", "scipy.optimize", "scipy.sparse", "scipy.special", "scipy.stats", "pandas", "pyarrow.parquet",
    "pyarrow.csv", "duckdb", "numba", "hypothesis", "xdist.plugin", "pydantic", "ruamel.yaml", "jinja2",
    "click.testing", "rich.console", "chess.pgn",
)  # fmt: skip
CPU_LEAST: Final = 10.0  # seconds of the processor that a mutant may take at least
CPU_FACTOR: Final = 5.0  # times what the tests take without it
CPU_RECORD: Final = 600.0  # seconds of the processor for a file of tests without a mutant
CPU_SLOW: Final = 120.0  # seconds of the processor for slow tests
WALL_FACTOR: Final = 60.0  # seconds on the clock per second of the processor, on a busy machine


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


# Loading: marked modules, and one that is changed


class Loader(importlib.abc.MetaPathFinder):
    """Finds our modules, marked and one perhaps changed."""

    def __init__(self) -> None:
        self._code: dict[str, CodeType] = {}
        self._mutant: Mutant | None = None

    def find_spec(self, fullname: str, path: Any, target: ModuleType | None = None) -> Any:  # noqa: ARG002
        if (
            not fullname.startswith(PACKAGE)
            or fullname.startswith(KERNELS)
            or fullname not in modules()
        ):
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
            self._code[fullname] = compile(
                marked(fullname, path)[0], str(path), "exec", dont_inherit=True
            )
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
        self.records[item.nodeid] = TestRecord(
            seconds, item.nodeid not in self._failed, blocks_entered
        )
        return result


def entered() -> set[tuple[str, str]]:
    """Blocks entered so far: marked modules add to it."""
    return builtins.__entered__  # type: ignore[attr-defined,no-any-return]


FAST: Final = ("-m", "not slow and not large")
SLOW: Final = ("-m", "slow and not large")
UNREWRITTEN: Final = (
    "-W",
    "ignore::pytest.PytestAssertRewriteWarning",
)  # plugins are loaded before
OPTIONS: Final = (
    "-n",
    "0",
    "-q",
    "-p",
    "no:cacheprovider",
    "--tb=line",
    "--no-header",
    *UNREWRITTEN,
)


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
    digest = hashlib.sha256(str(path.relative_to(ROOT)).encode() + path.read_bytes()).hexdigest()[
        :12
    ]
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
        file
        for file in files
        if mirrored(module) in file.parents and mirrored(module) != ROOT / "tests"
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
        tests = {
            name: test
            for name, test in record(file).items()
            if test.passed and test.entered & targets
        }
        if tests:
            entering[file] = len(tests)
            by_time = sorted(tests, key=lambda name: tests[name].seconds)
            if failure := first_failure(loader, mutant, by_time, FAST, limit_of(tests.values())):
                return Verdict(True, failure)
    for file in entering:
        passed = {name: test for name, test in record(file).items() if test.passed}
        if failure := first_failure(loader, mutant, list(passed), FAST, limit_of(passed.values())):
            return Verdict(True, failure)
    if slow and (
        failure := first_failure(loader, mutant, [str(file) for file in nearest], SLOW, CPU_SLOW)
    ):
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
    for number, (mutant, targets) in enumerate(
        sample(options.folder, options.sample, options.seed), 1
    ):
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
        print(
            f"{number:4} {state} {mutant}  [{verdict.why}; {time.monotonic() - start:.0f} s]",
            flush=True,
        )
        if not verdict.killed:
            survivors.append(mutant)
    if total:
        print(f"\n{killed} of {total} killed: {killed / total:.1%}; survivors:")
        for mutant in survivors:
            print(mutant)


if __name__ == "__main__":
    main()
