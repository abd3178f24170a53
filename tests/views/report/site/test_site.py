"""A small site read back: it is the same every time, its pages hang together and say what the run says."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from tests.support.builders import fit_rows, make_games
from tests.support.handmade import CONFIG, games_of, run_by
from tests.support.handmade import run_of as small_run_of
from tests.views.report.site.conftest import TOLD, run_of
from tests.views.report.site.pages import Page, all_pages, broken
from ttt_cli.games.people import PeopleTable
from ttt_cli.games.table import GAME_COLUMNS, Games
from ttt_cli.runs.write import memory_run
from ttt_cli.views import players
from ttt_cli.views.history.events import Event
from ttt_cli.views.history.people import Person
from ttt_cli.views.history.played import played_games
from ttt_cli.views.player_book import book_rows
from ttt_cli.views.rankings.eligible import Eligible, eligible
from ttt_cli.views.rankings.leaders import leaders, reign_rows
from ttt_cli.views.rankings.peaks import most_dominant, peaks
from ttt_cli.views.records.table import record_rows
from ttt_cli.views.report import links, lists, markup
from ttt_cli.views.report.book import BookSettings, make_book
from ttt_cli.views.report.careers import rivals, spans_of
from ttt_cli.views.report.site import site_files, write_site
from ttt_cli.views.report.subjects import Subject
from ttt_cli.views.report.year_pages import moved


def test_every_link_leads_to_a_page_of_the_site(site: Path) -> None:
    pages = all_pages(site)
    assert broken(site) == []
    assert all(page.open == [] for page in pages.values())
    assert all(len(page.ids) == len(set(page.ids)) for page in pages.values())
    names = {name for name in pages if name.startswith("players/")}
    assert names == {
        f"players/{slug}.html"
        for slug in ("anderssen-adolf", "kolisch-ignaz", "morphy-paul", "paulsen-louis")
    }
    assert {f"years/{year}.html" for year in (1857, 1858, 1859, 1861)} <= set(pages)
    texts = {
        path.name: path.read_text(encoding="utf-8") for path in site.rglob("*") if path.is_file()
    }
    assert [name for name, text in texts.items() if re.search("https?://", text)] == []
    assert "all" not in pages["events.html"].ids  # a list of one part has no list of its parts
    assert '"years":[1857,1]' in texts["compare.html"]  # the first, and the step


def test_equal_runs_give_equal_bytes(site: Path, tmp_path: Path) -> None:
    write_site(run_of(TOLD), tmp_path / "again")
    here, there = (
        {
            path.relative_to(place).as_posix(): path.read_bytes()
            for path in place.rglob("*")
            if path.is_file()
        }
        for place in (site, tmp_path / "again")
    )
    assert here.keys() == there.keys()
    differ = [name for name in here if here[name] != there[name]]
    assert set(differ) <= {"index.html"}  # which says when the run was made


def test_a_players_page_has_every_game_with_what_was_expected(site: Path) -> None:
    page = Page(site / "players" / "morphy-paul.html")
    head, *rows = page.tables["games"]
    assert head == ["date", "colour", "opponent", "result", "expected", "event"]
    assert [row[:4] for row in rows] == [
        ["1857", "W", "Paulsen, Louis", "1"],
        ["1857", "B", "Paulsen, Louis", "½"],
        ["1858-12-20", "B", "Anderssen, Adolf", "1"],
        ["1858-12-27", "B", "Anderssen, Adolf", "0"],
        ["1858-12-28", "B", "Anderssen, Adolf", "1"],
    ]
    assert [row[5] for row in rows] == ["New York USA"] * 2 + ["Paris m"] * 3
    assert [row[:2] + row[2:5] for row in page.tables["events"][1:]] == [
        ["1857", "New York USA", "", "2", "1.5"],
        ["1858", "Paris m", "", "3", "2"],
    ]
    assert [row[:3] for row in page.tables["opponents"][1:]] == [
        ["Anderssen, Adolf", "3", "+2 =0 −1"],
        ["Paulsen, Louis", "2", "+1 =1 −0"],
    ]
    assert [row[0] for row in page.tables["years"][1:]] == ["1857", "1858"]


def test_a_years_page_ranks_and_tells_who_moved(site: Path) -> None:
    years = {year: Page(site / "years" / f"{year}.html").tables for year in (1859, 1860, 1861)}
    ranking = years[1861]["ranking"][1:]
    places = {row[2]: int(row[0]) for row in years[1860]["ranking"][1:]}
    for row in ranking:
        by = places[row[2]] - int(row[0])
        assert row[1] == (f"▲{by}" if by > 0 else f"▼{-by}" if by < 0 else "=")
    assert [int(row[0]) for row in ranking] == list(range(1, len(ranking) + 1))
    assert {row[2]: row[1] for row in years[1859]["ranking"][1:]}["Kolisch, Ignaz"] == "new"
    assert [row[0] for row in years[1859]["newcomers"][1:]] == ["Kolisch, Ignaz"]
    assert years[1861]["events"][1][:3] == ["London ENG", "3", "3"]
    assert "games" not in years[1861]
    assert years[1859]["games"][1][1:4] == ["Paulsen, Louis", "Kolisch, Ignaz", "1–0"]


def test_moves_are_counted_in_places() -> None:
    assert [moved(2, 5, new=False), moved(5, 2, new=False), moved(2, 2, new=True)] == [
        "▲3",
        "▼3",
        "=",
    ]
    assert [moved(1, None, new=True), moved(1, None, new=False)] == ["new", "in"]


def test_a_round_robin_has_a_crosstable_and_a_match_its_results_by_round(site: Path) -> None:
    london = Page(site / "events" / "1861-london-eng.html").tables
    assert [row[:6] for row in london["crosstable"][1:]] == [
        ["1", "Paulsen, Louis", "1.5", "·", "1", "½"],
        ["2", "Anderssen, Adolf", "1", "0", "·", "1"],
        ["3", "Kolisch, Ignaz", "0.5", "½", "0", "·"],
    ]
    paris = Page(site / "events" / "1858-paris-m.html").tables["crosstable"]
    assert paris[1][:5] == ["1", "Morphy, Paul", "2", "·", "110"]


def test_an_event_with_unknown_games_has_points_out_of_games_and_no_places(tmp_path: Path) -> None:
    told = [
        *TOLD[:8],
        ("1861", "Paulsen, Louis", "Morphy, Paul", "0-1", "London", "London ENG", ""),
    ]
    told += [("1861", "Morphy, Paul", "Kolisch, Ignaz", "1-0", "London", "London ENG", "")]
    told += [("1861", "Morphy, Paul", "Anderssen, Adolf", "1-0", "London", "London ENG", "")]
    write_site(run_of(told), tmp_path / "s")
    page = Page(tmp_path / "s" / "events" / "1861-london-eng.html")
    assert "5 of 6 possible games known: no places" in page.text
    head, *rows = page.tables["crosstable"]
    assert head == [
        "no",
        "player",
        "points",
        "1",
        "2",
        "3",
        "4",
        "expected",
        "performance",
        "skill",
    ]
    assert [[*row[:7], row[8]] for row in (rows[0], rows[3])] == [
        ["1", "Morphy, Paul", "3 of 3", "·", "1", "1", "1", "all won"],
        ["4", "Kolisch, Ignaz", "0 of 2", "0", "0", "", "·", "all lost"],
    ]
    events = Page(tmp_path / "s" / "players" / "morphy-paul.html").tables["events"][1:]
    assert events[-1][:5] == ["1861", "London ENG", "", "3", "3"]
    heads = Page(tmp_path / "s" / "years" / "1861.html").tables["events"][0]
    assert heads == ["event", "games", "players"]  # no column of winners, of whom none is known


def test_a_players_page_begins_with_a_sentence_and_the_best_events(site: Path) -> None:
    page = Page(site / "players" / "morphy-paul.html")
    assert "Number one in 1858" in page.text or "Best rank" in page.text
    assert "Scored 3.5 of 5 points." in page.text
    head, *rows = page.tables["best-events"]
    assert head == ["year", "event", "place", "points", "expected", "performance"]
    assert [row[:4] for row in rows] == [["1858", "Paris m", "1", "2 of 3"]]


def test_games_are_folded_under_a_summary_on_a_page_of_ones_own() -> None:
    subject = Subject("a.html", "A", "", ["<p>about"], "record", ["1-0"], summary="all games")
    assert "<details><summary>all games</summary>" in subject.sections()[-1]
    shared = subject._replace(address="few_0.html#a")
    assert "<details>" not in shared.sections()[-1]
    assert subject._replace(summary="").sections() == shared.sections()


def test_years_in_a_row_are_one_span() -> None:
    assert [str(span) for span in spans_of([1890, 1891, 1892, 1914, 1916, 1917])] == [
        "1890–1892", "1914", "1916–1917",
    ]  # fmt: skip


def test_rivals_are_drawn_in_the_years_of_the_player() -> None:
    told = [
        ("1850", "Anderssen, Adolf", "Paulsen, Louis", "1-0", "", "", ""),
        *(
            (str(year), "Morphy, Paul", rival, "1-0", "", "", "")
            for year in range(1855, 1860)
            for rival in ("Anderssen, Adolf", "Paulsen, Louis")
        ),
    ]
    run = run_of(told)
    book = make_book(BookSettings(run, eligible(run), "", 9))
    player = book.people.number["Morphy, Paul"]
    drawn = {name: (first, len(means)) for name, first, means in rivals(book, player)}
    assert drawn == {"Anderssen": (1855, 5), "Paulsen": (1855, 5)}


def test_the_title_is_the_files_name_made_readable() -> None:
    assert markup.readable("old_masters-1900.ttt") == "Old masters 1900: skill histories"


def test_pages_have_no_marks_of_messages(site: Path) -> None:
    for page in all_pages(site).values():
        assert "`" not in page.text
        assert "+-" not in page.text


def test_the_number_ones_are_those_of_the_commands(tmp_path: Path) -> None:
    run = run_of(TOLD)
    limits = Eligible(active=2.0)
    write_site(run, tmp_path / "s", limits)
    told = {
        row[0]: row[1] for row in Page(tmp_path / "s" / "years.html").tables["years"][1:] if row[1]
    }
    assert told == {one.period: one.player for one in leaders(run, limits)[0]}
    rows = Page(tmp_path / "s" / "index.html").tables["number-ones"][1:]
    wanted = [
        [first, last, player, str(years), f"{p:.2f}", f"{least:.2f}", f"{mean:.0f} ± {sd:.0f}", at]
        for first, last, player, years, p, mean, sd, at, least, *_ in reign_rows(run, limits).rows
    ]
    assert rows == wanted


def test_the_greatest_are_those_of_the_commands(site: Path) -> None:
    run = run_of(TOLD)
    page = Page(site / "index.html")
    shown = [row[1:3] for row in page.tables["the-highest-peaks"][1:]]
    assert shown == [list(row[1:3]) for row in peaks(run, eligible(run), 50).rows]
    shown = [[*row[1:3], row[3]] for row in page.tables.get("the-most-dominant", [[]])[1:]]
    assert shown == [
        [*row[1:3], f"{row[3]:.0f}"] for row in most_dominant(run, eligible(run), 50).rows
    ]


@pytest.mark.parametrize("period", ["year", "month", "day"])
def test_years_have_pages_whatever_the_periods_also_of_a_run_without_events(
    period: str, tmp_path: Path
) -> None:
    write_site(run_by(period), tmp_path / "s")  # type: ignore[arg-type]
    assert broken(tmp_path / "s") == []
    assert (tmp_path / "s" / "years" / "1858.html").exists()
    front = Page(tmp_path / "s" / "index.html").text
    assert "1857–1862" in front
    assert "The most dominant" not in front  # none of four has five others to lead over
    assert len(Page(tmp_path / "s" / "players" / "morphy-paul.html").tables["games"]) == 6
    assert "No events are known" in Page(tmp_path / "s" / "events.html").text


def test_the_list_of_players_starts_with_the_strongest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Eligible ones come first; pages of all by name follow where one page has not all of them."""
    limits = Eligible(min_games=4)  # Kolisch has 3, and the second highest skill
    write_site(run_of(TOLD), tmp_path / "s", limits)
    strongest = ["Paulsen, Louis", "Anderssen, Adolf", "Morphy, Paul", "Kolisch, Ignaz"]
    rows = Page(tmp_path / "s" / "players.html").tables["players"][1:]
    assert [row[0] for row in rows] == strongest
    assert int(rows[3][4]) > int(rows[2][4])
    monkeypatch.setattr(lists, "_LISTED", 3)
    write_site(run_of(TOLD), tmp_path / "t", limits)
    pages = [Page(tmp_path / "t" / f"players{part}.html") for part in ("", "~1", "~2")]
    assert "4 in all; here the 3 strongest" in pages[0].text
    assert [[name for name, *_ in page.tables["players"][1:]] for page in pages] == [
        strongest[:3], ["Anderssen, Adolf", "Kolisch, Ignaz", "Morphy, Paul"], ["Paulsen, Louis"],
    ]  # fmt: skip
    assert broken(tmp_path / "t") == []


