"""Pages of a large site that another process makes, while this one computes probabilities and makes the others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

from ttt_cli.parallel.processes import available_cores, run_chains
from ttt_cli.runs.connection import RunReplaced
from ttt_cli.views.report.book import Book, BookSettings, make_plain_book
from ttt_cli.views.report.comparison import history_scripts
from ttt_cli.views.report.event_pages import event_subject
from ttt_cli.views.report.folder import SiteFile
from ttt_cli.views.report.influences import influences_of
from ttt_cli.views.report.markup import is_shared
from ttt_cli.views.report.peak_influence import Influences
from ttt_cli.views.report.player_pages import player_subject
from ttt_cli.views.report.subjects import subject_pages

_LARGE: Final = 100_000  # games from which on another process helps
_BEGIN: Final = "begin"
_INFLUENCES: Final = "influences"
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


class _Made(NamedTuple):
    """What a step of the other process has made."""

    influences: Influences
    files: Sequence[SiteFile] = ()


@dataclass(frozen=True)
class _SharedSteps:
    """Makes influences and `simple_files` in another process, of the run that was `created` then."""

    settings: BookSettings
    created: str

    def step(self, item: str, *, fresh: bool) -> _Made:  # noqa: ARG002
        """Nothing to begin with, then influences, then the files."""
        if item == _BEGIN:
            return _Made({})
        run = self.settings.run
        with run:
            if run.meta.created != self.created:
                raise RunReplaced("the run was replaced meanwhile", where=run.name)
            if item == _INFLUENCES:
                return _Made(influences_of(self._book))
            return _Made({}, list(simple_files(self._book)))

    @cached_property
    def _book(self) -> Book:
        return make_plain_book(self.settings)


@dataclass(frozen=True)
class SharedWork:
    """Influences and simple files, to be asked for in this order: those of `results`, of another process.

    What it has not made is made here.
    """

    results: Iterator[_Made]

    def influences(self, book: Book) -> Influences:
        """The influences on the peaks of the best players."""
        made = next(self.results, None)
        return influences_of(book) if made is None else made.influences

    def files(self, book: Book) -> Iterator[SiteFile]:
        """The files of `simple_files`."""
        made = next(self.results, None)
        return simple_files(book) if made is None else iter(made.files)


@contextmanager
def shared_work(settings: BookSettings) -> Iterator[SharedWork]:
    """Begin to make influences and `simple_files` in another process if the run is large.

    They are made here if the run is small, there is one processor, or the other process is lost.
    """
    run = settings.run
    if run.path is None or run.meta.games < _LARGE or available_cores() < 2:
        yield SharedWork(iter(()))
        return
    steps = _SharedSteps(settings, run.meta.created)
    chain = [_BEGIN, _INFLUENCES, _PAGES]
    with closing(run_chains(steps, [chain], jobs=2, on_lost=lambda *_: None)) as results:
        next(results, None)
        yield SharedWork(results)
