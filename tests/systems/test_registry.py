"""A rating system is its module and a line in the registry; what all of them share: laws, gradients, odds."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from tests.conftest import ROOT
from tests.support.builders import EXACT, assert_slopes, make_games, random_rows
from ttt_cli.cli import main
from ttt_cli.evaluate.forecast import known_before
from ttt_cli.inference.links import merge_games
from ttt_cli.runs.run import open_run
from ttt_cli.support.errors import ConfigError
from ttt_cli.systems import registry, ttt, ttt_d
from ttt_cli.timeline import build_timeline

GAMES = [
    (1900 + year, *pair, (year + 2 * len(pair[0])) % 3)
    for year in range(4)
    for pair in ("ab", "bc", "ca")
]
FADING = (
    "chessmetrics",
    "elo-historical",
    "spinrad",
    "weighted-ep",
)  # ratings move when time passes
NAMES = ("Morphy, Paul", "Anderssen, Adolf")
COMMANDS = {
    "player": ["player", NAMES[0]],
    "upsets": ["player", NAMES[1], "--upsets"],
    "top": ["top"],
    "leaders": ["top", "--leaders"],
    "players": ["players"],
    "versus": ["versus", *NAMES, "--games", "4"],
    "evidence": ["evidence"],
    "grid": ["evidence", "--grid", "spread=400/800/1200", "--jobs", "1"],
    "scores": ["evidence", "--scores", "--from", "1860"],
    "export": ["export", "skills"],
    "plot": ["plot", *NAMES, "-o", "plot.svg"],
    "report": ["report", "-o", "page.html"],
}


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The one line."""
    monkeypatch.setitem(registry.MODULES, "toy", "tests.support.toy_system")
    monkeypatch.chdir(tmp_path)
    games = str(ROOT / "sample_pgn" / "classics.pgn")
    kept = "data.filter.exclude=[]"  # the new game of `update` is a consultation
    chosen = ["--years", "1857-1861", "-s", "model.name=toy", "-s", kept]
    assert main.run(["fit", games, *chosen, "-o", "toy.ttt", "-q"]) == 0


@pytest.mark.slow
@pytest.mark.usefixtures("toy")
def test_a_new_system_goes_through_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    for name, arguments in COMMANDS.items():
        assert main.run([*arguments, "-r", "toy.ttt", "-q"]) == 0, (name, capsys.readouterr().err)
    assert main.run(["update", "toy.ttt", str(ROOT / "sample_pgn" / "famous.pgn"), "-q"]) == 0
    assert open_run("toy.ttt").meta.model == "toy"


def test_every_system_is_what_it_declares() -> None:
    for name in registry.MODULES:
        model = registry.load(name)
        traits, params = model.TRAITS, model.Params()
        timeline = build_timeline(make_games(GAMES))
        found = model.fit(timeline, params, EXACT)
        assert found.model == model.NAME == name
        assert found.kind == traits.kind
        assert math.isfinite(found.log_evidence) == traits.has_evidence
        assert hasattr(model, "fit_before") == traits.fits_periods
        assert set(traits.for_predictions) <= set(model.Params.model_fields)


def test_where_draws_stand_apart_the_margin_changes_no_skill() -> None:
    for name in [name for name in registry.MODULES if registry.load(name).TRAITS.draws_apart]:
        model = registry.load(name)
        timeline = build_timeline(make_games(GAMES))
        one, other = (
            model.fit(timeline, model.Params(draw_margin=margin), EXACT) for margin in (50.0, 200.0)
        )
        assert (one.mean == other.mean).all()
        assert one.params != other.params


@pytest.mark.parametrize("name", registry.MODULES)
def test_the_past_alone_is_known_and_later_periods_begin_where_it_ends(name: str) -> None:
    model = registry.load(name)
    params = model.Params(**({"prior_sd": 1e7} if name == "edo" else {}))
    timeline = build_timeline(make_games([*GAMES, (1905, "a", "new", 2), (1905, "b", "c", 1)]))
    last = len(timeline.periods) - 1
    seen = model.fit(timeline.until(last), params, EXACT).mean
    fit = model.fit(known_before(timeline, last, last + 1), params, EXACT)
    assert fit.mean[: len(seen)] == pytest.approx(seen, abs=1e-5)
    earlier = timeline.previous[len(seen) :]
    newcomers = 2343 if name == "chessmetrics" else params.prior_mean  # type: ignore[attr-defined]
    assert fit.mean[len(seen) :][earlier < 0] == pytest.approx(newcomers, abs=1e-5)
    if name not in FADING:
        assert fit.mean[len(seen) :][earlier >= 0] == pytest.approx(
            seen[earlier[earlier >= 0]], abs=1e-4
        )


def test_no_games_at_all_are_a_history_too() -> None:
    timeline = build_timeline(make_games([]))
    for name in registry.MODULES:
        model = registry.load(name)
        fit = model.fit(timeline, model.Params(), EXACT)
        assert (len(fit.mean), len(fit.sd), fit.status.converged) == (0, 0, True), name
        assert fit.log_evidence == 0 or not model.TRAITS.has_evidence, name


