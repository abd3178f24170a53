"""Pages in one Chromium for all tests, spoken to in its DevTools protocol over pipes."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from html import unescape
from itertools import count
from typing import Any, Final

CHROMIUM: Final = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
_OPTIONS: Final = (
    *(
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-background-networking",
        "--no-first-run",
    ),
    *("--disable-dev-shm-usage", "--remote-debugging-pipe"),
)
_ON_PIPES: Final = """
import fcntl, os, sys
command, answer = (fcntl.fcntl(int(number), fcntl.F_DUPFD, 10) for number in sys.argv[1:3])
os.dup2(command, 3), os.dup2(answer, 4)
os.execv(sys.argv[3], sys.argv[3:])
"""
_PATIENCE: Final = 4000  # virtual milliseconds in which a page comes to rest
_COLOURS: Final = {False: "light", True: "dark"}


class Browser:
    """A running browser. Every page is opened in a tab of its own; pages store nothing."""

    def __init__(self, command: int, answer: int) -> None:
        self._command, self._answer = command, answer
        self._numbers, self._heard = count(1), b""
        self._events: set[tuple[str, str]] = set()  # and the session of each

    def shown(self, address: str, *, dark: bool = False, width: int | None = None) -> str:
        """What a page became when all its scripts had run; `width`: of the window in pixels, as of a phone."""
        target = self._ask("Target.createTarget", url="about:blank")["targetId"]
        try:
            session = self._ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
            scheme = [{"name": "prefers-color-scheme", "value": _COLOURS[dark]}]
            self._ask("Emulation.setEmulatedMedia", session, features=scheme)
            if width is not None:
                size = {"width": width, "height": 844, "deviceScaleFactor": 1, "mobile": True}
                self._ask("Emulation.setDeviceMetricsOverride", session, **size)
            self._ask("Page.enable", session)
            self._ask("Page.navigate", session, url=address)
            self._await("Page.loadEventFired", session)
            self._ask(
                "Emulation.setVirtualTimePolicy",
                session,
                policy="pauseIfNetworkFetchesPending",
                budget=_PATIENCE,
            )
            self._await("Emulation.virtualTimeBudgetExpired", session)
            found = self._ask(
                "Runtime.evaluate", session, expression="document.documentElement.outerHTML"
            )
            return str(found["result"]["value"])
        finally:
            self._ask("Target.closeTarget", targetId=target)

    def told(self, address: str, *, dark: bool = False, width: int | None = None) -> Any:
        """What a script in a page says of it, as JSON in its element `told`."""
        page = self.shown(address, dark=dark, width=width)
        text = page.partition('<pre id="told">')[2].partition("</pre>")[0]
        assert text, page[-2000:]
        return json.loads(unescape(text))

    def _ask(self, method: str, session: str = "", **parameters: Any) -> Any:
        number = next(self._numbers)
        message = {"id": number, "method": method, "params": parameters}
        os.write(
            self._command,
            json.dumps(message | ({"sessionId": session} if session else {})).encode() + b"\0",
        )
        while (found := self._next()).get("id") != number:
            pass
        assert "error" not in found, found
        return found["result"]

    def _await(self, event: str, session: str) -> None:
        while (event, session) not in self._events:
            self._next()

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._heard:
            more = os.read(self._answer, 1 << 16)
            assert more, "the browser has ended"
            self._heard += more
        line, _, self._heard = self._heard.partition(b"\0")
        found: dict[str, Any] = json.loads(line)
        if "method" in found:
            self._events.add((found["method"], found.get("sessionId", "")))
        return found


@contextmanager
def running_browser() -> Iterator[Browser]:
    """A browser that ends with the block."""
    assert CHROMIUM
    (heard, command), (answer, said) = os.pipe(), os.pipe()
    start = [sys.executable, "-ISc", _ON_PIPES, str(heard), str(said), CHROMIUM, *_OPTIONS]
    with (
        tempfile.TemporaryDirectory(prefix="ttt-browser-", ignore_cleanup_errors=True) as profile,
        subprocess.Popen(
            [*start, f"--user-data-dir={profile}"],
            pass_fds=[heard, said], stderr=subprocess.DEVNULL,
        ),
    ):  # fmt: skip
        os.close(heard)
        os.close(said)
        try:
            yield Browser(command, answer)
        finally:  # which ends it
            os.close(command)
            os.close(answer)
