"""Published ratings beside a run: whose they are, how they are scaled, and how well they agree, by hand."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest

from tests.views.report.site.conftest import TOLD, run_of
from tests.views.report.site.pages import Page, broken
from ttt_cli.runs.run import Run
from ttt_cli.support.errors import ConfigError, DataError, LookupFailed
from ttt_cli.views.figures.figure import FigureOptions, make_figure
from ttt_cli.views.published_ratings import read_published_ratings
from ttt_cli.views.report.page import report_data, report_page
from ttt_cli.views.report.site import write_site

RATINGS = """source,year,name,rating
x,1861,"MORPHY, Paul",
x,1858,"morphy paul",2600
x,1861,"Anderssen, Ådolf",2500
x,1861,"Paulsen, Louis",2450
x,1861,"Kolisch, I.",2400
x,1858,"Anderssen, Adolf",2480
x,1700,"Paulsen, Louis",2000
x,1861,Nobody,1000
"""
SPELLINGS = (("Kolisch, Ignaz", "I. Kolisch"), ("Kolisch, Ignaz", "Kolisch I"))


@pytest.fixture
def run() -> Run:
    return run_of(TOLD, spellings=SPELLINGS)


@pytest.fixture
def table(tmp_path: Path) -> str:
    place = tmp_path / "edo.csv.gz"
    place.write_bytes(gzip.compress(RATINGS.encode()))
    return str(place)


def skill(run: Run, player: str, period: str) -> tuple[int, float]:
    rows = run.select(
        "SELECT period_number, mean FROM skills WHERE player = ? AND period = ?", [player, period]
    )[1]
    return rows[0]  # type: ignore[return-value]


def test_ratings_are_matched_scaled_and_compared_as_by_hand(run: Run, table: str) -> None:
    found = read_published_ratings(table, run)
    of = {
        ("Morphy, Paul", "1858"): 2600,
        ("Anderssen, Adolf", "1861"): 2500,
        ("Paulsen, Louis", "1861"): 2450,
        ("Kolisch, Ignaz", "1861"): 2400,
        ("Anderssen, Adolf", "1858"): 2480,
    }
    skills = np.array([skill(run, *one)[1] for one in of])
    ratings = np.array(list(of.values()))
    slope = skills.std() / ratings.std()
    assert (found.name, found.unknown, found.several) == ("edo.csv.gz", ("Nobody",), 0)
    for one, rating in of.items():
        number, _ = skill(run, *one)
        assert found.ratings[one[0]][number] == pytest.approx(
            skills.mean() + slope * (rating - ratings.mean())
        )
    assert found.correlation == pytest.approx(np.corrcoef(skills, ratings)[0, 1])
    year = np.array([period == "1861" for _, period in of])
    (agreement,) = found.years
    assert (agreement.year, agreement.players) == (1861, 3)
    assert agreement.correlation == pytest.approx(np.corrcoef(skills[year], ratings[year])[0, 1])
    first, second = found.words()
    assert first == "edo.csv.gz: 5 ratings of 4 players; 1 name is not in the run (Nobody)"
    assert f"correlation {found.correlation:.3f}; by year" in second


def test_several_ratings_of_one_period_count_by_their_mean(run: Run, tmp_path: Path) -> None:
    place = tmp_path / "a.csv"
    place.write_text(RATINGS + 'x,1858-06,"Morphy, Paul",2700\n', encoding="utf-8")
    many = read_published_ratings(str(place), run)
    place.write_text(RATINGS.replace(",2600", ",2650"), encoding="utf-8")
    assert many.ratings == read_published_ratings(str(place), run).ratings
    assert many.several == 1
    assert "means of several" in many.words()[0]


@pytest.mark.parametrize(
    ("text", "error", "words"),
    [
        ("who,when,rating\n", DataError, "no columns player, period and rating"),
        ("player,year,rating\nMorphy,1858,high\n", DataError, r"a.csv:2: 'high' is no rating"),
        ("player,year,rating\n\"Morphy, Paul\",1858,2600\n", LookupFailed, "1 of its ratings"),
        (
            "player,year,rating\nKolisch I,1861,5\nPaulsen Louis,1861,5\nAnderssen Adolf,1861,5\n",
            LookupFailed,
            "3 of its ratings",
        ),
    ],
)  # fmt: skip
def test_what_is_no_table_of_ratings_is_refused(
    text: str, error: type[Exception], words: str, run: Run, tmp_path: Path
) -> None:
    place = tmp_path / "a.csv"
    place.write_text(text, encoding="utf-8")
    with pytest.raises(error, match=words):
        read_published_ratings(str(place), run)


def test_they_are_dotted_in_figures_and_pages(run: Run, table: str, tmp_path: Path) -> None:
    found = read_published_ratings(table, run)
    figure = make_figure(run, "skills", FigureOptions(["Anderssen", "Kolisch"], published=found))
    assert "dotted: ratings of edo.csv.gz, scaled" in str(figure.spec)
    assert figure.notes[-2:] == tuple(found.words())
    dotted = [layer for layer in figure.spec["layer"] if layer["mark"].get("strokeDash") == [2, 3]]
    assert dotted
    page = report_page(run, published=found)
    number, rating = next(iter(found.ratings["Kolisch, Ignaz"].items()))
    base = report_data(run)["base"]
    assert f'"Kolisch, Ignaz":[[{number - base},{rating:.1f}'.removesuffix(".0") in page
    assert "Dotted: ratings of edo.csv.gz, scaled." in page
    write_site(run, tmp_path / "s", published=found)
    assert broken(tmp_path / "s") == []
    years = Page(tmp_path / "s" / "players" / "anderssen-adolf.html").tables["years"]
    assert years[0][-1] == "rating"
    rated = {row[0]: row[-1] for row in years[1:] if row[-1]}
    assert rated == {
        period: f"{found.ratings['Anderssen, Adolf'][skill(run, 'Anderssen, Adolf', period)[0]]:.0f}"
        for period in ("1858", "1861")
    }
    front = (tmp_path / "s" / "index.html").read_text(encoding="utf-8")
    assert '<tr><td>1861</td><td class="number">3</td>' in front


def test_two_runs_in_different_units_are_not_drawn_on_one_axis() -> None:
    anchor = ["Morphy @ 1858 = 2600"]
    points, elo = run_of(TOLD), run_of(TOLD, scale=anchor)
    with pytest.raises(ConfigError, match="one axis cannot show both") as refused:
        make_figure(points, "skills", FigureOptions(["Morphy"], second_run=elo))
    assert "--scale" in (refused.value.hint or "")
    assert (
        make_figure(
            elo, "skills", FigureOptions(["Morphy"], second_run=run_of(TOLD, scale=anchor))
        ).notes
        == ()
    )
    assert "rating, Elo (Morphy in 1858 = 2600)" in str(
        make_figure(elo, "skills", FigureOptions(["Morphy"])).spec
    )