def test_fewer_pages_are_those_of_the_most_games(tmp_path: Path) -> None:
    done = write_site(run_of(TOLD), tmp_path / "s", most=2)
    assert (done.players_left_out, done.events_left_out) == (2, 1)
    own = {path.stem for path in (tmp_path / "s" / "players").iterdir()}
    assert own == {"anderssen-adolf", "morphy-paul"}
    assert broken(tmp_path / "s") == []
    assert "Kolisch, Ignaz" in Page(tmp_path / "s" / "players.html").text


def test_of_events_and_players_with_equally_many_games_the_first_have_a_page() -> None:
    events = [Event(f"Open {number}", 1900, f"1900 open {number}", 5) for number in range(4)]
    people = [
        Person(name, name.lower(), 5.0, 2.0, 1.0, 2.0, 3, 1900, 1900, "1900", 1500.0, None)
        for name in "ABCD"
    ]
    by_event = links.event_links(events, 2)
    by_player = links.player_links(people, np.full(4, 5), 2)
    assert by_event.addresses == ["1900-open-0.html", "1900-open-1.html", None, None]
    assert by_player.addresses == ["a.html", "b.html", None, None]


@pytest.fixture
def shared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A site on which three players and one event have pages of their own, the others share one page."""
    monkeypatch.setattr(links, "OWN_PAGES", 1)
    monkeypatch.setattr(links, "FEW_GAMES", 3)
    monkeypatch.setattr(links, "SHARED_PAGES", 1)
    write_site(run_of(TOLD), tmp_path / "shared")
    return tmp_path / "shared"


def test_players_and_events_of_a_few_games_share_pages(shared: Path, site: Path) -> None:
    own = ["anderssen-adolf.html", "morphy-paul.html", "paulsen-louis.html"]
    assert sorted(path.name for path in (shared / "players").iterdir()) == sorted(
        [*own, "few_0.html"]
    )
    events = sorted(path.name for path in (shared / "events").iterdir())
    assert events == ["1858-paris-m.html", "few_0.html"]
    assert broken(shared) == []
    pages = all_pages(shared)
    assert all(page.open == [] and len(page.ids) == len(set(page.ids)) for page in pages.values())
    assert pages["players/few_0.html"].sections == ["kolisch-ignaz"]
    assert pages["events/few_0.html"].sections == ["1857-new-york-usa", "1861-london-eng"]
    together, alone = pages["players/few_0.html"], Page(site / "players" / "kolisch-ignaz.html")
    assert together.tables["kolisch-ignaz games"] == alone.tables["games"]
    text = (shared / "players" / "anderssen-adolf.html").read_text(encoding="utf-8")
    assert "\t<i>Kolisch, Ignaz</i>\t" in text
    assert "1861\t<i>London ENG</i>\t" in text
    text = (shared / "years" / "1861.html").read_text(encoding="utf-8")
    assert "<a href=../players/few_0.html#kolisch-ignaz>Kolisch, Ignaz</a>" in text
    assert "<a href=../events/few_0.html#1861-london-eng>London ENG</a>" in text
    assert '["Kolisch, Ignaz",1859,1861,3,0,1]' in (shared / "data" / "names.js").read_text(
        encoding="utf-8"
    )


def test_shared_pages_are_small_and_all_parts_are_there() -> None:
    games = np.arange(7000)[::-1] // 500
    slugs = [f"player-{at:06}" for at in range(7000)]
    found = links.addresses(slugs, games)
    own = [place for place in found if place and "#" not in place]
    assert own == [f"{slug}.html" for slug in slugs[:3000]]
    assert max(Counter(place.partition("#")[0] for place in found[3000:] if place).values()) < 40
    assert [place and place.partition("#")[2] for place in found[3000:]] == slugs[3000:]
    assert links.addresses([None, "a"], np.array([1, 1])) == [None, "a.html"]


def test_blanks_of_any_kind_in_names_break_no_line(tmp_path: Path) -> None:
    names = ("A\tB", "C\nD\r", "E\u2028F")
    told = [
        ("1850", one, other, "1-0", f"{one} open", "?", "1\t2")
        for one, other in zip(names, (*names[1:], names[0]), strict=True)
    ]
    write_site(run_of(told), tmp_path / "s")
    page = Page(tmp_path / "s" / "players" / "a-b.html")
    assert {tuple(row[1:4]) for row in page.tables["games"][1:]} == {
        ("W", "C D", "1"),
        ("B", "E F", "0"),
    }
    assert {row[5] for row in page.tables["games"][1:]} == {"A B open", "E F open"}
    assert broken(tmp_path / "s") == []


def test_united_spellings_and_ones_own_title_are_shown(tmp_path: Path) -> None:
    spellings = (("Morphy, Paul", "P. <Morphy>"), ("Morphy, Paul", "Paul M."))
    write_site(run_of(TOLD, spellings=spellings), tmp_path / "s", title="Chess & <Masters>")
    morphy, anderssen = (
        Page(tmp_path / "s" / "players" / f"{one}.html")
        for one in ("morphy-paul", "anderssen-adolf")
    )
    assert "also written: P. <Morphy>; Paul M." in morphy.text
    assert "also written" not in anderssen.text
    assert morphy.title == "Morphy, Paul – Chess & <Masters>"
    assert Page(tmp_path / "s" / "index.html").title == "Chess & <Masters>"


def test_what_is_known_of_players_is_in_lists_and_rankings(tmp_path: Path) -> None:
    """Ages are those in the middle of the year; a field that nobody has is no column."""
    known = {"Morphy, Paul": ("1837-06-22", "USA", ""), "Anderssen, Adolf": ("1818", "G<R", "")}
    people = PeopleTable(("born", "federation", "title"), known)
    write_site(run_of(TOLD, people=people), tmp_path / "s")
    head, *rows = Page(tmp_path / "s" / "players.html").tables["players"]
    assert head[-2:] == ["born", "federation"]
    assert {row[0]: row[-2:] for row in rows if row[-1]} == {
        "Anderssen, Adolf": ["1818", "G<R"], "Morphy, Paul": ["1837-06-22", "USA"],
    }  # fmt: skip
    head, *rows = Page(tmp_path / "s" / "years" / "1858.html").tables["ranking"]
    assert head[-2:] == ["age", "federation"]
    assert {row[2]: row[-2:] for row in rows if row[-1]} == {
        "Anderssen, Adolf": ["40", "G<R"], "Morphy, Paul": ["21", "USA"],
    }  # fmt: skip


def test_exhibitions_are_marked_and_have_no_performance(tmp_path: Path) -> None:
    one, others = "Lasker, E", ("A, a", "B, b", "C, c")
    told = [
        ("1900", one, other, "1/2-1/2", event, "", "")
        for event in ("Simul", "Blindfold", "Cup")
        for other in others
    ]
    told += [("1900", white, black, "1-0", "Blindfold tournament", "", "") for white, black in
             ((one, "A, a"), ("A, a", "B, b"), ("B, b", one))]  # fmt: skip
    write_site(run_of(told), tmp_path / "s")
    year = {
        row[0]: row for row in Page(tmp_path / "s" / "years" / "1900.html").tables["events"][1:]
    }
    assert sorted(year) == ["Blindfold (blindfold)", "Blindfold tournament", "Cup", "Simul (simul)"]
    events = Page(tmp_path / "s" / "players" / "lasker-e.html").tables["events"][1:]
    assert {row[1]: bool(row[6]) for row in events} == {
        "Blindfold": False, "Blindfold tournament": True, "Cup": True, "Simul": False,
    }  # fmt: skip
    assert "simul: no performance" in Page(tmp_path / "s" / "events" / "1900-simul.html").text
    assert broken(tmp_path / "s") == []


MOVING = {"draw_margin_drift": 0.3}


@pytest.mark.parametrize(
    ("model", "given"), [("elo", {}), ("ttt-d", {}), ("ttt", MOVING), ("naive", {})]
)
def test_sites_of_other_systems_hang_together(
    model: str, given: dict[str, float], tmp_path: Path
) -> None:
    """Without sds, with draw margins of players' own, with margins that move, without skills that differ."""
    rows = [
        (1850, "a", "b", 2),
        (1850, "b", "c", 1),
        (1851, "b", "a", 1),
        (1857, "a", "c", 0),
        (1890, "a", "d", 1),
    ]
    timeline, fit = fit_rows(rows, model, **given)
    run = memory_run(make_games(rows), timeline, fit, CONFIG)
    write_site(run, tmp_path / "s", Eligible(active=2.0))
    assert broken(tmp_path / "s") == []
    games = Page(tmp_path / "s" / "players" / "a.html").tables["games"][1:]
    assert [row[4] for row in games] == [
        f"{game.chance.expected:.2f}" for game in players.games_of(run, "a")
    ]


