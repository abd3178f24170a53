"""The words of a site: all of them are listed, and all can be said otherwise."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.handmade import RECORDS, games_of, run_by
from tests.views.report.site.conftest import TOLD, run_of
from tests.views.report.site.pages import Page, broken
from tests.views.test_beside import RATINGS
from ttt_cli.api import fit
from ttt_cli.cli.main import run as ttt
from ttt_cli.errors import DataError
from ttt_cli.views.beside import read_beside
from ttt_cli.views.rankings.eligible import Eligible
from ttt_cli.views.report import words
from ttt_cli.views.report.site import build
from ttt_cli.views.report.site.build import write_site
from ttt_cli.views.report.words import LANG, all_words, read_words, say, say_line, speaking
from ttt_cli.views.templates import asset


class Noted(dict[str, str]):
    """A table of words that notes what it is asked for."""

    def __init__(self) -> None:
        super().__init__({LANG: "xx"})
        self.asked: set[str] = set()

    def get(self, key: str, default: str | None = None) -> str | None:  # type: ignore[override]
        self.asked.add(key)
        return super().get(key, default)


def in_scripts() -> Iterator[str]:
    """The texts that scripts say, also those in lists of heads."""
    for name in (*build._SCRIPTS, *build._COMPARE):
        text = asset(name)
        yield from re.findall(r'\bsay\(\s*"([^"]+)"', text)
        for heads in re.findall(r"_HEADS = \[(.*?)\]", text):
            yield from (head.removeprefix("#") for head in re.findall(r'"([^"]+)"', heads))


def test_all_that_is_said_is_listed_and_nothing_else(tmp_path: Path) -> None:
    noted = Noted()
    ratings = tmp_path / "ratings.csv"
    ratings.write_text(RATINGS, encoding="utf-8")
    run = run_of(TOLD, spellings=(("Morphy, Paul", "P. Morphy"), ("Kolisch, Ignaz", "Kolisch I")))
    write_site(run, tmp_path / "a", beside=read_beside(str(ratings), run), words=noted)
    write_site(run_by("year"), tmp_path / "b", Eligible(min_games=99), words=noted)
    listed = set(all_words())
    said = {text for text in noted.asked if not text.isdecimal()} | set(in_scripts())
    assert sorted(said - listed - {LANG}) == []
    assert all_words() == sorted(listed)


MARKED = {text: f"‹{text}›" for text in all_words()} | {LANG: "xx"}


def unmarked(text: str, *data: object) -> list[str]:
    """The words in a text of a page that are neither marked nor in the data."""
    known = {word.casefold() for one in data for word in re.findall(r"[^\W\d_]+", str(one))}
    text = text.replace("½", " ")
    while (inner := re.sub("‹[^‹›]*›", " ", text)) != text:
        text = inner
    return sorted({word for word in re.findall(r"[^\W\d_]{2,}", text) if word.casefold() not in known})


def sites(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Path, list[object]]]:
    """Sites of all kinds in marked words, and the data in each."""
    from ttt_cli.views.report.site import front, lines, year

    ratings = folder / "ratings.csv"
    ratings.write_text(RATINGS, encoding="utf-8")
    spellings = (("Morphy, Paul", "P. Morphy"), ("Kolisch, Ignaz", "Kolisch I"))
    run = run_of(TOLD, spellings=spellings)
    data: list[object] = [TOLD, spellings, RATINGS, "ratings csv memory skill histories ttt"]
    write_site(run, folder / "a", beside=read_beside(str(ratings), run), words=MARKED)
    yield folder / "a", data
    monkeypatch.setattr(lines, "OWN", 1)
    monkeypatch.setattr(lines, "FEW", 3)
    for module, name in ((year, "_RANKED"), (year, "_NEW"), (year, "_GAMES"), (front, "_LISTED")):
        monkeypatch.setattr(module, name, 1)
    loss = ("1862", "Morphy, Paul", "Loewe", "0-1", "?", "", "")
    scaled = run_of((*TOLD, loss), "month", scale=["Morphy, Paul @ 1858 = 2600"])
    write_site(
        scaled, folder / "b", Eligible(active=1.0, min_games=2, min_opponents=1, max_sd=300.0), words=MARKED
    )
    yield folder / "b", [*data, "Loewe"]
    write_site(run_by("year"), folder / "c", Eligible(min_games=99), words=MARKED)
    yield folder / "c", [RECORDS, *data]
    met = [
        (str(1850 + at), "Adams", f"Opponent {at % 8}", "1-0" if at % 3 else "1/2-1/2") for at in range(40)
    ]
    games = games_of(met)
    run = fit(games, "ttt-career")
    write_site(run, folder / "d", words=MARKED)
    yield folder / "d", [*data, "Adams Opponent"]


@pytest.mark.slow
def test_every_text_of_a_site_can_be_said_otherwise(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found: dict[str, list[str]] = {}
    for place, data in sites(tmp_path, monkeypatch):
        for path in sorted(place.rglob("*.html")):
            page = Page(path)
            labels = re.findall(
                r'(?:aria-label|placeholder|title)="?([^">]*)', path.read_text(encoding="utf-8")
            )
            if left := unmarked("\n".join([page.text, page.title, *labels]), *data):
                found[path.relative_to(tmp_path).as_posix()] = left
    assert found == {}


def test_a_site_speaks_ones_own_language(tmp_path: Path) -> None:
    table = {LANG: "de", "Number ones": "Nummer eins", "player": "Spieler", "Games": "Partien"}
    table["{} games"] = "{} Partien"
    place = tmp_path / "de.json"
    place.write_text(json.dumps(table), encoding="utf-8")
    write_site(run_of(TOLD), tmp_path / "s", words=read_words(str(place)))
    index = (tmp_path / "s" / "index.html").read_text(encoding="utf-8")
    assert '<html lang="de">' in index
    assert "<h2 id=number-ones>Nummer eins</h2>" in index
    assert Page(tmp_path / "s" / "index.html").tables["number-ones"][0][2] == "Spieler"
    assert "3 Partien" in (tmp_path / "s" / "events" / "1861-london-eng.html").read_text(encoding="utf-8")
    assert '"Games":"Partien"' in (tmp_path / "s" / "site.js").read_text(encoding="utf-8")
    assert broken(tmp_path / "s") == []
    assert words.spoken() == {}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[1]", "is no table of texts"),
        ('{"Players": 3}', "is no table of texts"),
        ("Players", "is no JSON"),
        ('{"Playerz": "Spieler"}', "'Playerz' is never said"),
        ('{"{} games": "Partien"}', "has not as many"),
    ],
)
def test_tables_that_cannot_be_meant_are_refused(text: str, message: str, tmp_path: Path) -> None:
    place = tmp_path / "words.json"
    place.write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match=message):
        read_words(str(place))


def test_values_stand_in_their_places() -> None:
    with speaking({"{} of {}": "{} von {}", "{} games, peak {}": "{} Partien, Gipfel {}"}):
        assert say("{} of {}", 2, 3) == "2 von 3"
        assert say_line("1,200 games, peak 2.5") == "1,200 Partien, Gipfel 2.5"
        assert say_line("7 others") == "7 others"
    assert say("{} of {}", 2, 3) == "2 of 3"


def test_the_command_takes_a_language(tmp_path: Path) -> None:
    from tests.support.handmade import put_small_run

    put_small_run(tmp_path / "a.ttt")
    (tmp_path / "de.json").write_text('{"lang": "de", "Years": "Jahre"}', encoding="utf-8")
    asked = ["-r", str(tmp_path / "a.ttt"), "-q", "--language", str(tmp_path / "de.json")]
    assert ttt(["report", f"{tmp_path / 's'}/", *asked]) == 0
    assert Page(tmp_path / "s" / "years.html").title.startswith("Jahre – ")
