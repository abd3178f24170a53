import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.builders import fit_rows, make_games
from tests.support.cases import each
from tests.support.handmade import CONFIG, fit_of, games_of, put_small_run
from ttt_cli.config.schema import Config
from ttt_cli.runs.run import Run, open_run
from ttt_cli.runs.write import memory_run
from ttt_cli.timeline import build_timeline
from ttt_cli.views.report.markup import assets, short
from ttt_cli.views.report.page import DATA_SCRIPTS, report_data


@pytest.fixture
def run(small_run: Callable[..., Run]) -> Run:
    return small_run()


def unpacked(data: dict[str, Any]) -> dict[tuple[str, str], tuple[float, ...]]:
    """{(player, period): (mean, sd, games)}, as the page's script reads it."""
    found = {}
    for name, *_, start, offsets, means, sds, played, _ in data["players"]:
        for i, row in enumerate(zip(means, sds, played, strict=True)):
            step = offsets[i] if offsets else i
            found[name, data["labels"][start - data["base"] + step]] = row
    return found


def test_every_row_is_carried_as_the_run_has_it(run: Run) -> None:
    _, rows = run.select("SELECT player, period, mean, sd, games FROM skills")
    found = unpacked(report_data(run))
    assert len(found) == len(rows)
    for player, period, mean, sd, games in rows:
        assert found[player, period] == (pytest.approx(mean, abs=0.05), pytest.approx(sd, abs=0.05), games)


def test_records_are_carried(run: Run) -> None:
    _, rows = run.select("SELECT player, games, wins, draws, losses, opponents FROM players ORDER BY player")
    assert [tuple(player[:6]) for player in report_data(run)["players"]] == rows


def test_margins_are_carried(tmp_path: Path) -> None:
    put_small_run(tmp_path / "d.ttt", further="draw_margin")
    anderssen = report_data(open_run(tmp_path / "d.ttt"))["players"][0]
    assert anderssen[12][0] == pytest.approx(100.2)


def test_a_small_budget_keeps_those_who_played_most_and_says_so(run: Run) -> None:
    counts = dict(run.select("SELECT player, games FROM players")[1])
    data = report_data(run, budget=300)
    kept = {player[0] for player in data["players"]}
    assert 0 < len(kept) < 3
    assert data["leftOut"] == 3 - len(kept)
    assert kept == {player for player, games in counts.items() if games >= data["minGames"]}
    assert min(counts[p] for p in kept) > max(games for p, games in counts.items() if p not in kept)


def test_even_the_smallest_budget_carries_somebody(run: Run) -> None:
    assert report_data(run, budget=1)["players"]


def test_fine_periods_without_games_are_thinned_to_one_a_year() -> None:
    records = [("1858-06", "A", "B", "1-0"), ("1858-09", "B", "A", "1-0"), ("1861-03", "A", "B", "1/2-1/2")]
    games = games_of(records)
    timeline = build_timeline(games, "month")
    config = Config.model_validate({"model": {"name": "ttt"}, "data": {"period": "month"}})
    data = report_data(memory_run(games, timeline, fit_of(timeline), config))
    labels = {label for player, label in unpacked(data) if player == "A"}
    assert labels == {"1858-06", "1858-09", "1859-01", "1860-01", "1861-01", "1861-03"}
    assert data["years"] == [pytest.approx(1858 + 5 / 12, abs=1e-5), pytest.approx(1 / 12)]
    assert data["labels"][0] == "1858-06"
    assert data["labels"][-1] == "1861-03"


@each("value, text", [(1200.04, "1200"), (1200.06, "1200.1"), (0.5, "0.5"), (-0.01, "0")])
def test_numbers_are_short(value: float, text: str) -> None:
    assert str(short(value)) == text


ROWS = [
    (1850, "a", "b", 2), (1850, "b", "c", 1), (1851, "b", "a", 1), (1857, "a", "c", 0), (1870, "d", "e", 2),
    (1890, "e", "d", 1),
]  # fmt: skip
CAREER = {"growth": 300, "decline": 9, "decline_after": 10, "early": 3}
ASK = """
globalThis.document = {{ getElementById: () => ({{ textContent: {data!r} }}) }};
{script}
const last = D.labels.length - 1;
console.log(JSON.stringify(Object.fromEntries(players.map((player) => {{
  const skill = skillAt(player, player.at.length - 1, last);
  return [player.name, [skill.mean, skill.sd]];
}}))));
"""


@pytest.mark.skipif(shutil.which("node") is None, reason="needs node")
@pytest.mark.parametrize(
    ("model", "given"), [("ttt", {}), ("ttt", CAREER), ("trueskill", CAREER), ("glicko", {}), ("edo", {})]
)
def test_the_page_goes_on_after_the_last_game_as_the_run_does(model: str, given: dict[str, float]) -> None:
    timeline, fit = fit_rows(ROWS, model, **given)
    run = memory_run(make_games(ROWS), timeline, fit, CONFIG)
    asked = ASK.format(data=json.dumps(report_data(run)), script=assets(*DATA_SCRIPTS))
    told = subprocess.run(["node", "-"], input=asked, capture_output=True, text=True, check=True)
    found = json.loads(told.stdout)
    rows = run.select("SELECT player, mean, sd FROM skills_within(1890, 1890, NULL)")[1]
    assert len(rows) == 5
    for player, mean, sd in rows:
        assert found[player] == pytest.approx([mean, sd], abs=0.2), player
