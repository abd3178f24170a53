from pathlib import Path

import pytest

from ttt_cli.files import replacing


def test_the_file_appears_when_the_block_ends(tmp_path: Path) -> None:
    place = tmp_path / "a.txt"
    with replacing(place) as temporary:
        temporary.write_text("new")
        assert not place.exists()
    assert place.read_text() == "new"
    assert list(tmp_path.iterdir()) == [place]


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, ValueError])
def test_a_broken_off_block_leaves_everything_as_it_was(tmp_path: Path, error: type[BaseException]) -> None:
    place = tmp_path / "a.txt"
    place.write_text("old")

    def broken_off() -> None:
        with replacing(place) as temporary:
            temporary.write_text("half")
            raise error

    with pytest.raises(error):
        broken_off()
    assert place.read_text() == "old"
    assert list(tmp_path.iterdir()) == [place]


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    target = tmp_path / "target.txt"
    target.write_text("old")
    link = tmp_path / "link.txt"
    link.symlink_to(target)
    with replacing(link) as temporary:
        temporary.write_text("new")
    assert link.is_symlink()
    assert target.read_text() == "new"
