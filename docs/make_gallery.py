"""Remake the figures of docs/gallery.md: `python docs/make_gallery.py` (a minute or two).

Fits the sample games with TTT and TTT-D, computes a grid of evidence, and draws what the gallery shows.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from ttt_cli.cli.main import run
from ttt_cli.cli.messages import say

DOCS = Path(__file__).resolve().parent
GAMES = DOCS.parent / "sample_pgn" / "classics.pgn"
IMAGES = DOCS / "images" / "gallery"
GRID = "beta=200:1400:7,tau=20:140:7"
PLAYERS = ("Paul Morphy", "Adolf Anderssen", "Steinitz", "Emanuel Lasker", "Capablanca", "Alekhine")


def ttt(*arguments: str) -> None:
    """One command of `ttt`; leaves with its exit code when it fails."""
    say(" ".join(("ttt", *arguments)))
    code = run(arguments)
    if code:
        sys.exit(code)


def main() -> None:
    """Fit, compute, draw."""
    IMAGES.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        ttt_run, ttt_d_run = str(Path(folder) / "ttt.ttt"), str(Path(folder) / "ttt-d.ttt")
        ttt("fit", str(GAMES), "-c", "ttt", "-q", "-o", ttt_run)
        ttt("fit", str(GAMES), "-c", "ttt-d", "-q", "-o", ttt_d_run)
        ttt("evidence", "--grid", GRID, "-q", "-r", ttt_run, "-o", str(Path(folder) / "grid.csv"))
        for name, arguments in {
            "games": ("--kind", "games", "-r", ttt_run),
            "evidence": ("--kind", "evidence", "-r", ttt_run),
            "top": ("--kind", "top", "-r", ttt_run),
            "leaders": ("--kind", "leaders", "-r", ttt_run),
            "dominance": ("--by", "dominance", "Morphy", "Steinitz", *PLAYERS[3:5], "-r", ttt_run),
            "difference": ("--kind", "difference", "Emanuel Lasker", "Capablanca", "-r", ttt_run),
            "why": ("--kind", "why", "Emanuel Lasker", "--at", "1914", "-r", ttt_run),
            "why-chain": (
                *("--kind", "why", "Cochrane", "--at", "1855", "--by", "chain"),
                *("-n", "5", "-r", ttt_run),
            ),
            "skills-ttt": (*PLAYERS, "-r", ttt_run),
            "skills-ttt-d": (*PLAYERS, "-r", ttt_d_run),
            "comparison": (*PLAYERS[2:], "-r", ttt_run, "--with", ttt_d_run),
        }.items():
            picture = IMAGES / f"{name}.svg"
            picture.unlink(
                missing_ok=True
            )  # pictures of before the mark are none that a command may replace
            ttt("plot", *arguments, "-o", str(picture))


if __name__ == "__main__":
    main()
