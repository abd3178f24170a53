"""A grid on a Dask cluster of this machine beside processes: seconds on the clock and of the processor.

RUN is any run of ttt; each command gets a copy of it. That nothing is lost with workers is tested in tests/parallel.
"""

import os
import resource
import shutil
import sys
import tempfile
import time
from pathlib import Path

from measuring import machine, options_of


def main() -> None:
    options = options_of(__doc__, run_=Path, rounds=2, grid="beta=300:700:10,tau=20:100:10")
    print(machine("distributed"))
    with tempfile.TemporaryDirectory() as folder:
        for number in range(options.rounds):
            for words in (["--jobs", "2"], ["--cluster", "local:2"]):
                copy = Path(folder) / f"{number}{words[0]}.ttt"
                shutil.copy(options.run, copy)
                show(
                    [
                        "evidence",
                        "--grid",
                        options.grid,
                        "-r",
                        str(copy),
                        "-q",
                        "-o",
                        os.devnull,
                        *words,
                    ]
                )


def show(words: list[str]) -> None:
    """Run a command with all that it starts, and print its time."""
    began, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    os.waitpid(
        os.posix_spawn(sys.executable, [sys.executable, "-m", "ttt_cli", *words], os.environ), 0
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(
        f"{' '.join(words[-2:]):20} {time.perf_counter() - began:7.1f} s {cpu:7.1f} cpu-s",
        flush=True,
    )


if __name__ == "__main__":
    main()