def test_many_games_keep_their_order() -> None:
    """More than one thread of the database reads at a time."""
    few = games_of([(str(year), "a", "b", "1-0") for year in range(1600, 2000)])
    columns = {name: np.repeat(getattr(few, name), 700) for name in GAME_COLUMNS}
    games = Games(**columns, players=few.players)
    played = played_games(small_run_of(games))
    assert np.array_equal(played.year, np.repeat(np.arange(1600, 2000), 700))
    assert np.array_equal(played.offset, games.offset)


def test_streaks_of_a_player_are_those_of_the_command() -> None:
    run = run_of(TOLD)
    book = make_book(BookSettings(run, eligible(run), "", 9))
    page = dict(site_files(book))["players/paulsen-louis.html"]
    listed = book_rows(run, "Paulsen, Louis", "streaks")
    longest = {row[1]: row for row in reversed(list(listed.rows))}
    assert list(longest) == ["losses", "without a win", "wins", "unbeaten"]
    for _, kind, games, points, first, last in longest.values():
        assert f"<tr><td>{kind}<td>{games}<td>{points:g}<td>{first}<td>{last}" in page


def test_the_record_book_of_a_site_has_the_records_of_the_command() -> None:
    run = run_of(TOLD)
    everybody = eligible(run, everyone=True)
    page = dict(site_files(make_book(BookSettings(run, everybody, "", 9))))["records.html"]
    heads = re.findall("<th>([^<]*)", page)
    assert {"player", "expected"} <= set(heads)
    assert not [head for head in heads if "_" in head]
    for kind in ("unbeaten", "wins", "upsets", "reigns", "peaks", "rivalries", "games"):
        rows = record_rows(run, kind, everybody, number=10)
        heading = rows.title[0]
        table = page.partition(f"<h2 id={markup.anchor(heading)}>")[2].partition("</table>")[0]
        players = [row[1] for row in rows.rows]
        assert players
        assert re.findall(r"<tr><td>\d+<td><a href=players/[^>]+>([^<]+)", table) == players


def test_columns_of_tables_that_are_empty_are_left_out() -> None:
    columns = {"player": ["", ""], "event": ["Cup", "League"], "#games": ["1", ""]}
    html = markup.table("events", columns)
    assert re.findall("<th>([^<]*)", html) == ["event", "games"]
    both = markup.first_rows("events", {**columns, "note": ["", "x"]}, 1)
    assert re.findall("<th>([^<]*)", both) == ["event", "games", "note"] * 2


def test_sides_of_other_sports_are_no_colours() -> None:
    def heads(*sides: str) -> set[str]:
        run = run_of(TOLD)
        run.meta.config["data"] = {"sides": list(sides)}
        files = site_files(make_book(BookSettings(run, eligible(run), "", 9)))
        return {head for _, text in files for head in re.findall("<th>([^<]*)", text)}

    assert heads("home", "away") - heads("white", "black") == {"side", "home", "away"}
    assert heads("white", "black") - heads("home", "away") == {"colour", "white", "black"}
