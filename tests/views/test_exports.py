"""Exported tables that say where they come from."""

from hashlib import sha256
from pathlib import Path

import pytest

from ttt_cli import __version__, fit, read_games
from ttt_cli.views.exports import export_rows, with_provenance


@pytest.mark.parametrize("table", ["skills", "games", "events", "evidence"])
def test_every_row_has_the_version_and_the_digests_of_the_files(table: str, tmp_path: Path) -> None:
    contents = {}
    for name, year in (("old.csv", 1857), ("new.csv", 1858)):
        contents[name] = f"date,white,black,result,event\n{year},Paulsen,Morphy,0-1,New York\n"
        (tmp_path / name).write_text(contents[name], encoding="utf-8")
    run = fit(read_games(tmp_path / "old.csv", tmp_path / "new.csv"), "elo")
    rows = with_provenance(run, export_rows(run, table))
    records = list(rows.records())
    digests = [sha256(contents[name].encode()).hexdigest() for name in ("new.csv", "old.csv")]
    assert records
    for record in records:
        assert record["ttt_version"] == __version__
        assert record["fitted"] == run.meta.created
        assert record["inputs"] == " ".join(digests)
