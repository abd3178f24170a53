"""`ttt evidence`: the report, the grid, what is said about them, and how it ends."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from tests.support.commands import Ran, rows
from tests.support.handmade import RECORDS, games_of, written
from ttt_cli.api import fit
from ttt_cli.cli import main
from ttt_cli.evaluate.forecast import predict_run
from ttt_cli.runs.run import open_run
from ttt_cli.systems import ttt

pytestmark = pytest.mark.slow

GRID = ["--grid", "beta=1000:3000:3,tau=10:90:3"]


@pytest.fixture
def here(folder: Path) -> Path:
    written(folder / "a.ttt", lambda: fit(games_of(RECORDS), output="a.ttt"), "fit")
    return folder


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ttt_cli.cli.streams.on_terminal", lambda: True)
    monkeypatch.setenv("NO_COLOR", "1")


def test_the_report_is_a_list_on_a_terminal_and_a_row_in_a_pipe(
    here: Path, ran: Ran, request: pytest.FixtureRequest
) -> None:
    assert rows(ran("evidence").out)[0]["games"] == "7"
    request.getfixturevalue("terminal")
    facts = [line.split() for line in ran("evidence").out.splitlines()]
    assert ["games", "7"] in facts
    assert ["converged", "yes"] in facts


def test_a_grid_in_a_pipe_is_rows_with_the_best_named_on_stderr(here: Path, ran: Ran) -> None:
    out, err = ran(["evidence", *GRID])
    table = rows(out)
    assert list(table[0])[:6] == ["beta", "tau", "log_evidence", "converged", "sweeps", "best"]
    assert [(row["beta"], row["tau"]) for row in table] == [
        (f"{b}.0", f"{t}.0") for b in (1000, 2000, 3000) for t in (10, 50, 90)
    ]
    (best,) = [row for row in table if row["best"] == "true"]
    assert float(best["log_evidence"]) == max(float(row["log_evidence"]) for row in table)
    assert f"the best of 9: beta {float(best['beta']):g}, tau {float(best['tau']):g}" in err


def test_a_best_point_on_the_edge_is_pointed_out(here: Path, ran: Ran) -> None:
    err = ran("evidence --grid beta=100/200").err
    assert "the best point lies on the edge of the grid: beta 200\n" in err
    assert ran("evidence --grid beta=100/200 -q").err == ""


@pytest.mark.usefixtures("terminal")
def test_a_grid_is_a_map_or_a_table_on_a_terminal_and_rows_in_a_format_or_a_file(
    here: Path, ran: Ran, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = ran(["evidence", *GRID]).out
    assert out.startswith("Nats below -")
    monkeypatch.setenv("COLUMNS", "20")  # the map needs 28
    assert ran(["evidence", *GRID]).out.startswith("prior_mean ")
    monkeypatch.delenv("COLUMNS")
    out = ran("evidence --grid beta=1000/2000,tau=10/50,prior_sd=300/400").out
    assert out.count("yes") == 8 + 1
    assert ran(["evidence", *GRID, "-f", "csv"]).out.startswith("beta,tau,log_evidence,")
    assert main.run(["evidence", *GRID, "-o", "grid.json"]) == 0
    assert len(json.loads((here / "grid.json").read_text())) == 9


def test_points_that_did_not_converge_are_marked_counted_and_exit_4(here: Path, ran: Ran) -> None:
    out, err = ran("evidence --grid beta=300/480 -s solver.max_sweeps=1", 4)
    assert [row["converged"] for row in rows(out)] == ["false", "true"]
    assert [row["best"] for row in rows(out)] == ["false", "true"]
    assert "1 of 2 points did not converge" in err


def test_a_wrong_grid_is_a_config_error(here: Path, ran: Ran) -> None:
    run, _, err = ran("evidence --grid draw_margin=0/100,beta=300", 2).err.partition("\n")
    assert run.startswith("a.ttt: ")
    assert err.startswith(
        "--grid at draw_margin=0, beta=300: draw_margin is 0, but there are drawn games\nhint:"
    )


def test_an_interrupt_exits_130_says_that_points_are_kept_and_the_rest_is_done_next(
    here: Path, monkeypatch: pytest.MonkeyPatch, ran: Ran, capsys: pytest.CaptureFixture[str]
) -> None:
    real, done = ttt.fit, []

    def fitted(*args: object, **rest: object) -> object:
        done.append(args)
        if len(done) == 5:
            raise KeyboardInterrupt
        return real(*args, **rest)  # type: ignore[arg-type]

    monkeypatch.setattr(ttt, "fit", fitted)
    out, err = ran(["evidence", *GRID], 130)
    assert out == ""
    assert "a.ttt keeps the finished points" in err
    assert main.run(["evidence", *GRID]) == 0
    assert len(done) == 4 + 1 + 5
    assert len(rows(capsys.readouterr().out)) == 9


def test_scores_stand_after_the_report(here: Path, ran: Ran) -> None:
    out, err = ran("evidence --scores --from 1859 --every 2")
    assert err == "a.ttt: 7 games 1857-1862\n"
    (row,) = csv.DictReader(io.StringIO(out), delimiter="\t")
    expected = predict_run(open_run("a.ttt"), "1859", 2)
    assert row["games"] == "7"
    assert float(row["prequential"]) == expected.scores[0].log_score
    assert float(row["prequential_naive_per_game"]) == expected.scores[1].per_game
    assert (row["prequential_games"], row["from"], row["every"]) == ("2", "1861", "2")
    whole = json.loads(ran("evidence --scores -f json").out)
    assert (whole["prequential_games"], whole["from"], whole["every"]) == (7, "1857", 1)


def test_fits_that_do_not_converge_are_told_by_the_exit_code(here: Path) -> None:
    fit(games_of(RECORDS), output="a.ttt", max_sweeps=1)
    assert main.run(["evidence", "--scores"]) == 4


def test_terms_are_rows_with_what_each_is_worth(here: Path, ran: Ran) -> None:
    fit(games_of(RECORDS), model="ttt", growth=100.0, white_advantage=40.0, output="a.ttt")
    table = rows(ran("evidence --terms").out)
    assert {row["term"]: float(row["value"]) for row in table} == {
        "growth": 100.0, "white_advantage": 40.0,
    }  # fmt: skip
    worths = [float(row["worth"]) for row in table]
    assert worths == sorted(worths, reverse=True)
