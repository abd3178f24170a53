"""The whole site, written into a folder: filled beside its place, and moved there when it is complete."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ttt_cli.errors import RunError
from ttt_cli.files import real_place, workplace
from ttt_cli.progress import SILENT, Progress
from ttt_cli.runs.run import Run
from ttt_cli.views.beside import Beside
from ttt_cli.views.rankings.eligible import Eligible, eligible
from ttt_cli.views.report.site.book import Book, open_book
from ttt_cli.views.report.site.compare import compare_page, events_script, history_scripts, names_script
from ttt_cli.views.report.site.event import event_pages
from ttt_cli.views.report.site.front import event_lists, front_page, player_lists, year_list
from ttt_cli.views.report.site.lines import firsts
from ttt_cli.views.report.site.player import player_pages
from ttt_cli.views.report.site.year import year_page
from ttt_cli.views.report.words import say, speaking, spoken
from ttt_cli.views.templates import asset, embedded, script

MOST: Final = 30_000  # players with pages of their own, and events
_SCRIPTS: Final = ("base.js", "element.js", "fold.js", "combobox.js", "lines.js", "site.js")
_LINES: Final = (
    ("record", "Of every event: year, name, place, games, points, expected, performance. Of every game: date, colour, "
     "opponent, result, expected."),
    ("rounds", "Round, date, white, black, result, expected of white."),
)  # fmt: skip
_COMPARE: Final = ("periods.js", "dom.js", "table.js", "axes.js", "curves.js", "hover.js", "compare.js")
MARK: Final = "made-by-ttt.txt"
_MARK_TEXT: Final = "This folder was written by `ttt report`, which replaces it as a whole.\n"
_OURS: Final = frozenset({MARK, "players", "years", "events", "data"})
_ENDINGS: Final = (".html", ".css", ".js")
Write = Callable[[str, str], None]


@dataclass(frozen=True)
class Written:
    """What a site came to: pages, bytes, and how many players and events have no page of their own."""

    files: int
    size: int
    players_left_out: int
    events_left_out: int


def write_site(
    run: Run,
    place: Path,
    limits: Eligible | None = None,
    *,
    title: str | None = None,
    most: int = MOST,
    beside: Beside | None = None,
    words: Mapping[str, str] | None = None,
    progress: Progress = SILENT,
) -> Written:
    """Write a folder of pages about a run, complete or not at all; equal runs give equal bytes.

    `limits`: who is eligible for rankings (None: by default). `most`: players with a page of their own, those of the
    most games, and events likewise. `beside`: published ratings to show, too. `words`: what to say instead of
    English texts (`words.read_words`). Raises RunError when it cannot be written.
    """
    files = size = 0
    with run, new_folder(place) as write, speaking(words):
        book = open_book(run, limits or eligible(run), title or f"{run.name}: skill histories", most, beside)
        with progress.task("writing pages", None, "pages") as bar:
            for path, text in site_files(book):
                write(path, text)
                files, size = files + 1, size + len(text.encode("utf-8", "replace"))
                bar.advance(1)
    left_out = (sum(one.slug is None for one in found) for found in (book.people, book.events.all))
    return Written(files, size, *left_out)


def site_files(book: Book) -> Iterator[tuple[str, str]]:
    """Path and text of every file."""
    yield "site.css", asset("style.css") + asset("site.css") + "".join(map(_before, _LINES))
    pages = {"players": [one.page for one in book.people], "events": [one.page for one in book.events.all]}
    given = {"WORDS": spoken(), "SHARED": {name: firsts(some) for name, some in pages.items()}}
    constants = "".join(f"globalThis.{name} = {embedded(value)};\n" for name, value in given.items())
    yield "site.js", constants + script(_SCRIPTS)
    yield "data/names.js", names_script(book)
    yield "data/events.js", events_script(book)
    yield "compare.js", script(_COMPARE)
    yield "compare.html", compare_page(book)
    yield from history_scripts(book)
    yield "index.html", front_page(book)
    yield "years.html", year_list(book)
    yield from player_lists(book)
    yield from event_lists(book)
    for year in book.all_years:
        yield f"years/{year}.html", year_page(book, year)
    for folder, found in (("events", event_pages(book)), ("players", player_pages(book))):
        for name, text in found:
            yield f"{folder}/{name}", text


def _before(lines: tuple[str, str]) -> str:
    """The style that says what stands in lines, while no script has made tables of them."""
    name, english = lines
    told = "".join(f"\\{ord(c):x} " if c in '"\\<\n' else c for c in say(english))
    return f':is(main, section:target) > .{name}::before {{ content: "{told}"; }}\n'


@contextmanager
def new_folder(place: Path) -> Iterator[Write]:
    """What writes a file of a site: its path within it, and its text.

    When the block ends well the folder takes the place of an older site or of an empty folder. Raises RunError, and
    leaves `place` as it is, when it cannot be written, or when something else stands there.
    """
    place = real_place(place)
    _refuse_others(place)
    try:
        with workplace(place) as room:
            new, old = room / "new", room / "old"
            folders: set[str] = set()

            def write(path: str, text: str) -> None:
                folder = path.rpartition("/")[0]
                if folder not in folders:
                    (new / folder).mkdir(parents=True, exist_ok=True)
                    folders.add(folder)
                with (new / path).open("w", encoding="utf-8", errors="replace", newline="\n") as file:
                    file.write(text)

            write(MARK, _MARK_TEXT)
            yield write
            _refuse_others(place)
            if place.exists():
                place.rename(old)
            try:
                new.rename(place)
            except OSError:
                if old.exists():
                    old.rename(place)
                raise
    except OSError as error:
        raise RunError(f"cannot be written: {error.strerror or error}", where=str(place)) from error


def _refuse_others(place: Path) -> None:
    """Raise RunError where a site would take the place of anything that is not one."""
    where = str(place)
    if not place.parent.is_dir():
        raise RunError("its folder does not exist", where=where, hint=f"mkdir -p {place.parent}")
    if not place.exists():
        return
    if not place.is_dir():
        raise RunError("is a file, not a folder", where=where, hint="name a folder, or a page NAME.html")
    names = {entry.name for entry in place.iterdir()}
    others = sorted(name for name in names if name not in _OURS and not name.endswith(_ENDINGS))
    if names and (MARK not in names or others):
        what = f" ({others[0]})" if others else ""
        hint = "name a new folder, or empty this one"
        raise RunError(f"holds what `ttt report` did not write{what}", where=where, hint=hint)
