"""Make all generated pages and pictures again: `python docs/make_all.py`.

`--text` makes only those that need no fit: commands, man pages, keys, columns and the picture of the layers (seconds
instead of minutes). `--check` changes nothing, and names those of them that are out of date (exit code 1).
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import make_architecture
import make_cli
import make_columns
import make_configs
import make_man

DOCS: Final = Path(__file__).resolve().parent
# Those that fit the sample, in an order in which none needs a later one
SLOW_SCRIPTS: Final = ("make_images.py", "make_gallery.py", "make_site.py", "run_blocks.py")


def generated() -> dict[Path, str]:
    """The generated pages that need no fit, as they should be."""
    configs = make_configs.PAGE.read_text(encoding="utf-8")
    man_pages = {make_man.FOLDER / name: text for name, text in make_man.pages().items()}
    return {
        make_cli.PAGE: make_cli.page(),
        **man_pages,
        make_configs.PAGE: make_configs.page(configs),
        **make_columns.pages(),
        make_architecture.PICTURE: make_architecture.picture(),
    }


def outdated() -> Iterator[Path]:
    """The generated pages that need no fit and are not as they should be."""
    for path, text in generated().items():
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            yield path


def main(arguments: list[str]) -> int:
    """Make the pages, or check them; the exit code."""
    paths = [path.relative_to(DOCS).as_posix() for path in outdated()]
    if "--check" in arguments:
        sys.stderr.writelines(
            f"{path} is out of date: python docs/make_all.py --text\n" for path in paths
        )
        return 1 if paths else 0
    for path, text in generated().items():
        path.write_text(text, encoding="utf-8")
    if "--text" not in arguments:
        for script in SLOW_SCRIPTS:
            subprocess.run([sys.executable, script], cwd=DOCS, check=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