def test_draws_alone_give_no_margin() -> None:
    """But to TTT-D, which has a prior of margins, and to what learns nothing of margins."""
    for name in registry.MODULES.keys() - {"ttt-d", "edo", "spinrad", "elo-historical"}:
        model = registry.load(name)
        with pytest.raises(ConfigError, match="all games are draws"):
            model.fit(build_timeline(make_games([(1900, "a", "b", 1)])), model.Params(), EXACT)


CASES = [
    ("ttt", {"beta": 300, "tau": 70}),
    ("ttt", {"beta": 300, "tau": 70, "draw_margin": 110, "white_advantage": 25}),
    ("ttt", {"beta": 300, "tau": 70, "draw_probability": 0.4}),
    ("ttt-d", {"beta": 300, "tau": 70}),
    ("ttt-d", {"beta": 300, "tau": 70, "white_advantage": -20, "draw_margin_mean": 150, "draw_margin_sd": 60,
               "draw_margin_tau": 15}),
]  # fmt: skip


@pytest.mark.parametrize(("name", "given"), CASES)
def test_slopes_are_those_of_differences(name, given):
    rows = random_rows(11, 150, 9, 12, (1.0, 2.0, 3.0), (0.0, 0.0, 100.0, -250.0))
    timeline = build_timeline(make_games(rows))
    model = registry.load(name)
    params = model.Params(**{"white_advantage": 0.0, **given})
    slopes = model.gradient(timeline, params, model.fit(timeline, params, EXACT))
    numeric = [key for key in slopes if isinstance(getattr(params, key), float)]
    assert {"prior_mean", "prior_sd", "beta", "tau", "white_advantage"} <= {*numeric}
    for key in numeric:
        near = 1e-4 / max(1.0, abs(getattr(params, key)))
        assert_slopes(model, timeline, params, [key], abs=near)


@pytest.mark.parametrize("name", ["ttt", "ttt-d"])
def test_slopes_of_moving_draw_margins(name):
    """Approximate while margins move, where tuning takes differences."""
    rng = np.random.default_rng(12)
    rows = []
    for _ in range(150):
        i, j = (f"p{k}-{rng.integers(3)}" for k in rng.choice(9, 2, replace=False))
        rows.append((int(rng.integers(1900, 1912)), i, j, int(rng.integers(0, 3))))
    timeline, model = build_timeline(make_games(rows)), registry.load(name)
    params = model.Params(beta=300, tau=70, draw_margin_drift=0.1, draw_margin_strength=0.2)
    assert_slopes(model, timeline, params, {"draw_margin_strength": 1e-3}, rel=5e-2)
    assert_slopes(model, timeline, params, {"tau": 0.1}, rel=5e-2, abs=2e-3)


MODELS = ("ttt", "ttt-d", "trueskill")
BETA = 300.0
PLAIN = [
    (1850, "a", "b", 2),
    (1850, "b", "c", 1),
    (1851, "c", "a", 0),
    (1853, "a", "b", 1),
    (1853, "b", "a", 2),
    (1853, "b", "a", 2),
]


def at_odds(rows, points):
    return [(*row, 1.0, given) for row, given in zip(rows, points, strict=True)]


POINTS = (100.0, 0.0, -250.0, 100.0, -100.0, 0.0)


@pytest.mark.parametrize("model", MODELS)
def test_odds_stay_with_the_player_where_colours_are_unknown(model):
    """With White's advantage close to 0 the colouring means nothing, and the odds are as with known colours."""
    module = registry.load(model)
    games = make_games(at_odds(PLAIN, POINTS))
    params = module.Params(beta=BETA, white_advantage=1e-7)
    known, unknown = (
        module.fit(build_timeline(games, "year", colours), params, EXACT)
        for colours in ("known", "unknown")
    )
    assert unknown.mean == pytest.approx(known.mean, abs=1e-4)


def test_equal_games_at_different_odds_are_kept_apart():
    rows = at_odds([(1850, "a", "b", 2)] * 4, [50.0, 50.0, -50.0, 0.0])
    merged = merge_games(build_timeline(make_games(rows)), colours=True)
    weight = merged.games.weight
    assert sorted(weight) == [1, 1, 2]
    points = merged.handicap[:, 0]
    assert set(zip(points, weight, strict=True)) == {(50, 2), (-50, 1), (0, 1)}


def test_games_without_odds_have_no_column_of_them():
    assert merge_games(build_timeline(make_games(PLAIN)), colours=True).handicap.shape == (0, 2)


def test_draw_margins_that_move_are_tuned_by_differences() -> None:
    """Their movement is not in the gradient of the evidence."""
    for module in (ttt, ttt_d):
        still = module.Params()
        moving = module.Params(draw_margin_drift=0.1)
        assert module.TRAITS.exact_gradient(still)
        assert not module.TRAITS.exact_gradient(moving)
