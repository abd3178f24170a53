"""Odds as they are written, by the figures of the Edo ratings (odds games, December 2023)."""

from __future__ import annotations

import math

from tests.support.cases import each
from ttt_cli.games.validate import POINTS, is_even, odds_points, odds_words


@each(
    "written, points, giver",
    [
        ("pawn and move", 163, "black"),
        ("Pawn & Move", 163, "black"),
        ("P+M", 163, "black"),
        ("odds of pawn and move", 163, "black"),
        ("pawn and one", 163, "black"),
        ("pawn and two", 219, "black"),
        ("pawn and two moves", 219, "black"),
        ("P & 2", 219, "black"),
        ("Pawn and 3", 271, "black"),
        ("pawn for the move", 113, "white"),
        ("knight", 373, "white"),
        ("Queen's Knight", 373, "white"),
        ("QN odds", 373, "white"),
        ("knight for two moves", 321, "white"),
        ("rook", 479, "white"),
        ("queen's rook", 479, "white"),
        ("rook, pawn and move", 651, "black"),
        ("rook, pawn and two", 712, "black"),
        ("rook and two pawns", 695, "white"),
        ("two knights", 747, "white"),
        ("two pieces", 747, "white"),
        ("the queen", 1008, "white"),
        ("queen for pawn and move", 851, "white"),
        ("the exchange", 130, "white"),
        ("exchange and move", 182, "black"),
        ("the move", 24, "black"),
        ("two moves", 66, "black"),
        ("draw odds", 87, "white"),
        ("mate on a given square", 373, "white"),
    ],
)
def test_points_and_who_gives(written: str, points: float, giver: str) -> None:
    assert odds_points(written) == (points if giver == "black" else -points)


def test_every_entry_of_the_table_is_found_by_its_own_name() -> None:
    assert {odds: abs(odds_points(odds)) for odds in POINTS} == POINTS


@each("written", ["", " ", "-", "none", "even", "Even", "no odds", "0"])
def test_even_terms(written: str) -> None:
    assert is_even(written)
    assert odds_points(written) == 0


@each("written", ["?", "pawn", "capped knight", "rook and queen", "something"])
def test_unknown_odds_are_not_even(written: str) -> None:
    assert not is_even(written)
    assert math.isnan(odds_points(written))


def test_a_configured_figure_counts_instead() -> None:
    figures = {
        odds_words(odds): points for odds, points in {"P and move": 120.0, "capped knight": 400.0}.items()
    }
    assert odds_points("pawn & move", figures) == 120
    assert odds_points("Capped Knight", figures) == -400
    assert odds_points("rook", figures) == -479
