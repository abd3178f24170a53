"""Runs commands of `ttt`, each in a fork of its own, with faults from one of its calls on.

Reads cases from standard input, as JSON: those of a line run at once and are answered in a line. Started with the shim
preloaded.
"""

from __future__ import annotations

import ctypes
import json
import os
import sys
import tempfile
import traceback
from contextlib import ExitStack
from pathlib import Path

from ttt_cli.cli.main import run

WARM = [
    "date,white,black,result",
    *(f"18{50 + i % 9},p{i % 4},q{i % 3},1-0" for i in range(30)),
    "1850,p1,q1,1/2-1/2",
]


def warm_up() -> None:
    """Import and load everything, in this process: forks begin with it."""
    with tempfile.TemporaryDirectory() as name:
        games, place = Path(name, "g.csv"), str(Path(name, "g.ttt"))
        games.write_text("\n".join(WARM), encoding="utf-8")
        for args in (
            ["fit", str(games), "-o", place],
            ["update", place, str(games), "--again"],
            ["evidence", "--grid", "beta=300/400", "-r", place, "-o", str(Path(name, "x.csv"))],
            ["tune", "beta", "-r", place, "-o", str(Path(name, "x.yaml")), "-f", "csv"],
            ["export", "skills", "-r", place, "-o", str(Path(name, "x.csv"))],
        ):
            run([*args, "-q"])


def answers(shim: ctypes.CDLL, cases: list[dict[str, object]]) -> list[dict[str, object]]:
    """Of each: the exit code (negative for signals), the number of calls by kind and what was said."""
    with ExitStack() as files:
        texts = [[files.enter_context(tempfile.TemporaryFile()) for _ in range(2)] for _ in cases]
        children = []
        for case, (said, counts) in zip(cases, texts, strict=True):
            children.append(os.fork())
            if children[-1] == 0:
                _run(shim, case, said.fileno(), counts.fileno())
        codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
        found = [
            [file.seek(0) or file.read().decode(errors="replace") for file in pair]
            for pair in texts
        ]
    return [
        {"code": code, "said": said, "counts": json.loads(counts or "{}")}
        for code, (said, counts) in zip(codes, found, strict=True)
    ]


def _run(shim: ctypes.CDLL, case: dict[str, object], said: int, counts: int) -> None:
    """Be the command, and end."""
    code = 1
    try:
        os.chdir(str(case["folder"]))
        null = os.open(os.devnull, os.O_RDWR)
        for stream, place in enumerate((null, null, said)):
            os.dup2(place, stream)
        shim.fault_arm(os.fsencode(str(case["folder"])), *case["fault"])
        code = run(case["args"])
        sys.stderr.flush()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 1
    except BaseException:
        traceback.print_exc()
    finally:
        numbers = {kind: shim.fault_count(kind) for kind in (1, 2, 4, 8)}
        shim.fault_arm(b"", 0, 0, 0, 0)
        os.write(counts, json.dumps(numbers).encode())
        os._exit(code)


def main() -> None:
    """Answer until standard input ends."""
    shim = ctypes.CDLL(None)
    shim.fault_arm.argtypes = [
        ctypes.c_char_p,
        ctypes.c_int,
        ctypes.c_long,
        ctypes.c_long,
        ctypes.c_int,
    ]
    out = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    warm_up()
    for line in sys.stdin:
        out.write(json.dumps(answers(shim, json.loads(line))) + "\n")
        out.flush()


if __name__ == "__main__":
    main()
