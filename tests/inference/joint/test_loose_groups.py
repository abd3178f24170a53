"""The sds of levels of loosely tied groups, against the inverse of a dense matrix."""

import re

import numpy as np
import pytest

from tests.reference.ttt_ep import Twin
from tests.support.builders import make_games
from ttt_cli import fit
from ttt_cli.gaussian import factor
from ttt_cli.inference.joint import choose
from ttt_cli.inference.joint.loose_groups import level_notes
from ttt_cli.systems import ttt
from ttt_cli.timeline import build_timeline

RING = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 0)]


def circle(letter, years, result=1):
    return [(year, f"{letter}{i}", f"{letter}{j}", result) for year in years for i, j in RING]


TIED = [
    *circle("a", (1900, 1901, 1902)),
    *circle("a", (1901,)),
    *circle("b", (1901, 1903), 2),
    (1901, "a0", "b0", 2),
]
UNTIED = [*circle("a", (1900, 1901)), *circle("a", (1900,)), *circle("c", (1901, 1902), 2)]
UNMET = [*circle("a", (1900, 1901)), *circle("c", (1910, 1911), 2)]


def sds_of(notes):
    return [float(sd) for note in notes for sd in re.findall(r"\+-(\d+)", note)]


def plain_contrast(timeline, inside, others):
    """Mean skill of those inside less the others' in the same years: year by year, as often as somebody plays there."""
    nodes = list(
        zip(
            timeline.node_period.tolist(),
            [timeline.players[p] for p in timeline.node_player],
            strict=True,
        )
    )
    by_year = {
        year: [
            [k for k, (at, name) in enumerate(nodes) if at == year and name[0] == side]
            for side in (inside, others)
        ]
        for year in set(timeline.node_period.tolist())
    }
    pairs = [ends for ends in by_year.values() if all(ends)]
    if not pairs:
        pairs = [
            [
                [k for k, (_, name) in enumerate(nodes) if name[0] == side]
                for side in (inside, others)
            ]
        ]
    weights = np.zeros(timeline.n_nodes)
    for ours, theirs in pairs:
        weights[ours] += 1.0
        weights[theirs] -= len(ours) / len(theirs)
    return weights / sum(len(ours) for ours, _ in pairs)


@pytest.mark.parametrize(
    ("rows", "part", "words"),
    [
        (TIED, "b", r"5 players around b0, linked to the rest by 1 game with a0"),
        (UNTIED, "c", r"5 players around c\d, linked to the rest by no game"),
        (UNMET, "c", r"5 players around [ac]\d, linked to the rest by no game"),
    ],
)
def test_sds_are_those_of_the_dense_inverse(rows, part, words):
    """Tied by one game, by none, and without a year in common."""
    games = make_games(rows)
    timeline = build_timeline(games)
    params = {"beta": 300, "tau": 50, "prior_sd": 250, "draw_margin": 140.0}
    run = fit(games, posterior="joint", tol=1e-6, **params)
    (note,) = (note for note in run.meta.notes if "common level" in note)
    assert re.search(words, note)
    _, covariance = Twin(timeline, ttt.Params(**params), joint=True).run().gaussian()
    c = plain_contrast(timeline, part, "a")
    assert sds_of([note]) == pytest.approx([np.sqrt(c @ covariance @ c)], abs=0.5)


@pytest.mark.parametrize("model", ["ttt", "ttt-d"])
def test_without_a_factor_they_are_the_same(model, monkeypatch):
    """Solved for by conjugate gradients, at the same sites."""
    monkeypatch.setattr(choose, "ROUNDS", 1e12)
    exact = fit(make_games(TIED), model=model, posterior="auto")
    monkeypatch.setattr(factor, "MOST_ENTRIES", 0)
    solved = fit(make_games(TIED), model=model, posterior="joint")
    assert (exact.meta.posterior, solved.meta.posterior) == ("joint sds", "joint sds")
    assert sds_of(exact.meta.notes) == pytest.approx(sds_of(solved.meta.notes), abs=1)


def test_more_games_tie_more_closely():
    """And nothing is said of groups that many games tie, or of few players, or without a joint posterior."""
    said = [
        sds_of(
            fit(make_games([*TIED, *[(1901, "a0", "b1", 1)] * more]), posterior="joint").meta.notes
        )
        for more in (0, 3, 8, 10)
    ]
    assert said[0] > said[1] > said[2]
    assert said[3] == []
    assert sds_of(fit(make_games(TIED[:-1]), posterior="factorised").meta.notes) == []
    few = make_games([(1900, "a", "b", 1), (1900, "c", "d", 1)])
    assert level_notes(few, build_timeline(few), None) == ()
