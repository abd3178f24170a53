"""Figures of what moves a skill have the rows of the table."""

import altair
import numpy as np
import pytest

from tests.support.builders import random_rows
from tests.support.joint_runs import run_of
from ttt_cli import api
from ttt_cli.cli import main
from ttt_cli.support.errors import ConfigError, LookupFailed
from ttt_cli.views.figures.figure import FigureOptions, make_figure
from ttt_cli.views.figures.kinds.why import why_figure
from ttt_cli.views.rows import Rows
from ttt_cli.views.why import why_rows


@pytest.fixture(scope="module")
def run():
    return run_of(rows=random_rows(3, 120, players=8, years=4))[1]


@pytest.mark.parametrize("by", ["game", "opponent", "year"])
def test_bars_are_the_changes_of_the_table(run, by):
    rows = [*why_rows(run, "p00", "1901", None, by, 4).records()]
    figure = make_figure(run, "why", FigureOptions(["p00"], at="1901", by=by, count=4))
    bars = figure.spec["datasets"]["bars"]
    assert [bar["change"] for bar in bars] == [row["change"] for row in rows]
    assert len({bar["label"] for bar in bars}) == len(rows)
    assert figure.stem == "p00-why"
    altair.LayerChart.from_dict(figure.spec)


def test_dots_are_the_changes_with_other_results(run):
    rows = [*why_rows(run, "p00", "1901", "p01", "game", 3).records()]
    figure = make_figure(run, "why", FigureOptions(["p00", "p01"], at="1901", count=3))
    dots = figure.spec["datasets"]["dots"]
    assert len(dots) == 2 * len(rows)
    by_result = {"1-0": "if_white", "1/2-1/2": "if_draw", "0-1": "if_black"}
    label_of = [bar["label"] for bar in figure.spec["datasets"]["bars"]]
    for dot in dots:
        row = rows[label_of.index(dot["label"])]
        assert dot["change"] == row[by_result[dot["result"]]]
        assert dot["result"] != row["result"]
    assert f"({rows[0]['expected']:.2f})" in label_of[0]


def test_chains_are_named_by_surnames_and_coloured_by_their_end(run):
    rows = [*why_rows(run, "p00", "1901", "p01", "chain", 3).records()]
    spec = make_figure(
        run, "why", FigureOptions(["p00", "p01"], at="1901", by="chain", count=3)
    ).spec
    assert [bar["share"] for bar in spec["datasets"]["bars"]] == [row["share"] for row in rows]
    (layer,) = spec["layer"]
    assert set(layer["encoding"]["color"]["scale"]["domain"]) == {row["end"] for row in rows}
    assert "over" not in spec["title"]["text"]
    altair.LayerChart.from_dict(spec)


def test_equal_games_have_rows_of_their_own(run):
    columns = ("date", "white", "black", "result", "expected", "change", "mean_without",
               "sd_without", "if_white", "if_draw", "if_black", "event")  # fmt: skip
    game = ("1921", "Lasker, E", "Lasker, B", "0-1", 0.4, 5.0, 1005.0, 80.0, -9.0, -2.0, None, "")
    rows = Rows(columns, [game, game], ("Lasker, E in 1921: 1000.0 +- 79.0; without each", "run"))
    bars = why_figure(run, rows, "game", ["Lasker, E"]).spec["datasets"]["bars"]
    assert [bar["label"] for bar in bars] == [
        "1921 Lasker, E 0-1 Lasker, B (0.40)",
        "1921 Lasker, E 0-1 Lasker, B (0.40) (2)",
    ]


def test_a_table_without_rows_has_no_figure(run):
    with pytest.raises(LookupFailed, match="no game moves"):
        why_figure(run, Rows(("event",), [], ("a in 1900: 1; without", "run")), "event", ["a"])


def test_figures_by_commands_and_in_python(run, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(2)
    lines = [
        f"{1900 + int(rng.integers(3))},{white},{black},{rng.choice(['1-0', '0-1', '1/2-1/2'])}"
        for white, black in [rng.permutation(list("abcd"))[:2] for _ in range(40)]
    ]
    (tmp_path / "games.csv").write_text("date,white,black,result\n" + "\n".join(lines))
    assert main.run(["fit", "games.csv", "-c", "ttt", "-q"]) == 0
    assert main.run(["why", "a", "--at", "1901", "-f", "csv", "--plot", "a.svg"]) == 0
    assert main.run(["plot", "--kind", "why", "a", "b", "--at", "1901", "-o", "b.svg"]) == 0
    assert (tmp_path / "a.svg").stat().st_size > 1000
    assert (tmp_path / "b.svg").stat().st_size > 1000
    sides = "data.sides=[home, away]"
    assert main.run(["fit", "games.csv", "-c", "ttt", "-q", "-s", sides, "-o", "sides.ttt"]) == 0
    assert main.run(["plot", "--kind", "why", "a", "-r", "sides.ttt", "-o", "c.svg"]) == 0
    assert "away won" in (tmp_path / "c.svg").read_text(encoding="utf-8")
    capsys.readouterr()
    for arguments, message in {
        "why a --plot - -f csv": "--plot needs a file",
        "plot --kind why": "takes a name",
        "plot --kind why a --by mean": "--by mean does not go with --kind why",
        "plot --kind top --at 1901": "--at goes with --kind why, not top",
    }.items():
        assert main.run(arguments.split()) == 2
        assert message in capsys.readouterr().err
    for options, message in [
        ({"kind": "why"}, "is of a player"),
        ({"kind": "why", "by": "dominance"}, "does not have these options"),
        ({"kind": "skills", "at": 1901}, "does not have these options"),
    ]:
        names = [] if message == "is of a player" else ["p00"]
        with pytest.raises(ConfigError, match=message):
            api.plot(run, *names, output="c.svg", **options)
