"""The figures of draw margins and newcomers that move, and of careers."""

import json

import pytest

from tests.support.builders import EXACT, make_games
from tests.support.cases import each
from ttt_cli.config.load import Document
from ttt_cli.runs.run import Run
from ttt_cli.runs.write import memory_run
from ttt_cli.systems.resolve import resolve
from ttt_cli.timeline import build_timeline
from ttt_cli.views.figures.figure import make_figure
from ttt_cli.views.run import table_rows

ROWS = [(1900 + k // 4, "abc"[k % 3], "abc"[(k + 1) % 3], (2, 1, 0, 1, 1)[k % 5]) for k in range(40)]
ROWS += [(1904, "d", "a", 2), (1908, "e", "d", 0)]


def run_of(**model: object) -> Run:
    games = make_games(ROWS)
    timeline = build_timeline(games)
    resolved = resolve(Document(values={"model": model}))
    return memory_run(games, timeline, resolved.model.fit(timeline, resolved.params, EXACT), resolved.config)


@pytest.mark.parametrize("name", ["ttt", "ttt-d"])
def test_every_year_has_its_margin_and_a_band_of_one_sd(name: str) -> None:
    run = run_of(name=name, draw_margin_drift=0.2)
    spec = make_figure(run, "draws").spec
    records = [record for records in spec["datasets"].values() for record in records if "low" in record]
    found = {record["year"]: (record["low"], record["high"]) for record in records}
    for year, margin, sd, _ in run.curve("draws"):
        assert found[year] == pytest.approx((margin - sd, margin + sd), abs=0.1)
    assert len(found) == 10


@pytest.mark.parametrize("kind", ["newcomers", "career"])
def test_curves_of_newcomers_and_careers_have_a_band_of_one_sd(kind: str) -> None:
    run = run_of(name="ttt", growth=200.0, early=2.0, prior_mean_drift=30.0)
    spec = make_figure(run, kind).spec
    records = [record for records in spec["datasets"].values() for record in records if "low" in record]
    found = {record["year"]: (record["low"], record["high"]) for record in records}
    expected = {at: (mean - sd, mean + sd) for at, mean, sd in run.curve(kind)}
    assert found.keys() == expected.keys()
    text = json.dumps(spec)
    assert "without games" not in text
    assert ('"title": "years since the debut"' in text) is (kind == "career")
    assert ('"title": "year"' in text) is (kind != "career")
    assert '"title": "skill"' not in text
    for at, band in expected.items():
        assert found[at] == pytest.approx(band, abs=0.1)


@each("name", ["draws", "newcomers", "career"])
def test_the_same_is_a_table_to_export(name: str) -> None:
    run = run_of(name="ttt", growth=200.0, prior_mean_drift=30.0, draw_margin_drift=0.2)
    found = table_rows(run, name)
    assert list(found.columns) == list(getattr(run, name)())
    assert [*found.rows] == run.curve(name) != []
