import os
import signal
from threading import Event, get_ident, main_thread

import pytest

from ttt_cli.errors import ConfigError
from ttt_cli.interrupts import interruptible

needs_signals = pytest.mark.skipif(os.name != "posix", reason="needs the signals of POSIX")


def test_interruptible_work_gives_what_it_gives_and_raises_what_it_raises() -> None:
    assert interruptible(lambda: 7) == 7

    def refused() -> None:
        raise ConfigError("refused")

    with pytest.raises(ConfigError, match="refused"):
        interruptible(refused)


@needs_signals
def test_a_signal_is_heard_while_the_work_goes_on() -> None:
    go_on, ended = Event(), Event()

    def work() -> None:
        assert get_ident() != main_thread().ident
        signal.pthread_kill(main_thread().ident or 0, signal.SIGINT)
        go_on.wait()  # as compiled code, which looks at nothing
        ended.set()

    with pytest.raises(KeyboardInterrupt):
        interruptible(work)
    assert not ended.is_set()
    go_on.set()
    assert ended.wait(60)
