"""Games in files are those in memory, with the same report, and a fit of them is the same."""

from __future__ import annotations

import csv
from dataclasses import replace

import numpy as np
import pytest

from ttt_cli import api
from ttt_cli.config.schema import DataConfig, SolverConfig
from ttt_cli.games import assemble
from ttt_cli.games.groups import careers_of, find_groups
from ttt_cli.games.read import games_for, read_games
from ttt_cli.games.table import GAME_COLUMNS
from ttt_cli.reading.text_columns import TEXT_COLUMNS
from ttt_cli.storage import MEMORY, ArrayFiles
from ttt_cli.support.errors import ConfigError, DataError
from ttt_cli.views.reading_lines import warning_lines

DATA = DataConfig()
COLUMNS = [
    *("date", "white", "black", "result", "event", "site", "round", "white_id", "black_id"),
    *("status", "odds", "games", "weight", "neutral"),
]
NAMES = [
    "Morphy, Paul", "Paul Morphy", "MORPHY, PAUL", "Anderssen, Adolf", "Anderssen, A.", "Loewenthal", "Kolisch",
    "Kolisch, Ignaz", "Team and partner", "Stockfish 9", "?", "", "Müller, K", "Mueller, K", "Paulsen,L", "Zukertort",
]  # fmt: skip


def write_files(folder, seed=1, files=4, rows=120):
    """Tables with everything that may be odd; each has its own columns and names."""
    rng = np.random.default_rng(seed)
    for number in range(files):
        further = rng.choice(COLUMNS[4:], 4 + number, replace=False).tolist()
        columns = COLUMNS[:4] + sorted(further)
        with (folder / f"{number}.csv").open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, columns, extrasaction="ignore")
            writer.writeheader()
            some = [random_row(rng) for _ in range(rows + number)]
            writer.writerows(some + some[:20])  # some are repeated
    return folder


def random_row(rng):
    def pick(*values):
        return str(values[rng.integers(len(values))])

    year = int(rng.integers(1850, 1862))
    day = f"{year}-{int(rng.integers(1, 4)):02d}-{int(rng.integers(1, 5)):02d}"
    return {
        "date": pick(day, day, day, f"{year}-03", year, "soon", "1861-02-31"),
        "white": pick(*NAMES),
        "black": pick(*NAMES),
        "result": pick("1-0", "0-1", "1/2-1/2", "*"),
        "event": pick("London", "Paris", ""),
        "site": pick("Cafe", "https://example.org/1"),
        "round": pick(1, 2, "1.0"),
        "white_id": pick("", 7, 8),
        "black_id": pick("", 9, 8),
        "status": pick("", "won"),
        "odds": pick("", "", "pawn and move"),
        "games": pick("", "", "3"),
        "weight": pick("", "2", "0.5"),
        "neutral": pick("", "", "no", "yes", "perhaps"),
    }


def same(whole, parts):
    """Whether two tables of games are the same in everything."""
    for name in GAME_COLUMNS:
        one, other = getattr(whole, name), getattr(parts, name)
        assert one.tolist() == other.tolist(), name
        assert (one.strides == (0,)) == (other.strides == (0,)), name
    for name in TEXT_COLUMNS:
        assert list(getattr(whole, name)) == list(getattr(parts, name)), name
    assert parts.players == whole.players
    assert parts.spellings == whole.spellings
    assert parts.report == whole.report
    for one, other in zip(whole.report.files, parts.report.files, strict=True):
        assert [*one.dropped.items()] == [*other.dropped.items()]
        assert [*one.noticed.items()] == [*other.noticed.items()]


