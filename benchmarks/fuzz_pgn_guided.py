"""PGN found by coverage: inputs that take new branches of the scanners are kept and mutated further (atheris).

The code of the compiled scanner runs as plain Python here, so that its branches are seen too, with limits small enough
to be reached. Every input must give the same from both scanners, however it is cut into blocks, and from `read_games`;
of its records as many must be used as are not dropped, and no error may come but those meant for users. What breaks
a rule is written to `crash-*` in the working directory, what hangs to `timeout-*`.

atheris needs an environment of its own, with the packages that reading needs:

    python -m venv fuzz && fuzz/bin/pip install atheris numba numpy pydantic ruamel.yaml zstandard
    PYTHONPATH=. fuzz/bin/python benchmarks/fuzz_pgn_guided.py found/ sample_pgn/*.pgn --seconds 1800

`found/` gathers the inputs and may be given again; `--replay` puts them through the compiled code instead.
"""

import importlib
import io
import os
import random
import sys
import tempfile
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from measuring import options_of

SEED_SIZE = 500  # bytes of a file that an input begins with
SEEDS_PER_FILE = 40
SMALL: dict[str, dict[str, int]] = {
    "ttt_cli.reading.pgn_text": {"COMMENT_LIMIT": 96, "MOVES_LIMIT": 128},
    "ttt_cli.reading.pgn": {"_ROWS_AT_ONCE": 4},
    "ttt_cli.reading.columns": {"_COUNT": 8, "_CHARACTERS": 64},
    "ttt_cli.kernels.pgn": {"COMMENT_LIMIT": 96, "MOVES_LIMIT": 128},
    "ttt_cli.reading.text": {"HEAD": 64, "BLOCK": 128},
}


def main(arguments: Sequence[str] | None = None) -> int:
    options = options_of(
        __doc__, arguments,
        found_=Path, seeds_={"type": Path, "nargs": "*"}, seconds=1800, seed=1, replay=False,
    )  # fmt: skip
    if options.replay:
        check = checks(small=False)
        for path in sorted(path for path in options.found.iterdir() if path.is_file()):
            print(path)
            check(path.read_bytes())
        return 0
    os.environ["NUMBA_DISABLE_JIT"] = "1"
    atheris: Any = importlib.import_module("atheris")
    with atheris.instrument_imports(include=["ttt_cli.kernels", "ttt_cli.games"]):
        check = checks(small=True)
    options.found.mkdir(parents=True, exist_ok=True)
    plant(options.found, options.seeds, random.Random(options.seed))
    with tempfile.TemporaryDirectory() as folder:
        flags = [
            f"-dict={dictionary(Path(folder))}",
            f"-max_total_time={options.seconds}",
            f"-seed={options.seed}",
        ]
        flags += ["-timeout=20", "-max_len=900", "-rss_limit_mb=3000", "-print_final_stats=1"]
        atheris.Setup([sys.argv[0], *flags, str(options.found)], check)
        atheris.Fuzz()
    return 0


def plant(found: Path, seeds: Sequence[Path], chance: random.Random) -> None:
    """Put pieces of files among the inputs."""
    from fuzz_pgn import SEED_GAMES

    pieces = [SEED_GAMES]
    for content in (path.read_bytes() for path in seeds):
        count = min(SEEDS_PER_FILE, 1 + len(content) // SEED_SIZE)
        starts = [0, *(chance.randrange(len(content)) for _ in range(count - 1))]
        pieces += [content[start : start + SEED_SIZE] for start in starts]
    for piece in pieces:
        (found / f"seed-{zlib.crc32(piece):08x}").write_bytes(piece)


def dictionary(folder: Path) -> Path:
    """A file of the traps, as libFuzzer reads them."""
    from fuzz_pgn import TRAPS

    path = folder / "traps.dict"
    entries = ("".join(f"\\x{byte:02x}" for byte in trap) for trap in TRAPS if len(trap) <= 64)
    path.write_text("".join(f'"{entry}"\n' for entry in entries))
    return path


def hasten() -> None:
    """Do what has no branches on many bytes at once, as compiled code does."""
    import numpy as np
    from numpy.typing import NDArray

    from ttt_cli.kernels import pgn, pgn_bytes
    from ttt_cli.reading import pgn as compiled

    def mark_bytes(data: NDArray[np.uint8], marks: NDArray[np.uint8]) -> None:
        marks[:] = 0
        marks[1:-1] = pgn_bytes.mark_of(data[:-2], data[1:-1], data[2:])

    def eight_at(array: NDArray[np.uint8], i: int) -> Any:
        return array[i : i + 8].view("<u8")[0]

    for module in (pgn_bytes, pgn):
        setattr(module, "eight_at", eight_at)  # noqa: B010
    setattr(compiled, "mark_bytes", mark_bytes)  # noqa: B010


def checks(*, small: bool) -> Callable[[bytes], None]:
    """What is asked of every input; with `small`, limits are lowered so that short inputs reach them."""
    import numpy as np

    if small:
        hasten()
        for name, limits in SMALL.items():
            module = importlib.import_module(name)
            for limit, value in limits.items():
                assert hasattr(module, limit), (name, limit)
                setattr(module, limit, value)
    from fuzz_pgn import compared, said

    from tests.reference.pgn import PlainScanner
    from ttt_cli.config.schema import DataConfig
    from ttt_cli.games.read import read_games
    from ttt_cli.reading.text import plain_blocks
    from ttt_cli.support.errors import TttError

    def check(content: bytes) -> None:
        chance = random.Random(zlib.crc32(content))  # not everything every time, which would be slow
        with np.errstate(over="ignore"):
            *_, equal = compared(content, chance)
            assert equal, "the scanners differ"
            if chance.random() > 0.4:
                return
            try:
                games = read_games([io.BytesIO(content)], DataConfig(format="pgn"))
            except TttError:
                return
            report = games.report
            assert report.rows == report.used + sum(report.dropped.values()), "records are lost"
            assert report.used == len(games.date), "games are lost"
            assert all(file.rows == file.used + sum(file.dropped.values()) for file in report.files)
            plain = b"".join(plain_blocks([content] if content else [], None, "fuzz"))
            known = {row[0] for row in said(PlainScanner(), [plain])[0]}
            assert set(games.source_line.tolist()) <= known, "a game that is not there"

    return check


if __name__ == "__main__":
    sys.exit(main())
