"""Every anchor of a scale that help, docs, messages and configs give as an example works on the sample."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from ttt_cli import fit, read_games
from ttt_cli.runs.lookup import find_scale, parse_anchor

ROOT = Path(__file__).parents[2]
ANCHOR = re.compile(r"[A-Z][^'\"`\n:\[\]]*? @ \d{4}\S* = \d+")


def examples() -> Iterator[tuple[str, str]]:
    places = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *(ROOT / "configs").glob("*.yaml")]
    for place in [*places, *(ROOT / "ttt_cli").rglob("*.py")]:
        unbroken = re.sub(r"\s+(?=[@=] )|(?<=[@=,])\s+", " ", place.read_text(encoding="utf-8"))
        for text in ANCHOR.findall(unbroken):
            yield place.name, text


@pytest.mark.slow
def test_every_example_of_an_anchor_works_on_the_sample() -> None:
    found = list(examples())
    assert {"options.py", "cli.md", "scale.md"} <= {name for name, _ in found}
    run = fit(read_games(ROOT / "sample_pgn" / "classics.pgn"), output=None)
    for name, text in found:
        scale = find_scale(run.meta, lambda sql, values=(): run.select(sql, values)[1], [text])
        assert scale.anchors == (parse_anchor(text),), name
