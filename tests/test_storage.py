"""Arrays in files: what is written is read again when the memory was let go, and a full disk is said."""

from __future__ import annotations

import errno
import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from ttt_cli.storage import MEMORY, ArrayFiles, Shared
from ttt_cli.support.errors import SetupError


def test_arrays_in_files_keep_what_is_written(tmp_path):
    storage = ArrayFiles(tmp_path, rows=3)
    one, other = storage.zeros("one", (7,), np.int32), storage.zeros("other", (2, 2), np.float64)
    assert not one.any()
    for part in storage.parts(7):
        assert part.stop - part.start <= 3
        one[part] = np.arange(7)[part]
    other[:] = 1.5
    storage.release()
    assert one.tolist() == list(range(7))
    assert (other == 1.5).all()
    assert storage.size == 7 * 4 + 4 * 8
    assert {place.name for place in tmp_path.iterdir()} == {"one", "other"}


def test_an_array_outlives_another_of_its_name_and_no_longer_than_it_is_used(tmp_path):
    storage = ArrayFiles(tmp_path)
    old = storage.zeros("one", (4,), np.int32)
    old[:] = 3
    new = storage.zeros("one", (4,), np.int32)
    assert old.tolist() == [3] * 4
    assert new.tolist() == [0] * 4
    del old
    assert storage.size == 4 * 4


def test_what_is_shared_stays_in_its_files(tmp_path):
    """Views of them, too; others are sent, arrays of equal entries as one."""
    storage = ArrayFiles(tmp_path, rows=5)
    array = storage.zeros("one", (3, 4, 1000), np.float64)
    array[:] = np.arange(array.size).reshape(array.shape)
    fixed = array[1, 2].view()
    fixed.flags.writeable = False
    alike, other = np.broadcast_to(2.5, 100_000), np.arange(3)
    sent = pickle.dumps(Shared([array[:, 1:3, ::2], fixed, alike, other, storage]))
    assert len(sent) < 1500
    part, same, equal, copy, there = pickle.loads(sent).what
    assert np.array_equal(part, array[:, 1:3, ::2])
    assert np.array_equal(same, fixed)
    assert not same.flags.writeable
    assert np.array_equal(equal, alike)
    assert np.array_equal(copy, other)
    assert there.rows == 5
    assert there.size == 2 * array.nbytes
    part[:] = -1.0
    assert (array[:, 1:3, ::2] == -1.0).all()


def test_what_is_shared_is_sent_where_another_array_has_its_name(tmp_path):
    storage = ArrayFiles(tmp_path)
    old = storage.zeros("one", (4,), np.int32)
    old[:] = 3
    storage.zeros("one", (4,), np.int32)
    assert pickle.loads(pickle.dumps(Shared(old))).what.tolist() == [3] * 4


def test_nothing_needs_no_file_and_memory_is_one_part(tmp_path):
    assert ArrayFiles(tmp_path).zeros("none", (0, 3), np.int8).shape == (0, 3)
    assert not list(tmp_path.iterdir())
    assert list(MEMORY.parts(5)) == [slice(0, 5)]
    assert list(MEMORY.parts(0)) == []


@pytest.mark.skipif(not hasattr(os, "posix_fallocate"), reason="space is not reserved here")
def test_a_full_disk_is_said(tmp_path, monkeypatch):
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", full)
    with pytest.raises(SetupError, match=r"cannot be stored in .*No space left on device"):
        ArrayFiles(tmp_path).zeros("one", (1,), np.int32)


LEAVING = """
import os, signal, sys
from ttt_cli.storage import folder_of_files
with folder_of_files(None, "games") as folder:
    (folder / "column").write_bytes(b"1")
    if sys.argv[1] == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    print(folder, flush=True)
    sys.stdin.read()
"""


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="needs the signals of POSIX")
def test_temporary_folders_of_killed_processes_are_removed_by_the_next(tmp_path):
    """Those of processes at work stay."""
    command, environment = [sys.executable, "-c", LEAVING], {**os.environ, "TMPDIR": str(tmp_path)}
    with subprocess.Popen(
        [*command, "live"],
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as live:
        held = live.stdout.readline().strip()
        for _ in range(2):
            assert subprocess.run([*command, "die"], env=environment, check=False).returncode == -9
        assert len(list(tmp_path.glob("*.ttt-part"))) == 2
        live.communicate()
    assert not Path(held).exists()
    subprocess.run(
        [*command, "end"], env=environment, check=True, input="", text=True, capture_output=True
    )
    assert not list(tmp_path.iterdir())
