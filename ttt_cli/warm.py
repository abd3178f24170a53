"""Kernels compiled before they are needed, in several processes: the compiler keeps one of them busy for long."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from pkgutil import walk_packages
from typing import Final

from ttt_cli import kernels
from ttt_cli.kernels.compile import WAIT, Kernel, kept_in
from ttt_cli.processes import available_cores, report, run_chains
from ttt_cli.progress import Progress

Chain = Mapping[str, Sequence[str]]

FEW: Final = 6  # kernels that are compiled sooner than processes begin
DEFAULT: Final[tuple[Chain, ...]] = (  # what a fit by the default model calls; together, what has much in common
    {"ep.ttt": ("gather", "sweep"),
     "joint.skill_sites": ("assemble", "cavities", "evidence", "update")},
    {"joint.factor": ("factorise", "invert", "log_determinant", "solve")},
    {"layout": ("find_nodes", "lay_out", "merge_pairs", "sort_nodes", "sort_pairs"),
     "ties": ("join_pairs", "walk_depth_first")},
    {"ep.chains": ("believe", "eliminate", "exchange", "join", "largest_move", "moves_to_come", "substitute"),
     "ep.ttt_links": ("add_couplings", "residual", "spread"),
     "ep.joint_means": ("before_games", "eliminate", "factor", "finish", "join", "join_factors", "largest_sum",
                        "substitute")},
    {"joint.symbolic": ("column_counts", "elimination_tree", "gather", "places", "postorder", "stacked",
                        "supernode_rows")},
)  # fmt: skip


def every_kernel() -> tuple[Chain, ...]:
    """All kernels by module, the largest modules first."""
    prefix = f"{kernels.__name__}."
    modules = [found for found in walk_packages(kernels.__path__, prefix) if not found.ispkg]
    found = {
        name: sorted(_kernels(name)) for name in (module.name.removeprefix(prefix) for module in modules)
    }
    return tuple(
        {name: names} for name, names in sorted(found.items(), key=lambda item: -len(item[1])) if names
    )


def warm(chains: Sequence[Chain], progress: Progress, *, jobs: int | None = None, least: int = 1) -> int:
    """Compile those of some kernels that are not kept yet, if they are `least` or more; how many there were."""
    missing = [[(module, absent) for module, names in chain.items() if (absent := _absent(module, names))]
               for chain in chains]  # fmt: skip
    count = sum(len(names) for chain in missing for _, names in chain)
    if count < least or not kept_in():
        return 0
    jobs = (jobs or available_cores()) if sys.executable else 1
    with progress.task(WAIT, total=count, unit="kernels") as bar:
        work = run_chains(
            _Compiler(), [chain for chain in missing if chain], jobs,
            on_report=lambda *_: bar.advance(), on_lost=lambda *_: None,  # compiled when it is called
        )  # fmt: skip
        for _ in work:
            pass
    return count


class _Compiler:
    """Compiles kernels of a module, and reports each."""

    def step(self, item: tuple[str, Sequence[str]], *, fresh: bool) -> None:  # noqa: ARG002
        """Compile the kernels of these names."""
        module, names = item
        found = _kernels(module)
        for name in names:
            found[name].compile()
            report(name)


def _absent(module: str, names: Sequence[str]) -> list[str]:
    found = _kernels(module)
    return [name for name in names if not found[name].is_kept]


def _kernels(module: str) -> dict[str, Kernel]:
    """The kernels that a module defines."""
    members = vars(import_module(f"{kernels.__name__}.{module}"))
    return {name: value for name, value in members.items()
            if isinstance(value, Kernel) and value.__module__ == members["__name__"]}  # fmt: skip
