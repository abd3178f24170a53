"""`ttt compare`: the tables, where the games come from, tuned configs, and how it ends."""

from __future__ import annotations

import json
import re
import signal
from pathlib import Path

import pytest

from tests.support.commands import Ran, rows
from tests.support.handmade import written
from ttt_cli.api import configure, fit
from ttt_cli.cli import main
from ttt_cli.evaluate.forecast import Forecaster
from ttt_cli.evaluate.simulate import Plan, simulate

pytestmark = pytest.mark.slow

PLAN = Plan(
    players=20, years=8, games=300, expansion=0.0, beta=350, tau=120, clusters=1, mixing=1.0, seed=6
)
LINES = [
    f"18{50 + i // 10}.0{1 + i % 2}.01,{'abcd'[i % 4]},{'bcda'[i % 4]},{('1-0', '0-1')[i % 3 % 2]}"
    for i in range(40)
]


@pytest.fixture
def here(folder: Path) -> Path:
    written(
        folder / "a.ttt", lambda: fit(simulate(PLAN).games(), output="a.ttt"), "compare_command"
    )
    return folder


def test_systems_stand_side_by_side(here: Path, ran: Ran) -> None:
    out, err = ran("compare ttt trueskill --from 1855 --every 2")
    assert re.fullmatch(r"a\.ttt: \d+ games \S+\n", err)
    found = rows(out)
    assert sorted(row["system"] for row in found) == ["trueskill", "ttt"]
    assert float(found[0]["log_loss"]) < float(found[1]["log_loss"])
    assert found[0]["behind"] == ""
    assert float(found[1]["behind"]) > 0
    assert {row["system"]: row["refitted_every"] for row in found} == {"ttt": "2", "trueskill": ""}


def test_further_tables_follow_for_the_eye(here: Path, ran: Ran) -> None:
    asked = ["--by", "decade", "--by", "experience", "--calibration"]
    out, _ = ran(["compare", "ttt", "trueskill", "-f", "table", *asked])
    tables = out.split("\n\n")
    assert "games predicted, " in tables[0]
    assert [table.splitlines()[0] for table in tables[1:]] == [
        "by decade", "by experience", "calibration of the score of White, in other sports of the side named first",
    ]  # fmt: skip


def test_games_may_come_from_files(here: Path, ran: Ran) -> None:
    (here / "one.csv").write_text("\n".join(["date,white,black,result", *LINES[:20]]))
    (here / "two.csv").write_text("\n".join(["date,white,black,result", *LINES[20:]]))
    arguments = ["compare", "trueskill", "--games", "one.csv", "--games", "two.csv"]
    assert (
        "25 of 40 games predicted, 1851-02 to 1853-02"
        in ran([*arguments, "--from", "1851-02", "-s", "data.period=month", "-f", "table"]).out
    )


def test_tuned_configs_are_written_and_predict_as_well(here: Path, ran: Ran) -> None:
    arguments = ["--from", "1856", "-f", "json"]
    tuning = ["--tune", "--evaluations", "15", "--tune-from", "1853", "--tuned-to", "tuned"]
    out, err = ran(["compare", "trueskill", *tuning, *arguments])
    assert err.partition("\n")[2].startswith(
        "tuned on the games of 1853 to 1855:\n  trueskill: beta "
    )
    assert "tuned configs written to tuned" in err
    (found,) = json.loads(out)
    assert (found["tuned_by"], found["parameters"].split()[0]) == ("score", "prior_mean=1200")
    assert configure("tuned/trueskill.yaml").params != configure("trueskill").params
    (again,) = json.loads(ran(["compare", "tuned/trueskill.yaml", *arguments]).out)
    assert again["log_loss"] == found["log_loss"]
    assert (
        json.loads(
            ran(["compare", "trueskill", "--tune", "--tune-by", "evidence", *arguments]).out
        )[0]["tuned_by"]
        == "evidence"
    )


def test_a_tuned_config_is_there_before_the_test_begins(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """So an interrupt does not lose what took long."""

    def interrupted(*_: object) -> None:
        assert (here / "tuned" / "trueskill.yaml").exists()
        raise KeyboardInterrupt

    monkeypatch.setattr(Forecaster, "log_evidence", interrupted)
    tuning = ["--tune", "--evaluations", "12", "--tuned-to", "tuned", "--from", "1856"]
    assert main.run(["compare", "trueskill", *tuning]) == 130
    assert configure("tuned/trueskill.yaml").params != configure("trueskill").params


def test_a_lost_system_is_told_beside_the_others(here: Path, ran: Ran) -> None:
    (here / "bad.yaml").write_text("model: {name: ttt, draw_margin: 0}\n")
    (here / "games.csv").write_text(
        "\n".join(["date,white,black,result", *LINES, "1854,a,b,1/2", "1855,a,b,1-0"])
    )
    asked = ["--games", "games.csv", "--from", "1855"]
    out, err = ran(["compare", "elo", "bad.yaml", *asked, "-f", "json"], 4)
    assert [(row["system"], row["log_loss"] is None) for row in json.loads(out)] == [
        ("elo", False), ("bad", True),
    ]  # fmt: skip
    assert err.startswith("bad: LOST: draw_margin is 0")
    assert "\nhint: " in err
    assert main.run(["compare", "elo", *asked, "-q"]) == 0
    assert main.run(["compare", "bad.yaml", *asked]) == 2


@pytest.mark.parametrize(
    ("number", "word"), [(signal.SIGINT, "interrupted\n"), (signal.SIGTERM, "")]
)
def test_a_signal_shows_the_systems_that_are_done(
    number: signal.Signals, word: str, here: Path, monkeypatch: pytest.MonkeyPatch, ran: Ran
) -> None:
    predict = Forecaster.predict

    def interrupted(forecaster: Forecaster, *args: int) -> object:
        if forecaster.model.NAME == "glicko":
            signal.raise_signal(number)
        return predict(forecaster, *args)

    monkeypatch.setattr(Forecaster, "predict", interrupted)
    out, err = ran("compare elo glicko -f json", 128 + number)
    assert [(row["system"], row["note"]) for row in json.loads(out)] == [
        ("elo", None), ("glicko", "interrupted before it was done"),
    ]  # fmt: skip
    assert err.endswith(f"glicko: LOST: interrupted before it was done\n\n{word}")


def test_fits_that_do_not_converge_are_told_by_the_exit_code(here: Path, ran: Ran) -> None:
    assert (
        json.loads(ran("compare ttt -s solver.max_sweeps=1 -f json", 4).out)[0]["converged"]
        is False
    )


def test_systems_without_evidence_cannot_be_tuned_by_it(here: Path, ran: Ran) -> None:
    fit(simulate(PLAN).games(), model="spinrad", output="a.ttt")
    assert (
        "ttt: spinrad has no evidence that can be maximised\nhint: `ttt compare --tune`"
        in ran("tune", 2).err
    )
    assert "spinrad has no evidence to make a surface of" in ran("evidence --grid k=10:20:2", 2).err
    report = json.loads(ran("evidence -f json").out)
    assert report["log_evidence"] is report["leave_one_out"] is report["gain_per_game"] is None
    assert report["naive_log_evidence"] < 0
    assert (
        "spinrad has no evidence; it is judged by what it predicts" in ran("evidence -f table").out
    )
