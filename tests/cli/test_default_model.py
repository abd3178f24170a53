"""Without -c chess is fitted by ttt-career, other sports by ttt; the first line of the summary names the model."""

from pathlib import Path

import pytest

from tests.support.cases import each
from ttt_cli.api import fit, open_run, read_games
from ttt_cli.cli.main import run as ttt

CHESS = "date,white,black,result\n1900,Lasker,Steinitz,1-0\n1901,Lasker,Steinitz,0-1\n1902,Steinitz,Lasker,1/2-1/2\n"
FOOTBALL = "date,home_team,away_team,home_score,away_score\n1900,Reds,Blues,2,0\n1901,Blues,Reds,1,1\n"
TENNIS = "date,winner,loser\n1900,Ann,Bea\n1901,Bea,Ann\n1902,Ann,Bea\n"


@pytest.mark.slow
@each(
    "text, options, growth",
    [
        (CHESS, "", 310.0),
        (CHESS, "-s model.beta=500", 310.0),
        (CHESS, "-s model.sigma0=300 -s data.colours=unknown", 310.0),
        (CHESS, "-c ttt", 0.0),
        (CHESS, "-s model.name=ttt", 0.0),
        (FOOTBALL, "", 0.0),
        (TENNIS, "", 0.0),
        (FOOTBALL, "-c ttt-career", 310.0),
    ],
)
def test_the_model_follows_the_kind_of_games(
    text: str, options: str, growth: float, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "g.csv").write_text(text, encoding="utf-8")
    assert ttt(["fit", "g.csv", "-o", "g.ttt", *options.split()]) == 0
    params = open_run("g.ttt").meta.params
    assert params["growth"] == growth
    for key, value in (("beta", 500.0), ("sigma0", 300.0)):
        if f"{key}=" in options:
            assert params[{"sigma0": "prior_sd"}.get(key, key)] == value
    summary = capsys.readouterr().err
    first = "ttt-career: TrueSkill Through Time" if growth else "ttt: TrueSkill Through Time"
    assert f"\n{first}" in summary
    assert ("skills rise in the years after the debut" in summary) == bool(growth)


@pytest.mark.slow
def test_python_has_the_same_default(here: Path) -> None:
    (here / "g.csv").write_text(CHESS, encoding="utf-8")
    games = read_games(here / "g.csv")
    assert fit(games).meta.params["growth"] == 310.0
    assert fit(here / "g.csv").meta.params["growth"] == 310.0
    assert fit(games, model="ttt").meta.params["growth"] == 0.0
    assert fit(games, "ttt").meta.params["growth"] == 0.0
    assert fit(games, beta=500.0).meta.params["beta"] == 500.0
