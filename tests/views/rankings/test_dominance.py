"""Leads over the best others, by all views that tell them, against sums over everybody's skills."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.joint_runs import JOINT, run_of
from ttt_cli.config.schema import SolverConfig
from ttt_cli.runs import joint
from ttt_cli.runs.run import Run
from ttt_cli.views.rankings.dominance import LEAST_OTHERS, OTHERS, leads_of
from ttt_cli.views.rankings.eligible import Eligible
from ttt_cli.views.rankings.leaders import leader_rows, reign_rows
from ttt_cli.views.rankings.peaks import most_dominant
from ttt_cli.views.rankings.period import ranking

APART = SolverConfig(posterior="factorised")
LIMITS = Eligible(active=1.0)


def games() -> list[tuple]:
    """Six players in 1900, five in 1903, fourteen from 1905 on, so that some stand behind the eleventh."""
    random = np.random.default_rng(3)
    rows = []
    for year, n in ((1900, 6), (1903, 5), (1905, 14), (1906, 14)):
        for a in range(n):
            rows += [
                (year, "abcdefghijklmn"[a], "abcdefghijklmn"[b], int(random.integers(3)))
                for b in ((a + 1) % n, (a + 3) % n)
            ]
    return rows


@pytest.fixture(scope="module", params=["joint", "factorised", "elo"])
def run(request: pytest.FixtureRequest) -> Run:
    model = "elo" if request.param == "elo" else "ttt"
    return run_of(model, APART if request.param == "factorised" else JOINT, games())[1]


def expected(run: Run, year: str) -> dict[str, tuple[float, float | None]]:
    """Everybody's lead over the ten best others, and its sd."""
    numbers = LIMITS.skills(run, int(year), int(year))
    rows = run.select(f"SELECT player, mean, sd FROM ({numbers}) ORDER BY mean DESC, player")[1]
    if len(rows) <= LEAST_OTHERS:
        return {}
    players, means, sds = zip(*rows, strict=True)
    if run.has_joint:
        covariance = run.covariance([(player, year) for player in players]).to_numpy()
    elif sds[0] is not None:
        covariance = np.diag(np.square(sds))
    found: dict[str, tuple[float, float | None]] = {}
    for at, player in enumerate(players):
        weights = np.eye(len(players))[at]
        weights[[other for other in range(len(players)) if other != at][:OTHERS]] = -1.0 / min(
            OTHERS, len(rows) - 1
        )
        sd = None if sds[0] is None else float(np.sqrt(weights @ covariance @ weights))
        found[player] = float(weights @ means), sd
    return found


def test_a_ranking_by_dominance(run: Run) -> None:
    rows = ranking(run, "1905", LIMITS, None, by="dominance")
    found = {row["player"]: (row["dominance"], row["sd_dominance"]) for row in rows.records()}
    assert len(found) == 14
    for player, (lead, sd) in expected(run, "1905").items():
        assert found[player] == (
            pytest.approx(lead),
            sd if sd is None else pytest.approx(sd, rel=1e-6),
        )
    how = "joint posterior" if run.has_joint else "independent"
    assert any(line.startswith("dominance:") and how in line for line in rows.title)
    few_others = ranking(run, "1903", Eligible(0.0), None, by="dominance")
    assert {row["sd_dominance"] for row in few_others.records()} == {None}


@pytest.mark.parametrize("few", [0, 50])
def test_number_ones_have_it_where_there_are_others(
    run: Run, few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(joint, "FEW", few)
    rows = leader_rows(run, LIMITS)
    told = {row["period"]: row for row in rows.records()}
    assert list(told) == ["1900", "1901", "1903", "1904", "1905", "1906"]
    for year, row in told.items():
        lead, sd = expected(run, year).get(row["player"], (None, None))
        assert row["dominance"] == (lead if lead is None else pytest.approx(lead))
        assert row["sd_dominance"] == (sd if sd is None else pytest.approx(sd, rel=1e-4))
    assert told["1900"]["dominance"] is not None
    assert told["1903"]["dominance"] is None
    for reign in reign_rows(run, LIMITS).records():
        best = told[reign["peak_period"]]
        assert (reign["dominance"], reign["sd_dominance"]) == (
            best["dominance"],
            best["sd_dominance"],
        )


def test_the_most_dominant_is_the_best_lead_of_everybody_in_periods_with_games(run: Run) -> None:
    best: dict[str, tuple[float, str, float | None]] = {}
    for year in ("1900", "1903", "1905", "1906"):
        for player, (lead, sd) in expected(run, year).items():
            if player not in best or lead > best[player][0]:
                best[player] = lead, year, sd
    rows = list(most_dominant(run, LIMITS, None).rows)
    assert [row[0] for row in rows] == list(range(1, 15))
    assert [row[3] for row in rows] == sorted((row[3] for row in rows), reverse=True)
    for _, player, period, lead, sd, *_ in rows:
        assert (period, lead) == (best[player][1], pytest.approx(best[player][0]))
        assert sd == (None if best[player][2] is None else pytest.approx(best[player][2], rel=1e-6))
    assert list(most_dominant(run, LIMITS, 3).rows) == rows[:3]


def test_leads_through_careers_are_those_of_rankings(run: Run) -> None:
    found, how = leads_of(run, LIMITS, ["a", "n", "e"])
    assert how == (
        "from the joint posterior" if run.has_joint else "with skills taken as independent"
    )
    told = {(one.player, one.period): (one.lead, one.sd) for one in found}
    years = [("a", year) for year in ("1900", "1901", "1905", "1906")]
    assert {at for at in told if at[0] == "a"} == set(years)
    for player, year in [*years, ("n", "1905"), ("n", "1906"), ("e", "1905")]:
        if year in ("1900", "1905", "1906"):
            lead, sd = expected(run, year)[player]
            assert told[player, year] == (
                pytest.approx(lead),
                None if sd is None else pytest.approx(sd, rel=1e-6),
            )
    assert [one.games for one in found if one.period == "1901"] == [0, 0]
    played = leads_of(run, LIMITS, ["a"], "false")[0]
    assert {one.period for one in played} == {
        one.period for one in found if one.player == "a" and one.games
    }
