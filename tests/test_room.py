"""Arrays in files: what is written is read again when the memory was let go, and a full disk is said."""

from __future__ import annotations

import errno
import os

import numpy as np
import pytest

from ttt_cli.errors import SetupError
from ttt_cli.room import MEMORY, FileRoom


def test_arrays_in_files_keep_what_is_written(tmp_path):
    room = FileRoom(tmp_path, rows=3)
    one, other = room.empty("one", (7,), np.int32), room.empty("other", (2, 2), np.float64)
    assert not one.any()
    for part in room.parts(7):
        assert part.stop - part.start <= 3
        one[part] = np.arange(7)[part]
    other[:] = 1.5
    room.let_go()
    assert one.tolist() == list(range(7))
    assert (other == 1.5).all()
    assert room.size == 7 * 4 + 4 * 8
    assert {place.name for place in tmp_path.iterdir()} == {"one", "other"}


def test_an_array_outlives_another_of_its_name_and_no_longer_than_it_is_used(tmp_path):
    room = FileRoom(tmp_path)
    old = room.empty("one", (4,), np.int32)
    old[:] = 3
    new = room.empty("one", (4,), np.int32)
    assert old.tolist() == [3] * 4
    assert new.tolist() == [0] * 4
    del old
    assert room.size == 4 * 4


def test_nothing_needs_no_file(tmp_path):
    assert FileRoom(tmp_path).empty("none", (0, 3), np.int8).shape == (0, 3)
    assert not list(tmp_path.iterdir())


def test_memory_is_looked_at_as_a_whole():
    assert list(MEMORY.parts(5)) == [slice(0, 5)]
    assert list(MEMORY.parts(0)) == []


@pytest.mark.skipif(not hasattr(os, "posix_fallocate"), reason="room is not reserved here")
def test_a_full_disk_is_said(tmp_path, monkeypatch):
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", full)
    with pytest.raises(SetupError, match=r"cannot be stored in .*No space left on device"):
        FileRoom(tmp_path).empty("one", (1,), np.int32)
