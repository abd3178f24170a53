"""What the package index shows: the README with addresses in place of links into the repository.

Everything else of the distribution is in pyproject.toml.
"""

import re
import tomllib
from pathlib import Path

from setuptools import setup

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


if __name__ == "__main__":
    setup(long_description=readme(), long_description_content_type="text/markdown")
