from ttt_cli.runs.meta import EvidencePoint
from ttt_cli.views.evidence import stored_surface


def point(log_evidence: float, converged: bool = True, **asked: object) -> EvidencePoint:
    return EvidencePoint({"draw_margin": "auto", **asked}, dict(asked), log_evidence, converged, 3, 0.0)


def grid(evidence: dict[tuple[float, float], float], **others: object) -> list[EvidencePoint]:
    return [point(value, beta=b, tau=t, **others) for (b, t), value in evidence.items()]


SMALL = {(100.0, 10.0): -9.0, (100.0, 20.0): -8.0, (200.0, 10.0): -7.0, (200.0, 20.0): -7.5}


def test_a_grid_is_laid_out_and_its_best_found() -> None:
    surface = stored_surface(grid(SMALL))
    assert surface is not None
    assert surface.keys == ("beta", "tau")
    assert surface.values == SMALL
    assert surface.best == (200.0, 10.0)
    assert surface.values[surface.best] == -7.0


def test_the_runs_own_point_beside_the_grid_is_no_line_of_it() -> None:
    surface = stored_surface([point(-1.0, beta=480.0, tau=60.0), *grid(SMALL)])
    assert surface is not None
    assert surface.values == SMALL


def test_of_two_grids_the_larger_counts_and_they_are_not_mixed() -> None:
    larger = {**SMALL, (300.0, 10.0): -6.0, (300.0, 20.0): -6.5}
    surface = stored_surface([*grid(SMALL, prior_sd=300.0), *grid(larger, prior_sd=400.0)])
    assert surface is not None
    assert surface.values == larger


def test_points_along_one_parameter_are_no_surface() -> None:
    assert stored_surface([]) is None
    assert stored_surface([point(-1.0, beta=b, tau=60.0) for b in (1.0, 2.0, 3.0)]) is None
    diagonal = [point(-1.0, beta=b, tau=b) for b in (1.0, 2.0, 3.0)]
    assert stored_surface(diagonal) is None
