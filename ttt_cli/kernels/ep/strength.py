"""How strong the players of games are against those of their years; of these `start` (years + 1,) has the games."""

from ttt_cli.kernels.arrays import Places, Vector
from ttt_cli.kernels.compile import at, inner, kernel, span
from ttt_cli.kernels.ep.structures import Games


@inner
def _strength(i, j, skill):
    return 0.5 * (skill[i] + skill[j])


@kernel
def strengths(start: Places, games: Games, skill: Vector, total: Vector) -> None:
    """Fill the sum over the games of each year of the mean skill of both players, (years,), points."""
    _, first, second, _, weight = games
    for y in range(len(total)):
        total[y] = 0.0
        for g in span(start[y], start[y + 1]):
            total[y] += weight[g] * _strength(at(first[g]), at(second[g]), skill)


@kernel
def above(
    start: Places, games: Games, skill: Vector, level: Vector, unit: float, reach: float, found: Vector
) -> None:
    """Fill how far that mean is above its year's `level` (years,), (games,), in units, `reach` at most either way."""
    _, first, second, _, _ = games
    for y in range(len(level)):
        for g in span(start[y], start[y + 1]):
            away = (_strength(at(first[g]), at(second[g]), skill) - level[y]) / unit
            found[g] = min(max(away, -reach), reach)
