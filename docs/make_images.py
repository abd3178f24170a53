"""Draw the pictures of docs/images: what commands show on a terminal with colours, up to the first blank line."""

from __future__ import annotations

import io
import re
import tempfile
from collections.abc import Iterable
from html import unescape
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text
from run_blocks import Session

IMAGES: Final = Path(__file__).with_name("images")
PICTURES: Final = {"player": "ttt player Morphy", "evidence": "ttt evidence --grid beta,tau"}
_COLUMNS: Final = 80
_CHARACTER: Final = 12.2  # width in a picture
_COLOURS: Final = {"TERM": "xterm-256color", "COLORTERM": "truecolor", "COLUMNS": str(_COLUMNS)}
_PALETTE: Final = [(46, 52, 64), (191, 97, 106), (163, 190, 140), (235, 203, 139),
                   (129, 161, 193), (180, 142, 173), (136, 192, 208), (229, 233, 240)]  # fmt: skip
_THEME: Final = TerminalTheme((30, 34, 42), (216, 222, 233), _PALETTE)
_FRAME: Final = """\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img">
<style>
.{unique_id}-matrix {{ font-family: Menlo, "DejaVu Sans Mono", Consolas, monospace;
  font-size: {char_height}px; line-height: {line_height}px; }}
{styles}
</style>
<defs>
<clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}" />
</clipPath>
{lines}
</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""


def pictures(commands: Path | None = None, names: Iterable[str] = PICTURES) -> dict[str, str]:
    """The pictures as SVG, by name; `commands` as for a Session."""
    with tempfile.TemporaryDirectory() as folder:
        session = Session(Path(folder), _COLOURS, commands)
        session.shell("ttt fit sample_pgn/classics.pgn -q")
        return {name: _picture(session, PICTURES[name], name) for name in names}


def text_of(svg: str) -> str:
    """What is written in a picture, line by line."""
    lines: dict[float, str] = {}
    pattern = r'<text[^>]* x="([\d.]+)" y="([\d.]+)"[^>]*clip-path[^>]*>(.*?)</text>'
    for x, y, text in re.findall(pattern, svg):
        column = round(float(x) / _CHARACTER)
        lines[float(y)] = lines.get(float(y), "").ljust(column) + unescape(text).replace(
            "\xa0", " "
        )
    return "\n".join(lines[y].rstrip() for y in sorted(lines))


def _picture(session: Session, command: str, name: str) -> str:
    printed = session.shell(command)
    assert printed.code == 0, printed.err
    console = Console(
        record=True,
        file=io.StringIO(),
        width=_COLUMNS,
        force_terminal=True,
        color_system="truecolor",
    )
    console.print(Text(f"$ {command}", style="bold green"))
    console.print(Text(printed.err.rstrip("\n"), style="dim"), end="\n" if printed.err else "")
    console.print(Text.from_ansi(printed.out.partition("\n\n")[0].rstrip("\n")))
    svg = console.export_svg(title="", theme=_THEME, code_format=_FRAME, unique_id=f"ttt-{name}")
    return "".join(f"{line.rstrip()}\n" for line in svg.splitlines() if line.strip())


if __name__ == "__main__":
    IMAGES.mkdir(exist_ok=True)
    for name, svg in pictures().items():
        (IMAGES / f"{name}.svg").write_text(svg, encoding="utf-8")
