"""`python -m ttt_cli`, and the command `ttt`."""

import sys


def main() -> None:
    """Run the command line and leave with its exit code."""
    try:
        from ttt_cli.cli.main import run

        code = run()
    except KeyboardInterrupt:
        code = 130
    sys.exit(code)


if __name__ == "__main__":
    main()
