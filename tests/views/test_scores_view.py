from ttt_cli.evaluate.forecast.scores import Prequential, Scores
from ttt_cli.views.evidence.scores import with_scores
from ttt_cli.views.rows import Rows


def found(games: float) -> Prequential:
    return Prequential(
        first="1858",
        every=2,
        model=Scores(games, -0.75 * games, 0.5, 0.625),
        naive=Scores(games, -1.0 * games, 0.6, 0.375),
        converged=False,
    )


def test_scores_follow_the_report() -> None:
    report = Rows(("games", "beta"), [(5, 480.0)], ("a run",), {"beta": 1}, frozenset({"beta"}), single=True)
    rows = with_scores(report, found(4.0))
    (row,) = rows.rows
    assert dict(zip(rows.columns, row, strict=True)) == {
        "games": 5,
        "beta": 480.0,
        "prequential": -3.0,
        "prequential_per_game": -0.75,
        "prequential_naive_per_game": -1.0,
        "prequential_brier": 0.5,
        "prequential_naive_brier": 0.6,
        "prequential_accuracy": 0.625,
        "prequential_naive_accuracy": 0.375,
        "prequential_games": 4,
        "prequential_converged": False,
        "from": "1858",
        "every": 2,
    }
    assert (rows.title, rows.hidden, rows.single) == (("a run",), frozenset({"beta"}), True)
    assert rows.decimals["beta"] == 1
    assert rows.decimals["prequential_per_game"] == 5


def test_fractional_weights_stay_fractional() -> None:
    rows = with_scores(Rows((), [()], single=True), found(4.5))
    (row,) = rows.rows
    assert dict(zip(rows.columns, row, strict=True))["prequential_games"] == 4.5
