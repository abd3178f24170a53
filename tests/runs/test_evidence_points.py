"""Evidence points beside a run: what of a file is used, and what a bad file stops."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.support.cases import each
from tests.support.handmade import put_small_run
from ttt_cli.cli.main import run as ttt
from ttt_cli.runs import connection, evidence_points
from ttt_cli.runs.evidence_points import EvidencePoint, drop_stale_points, points_file, read_points
from ttt_cli.runs.run import Run, open_run

PARAMS = '{"beta":300.0}'
GOOD = (PARAMS, PARAMS, -300.0, True, 5, 0.001)
BAD_ROWS = {
    "evidence beyond floats": (PARAMS, PARAMS, 10**400, True, 5, 0.001),
    "evidence of 30 digits": (PARAMS, PARAMS, -(10**31), True, 5, 0.001),
    "infinite evidence": (PARAMS, PARAMS, float("-inf"), True, 5, 0.001),
    "evidence that is no number": (PARAMS, PARAMS, float("nan"), True, 5, 0.001),
    "evidence as a text": (PARAMS, PARAMS, "-300", True, 5, 0.001),
    "infinite sweeps": (PARAMS, PARAMS, -300.0, True, float("inf"), 0.001),
    "sweeps beyond 32 bits": (PARAMS, PARAMS, -300.0, True, 2**31, 0.001),
    "sweeps beyond 64 bits": (PARAMS, PARAMS, -300.0, True, 2**70, 0.001),
    "negative sweeps": (PARAMS, PARAMS, -300.0, True, -1, 0.001),
    "sweeps that are no number": (PARAMS, PARAMS, -300.0, True, None, 0.001),
    "no convergence": (PARAMS, PARAMS, -300.0, 1, 5, 0.001),
    "an error beyond floats": (PARAMS, PARAMS, -300.0, True, 5, 10**400),
    "a negative error": (PARAMS, PARAMS, -300.0, True, 5, -1.0),
    "parameters of 400 digits": (PARAMS, f'{{"beta":{"9" * 400}}}', -300.0, True, 5, 0.001),
    "parameters in lists": (PARAMS, '{"beta":[300]}', -300.0, True, 5, 0.001),
    "a list of parameters": ("[300]", PARAMS, -300.0, True, 5, 0.001),
    "half a character": ('{"beta\\ud800":300.0}', PARAMS, -300.0, True, 5, 0.001),
    "half a character in its own": ('{"beta\ud800":300.0}', PARAMS, -300.0, True, 5, 0.001),
    "parameters too deep": ("[" * 90_000, PARAMS, -300.0, True, 5, 0.001),
    "parameters too long": (json.dumps({"x" * 100_000: 1}), PARAMS, -300.0, True, 5, 0.001),
    "parameters that are a number": (1, PARAMS, -300.0, True, 5, 0.001),
    "too few columns": GOOD[:-1],
    "too many columns": (*GOOD, 1),
}
BAD_LINES = {
    **{name: json.dumps(["BASIS", *row]) for name, row in BAD_ROWS.items()},
    "no list": "{}",
    "a basis that is a list": json.dumps([[], *GOOD]),
    "no JSON": "beta 300",
    "no text": "\0" * 1000,
    "a line that is too deep": "[" * 200_000,
}
COMMANDS = (
    "top",
    "player Morphy",
    "players",
    "export skills",
    "export evidence",
    "evidence",
    "versus Morphy Paulsen",
)


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return open_run(put_small_run(tmp_path / "a.ttt"))


def write_lines(run: Run, *lines: str) -> Path:
    assert run.path is not None
    file = points_file(run.path)
    file.write_text("".join(f"{line}\n" for line in lines).replace("BASIS", run._connection.basis))
    return file


def good_line(beta: int) -> str:
    return json.dumps(["BASIS", *GOOD]).replace("300", str(beta))


def betas(run: Run) -> list[float]:
    return [point.requested["beta"] for point in run.evidence_points()[1:]]


@each("name", BAD_LINES)
def test_a_bad_line_is_skipped_and_counted(run: Run, name: str) -> None:
    write_lines(run, good_line(300), BAD_LINES[name], good_line(400))
    assert betas(run) == [300, 400]
    assert run.select("SELECT count(*) FROM evidence")[1] == [(3,)]
    assert run.points_remarks() == ["a.ttt.points: lines that are no points, skipped: 1"]


@pytest.mark.slow
def test_no_command_is_stopped_by_bad_lines(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    answers = []
    for lines in ([], BAD_LINES.values()):
        write_lines(run, *lines)
        codes = [
            ttt([*command.split(), "-q", "-f", "csv", "-r", str(run.path)]) for command in COMMANDS
        ]
        answers.append((codes, capsys.readouterr().out))
    assert answers[0] == answers[1]
    assert set(answers[0][0]) == {0}


def test_what_was_skipped_is_told_with_the_table(
    run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    write_lines(run, "no point", "nor this")
    assert ttt(["export", "evidence", "-f", "csv", "-r", str(run.path)]) == 0
    assert "a.ttt.points: lines that are no points, skipped: 2" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("limit", "value"), [("MOST_LINES", 3), ("MOST_BYTES", 3 * (len(good_line(300)) + 28) + 30)]
)
def test_of_a_file_that_is_too_long_the_end_is_read(
    run: Run, monkeypatch: pytest.MonkeyPatch, limit: str, value: int
) -> None:
    write_lines(run, *(good_line(beta) for beta in range(100, 900, 100)))
    monkeypatch.setattr(evidence_points, limit, value)
    assert betas(run) == [600, 700, 800]
    (remark,) = run.points_remarks()
    assert remark.startswith("a.ttt.points is too long")


def test_a_hole_of_a_gigabyte_is_not_read(run: Run) -> None:
    file = write_lines(run)
    os.truncate(file, 1 << 30)
    with file.open("a") as stream:
        stream.write(f"\n{good_line(300)}\n".replace("BASIS", run._connection.basis))
    assert betas(run) == [300]


def test_points_are_read_only_for_what_needs_them(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_lines(run, good_line(300))

    def refuse(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr(connection, "read_points", refuse)
    assert len(run.players()) == 3
    assert len(run.skills("morphy")) > 0
    with pytest.raises(AssertionError):
        run.query("FROM Evidence")


def test_a_file_without_points_is_not_removed(run: Run) -> None:
    assert run.path is not None
    for lines, removed in (([], 0), (["my notes"], 0), ([good_line(300), "broken off"], 1)):
        file = write_lines(run, *lines)
        assert drop_stale_points(run.path, "another basis") == removed
        assert file.exists() == (not removed)


def test_a_file_that_was_not_read_to_its_beginning_is_not_removed(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run.path is not None
    file = write_lines(run, *map(good_line, (300, 400, 500)))
    monkeypatch.setattr(evidence_points, "MOST_LINES", 2)
    assert drop_stale_points(run.path, "another basis") == 0
    assert file.exists()


def test_points_are_on_the_disk_when_they_are_stored(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All of their bytes were handed over before the disk is asked to keep them."""
    assert run.path is not None
    synchronised = []
    monkeypatch.setattr(os, "fsync", lambda descriptor: synchronised.append(os.fstat(descriptor)))
    run.store_evidence([EvidencePoint({"beta": 300.0}, {"beta": 300.0}, -1.0, True, 5, 0.0)])
    (status,) = synchronised
    stored = points_file(run.path).stat()
    assert (status.st_ino, status.st_size) == (stored.st_ino, stored.st_size)
    assert len(read_points(run.path, run._connection.basis).rows) == 1
