import json
import sys
from pathlib import Path
from types import ModuleType

import pytest
from click.testing import CliRunner, Result

from ttt_cli.cli import main
from ttt_cli.cli.config import command
from ttt_cli.inference.params import SkillParams
from ttt_cli.support.errors import ConfigError
from ttt_cli.systems import registry
from ttt_cli.systems.registry import MODULES


class Params(SkillParams):
    pass


@pytest.fixture(autouse=True)
def _stub_models(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("ttt", "trueskill"):
        stub = ModuleType(f"stub_{name}")
        vars(stub).update(NAME=name, Params=Params)
        monkeypatch.setitem(sys.modules, f"stub_{name}", stub)
        monkeypatch.setitem(registry.MODULES, name, f"stub_{name}")
    monkeypatch.chdir(tmp_path)


def invoke(*arguments: str, stdin: str | None = None) -> Result:
    return CliRunner().invoke(command, arguments, input=stdin, **main.group.context_settings)


def test_show_prints_every_key_and_can_be_read_again() -> None:
    first = invoke("show", "-s", "model.beta=600", "-s", "data.columns=[id, year]")
    assert first.exit_code == 0
    assert "  beta: 600 " in first.stdout
    assert "  columns: [id, year] " in first.stdout
    assert "sd of one performance around skill, points" in first.stdout
    again = invoke("show", "-c", "-", stdin=first.stdout)
    assert again.stdout == first.stdout


def test_show_takes_overrides_over_the_config() -> None:
    Path("run.yaml").write_text("model:\n  name: trueskill\n  beta: 1\n  tau: 2\n")
    shown = invoke("show", "--config", "run.yaml", "--set", "model.beta=3").stdout
    assert "name: trueskill " in shown
    assert "beta: 3 " in shown
    assert "tau: 2 " in shown


def test_show_raises_what_the_command_line_reports() -> None:
    error = invoke("show", "-s", "beta=600").exception
    assert isinstance(error, ConfigError)
    assert error.exit_code == 2


def test_check_says_ok() -> None:
    Path("run.yaml").write_text("model:\n  name: trueskill\n")
    found = invoke("check", "run.yaml")
    assert (found.exit_code, found.stdout, found.stderr) == (0, "run.yaml: ok, model trueskill\n", "")


def test_check_reports_every_file_with_line_and_hint() -> None:
    Path("bad.yaml").write_text("model:\n  betta: 1\n")
    Path("worse.yaml").write_text("model:\n\tbeta: 1\n")
    Path("good.yaml").write_text("")
    found = invoke("check", "bad.yaml", "worse.yaml", "good.yaml")
    assert found.exit_code == 2
    assert found.stdout == "good.yaml: ok, model ttt\n"
    assert found.stderr.splitlines() == [
        "bad.yaml:2: unknown key model.betta",
        "hint: did you mean model.beta?",
        "worse.yaml:2: a tab is where YAML needs spaces",
        "hint: indent with spaces",
    ]


def test_check_needs_a_file() -> None:
    assert invoke("check").exit_code == 2


def test_schema_covers_one_model_or_all() -> None:
    one = json.loads(invoke("schema", "--model", "ttt").stdout)
    assert one["properties"]["model"]["properties"]["beta"]["exclusiveMinimum"] == 0
    every = json.loads(invoke("schema").stdout)
    assert every["properties"]["model"]["properties"]["name"]["enum"] == list(MODULES)


def test_schema_of_an_unknown_model_suggests() -> None:
    error = invoke("schema", "--model", "tt").exception
    assert isinstance(error, ConfigError)
    assert error.hint == "did you mean 'ttt'?"
