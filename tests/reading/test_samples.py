"""Files that come with the program: read by name from a source tree and from what is packed in a wheel."""

from __future__ import annotations

import lzma
from pathlib import Path

import pytest

from tests.conftest import ROOT
from ttt_cli import read_games
from ttt_cli.reading import samples
from ttt_cli.support.errors import DataError
from ttt_cli.timeline import build_timeline

FOLDER = ROOT / "sample_pgn"


def test_each_is_a_file_of_the_repository_and_holds_what_is_said() -> None:
    assert {sample.file for sample in samples.SAMPLES.values()} == {
        file.name for file in FOLDER.iterdir() if file.suffix in (".pgn", ".csv")
    }
    classics = read_games("@classics")
    assert [file.path for file in classics.report.files] == ["@classics"]
    years = build_timeline(classics).periods
    assert samples.SAMPLES["classics"].holds.startswith(
        f"{classics.report.rows:,} games of the masters from {years[0]} to {years[-1]}"
    )
    famous = read_games("@famous")
    assert samples.SAMPLES["famous"].holds.startswith(f"{famous.report.rows} famous games")


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A package with the samples as setup.py packs them for a wheel."""
    from setup import write_samples

    folder = tmp_path_factory.mktemp("package")
    write_samples(folder / "samples")
    return folder


def test_a_packed_one_is_read_where_there_is_one(
    package: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(samples, "_PACKAGE", package)
    plain = (FOLDER / "famous.pgn").read_bytes()
    file = samples.sample_file("@famous")
    assert file == package / "samples" / "famous.pgn.xz"
    assert lzma.decompress(file.read_bytes()) == plain
    assert read_games("@famous").report.rows == plain.count(b"[Event ")


def test_all_of_a_wheel_take_at_most_one_megabyte(package: Path) -> None:
    packed = {file.name: file.stat().st_size for file in (package / "samples").iterdir()}
    assert set(packed) == {f"{sample.file}.xz" for sample in samples.SAMPLES.values()}
    assert sum(packed.values()) <= 1_000_000


def test_a_file_of_that_name_goes_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("@classics").write_text("date,white,black,result\n1900,A,B,1-0\n")
    assert read_games("@classics").report.rows == 1


def test_an_unknown_one_is_an_error_with_those_that_are_known() -> None:
    with pytest.raises(DataError, match="there is no such sample") as raised:
        read_games("@clasics")
    assert raised.value.hint == "did you mean @classics?"
    with pytest.raises(DataError) as raised:
        read_games("@nothing")
    assert raised.value.hint == "samples are @classics, @famous, @people"
