"""Which run answered is said when nobody named it; names of files say the format or are refused."""

from pathlib import Path

import pytest

from tests.support.commands import Ran
from tests.support.handmade import write_small_run
from ttt_cli.cli import console

SAID = "a.ttt: 7 games 1857-1862\n"


pytestmark = pytest.mark.usefixtures("here")


@pytest.mark.slow
@pytest.mark.parametrize(
    "command",
    ["player Morphy", "players", "top", "top --leaders", "versus Morphy Paulsen", "export skills", "evidence",
     "plot -o x.svg", "report -o x.html"],
)  # fmt: skip
def test_the_run_is_said_unless_it_was_named(command: str, ran: Ran) -> None:
    assert ran(command.split()).err.startswith(SAID)
    assert ran([*command.split(), "-q"]).err == ""
    assert SAID not in ran([*command.split(), "-r", "a.ttt"]).err


@pytest.mark.slow
def test_a_table_says_it_in_its_title_and_an_error_too(ran: Ran, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(console, "on_terminal", lambda: True)
    out, err = ran("player Morphy")
    assert SAID not in err
    assert "a.ttt: ttt, 7 games 1857-1862" in out
    assert ran("player Nobody", 2).err.startswith(f"{SAID}a.ttt: no player 'Nobody'")
    assert ran("top --at 1700", 2).err.startswith(SAID)


@pytest.mark.parametrize("command", ["top", "player morphy", "versus morphy anderssen", "players"])
def test_a_fit_that_had_not_converged_is_pointed_out(command: str, here: Path, ran: Ran) -> None:
    write_small_run(here / "b.ttt", converged=False)
    assert "did not converge" in ran(f"{command} -r b.ttt").err
