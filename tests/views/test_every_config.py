"""Every shipped config through every view: a part of the sample beside a pool in which one player may be unrated."""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections.abc import Iterator
from contextlib import ExitStack
from functools import cache
from itertools import product
from pathlib import Path
from typing import Final

import pytest

from tests.conftest import ROOT
from ttt_cli.cli import main
from ttt_cli.config.load import shipped_configs
from ttt_cli.runs import run
from ttt_cli.runs.curves import CURVES
from ttt_cli.runs.run import Run
from ttt_cli.support.errors import TttError
from ttt_cli.views.figures import KINDS
from ttt_cli.views.figures.figure import FigureOptions, make_figure
from ttt_cli.views.records import KINDS as KINDS_OF_RECORDS

NO_NUMBER: Final = re.compile(r"(?<![\w.])[+-]?(nan|inf(inity)?)(?!\w)", re.IGNORECASE)
YEARS: Final = re.compile(r'\[Date "185[789]')
_ROUNDS: Final = "{0},Alder,Birch,1-0\n{0},Birch,Alder,1-0\n{0},Birch,Alder,1/2-1/2\n"
UNRATED: Final = "date,white,black,result\n" + "".join(
    _ROUNDS.format(year) * 4 + (f"{year},Crane,Alder,0-1\n" if year in (1856, 1860) else "")
    for year in range(1856, 1862)
)
PLAYERS: Final = {  # for each form of a table: two players and a third; Crane is unrated in some systems
    "table": ("Morphy, Paul", "Anderssen, Adolf", "Paulsen, Louis"),
    "csv": ("Alder", "Birch", "Crane"),
}
TABLES: Final = {
    "player": "player {a}",
    "third player": "player {c}",
    "record": "player {a} --record",
    "upsets": "player {b} --upsets",
    "top": "top",
    "top at": "top --at 1858 --everyone",
    "peaks": "top --peak",
    "years": "top --years 2",
    "reigns": "top --leaders",
    "leaders": "top --leaders --each",
    "players": "players",
    "versus": "versus {a} {b} --games 10",
    "versus third": "versus {c} {b}",
    "versus record": "versus {a} {b} --record",
    "evidence": "evidence",
    "top by people": "top --where born<1840 --columns age,federation",
    "events": "events",
    "tournament": "tournament {a} {b} --samples 200",
    **{f"records of {kind}": f"records --kind {kind} --everyone" for kind in KINDS_OF_RECORDS},
}
EXPORTS: Final = {  # too long for tables on a terminal
    "export skills": "export skills",
    "export players": "export players",
    "export games": "export games",
    "export evidence": "export evidence",
    "export people": "export people",
}
NAMED: Final = {"difference": 2, "why": 1}  # kinds of figures, and how many players they are of
MAY_BE_EMPTY: Final = {"upsets", "events", *(f"records of {kind}" for kind in KINDS_OF_RECORDS)}
RELATED: Final = {  # views of their runs are those of another config: elo, naive, ttt-d-career
    "chessmetrics",
    "edo",
    "elo-historical",
    "glicko",
    "glicko2",
    "spinrad",
    "trueskill",
    "ttt",
    "ttt-career",
    "ttt-d",
    "ttt-white",
    "weighted-ep",
    "whr",
}
OF_ALL: Final = {
    "top",
    "years",
    "reigns",
    "leaders",
    "evidence",
    "events",
}  # they name no player: as a table only


