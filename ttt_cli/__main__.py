"""`python -m ttt_cli`, and the command `ttt`."""

import os
import sys
from contextlib import suppress


def main() -> None:
    """Run the command line and leave with its exit code.

    After a signal compiled code may still run in a thread: then at once, without taking down what it runs on.
    """
    try:
        from ttt_cli.cli.main import run

        code = run()
    except KeyboardInterrupt:
        code = 130
    if code in {129, 130, 143}:
        for stream in (sys.stdout, sys.stderr):
            with suppress(Exception):
                stream.flush()
        os._exit(code)
    sys.exit(code)


if __name__ == "__main__":
    main()
