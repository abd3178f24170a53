"""`ttt evidence --scores`: what it adds to the report, and how it ends."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from tests.support.commands import Ran
from tests.support.handmade import RECORDS, games_of, written
from ttt_cli.api import fit
from ttt_cli.cli import main
from ttt_cli.evaluate.forecast import predict_run
from ttt_cli.runs.run import open_run


@pytest.fixture
def here(folder: Path) -> Path:
    written(folder / "a.ttt", lambda: fit(games_of(RECORDS), output="a.ttt"), "fit")
    return folder


def test_the_report_tells_the_leave_one_out_score(here: Path, ran: Ran) -> None:
    report = json.loads(ran("evidence -f json").out)
    meta = open_run("a.ttt").meta
    assert report["leave_one_out"] == meta.leave_one_out < 0
    assert report["leave_one_out_per_game"] == meta.leave_one_out / 7
    assert "prequential" not in report


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
