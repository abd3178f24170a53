"""The ranking of the players of one period."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ttt_cli.runs.run import Run
from ttt_cli.support.errors import LookupFailed
from ttt_cli.views.columns import build_rows
from ttt_cli.views.rankings.columns import PERIOD_COLUMNS
from ttt_cli.views.rankings.eligible import INACTIVE, WIDER, Eligible, left_out_text
from ttt_cli.views.rankings.rows import RankedPlayer, lower_bound
from ttt_cli.views.rows import Rows, counted
from ttt_cli.views.run import load_numpy_meanwhile, run_line

if TYPE_CHECKING:
    from ttt_cli.views.rankings.dominance import Lead
    from ttt_cli.views.rankings.intervals import RankIntervals

SEED: Final = 1  # of samples
AHEAD: Final = "ahead of the next with a probability of 95 % or more"
ALONE: Final = "p_best: none where nobody else is eligible"
# The active players of a period, each with the reason why he is not eligible, NULL for the eligible. `played`, in
# `reason`: the games up to the period
_ACTIVE: Final = """
SELECT player, mean, sd, games, {reason} FROM (
    SELECT s.*, opponents, coalesce(played, 0) AS played
    FROM skills_within({number}, {number}, {idle}) s JOIN players USING (player)
    LEFT JOIN (SELECT player, sum(games) AS played FROM spans WHERE period_number <= {number} GROUP BY player)
    USING (player))
WHERE {chosen} ORDER BY mean DESC, player
"""
# From the rows alone: the view `games` joins names and texts to them all
_LAST_PERIODS: Final = """
SELECT period, rows_of_period FROM (
    SELECT period_number, count(*) AS rows_of_period FROM game_rows GROUP BY period_number
    ORDER BY period_number DESC LIMIT 2)
