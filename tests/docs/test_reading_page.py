"""The page on reading against the code: odds, sets of events, keys of the filter, the example of an alias file."""

from __future__ import annotations

import re
from pathlib import Path

from ttt_cli.config.schema import FilterConfig
from ttt_cli.games.players import read_aliases
from ttt_cli.games.validate import POINTS, odds_points
from ttt_cli.reading.reports import EVENT_SETS

PAGE = (Path(__file__).parents[2] / "docs" / "reading.md").read_text(encoding="utf-8")


def section(title: str) -> str:
    """The text from a heading to the next."""
    return PAGE.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def test_the_odds_are_those_that_count() -> None:
    rows = [line for line in section("Soft results and odds").splitlines() if re.match(r"\| .*\d \|", line)]
    cells = [cell.strip() for row in rows for cell in row.strip("|").split("|")]
    shown = {odds: float(points) for odds, points in zip(cells[::2], cells[1::2], strict=True) if odds}
    assert {odds: abs(odds_points(odds)) for odds in shown} == shown
    assert len(shown) == len(POINTS)


def test_the_sets_and_keys_are_those_of_the_filter() -> None:
    keys, sets = section("Filters").split("| set | holds")
    assert re.findall(r"^\| `([\w-]+)` \|", sets, flags=re.MULTILINE) == list(EVENT_SETS)
    assert set(re.findall(r"^\| `([\w-]+)` \|", keys, flags=re.MULTILINE)) | {"among"} == set(
        FilterConfig.model_fields
    )


def test_the_alias_file_of_the_page_is_one(tmp_path: Path) -> None:
    text = section("Names").partition("```text\n")[2].partition("```")[0]
    (tmp_path / "aliases.csv").write_text(text, encoding="utf-8")
    aliases = read_aliases(str(tmp_path / "aliases.csv"))
    assert aliases.names["P. C. Morphy"] == "Morphy, Paul"
    assert aliases.by_status == {("Anderssen, Adolf", "casual"): "Anderssen, Adolf (offhand)"}
