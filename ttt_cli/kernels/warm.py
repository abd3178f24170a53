"""Compile kernels in advance, in several processes."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from pkgutil import walk_packages
from typing import Final

import ttt_cli.kernels
from ttt_cli.kernels.compile import FOLDER, WAIT, Kernel
from ttt_cli.parallel.processes import available_cores, report, run_chains
from ttt_cli.support.progress import Progress

Chain = Mapping[str, Sequence[str]]

FEW: Final = 6  # kernels that compile faster than processes start
DEFAULT: Final[tuple[Chain, ...]] = (  # kernels of a fit by the default model, similar ones together
    {"ep.ttt": ("add_couplings", "add_residual", "cavities", "move_sites", "sweep"),
     "ep.games": ("fill_with_positivity", "gather_games", "residual_of_chains"),
     "joint": ("skill_cavities", "skill_evidence", "skill_update")},
    {"factor": ("factorise", "invert", "solve")},
    {"layout": ("find_nodes", "join_pairs", "lay_out", "merge_pairs", "sort_nodes", "sort_pairs",
                "walk_depth_first")},
    {"ep.chains": ("accumulate", "believe", "largest_move", "moves_to_come", "smooth"),
     "ep.margins": ("margin_information",), "ep.joint_means": ("factor", "finish", "solve")},
    {"pgn": ("mark_bytes", "scan_games"), "strings": ("number_strings",)},
    {"factor": ("elimination_tree", "gather", "postorder", "stacked", "supernode_rows")},
)  # fmt: skip


def every_kernel() -> tuple[Chain, ...]:
    """All kernels by module, largest modules first."""
    prefix = f"{ttt_cli.kernels.__name__}."
    kernels_of = {}
    for module in walk_packages(ttt_cli.kernels.__path__, prefix):
        if not module.ispkg:
            name = module.name.removeprefix(prefix)
            kernels_of[name] = sorted(_kernels(name))
    largest_first = sorted(kernels_of, key=lambda name: -len(kernels_of[name]))
    return tuple({name: kernels_of[name]} for name in largest_first if kernels_of[name])


def warm(
    chains: Sequence[Chain], progress: Progress, *, jobs: int | None = None, least: int = 1
) -> int:
    """Compile the missing ones of some kernels, if there are at least `least`; returns their number."""
    missing = []
    count = 0
    for chain in chains:
        absent = []
        for module, names in chain.items():
            kernels = _kernels(module)
            if lacking := [name for name in names if not kernels[name].is_kept]:
                absent.append((module, lacking))
                count += len(lacking)
        if absent:
            missing.append(absent)
    if count < least or not FOLDER:
        return 0
    jobs = (jobs or available_cores()) if sys.executable else 1
    with progress.task(WAIT, total=count, unit="kernels") as bar:
        work = run_chains(
            _Compiler(), missing, jobs,
            on_report=lambda *_: bar.advance(), on_lost=lambda *_: None,  # compiled when it is called
        )  # fmt: skip
        for _ in work:
            pass
    return count


class _Compiler:
    """Compile and report the kernels of a module."""

    def step(self, item: tuple[str, Sequence[str]], *, fresh: bool) -> None:  # noqa: ARG002
        """Compile the kernels of these names."""
        module, names = item
        kernels = _kernels(module)
        for name in names:
            kernels[name].compile()
            report(name)


def _kernels(module: str) -> dict[str, Kernel]:
    """Kernels defined in a module."""
    members = vars(import_module(f"{ttt_cli.kernels.__name__}.{module}"))
    return {name: value for name, value in members.items()
            if isinstance(value, Kernel) and value.__module__ == members["__name__"]}  # fmt: skip
