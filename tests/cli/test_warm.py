"""`ttt warm`: what is compiled, and where it is kept."""

from pathlib import Path

import pytest

from tests.support.commands import Ran
from ttt_cli.kernels import compile as compiling
from ttt_cli.kernels import warm


@pytest.mark.slow
def test_it_compiles_what_is_missing_and_says_where(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ran: Ran
) -> None:
    monkeypatch.setattr(compiling, "FOLDER", str(tmp_path))
    monkeypatch.setattr(warm, "every_kernel", lambda: ({"layout": ("join_pairs",)},))
    monkeypatch.setattr(warm, "available_cores", lambda: 1)
    monkeypatch.setattr(warm._kernels("layout")["join_pairs"], "_compiled", None)
    assert ran("warm") == ("", f"1 kernel compiled into {tmp_path}\n")
    assert ran("warm") == ("", f"everything is already compiled, in {tmp_path}\n")


def test_without_a_folder_it_says_what_to_do(monkeypatch: pytest.MonkeyPatch, ran: Ran) -> None:
    monkeypatch.setattr(compiling, "FOLDER", "")
    assert ran("warm", 2).err.splitlines() == [
        "ttt: there is no folder where compiled kernels can be kept",
        "hint: name one in XDG_CACHE_HOME",
    ]