JOIN periods USING (period_number) ORDER BY period_number DESC
"""
_FEW: Final = 0.05  # of the games of the period before
_CAREERS_BEGUN: Final = 'SELECT count(*) FROM players WHERE "first" <= ? AND {chosen}'


@dataclass(frozen=True)
class Field:
    """All eligible players of a period by descending mean, then name; sequences of shape (players,).

    `left_out`: how many players who have played by then are not eligible, and why.
    """

    period: str
    period_number: int
    players: Sequence[str]
    means: Sequence[float]
    sds: Sequence[float | None]
    games: Sequence[float]
    left_out: str

    @property
    def has_sds(self) -> bool:
        """Whether the system estimates uncertainties."""
        return None not in self.sds

    def order(self, by: str) -> list[int]:
        """Indices of the players, the best first: by `lower` by the mean less two sds, else by the mean."""
        measure = self.means
        if by == "lower":
            measure = [lower_bound(mean, sd) for mean, sd in zip(self.means, self.sds, strict=True)]
        return sorted(
            range(len(self.players)), key=lambda index: (-measure[index], self.players[index])
        )


def find_field(run: Run, at: str | int | None, limits: Eligible) -> Field:
    """The eligible players of a period (None: the last). Raises LookupFailed when there are none."""
    period, number = run.find_period(at)
    reason = limits.reason("played", "coalesce(sd, 0)")
    chosen = limits.chosen(str(number))
    query = _ACTIVE.format(reason=reason, number=number, idle=limits.idle(run), chosen=chosen)
    active = run.select(query)[1]
    ((careers_begun,),) = run.select(_CAREERS_BEGUN.format(chosen=chosen), [period])[1]
    reasons = Counter([why for *_, why in active])
    reasons[INACTIVE] = careers_begun - len(active)
    left_out = left_out_text(reasons)
    eligible = [(player, mean, sd, games) for player, mean, sd, games, why in active if why is None]
    if not eligible:
        raise LookupFailed(f"nobody is eligible in {period}; {left_out}", hint=WIDER)
    players, means, sds, games = zip(*eligible, strict=True)
    return Field(period, number, players, means, sds, games, left_out)


def ranking(
    run: Run,
    at: str | int | None,
    limits: Eligible,
    number: int | None,
    seed: int = SEED,
    by: str = "mean",
) -> Rows:
    """The `number` best in the period `at` (None: the last), with `PERIOD_COLUMNS`.

    `number` None: everyone. `by`: `lower` ranks by the mean less two sds; `dominance` ranks by the mean, as does
    `mean`, and has other columns. Raises LookupFailed when nobody is eligible.
    """
    load_numpy_meanwhile(run)
    with run:
        field = find_field(run, at, limits)
        order = field.order(by)[:number]
        n_up_to_last = max(order) + 1  # by mean, up to the last of those in the ranking
        probabilities, remarks = _probabilities(run, field, n_up_to_last, seed)
        if at is None:
            remarks = (*_remark_on_last_period(run), *remarks)
        leads: Sequence[Lead | None] = [None] * len(order)
        sds: Sequence[float | None] = [None] * len(order)
        if by == "dominance":
            from ttt_cli.views.rankings.dominance import DOMINANCE_REMARK, lead_of, lead_sds

            leads = [
                lead_of(field.period_number, field.players, field.means, field.sds, index=index)
                for index in order
            ]
            sds, method = lead_sds(run, leads)
            remarks = (*remarks, DOMINANCE_REMARK.format(method))
        players = [
            RankedPlayer(
                rank, field.players[index], field.period, field.means[index], field.sds[index],
                field.games[index], probabilities[index], lead and lead.value, sd,
            )
            for rank, (index, lead, sd) in enumerate(zip(order, leads, sds, strict=True), 1)
        ]  # fmt: skip
        if by == "mean" and field.has_sds:
            intervals = _rank_intervals(run, field, len(order), seed)
            pairs = zip(players, intervals.low.tolist(), intervals.high.tolist(), strict=True)
            players = [player._replace(rank_low=low, rank_high=high) for player, low, high in pairs]
            if len(order) > 1:
                verb = "is" if intervals.n_certain == 1 else "are"
                remarks = (
                    *remarks,
                    f"{intervals.n_certain} of the first {len(order):,} {verb} {AHEAD}",
                )
        return build_rows(run, PERIOD_COLUMNS, players, _title(run, field, limits, by, remarks), by)


def _remark_on_last_period(run: Run) -> list[str]:
    """That the last period has hardly any games, and which one has more; empty if it has."""
    periods = run.rows(_LAST_PERIODS)
    if len(periods) < 2:
        return []
    (last, games), (before, games_before) = periods
    if games >= _FEW * games_before:
        return []
    return [f"{last} has {counted(games, 'game')} here, {before} {games_before:,}: --at {before}"]


def _title(
    run: Run, field: Field, limits: Eligible, by: str, remarks: tuple[str, ...]
) -> tuple[str, ...]:
    count = len(field.players)
    by_what = f" by {by}" if by != "mean" else ""
    heading = f"The best of {field.period}{by_what}: {count:,} eligible {'player' if count == 1 else 'players'}"
    who = [f"eligible: {limits.words()}"] if limits.words() else []
    left_out = [field.left_out] if field.left_out else []
    return (heading, *who, *left_out, *remarks, run_line(run))


def _probabilities(
    run: Run, field: Field, n_shown: int, seed: int
) -> tuple[Sequence[float | None], tuple[str, ...]]:
    """The probability of each of the first `n_shown` players to be the strongest, and how it was computed."""
    if not field.has_sds:
        return [None] * len(field.players), ()
    if len(field.players) == 1:
        return [None], (ALONE,)
    import numpy as np

    from ttt_cli.views.rankings.strongest import compute_probabilities, find_contenders

    means = np.array(field.means)
    sds = np.array(field.sds, np.float64)
    contenders = find_contenders(field.period_number, field.players, means, sds, n_shown=n_shown)
    probabilities = compute_probabilities(run, [contenders], seed)
    return probabilities.periods[0].p.tolist(), (probabilities.remark,)


def _rank_intervals(run: Run, field: Field, n_listed: int, seed: int) -> RankIntervals:
    """Intervals of the ranks by skill of the first players of a field."""
    import numpy as np

    from ttt_cli.views.rankings.intervals import rank_intervals

    skills = [(player, field.period_number) for player in field.players]
    return rank_intervals(
        run, skills, np.array(field.means), np.array(field.sds, np.float64), n_listed, seed
    )
