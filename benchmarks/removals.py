"""Are the means that `ttt doubt` predicts without some games those of a refit?

Removes single games, matches (all games of two players in a year) and events from a history, in turn, predicts the
means of TTT without them to first order, and refits the others with fixed parameters. Removals of years far apart that
share no player may share a refit (`--together`): their predictions are added.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple, cast

import numpy as np
from measuring import markdown, options_of

from ttt_cli.config.load import read_document
from ttt_cli.config.schema import SolverConfig
from ttt_cli.games.read import read_games
from ttt_cli.games.table import Games
from ttt_cli.inference.influence import Influence, Supposition
from ttt_cli.runs.write import memory_run
from ttt_cli.support.arrays import Array, Mask, Places
from ttt_cli.systems import ttt
from ttt_cli.systems.resolve import resolve
from ttt_cli.timeline import Timeline, build_timeline

KINDS: Final = ("game", "match", "event")
REMOVED: Final = 1e-12  # weight of a game that counts no more: its players keep their periods
POINTS: Final = 1.0
SHARE: Final = 0.05
HEADER: Final = (
    "removed",
    "removals",
    "means",
    "within 1 point or 5 %",
    "largest difference",
    "of",
)
LARGEST_EVENT: Final = 200  # games


class Removal(NamedTuple):
    """Games that are removed together."""

    kind: str
    words: str
    games: Places


class Compared(NamedTuple):
    """Means of the players of a removal, in all their periods: predicted and refitted changes, points."""

    removal: Removal
    node: Places
    predicted: Array
    refitted: Array

    @property
    def is_within(self) -> Mask:
        difference = np.abs(self.predicted - self.refitted)
        within: Mask = difference <= np.maximum(POINTS, SHARE * np.abs(self.refitted))
        return within


def main(arguments: Sequence[str] | None = None) -> None:
    options = options_of(
        __doc__, arguments, file_=str, removals=200, together=10, seed=1, begin=0, end=10**6, tol=0.01,
    )  # fmt: skip
    resolved = resolve(read_document("ttt"))
    games = read_games([options.file], resolved.config.data)
    timeline = build_timeline(games, "year", "known")
    solver = SolverConfig(posterior="joint", tol=options.tol)
    params = cast("ttt.Params", resolved.params)
    before = ttt.fit(timeline, params, solver)
    params = params.model_copy(update={"draw_margin": before.params["draw_margin"]})
    influence = Influence(memory_run(games, timeline, before, resolved.config))
    compared: list[Compared] = []
    refits = removals_by_refit(games, draw_removals(games, timeline, options), options.together)
    for removals in refits[options.begin : options.end]:
        of_refit = compare(timeline, influence, params, solver, before, removals)
        compared += of_refit
        for comparison in of_refit:
            report(timeline, before, comparison)
    print(f"\n{markdown(HEADER, list(rows_of(compared)))}", flush=True)


def draw_removals(games: Games, timeline: Timeline, options: Any) -> list[Removal]:
    """Removals of all kinds in turn, drawn at random."""
    rng = np.random.default_rng(options.seed)
    year = timeline.node_period[timeline.game_white].astype(np.int64)
    low = np.minimum(games.white, games.black).astype(np.int64)
    high = np.maximum(games.white, games.black)
    match = (low * len(games.players) + high) * 10_000 + year
    event = games.event.codes.astype(np.int64) * 10_000 + year
    removals = []
    for kind, _ in zip(itertools.cycle(KINDS), range(options.removals), strict=False):
        while True:
            game = int(rng.integers(len(games)))
            rows = np.array([game])
            if kind == "match":
                rows = np.flatnonzero(match == match[game])
            elif kind == "event":
                rows = np.flatnonzero(event == event[game])
            is_usual = {"game": True, "match": len(rows) > 1, "event": len(rows) <= LARGEST_EVENT}
            if is_usual[kind] and (kind != "event" or games.event[game]):
                break
        white, black = games.players[games.white[game]], games.players[games.black[game]]
        words = games.event[game] if kind == "event" else f"{white} - {black}"
        removals.append(Removal(kind, f"{words} {year[game]}", rows))
    return removals


def removals_by_refit(
    games: Games, removals: Sequence[Removal], together: int
) -> list[list[Removal]]:
    """Removals that share a refit: of years far apart, no two of them of the same player.

    The n-th of them in time goes to the n-th refit, in circles, or to the next one whose players it has none of.
    """
    in_time = sorted(removals, key=lambda removal: int(removal.games[0]))
    refits: list[list[Removal]] = [[] for _ in range(-(-len(in_time) // together))]
    players: list[set[int]] = [set() for _ in refits]
    for number, removal in enumerate(in_time):
        own = {*games.white[removal.games].tolist(), *games.black[removal.games].tolist()}
        turns = [(number + turn) % len(refits) for turn in range(len(refits))]
        apart = [index for index in turns if not players[index] & own]
        if not apart:
            apart = [len(refits)]
            refits.append([])
            players.append(set())
        refits[apart[0]].append(removal)
        players[apart[0]] |= own
    return refits


def compare(
    timeline: Timeline,
    influence: Influence,
    params: ttt.Params,
    solver: SolverConfig,
    before: Any,
    removals: Sequence[Removal],
) -> list[Compared]:
    """Predict and refit."""
    shift = np.zeros(len(influence.games.deviation))
    weight = timeline.weight.copy()
    for removal in removals:
        shift += influence.suppose(Supposition(removal.games)).total_shift
        weight[removal.games] *= REMOVED
    predicted = np.zeros(timeline.n_nodes)
    predicted[timeline.game_white] = shift[influence.games.white]
    predicted[timeline.game_black] = shift[influence.games.black]
    after = ttt.fit(replace(timeline, weight=weight), params, solver, start=before)
    refitted = after.mean - before.mean
    compared = []
    for removal in removals:
        ends = np.append(timeline.game_white[removal.games], timeline.game_black[removal.games])
        nodes = np.flatnonzero(np.isin(timeline.node_player, timeline.node_player[ends]))
        compared.append(Compared(removal, nodes, predicted[nodes], refitted[nodes]))
    return compared


def report(timeline: Timeline, before: Any, compared: Compared) -> None:
    """Print the worst mean of a removal, and all that are not within the bounds."""
    removal, node, predicted, refitted = compared
    difference = np.abs(predicted - refitted)
    worst = int(difference.argmax())
    print(
        f"{removal.kind} {len(removal.games)} {removal.words}: {len(node)} means, largest difference "
        f"{difference[worst]:.2f} of {refitted[worst]:.2f}",
        flush=True,
    )
    for row in np.flatnonzero(~compared.is_within).tolist():
        player = timeline.players[timeline.node_player[node[row]]]
        print(
            f"  {player} {timeline.node_period[node[row]]}: predicted {predicted[row]:.1f}, refitted "
            f"{refitted[row]:.1f}; sd {before.sd[node[row]]:.0f}, games "
            f"{timeline.node_games[node[row]]:g}",
            flush=True,
        )


def rows_of(compared: Sequence[Compared]) -> Iterator[tuple[str, ...]]:
    """A row for each kind of removal, and for all."""
    for kind in (*KINDS, "all"):
        of_kind = [
            comparison for comparison in compared if kind in (comparison.removal.kind, "all")
        ]
        if not of_kind:
            continue
        predicted = np.concatenate([comparison.predicted for comparison in of_kind])
        refitted = np.concatenate([comparison.refitted for comparison in of_kind])
        is_within = np.concatenate([comparison.is_within for comparison in of_kind])
        difference = np.abs(predicted - refitted)
        worst = int(difference.argmax())
        yield (
            kind, f"{len(of_kind)}", f"{len(predicted):,}", f"{100 * is_within.mean():.3f} %",
            f"{difference[worst]:.2f}", f"{refitted[worst]:.2f}",
        )  # fmt: skip


if __name__ == "__main__":
    main()
