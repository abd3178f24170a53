"""Whether a run is ever damaged or lost: commands that write, with failing calls and kill -9, as many as asked for.

`python benchmarks/faults.py [--cases N] [--pairs N] [--root CHECKOUT]` prints a table of cases by command and fault,
what went wrong, and what became of simultaneous updates. Exit code 1 when anything did. Needs Linux and a C compiler.
"""

import sys
import tempfile
from pathlib import Path

from measuring import ROOT, options_of

from tests.faults.harness import COMMANDS, FAULTS, Harness, available, spread


def main() -> int:
    """Run all cases."""
    args = options_of(__doc__, cases=320, pairs=30, root={"type": Path, "default": ROOT})
    if missing := available():
        print(missing)
        return 1
    with tempfile.TemporaryDirectory() as name, Harness(Path(name), args.root) as harness:
        wrong = strike_all(harness, args.cases)
        for extra in ([], ["--no-wait"]):
            results = [harness.collide(*extra) for _ in range(args.pairs)]
            bad = [text for text in results if text]
            print(
                f"update, two at once {' '.join(extra)}: {len(bad)} of {len(results)} wrong",
                *bad[:3],
                sep="\n  ",
            )
            wrong += len(bad)
    return int(wrong > 0)


def strike_all(harness: Harness, cases: int) -> int:
    """Cases shared out over commands and faults, as evenly as there are calls. Gives how many went wrong."""
    calls = {(c, f): harness.count(c, f) for c in COMMANDS for f in FAULTS}
    share = next(
        (n for n in range(1, cases + 1) if sum(min(n, k) for k in calls.values()) >= cases), cases
    )
    total = failed = 0
    print("command  fault       calls  cases  wrong  lost")
    for (command, fault), count in calls.items():
        results = [(call, harness.strike(command, fault, call)) for call in spread(count, share)]
        bad = [(call, text) for call, text in results if text]
        lost = sum(text.startswith("LOST") for _, text in bad)
        print(
            f"{command:7}  {fault.name:10}  {count:5}  {len(results):5}  {len(bad):5}  {lost:4}",
            flush=True,
        )
        for call, text in bad[:3]:
            print(f"    call {call}: {text}")
        total, failed = total + len(results), failed + len(bad)
    print(f"{total} cases, {failed} wrong")
    return failed


if __name__ == "__main__":
    sys.exit(main())
