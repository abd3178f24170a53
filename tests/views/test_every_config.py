"""Every shipped config through every view: on a part of the sample, and where one player is never rated."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest

from tests.conftest import ROOT
from ttt_cli.cli import main
from ttt_cli.config.load import shipped_configs
from ttt_cli.runs import run
from ttt_cli.runs.curves import COLUMNS, rows
from ttt_cli.runs.run import Run
from ttt_cli.views.charts import KINDS
from ttt_cli.views.charts.figure import make_figure
from ttt_cli.views.evidence.report import has_evidence

NO_NUMBER: Final = re.compile(r"(?<![\w.])[+-]?(nan|inf(inity)?)(?!\w)", re.IGNORECASE)
YEARS: Final = re.compile(r'\[Date "18(5[789]|6[01])')
_ROUNDS: Final = "{0},Alder,Birch,1-0\n{0},Birch,Alder,1-0\n{0},Birch,Alder,1/2-1/2\n"
UNRATED: Final = "date,white,black,result\n" + "".join(
    _ROUNDS.format(year) * 4 + (f"{year},Crane,Alder,0-1\n" if year in (1856, 1860) else "")
    for year in range(1856, 1862)
)


class History(NamedTuple):
    """Arguments of `ttt fit`, two players and a third, and the form in which tables are asked for."""

    arguments: tuple[str, ...]
    players: tuple[str, str, str]
    form: str


HISTORIES: Final = {
    "sample": History(
        ("games.pgn",),
        ("Morphy, Paul", "Anderssen, Adolf", "Paulsen, Louis"),
        "table",
    ),
    "unrated": History(("games.csv",), ("Alder", "Birch", "Crane"), "csv"),
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
    "export skills": "export skills",
    "export players": "export players",
    "export games": "export games",
    "export evidence": "export evidence",
}
MAY_BE_EMPTY: Final = {"upsets"}

pytestmark = [
    pytest.mark.slow,
    pytest.mark.parametrize(
        ("config", "history"),
        [(config, history) for config in shipped_configs() for history in HISTORIES],
        scope="module",  # those of one run come together
    ),
]


@pytest.fixture(scope="module", autouse=True)
def opened() -> Iterator[Callable[..., Run]]:
    """Runs stay open from one command to the next: opening them is most of what a command takes."""
    open_run = run.open_run
    with ExitStack() as held, pytest.MonkeyPatch.context() as patch:
        keep = cache(lambda path, scale: held.enter_context(open_run(path, scale)))
        patch.setattr(run, "open_run", lambda path, scale=(): keep(path, tuple(scale)))
        yield keep


@pytest.fixture(scope="module")
def run_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, str], Path]:
    """The run of a config and a history: fitted once."""
    folder = tmp_path_factory.mktemp("runs")
    (folder / "games.csv").write_text(UNRATED, encoding="utf-8")
    sample = (ROOT / "sample_pgn" / "classics.pgn").read_text(encoding="utf-8")
    chosen = (game for game in re.split(r"^(?=\[Event )", sample, flags=re.MULTILINE) if YEARS.search(game))
    (folder / "games.pgn").write_text("".join(chosen), encoding="utf-8")

    @cache
    def fitted(config: str, history: str) -> Path:
        path = folder / f"{config} {history}.ttt"
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(folder)
            arguments = [*HISTORIES[history].arguments, "-c", config, "-o", str(path), "-q"]
            assert main.run(["fit", *arguments]) == 0
        meta = run.open_run(path).meta
        if has_evidence(meta):
            other = "prior_sd=200/300" if "prior_sd" in meta.params else "draw_margin=80/120"
            grid = f"white_advantage=0/30,{other}"
            assert main.run(["evidence", "--grid", grid, "-r", str(path), "-q", "--jobs", "1"]) == 0
        return path

    return fitted


@pytest.mark.parametrize("view", TABLES)
def test_tables(
    config: str,
    history: str,
    view: str,
    run_of: Callable[[str, str], Path],
    capsys: pytest.CaptureFixture[str],
) -> None:
    asked = HISTORIES[history]
    a, b, c = asked.players
    arguments = [word.format(a=a, b=b, c=c) for word in TABLES[view].split()]
    path = run_of(config, history)
    capsys.readouterr()
    assert main.run([*arguments, "-r", str(path), "-f", asked.form]) == 0
    shown, _ = capsys.readouterr()
    assert not NO_NUMBER.search(shown)
    if asked.form == "table":
        assert shown.strip() or view in MAY_BE_EMPTY
        return
    rows = list(csv.DictReader(io.StringIO(shown)))
    assert rows or view in MAY_BE_EMPTY
    assert all(row[column] for row in rows for column in ("mean", "peak_mean") if column in row)


@pytest.mark.parametrize("kind", KINDS)
def test_figures(config: str, history: str, kind: str, run_of: Callable[[str, str], Path]) -> None:
    asked = run.open_run(str(run_of(config, history)))
    if kind == "evidence" and not has_evidence(asked.meta):
        pytest.skip(f"{config} has no evidence")
    if kind in COLUMNS and not rows(asked, kind):
        pytest.skip(f"{config} has no such curve: {kind}")
    last = str(int(asked.meta.last) - 1)
    names = asked.players()["player"][:2].tolist() if kind == "difference" else ()
    figure = make_figure(asked, kind, names, count=2, since=last if kind == "calibration" else None)
    json.dumps(figure.spec, allow_nan=False)
    assert all(found for found in datasets(figure.spec))


def test_a_drawn_figure(
    config: str, history: str, run_of: Callable[[str, str], Path], tmp_path: Path
) -> None:
    drawn = tmp_path / "a.svg"
    names = HISTORIES[history].players
    assert main.run(["plot", *names, "-r", str(run_of(config, history)), "-o", str(drawn), "-q"]) == 0
    assert not NO_NUMBER.search(drawn.read_text(encoding="utf-8"))


def test_report(config: str, history: str, run_of: Callable[[str, str], Path], tmp_path: Path) -> None:
    page = tmp_path / "a.html"
    assert main.run(["report", "-r", str(run_of(config, history)), "-o", str(page), "-q"]) == 0
    text = page.read_text(encoding="utf-8")
    still = re.sub(r"<(script|style)\b.*?</\1>", "", text, flags=re.DOTALL)
    assert not NO_NUMBER.search(re.sub(r"<[^>]*>", " ", still))
    (data,) = re.findall(r'<script[^>]*type="application/json"[^>]*>(.*?)</script>', text, re.DOTALL)
    assert json.loads(data, parse_constant=pytest.fail)["players"]


def datasets(spec: Any) -> Iterator[list[Any]]:
    """All data that a figure carries inside."""
    for key, value in spec.items() if isinstance(spec, dict) else enumerate(spec):
        if key == "values" and isinstance(value, list) and isinstance(spec, dict) and len(spec) == 1:
            yield value
        elif isinstance(value, (dict, list)):
            yield from datasets(value)
