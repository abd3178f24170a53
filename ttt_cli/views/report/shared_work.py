"""Pages of a large site that another process makes, while this one computes probabilities and makes the others."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import Final

from ttt_cli.parallel.processes import available_cores, run_chains
from ttt_cli.runs.connection import RunReplaced
from ttt_cli.views.report.book import Book, BookSettings, make_plain_book
from ttt_cli.views.report.comparison import history_scripts
from ttt_cli.views.report.event_pages import event_subject
from ttt_cli.views.report.folder import SiteFile
from ttt_cli.views.report.markup import is_shared
from ttt_cli.views.report.player_pages import player_subject
from ttt_cli.views.report.subjects import subject_pages

_LARGE: Final = 100_000  # games from which on another process helps
_BEGIN: Final = "begin"
_PAGES: Final = "pages"


def simple_files(book: Book) -> Iterator[SiteFile]:
    """The files that need no probabilities of being the strongest: histories, events, players who share pages."""
    yield from history_scripts(book)
    few = "Events of a few games"
    events = subject_pages(
        book.title, few, book.event_pages.addresses, lambda event: event_subject(book, event)
    )
    for name, text in events:
        yield SiteFile(f"events/{name}", text)
    yield from player_files(book, shared=True)


def player_files(book: Book, *, shared: bool) -> Iterator[SiteFile]:
    """The pages of players: those that several share, or those of one each."""
    addresses = [
        address if is_shared(address) == shared else None for address in book.player_pages.addresses
    ]
    few = "Players of a few games"
    for name, text in subject_pages(
        book.title, few, addresses, lambda player: player_subject(book, player)
    ):
        yield SiteFile(f"players/{name}", text)


@dataclass(frozen=True)
class _SimpleFiles:
    """Makes `simple_files` in another process, of the run that was `created` then."""

    settings: BookSettings
    created: str

    def step(self, item: str, *, fresh: bool) -> list[SiteFile]:  # noqa: ARG002
        """Nothing to begin with, then the files."""
        if item == _BEGIN:
            return []
        run = self.settings.run
        with run:
            if run.meta.created != self.created:
                raise RunReplaced("the run was replaced meanwhile", where=run.name)
            return list(simple_files(make_plain_book(self.settings)))


@contextmanager
def simple_files_elsewhere(
    settings: BookSettings,
) -> Iterator[Callable[[Book], Iterator[SiteFile]]]:
    """Begin to make `simple_files` in another process if the run is large; yield a function that returns them.

    They are made here if the run is small, there is one processor, or the other process is lost.
    """
    run = settings.run
    if run.path is None or run.meta.games < _LARGE or available_cores() < 2:
        yield simple_files
        return
    worker = _SimpleFiles(settings, run.meta.created)
    chain = [_BEGIN, _PAGES]
    with closing(run_chains(worker, [chain], jobs=2, on_lost=lambda *_: None)) as results:
        has_begun = next(results, None) is not None

        def files(book: Book) -> Iterator[SiteFile]:
            made = next(results, None) if has_begun else None
            return simple_files(book) if made is None else iter(made)

        yield files
