"""`ttt tune`: the table, the tuned config, what is said, and how it ends."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.commands import Ran, rows
from tests.support.handmade import written
from ttt_cli.api import configure, fit
from ttt_cli.cli import main
from ttt_cli.evaluate.simulate import Plan, simulate
from ttt_cli.runs.run import open_run

pytestmark = pytest.mark.slow


@pytest.fixture
def here(folder: Path) -> Path:
    plan = Plan(
        players=40,
        years=12,
        games=900,
        expansion=0.0,
        beta=350,
        tau=120,
        clusters=1,
        mixing=1.0,
        seed=6,
    )
    written(folder / "a.ttt", lambda: fit(simulate(plan).games(), output="a.ttt"), "tune_command")
    return folder


def test_the_table_has_a_row_per_parameter_and_one_of_the_evidence(here: Path, ran: Ran) -> None:
    out, err = ran("tune")
    found = rows(out)
    assert [row["parameter"] for row in found] == ["beta", "tau", "log_evidence"]
    beta, tau, evidence = found
    assert (beta["start"], tau["start"]) == ("480.0", "60.0")
    assert abs(float(beta["tuned"]) - 350) < 2 * float(beta["standard_error"])
    assert abs(float(tau["tuned"]) - 120) < 2 * float(tau["standard_error"])
    assert float(beta["corr_tau"]) == pytest.approx(float(tau["corr_beta"]))
    assert beta["corr_beta"] == "1.0"
    assert float(evidence["start"]) == pytest.approx(open_run("a.ttt").meta.log_evidence, rel=1e-12)
    assert float(evidence["start"]) < float(evidence["tuned"])
    assert (evidence["standard_error"], evidence["bound"]) == ("", "")
    gain = float(evidence["tuned"]) - float(evidence["start"])
    assert f"{gain:+.3f} nats from the start" in err
    assert "fits, " in err


def test_the_tuned_config_is_for_the_next_fit(here: Path, ran: Ran) -> None:
    out, err = ran("tune beta,gamma -o tuned.yaml -f json")
    beta, gamma, evidence = json.loads(out)
    assert "tuned.yaml written" in err
    resolved = configure("tuned.yaml")
    assert resolved.params.model_dump() == {
        **configure().params.model_dump(), "beta": beta["tuned"], "white_advantage": gamma["tuned"],
    }  # fmt: skip
    again = fit(open_run("a.ttt").stored_games(), resolved)
    assert again.meta.log_evidence == pytest.approx(evidence["tuned"], abs=1e-4)
    text = (here / "tuned.yaml").read_text()
    assert text.startswith("# Tuned by `ttt tune` on 900 games, 1850 to 1861:\n#   beta ")
    assert "+-" in text.splitlines()[1]
    assert sorted(path.name for path in here.iterdir()) == ["a.ttt", "a.ttt.points", "tuned.yaml"]


def test_the_config_goes_to_stdout_instead_when_asked(here: Path, ran: Ran) -> None:
    out, err = ran("tune tau -o - -q")
    assert err == ""
    (here / "t.yaml").write_text(out)
    assert main.run(["config", "check", "t.yaml"]) == 0


def test_no_top_exits_4_and_is_written_and_marked(here: Path, ran: Ran) -> None:
    out, err = ran("tune -s solver.max_sweeps=1 -f json -o t.yaml", 4)
    assert [row["tuned"] for row in json.loads(out)] == [480, 60, None]
    assert "did not converge" in err
    assert "did not converge" in (here / "t.yaml").read_text()
    assert main.run(["config", "check", "t.yaml"]) == 0
