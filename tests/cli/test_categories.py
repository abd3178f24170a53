"""Categories of games on the command line: every view by category, evidence, tuning, comparison, simulation."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from tests.inference.test_categories import HISTORY
from tests.reference.link_histories import categories
from tests.reference.links_dense import JointTwin
from tests.support.commands import Ran, rows
from ttt_cli import open_run

FIT = [
    "fit", "games.csv", "-q", "-c", "ttt", "-s", "data.category=kind", "-s",
    "model.offsets={rapid: {sd: 100, tau: 30}}", "-s", "model.draw_margin=250", "-s", "solver.tol=1e-6",
]  # fmt: skip
RESULTS = {2: "1-0", 1: "1/2-1/2", 0: "0-1"}


def written(history) -> str:
    lines = [
        f"{year},{white},{black},{RESULTS[outcome]},{kind}"
        for kind, year, white, black, outcome in history
    ]
    return "\n".join(["date,white,black,result,kind", *lines]) + "\n"


@pytest.fixture
def here(folder: Path) -> Path:
    (folder / "games.csv").write_text(written(HISTORY))
    return folder


@pytest.fixture
def many(folder: Path) -> Path:
    """Games of six players, whose order in rapid games is the reverse of that in others."""
    rng = np.random.default_rng(4)
    history = []
    for number in range(600):
        white, black = rng.choice(6, 2, replace=False)
        kind = str(rng.choice(["", "rapid"]))
        lead = 0.6 * (white - black) * (-1 if kind else 1)
        outcome = 2 if rng.normal(lead, 1.0) > 0 else 0
        history.append((kind, 1900 + number // 100, "abcdef"[white], "abcdef"[black], outcome))
    (folder / "games.csv").write_text(written(history))
    return folder


def test_published_figures_in_every_view(here: Path, ran: Ran) -> None:
    """Those of a dense EP written from the definition, to 1e-4 in log Z and 0.001 points."""
    err = ran([*FIT[:2], *FIT[3:]]).err
    assert "categories: none 3, rapid 3" in err
    assert "offsets.rapid.sd 100, offsets.rapid.tau 30" in err
    report = json.loads(ran("evidence -f json").out)
    assert report["log_evidence"] == pytest.approx(-6.9305438, abs=1e-4)
    base = rows(ran("player M").out)
    assert float(base[0]["mean"]) == pytest.approx(1272.88489, abs=1e-3)
    assert float(base[0]["sd"]) == pytest.approx(317.93259, abs=1e-3)
    rapid = rows(ran("player M --category rapid").out)
    assert [row["games"] for row in rapid] == ["2", "0", "0", "1"]
    assert float(rapid[-1]["mean"]) == pytest.approx(1248.76080, abs=1e-3)
    best, second = rows(ran("top --everyone --category rapid").out)
    assert (best["player"], second["player"]) == ("M", "A")
    assert float(best["mean"]) == pytest.approx(1248.76080, abs=1e-3)
    exported = rows(ran("export skills --category rapid").out)
    assert exported[-1]["mean"] == best["mean"]
    players = rows(ran("export players --category rapid").out)
    assert [(row["player"], row["wins"], row["draws"], row["losses"]) for row in players] == [
        ("A", "2", "1", "0"), ("M", "0", "1", "2"),
    ]  # fmt: skip
    lead = json.loads(ran("versus M A --category rapid -f json").out)
    assert lead["mean_a"] == pytest.approx(1248.76080, abs=1e-3)
    assert (lead["played"], lead["wins"], lead["losses"]) == (3, 0, 2)
    assert "drawing" not in ran("plot M A --category rapid -o rapid.svg").err
    assert (here / "rapid.svg").read_text() != ran("plot M A -o - -f svg").out


def test_games_are_expected_by_the_skills_of_their_category(here: Path, ran: Ran) -> None:
    ran(FIT)
    of_all = rows(ran("player M --record").out)
    of_rapid = rows(ran("player M --record --category rapid").out)
    black = next(row for row in of_all if (row["period"], row["colour"]) == ("1858", "black"))
    assert black == next(
        row for row in of_rapid if (row["period"], row["colour"]) == ("1858", "black")
    )
    ran("report -o site -q")
    page = (here / "site" / "index.html").read_text()
    assert "1858" in page


def test_what_is_refused(here: Path, ran: Ran) -> None:
    ran(FIT)
    err = ran("player M --category blitz", 2).err
    assert "there are no skills in the category 'blitz'" in err
    assert "its categories are rapid" in err
    assert "category rapid" in ran("player Nobody --category rapid", 2).err
    unread = ran(
        ["fit", "games.csv", "-c", "ttt", "-s", "model.offsets={rapid: {sd: 100}}", "-o", "b.ttt"],
        2,
    ).err
    assert "model.offsets: the games have no categories" in unread
    other = ran([*FIT, "-s", "model.offsets={rpaid: {sd: 100}}", "-o", "b.ttt"], 2).err
    assert "model.offsets: no game is of the category 'rpaid'" in other
    assert "did you mean 'rapid'?" in other
    assert (
        "needs an sd above 0"
        in ran([*FIT, "-s", "model.offsets={rapid: {tau: 5}}", "-o", "b.ttt"], 2).err
    )
    in_ttt_d = [
        *FIT[:4],
        "ttt-d",
        "-s",
        "data.category=kind",
        "-s",
        "model.offsets={rapid: {sd: 100}}",
        "-o",
        "b.ttt",
    ]
    assert "ttt-d has no skills in categories of games (model.offsets)" in ran(in_ttt_d, 2).err


def test_grids_and_tuning(many: Path, ran: Ran) -> None:
    """The evidence prefers offsets where there are some."""
    ran(FIT)
    points = rows(ran("evidence --grid offsets.rapid.sd=20/200 -f tsv").out)
    assert [row["offsets.rapid.sd"] for row in points] == ["20.0", "200.0"]
    assert float(points[0]["log_evidence"]) < float(points[1]["log_evidence"])
    out, err = ran("tune offsets.rapid.sd")
    (tuned,) = [row for row in rows(out) if row["parameter"] == "offsets.rapid.sd"]
    assert float(tuned["tuned"]) > 150.0
    assert "offsets of rapid: the log-evidence is " in err


def test_no_offsets_are_preferred_where_there_are_none(folder: Path, ran: Ran) -> None:
    rng = np.random.default_rng(9)
    history = []
    for number in range(200):
        white, black = rng.choice(4, 2, replace=False)
        outcome = 2 if rng.normal(0.5 * (white - black), 1.0) > 0 else 0
        history.append(
            (
                str(rng.choice(["", "rapid"])),
                1900 + number // 50,
                "abcd"[white],
                "abcd"[black],
                outcome,
            )
        )
    (folder / "games.csv").write_text(written(history))
    ran([*FIT, "-s", "model.offsets={rapid: {sd: 400, tau: 30}}", "-s", "model.draw_margin=1"])
    assert "the evidence prefers no offsets of rapid: without them it is " in ran("tune beta").err


def test_forecasts_know_categories(many: Path, ran: Ran) -> None:
    """Predictions of rapid games are better by the skills there."""
    (many / "plain.yaml").write_text("model: {name: ttt}\ndata: {category: kind}\n")
    (many / "offsets.yaml").write_text(
        "model: {name: ttt, offsets: {rapid: {sd: 300, tau: 30}}}\ndata: {category: kind}\n"
    )
    compared = rows(
        ran("compare plain.yaml offsets.yaml --games games.csv --from 1903 --jobs 1").out
    )
    assert [row["system"] for row in compared] == ["offsets", "plain"]
    ran(FIT)
    scored = json.loads(ran("evidence --scores -f json").out)
    assert scored["prequential_accuracy"] > 0.6


def test_simulated_categories(folder: Path, ran: Ran) -> None:
    offsets = "model.offsets={rapid: {sd: 150, tau: 20}}"
    ran(
        [
            "simulate",
            "--players",
            "30",
            "--years",
            "5",
            "--games",
            "2000",
            "-s",
            offsets,
            "-o",
            "g.csv",
        ]
    )
    games = (folder / "g.csv").read_text().splitlines()
    assert games[0] == "date,white,black,result,category"
    assert {line.rpartition(",")[2].strip('"') for line in games[1:]} == {"", "rapid"}
    truth = (folder / "g.skills.csv").read_text().splitlines()
    assert truth[0] == "player,period,category,skill"
    ran(
        [
            "simulate",
            "--players",
            "30",
            "--years",
            "5",
            "--games",
            "2000",
            "-s",
            offsets,
            "-o",
            "g.csv",
        ]
    )
    ran(
        [
            "simulate",
            "--players",
            "30",
            "--games",
            "50",
            "--years",
            "3",
            "-s",
            offsets,
            "-o",
            "g.pgn",
        ]
    )
    assert '[Category "rapid"]' in (folder / "g.pgn").read_text()
    ran(["fit", "g.csv", "-q", "-c", "ttt", "-s", "data.category=category", "-s", offsets])
    assert rows(ran("top --category rapid --everyone").out)


@pytest.mark.slow
def test_correlated_offsets(folder: Path, ran: Ran) -> None:
    """Drawn with a correlation, which the evidence prefers, and which the run is sampled with."""
    offsets = ["-s", "model.offsets={rapid: {sd: 300}, blitz: {sd: 450}}"]
    size = ["--players", "40", "--years", "1", "--games", "1200", "--seed", "2"]
    ran(["simulate", *size, *offsets, "-s", "model.offset_correlation=0.9", "-o", "g.csv"])
    skills: dict[tuple[str, str], dict[str, float]] = {}
    for row in csv.DictReader((folder / "g.skills.csv").read_text().splitlines()):
        skills.setdefault((row["player"], row["period"]), {})[row["category"]] = float(row["skill"])
    drawn = [(of["rapid"] - of[""], of["blitz"] - of[""]) for of in skills.values() if len(of) == 3]
    assert np.corrcoef(np.transpose(drawn))[0, 1] > 0.8
    ran(["fit", "g.csv", "-q", "-c", "ttt", "-s", "data.category=category", *offsets])
    points = rows(ran("evidence --grid offset_correlation=0/0.9 -f tsv").out)
    assert float(points[0]["log_evidence"]) + 1.0 < float(points[1]["log_evidence"])
    out = ran(["tune", "offset_correlation", "-s", "model.offset_correlation=0.5"]).out
    assert float(rows(out)[0]["tuned"]) > 0.6


def test_differences_in_a_category_are_joint(here: Path, ran: Ran) -> None:
    """Their sds are those of the dense twin, for skills, skills in a category, and idle years between."""
    ran(FIT)
    history = categories()
    _, covariance = JointTwin(*history.prior(), history.links).run().gaussian()

    def weights(year: int, names: list[str]) -> np.ndarray:
        row = np.zeros(history.size)
        for name in names:
            row[history.number(f"M{name}", year)] = 1.0
            row[history.number(f"A{name}", year)] = -1.0
        return row

    for option, names in (("", [""]), (" --category rapid", ["", " rapid"])):
        lead = json.loads(ran(f"versus M A -f json --at 1861{option}").out)
        difference = weights(1861, names)
        assert lead["skills"] == "joint"
        assert lead["sd_lead"] == pytest.approx(
            np.sqrt(difference @ covariance @ difference), abs=1e-3
        )
    between = json.loads(ran("versus M A -f json --at 1859 --category rapid").out)
    ends = (2.0 * weights(1858, ["", " rapid"]) + weights(1861, ["", " rapid"])) / 3.0
    bridge = (
        2.0 * (60.0**2 + 30.0**2) * 1.0 * 2.0 / 3.0
    )  # of two players, one year after an end and two before one
    assert between["sd_lead"] == pytest.approx(np.sqrt(ends @ covariance @ ends + bridge), abs=1e-3)
    best = rows(ran("top --everyone --category rapid --at 1861").out)[0]
    assert float(best["p_best"]) == pytest.approx(lead["stronger"], abs=0.01)  # by samples


def test_the_joint_posterior_of_a_run_is_that_of_the_fit(many: Path, ran: Ran) -> None:
    """Variances are those of the skills; many at once are those of a few at a time, and samples have them."""
    ran([*FIT, "-s", "model.draw_margin_drift=0.1"])
    run = open_run("games.ttt", category="rapid")
    nodes = run.query(
        "SELECT player, period, period_number, sd FROM nodes ORDER BY player, period_number"
    )
    skills = list(zip(nodes["player"], nodes["period"], strict=True))
    covariance = run.covariance(skills).to_numpy()
    assert np.sqrt(np.diag(covariance)) == pytest.approx(nodes["sd"].to_numpy(), rel=1e-4)
    numbered = list(zip(nodes["player"], nodes["period_number"].tolist(), strict=True))
    pairs = [(0, index) for index in range(1, len(numbered))] * 2
    matrices = run.joint.within([[numbered[first], numbered[second]] for first, second in pairs])
    for (first, second), matrix in zip(pairs, matrices, strict=True):
        assert matrix[0, 1] == pytest.approx(covariance[first, second], rel=1e-3, abs=1.0)
    sampled = run.samples(4000, 1).to_numpy()
    assert sampled.std(axis=0) == pytest.approx(nodes["sd"].to_numpy(), rel=0.06)
