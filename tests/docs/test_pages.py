"""The written pages agree with the program: commands, keys, reasons, tables, pictures, links."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import make_all
import make_architecture
import make_columns
import make_configs
import make_images
import make_man
import pytest
from run_blocks import PAGES, ROOT, blocks_of, same

from tests.support.cases import each
from tests.support.command_server import Server
from ttt_cli.api import fit, open_run, read_games
from ttt_cli.cli import games
from ttt_cli.cli.main import COMMANDS
from ttt_cli.config.event_set_names import EVENT_SETS
from ttt_cli.config.schema import DataConfig, FilterConfig, SolverConfig
from ttt_cli.games.aliases import read_aliases
from ttt_cli.games.odds import POINTS, odds_points
from ttt_cli.reading import archives, sources
from ttt_cli.reading import reports as reasons
from ttt_cli.reading.dates import parse_dates
from ttt_cli.reading.layout import SYNONYMS
from ttt_cli.reading.results import parse_result
from ttt_cli.runs.lookup import find_scale, parse_anchor
from ttt_cli.systems.registry import MODULES, load
from ttt_cli.views.ingest import SECTIONS

DOCS = ROOT / "docs"
ANCHOR = re.compile(r"[A-Z][^'\"`\n:\[\]]*? @ \d{4}\S* = \d+")


@pytest.fixture(scope="module")
def run_of_classics(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("run") / "classics.ttt"
    fit(read_games(ROOT / "sample_pgn" / "classics.pgn"), output=place)
    return place


def read(page: str) -> str:
    return (DOCS / page).read_text(encoding="utf-8")


def section(text: str, heading: str) -> str:
    """What stands between a heading and the next of its level."""
    level = heading.partition(" ")[0]
    return text.partition(f"\n{heading}\n")[2].partition(f"\n{level} ")[0]


def first_cells(text: str) -> list[str]:
    """The first cells of the tables in a text, without their heads."""
    cells = re.findall(r"^\| (.*?) \|", text, flags=re.MULTILINE)
    heads = re.findall(r"^\| (.*?) \|.*\n\|---", text, flags=re.MULTILINE)
    for head in heads:
        cells.remove(head)
    return cells


def words(cells: list[str]) -> list[str]:
    """The words in back quotes in cells of a table."""
    return [word for cell in cells for word in re.findall(r"`([^`]+)`", cell)]


def test_the_commands_are_as_their_help_says() -> None:
    fresh = "import make_cli; print(make_cli.page(), end='')"  # helps that other tests asked for are kept by click
    page = subprocess.run(
        [sys.executable, "-c", fresh], cwd=DOCS, capture_output=True, text=True, check=True
    )
    assert read("cli.md") == page.stdout, "run: python docs/make_all.py --text"


def test_the_keys_are_as_the_schema_says() -> None:
    page = read("configs.md")
    assert page == make_configs.page(page), "run: python docs/make_all.py --text"
    for model in MODULES:
        for key in load(model).Params.model_fields:
            assert f"`model.{key}`" in page


def test_one_command_makes_all_pages_that_scripts_make() -> None:
    scripts = {script.name for script in DOCS.glob("make_*.py")} | {"run_blocks.py"}
    modules = {f"{name}.py" for name in vars(make_all) if name.startswith("make_")}
    elsewhere = {"make_schemastore.py"}  # files for a checkout of SchemaStore
    assert modules | elsewhere | {"make_all.py", *make_all.SLOW_SCRIPTS} == scripts


def test_the_columns_of_rankings_are_described() -> None:
    for path, text in make_columns.pages().items():
        assert path.read_text(encoding="utf-8") == text, "run: python docs/make_all.py --text"


def test_every_key_is_in_the_glossary() -> None:
    known = set(words(first_cells(read("glossary.md"))))
    keys = {key for model in MODULES for key in load(model).Params.model_fields} | set(
        SolverConfig.model_fields
    )
    assert keys <= known
    assert "period" in known
    assert "period" in DataConfig.model_fields


def test_the_reasons_are_those_of_the_readers_in_their_order() -> None:
    page = read("reading.md")
    dropped = words(first_cells(section(page, "## Why a record is dropped")))
    assert dropped == list(reasons.DROP_REASONS)
    reported = words(first_cells(section(page, "## What else is reported")))
    every = {
        value
        for module in (reasons, archives, sources)
        for name, value in vars(module).items()
        if name.isupper() and not name.startswith("_") and isinstance(value, str)
    }
    actions = {reasons.DROPPED, reasons.REPAIRED, reasons.KEPT, archives.SKIPPED}
    assert set(reported) == every - actions - set(dropped) | {reasons.BAD_DATE}


def test_the_sections_and_flags_of_the_games_command_are_described() -> None:
    described = section(read("reading.md"), "## `ttt games`: what is there")
    named = words(first_cells(described))
    sections = [name for name in named if not name.startswith("--")]
    assert sorted(sections) == sorted(SECTIONS)
    flags = {option for parameter in games.command.params for option in parameter.opts}
    assert {name for name in named if name.startswith("--")} < flags


def test_the_columns_of_tables_are_those_that_are_found() -> None:
    assert words(first_cells(section(read("reading.md"), "## Tables: columns"))) == list(SYNONYMS)


def test_the_dates_and_results_of_the_page_are_read_as_it_says() -> None:
    dates = section(read("reading.md"), "## Dates")
    shown = re.findall(r"`(\d[^`]+)`", dates)
    assert len(shown) == 13
    found = [parse_dates([text], DataConfig()) for text in shown]
    assert not any(date.repaired[0] or date.reject_code[0] for date in found)
    assert {date.day[0] for date in found if date.precision[0] == 2} == {-40742}
    results = re.findall(
        r"`([^`]+)`", section(read("reading.md"), "## Results").partition(", or White's")[0]
    )
    assert [parse_result(text) for text in results] == [2, 1, 1, 0, 2, 1, 2, 1, 0]


@pytest.mark.slow
def test_the_tables_of_a_run_are_all_described(run_of_classics: Path) -> None:
    page = read("runs.md")
    run = open_run(run_of_classics)
    tables = {name for (name,) in run.select("SELECT table_name FROM duckdb_tables()")[1]}
    for table in ("skills", "players", "games", "spans", "evidence"):
        described = words(first_cells(section(page, f"### {table}")))
        assert described == list(run.select(f"FROM {table} LIMIT 0")[0])
    report = section(page, "### inputs, file_traits, dropped, noticed, problems")
    for table in ("inputs", "file_traits", "dropped", "noticed", "problems"):
        rows = re.findall(rf"^\| `{table}` \| (.*?) \|", report, flags=re.MULTILINE)
        assert words(rows) == list(run.select(f"FROM {table} LIMIT 0")[0])
    keys = [key for (key,) in run.select("SELECT key FROM meta")[1]]
    assert words(first_cells(section(page, "### meta"))) == keys
    rows = section(page, "### game_rows, names, periods")
    for table in ("names", "periods"):
        (row,) = re.findall(rf"^\| `{table}` \| (.*?) \|", rows, flags=re.MULTILINE)
        assert words([row]) == list(run.select(f"FROM {table} LIMIT 0")[0])
    for table in ("draws", "newcomers"):
        described = words(first_cells(section(page, f"### {table}")))
        assert described == list(run.select(f"FROM run.main.{table} LIMIT 0")[0])
    headings = (
        "links, steps",
        "game_texts, texts, spellings, neutral_games, victory_margins, doubtful_games",
        "covariates, game_values, game_covariates, covariate_texts, covariate_points",
        "people_fields, people",
        "sources, game_sources",
        "team_members, game_sides, sum_links, sum_terms",
    )
    for heading in headings:
        for table in heading.split(", "):
            rows = re.findall(
                rf"^\| `{table}` \| (.*?) \|", section(page, f"### {heading}"), flags=re.MULTILINE
            )
            assert words(rows) == list(run.select(f"FROM run.main.{table} LIMIT 0")[0])
    of_categories = "categories, game_categories, category_spans, category_links, category_steps"
    rows = section(page, f"### {of_categories}")
    for table in of_categories.split(", "):
        (row,) = re.findall(rf"^\| `{table}` \| (.*?) \|", rows, flags=re.MULTILINE)
        columns = list(run.select(f"FROM run.main.{table} LIMIT 0")[0])
        if table == "category_spans":
            columns = ["category", "spans"]
            assert list(run.select(f"FROM run.main.{table} LIMIT 0")[0])[1:] == list(
                run.select("FROM spans LIMIT 0")[0]
            )
        assert words([row]) == columns
    described = (
        "skills players games spans evidence inputs file_traits dropped noticed problems meta game_rows names"
        " periods"
    )
    joint = "links steps draws newcomers game_texts texts spellings neutral_games victory_margins doubtful_games"
    of_covariates = "covariates game_values game_covariates covariate_texts covariate_points"
    of_people = "people_fields people"
    of_sources = "sources game_sources"
    of_teams = "team_members game_sides sum_links sum_terms"
    listed = {
        *described.split(),
        *joint.split(),
        *of_covariates.split(),
        *of_sources.split(),
        *of_teams.split(),
        *of_people.split(),
        *of_categories.split(", "),
    }
    assert tables == listed - {"skills", "games"}


def test_what_export_leaves_out_is_in_italics(run_of_classics: Path) -> None:
    run = open_run(run_of_classics)
    for table, frame in (
        ("skills", run.skills()),
        ("players", run.players()),
        ("games", run.games()),
    ):
        described = section(read("runs.md"), f"### {table}")
        hidden = re.findall(r"\*`(\w+)`\*", described)
        shown = [name for name in words(first_cells(described)) if name not in hidden]
        assert shown == list(frame.columns)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["player", pytest.param("evidence", marks=pytest.mark.large)])
def test_the_pictures_show_what_the_commands_show(server: Server, name: str) -> None:
    drawn = make_images.pictures(server.folder, [name])[name]
    stored = (make_images.IMAGES / f"{name}.svg").read_text(encoding="utf-8")
    assert same(make_images.text_of(stored), make_images.text_of(drawn)), (
        "run: python docs/make_images.py"
    )


def test_every_picture_is_made_by_a_script_and_shown() -> None:
    files = {file.stem for file in make_images.IMAGES.glob("*.svg")}
    assert files == {*make_images.PICTURES, "architecture"}
    shown = (ROOT / "README.md").read_text(encoding="utf-8") + read("tutorial.md")
    assert [name for name in make_images.PICTURES if f"images/{name}.svg" not in shown] == []


@pytest.mark.slow
def test_the_picture_of_the_layers_is_that_of_the_code() -> None:
    drawn = make_architecture.picture()
    assert drawn == make_architecture.PICTURE.read_text(encoding="utf-8"), (
        "run: python docs/make_architecture.py"
    )


@each("page", [*PAGES, ROOT / "CHANGELOG.md", ROOT / "llms.txt"])
def test_links_lead_somewhere(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for block in reversed(blocks_of(text)):
        text = text[: block.span[0]] + text[block.span[1] :]
    for link in re.findall(r"\]\((?!https?:)([^)#]+)(?:#[^)]*)?\)", text):
        assert (page.parent / link).exists(), f"{page.name}: {link}"


def test_the_index_lists_every_page() -> None:
    listed = {(DOCS / link).resolve() for link in re.findall(r"\]\(([^)]+)\)", read("index.md"))}
    assert {page for page in DOCS.rglob("*.md") if page.name != "index.md"} <= listed


def test_the_navigation_of_the_site_lists_every_page() -> None:
    navigation = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:\n")[2]
    listed = set(re.findall(r"- (?:.*: )?(\S+\.md)$", navigation, re.MULTILINE))
    assert {page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md")} <= listed


def test_the_odds_are_those_that_count() -> None:
    rows = [
        line
        for line in section(read("reading.md"), "## Soft results and odds").splitlines()
        if re.match(r"\| .*\d \|", line)
    ]
    cells = [cell.strip() for row in rows for cell in row.strip("|").split("|")]
    shown = {
        odds: float(points) for odds, points in zip(cells[::2], cells[1::2], strict=True) if odds
    }
    assert {odds: abs(odds_points(odds)) for odds in shown} == shown
    assert len(shown) == len(POINTS)


def test_the_sets_and_keys_are_those_of_the_filter() -> None:
    keys, sets = section(read("reading.md"), "## Filters").split("| set | holds")
    assert re.findall(r"^\| `([\w-]+)` \|", sets, flags=re.MULTILINE) == list(EVENT_SETS)
    assert set(re.findall(r"^\| `([\w-]+)` \|", keys, flags=re.MULTILINE)) | {"among"} == set(
        FilterConfig.model_fields
    )


def test_the_alias_file_of_the_page_is_one(tmp_path: Path) -> None:
    text = section(read("reading.md"), "## Names").partition("```text\n")[2].partition("```")[0]
    (tmp_path / "aliases.csv").write_text(text, encoding="utf-8")
    aliases = read_aliases(str(tmp_path / "aliases.csv"))
    assert aliases.names["P. C. Morphy"] == "Morphy, Paul"
    assert aliases.by_status == {("Anderssen, Adolf", "casual"): "Anderssen, Adolf (offhand)"}


def test_the_man_pages_are_current() -> None:
    there = {file.name: file.read_text(encoding="utf-8") for file in make_man.FOLDER.glob("*")}
    assert there == make_man.pages(), "run: python docs/make_all.py --text"
    assert {f"ttt-{name}.1" for name in COMMANDS} | {"ttt.1"} <= there.keys()


def test_troff_shows_them() -> None:
    """Nothing in them is taken for a command of troff, and nothing is lost."""
    if shutil.which("groff") is None:
        pytest.skip("no groff here")
    page = make_man.pages()["ttt-config-show.1"]
    done = subprocess.run(["groff", "-ww", "-man", "-Tascii", "-P-cbou"], input=page, capture_output=True, text=True,
                          check=True)  # fmt: skip
    assert done.stderr == ""
    shown = " ".join(done.stdout.split())
    assert "ttt config show -c ttt -s model.beta=600 > mine.yaml" in shown
    assert "-s, --set KEY=VALUE Set a key of the config, for instance model.beta=600;" in shown


@pytest.mark.slow
def test_every_example_of_an_anchor_works_on_the_sample(run_of_classics: Path) -> None:
    places = [*PAGES, *(ROOT / "configs").glob("*.yaml"), *(ROOT / "ttt_cli").rglob("*.py")]
    run = open_run(run_of_classics)
    found = set()
    for place in places:
        unbroken = re.sub(r"\s+(?=[@=] )|(?<=[@=,])\s+", " ", place.read_text(encoding="utf-8"))
        for text in ANCHOR.findall(unbroken):
            scale = find_scale(run.meta, lambda sql, values=(): run.select(sql, values)[1], [text])
            assert scale.anchors == (parse_anchor(text),), place.name
            found.add(place.name)
    assert {"options.py", "cli.md", "scale.md"} <= found
