"""Chains of opponents: by hand, and against their definition on small histories."""

import numpy as np
import pytest

from tests.reference.link_histories import BETA, MARGIN, SD, TAU
from tests.reference.opponent_chains_dense import ChainsTwin, weights_of
from tests.support.builders import random_rows
from tests.support.joint_runs import run_of
from ttt_cli import api
from ttt_cli.inference.opponent_chains import (
    FIELD,
    NEAR,
    NEWCOMER,
    GameFlows,
    OpponentChain,
    opponent_chains,
    player_flows,
)
from ttt_cli.support.errors import ConfigError

PLAYED = {"beta": BETA, "tau": TAU, "prior_sd": SD, "draw_margin": MARGIN}


def chains_of(pairs, source, ends=()):
    """The chains from player 0 by weights of games {(first, second): weight}."""
    first, second = (np.array(side) for side in zip(*pairs, strict=True))
    flows = player_flows(GameFlows(first, second, np.array(list(pairs.values()))), np.array(source))
    is_end = np.zeros(len(source), np.bool_)
    is_end[list(ends)] = True
    return opponent_chains(flows, 0, is_end)


def test_a_flow_divides_and_ends():
    """0.6 to player 1, who is an end; 0.3 to player 2, who is in the field for a third and passes two on; 0.1 stays."""
    pairs = {(0, 1): 0.6, (2, 0): -0.3, (2, 1): 0.2}
    chains = chains_of(pairs, [1.0, -0.9, -0.1], ends=[1])
    assert chains == [
        OpponentChain((0, 1), FIELD, pytest.approx(0.6)),
        OpponentChain((0, 2, 1), FIELD, pytest.approx(0.2)),
        OpponentChain((0,), NEWCOMER, pytest.approx(0.1)),
        OpponentChain((0, 2), FIELD, pytest.approx(0.1)),
    ]


def test_flows_in_both_directions_cancel():
    pairs = {(0, 1): 0.8, (1, 0): 0.3}
    assert chains_of(pairs, [1.0, -0.5]) == [
        OpponentChain((0,), NEWCOMER, pytest.approx(0.5)),
        OpponentChain((0, 1), FIELD, pytest.approx(0.5)),
    ]


def test_nobody_is_twice_in_a_chain():
    pairs = {(0, 1): 1.2, (1, 2): 0.4, (2, 0): 0.2, (2, 3): 0.2, (1, 3): 0.8}
    for chain in chains_of(pairs, [1.0, 0.0, 0.0, -1.0]):
        assert len(set(chain.players)) == len(chain.players)


def shown_chains(run, **options):
    """{(players, end): share}."""
    frame = api.why(run, "p00", by="chain", number=None, **options)
    return {
        (tuple(chain.split(" - ")), end): share
        for chain, end, share in zip(frame["chain"], frame["end"], frame["share"], strict=True)
    }


@pytest.mark.parametrize("seed", range(4))
def test_chains_are_those_of_the_definition(seed):
    rows = [row[:4] for row in random_rows(seed, 14, players=6, years=3)]
    year = min(row[0] for row in rows if "p00" in row)
    twin = ChainsTwin(rows)
    _, run = run_of(rows=rows, **PLAYED)
    others = [
        (player, min(years, key=lambda played: (abs(played - year), played)))
        for player, years in twin.years.items()
        if player != "p00"
    ]
    weights = weights_of(twin, "p00", year, others)
    covariance = twin.largest_covariance(weights)
    ends = {player for player, _ in others if covariance[player] < NEAR * covariance["p00"]}
    field = dict.fromkeys([player for player, _ in others], 1.0 / len(others))
    expected = twin.chains("p00", weights, ends, field)
    assert shown_chains(run, at=year) == pytest.approx(expected, rel=1e-3, abs=1e-5)


@pytest.mark.parametrize("seed", range(3))
def test_chains_to_another_player_are_those_of_the_definition(seed):
    rows = [row[:4] for row in random_rows(seed + 10, 14, players=6, years=2)]
    rows += [(1901, "p00", "p01", 2), (1901, "p02", "p03", 1)]
    twin = ChainsTwin(rows)
    _, run = run_of(rows=rows, **PLAYED)
    weights = weights_of(twin, "p00", 1901, [("p03", 1901)])
    expected = twin.chains("p00", weights, {"p03"}, {"p03": 1.0})
    named = {
        (players, "opponent" if end == "field" else end): share
        for (players, end), share in expected.items()
    }
    shown = shown_chains(run, at=1901, versus="p03")
    assert shown == pytest.approx(named, rel=1e-3, abs=1e-5)
    assert sum(shown.values()) <= 1.0 + 1e-9


def test_the_fewest_games_of_a_chain():
    rows = [*[(1900, "p00", "p01", 2)] * 4, *[(1900, "p01", "p02", 1)] * 3, (1900, "p02", "p01", 1)]
    _, run = run_of(rows=[*rows, (1900, "p02", "p03", 2)], **PLAYED)
    frame = api.why(run, "p00", by="chain", versus="p03", number=None).set_index("chain")
    assert frame.loc["p00 - p01 - p02 - p03", "games"] == 1
    assert np.isnan(frame.loc["p00", "games"])
    assert frame.loc[["p00 - p01 - p02"], "games"].tolist() == [4]


def test_other_models_are_refused():
    _, run = run_of("ttt-d", rows=random_rows(3, 20, players=8, years=4), draw_margin_tau=9.0)
    with pytest.raises(ConfigError, match="not computed for the model ttt-d"):
        api.why(run, "p00", by="chain")
