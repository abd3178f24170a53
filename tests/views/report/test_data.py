"""Skills after the last game as the page's script works them out: those of the run."""

from __future__ import annotations

import json
import shutil
import subprocess

import pytest

from tests.support.builders import fit_rows, make_games
from tests.support.handmade import CONFIG
from ttt_cli.runs.write import memory_run
from ttt_cli.views.report.markup import script
from ttt_cli.views.report.page import DATA_SCRIPTS, report_data

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
    asked = ASK.format(data=json.dumps(report_data(run)), script=script(DATA_SCRIPTS))
    told = subprocess.run(["node", "-"], input=asked, capture_output=True, text=True, check=True)
    found = json.loads(told.stdout)
    rows = run.select("SELECT player, mean, sd FROM skills_within(1890, 1890, NULL)")[1]
    assert len(rows) == 5
    for player, mean, sd in rows:
        assert found[player] == pytest.approx([mean, sd], abs=0.2), player