@pytest.fixture(scope="module")
def games(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A part of the sample, and games of three who never met those players."""
    folder = tmp_path_factory.mktemp("games")
    (folder / "games.csv").write_text(UNRATED, encoding="utf-8")
    sample = (ROOT / "sample_pgn" / "classics.pgn").read_text(encoding="utf-8")
    chosen = (
        game
        for game in re.split(r"^(?=\[Event )", sample, flags=re.MULTILINE)
        if YEARS.search(game)
    )
    (folder / "games.pgn").write_text("".join(chosen), encoding="utf-8")
    return folder


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A run stays open from one command to the next: opening it is most of what a command takes."""
    open_run = run.open_run
    with ExitStack() as held:
        keep = cache(
            lambda path, scale, category: held.enter_context(open_run(path, scale, category))
        )
        monkeypatch.setattr(
            run,
            "open_run",
            lambda path, scale=(), category=None: keep(path, tuple(scale), category),
        )
        yield


@pytest.mark.slow
@pytest.mark.parametrize(
    "config",
    [
        pytest.param(name, marks=[pytest.mark.large] * (name in RELATED))
        for name in shipped_configs()
    ],
)
@pytest.mark.usefixtures("opened")
def test_every_view(
    config: str,
    games: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    subtests: pytest.Subtests,
) -> None:
    path = str(tmp_path / "a.ttt")
    files = [str(games / name) for name in ("games.pgn", "games.csv")]
    people = str(ROOT / "sample_pgn" / "people.csv")
    assert main.run(["fit", *files, "--people", people, "-c", config, "-o", path, "-q"]) == 0
    fitted = run.open_run(path)
    if not math.isnan(fitted.meta.log_evidence):
        other = "prior_sd=200/300" if "prior_sd" in fitted.meta.params else "draw_margin=80/120"
        grid = f"white_advantage=0/30,{other}"
        assert main.run(["evidence", "--grid", grid, "-r", path, "-q", "--jobs", "1"]) == 0
    for view, form in [
        *product(TABLES, ["table"]),
        *product((TABLES | EXPORTS).keys() - OF_ALL, ["csv"]),
    ]:
        with subtests.test(view=view, form=form):
            capsys.readouterr()
            check_table(view, form, path, capsys)
    for kind in KINDS:
        with subtests.test(figure=kind):
            check_figure(fitted, kind)
    drawn = tmp_path / "a.svg"
    assert (
        main.run(["plot", *PLAYERS["table"], *PLAYERS["csv"], "-r", path, "-o", str(drawn), "-q"])
        == 0
    )
    assert not NO_NUMBER.search(drawn.read_text(encoding="utf-8"))
    page = tmp_path / "a.html"
    assert main.run(["report", "-r", path, "-o", str(page), "-q"]) == 0
    check_page(page.read_text(encoding="utf-8"))


def check_table(view: str, form: str, path: str, capsys: pytest.CaptureFixture[str]) -> None:
    a, b, c = PLAYERS[form]
    arguments = [word.format(a=a, b=b, c=c) for word in (TABLES | EXPORTS)[view].split()]
    assert main.run([*arguments, "-r", path, "-f", form]) == 0
    shown, _ = capsys.readouterr()
    assert not NO_NUMBER.search(shown)
    if form == "table":
        assert shown.strip() or view in MAY_BE_EMPTY
        return
    rows = list(csv.DictReader(io.StringIO(shown)))
    assert rows or view in MAY_BE_EMPTY
    assert all(row[column] for row in rows for column in ("mean", "peak_mean") if column in row)


def check_figure(fitted: Run, kind: str) -> None:
    if (kind == "evidence" and math.isnan(fitted.meta.log_evidence)) or (
        kind in CURVES and not fitted.curve(kind)
    ):
        return
    last = str(int(fitted.meta.last) - 1)
    names = fitted.players()["player"][: NAMED.get(kind, 0)].tolist()
    if kind == "why" and not has_influence(fitted):
        with pytest.raises(TttError):
            make_figure(fitted, kind, FigureOptions(names))
        return
    figure = make_figure(
        fitted, kind, FigureOptions(names, count=2, since=last if kind == "calibration" else None)
    )
    json.dumps(figure.spec, allow_nan=False)
    assert figure.spec["layer"]
    assert all(figure.spec["datasets"].values())


def has_influence(fitted: Run) -> bool:
    """Whether the run has a joint posterior of a model whose sites are those of its games."""
    return fitted.meta.model == "ttt" and fitted.meta.posterior.startswith("joint")


def check_page(text: str) -> None:
    still = re.sub(r"<(script|style)\b.*?</\1>", "", text, flags=re.DOTALL)
    assert not NO_NUMBER.search(re.sub(r"<[^>]*>", " ", still))
    found = re.findall(r'<script[^>]*type="application/json"[^>]*>(.*?)</script>', text, re.DOTALL)
    assert any("players" in json.loads(data, parse_constant=pytest.fail) for data in found)
