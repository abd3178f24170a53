"""A rating system is its module and a line in the registry; every one is what it declares."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.support.builders import EXACT, make_games
from ttt_cli.cli import main
from ttt_cli.runs.run import open_run
from ttt_cli.support.errors import ConfigError
from ttt_cli.systems import registry
from ttt_cli.timeline import build_timeline

GAMES = [
    (1900 + year, *pair, (year + 2 * len(pair[0])) % 3) for year in range(4) for pair in ("ab", "bc", "ca")
]
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


@pytest.mark.slow
@pytest.mark.usefixtures("toy")
def test_a_new_system_is_compared_tuned_by_its_predictions_and_refused_by_tune(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("toy.yaml").write_text("model: {name: toy}\n")
    arguments = [
        "compare",
        "toy.yaml",
        "elo",
        "-r",
        "toy.ttt",
        "--tune",
        "--evaluations",
        "10",
        "-f",
        "csv",
        "-q",
    ]
    assert main.run(arguments) == 0
    assert {line.split(",")[0] for line in capsys.readouterr().out.splitlines()[1:]} == {"toy", "elo"}
    assert main.run(["tune", "prior_mean", "-r", "toy.ttt", "-q"]) == 2
    assert "ttt compare --tune" in capsys.readouterr().err
    assert main.run(["config", "show", "-s", "model.name=toy"]) == 0
    assert "points between a score of 0 and of 100 %" in capsys.readouterr().out


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