ALIASES = """"Kolisch, Ignaz",Kolisch
"Paulsen, Louis","Paulsen,L"
"Loewenthal (won)",Loewenthal,status=won
"Zukertort (late)",Zukertort,years=1856-
Nobody,Noone
"""
CONFIGS = {
    "plain": {},
    "no ids": {"ids": False, "names": "folded"},
    "filtered": {"filter": {"years": "1852-1858", "dedupe": True, "players": ["Morphy, Paul"]}},
    "events": {"filter": {"events": ["London"], "exclude": ["odds"]}, "drop": ["teams", "engines"]},
    "months": {"period": "month", "colours": "auto"},
    "aliases": {"aliases": "aliases.csv"},
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TTT_CLUSTER", raising=False)
    monkeypatch.setattr(assemble, "AT_ONCE", 100)
    (tmp_path / "room").mkdir()
    (tmp_path / "aliases.csv").write_text(ALIASES, encoding="utf-8")
    (tmp_path / "files").mkdir()
    return write_files(tmp_path / "files")


@pytest.mark.parametrize(("config", "jobs"), [*((config, 1) for config in CONFIGS), ("plain", 2)])
def test_games_in_files_are_the_same(tmp_path, folder, config, jobs):
    data = DataConfig.model_validate(CONFIGS[config])
    whole = read_games([folder], data)
    same(whole, read_games([folder], data, storage=ArrayFiles(tmp_path / "room"), jobs=jobs))
    assert {place.name for place in (tmp_path / "room").iterdir()} <= {*GAME_COLUMNS, *TEXT_COLUMNS}


@pytest.mark.parametrize(
    "config",
    [
        {"strict": True},
        {"max_errors": 5},
        {"filter": {"players": ["Nobody"]}},
        {"filter": {"years": "1700"}},
        {"format": "jsonl"},
    ],
)
def test_errors_are_the_same(tmp_path, folder, config):
    data = DataConfig.model_validate(config)
    found = []
    for storage in (MEMORY, ArrayFiles(tmp_path / "room")):
        with pytest.raises((DataError, ConfigError)) as caught:
            read_games([folder], data, storage=storage)
        found.append(
            (type(caught.value), caught.value.message, caught.value.hint, caught.value.where)
        )
    assert found[0] == found[1]


@pytest.mark.parametrize("keys", [{"memory": "1GB"}, {"cluster": "local:2"}])
def test_games_are_in_files_of_the_scratch_folder_while_they_are_used(tmp_path, folder, keys):
    scratch = tmp_path / "scratch"
    with games_for([folder], DATA, SolverConfig(**keys, scratch=str(scratch))) as games:
        same(read_games([folder]), games)
        assert games.storage is not MEMORY
        assert list(scratch.iterdir())
    assert not list(scratch.iterdir())


def test_filters_of_all_games_are_applied_in_memory(folder):
    with games_for([folder], DATA, SolverConfig(cluster="10.0.0.5:8786")) as games:
        assert games.storage is MEMORY  # other machines need not find what is written here
    told = []
    data = DataConfig.model_validate({"filter": {"min_games": 3}})
    with games_for([folder], data, SolverConfig(memory="1GB"), tell=told.append) as games:
        same(read_games([folder], data), games)
    assert told == [
        "all games are held in memory: filter.min_games and filter.largest_group look at all games"
    ]


def test_a_fit_of_games_in_files_is_that_of_games_in_memory(tmp_path, folder):
    whole = api.fit(folder, posterior="factorised")
    parts = api.fit(folder, posterior="factorised", memory="1GB", scratch=str(tmp_path / "scratch"))
    assert parts.meta.log_evidence == pytest.approx(whole.meta.log_evidence, rel=1e-9)
    for table in ("skills", "players", "games"):
        one, other = getattr(whole, table)(), getattr(parts, table)()
        assert one.columns.tolist() == other.columns.tolist()
        for name in one.columns:
            if one[name].dtype == np.float64:
                assert other[name].to_numpy() == pytest.approx(
                    one[name].to_numpy(), rel=1e-9, nan_ok=True
                )
            else:
                assert one[name].tolist() == other[name].tolist()


def test_reports_on_games_in_files_are_those_in_memory(tmp_path, folder):
    with games_for([folder], DATA, SolverConfig(memory="1GB")) as games:
        whole, parts = read_games([folder]), replace(games, storage=ArrayFiles(tmp_path, rows=7))
        for lines in (
            find_groups,
            careers_of,
            lambda some: [*warning_lines(some)],
            lambda some: some.draw_share,
        ):
            one, other = lines(whole), lines(parts)
            assert str(one) == str(other)
