"""Take the pictures of docs/images/site: pages of the sample's site in Chromium, `python docs/make_site.py`."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

from make_gallery import GAMES, IMAGES, ttt

PLACE: Final = IMAGES.with_name("site")
TITLE: Final = "Masters of 1834 to 1941"
PAGES: Final = {  # page, width and height
    "index": ("index.html", 1240, 1240),
    "compare": (
        "compare.html#p=morphy-paul:1858,lasker-emanuel:1914,capablanca-jose-raul:1921",
        1000,
        860,
    ),
    "player-phone": ("players/lasker-emanuel.html", 390, 760),
    "event": ("events/1914-st-petersburg-f.html", 1000, 420),
    "year": ("years/1914.html", 1240, 820),
}
_QUIET: Final = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--no-first-run",
)


def main() -> None:
    """Fit, write the site, take the pictures."""
    browser = next(
        filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
    )
    if browser is None:
        sys.exit("no chromium here")
    PLACE.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        ttt("fit", str(GAMES), "-q", "-o", str(folder / "a.ttt"))
        ttt("report", str(folder / "site"), "-q", "-r", str(folder / "a.ttt"), "--title", TITLE)
        for picture, (page, width, height) in PAGES.items():
            path, _, state = page.partition("#")
            address = f"{(folder / 'site' / path).as_uri()}{f'#{state}' if state else ''}"
            options = (
                *(
                    *_QUIET,
                    "--hide-scrollbars",
                    "--virtual-time-budget=3000",
                    f"--window-size={width},{height}",
                ),
                *(f"--user-data-dir={folder / 'profile'}", f"--screenshot={PLACE / picture}.png"),
            )
            subprocess.run([browser, *options, address], check=True, capture_output=True)


if __name__ == "__main__":
    main()
