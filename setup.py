"""What pyproject.toml cannot say: samples are packed into the wheel, and the index shows addresses in the README.

The README has links into the repository, in whose place addresses stand.
"""

import lzma
import re
import tomllib
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

ROOT = Path(__file__).parent


def readme() -> str:
    """README.md whose links lead to the files of this version in the public repository."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    source, version = project["urls"]["Source"], project["version"]

    def address(link: re.Match[str]) -> str:
        kind = "raw" if link["image"] else "blob"
        return f"{link['image']}[{link['text']}]({source}/{kind}/v{version}/{link['file']})"

    relative = r"(?P<image>!?)\[(?P<text>[^]]*)\]\((?!\w+:|#)(?P<file>[^)]+)\)"
    return re.sub(relative, address, (ROOT / "README.md").read_text(encoding="utf-8"))


def write_samples(folder: Path) -> None:
    """Pack the files of sample_pgn into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for file in (ROOT / "sample_pgn").iterdir():
        if file.suffix in (".pgn", ".csv"):
            (folder / f"{file.name}.xz").write_bytes(lzma.compress(file.read_bytes(), preset=9))


class BuildWithSamples(build_py):
    """Build the package with the files of sample_pgn, packed (`ttt_cli.reading.samples`)."""

    def run(self) -> None:
        """Build the modules, then the samples."""
        super().run()
        if not self.editable_mode:
            write_samples(Path(self.build_lib, "ttt_cli", "samples"))


if __name__ == "__main__":
    setup(
        cmdclass={"build_py": BuildWithSamples},
        long_description=readme(),
        long_description_content_type="text/markdown",
    )
