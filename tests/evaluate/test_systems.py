"""Systems from configs, and the games that all of them predicted_of."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.cases import each
from tests.support.handmade import RECORDS, games_of
from ttt_cli.api import fit
from ttt_cli.config.load import shipped_configs
from ttt_cli.evaluate.compare import read_systems, timeline_of_files, timeline_of_run
from ttt_cli.support.errors import ConfigError

CSV = "date,white,black,result\n1857.03.01,a,b,1-0\n1857.04.01,b,a,1-0\n1858.05.01,a,b,1/2-1/2\n"


def test_systems_are_named_after_their_files(tmp_path: Path) -> None:
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "mine.yaml").write_text("model: {name: trueskill, beta: 300}\n")
    one, two = (str(tmp_path / folder / "mine.yaml") for folder in ("one", "two"))
    assert [system.name for system in read_systems(["ttt", one])] == ["ttt", "mine"]
    assert [system.name for system in read_systems([one, two])] == [one, two]
    (system,) = read_systems([one], ["solver.tol=0.5"])
    assert (system.config.model.name, system.config.solver.tol) == ("trueskill", 0.5)
    assert system.params.model_dump()["beta"] == 300
    assert system.model.NAME == "trueskill"


def test_all_are_the_shipped_ones() -> None:
    assert [system.name for system in read_systems(["all"])] == list(shipped_configs())


@each(
    "configs, overrides, message",
    [
        (["ttt", "ttt"], [], "ttt: is compared with itself"),
        (["all", "ttt-d"], [], "ttt-d: is compared with itself"),
        (["ttt"], ["model.beta=300"], "model.beta is not common to all systems"),
        (["ttt", "nobody"], [], "no such config"),
    ],
)
def test_what_cannot_be_read(configs: list[str], overrides: list[str], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        read_systems(configs, overrides)


def test_games_of_a_run_can_be_laid_out_in_other_periods(tmp_path: Path) -> None:
    run = fit(games_of(RECORDS), output=tmp_path / "a.ttt")
    assert timeline_of_run(run).period == "year"
    monthly = timeline_of_run(run, ["data.period=month", "data.colours=unknown"])
    assert (monthly.period, monthly.colours, monthly.n_games) == ("month", False, 7)
    with pytest.raises(ConfigError, match=r"data\.header cannot change"):
        timeline_of_run(run, ["data.header=false"])


def test_files_are_read_as_all_systems_say(tmp_path: Path) -> None:
    (tmp_path / "games.csv").write_text(CSV)
    (tmp_path / "monthly.yaml").write_text("model: {name: ttt}\ndata: {period: month}\n")
    files, mine = [str(tmp_path / "games.csv")], str(tmp_path / "monthly.yaml")
    assert timeline_of_files(files, read_systems(["ttt", "trueskill"])).n_games == 3
    assert timeline_of_files(files, read_systems([mine])).period == "month"
    with pytest.raises(ConfigError, match=r"ttt and monthly differ in data\.period") as caught:
        timeline_of_files(files, read_systems(["ttt", mine]))
    assert caught.value.hint == "set it for all with -s data.period=..."
    both = read_systems(["ttt", mine], ["data.period=quarter"])
    assert timeline_of_files(files, both).period == "quarter"
