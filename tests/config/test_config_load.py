import io
import os
import sys
from pathlib import Path
from threading import Thread
from types import SimpleNamespace

import pytest

from tests.support.cases import each
from ttt_cli.config.load import read_document, shipped_configs
from ttt_cli.support.errors import ConfigError


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def failure(path: str | None, *overrides: str) -> ConfigError:
    with pytest.raises(ConfigError) as caught:
        read_document(path, overrides)
    return caught.value


def test_a_file_is_read_as_utf_8_with_or_without_mark(tmp_path: Path) -> None:
    for encoding in ("utf-8", "utf-8-sig"):
        (tmp_path / "run.yaml").write_text("data:\n  columns: [Weiß]\n", encoding=encoding)
        assert read_document("run.yaml").values == {"data": {"columns": ["Weiß"]}}
    (tmp_path / "run.yaml").write_bytes(b"model:\r\n  beta: 3\r\n")
    assert read_document("run.yaml").where(("model", "beta")) == "run.yaml:2"
    assert read_document(None).values == {}


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(b"model:\n  beta: 3\n")))
    document = read_document("-")
    assert document.values == {"model": {"beta": 3}}
    assert document.where(("model", "beta")) == "<stdin>:2"


@pytest.mark.parametrize("name", ["trueskill", "trueskill.yaml"])
def test_shipped_configs_go_by_name(name: str) -> None:
    document = read_document(name)
    assert document.values["model"]["name"] == "trueskill"
    assert str(document.where(("model", "name"))).startswith("trueskill.yaml:")


def test_a_file_here_goes_before_a_shipped_config_and_a_folder_does_not(tmp_path: Path) -> None:
    (tmp_path / "ttt").mkdir()
    assert read_document("ttt").values["model"]["name"] == "ttt"
    (tmp_path / "ttt.yaml").write_text("model:\n  beta: 1\n")
    assert read_document("ttt.yaml").values == {"model": {"beta": 1}}


def test_unknown_names_suggest_the_nearest(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "lasker.yaml").touch()
    for name, hint in (
        ("trueskil", "did you mean trueskill?"),
        ("zzz", f"a path, or one of the shipped configs: {', '.join(shipped_configs())}"),
        ("sub/laskr.yaml", f"did you mean {Path('sub/lasker.yaml')}?"),
    ):
        error = failure(name)
        assert (error.where, error.hint) == (name, hint)


def test_folders_and_bytes_that_are_no_text_are_errors(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    assert failure("sub").where == "sub"
    (tmp_path / "run.yaml").write_bytes(b"model:\n  name: \xff\n")
    error = failure("run.yaml")
    assert error.where == "run.yaml:2"
    assert error.hint == "save the config as UTF-8"


def test_overrides_go_over_the_file_and_the_later_wins(tmp_path: Path) -> None:
    (tmp_path / "run.yaml").write_text("model:\n  beta: 1\n  tau: 2\n")
    document = read_document("run.yaml", ["model.beta=600", "data.period=month", "model.beta = 700"])
    assert document.values == {"model": {"tau": 2, "beta": 700}, "data": {"period": "month"}}
    assert document.where(("model", "beta")) == "-s model.beta = 700"
    assert document.where(("model", "tau")) == "run.yaml:3"


def test_overrides_keep_equal_signs_in_values() -> None:
    assert read_document(None, ["data.delimiter=="]).values == {"data": {"delimiter": "="}}


@each("override", ["model.beta", "=3", "model.=3", "model..beta=3", ""])
def test_overrides_need_key_and_value(override: str) -> None:
    error = failure(None, override)
    assert error.where == f"-s {override}"
    assert error.hint == "for instance -s model.beta=600, without blanks"


needs_fifo = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")


def test_a_config_has_a_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "run.yaml").write_text("# " + "x" * (1 << 20), encoding="utf-8")
    assert "takes more than 1 MB" in failure("run.yaml").message
    stream = SimpleNamespace(buffer=io.BytesIO(b"#" * (1 << 21)))
    monkeypatch.setattr(sys, "stdin", stream)
    assert "takes more than 1 MB" in failure("-").message


@needs_fifo
def test_a_pipe_is_read_and_a_device_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    writer = Thread(target=(tmp_path / "pipe").write_text, args=("model: {beta: 500}\n",))
    writer.start()
    assert read_document("pipe").values == {"model": {"beta": 500}}
    writer.join()
    assert failure("/dev/zero").message == "cannot be read: is a device"
    assert read_document(os.devnull).values == {}
