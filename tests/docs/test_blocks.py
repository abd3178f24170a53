"""Every block of the documentation does what it says."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import pytest
from run_blocks import NOT_RUN, PAGES, ROOT, Block, Session, blocks_of, same, transcript

from tests.support.command_server import Server
from ttt_cli.config.documents import parse_document
from ttt_cli.systems.resolve import resolve

README = (ROOT / "README.md").read_text(encoding="utf-8")
SHOWN_ONLY = {"text", ""}  # output, pictures made of letters, formulas
NUMBERS = "<!-- the numbers above:\n"
LONG = {"gallery.md", "why.md"}  # all kinds of pictures, fits without games: half a minute

pytestmark = pytest.mark.skipif(
    sys.platform == "win32", reason="blocks need a POSIX shell and terminal"
)


def page_blocks(page: Path) -> list[Block]:
    return blocks_of(page.read_text(encoding="utf-8"))


def test_what_resets_colours_is_not_shown(tmp_path: Path) -> None:
    """Several programs of one block end with it, each after its own output."""
    printed = Session(tmp_path).shell(r"printf 'one\n\033[0m'; printf 'two\n\033[0m'")
    assert printed.out == "one\ntwo\n"


@pytest.mark.slow
@pytest.mark.parametrize(
    "page",
    [pytest.param(page, marks=[pytest.mark.large] * (page.name in LONG)) for page in PAGES],
    ids=lambda page: page.name,
)
def test_blocks_of(
    page: Path, server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    session = Session(tmp_path, commands=server.folder)
    blocks = page_blocks(page)
    for before, block in zip([None, *blocks], blocks, strict=False):
        if block.run:
            run(session, block, before, f"{page.relative_to(ROOT)}:{block.line}")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_what_is_computed_below_a_paragraph_stands_in_it(page: Path) -> None:
    """Numbers in prose are those of a hidden block, which `test_blocks_of` runs."""
    before, *parts = page.read_text(encoding="utf-8").split(NUMBERS)
    for part in parts:
        hidden, _, after = part.partition("-->")
        (block,) = blocks_of(hidden)
        paragraph = " ".join(before.rstrip().rpartition("\n\n")[2].split())
        for _, shown in transcript(block.text):
            assert shown.strip() in paragraph
        before = after


def run(session: Session, block: Block, before: Block | None, place: str) -> None:
    match block.language:
        case "bash":
            printed = session.shell(block.text)
            assert printed.code == 0, f"{place}: {printed.err}{printed.out}"
        case "console":
            for command, shown in transcript(block.text):
                printed = session.shell(command)
                now = printed.err + printed.out
                assert same(shown, now), f"{place}: $ {command}\n{now}\ninstead of\n{shown}"
        case "python":
            session.python(block.text, place)
        case "yaml":
            resolve(parse_document(block.text, place))
        case "sql":
            assert session.rows(block.text).count("\n") > 1, f"{place}: no rows"
        case "text" if before is not None and before.language == "sql":
            now = session.rows(before.text)
            assert same(block.text, now), f"{place}: the query gives\n{now}"
        case _:
            assert block.language in SHOWN_ONLY, f"{place}: nothing runs {block.language!r} blocks"


def test_only_the_set_up_of_the_readme_is_not_run() -> None:
    left_out = {
        (page, block.text) for page in PAGES for block in page_blocks(page) if not block.run
    }
    assert {page.name for page, _ in left_out} == {"README.md"}
    assert len(left_out) == 2
    assert all(
        text.startswith("python3 -m venv .venv && .venv/bin/pip install -q -e ")
        for _, text in left_out
    )


@pytest.mark.slow
def test_the_set_up_of_the_readme_ends_with_commands_that_work(tmp_path: Path) -> None:
    set_up = next(block for block in page_blocks(ROOT / "README.md") if not block.run)
    commands = re.findall(r"^\.venv/bin/(ttt .*?)(?: &&)?$", set_up.text, flags=re.MULTILINE)
    assert [command.split()[1] for command in commands] == ["fit", "player"]
    session = Session(tmp_path)
    for command in commands:
        printed = session.shell(command)
        assert printed.code == 0, printed.err
    assert "Morphy, Paul" in printed.out


def test_a_block_is_left_out_only_by_a_comment_right_above_it() -> None:
    marked, plain = blocks_of(
        f"{NOT_RUN} why -->\n```bash\nfalse\n```\n\ntext\n```bash\ntrue\n```\n"
    )
    assert not marked.run
    assert plain.run
    assert (plain.text, plain.line) == ("true\n", 7)


@pytest.mark.parametrize(
    ("shown", "printed", "expected"),
    [
        ("a 1.5\n", "a   1.5", True),
        ("a 1.5\n", "a 1.6", True),
        ("a 1.5\n", "a 1.7", False),
        ("sweeps 3\n", "sweeps 4", False),
        ("-17135.429398983233\n", "-17135.429399999999", True),
        ("a\n", "b", False),
        ("a\n", "a\nb", False),
        ("a\n...\n", "a\nb\nc", True),
        ("a\n...\nc\n...\ne\n", "a\nb\nc\nd\ne", True),
        ("a\n...\nd\n", "a\nb\nc", False),
        ("a\n...\na\n", "a", False),
        ("fitted 2026-01-01T10:00 UTC\n", "fitted 2027-02-03T11:12 UTC", True),
        ("", "", True),
        ("", "a", False),
    ],
)
def test_what_is_shown_is_what_is_printed(shown: str, printed: str, expected: bool) -> None:
    assert same(shown, printed) is expected


SCRIPT = """
ttt config show -s model.beta=300 | grep beta; ttt player nobody -r no.ttt; echo "exit $?"
echo 'date,white,black,result' | ttt games -; echo "exit $?"
cd .. && TTT_RUN={name}/elsewhere.ttt ttt top; ttt no-command; ttt games --help
"""


@pytest.mark.slow
def test_a_served_command_is_the_command(server: Server, tmp_path: Path) -> None:
    """Streams, folder, environment, exit codes, terminal, pipes."""
    text = SCRIPT.format(name=tmp_path.name).replace("\n", "\nset +e; ")
    session = Session(tmp_path)
    own = session.shell(text)
    session.environment["PATH"] = f"{server.folder}{os.pathsep}{session.environment['PATH']}"
    assert session.shell(text) == own
    assert "exit 3" in own.out
    assert "beta: 300" in own.out
