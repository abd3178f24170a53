import io
import json
from pathlib import Path

import pytest

from tests.support.commands import Ran
from ttt_cli.config.load import shipped_configs
from ttt_cli.systems.registry import MODULES


def test_show_prints_every_key_and_can_be_read_again(
    folder: Path, ran: Ran, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = ran("config show -s model.beta=600 -s data.columns=[id,year]").out
    for line in (
        "  beta: 600 ",
        "  columns: [id, year] ",
        "sd of one performance around skill, points",
    ):
        assert line in first
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(first.encode())))
    assert ran("config show -c -").out == first


def test_list_names_every_shipped_config_with_a_line(ran: Ran) -> None:
    lines = ran("config list").out.splitlines()
    assert [line.split()[0] for line in lines] == list(shipped_configs())
    (career,) = [line for line in lines if line.startswith("ttt-career ")]
    assert career.split(maxsplit=1)[1].startswith(
        "TrueSkill Through Time with careers: skills rise"
    )
    assert all(line.endswith(".") and "#" not in line for line in lines)


def test_check_reports_every_file_with_line_and_hint(folder: Path, ran: Ran) -> None:
    (folder / "run.yaml").write_text("model:\n  name: trueskill\n")
    assert ran("config check run.yaml") == ("run.yaml: ok, model trueskill\n", "")
    (folder / "bad.yaml").write_text("model:\n  betta: 1\n")
    (folder / "worse.yaml").write_text("model:\n\tbeta: 1\n")
    (folder / "good.yaml").write_text("")
    found = ran("config check bad.yaml worse.yaml good.yaml", 2)
    assert found.out == "good.yaml: ok, model ttt\n"
    assert found.err.splitlines() == [
        "bad.yaml:2: unknown key model.betta",
        "hint: did you mean model.beta?",
        "worse.yaml:2: a tab is where YAML needs spaces",
        "hint: indent with spaces",
    ]
    ran("config check", 2)


def test_schema_covers_one_model_or_all(ran: Ran) -> None:
    one = json.loads(ran("config schema --model ttt").out)
    assert one["properties"]["model"]["properties"]["beta"]["exclusiveMinimum"] == 0
    every = json.loads(ran("config schema").out)
    assert every["properties"]["model"]["properties"]["name"]["enum"] == list(MODULES)
