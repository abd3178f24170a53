import shutil
from collections import namedtuple
from pathlib import Path

import pytest

from tests.support.handmade import RECORDS, games_of, write_small_run
from ttt_cli import api
from ttt_cli.errors import RunError
from ttt_cli.runs.storing.destination import space_needed
from ttt_cli.systems import ttt
from ttt_cli.timeline import build_timeline

Usage = namedtuple("Usage", "total used free")


def test_a_disk_without_room_is_refused_with_numbers_before_inference(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "a.ttt"
    write_small_run(place, RECORDS[:2])
    before = place.read_bytes()
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(10**9, 10**9, 300_000))
    monkeypatch.setattr(ttt, "fit", lambda *_, **__: pytest.fail("inference has begun"))
    with pytest.raises(RunError, match=r"needs about 2 MB, and the disk has 0\.3 MB left") as caught:
        api.fit(games_of(RECORDS), output=place)
    assert caught.value.where == str(place)
    assert place.read_bytes() == before
    assert list(tmp_path.iterdir()) == [place]


def test_the_estimate_is_no_more_than_a_run_takes(tmp_path: Path) -> None:
    place = tmp_path / "a.ttt"
    games = write_small_run(place)
    assert 0.5 * place.stat().st_size <= space_needed(build_timeline(games)) <= place.stat().st_size
