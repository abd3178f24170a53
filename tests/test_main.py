"""How the command leaves the process."""

import os

import pytest

from ttt_cli import __main__
from ttt_cli.cli import main


@pytest.mark.parametrize("code", [129, 130, 143])
def test_after_a_signal_nothing_is_taken_down_that_a_thread_may_use(code, monkeypatch):
    """Compiled code that still runs while Python and its libraries are taken down ends in a segmentation fault."""
    left = []
    monkeypatch.setattr(main, "run", lambda: code)
    monkeypatch.setattr(os, "_exit", left.append)
    with pytest.raises(SystemExit):
        __main__.main()
    assert left == [code]


@pytest.mark.parametrize("code", [0, 2, 4, 141])
def test_otherwise_python_ends_as_it_does(code, monkeypatch):
    monkeypatch.setattr(main, "run", lambda: code)
    monkeypatch.setattr(os, "_exit", None)
    with pytest.raises(SystemExit) as caught:
        __main__.main()
    assert caught.value.code == code
