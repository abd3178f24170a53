"""Which run answers when several could: the one named, that of the environment, the one fitted last; only one's own."""

import os
from pathlib import Path

import pytest

from tests.support.handmade import RECORDS, write_small_run
from ttt_cli.runs.meta import EvidencePoint
from ttt_cli.runs.run import open_run
from ttt_cli.support.errors import RunError


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TTT_RUN", raising=False)
    return tmp_path


@pytest.mark.slow
def test_named_run_then_environment_then_the_one_fitted_last(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(RunError, match="no run") as caught:
        open_run()
    assert "ttt fit" in (caught.value.hint or "")
    for name in ("old.ttt", "middle.ttt", "new.ttt"):
        write_small_run(here / name, RECORDS[:2])
    (here / "folder.ttt").mkdir()
    os.utime(here / "folder.ttt", (2e9, 2e9))
    assert open_run().name == "new.ttt"
    monkeypatch.setenv("TTT_RUN", "old.ttt")
    assert open_run().name == "old.ttt"
    assert open_run("middle.ttt").name == "middle.ttt"


@pytest.mark.slow
@pytest.mark.parametrize("how", ["evidence", "copied", "touched"])
def test_what_is_written_to_later_is_not_fitted_later(here: Path, how: str) -> None:
    write_small_run(here / "old.ttt", RECORDS[:2])
    write_small_run(here / "new.ttt", RECORDS[:2])
    if how == "evidence":
        old = open_run("old.ttt")
        old.store_evidence([EvidencePoint({"tau": 1.0}, {"tau": 1.0}, -1.0, True, 5, 0.001)])
        assert len(open_run("old.ttt").evidence_points()) == 2
    elif how == "copied":
        (here / "copy.ttt").write_bytes((here / "old.ttt").read_bytes())
    os.utime(here / "old.ttt", (2e9, 2e9))
    assert open_run().name == "new.ttt"


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="files have no owners here")
def test_a_run_of_another_user_is_not_opened_unasked(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_small_run(here / "theirs.ttt", RECORDS[:2])
    other = os.geteuid() + 1
    monkeypatch.setattr(os, "geteuid", lambda: other)
    with pytest.raises(RunError, match=r"theirs\.ttt: belongs to another user") as caught:
        open_run()
    assert "-r theirs.ttt" in (caught.value.hint or "")
    assert open_run("theirs.ttt").meta.games == 2


def test_the_newest_is_an_error_when_it_cannot_be_read_and_passed_over_when_it_is_no_database(
    here: Path,
) -> None:
    write_small_run(here / "old.ttt", RECORDS[:2])
    (here / "newer.ttt").write_text("not a database")
    os.utime(here / "newer.ttt", (2e9, 2e9))
    assert open_run().name == "old.ttt"
    (here / "newer.ttt").write_bytes((here / "old.ttt").read_bytes()[:5000])
    os.utime(here / "newer.ttt", (2e9, 2e9))
    with pytest.raises(RunError, match=r"newer\.ttt: cannot be opened"):
        open_run()
