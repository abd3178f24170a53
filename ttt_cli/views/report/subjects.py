"""Pages of players and events: one each, or shared by those of a few games."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from typing import Final, NamedTuple

from ttt_cli.views.report.markup import folded, is_shared, lines, page, section, slug_of, text

_ID: Final = re.compile(r"(?<=<table) id=\S+|(?<=<h2) id=[^\s>]+")


class Subject(NamedTuple):
    """A player or an event.

    `address`: in its folder. `title`, `facts`: texts. `content`: HTML. `games`: lines of this `kind`, `year` as in
    `markup.lines`. `summary`: what folded games are called; they are not folded without one.
    """

    address: str
    title: str
    facts: str
    content: Sequence[str]
    kind: str
    games: Iterable[str]
    year: int | str = ""
    summary: str = ""

    def sections(self) -> list[str]:
        """All content of its page, as HTML; on a page of its own the games of a player are folded."""
        games = lines(self.kind, self.games, self.year)
        if self.summary and not is_shared(self.address):
            games = folded(self.summary, games)
        return [*self.content, section("Games", games)]


class SubjectPage(NamedTuple):
    """The name of a page in its folder, and its text."""

    name: str
    text: str


def subject_pages(
    site: str,
    shared_title: str,
    addresses: Sequence[str | None],
    subject_of: Callable[[int], Subject],
) -> Iterator[SubjectPage]:
    """Every page of players or events. `addresses`: of each, None without a page; `subject_of`: by their index.

    Pages that several subjects share are titled `shared_title`.
    """
    with_page = sorted((address, index) for index, address in enumerate(addresses) if address)
    for name, group in groupby(with_page, key=lambda item: item[0].partition("#")[0]):
        subjects = [subject_of(index) for _, index in group]
        first = subjects[0]
        if is_shared(first.address):
            yield SubjectPage(name, _shared_page(site, shared_title, subjects))
        else:
            yield SubjectPage(name, page(site, first.title, *first.sections(), facts=first.facts))


def _shared_page(site: str, title: str, subjects: Sequence[Subject]) -> str:
    """A page of several subjects; headings are a step lower, and only the parts themselves have ids."""
    content = ["<p class='turn all'><a href=#>all of this page</a></p>"]
    for subject in subjects:
        sections = "\n".join([html for html in subject.sections() if html])
        inner = _ID.sub("", sections).replace("<h2", "<h3").replace("</h2>", "</h3>")
        head = f"<h2>{text(subject.title)}</h2><p class=facts>{text(subject.facts)}</p>"
        content.append(f"<section id={slug_of(subject.address)}>{head}\n{inner}\n</section>")
    span = f"{subjects[0].title} – {subjects[-1].title}"
    return page(site, title, *content, facts=span, named=f"{title}: {span} – {site}")
