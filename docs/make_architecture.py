"""Draw docs/images/architecture.svg: the layers of the package and which import which, read from the code itself."""

from __future__ import annotations

import ast
import re
from configparser import ConfigParser
from pathlib import Path
from typing import Final
from xml.sax.saxutils import escape

ROOT: Final = Path(__file__).parents[1]
PICTURE: Final = ROOT / "docs" / "images" / "architecture.svg"
PACKAGE: Final = "ttt_cli"
_ROW, _BOX, _WIDTH, _TOP = 44, 30, 640, 12  # units of the picture
_REACH: Final = 22  # of an arc for every layer that it passes
_STYLE: Final = """\
svg { background: white; font: 14px system-ui, sans-serif; }
rect { fill: #eef3f8; stroke: #0072B2; }
text { fill: #222; } .inside { fill: #777; font-size: 12px; }
path { fill: none; stroke: #0072B2; stroke-opacity: .45; stroke-width: 1.3; }
marker path { fill: #0072B2; stroke: none; }"""


def layers() -> list[str]:
    """The layers from the top down, as the contract of imports has them; equals stand in one row."""
    contracts = ConfigParser()
    contracts.read(ROOT / ".importlinter", encoding="utf-8")
    rows = contracts["importlinter:contract:layers"]["layers"].split("\n")
    return [row.strip() for row in rows if row.strip() and row.strip() != "__main__"]


def imports() -> set[tuple[str, str]]:
    """Pairs of parts of the package, the first of which imports the second when it runs."""
    found = set()
    for path in sorted((ROOT / PACKAGE).rglob("*.py")):
        part = path.relative_to(ROOT / PACKAGE).parts[0].removesuffix(".py")
        tree = ast.parse(path.read_text(encoding="utf-8"))
        typed = {
            id(inner)
            for node in ast.walk(tree)
            if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
            for inner in ast.walk(node)
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module and id(node) not in typed:
                top, _, rest = node.module.partition(".")
                names = [rest.partition(".")[0]] if rest else [alias.name for alias in node.names]
                found |= {(part, name) for name in names if top == PACKAGE and name != part}
    return found


def purpose(part: str) -> str:
    """What a part of the package is for: the first sentence of its docstring."""
    folder = ROOT / PACKAGE / part
    path = folder / "__init__.py" if folder.is_dir() else folder.with_suffix(".py")
    docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return escape(re.split(r"[.;:(](?:\s|$)| \(", docstring, maxsplit=1)[0].replace("`", ""))


def shortest(arcs: set[tuple[int, int]]) -> list[tuple[int, int]]:
    """The arcs that no longer way implies (the transitive reduction)."""
    below: dict[int, set[int]] = {}
    for upper, lower in sorted(arcs, reverse=True):
        below.setdefault(upper, set()).update({lower}, below.get(lower, set()))
    return sorted(
        (upper, lower)
        for upper, lower in arcs
        if not any(lower in below.get(middle, ()) for top, middle in arcs if top == upper)
    )


def picture() -> str:
    """The picture as SVG: an arc leads from a layer down to one that it imports, those implied by others left out."""
    rows = layers()
    place = {part: number for number, row in enumerate(rows) for part in row.split(" | ")}
    arcs = shortest({(place[a], place[b]) for a, b in imports() if {a, b} <= place.keys()})
    height = 2 * _TOP + _ROW * len(rows)
    reach = max(lower - upper for upper, lower in arcs) * _REACH
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH + reach + 30} {height}" role="img">',
        f"<title>The layers of {PACKAGE}; imports go down only</title>",
        f"<style>\n{_STYLE}\n</style>",
        '<defs><marker id="end" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
        '<path d="M0,0 L8,4 L0,8 z"/></marker></defs>',
    ]
    for upper, lower in arcs:
        begin, end = (_TOP + _ROW * row + _BOX / 2 for row in (upper, lower))
        far = _WIDTH + (lower - upper) * _REACH * 4 / 3
        curve = f"M{_WIDTH},{begin + 4:g} C{far:g},{begin + 4:g} {far:g},{end - 4:g} {_WIDTH},{end - 4:g}"
        lines.append(f'<path d="{curve}" marker-end="url(#end)"/>')
    for number, row in enumerate(rows):
        y = _TOP + _ROW * number
        more = purpose(row) if " | " not in row else ""
        lines.append(f'<rect x="10" y="{y}" width="{_WIDTH - 10}" height="{_BOX}" rx="5"/>')
        lines.append(
            f'<text x="20" y="{y + 20}">{row.replace(" | ", ", ")} <tspan class="inside" dx="8">{more}</tspan></text>'
        )
    return "\n".join([*lines, "</svg>", ""])


if __name__ == "__main__":
    PICTURE.write_text(picture(), encoding="utf-8")
