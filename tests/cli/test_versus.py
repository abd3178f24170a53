import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.commands import Ran
from tests.support.handmade import RECORDS, games_of, put_small_run
from ttt_cli import fit


@pytest.fixture(autouse=True)
def _run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    later = ("1901", "Lasker, Emanuel", "Janowski, David", "1-0")
    put_small_run(tmp_path / "a.ttt", [*RECORDS, later])
    monkeypatch.setenv("TTT_RUN", str(tmp_path / "a.ttt"))


def test_the_report_is_one_object(ran: Ran) -> None:
    out, err = ran("versus morphy anderssen -f json --games 4")
    found = json.loads(out)
    assert found["win"] + found["draw"] + found["loss"] == pytest.approx(1.0)
    assert found["match_win"] + found["match_draw"] + found["match_loss"] == pytest.approx(1.0)
    assert (
        err
        == "a.ttt: 8 games 1857-1901\nMorphy, Paul in 1858, Anderssen, Adolf in 1858: the last period of both\n"
    )


def test_the_table_is_followed_by_their_games(ran: Ran) -> None:
    out, err = ran("versus morphy anderssen -f table -q")
    assert out.startswith("Morphy, Paul against Anderssen, Adolf\n")
    assert "Morphy, Paul against Anderssen, Adolf: +2 =0 -1" in out
    assert err == ""


@pytest.mark.slow
def test_a_joint_posterior_is_asked_without_scipy_and_a_compiler(tmp_path: Path) -> None:
    fit(games_of(RECORDS), output=tmp_path / "j.ttt", posterior="joint")
    script = (
        "import sys; from ttt_cli.cli.main import run;"
        f"code = run(['versus', 'morphy', 'anderssen', '-f', 'json', '-r', {str(tmp_path / 'j.ttt')!r}]);"
        "sys.exit(code or len({'scipy', 'numba', 'pandas', 'pydantic'} & set(sys.modules)))"
    )
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, check=False)
    assert found.returncode == 0
    assert json.loads(found.stdout)["skills"] == "joint"
