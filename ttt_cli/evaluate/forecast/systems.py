"""What a comparison is made of: systems from configs, and the games of a run or of files as one timeline."""

from collections import Counter
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Final

from ttt_cli.config.document import Document
from ttt_cli.config.load import override, read_document, refuse_overrides, shipped_configs
from ttt_cli.config.schema import DataConfig
from ttt_cli.errors import ConfigError
from ttt_cli.evaluate.forecast.compare import System
from ttt_cli.games.read import read_games
from ttt_cli.progress import SILENT, Progress
from ttt_cli.runs.run import Run
from ttt_cli.systems.resolve import resolve
from ttt_cli.timeline import Timeline, build_timeline

ALL: Final = "all"
_OF_A_RUN: Final = (("data", "period"), ("data", "colours"))


def read_systems(configs: Sequence[str], overrides: Sequence[str] = ()) -> list[System]:
    """The systems of configs, given by path or shipped name; `all` stands for every shipped one.

    Each is named after its file, by the whole path where these names are not unique. `overrides` are `KEY=VALUE` of
    the sections data and solver, for all. Raises ConfigError for other keys, and for a config given twice.
    """
    hint = "write it into a config of its own: ttt config show NAME > mine.yaml"
    common = override(Document(), overrides)
    refuse_overrides(common, lambda path: path[0] in ("data", "solver"), "is not common to all systems", hint)
    chosen = [name for config in configs for name in (shipped_configs() if config == ALL else [config])]
    twice = next((name for name, count in Counter(chosen).items() if count > 1), None)
    if twice is not None:
        raise ConfigError("compared with itself", where=twice, hint="name every config once")
    stems = Counter(Path(name).stem for name in chosen)
    return [
        System.of(name if stems[stem] > 1 else stem, resolve(read_document(name, overrides)))
        for name in chosen
        for stem in [Path(name).stem]
    ]


def timeline_of_run(run: Run, overrides: Sequence[str] = ()) -> Timeline:
    """The games of a run; its period and colours may be overridden. Raises RunError, ConfigError."""
    document = override(Document(values=run.meta.config), overrides)
    why, hint = "cannot change for games that a run holds", "read them again with --games"
    refuse_overrides(document, lambda path: path[0] != "data" or path in _OF_A_RUN, why, hint)
    data = resolve(document).config.data
    return build_timeline(run.stored_games(), data.period, data.colours)


def timeline_of_files(
    files: Sequence[str], systems: Sequence[System], *, progress: Progress = SILENT
) -> Timeline:
    """The games of files, read as the systems' configs say. Raises ConfigError when these differ, DataError."""
    data = systems[0].config.data
    for key, other in product(DataConfig.model_fields, systems[1:]):
        if getattr(data, key) != getattr(other.config.data, key):
            raise ConfigError(
                f"{systems[0].name} and {other.name} differ in data.{key}, but are to predict the same games",
                hint=f"set it for all with -s data.{key}=...",
            )
    return build_timeline(read_games(files, data, progress=progress), data.period, data.colours)
