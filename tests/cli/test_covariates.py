"""Covariates on the command line: the summary of a fit, `--with`, grids, tuning, comparison, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.support.commands import Ran, rows
from ttt_cli.config.load import read_document

SETTINGS = (
    "-s", "data.covariates={home: at_home, rest: rest, surface: surface}",
    "-s", "model.covariates={home: estimate, surface: estimate, rest: 4}",
)  # fmt: skip


@pytest.fixture
def here(folder: Path) -> Path:
    rng = np.random.default_rng(3)
    lines = ["date,white,black,result,at_home,rest_white,rest_black,surface"]
    for number in range(300):
        white, black = rng.choice([*"abcdef"], 2, replace=False)
        home = rng.integers(-1, 2)
        result = "1-0" if rng.normal(0.35 * home, 1.0) > 0.0 else "0-1"
        rest = rng.integers(1, 5, 2)
        surface = rng.choice(["hard", "hard", "clay"])
        lines.append(
            f"{1900 + number // 50},{white},{black},{result},{home},{rest[0]},{rest[1]},{surface}"
        )
    (folder / "games.csv").write_text("\n".join(lines))
    return folder


def test_the_summary_of_a_fit_has_points_errors_and_shares(here: Path, ran: Ran) -> None:
    err = ran(["fit", "games.csv", "-c", "ttt", *SETTINGS]).err
    lines = [line for line in err.splitlines() if line.startswith("covariates.")]
    assert [line.partition(":")[0] for line in lines] == [
        "covariates.home", "covariates.surface.clay", "covariates.rest",
    ]  # fmt: skip
    home, clay, rest = lines
    assert " +- " in home
    assert " +- " in clay
    assert rest.startswith("covariates.rest: 4.0 points per unit; ")
    assert home.endswith(" % of it follows from who plays")


def test_versus_takes_values(here: Path, ran: Ran) -> None:
    ran(["fit", "games.csv", "-c", "ttt", "-q", *SETTINGS])
    plain, err = ran("versus a b -f json")
    assert "covariates count as 0 or as their reference" in err
    out, err = ran("versus a b -f json --with home=1 --with rest=3:1 --with surface=clay")
    assert "covariates count" not in err
    before = json.loads(plain)
    after = json.loads(out)
    assert after["expected"] > before["expected"]
    assert after["lead"] == before["lead"]
    assert after["stronger"] == before["stronger"]
    assert after["with"] == "home=1, rest=3:1, surface=clay"
    turned = json.loads(
        ran("versus b a -f json --with home=-1 --with rest=1:3 --with surface=clay").out
    )
    assert turned["expected"] == pytest.approx(1.0 - after["expected"], abs=1e-6)
    assert turned["expected_white"] == pytest.approx(1.0 - after["expected_black"], abs=1e-6)


def test_versus_refuses_what_the_run_does_not_have(here: Path, ran: Ran) -> None:
    ran(["fit", "games.csv", "-c", "ttt", "-q", *SETTINGS])
    assert (
        "the model of games.ttt has no covariate 'rain'" in ran("versus a b --with rain=1", 2).err
    )
    assert "home is a number, and 'x' is none" in ran("versus a b --with home=x", 2).err
    assert (
        "no game of surface has the value 'carpet'"
        in ran("versus a b --with surface=carpet", 2).err
    )
    assert "the value of home is missing" in ran("versus a b --with home", 2).err


def test_a_grid_over_points(here: Path, ran: Ran) -> None:
    ran(["fit", "games.csv", "-c", "ttt", "-q", *SETTINGS[:2]])
    found = rows(ran("evidence --grid covariates.home=0/40 -f tsv").out)
    assert [row["covariates.home"] for row in found] == ["0.0", "40.0"]
    assert float(found[0]["log_evidence"]) < float(found[1]["log_evidence"])
    assert (
        "unknown parameter 'covariates.rain'" in ran("evidence --grid covariates.rain=0/40", 2).err
    )


@pytest.mark.slow
def test_tuning_gives_what_the_fit_estimates(here: Path, ran: Ran) -> None:
    ran(["fit", "games.csv", "-c", "ttt", "-q", "-s", "solver.tol=1e-4", *SETTINGS])
    estimated = ran(
        ["fit", "games.csv", "-c", "ttt", "-o", "b", "-s", "solver.tol=1e-4", *SETTINGS]
    ).err
    out, _ = ran("tune beta -f json -r b.ttt -s model.beta=480 -o tuned.yaml")
    tuned = {row["parameter"]: row for row in json.loads(out)}
    assert list(tuned) == ["beta", "covariates.home", "covariates.surface.clay", "log_evidence"]
    ran(["fit", "games.csv", "-c", "tuned.yaml", "-q", "-o", "c"])
    home = tuned["covariates.home"]
    again = ran(
        [
            "fit",
            "games.csv",
            "-c",
            "ttt",
            "-o",
            "d",
            "-s",
            f"model.beta={tuned['beta']['tuned']}",
            *SETTINGS,
        ]
    ).err
    (line,) = [line for line in again.splitlines() if line.startswith("covariates.home")]
    assert float(line.split()[1]) == pytest.approx(home["tuned"], rel=0.01)
    assert "covariates.home" in estimated


def test_other_systems_refuse_points_or_estimates(here: Path, ran: Ran) -> None:
    err = ran(["fit", "games.csv", "-c", "edo", *SETTINGS], 2).err
    assert "unknown key model.covariates" in err
    err = ran(["fit", "games.csv", "-c", "elo", *SETTINGS], 2).err
    assert "model.covariates.home must be a number" in err


def test_a_rating_system_takes_points(here: Path, ran: Ran) -> None:
    points = "model.covariates={home: 200, activity_2y: 10}"
    err = ran(["fit", "games.csv", "-c", "elo", *SETTINGS[:2], "-s", points]).err
    assert "covariates.home: 200.0 points per unit" in err
    plain = json.loads(ran("versus a b -f json").out)
    at_home = json.loads(ran("versus a b -f json --with home=1").out)
    assert at_home["expected"] > plain["expected"] + 0.1
    found = rows(ran("evidence --grid covariates.home=0/60 -f tsv").out)
    assert float(found[0]["log_evidence"]) < float(found[1]["log_evidence"])


@pytest.mark.parametrize(
    ("model", "by"),
    [
        pytest.param("ttt", "evidence", marks=pytest.mark.slow),
        pytest.param("ttt", "score", marks=pytest.mark.slow),
        ("elo", "score"),
    ],
)
def test_compare_tunes_covariates_on_games_before_the_test(
    model: str, by: str, here: Path, ran: Ran
) -> None:
    """Turning the results from 1903 on changes nothing that is tuned."""
    home = "estimate" if model == "ttt" else 1
    (here / "with.yaml").write_text(
        f"model: {{name: {model}, covariates: {{home: {home}, activity: 5}}}}\n"
    )
    games = ["--games", "games.csv", "-s", "data.covariates={home: at_home}", "--from", "1903"]
    tuning = ["--tune", "--tune-by", by, "--evaluations", "12"]
    ran(["compare", "with.yaml", *games, *tuning, "--tuned-to", "tuned"])
    before_the_test = 1 + 3 * 50
    lines = (here / "games.csv").read_text().splitlines()
    turned = [
        line.replace("1-0", "?").replace("0-1", "1-0").replace("?", "0-1")
        for line in lines[before_the_test:]
    ]
    (here / "games.csv").write_text("\n".join([*lines[:before_the_test], *turned]))
    ran(["compare", "with.yaml", *games, *tuning, "--tuned-to", "again"])
    tuned = read_document(str(here / "tuned/with.yaml")).values["model"]["covariates"]
    assert read_document(str(here / "again/with.yaml")).values["model"]["covariates"] == tuned
    assert tuned["home"] > 5.0
    assert set(tuned) == {"home", "activity"}


def test_compare_predicts_with_covariates_known_before(here: Path, ran: Ran) -> None:
    ran(["fit", "games.csv", "-c", "ttt", "-q", *SETTINGS])
    (here / "with.yaml").write_text("model: {name: ttt, covariates: {home: estimate}}\n")
    (here / "fixed.yaml").write_text("model: {name: ttt, covariates: {home: 200}}\n")
    found = {
        row["system"]: float(row["log_loss"])
        for row in rows(ran("compare with.yaml fixed.yaml ttt -f tsv").out)
    }
    assert found["with"] < found["ttt"]
    assert len(set(found.values())) == 3


def test_activity_needs_no_column(here: Path, ran: Ran) -> None:
    err = ran(["fit", "games.csv", "-c", "ttt", "-s", "model.covariates={activity: estimate}"]).err
    (line,) = [line for line in err.splitlines() if line.startswith("covariates.activity")]
    assert " +- " in line
    assert ran("versus a b --with activity=1 -f json").out != ran("versus a b -f json").out
    ran(["fit", "games.csv", "-c", "ttt", "-q", "-o", "plain"])
    found = rows(ran("evidence --grid covariates.activity=0/20 -r plain.ttt -f tsv").out)
    assert [row["covariates.activity"] for row in found] == ["0.0", "20.0"]
    assert len({row["log_evidence"] for row in found}) == 2
    tuned, _ = ran("tune covariates.activity -r plain.ttt -f json")
    assert [row["parameter"] for row in json.loads(tuned)] == [
        "covariates.activity",
        "log_evidence",
    ]
