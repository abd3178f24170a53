"""`python -m ttt_cli`, and the command `ttt`."""

import atexit
import os
import sys
from contextlib import suppress
from typing import NoReturn


def main() -> NoReturn:
    """Run the command line and leave with its exit code, at once: taking down the compiler takes a third of a second.

    After a signal compiled code may still run in a thread, so that nothing is taken down that it runs on.
    """
    try:
        from ttt_cli.cli.main import run

        code = run()
    except KeyboardInterrupt:
        code = 130
    if code not in {129, 130, 143}:
        atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with suppress(Exception):
            stream.flush()
    os._exit(code)


if __name__ == "__main__":
    main()
